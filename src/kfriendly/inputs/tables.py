"""Rows of a table, from any file format that has named columns."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kfriendly.inputs.base import Batch, InputOptions, Kind
from kfriendly.inputs.complaints import complain, require_columns


class TableFile(Protocol):
    """A file, or several as one, with named columns."""

    name: str
    column_names: list[str]

    @property
    def notes(self) -> list[str]:
        """Say what was guessed."""

    def blocks(self) -> Iterator[pa.Table]:
        """Read some rows at a time, in order."""

    def locate(self, row: int) -> str:
        """Say in which part a row is, by its number; empty if there are no parts."""

    def fingerprint(self) -> str:
        """Compute the SHA-256 of all bytes."""


class TableInput:
    """Rows with named columns.

    Parameters
    ----------
    file : TableFile
    options : InputOptions
        Names of columns that are not read, that name the rows, and that hold classes.
    """

    kind: Kind = "table"

    def __init__(self, file: TableFile, options: InputOptions) -> None:
        self._file, self._options = file, options
        self.name, self.notes = file.name, file.notes
        self.column_names = file.column_names
        for option, column in (("--id", options.id), ("--label", options.label)):
            if column is not None:
                read = [name for name in file.column_names if name not in options.drop]
                require_columns([column], read, option, file.name)

    def read(self) -> Batch:
        """Read everything."""
        blocks = [self._without_dropped(block) for block in self._file.blocks()]
        if not sum(block.num_rows for block in blocks):
            raise no_rows(self.name)
        return self._batch(pa.concat_tables(blocks), first=0)

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Read `n_rows` rows at a time, in constant memory."""
        first = 0
        for table in _regrouped(
            map(self._without_dropped, self._file.blocks()), n_rows
        ):
            yield self._batch(table, first)
            first += table.num_rows
        if not first:
            raise no_rows(self.name)

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the file's bytes."""
        return self._file.fingerprint()

    def _without_dropped(self, block: pa.Table) -> pa.Table:
        return block.drop_columns(
            [name for name in self._options.drop if name in block.column_names]
        )

    def _batch(self, table: pa.Table, first: int) -> Batch:
        id_, label = self._options.id, self._options.label
        if id_ is None:
            ids = [str(row) for row in range(first, first + table.num_rows)]
        else:
            ids = _as_texts(table, id_, self.name)
        labels = None
        if label is not None:
            labels = np.array(_as_texts(table, label, self.name), dtype=np.str_)
        locate = partial(self._locate, first) if self._file.locate(0) else None
        return Batch(table, ids, labels, self.name, locate)

    def _locate(self, first: int, row: int) -> str:
        return self._file.locate(first + row)


class TextColumnInput:
    """Documents: one column of a table.

    Parameters
    ----------
    table : TableInput
    column : str
    """

    kind: Kind = "text"

    def __init__(self, table: TableInput, column: str) -> None:
        require_columns([column], table.column_names, "--text", table.name)
        self._table, self._column = table, column
        self.name = f"column {column!r} of {table.name}"
        self.notes, self.column_names = table.notes, table.column_names

    def read(self) -> Batch:
        """Read everything."""
        return self._documents(self._table.read())

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Read `n_rows` rows at a time, in constant memory."""
        return map(self._documents, self._table.batches(n_rows))

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the file's bytes."""
        return self._table.fingerprint()

    def _documents(self, batch: Batch) -> Batch:
        texts = _as_texts(batch.content, self._column, batch.source)
        return batch._replace(content=texts, source=self.name)


def no_rows(source: str) -> Exception:
    """Make the error of a table with nothing in it."""
    return complain(
        f"{source} has no rows.",
        "There are 0 samples below the column names.",
        "Check that the right file was written, and wholly.",
    )


def _as_texts(table: pa.Table, name: str, source: str) -> list[str]:
    """Return a column as text; a missing value is empty."""
    column = table[name]
    try:
        texts: list[Any] = pc.cast(column, pa.large_string()).to_pylist()
    except pa.ArrowException as error:
        raise complain(
            f"Column {name!r} cannot be read as text.",
            f"In {source} it holds {column.type}.",
            "Name a column of text or of plain values.",
        ) from error
    return ["" if text is None else text for text in texts]


def _regrouped(blocks: Iterator[pa.Table], n_rows: int) -> Iterator[pa.Table]:
    """Cut and join blocks into tables of `n_rows` rows, the last one shorter."""
    waiting: list[pa.Table] = []
    for block in blocks:
        while block.num_rows:
            space = n_rows - sum(table.num_rows for table in waiting)
            waiting.append(block.slice(0, space))
            block = block.slice(space)
            if sum(table.num_rows for table in waiting) == n_rows:
                yield pa.concat_tables(waiting)
                waiting = []
    if waiting:
        yield pa.concat_tables(waiting)
