"""Threads are taken for the work there is, and given back."""

from collections.abc import Iterator

import pytest
import torch
from torch import nn

from kfriendly.training.threads import at_most_threads, enough_threads


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("width", "expected"), [(16, 1), (512, 4), (330, 2)], ids=["small", "large", "mid"]
)
def test_threads_follow_the_arithmetic_of_a_step(width: int, expected: int) -> None:
    network = nn.Linear(width, width)
    with enough_threads(network, batch_size=64):
        assert torch.get_num_threads() == expected
    assert torch.get_num_threads() == 4


def test_threads_are_given_back_after_an_error() -> None:
    with pytest.raises(RuntimeError), enough_threads(nn.Linear(2, 2), 1):
        raise RuntimeError
    assert torch.get_num_threads() == 4


@pytest.mark.parametrize(("n_threads", "expected"), [(1, 1), (8, 4)])
def test_no_more_threads_are_taken_than_there_were(
    n_threads: int, expected: int
) -> None:
    with at_most_threads(n_threads):
        assert torch.get_num_threads() == expected
    assert torch.get_num_threads() == 4
