"""Rows of data, dense or sparse, and the checks every shallow baseline shares."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

# An ndarray or a csr_array of shape (n, m). Any: scipy has no types.
Rows = Any


def rows_to_cluster(estimator: BaseEstimator, X: Any) -> Rows:
    """Return finite floating-point rows, at least as many as clusters."""
    rows = validate_data(
        estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32]
    )
    if rows.shape[0] < estimator.n_clusters:
        raise ValueError(
            f"n_clusters={estimator.n_clusters} needs at least as many rows, but "
            f"n_samples={rows.shape[0]}."
        )
    return rows
