"""Checks of data at the door, with messages that say what to do next."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

# Squares of larger values leave float32 when summed over many columns.
_LARGEST = 1e15
_BLOCK_VALUES = 2**22


def checked_rows(
    estimator: BaseEstimator, X: Any, *, reset: bool
) -> np.ndarray | sp.csr_array:
    """Return `X` as a numeric array or CSR matrix of finite values.

    Integers stay integers and memmaps stay on disk: batches are converted, not `X`.
    """
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        columns = _text_columns(X)
        if not columns:
            raise
        raise ValueError(
            f"Columns {', '.join(columns)} are not numeric. Encode them as numbers or "
            "drop them."
        ) from error
    if not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    _check_values(X)
    return X


def check_enough_rows(n_samples: int, n_clusters: int) -> None:
    """Refuse fewer rows than clusters."""
    if n_samples < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} needs at least as many rows, but "
            f"n_samples={n_samples}."
        )


def _text_columns(X: Any) -> list[str]:
    """Name the columns of a frame that cannot be read as numbers."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return []
    return [repr(name) for name in X.columns if not _is_numeric(X[name])]


def _is_numeric(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _check_values(X: Any) -> None:
    """Refuse NaN, infinity and values too large for float32, block by block."""
    if X.dtype.kind not in "fiu":
        return
    block = max(1, _BLOCK_VALUES // max(1, X.shape[1]))
    for first in range(0, X.shape[0], block):
        rows = X[first : first + block]
        values = rows.data if sp.issparse(rows) else rows
        if values.size and not np.abs(values).max() <= _LARGEST:  # NaN compares false
            _refuse(X)


def _refuse(X: Any) -> None:
    """Raise an error that counts and places the bad values."""
    if sp.issparse(X):
        entries = X.tocoo()
        values, (rows, columns) = entries.data, entries.coords
    else:
        values = np.ravel(X)
        rows, columns = np.divmod(np.arange(values.size), X.shape[1])
    found, advice = _describe(values)
    bad = ~np.isfinite(values)
    if not bad.any():
        bad = np.abs(values) > _LARGEST
    raise ValueError(
        f"Input X contains {found}: {bad.sum()} values, first in rows "
        f"{_some(rows[bad])}, columns {_some(columns[bad])}. {advice}"
    )


def _describe(values: np.ndarray) -> tuple[str, str]:
    """Name the kind of bad value and the way out."""
    impute = "Impute them (sklearn.impute) or drop these rows or columns."
    if np.isnan(values).any():
        return "NaN", impute
    if np.isinf(values).any():
        return "infinity", impute
    return (
        f"values larger than {_LARGEST:g}",
        "Scale the data or change its units first.",
    )


def _some(indices: np.ndarray, most: int = 5) -> str:
    distinct = np.unique(indices)
    more = ", ..." if distinct.size > most else ""
    return ", ".join(map(str, distinct[:most])) + more
