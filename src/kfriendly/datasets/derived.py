"""Arrays that take long to make: kept in a file, with their checksum beside it."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kfriendly.datasets.files import checksum
from kfriendly.errors import DataCorrupt

Arrays = dict[str, np.ndarray]


def keep_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """Read arrays from `path`, or make them and write them there.

    A file whose checksum does not fit is an error, not made anew in silence: something
    is wrong with the disk, or someone has changed it.
    """
    note = path.with_name(path.name + ".sha256")
    if not path.exists():
        arrays = make()
        _write(path, note, arrays)
        return arrays
    recorded = note.read_text().strip() if note.exists() else "no record"
    if checksum(path) != recorded:
        raise DataCorrupt(
            f"{path} does not have the checksum in {note.name}. It is not used. "
            f"Remove both files; they will be made again."
        )
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _write(path: Path, note: Path, arrays: Arrays) -> None:
    """Write to a temporary name, then rename: a file is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.stem}.{os.getpid()}.npz")
    try:
        np.savez(unfinished, allow_pickle=False, **arrays)
        note.write_text(checksum(unfinished) + "\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
