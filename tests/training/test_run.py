"""How lambda is set and a start is chosen: by shares of variance."""

import numpy as np
import pytest
import torch

from kfriendly.training.inference import Evaluation
from kfriendly.training.run import balance, selection_score


def ended(lost: list[float], within: list[float], variance: list[float]) -> Evaluation:
    labels = np.zeros((len(lost), 1), dtype=np.int32)
    terms = (torch.tensor(v, dtype=torch.float64) for v in (lost, within, variance))
    return Evaluation(labels, *terms)


def test_selection_score_is_the_sum_of_both_shares() -> None:
    score = selection_score(ended([2.0, 1.0], [1.0, 6.0], [4.0, 8.0]), 10.0)
    assert score.tolist() == pytest.approx([0.2 + 0.25, 0.1 + 0.75])


def test_selection_score_is_not_won_by_shrinking_the_latent_space() -> None:
    large, small = selection_score(ended([1.0, 1.0], [4.0, 0.04], [8.0, 0.08]), 10.0)
    assert float(large) == pytest.approx(float(small))


def test_balance_weighs_both_terms_by_variance() -> None:
    lam = balance(12.0, torch.tensor([4.0, 0.5]))
    assert lam.tolist() == [6.0, 48.0]


@pytest.mark.parametrize("data_variance", [0.0, 12.0])
def test_balance_is_zero_for_a_latent_space_that_is_a_point(
    data_variance: float,
) -> None:
    assert balance(data_variance, torch.zeros(1)).tolist() == [0.0]
