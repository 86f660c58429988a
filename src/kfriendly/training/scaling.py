"""Scaling of features: found once, recorded, invertible."""

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler, normalize

from kfriendly.errors import DataScaleWarning

ScaleRule = Literal["auto", "standard", "common", "nonnegative", "rows", "none"]

# A column this many times wider than a narrow one is in other units.
_OTHER_UNITS = 10.0
# Rows are looked at so many values at a time.
_BLOCK_VALUES = 2**22
# Standard deviations further apart than this leave the small columns without effect.
_HOPELESS_RATIO = 1e3


class Scaling(NamedTuple):
    """x -> (x - mean) / size, for every column; `rule` says how they were found.

    By the rule "rows" x has length one before. `variance` is the sum of the scaled
    columns' variances.
    """

    rule: str
    mean: np.ndarray
    size: np.ndarray
    variance: float

    def undo(self, X: np.ndarray) -> np.ndarray:
        """Bring scaled rows back to the data's units."""
        return np.asarray(X * self.size + self.mean, dtype=X.dtype)


def brought_to_length(rows: Any, rule: str) -> Any:
    """Bring rows, an array or CSR, to length one if the rule is "rows"."""
    return normalize(rows) if rule == "rows" else rows


class _Columns(NamedTuple):
    """Mean, standard deviation and range of each column."""

    mean: np.ndarray
    deviation: np.ndarray
    width: np.ndarray


def find_scaling(X: np.ndarray | sp.csr_array, rule: ScaleRule) -> Scaling:
    """Find the scaling of the columns of `X`.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    rule : {"auto", "standard", "common", "nonnegative", "rows", "none"}
        "standard": each column to mean zero and deviation one. "common": each column
        to mean zero, and all divided by one number, so that the mean variance is one;
        columns in the same units (pixels, word weights) keep their proportions.
        "nonnegative": as "common", but zero stays zero. "rows": the same of rows
        that were brought to length one, as texts, compared by their angle. "auto":
        "common" where the widest column is at most ten times wider than the lower
        quartile of widths, else "standard".
    """
    columns = _describe(X, rule)
    varying = columns.deviation > 0
    _warn(columns, rule)
    if rule == "auto":
        rule = "common" if _alike(columns.width[varying]) else "standard"
    mean, size = np.zeros_like(columns.mean), np.ones_like(columns.mean)
    if rule in ("standard", "common"):
        mean = columns.mean
    if rule == "standard":
        size = np.where(varying, columns.deviation, 1.0)
    elif rule != "none":
        size = size * (np.sqrt(np.mean(columns.deviation**2)) or 1.0)
    variance = float(np.sum((columns.deviation / size) ** 2))
    return Scaling(rule, mean, size, variance)


def _alike(widths: np.ndarray) -> bool:
    """Tell whether columns look to be in the same units.

    A quarter of them may be narrower, as the pixels at the rim of an image are; of
    four columns or fewer none.
    """
    if not widths.size:
        return True
    narrow = np.percentile(widths, 25, method="lower")
    return bool(widths.max() <= _OTHER_UNITS * narrow)


def _describe(
    X: np.ndarray | sp.csr_array, rule: ScaleRule, block: int | None = None
) -> _Columns:
    """Describe the columns a block of rows at a time, in constant memory."""
    block = block or max(1, _BLOCK_VALUES // X.shape[1])
    moments = StandardScaler(with_mean=not sp.issparse(X))
    low, high = np.inf, -np.inf
    for first in range(0, X.shape[0], block):
        rows = X[first : first + block].astype(np.float64)
        rows = brought_to_length(rows, rule)
        moments.partial_fit(rows)
        low = np.minimum(low, _dense(rows.min(axis=0)))
        high = np.maximum(high, _dense(rows.max(axis=0)))
    deviation = np.sqrt(moments.var_)
    # A column that varies by rounding only is constant.
    noise = 10 * np.finfo(np.float64).eps * np.abs(moments.mean_)
    deviation = np.where((deviation > noise) & (high > low), deviation, 0.0)
    return _Columns(moments.mean_, deviation, np.asarray(high - low))


def _dense(row: Any) -> np.ndarray:
    return np.ravel(row.toarray() if sp.issparse(row) else row)


def _warn(columns: _Columns, rule: ScaleRule) -> None:
    """Say what a user would want to know before the training."""
    deviation = columns.deviation
    constant = np.flatnonzero(deviation == 0)
    if 0 < constant.size < deviation.size:
        warnings.warn(
            f"{constant.size} of {deviation.size} columns are constant (first: column "
            f"{constant[0]}); they do not affect the clusters and may be dropped, "
            "unless rows are images.",
            DataScaleWarning,
            stacklevel=2,
        )
    varying = deviation[deviation > 0]
    ratio = varying.max() / varying.min() if varying.size else 1.0
    if rule not in ("auto", "standard", "rows") and ratio > _HOPELESS_RATIO:
        warnings.warn(
            f"scale={rule!r}, but the columns' standard deviations differ by a factor "
            f"of {ratio:.3g}: the small ones will not matter. Use scale='standard'.",
            DataScaleWarning,
            stacklevel=2,
        )
