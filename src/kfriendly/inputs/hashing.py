"""SHA-256 of what is read."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

_BLOCK_ROWS = 4_096


def hash_file(path: Path) -> str:
    """Compute the SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_files(paths: Iterable[Path], folder: Path) -> str:
    """Compute one SHA-256 of files in a folder: of their places and checksums."""
    total = hashlib.sha256()
    for path in paths:
        place = path.relative_to(folder).as_posix()
        total.update(f"{hash_file(path)}  {place}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def hash_values(*parts: Any) -> str:
    """Compute the SHA-256 of arrays, sparse arrays, lists of text, or nothing."""
    total = hashlib.sha256()
    for part in parts:
        if sp.issparse(part):
            total.update(repr(("csr", part.shape)).encode())
            arrays = [part.data, part.indices, part.indptr]
        elif isinstance(part, np.ndarray):
            arrays = [part]
        else:
            total.update(repr(part).encode("utf-8", "backslashreplace"))
            continue
        for array in arrays:
            total.update(repr((array.dtype.str, array.shape)).encode())
            for first in range(0, len(array), _BLOCK_ROWS):
                rows = array[first : first + _BLOCK_ROWS]
                total.update(np.ascontiguousarray(rows).tobytes())
    return total.hexdigest()
