"""Rows that count words, or are like them: finding out."""

import numpy as np
import scipy.sparse as sp

# Rows that are looked at.
_ROWS = 2_000
# Fewer columns are no vocabulary, and rows of more values than this share no texts.
FEWEST_WORDS = 100
_MOST_FILLED = 0.1


def are_words(X: np.ndarray | sp.csr_array, shape: tuple[int, ...] | None) -> bool:
    """Tell whether rows are compared by their angle, as texts are.

    Sparse rows are; so are dense ones of many columns that are nearly all zero and
    never negative, unless they are images of `shape`: whoever counts words, genes or
    purchases may keep the zeros.
    """
    if sp.issparse(X):
        return True
    if shape is not None or X.shape[1] < FEWEST_WORDS:
        return False
    some = X[np.linspace(0, len(X) - 1, min(_ROWS, len(X)), dtype=int)]
    return bool(np.mean(some != 0) <= _MOST_FILLED and some.min() >= 0)
