"""Where rows come from."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from kfriendly.training.scaling import Scaling, find_scaling
from kfriendly.training.sources import (
    ArraySource,
    ChosenSource,
    MappedSource,
    TensorSource,
    batches,
)

CPU = torch.device("cpu")
INDEX = torch.tensor([4, 0, 4, 2])


def example() -> np.ndarray:
    """Make rows with many zeros, in whole numbers."""
    X = np.random.RandomState(0).randint(-5, 6, size=(6, 3)).astype(np.float64)
    return np.where(np.abs(X) < 3, 0.0, X)


def source_of(X: np.ndarray | sp.csr_array, scaling: Scaling | None = None) -> Tensor:
    """Return the rows of `INDEX`, scaled by a rule with exact results."""
    scaling = scaling or Scaling(
        "common", np.array([1.0, -2.0, 0.5]), np.full(3, 2.0), 3.0
    )
    rows: Tensor = ArraySource(X, scaling, CPU).rows(INDEX)
    return rows


def expected() -> Tensor:
    rows = (example()[INDEX.numpy()] - [1.0, -2.0, 0.5]) / 2.0
    return torch.from_numpy(rows).float()


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int64", "int8"], ids=str
)
def test_array_rows_are_scaled_float32(dtype: str) -> None:
    found = source_of(example().astype(dtype))
    assert found.dtype == torch.float32
    assert torch.equal(found, expected())


@pytest.mark.parametrize("dtype", ["uint8", "bool"])
def test_unsigned_rows_do_not_wrap_around(dtype: str) -> None:
    X = (example() > 0).astype(dtype)
    rows = (X[INDEX.numpy()].astype(float) - [1.0, -2.0, 0.5]) / 2.0
    assert torch.equal(source_of(X), torch.from_numpy(rows).float())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("rule", ["none", "common"])
def test_csr_rows_equal_dense_rows(dtype: str, rule: str) -> None:
    X = example().astype(dtype)
    scaling = Scaling(rule, np.arange(3.0), np.full(3, 2.0), 3.0)
    assert torch.equal(source_of(sp.csr_array(X), scaling), source_of(X, scaling))


def test_csr_matrix_rows_equal_dense_rows() -> None:
    assert torch.equal(source_of(sp.csr_matrix(example())), expected())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_read_only_memmap_works_without_warning(tmp_path: Path, dtype: str) -> None:
    # Warnings are errors here, and a write to a read-only map would raise.
    np.save(tmp_path / "X.npy", example().astype(dtype))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert torch.equal(source_of(X), expected())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("rule", ["none", "common"])
def test_rows_do_not_change_the_data(dtype: str, rule: str) -> None:
    X = example().astype(dtype)
    before = X.copy()
    source_of(X, Scaling(rule, np.ones(3), np.full(3, 2.0), 3.0)).mul_(0.0)
    assert np.array_equal(X, before)


def test_column_major_rows_equal_row_major_rows() -> None:
    assert torch.equal(source_of(np.asfortranarray(example())), expected())


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_rows_with_a_large_mean_keep_their_digits(dtype: str) -> None:
    small = np.arange(12.0).reshape(6, 2) % 5
    X = (1e9 + small).astype(dtype)  # float32 has no number between 1e9 and 1e9 + 64
    found = ArraySource(X, find_scaling(X, "standard"), CPU).rows(torch.arange(6))
    by_hand = (small - small.mean(0)) / small.std(0)
    assert_close(found, torch.from_numpy(by_hand).float(), rtol=1e-5, atol=1e-5)


def test_fractions_on_a_large_mean_keep_their_digits() -> None:
    X = 1e9 + np.array([[0.25], [0.5], [0.75]])
    found = ArraySource(X, find_scaling(X, "common"), CPU).rows(torch.arange(3))
    root = np.sqrt(1.5)
    assert found.flatten().tolist() == pytest.approx([-root, 0.0, root], abs=1e-6)


def test_unscaled_rows_are_the_data() -> None:
    scaling = Scaling("none", np.zeros(3), np.ones(3), 3.0)
    assert torch.equal(
        source_of(example(), scaling), torch.from_numpy(example())[INDEX].float()
    )


def test_tensor_source_picks_rows_of_every_start() -> None:
    Z = torch.arange(24.0).reshape(2, 4, 3)
    source = TensorSource(Z)
    assert source.n_rows == 4
    assert torch.equal(source.rows(torch.tensor([3, 1])), Z[:, [3, 1]])


def test_mapped_source_maps_without_gradient() -> None:
    layer = torch.nn.Linear(3, 2)
    Z = torch.arange(12.0).reshape(4, 3)
    source = MappedSource(TensorSource(Z), layer)
    found = source.rows(torch.tensor([2, 0]))
    assert source.n_rows == 4
    assert not found.requires_grad
    assert_close(found, layer(Z[[2, 0]]).detach())


def test_chosen_source_counts_from_its_own_rows() -> None:
    Z = torch.arange(4.0).unsqueeze(-1)
    source = ChosenSource(TensorSource(Z), torch.tensor([3, 1]))
    assert source.n_rows == 2
    assert source.rows(torch.tensor([1, 0, 1])).flatten().tolist() == [1.0, 3.0, 1.0]


@pytest.mark.parametrize(
    ("n", "size", "expected"),
    [
        (6, 3, [3, 3]),
        (7, 3, [3, 4]),  # not 3, 3, 1
        (8, 3, [3, 3, 2]),
        (4, 3, [4]),
        (1, 3, [1]),
        (3, 1, [1, 2]),
    ],
)
def test_batches_by_hand(n: int, size: int, expected: list[int]) -> None:
    assert [len(batch) for batch in batches(torch.arange(n), size)] == expected


@given(n=st.integers(0, 200), size=st.integers(1, 60))
@settings(deadline=None, derandomize=True)
def test_batches_cover_every_index_once_in_order(n: int, size: int) -> None:
    order = torch.randperm(n, generator=torch.Generator().manual_seed(n))
    found = [i for batch in batches(order, size) for i in batch.tolist()]
    assert found == order.tolist()


@given(n=st.integers(2, 200), size=st.integers(2, 60))
@settings(deadline=None, derandomize=True)
def test_batches_have_two_rows_at_least_and_one_too_many_at_most(
    n: int, size: int
) -> None:
    sizes = [len(batch) for batch in batches(torch.arange(n), size)]
    assert min(sizes) >= 2
    assert max(sizes) <= size + 1
    assert all(found == size for found in sizes[:-1])
