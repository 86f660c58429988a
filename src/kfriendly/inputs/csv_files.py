"""CSV and TSV files, plain or gzipped, block by block; every value stays text.

pyarrow guesses a column's type from the first block and fails when a later one differs.
Text never fails, and what a column is gets decided from all of its rows.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv

from kfriendly.inputs.complaints import complain, quoted, refuse_twins
from kfriendly.inputs.csv_faults import explain, find_fault
from kfriendly.inputs.hashing import hash_file
from kfriendly.inputs.number_text import is_number

if TYPE_CHECKING:
    import _csv  # the type of csv.reader has no other name

_BLOCK = 2**24  # bytes; a row must fit into one
_LONGEST_LINE = 2**20
_UNREADABLE = (EOFError, OSError, zlib.error)


class CsvFile:
    """A text file of columns.

    Parameters
    ----------
    path : Path
    name : str
        What to call it.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.delimiter = _find_delimiter(path, self)
        first = self._first_row()
        self.has_names = not _looks_like_data(first)
        self.column_names = [
            cell if cell and self.has_names else f"column {place}"
            for place, cell in enumerate(first, 1)
        ]
        refuse_twins(self.column_names, name)

    @property
    def notes(self) -> list[str]:
        """Say what was guessed."""
        notes = []
        if not self.has_names:
            notes.append(
                f"{self.name} has no line of column names: its first line is numbers. "
                f"The columns are called {quoted(self.column_names, most=2)}."
            )
        if self.delimiter not in ",\t":
            notes.append(f"Columns of {self.name} are split at {self.delimiter!r}.")
        return notes

    def open(self) -> IO[bytes]:
        """Open the bytes, unpacked if they are packed."""
        with self.path.open("rb") as stream:
            packed = stream.read(2) == b"\x1f\x8b"
        # gzip's stream is an IO[bytes] in all but its type.
        return gzip.open(self.path) if packed else self.path.open("rb")  # type: ignore[return-value]

    @contextmanager
    def rows(self) -> Iterator["_csv.Reader"]:
        """Read rows one by one: slow, but it knows its line."""
        usual = csv.field_size_limit(_BLOCK)  # for all readers, so it is set back
        try:
            stream = self.open()
            with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
                yield csv.reader(text, delimiter=self.delimiter, strict=True)
        finally:
            csv.field_size_limit(usual)

    def blocks(self) -> Iterator[pa.Table]:
        """Read a few megabytes at a time."""
        with self.open() as stream:
            counting = _CountQuotes(stream)
            try:
                reader = pyarrow.csv.open_csv(counting, *self._options)
                for block in reader:
                    yield pa.Table.from_batches([block]).rename_columns(
                        self.column_names
                    )
            except (pa.ArrowException, *_UNREADABLE) as error:
                raise explain(self, error) from error
        if counting.quotes % 2:  # perhaps one is never closed; pyarrow does not mind
            fault = find_fault(self)
            if fault:
                raise fault

    def locate(self, row: int) -> str:
        """Say nothing: there are no parts."""
        return ""

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the file's bytes."""
        return hash_file(self.path)

    @cached_property
    def _options(
        self,
    ) -> tuple[
        pyarrow.csv.ReadOptions, pyarrow.csv.ParseOptions, pyarrow.csv.ConvertOptions
    ]:
        # Places as names: those of the file may be odd.
        places = [str(place) for place in range(len(self.column_names))]
        return (
            pyarrow.csv.ReadOptions(
                column_names=places,
                skip_rows_after_names=int(self.has_names),
                block_size=_BLOCK,
                use_threads=False,
            ),
            pyarrow.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()),
                strings_can_be_null=False,
            ),
        )

    def _first_row(self) -> list[str]:
        try:
            with self.rows() as reader:
                for row in reader:
                    if row:
                        return row
        except (csv.Error, UnicodeDecodeError, *_UNREADABLE) as error:
            raise explain(self, error) from error
        raise complain(
            f"{self.name} is empty.",
            "It has no line of column names and no rows.",
            "Check that the right file was written, and wholly.",
        )


class _CountQuotes(io.RawIOBase):
    """A stream that counts the quotes passing through, and ends its last line.

    pyarrow cannot read a file of nothing but column names without an end of line.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.quotes, self._end = stream, 0, b"\n"

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.quotes += content.count(b'"')
        self._end = content[-1:] or self._end
        if len(content) < size and self._end != b"\n":  # the end of the file
            self._end = b"\n"
            content += b"\n"
        return content


def _find_delimiter(path: Path, file: CsvFile) -> str:
    """Tell from the name, else from the first line: a comma wins if there is one."""
    if path.name.removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    try:
        with file.open() as stream:
            line = stream.readline(_LONGEST_LINE)
    except _UNREADABLE as error:
        raise explain(file, error) from error
    counts = {mark: line.count(mark.encode()) for mark in ",;\t|"}
    if counts[","]:
        return ","
    return max(counts, key=lambda mark: counts[mark])


def _looks_like_data(first: list[str]) -> bool:
    """Tell whether the first row is numbers; 0, 1, 2, ... or years are names."""
    if not all(is_number(cell) for cell in first):
        return False
    values = [float(cell) for cell in first]
    steps = {after - before for before, after in zip(values, values[1:], strict=False)}
    return steps != {1.0}
