"""Finding what is wrong with a CSV file, by a slow second reading."""

import codecs
import csv
import zlib
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, Protocol

from kfriendly.errors import BadInput
from kfriendly.inputs.complaints import complain, counted

if TYPE_CHECKING:
    import _csv  # the type of csv.reader has no other name

_BLOCK = 2**20


class TextOfColumns(Protocol):
    """What is needed of the file."""

    name: str

    def open(self) -> IO[bytes]:
        """Open the bytes."""

    def rows(self) -> AbstractContextManager["_csv.Reader"]:
        """Read rows one by one."""


def explain(file: TextOfColumns, error: Exception) -> BadInput:
    """Say where the file is wrong; failing that, what the reader said."""
    if isinstance(error, (EOFError, OSError, zlib.error)):
        reason = getattr(error, "strerror", None) or str(error)
        return complain(
            f"{file.name} cannot be read: {reason}.",
            "The file is cut off, not what its name says, or not there.",
            "Check it, or write it anew.",
        )
    return find_fault(file) or complain(
        f"{file.name} cannot be read as a table.",
        str(error).splitlines()[0],
        "A row may have 16 MB, and text is UTF-8; check the file, or write it anew.",
    )


def find_fault(file: TextOfColumns) -> BadInput | None:
    """Look for bytes that are not UTF-8, then for a row that does not fit."""
    return _find_bad_bytes(file) or _find_bad_row(file)


def _find_bad_bytes(file: TextOfColumns) -> BadInput | None:
    with file.open() as stream:
        found = bad_utf8(stream)
    if not found:
        return None
    position, line, advice = found
    return complain(
        f"{file.name} is not UTF-8 text.",
        f"Byte {position:,} (counted from 0), in line {line:,}.",
        advice,
    )


def bad_utf8(stream: IO[bytes]) -> tuple[int, int, str] | None:
    """Find the first byte that is not UTF-8: its place, its line, and what to do."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = lines = 0
    start = b""
    while True:
        block = stream.read(_BLOCK)
        start = start or block[:4]
        pending = len(decoder.getstate()[0])  # bytes of a character begun before
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            at = position - pending + error.start
            lines += block[: max(0, error.start - pending)].count(b"\n")
            return at, lines + 1, _advice(start)
        if not block:
            return None
        position += len(block)
        lines += block.count(b"\n")


def _advice(start: bytes) -> str:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "It looks like UTF-16: iconv -f utf-16 -t utf-8 FILE > NEW converts it."
    return "If it is Latin-1: iconv -f latin1 -t utf-8 FILE > NEW converts it."


def _find_bad_row(file: TextOfColumns) -> BadInput | None:
    with file.rows() as reader:
        width, line = 0, 1
        try:
            for row in reader:
                if row and not width:
                    width = len(row)
                if row and len(row) != width:
                    return _ragged(file.name, line, len(row), width)
                line = reader.line_num + 1
        except csv.Error as error:
            long = "larger than field limit" in str(error)
            fault = "has more than 16 MB" if long else "does not end as it should"
            return complain(
                f"{file.name} has a quoted value that {fault}.",
                f"The row that begins in line {line:,}: {error}.",
                'Close the quote; a quote inside a quoted value is written "".',
            )
    return None


def _ragged(name: str, line: int, found: int, width: int) -> BadInput:
    return complain(
        f"{name} has a row of {counted(found, 'value')} where there are "
        f"{counted(width, 'column')}.",
        f"Line {line:,}.",
        "Mend this line; a value with the delimiter in it needs quotes around it.",
    )
