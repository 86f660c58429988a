"""The two files of a model: written, and read back with every check.

Nothing here knows what a model is. The manifest is JSON whose last line holds the
SHA-256 of all that stands before it, and which holds the SHA-256 of the weights: one
changed bit anywhere is noticed before anything is made of the content.
"""

import hashlib
import stat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from kfriendly import __version__
from kfriendly.errors import ModelFileError
from kfriendly.model_files import strict_json
from kfriendly.storage import read_file, write_file

FORMAT = "kfriendly model"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
WEIGHTS = "weights.safetensors"

# A network of a hundred layers has a few thousand tensors, with its optimiser's.
_MOST_TENSORS = 20_000
_SUM_LINE = ',\n "sha256": "{}"\n}}\n'
# First bytes of what torch.save, pickle and joblib write.
_PICKLES = (b"\x80", b"PK\x03\x04")


class Stored(NamedTuple):
    """What a model's files hold: the JSON of the manifest and the arrays it names."""

    content: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write_stored(folder: Path, stored: Stored, format: str = FORMAT) -> None:
    """Write the weights, then the manifest: without it the folder is no model."""
    # Not ascontiguousarray: it would make a single number an array of one.
    arrays = {name: np.array(a, order="C") for name, a in stored.arrays.items()}
    weights = safetensors.numpy.save(arrays)
    folder.mkdir(exist_ok=True)
    write_file(folder / WEIGHTS, weights)
    manifest = {
        "format": format,
        "format_version": FORMAT_VERSION,
        "kfriendly_version": __version__,
        "files": {WEIGHTS: {"size": len(weights), "sha256": _digest(weights)}},
        "tensors": {name: _describe(array) for name, array in arrays.items()},
        **stored.content,
    }
    body = strict_json.render(manifest).removesuffix(b"\n}\n")
    write_file(folder / MANIFEST, body + _SUM_LINE.format(_digest(body)).encode())


def read_stored(folder: Path, format: str = FORMAT) -> Stored:
    """Read and verify both files; raise ModelFileError for anything that is wrong."""
    _check_folder(folder)
    manifest = _read_manifest(folder / MANIFEST, format)
    path = folder / WEIGHTS
    size, digest = _listed(manifest, folder / MANIFEST)
    content = _read(path, most=size)
    if len(content) != size:
        raise ModelFileError(_told(path, f"it has {len(content)} bytes, not {size}"))
    if _digest(content) != digest:
        raise ModelFileError(_told(path, "its SHA-256 is not the one in the manifest"))
    try:
        arrays = safetensors.numpy.load(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(_told(path, f"it is no safetensors: {error}")) from error
    if {name: _describe(a) for name, a in arrays.items()} != manifest["tensors"]:
        raise ModelFileError(_told(path, "its tensors are not those of the manifest"))
    return Stored(manifest, arrays)


def _read_manifest(path: Path, format: str) -> dict[str, Any]:
    content = _read(path, most=strict_json.MOST_BYTES)
    if not content:
        raise ModelFileError(_told(path, "it is empty"))
    if content.startswith(_PICKLES):
        raise ModelFileError(_pickle_refused(path))
    n_tail = len(_SUM_LINE.format("0" * 64))
    body, tail = content[:-n_tail], content[-n_tail:]
    if tail != _SUM_LINE.format(_digest(body)).encode():
        raise ModelFileError(
            _told(path, "its last line is not the SHA-256 of the rest")
        )
    try:
        manifest = strict_json.parse(content)
    except ValueError as error:
        raise ModelFileError(_told(path, f"it cannot be used: {error}")) from error
    if not isinstance(manifest, dict) or manifest.get("format") != format:
        raise ModelFileError(_told(path, f"it does not say format {format!r}"))
    version = manifest.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} is of format {version}, written by kfriendly "
            f"{str(manifest.get('kfriendly_version'))[:20]}; this is kfriendly "
            f"{__version__}, which reads formats up to {FORMAT_VERSION}. "
            "Run `pip install --upgrade kfriendly`."
        )
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise ModelFileError(_told(path, f"there is no format {str(version)[:20]}"))
    return manifest


def _listed(manifest: dict[str, Any], path: Path) -> tuple[int, str]:
    """Return size and SHA-256 of the weights; only this one file may be named."""
    tensors, files = manifest.get("tensors"), manifest.get("files")
    if not isinstance(tensors, dict) or len(tensors) > _MOST_TENSORS:
        raise ModelFileError(_told(path, f"it lists no tensors, or > {_MOST_TENSORS}"))
    if not isinstance(files, dict) or list(files) != [WEIGHTS]:
        named = str(list(files) if isinstance(files, dict) else files)[:80]
        raise ModelFileError(_told(path, f"it names the files {named}, not {WEIGHTS}"))
    entry = files[WEIGHTS]
    size = entry.get("size") if isinstance(entry, dict) else None
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ModelFileError(_told(path, f"it gives {WEIGHTS} no size"))
    return size, str(entry.get("sha256"))


def _check_folder(folder: Path) -> None:
    """Say what is wrong with a path that is no folder with a manifest."""
    try:
        mode = folder.stat().st_mode
    except OSError as error:
        moved = [p.name for p in folder.parent.glob(f"{folder.name}.old-*")][:1]
        hint = f" An older one was left as {moved[0]}." if moved else ""
        raise ModelFileError(
            f"{folder} cannot be opened: {error.strerror}.{hint} "
            "Give the folder that DCN.save or `kfriendly fit` has written."
        ) from error
    if stat.S_ISREG(mode):
        with folder.open("rb") as stream:
            if stream.read(4).startswith(_PICKLES):
                raise ModelFileError(_pickle_refused(folder))
    if not stat.S_ISDIR(mode):
        raise ModelFileError(
            f"{folder} is a file. A model is a folder with {MANIFEST} and {WEIGHTS}, "
            "as DCN.save or `kfriendly fit` writes it."
        )


def _read(path: Path, *, most: int) -> bytes:
    try:
        return read_file(path, most=most)
    except OSError as error:
        raise ModelFileError(_told(path, f"{error.strerror}")) from error


def _told(path: Path, what: str) -> str:
    return (
        f"{path} is not whole or not a model's: {what}. It is not used. "
        "Copy the model's folder again from where it was saved, or fit it again."
    )


def _pickle_refused(path: Path) -> str:
    return (
        f"{path} looks like a pickle, as torch.save and joblib write. Reading one can "
        "run any code, so kfriendly never does. Load it where you trust it, and write "
        "it with DCN.save."
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _describe(array: np.ndarray) -> dict[str, Any]:
    return {"dtype": array.dtype.name, "shape": list(array.shape)}
