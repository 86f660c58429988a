"""NPY and NPZ files: rows of numbers, dense or sparse, or images."""

from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from kfriendly.inputs.base import InputOptions
from kfriendly.inputs.complaints import complain, quoted
from kfriendly.inputs.hashing import hash_file
from kfriendly.inputs.loaded import LoadedInput

_ROWS = ("X", "x", "data", "features", "arr_0")  # names that rows go by in an NPZ file


def open_npy(path: Path, name: str, options: InputOptions) -> LoadedInput:
    """Open a file of one array; it stays on disk until its rows are used."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise _unreadable(name, error) from error
    if not isinstance(array, np.ndarray):  # an NPZ file by another name
        return open_npz(path, name, options)
    return _as_input(array, path, name, options, {})


def open_npz(path: Path, name: str, options: InputOptions) -> LoadedInput:
    """Open a file of named arrays, or one that scipy.sparse.save_npz wrote."""
    try:
        # Opened here: numpy leaves its own file open when it fails.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            parts = {key: stored[key] for key in stored.files}
    except (ValueError, EOFError, OSError, BadZipFile, AttributeError) as error:
        raise _unreadable(name, error) from error
    if {"format", "shape", "data"} <= set(parts):
        return _as_input(_read_sparse(path, name), path, name, options, {})
    key = _choose(parts, options, name)
    others = {other: part for other, part in parts.items() if other != key}
    return _as_input(parts[key], path, name, options, others)


def column_place(option: str, wanted: str, names: list[str], source: str) -> int:
    """Find a column of an array by its name, x3, or its number, 3."""
    for known in (names, [str(place) for place in range(len(names))]):
        if wanted in known:
            return known.index(wanted)
    raise complain(
        f"{option} {wanted!r}: there is no such column.",
        f"{source} has the columns {quoted(names)}, or 0 to {len(names) - 1}.",
        "Columns of an array go by their number, from 0.",
    )


def _choose(parts: dict[str, np.ndarray], options: InputOptions, name: str) -> str:
    """Find the array of rows among others."""
    rest = [key for key in parts if key not in (options.id, options.label)]
    if len(rest) == 1:
        return rest[0]
    for key in _ROWS:
        if key in rest:
            return key
    raise complain(
        f"{name} has no array that is plainly the rows.",
        f"It holds {quoted(parts)}.",
        "Call it X; --label and --id may name others.",
    )


def _read_sparse(path: Path, name: str) -> sp.csr_array:
    try:
        rows = sp.csr_array(sp.load_npz(path))
        rows.check_format(full_check=True)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise _unreadable(name, error) from error
    rows.sum_duplicates()
    return rows


def _as_input(
    rows: Any,  # ndarray or csr_array
    path: Path,
    name: str,
    options: InputOptions,
    others: dict[str, np.ndarray],
) -> LoadedInput:
    images = not sp.issparse(rows) and rows.dtype == np.uint8 and _are_images(rows)
    if not images:
        _check_shape(rows, name)
    column_names = [] if images else [f"x{place}" for place in range(rows.shape[1])]
    label = _beside("--label", options.label, rows, column_names, others, name)
    ids = _beside("--id", options.id, rows, column_names, others, name)
    return LoadedInput(
        "images" if images else "array",
        name,
        rows,
        fingerprint=partial(hash_file, path),
        labels=label,
        ids=None if ids is None else [str(value) for value in ids.tolist()],
        column_names=column_names,
    )


def _are_images(rows: np.ndarray) -> bool:
    return rows.ndim == 3 or (rows.ndim == 4 and rows.shape[3] == 3)


def _beside(  # noqa: PLR0913 - where a column may be
    option: str,
    wanted: str | None,
    rows: Any,
    column_names: list[str],
    others: dict[str, np.ndarray],
    name: str,
) -> np.ndarray | None:
    """Find what an option names: an array beside the rows, or a column of them."""
    if wanted is None:
        return None
    if wanted in others:
        found = others[wanted]
        if found.shape != (rows.shape[0],):
            raise complain(
                f"{option} {wanted!r} does not fit the rows.",
                f"In {name} it has shape {found.shape}, for {rows.shape[0]:,} rows.",
                "Give one value a row.",
            )
        return found
    place = column_place(option, wanted, column_names, name)
    column = rows[:, [place]]
    return np.ravel(column.toarray() if sp.issparse(column) else column)


def _check_shape(rows: Any, name: str) -> None:
    """Refuse what is no table of numbers, in scikit-learn's words."""
    if rows.ndim != 2:
        raise complain(
            f"Expected 2D array, got {rows.ndim}D array instead.",
            f"{name} has shape {rows.shape} of {rows.dtype}.",
            "Give it a row for each sample: reshape(n, -1). Images are uint8 of shape "
            "(n, height, width) or (n, height, width, 3).",
        )
    if rows.dtype.kind == "c":
        raise complain(
            "Complex data not supported.",
            f"{name} holds {rows.dtype}.",
            "Save real and imaginary parts as columns.",
        )
    if rows.dtype.kind not in "fiub":
        raise complain(
            "The array does not hold numbers.",
            f"{name} holds {rows.dtype}.",
            "Save it as float32, or as a CSV file if its columns differ.",
        )
    if not all(rows.shape):
        missing = "0 samples" if not rows.shape[0] else "0 features"
        raise complain(
            f"Found array with {missing}.",
            f"{name} has shape {rows.shape}.",
            "Check that the right array was saved.",
        )


def _unreadable(name: str, error: Exception) -> Exception:
    objects = "pickle" in str(error).lower()
    reason = "it holds Python objects" if objects else str(error).splitlines()[0]
    return complain(
        f"{name} cannot be read: {reason.rstrip('.')}.",
        "It is cut off, or not an array file of numbers.",
        "Save rows of numbers anew, with numpy.save or scipy.sparse.save_npz; Python "
        "objects are never loaded, as that could run code.",
    )
