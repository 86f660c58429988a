"""Arrays to numbers: columns by place."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from kfriendly.inputs.arrays import column_place
from kfriendly.inputs.base import Batch, InputOptions, Missing
from kfriendly.inputs.complaints import complain, counted, quoted
from kfriendly.inputs.limits import LARGEST, bad_values

_BLOCK_VALUES = 2**22
_SAMPLE_ROWS = 10_000


@dataclass(frozen=True)
class ArrayFeatures:
    """Which columns of an array are used.

    Parameters
    ----------
    column_names : list of str
        All columns, used or not.
    kept : tuple of int
        Places of those used.
    fills : list of float
        Medians of the columns used, which fill in what is missing; empty for sparse
        rows, whose missing values are never filled in.
    missing : {"error", "drop", "impute"}
    notes : list of str
    """

    column_names: list[str]
    kept: tuple[int, ...]
    fills: list[float]
    missing: Missing
    notes: list[str]

    input_shape = None

    @cached_property
    def names(self) -> list[str]:
        """A name for each column of the result."""
        return [self.column_names[place] for place in self.kept]

    def drop_incomplete(self, batch: Batch) -> Batch:
        """Leave out rows with missing or infinite values, if that was asked for."""
        if self.missing != "drop":
            return batch
        rows, _ = _places(self._chosen(batch), lambda values: ~np.isfinite(values))
        if not rows.size:
            return batch
        good = np.ones(batch.content.shape[0], dtype=bool)
        good[rows] = False
        return batch.take(np.flatnonzero(good))

    def transform(self, batch: Batch) -> np.ndarray | sp.csr_array:
        """Turn rows into float32 numbers; float32 rows are not copied."""
        rows = self._chosen(batch)
        if self.missing == "impute" and not sp.issparse(rows):
            bad_rows, bad_columns = _places(rows, np.isnan)
            if bad_rows.size:
                rows = np.array(rows)  # a copy: the input's rows stay as they are
                rows[bad_rows, bad_columns] = np.array(self.fills)[bad_columns]
        self._check_values(rows, batch)
        return rows.astype(np.float32, copy=False)

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON-able values."""
        return {"kind": "array", **asdict(self), "kept": list(self.kept)}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "ArrayFeatures":
        """Make features of what `to_json` returned."""
        fields = {key: value for key, value in stored.items() if key != "kind"}
        return ArrayFeatures(**fields | {"kept": tuple(fields["kept"])})

    def _chosen(self, batch: Batch) -> Any:
        found, wanted = batch.content.shape[1], len(self.column_names)
        if found != wanted:
            raise complain(
                f"X has {found} features, but DCN is expecting {wanted} features as "
                "input.",
                f"In {batch.source}.",
                "Give it the columns of the training data, in their order.",
            )
        every = len(self.kept) == wanted
        return batch.content if every else batch.content[:, list(self.kept)]

    def _check_values(self, rows: Any, batch: Batch) -> None:
        places = _places(rows, lambda values: ~(np.abs(values) <= LARGEST))
        bad_rows, bad_columns = places
        if not bad_rows.size:
            return
        values = np.ravel(rows[bad_rows, bad_columns]).astype(np.float64)
        columns = np.unique(bad_columns)
        names = quoted(self.names[place] for place in columns)
        noun = "column" if columns.size == 1 else "columns"
        where = f"{noun} {names}"
        raise bad_values(values, np.unique(bad_rows), where, batch, self.missing)


def plan_array(
    batch: Batch, options: InputOptions, column_names: list[str]
) -> ArrayFeatures:
    """Decide from the training rows which columns to use, and find medians."""
    places = {
        option: [column_place(option, name, column_names, batch.source) for name in ns]
        for option, ns in (("--columns", options.columns), ("--drop", options.drop))
    }
    never = set(places["--drop"])
    for option in (options.id, options.label):
        if option in column_names:
            never.add(column_names.index(option))
        elif option is not None and option.isdecimal() and column_names:
            never.add(int(option))
    chosen = places["--columns"] or range(len(column_names))
    kept = tuple(place for place in dict.fromkeys(chosen) if place not in never)
    if not kept:
        raise complain(
            "No column can be used.",
            f"{batch.source} has {counted(len(column_names), 'column')}.",
            "Leave out --drop, or name columns with --columns.",
        )
    found = ArrayFeatures(column_names, kept, [], options.missing, [])
    fills, notes = _medians(found, batch)
    if len(kept) < len(column_names):
        left = [n for i, n in enumerate(column_names) if i not in kept]
        notes.append(f"Not used: {quoted(left)}.")
    summary = f"Used as numbers: {counted(len(kept), 'column')} {quoted(found.names)}."
    notes.insert(0, summary)
    return ArrayFeatures(column_names, kept, fills, options.missing, notes)


def _medians(features: ArrayFeatures, batch: Batch) -> tuple[list[float], list[str]]:
    """Find the median of each column, and say where values lack.

    Medians of columns without gaps may be wanted later; a sample of rows will do.
    """
    rows = features._chosen(batch)
    if sp.issparse(rows):
        return [], []
    step = -(-rows.shape[0] // _SAMPLE_ROWS)
    fills = [_median(column) for column in np.asarray(rows[::step]).T]
    bad_rows, bad_columns = _places(rows, np.isnan)
    notes = []
    if features.missing == "drop" and bad_rows.size:
        n = np.unique(bad_rows).size
        notes.append(f"{counted(n, 'row')} with missing values left out.")
    for place, n in zip(*np.unique(bad_columns, return_counts=True), strict=True):
        fills[place] = _median(np.asarray(rows[:, place]))
        if features.missing == "impute":
            notes.append(
                f"{features.names[place]!r} lacks {counted(int(n), 'value')}, filled "
                f"with the median, {fills[place]:g}."
            )
    return fills, notes


def _median(values: np.ndarray) -> float:
    present = values[np.isfinite(values)].astype(np.float64)
    return float(np.median(present)) if present.size else 0.0


def _places(rows: Any, is_bad: Any) -> tuple[np.ndarray, np.ndarray]:
    """Find rows and columns of bad values, a block of rows at a time."""
    if rows.dtype.kind != "f" and rows.dtype.itemsize <= 4:  # cannot be bad
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if sp.issparse(rows):
        bad = np.flatnonzero(is_bad(rows.data))
        # The row of an entry is the last whose first entry is not after it.
        return np.searchsorted(rows.indptr, bad, side="right") - 1, rows.indices[bad]
    found = []
    block = max(1, _BLOCK_VALUES // max(1, rows.shape[1]))
    for first in range(0, rows.shape[0], block):
        row, column = np.nonzero(is_bad(np.asarray(rows[first : first + block])))
        if row.size:
            found.append((row + first, column))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return (
        np.concatenate([r for r, _ in found]),
        np.concatenate([c for _, c in found]),
    )
