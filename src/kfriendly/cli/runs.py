"""The RUN folder: what is in it, and whether it is whole."""

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kfriendly import __version__
from kfriendly.cli.exits import cannot_write
from kfriendly.errors import ModelFileError
from kfriendly.storage import new_folder, write_file

MODEL, METRICS, STORY, PAGE, RUN = (
    "model",
    "metrics.jsonl",
    "story.json",
    "report.html",
    "run.json",
)
FORMAT = 1
# Far larger than any that was written.
_MOST_BYTES = 2**27

_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "pyarrow")


@contextmanager
def new_place(path: Path, *, overwrite: bool, marker: str) -> Iterator[Path]:
    """Yield a folder that becomes `path`; fail now if it cannot be written."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(new_folder(path, overwrite, marker=marker))
        except OSError as error:
            raise cannot_write(path, error) from error
        yield folder


def versions() -> dict[str, str]:
    """Tell which code made a run."""
    found = {"kfriendly": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # pragma: no cover - a build without metadata
            found[package] = "unknown"
    return {**found, "platform": platform.platform()}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write JSON, a top-level key a line; NaN, which JSON lacks, becomes null."""
    lines = (
        f" {json.dumps(key)}: {json.dumps(finite(part), allow_nan=False)}"
        for key, part in value.items()
    )
    write_file(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def write_lines(path: Path, values: Iterable[dict[str, Any]]) -> None:
    """Write an object a line."""
    lines = [json.dumps(finite(value), allow_nan=False) + "\n" for value in values]
    write_file(path, "".join(lines).encode())


def finite(value: Any) -> Any:  # Any: whatever JSON holds
    """Replace numbers that JSON does not have by null."""
    if isinstance(value, dict):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def seal(folder: Path) -> dict[str, dict[str, Any]]:
    """List every file with its size and SHA-256."""
    return {
        path.relative_to(folder).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": sha256(path),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def sha256(path: Path) -> str:
    """Compute the checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_run(folder: Path) -> dict[str, Any]:
    """Read run.json, or say what is wrong with the folder."""
    path = folder / RUN
    if not folder.is_dir():
        raise ModelFileError(
            f"There is no run {folder}.\nIt is {_found(folder)}.\n"
            "Name a folder that `kfriendly fit` has written."
        )
    run = read_json(path)
    if run.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} has the format {run.get('format')!r}, and kfriendly {__version__} "
            f"reads {FORMAT}.\nIt was written by kfriendly "
            f"{_part(run, 'versions').get('kfriendly', '?')}.\nInstall that version, "
            "or fit again."
        )
    for name in ("data", "input", "features", "parameters", "files", "outcome"):
        if not isinstance(run.get(name), dict):
            raise _broken(path, f"it has no {name!r}")
    return run


def read_json(path: Path) -> dict[str, Any]:
    """Read an object of JSON from a run's folder."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _broken(path, "it is too large")
        value = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise ModelFileError(
            f"{path} is not there.\n{path.parent} is not a run, or not whole.\n"
            "Name a folder that `kfriendly fit` has written."
        ) from error
    except (ValueError, RecursionError) as error:
        raise _broken(path, str(error)) from error
    if not isinstance(value, dict):
        raise _broken(path, "it is not an object")
    return value


def verify(folder: Path, run: dict[str, Any]) -> dict[str, str]:
    """Compare every file of a run with its checksum; say how each was found."""
    found = {}
    for name, expected in run["files"].items():
        path = folder / name
        if ".." in Path(name).parts or Path(name).is_absolute():
            raise _broken(folder / RUN, f"the name {name!r} leads out of the folder")
        if not path.is_file():
            found[name] = "not there"
        elif path.stat().st_size != expected.get("bytes"):
            found[name] = "changed: another size"
        elif sha256(path) != expected.get("sha256"):
            found[name] = "changed: another checksum"
        else:
            found[name] = "whole"
    return found


def labels_of(folder: Path) -> Path:
    """Find the labels of a run, in either format."""
    for name in ("labels.parquet", "labels.csv"):
        if (folder / name).is_file():
            return folder / name
    raise ModelFileError(
        f"{folder} has no labels.\nNeither labels.parquet nor labels.csv is there.\n"
        "Fit again."
    )


def _part(run: dict[str, Any], name: str) -> dict[str, Any]:
    part = run.get(name)
    return part if isinstance(part, dict) else {}


def _broken(path: Path, why: str) -> ModelFileError:
    return ModelFileError(
        f"{path} cannot be used: {why}.\nIt was changed or cut off after it was "
        "written.\nTake it from a copy, or fit again."
    )


def _found(path: Path) -> str:
    return "a file" if path.exists() else "not there"
