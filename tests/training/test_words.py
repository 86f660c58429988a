"""Which rows are compared as texts are."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from kfriendly.defaults import resolve_views, slight_moves
from kfriendly.training.neighbors import nearest_neighbors
from kfriendly.training.scaling import find_scaling
from kfriendly.training.words import are_words
from kfriendly.views import Neighbors


def _counts(n_columns: int = 200, filled: float = 0.05) -> np.ndarray:
    rng = np.random.RandomState(0)
    filled_in = rng.rand(300, n_columns) < filled
    return np.where(filled_in, rng.poisson(2, (300, n_columns)) + 1, 0)


def test_dense_rows_that_are_nearly_all_zero_are_words() -> None:
    assert are_words(_counts(), None)
    assert are_words(sp.csr_array(_counts(n_columns=3)), None)


@pytest.mark.parametrize(
    ("X", "shape"),
    [
        (_counts(n_columns=60), None),  # no vocabulary
        (_counts(filled=0.2), None),  # many values in a row
        (-_counts(), None),  # counts are not negative
        (_counts(n_columns=225), (15, 15)),  # images, mostly black
    ],
)
def test_other_rows_are_not(X: np.ndarray, shape: tuple[int, int] | None) -> None:
    assert not are_words(X, shape)
    alter = None if shape is None else slight_moves(shape)
    assert resolve_views("auto", X, 5, shape) == Neighbors(10, alter=alter)


def test_filled_in_texts_have_the_neighbors_of_sparse_ones() -> None:
    X = sp.csr_array(_counts().astype(np.float32))
    filled = X.toarray()
    near = nearest_neighbors(X, find_scaling(X, "auto"), 5)
    assert torch.equal(near, nearest_neighbors(filled, find_scaling(filled, "auto"), 5))
    assert resolve_views("auto", X, 5) == resolve_views("auto", filled, 5)
