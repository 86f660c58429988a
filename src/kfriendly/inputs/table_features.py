"""Tables to numbers: columns by name."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kfriendly.inputs.base import Batch, InputOptions, Missing
from kfriendly.inputs.columns import SetAside, judge, take
from kfriendly.inputs.complaints import (
    complain,
    counted,
    quoted,
    require_columns,
)
from kfriendly.inputs.encodings import (
    CategoryColumn,
    Encoding,
    NumberColumn,
    encoding_from_json,
)
from kfriendly.inputs.limits import check_values


@dataclass(frozen=True)
class TableFeatures:
    """What to make of each column.

    Parameters
    ----------
    encodings : tuple of Encoding
        Columns that are used.
    set_aside : tuple of str
        Columns that were there at training and are not used.
    missing : {"error", "drop", "impute"}
    notes : list of str
    sizes : tuple of float
        What the numbers made of each column are divided by, so that all columns weigh
        alike; empty if all are numbers, which `DCN` scales.
    """

    encodings: tuple[Encoding, ...]
    set_aside: tuple[str, ...]
    missing: Missing
    notes: list[str]
    sizes: tuple[float, ...] = ()

    input_shape = None

    @cached_property
    def names(self) -> list[str]:
        """A name for each column of the result."""
        return [name for encoding in self.encodings for name in encoding.names]

    def drop_incomplete(self, batch: Batch) -> Batch:
        """Leave out rows with missing or infinite values, if that was asked for."""
        if self.missing != "drop":
            return batch
        self._check_columns(batch)
        good = np.ones(batch.content.num_rows, dtype=bool)
        for encoding in self.encodings:
            good &= np.isfinite(self._encode(encoding, batch)).all(axis=1)
        return batch if good.all() else batch.take(np.flatnonzero(good))

    def transform(self, batch: Batch) -> np.ndarray:
        """Turn rows into float32 numbers, a row each."""
        self._check_columns(batch)
        X = np.empty((batch.content.num_rows, len(self.names)), np.float32)
        first = 0
        sizes = self.sizes or (1.0,) * len(self.encodings)
        for encoding, size in zip(self.encodings, sizes, strict=True):
            values = self._encode(encoding, batch)
            if self.missing == "impute":
                values = encoding.complete(values)
            check_values(values, encoding.name, batch, self.missing)
            X[:, first : first + values.shape[1]] = values / size
            first += values.shape[1]
        return X

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON-able values."""
        return {
            "kind": "table",
            "encodings": [encoding.to_json() for encoding in self.encodings],
            "set_aside": list(self.set_aside),
            "missing": self.missing,
            "notes": list(self.notes),
            "sizes": list(self.sizes),
        }

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "TableFeatures":
        """Make features of what `to_json` returned."""
        return TableFeatures(
            tuple(encoding_from_json(fields) for fields in stored["encodings"]),
            tuple(stored["set_aside"]),
            stored["missing"],
            list(stored["notes"]),
            tuple(stored["sizes"]),
        )

    def _encode(self, encoding: Encoding, batch: Batch) -> np.ndarray:
        column = batch.content[encoding.name]
        values = encoding.encode(column)
        if not np.isnan(values).any():  # what cannot be read is NaN too
            return values
        bad = encoding.unreadable(column)
        if bad.size:
            first = int(bad[0])
            value = column[first].as_py()
            raise complain(
                f"Column {encoding.name!r} has {counted(bad.size, 'value')} that "
                f"cannot be read as at training: {value!r}.",
                f"In {batch.source}, first in {batch.place_of(first)}.",
                "Correct or empty these values.",
            )
        return values

    def _check_columns(self, batch: Batch) -> None:
        """Refuse other columns than those of the training; their order is free."""
        present = batch.content.column_names
        used = [encoding.name for encoding in self.encodings]
        known, here = {*used, *self.set_aside}, set(present)
        absent = [name for name in used if name not in here]
        unknown = [name for name in present if name not in known]
        if not absent and not unknown:
            return
        parts = [
            f"{word} {quoted(names)}"
            for word, names in (("without", absent), ("with the new", unknown))
            if names
        ]
        raise complain(
            "The columns are not those of the training data.",
            f"{batch.source} is {' and '.join(parts)}.",
            "Rename columns, or leave new ones out with --drop; their order is free.",
        )


