"""Arrays that take long to make: kept in a file, with their checksum beside it."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kfriendly.datasets.files import Condition, checksum
from kfriendly.errors import DataCorrupt

Arrays = dict[str, np.ndarray]


def keep_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """Read arrays from `path`, or make them and write them there.

    A file whose checksum does not fit is an error, not made anew in silence: something
    is wrong with the disk, or someone has changed it.
    """
    found = condition_of(path)
    if found == "absent":
        arrays = make()
        _write(path, arrays)
        return arrays
    if found == "corrupt":
        raise DataCorrupt(
            f"{path} does not have the checksum in {_note(path).name}. It is not used. "
            f"Remove both files; they will be made again."
        )
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def condition_of(path: Path) -> Condition:
    """Tell whether a kept file is there and as it was written."""
    if not path.exists():
        return "absent"
    note = _note(path)
    recorded = note.read_text().strip() if note.exists() else ""
    return "good" if checksum(path) == recorded else "corrupt"


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _write(path: Path, arrays: Arrays) -> None:
    """Write to a temporary name, then rename: a file is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.stem}.{os.getpid()}.npz")
    try:
        np.savez(unfinished, allow_pickle=False, **arrays)
        _note(path).write_text(checksum(unfinished) + "\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
