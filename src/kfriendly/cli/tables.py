"""Tables that are written part by part and appear only when whole."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from kfriendly.cli.exits import Code, Refused, cannot_write
from kfriendly.inputs import Batch
from kfriendly.storage import new_file

STDOUT = Path("-")


class Writer(Protocol):
    """Takes tables of the same columns."""

    def write_table(self, table: pa.Table) -> None:
        """Add rows."""


class _Opening:
    """A writer that learns its columns from the first table."""

    def __init__(self, sink: Any, kind: str) -> None:  # Any: pyarrow has no types
        self._sink, self._kind = sink, kind
        self._writer: Any = None

    def write_table(self, table: pa.Table) -> None:
        """Add rows."""
        if self._writer is None:
            self._writer = _open(self._sink, table.schema, self._kind)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write what ends the file."""
        if self._writer is not None:
            self._writer.close()


def kind_of(path: Path) -> str:
    """Tell the format of a table from its name."""
    if path == STDOUT or path.suffix.lower() == ".csv":
        return "csv"
    if path.suffix.lower() in (".parquet", ".pq"):
        return "parquet"
    raise Refused(
        Code.USAGE,
        f"--out {path}: the name does not tell the format.",
        "End it with .parquet or .csv, or write - for CSV on the output.",
    )


@contextmanager
def new_table(path: Path, *, overwrite: bool = False) -> Iterator[Writer]:
    """Yield a writer; the file takes its name when all rows are on the disk.

    What stood there before stays until then; on an error nothing is left behind.
    """
    kind = kind_of(path)
    if path == STDOUT:
        writer = _Opening(sys.stdout.buffer, kind)
        yield writer
        writer.close()
        sys.stdout.flush()
        return
    if path.is_dir() or (path.exists() and not overwrite):
        raise FileExistsError(
            f"{path} is there already.\nChoose another --out, or allow --overwrite."
        )
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(new_file(path))
        except OSError as error:
            raise cannot_write(path, error) from error
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            writer = _Opening(stream, kind)
            yield writer
            writer.close()


def read_ids_and_clusters(path: Path) -> tuple[list[str], np.ndarray]:
    """Read the labels of a run: the first column names the rows."""
    if path.suffix == ".csv":
        table = pyarrow.csv.read_csv(path)
    else:
        table = pyarrow.parquet.read_table(path)
    ids = table.column(0).cast(pa.string()).to_pylist()
    return ids, table.column("cluster").to_numpy()


def table_of(
    batch: Batch, name: str, columns: dict[str, np.ndarray], *, keep: bool = False
) -> pa.Table:
    """Put the rows' names, or all their columns, beside what was found."""
    found = {key: pa.array(values) for key, values in columns.items()}
    if keep and isinstance(batch.content, pa.Table):
        given = batch.content
        taken = set(found) | {name}
        renamed = [
            f"{key} (input)" if key in taken else key for key in given.schema.names
        ]
        rows = {name: _ids(batch.ids, name)}
        rows |= dict(zip(renamed, given.columns, strict=True))
        return pa.table(rows | found)
    return pa.table({name: _ids(batch.ids, name)} | found)


def name_of_ids(id_: str | None, kind: str) -> str:
    """Name the column of the rows' names: as given, else `file` or `row`."""
    return id_ or ("file" if kind == "images" else "row")


def _ids(ids: Sequence[str], name: str) -> pa.Array:
    """Return row numbers as numbers, other names as text."""
    if name == "row" and all(text.isdecimal() for text in ids):
        return pa.array([int(text) for text in ids], pa.int64())
    return pa.array(list(ids), pa.string())


def _open(sink: Any, schema: pa.Schema, kind: str) -> Any:  # Any: pyarrow has no types
    if kind == "csv":
        return pyarrow.csv.CSVWriter(sink, schema)
    # Page checksums: a bit that flips on the disk is found when read.
    return pyarrow.parquet.ParquetWriter(sink, schema, write_page_checksum=True)
