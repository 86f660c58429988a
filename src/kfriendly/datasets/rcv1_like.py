"""Sparse documents of RCV1's class sizes and density, for tests of scale.

The words are numbers and mean nothing; what is true to RCV1-v2 is the number of
documents of each class, the vocabulary, and how many distinct words a document has.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import check_random_state

from kfriendly.arguments import require
from kfriendly.datasets.base import Dataset

# The paper's 20 classes; tests count them in the complete topic file.
CLASS_SIZES = {
    "M14": 65_977,
    "M11": 40_228,
    "M13": 37_543,
    "GSPO": 34_855,
    "C18": 29_608,
    "C17": 21_302,
    "E21": 21_299,
    "M12": 16_654,
    "C31": 13_852,
    "GPOL": 11_466,
    "GVIO": 10_748,
    "GDIP": 9_162,
    "C41": 8_027,
    "C24": 7_632,
    "E51": 7_125,
    "C33": 6_929,
    "C11": 6_602,
    "GCRIM": 6_589,
    "C21": 5_302,
    "E71": 5_068,
}
N_WORDS = 47_236
DISTINCT_WORDS = 75.7  # a document: RCV1-v2 has 60,915,113 non-zeros in 804,414 rows

# A document's words come from all of language and, this share, from its class's own.
_OWN_SHARE = 0.4
_OWN_WORDS = 600
_BLOCK = 20_000


def make_rcv1_like(
    n_documents: int | None = None,
    *,
    n_clusters: int = 20,
    n_words: int = N_WORDS,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Draw documents with Zipf's law for words and RCV1's classes.

    Parameters
    ----------
    n_documents : int or None
        Documents, shared among the classes as in RCV1; None is as many as it has.
    n_clusters : int
        The first, largest, classes: 1 to 20.
    n_words : int
        Columns.
    random_state : int, RandomState instance or None

    Returns
    -------
    Dataset
        X is a csr_array of tf-idf in float32 with unit rows.

    Examples
    --------
    >>> make_rcv1_like(1_000, random_state=0).X.shape
    (1000, 47236)
    """
    most = len(CLASS_SIZES)
    require(0 < n_clusters <= most, "n_clusters", n_clusters, f"from 1 to {most}")
    names = list(CLASS_SIZES)[:n_clusters]
    y = _classes(n_documents, np.array([CLASS_SIZES[name] for name in names]))
    rng = check_random_state(random_state)
    y = rng.permutation(y)
    own = rng.randint(n_words, size=(n_clusters, _OWN_WORDS))
    blocks = [
        _draw(y[first : first + _BLOCK], own, n_words, rng)
        for first in range(0, len(y), _BLOCK)
    ]
    counts = sp.csr_array(sp.vstack(blocks))
    counts.data = 1.0 + np.log(counts.data)
    X = sp.csr_array(TfidfTransformer().fit_transform(counts))
    return Dataset("rcv1-like", X, y, n_clusters, class_names=names)


def _classes(n_documents: int | None, sizes: np.ndarray) -> np.ndarray:
    """Share documents among classes; rounding goes to those that lose most by it."""
    if n_documents is None:
        return np.repeat(np.arange(len(sizes)), sizes)
    require(
        n_documents >= len(sizes), "n_documents", n_documents, f"at least {len(sizes)}"
    )
    exact = sizes * n_documents / sizes.sum()
    shares = np.maximum(exact.astype(int), 1)
    surplus = shares.sum() - n_documents
    order = np.argsort(exact - shares)
    if surplus > 0:
        shares[np.argmax(shares)] -= surplus
    elif surplus < 0:
        shares[order[surplus:]] += 1
    return np.repeat(np.arange(len(sizes)), shares)


def _draw(
    y: np.ndarray, own: np.ndarray, n_words: int, rng: np.random.RandomState
) -> sp.csr_array:
    """Draw the word counts of documents of the classes `y`."""
    # Repeated draws fall together, and lengths are skewed: 1.30 draws to a word.
    lengths = rng.lognormal(np.log(DISTINCT_WORDS * 1.30) - 0.32, 0.8, len(y))
    lengths = np.maximum(lengths.astype(int), 1)
    rows = np.repeat(np.arange(len(y)), lengths)
    words = _zipf(rng, n_words, rows.size)
    mine = rng.random_sample(rows.size) < _OWN_SHARE
    words[mine] = own[y[rows[mine]], _zipf(rng, own.shape[1], int(mine.sum()))]
    ones = np.ones(rows.size, np.float32)
    return sp.csr_array((ones, (rows, words)), shape=(len(y), n_words))


def _zipf(rng: np.random.RandomState, n: int, size: int) -> np.ndarray:
    """Draw ranks below `n` with probability about 1/(rank + 1), by inversion."""
    return np.minimum((n + 1.0) ** rng.random_sample(size) - 1.0, n - 1).astype(int)
