"""Documents: a line of a file each, or a file of a folder each."""

import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from kfriendly.errors import BadInput
from kfriendly.inputs.base import Batch, Kind
from kfriendly.inputs.complaints import complain
from kfriendly.inputs.csv_faults import bad_utf8
from kfriendly.inputs.hashing import hash_file, hash_files


class LinesInput:
    """A text file, plain or gzipped; a line is a document, a blank one is none.

    Ids are numbers of lines, from 0.

    Parameters
    ----------
    path : Path
    name : str
    """

    kind: Kind = "text"

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.notes: list[str] = []
        self.column_names: list[str] = []

    def read(self) -> Batch:
        """Read everything."""
        documents = list(self._documents())
        if not documents:
            raise _no_documents(self.name)
        return _batch(documents, self.name)

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Read `n_rows` documents at a time, in constant memory."""
        documents = self._documents()
        found = False
        while some := list(islice(documents, n_rows)):
            found = True
            yield _batch(some, self.name)
        if not found:
            raise _no_documents(self.name)

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the file's bytes."""
        return hash_file(self.path)

    def _documents(self) -> Iterator[tuple[str, str]]:
        try:
            opened = gzip.open if _is_packed(self.path) else open
            with opened(self.path, "rt", encoding="utf-8-sig", newline=None) as lines:
                for number, line in enumerate(lines):
                    if line.strip():
                        yield str(number), line.rstrip("\n")
        except UnicodeDecodeError as error:
            raise not_utf8(self.path, self.name) from error
        except (EOFError, OSError, zlib.error) as error:
            raise complain(
                f"{self.name} cannot be read: {error}.",
                f"In {self.path}.",
                "The file is cut off or not there: check it, or write it anew.",
            ) from error


class TextFolderInput:
    """A folder of text files; each is a document, and its name the id.

    Parameters
    ----------
    paths : list of Path
    folder : Path
    name : str
    """

    kind: Kind = "text"

    def __init__(self, paths: list[Path], folder: Path, name: str) -> None:
        self._paths, self._folder, self.name = paths, folder, name
        self.notes = [f"{len(paths):,} text files, a document each."]
        self.column_names: list[str] = []

    def read(self) -> Batch:
        """Read everything."""
        return _batch(list(self._documents()), self.name)

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Read `n_rows` files at a time, in constant memory."""
        documents = self._documents()
        while some := list(islice(documents, n_rows)):
            yield _batch(some, self.name)

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the bytes of all files."""
        return hash_files(self._paths, self._folder)

    def _documents(self) -> Iterator[tuple[str, str]]:
        for path in self._paths:
            place = path.relative_to(self._folder).as_posix()
            try:
                yield place, path.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                raise not_utf8(path, str(path)) from error


def not_utf8(path: Path, name: str) -> BadInput:
    """Make the error that says at which byte a file is no UTF-8 text."""
    with gzip.open(path) if _is_packed(path) else path.open("rb") as stream:
        found = bad_utf8(stream)  # type: ignore[arg-type]  # gzip's is an IO[bytes]
    position, line, advice = found or (0, 1, "Write it anew.")
    return complain(
        f"{name} is not UTF-8 text.",
        f"Byte {position:,} (counted from 0), in line {line:,}.",
        advice,
    )


def _batch(documents: list[tuple[str, str]], name: str) -> Batch:
    ids, texts = map(list, zip(*documents, strict=True))
    return Batch(texts, ids, None, name)


def _no_documents(name: str) -> BadInput:
    return complain(
        f"{name} has no documents.",
        "There are 0 samples: all lines are blank, or there are none.",
        "Check that the right file was written, and wholly.",
    )


def _is_packed(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"
