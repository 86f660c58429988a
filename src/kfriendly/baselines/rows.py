"""Rows of data, dense or sparse, and the checks every shallow baseline shares."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from kfriendly.errors import DataScaleWarning
from kfriendly.validation import check_enough_rows

# An ndarray or a csr_array of shape (n, m). Any: scipy has no types.
Rows = Any


def rows_to_cluster(estimator: BaseEstimator, X: Any) -> Rows:
    """Return finite floating-point rows, at least as many as clusters."""
    rows = validate_data(
        estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32]
    )
    check_enough_rows(rows.shape[0], estimator.n_clusters)
    return rows


def non_negative_rows(estimator: BaseEstimator, X: Any) -> Rows:
    """Return rows for a method that knows no negative values, in float64.

    Columns that have some are shifted to start at zero, with a warning. A sparse matrix
    is refused: shifting would fill it.
    """
    rows = rows_to_cluster(estimator, X).astype(np.float64, copy=False)
    name = type(estimator).__name__
    smallest = rows.min(axis=0)
    smallest = smallest.toarray().ravel() if sp.issparse(rows) else smallest
    below = smallest < 0
    if not below.any():
        return rows
    if sp.issparse(rows):
        raise ValueError(
            f"{name} needs values >= 0, but the smallest in X is {smallest.min():g}. "
            "Shift or clip the data; a sparse matrix is not shifted here, because that "
            "would fill it."
        )
    warnings.warn(
        f"{name} needs values >= 0: {below.sum()} of {below.size} columns have smaller "
        f"ones (down to {smallest.min():g}) and are shifted to start at zero.",
        DataScaleWarning,
        stacklevel=3,
    )
    return rows - np.minimum(smallest, 0.0)


def variance(X: Rows) -> float:
    """Compute the variance of all entries about their common mean."""
    if not sp.issparse(X):
        return float(X.var())
    return float(X.power(2).mean() - X.mean() ** 2)