def plan_table(
    batch: Batch, options: InputOptions, column_names: list[str]
) -> TableFeatures:
    """Decide from the training rows what to make of each column.

    Parameters
    ----------
    batch : Batch
    options : InputOptions
    column_names : list of str
        All columns of the source, also those that were not read.
    """
    require_columns(options.columns, column_names, "--columns", batch.source)
    require_columns(options.drop, column_names, "--drop", batch.source)
    never = [name for name in (options.id, options.label) if name is not None]
    encodings, notes, aside = _judge_all(batch, options, never)
    values = {e.name: e.encode(batch.content[e.name]) for e in encodings}
    used = encodings
    if not options.columns:
        used = _varying(encodings, values)
        for encoding in encodings:
            if encoding not in used:
                aside.append(encoding.name)
                notes.append(
                    f"{encoding.name!r} is left out: all its values are alike."
                )
    if not used:
        raise complain(
            "No column can be used.",
            f"{batch.source}: {' '.join(notes) or 'it has no columns.'}",
            "Name columns with --columns, or a column of text with --text.",
        )
    known = (*aside, *never, *options.drop)
    gaps = _gaps(used, values, options.missing)
    sizes = _sizes(used, values)
    weighed = ["All columns weigh alike, numbers and categories."] if sizes else []
    said = [*_summary(used), *weighed, *gaps, *notes, *_reasons(options)]
    return TableFeatures(tuple(used), known, options.missing, said, sizes)


def _judge_all(
    batch: Batch, options: InputOptions, never: list[str]
) -> tuple[list[Encoding], list[str], list[str]]:
    encodings: list[Encoding] = []
    notes, aside, unnamed = [], [], []
    for name in batch.content.column_names:
        if name in never:
            continue
        if name in options.columns:
            encodings.append(take(name, batch))
        elif options.columns:
            unnamed.append(name)
        else:
            found = judge(name, batch)
            if isinstance(found, SetAside):
                notes.append(f"{name!r} is set aside: {found.reason}.")
                aside.append(name)
            else:
                encodings.append(found)
    if unnamed:
        notes.append(f"Not in --columns, so not used: {quoted(unnamed)}.")
    return encodings, notes, [*aside, *unnamed]


def _varying(
    encodings: list[Encoding], values: dict[str, np.ndarray]
) -> list[Encoding]:
    """Leave out columns of one value, unless there is nothing else."""
    varying = []
    for encoding in encodings:
        with np.errstate(over="ignore"):
            # As narrow as what the network will see.
            seen = encoding.complete(values[encoding.name]).astype(np.float32)
        if (seen != seen[:1]).any():
            varying.append(encoding)
    return varying or encodings


def _sizes(
    encodings: list[Encoding], values: dict[str, np.ndarray]
) -> tuple[float, ...]:
    """Find what gives each column a variance of one, all its numbers together.

    Scaling every number by itself would let a rare category outweigh all else.
    """
    if all(isinstance(encoding, NumberColumn) for encoding in encodings):
        return ()
    sizes = []
    for encoding in encodings:
        seen = encoding.complete(values[encoding.name])
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.sqrt(seen.var(axis=0).sum()))
        sizes.append(size if 0 < size < np.inf else 1.0)
    return tuple(sizes)


def _summary(encodings: list[Encoding]) -> list[str]:
    numbers = [e.name for e in encodings if isinstance(e, NumberColumn)]
    notes = []
    if numbers:
        notes.append(f"Used as numbers: {quoted(numbers, most=20)}.")
    for encoding in encodings:
        if isinstance(encoding, CategoryColumn) and encoding.has_two:
            one, zero = encoding.values
            notes.append(f"{encoding.name!r} is encoded: 1 is {one!r}, 0 is {zero!r}.")
        elif isinstance(encoding, CategoryColumn):
            rest = "; other values share one" if encoding.other else ""
            n = counted(len(encoding.values), "value")
            notes.append(
                f"{encoding.name!r} is encoded by a column for each of {n}{rest}."
            )
        elif encoding.writing == "comma":
            notes.append(f"{encoding.name!r} is read with decimal commas.")
    return notes


def _gaps(
    encodings: list[Encoding], values: dict[str, np.ndarray], missing: Missing
) -> list[str]:
    """Say which values are missing, and what is done about it."""
    notes = []
    incomplete = np.zeros(len(next(iter(values.values()), [])), dtype=bool)
    for encoding in encodings:
        gaps = np.isnan(values[encoding.name]).any(axis=1)
        incomplete |= ~np.isfinite(values[encoding.name]).all(axis=1)
        if gaps.any() and missing == "impute":
            fill = (
                f"filled with the median, {encoding.fill:g}"
                if isinstance(encoding, NumberColumn)
                else "taken for no value more than another"
            )
            notes.append(
                f"{encoding.name!r} lacks {counted(int(gaps.sum()), 'value')} of "
                f"{gaps.size:,}, {fill}."
            )
    if missing == "drop" and incomplete.any():
        notes.append(
            f"{counted(int(incomplete.sum()), 'row')} of {incomplete.size:,} with "
            "missing or infinite values left out."
        )
    return notes


def _reasons(options: InputOptions) -> list[str]:
    notes = []
    if options.id is not None:
        notes.append(f"{options.id!r} names the rows and is not used to cluster.")
    if options.label is not None:
        notes.append(f"{options.label!r} is for scores only, never used to cluster.")
    if options.drop:
        notes.append(f"Not read, by --drop: {quoted(options.drop)}.")
    return notes
