"""Parquet and Feather files, and folders of Parquet files, block by block."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet

from kfriendly.errors import BadInput
from kfriendly.inputs.complaints import complain, quoted, refuse_twins
from kfriendly.inputs.hashing import hash_file, hash_files

_BLOCK_ROWS = 16_384


class ParquetFiles:
    """One file, or the files of a folder in the order of their names.

    Footers are read and compared at once, so that a file that does not fit is found
    before any training. Checksums of pages, where there are any, are verified.

    Parameters
    ----------
    paths : list of Path
    folder : Path
        Where they lie; folders called `key=value` on the way make a column `key`.
    name : str
        What to call it.
    """

    def __init__(self, paths: list[Path], folder: Path, name: str) -> None:
        self.paths, self.folder, self.name = paths, folder, name
        self.notes: list[str] = []
        self._schema = _common_schema(paths)
        keys = [key for key, _ in self._partition(paths[0])]
        self.column_names = [*self._schema.names, *keys]
        refuse_twins(self.column_names, name)
        if len(paths) > 1:
            self.notes.append(f"{len(paths)} files of {name}, in the order of names.")

    def blocks(self) -> Iterator[pa.Table]:
        """Read a few thousand rows at a time."""
        for path in self.paths:
            with _open_parquet(path) as file:
                for group in range(file.num_row_groups):
                    with _blamed(path, f"row group {group}"):
                        batches = file.iter_batches(_BLOCK_ROWS, row_groups=[group])
                    yield from self._tables(batches, path, group)

    def locate(self, row: int) -> str:
        """Say in which file and row group a row is."""
        for path, group, n_rows in self._groups:
            if row < n_rows:
                return f"{path.name}, row group {group}"
            row -= n_rows
        return ""

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the bytes of all files."""
        if len(self.paths) == 1:
            return hash_file(self.paths[0])
        return hash_files(self.paths, self.folder)

    @cached_property
    def _groups(self) -> list[tuple[Path, int, int]]:
        """List file, number and rows of every row group."""
        groups = []
        for path in self.paths:
            with _open_parquet(path) as file:
                sizes = [
                    file.metadata.row_group(group).num_rows
                    for group in range(file.num_row_groups)
                ]
            groups += [(path, group, size) for group, size in enumerate(sizes)]
        return groups

    def _partition(self, path: Path) -> list[tuple[str, str]]:
        folders = path.relative_to(self.folder).parent.parts
        pairs = [part.partition("=") for part in folders if "=" in part]
        return [(key, unquote(value)) for key, _, value in pairs]

    def _tables(self, batches: Iterator[Any], path: Path, group: int) -> Iterator[Any]:
        while True:
            with _blamed(path, f"row group {group}"):
                batch = next(batches, None)
                if batch is None:
                    return
                table = pa.Table.from_batches([batch])
                table = table.select(self._schema.names).cast(self._schema)
            for key, value in self._partition(path):
                table = table.append_column(key, pa.repeat(value, table.num_rows))
            yield table.select(self.column_names)


class FeatherFile:
    """A Feather or Arrow file.

    Parameters
    ----------
    path : Path
    name : str
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.notes: list[str] = []
        with _blamed(path), pa.memory_map(str(path)) as stream:
            schema = pa.ipc.open_file(stream).schema
        refuse_twins(schema.names, name)
        self.column_names = list(schema.names)

    def blocks(self) -> Iterator[pa.Table]:
        """Read a record batch at a time."""
        with _blamed(self.path), pa.memory_map(str(self.path)) as stream:
            n_batches = pa.ipc.open_file(stream).num_record_batches
        for number in range(n_batches):
            with _blamed(self.path, f"record batch {number}"):
                with pa.memory_map(str(self.path)) as stream:
                    batch = pa.ipc.open_file(stream).get_batch(number)
                    batch.validate(full=True)
            for first in range(0, batch.num_rows, _BLOCK_ROWS):
                part = batch.slice(first, _BLOCK_ROWS)
                yield pa.Table.from_batches([part])

    def locate(self, row: int) -> str:
        """Say nothing: the file is one."""
        return ""

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the file's bytes."""
        return hash_file(self.path)


def _common_schema(paths: list[Path]) -> pa.Schema:
    """Find one schema for all files, or name the file that does not fit."""
    first = None
    for path in paths:
        with _open_parquet(path) as file, _blamed(path):
            schema = file.schema_arrow.remove_metadata()
        refuse_twins(schema.names, str(path))
        if first is None:
            first = schema
            continue
        _refuse_other_names(first, schema, path, paths[0])
        try:
            first = pa.unify_schemas([first, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise complain(
                f"{path} does not fit {paths[0]}: {str(error).splitlines()[0]}.",
                f"In {path}.",
                "Write all files of the folder with the same columns and types.",
            ) from error
    return first


def _refuse_other_names(first: Any, schema: Any, path: Path, home: Path) -> None:
    lacking = [name for name in first.names if name not in schema.names]
    further = [name for name in schema.names if name not in first.names]
    if lacking or further:
        parts = [
            f"{word} {quoted(names)}"
            for word, names in (("lacks", lacking), ("also has", further))
            if names
        ]
        raise complain(
            f"{path} has other columns than {home}.",
            f"It {' and '.join(parts)}.",
            "Write all files of the folder with the same columns and types.",
        )


def _open_parquet(path: Path) -> Any:
    with _blamed(path):
        return pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)


@contextmanager
def _blamed(path: Path, part: str = "") -> Iterator[None]:
    """Let an error of the reader name the file and what to do."""
    try:
        yield
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).splitlines()[0]
        raise complain(
            f"{path} cannot be read: {reason.rstrip('.')}.",
            f"In {part} of {path}." if part else f"In {path}.",
            "The file is cut off or damaged, or not what its name says: write it anew.",
        ) from error
