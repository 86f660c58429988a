"""Rows that are at hand: arrays, memory maps, sparse arrays, lists of documents."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kfriendly.inputs.base import Batch, Kind


class LoadedInput:
    """Rows that need no more reading than a slice.

    Parameters
    ----------
    kind, name : str
        As in `Input`.
    content : list, ndarray or csr_array
        A memory map stays on disk until its rows are used.
    labels : ndarray or None
    ids : list of str or None
        None is numbers of rows.
    column_names : list of str
    fingerprint : callable
        Returns the SHA-256; called only when it is asked for.
    """

    def __init__(  # noqa: PLR0913 - the fields of an input
        self,
        kind: Kind,
        name: str,
        content: Any,  # one of Batch's contents
        *,
        fingerprint: Callable[[], str],
        labels: np.ndarray | None = None,
        ids: list[str] | None = None,
        column_names: list[str] | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.kind, self.name = kind, name
        self.column_names, self.notes = column_names or [], notes or []
        self._content, self._labels, self._ids = content, labels, ids
        self._fingerprint = fingerprint

    def read(self) -> Batch:
        """Return everything."""
        return self._rows(0, self._n_rows)

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Return `n_rows` rows at a time."""
        for first in range(0, self._n_rows, n_rows):
            yield self._rows(first, min(first + n_rows, self._n_rows))

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the content."""
        return self._fingerprint()

    @property
    def _n_rows(self) -> int:
        content = self._content
        return len(content) if isinstance(content, list) else int(content.shape[0])

    def _rows(self, first: int, last: int) -> Batch:
        ids = self._ids[first:last] if self._ids else list(map(str, range(first, last)))
        labels = None if self._labels is None else self._labels[first:last]
        return Batch(self._content[first:last], ids, labels, self.name)
