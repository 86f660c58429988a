"""What a data set is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kfriendly.arguments import are_widths, require
from kfriendly.datasets.files import DataFile


class Dataset(NamedTuple):
    """Rows with known classes."""

    name: str
    X: Any  # ndarray or csr_array; scipy has no types
    y: np.ndarray
    n_clusters: int
    feature_names: list[str] | None = None
    class_names: list[str] | None = None


@dataclass(frozen=True)
class Entry:
    """A line of the catalogue.

    Parameters
    ----------
    shape : str
        Rows and columns.
    summary : str
        What they are.
    load : callable
        Takes the options and returns a `Dataset`.
    options : str
        What can be chosen, as one would write it.
    files : tuple of DataFile
        What it reads; empty for data that is made or comes with scikit-learn.
    terms : str
        Licence, or what the source says of use.
    made : str
        Place in the data folder of what the loader fetches by itself and keeps.
    """

    shape: str
    summary: str
    load: Callable[..., Dataset]
    options: str = ""
    files: tuple[DataFile, ...] = ()
    terms: str = ""
    made: str = ""


def most_frequent(counts: Any, n_words: int) -> np.ndarray:
    """Return the columns with the largest sums, in their order.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_columns)
    n_words : int
        How many; all of them if there are fewer.
    """
    require(are_widths((n_words,)), "n_words", n_words, "a whole number of at least 1")
    totals = np.asarray(counts.sum(axis=0)).ravel()
    return np.sort(np.argsort(-totals, kind="stable")[:n_words])


def first_classes(name: str, X: Any, y: np.ndarray, names: list[str]) -> Dataset:
    """Keep the rows whose class is one of the first `len(names)`; others are -1."""
    keep = np.flatnonzero((y >= 0) & (y < len(names)))
    y = y[keep].astype(np.int64)
    return Dataset(name, X[keep], y, len(names), class_names=names)
