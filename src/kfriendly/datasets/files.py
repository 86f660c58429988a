"""Data files: where they lie, whether they are whole, and where to get them.

A file is used only if its SHA-256 is known. What is absent is fetched from its official
source into the data folder; what is corrupt is named and left alone until it is fetched
anew.
"""

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kfriendly.errors import DataCorrupt, DataNotFound

Condition = Literal["good", "absent", "corrupt"]

_TIMEOUT = 30  # seconds without an answer


@dataclass(frozen=True)
class DataFile:
    """One file of a data set, as published.

    Parameters
    ----------
    path : str
        Place in the data folder.
    size : int
        Bytes; of another packing a few per cent more or less.
    sha256 : tuple of str
        Checksum of the official file first; any others are of the same data, packed
        anew.
    urls : tuple of str
        Addresses, the official one first; empty if nobody offers the file.
    """

    path: str
    size: int
    sha256: tuple[str, ...]
    urls: tuple[str, ...] = ()


def data_folder() -> Path:
    """Return the folder of data files: `KFRIENDLY_DATA`, else a user cache folder."""
    named = os.environ.get("KFRIENDLY_DATA")
    return Path(named).expanduser() if named else cache_folder() / "data"


def cache_folder() -> Path:
    """Return the folder for what can be computed or fetched again."""
    named = os.environ.get("XDG_CACHE_HOME")
    caches = Path(named).expanduser() if named else Path.home() / ".cache"
    return caches / "kfriendly"


def condition(file: DataFile) -> Condition:
    """Tell whether a file is here and whole; reads all of it."""
    path = data_folder() / file.path
    if not path.is_file():
        return "absent"
    return "good" if checksum(path) in file.sha256 else "corrupt"


def checksum(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def obtain(file: DataFile) -> Path:
    """Return the path of a verified file; fetch it first if it is absent."""
    path = data_folder() / file.path
    found = condition(file)
    if found == "absent":
        return fetch(file)
    if found == "corrupt":
        raise DataCorrupt(
            f"{path} is not the file it should be: {in_words(path.stat().st_size)} "
            f"where {in_words(file.size)} are expected, and its SHA-256 is "
            f"{checksum(path)[:12]}..., not {file.sha256[0][:12]}... It is not used. "
            f"{_way_out(file, path)}"
        )
    return path


def fetch(file: DataFile) -> Path:
    """Download a file, or replace a corrupt one, and verify it."""
    path = data_folder() / file.path
    failures = []
    for url in file.urls:
        try:
            _download(url, file, path)
            return path
        except (OSError, ValueError) as error:  # ValueError: the checksum is wrong
            failures.append(f"{url}: {_first_line(error)}")
    tried = f" Tried {'; '.join(failures)}." if failures else ""
    raise DataNotFound(f"{path} is not here.{tried} {_way_out(file, path)}")


def _download(url: str, file: DataFile, path: Path) -> None:
    try:
        import pooch
    except ImportError as error:
        raise OSError("downloads need pip install 'kfriendly[data]'") from error
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=_TIMEOUT)
    pooch.get_logger().setLevel("WARNING")
    path.parent.mkdir(parents=True, exist_ok=True)
    pooch.retrieve(
        url,
        known_hash=f"sha256:{file.sha256[0]}",
        fname=path.name,
        path=path.parent,
        downloader=downloader,
    )


def _way_out(file: DataFile, path: Path) -> str:
    if not file.urls:
        return (
            "Nobody offers it for download: see docs/data.md for how it was made, and "
            f"put it at {path}."
        )
    return (
        f"Run `kfriendly data fetch` with a network, or get {file.urls[0]} by other "
        f"means and put it at {path}; KFRIENDLY_DATA names the data folder."
    )


def in_words(n_bytes: int) -> str:
    """Write a size for people.

    Examples
    --------
    >>> in_words(4_542), in_words(9_912_422)
    ('4.5 kB', '9.9 MB')
    """
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"


def _first_line(error: Exception) -> str:
    """Say what went wrong; urllib3's nested messages of no connection are too long."""
    line = (str(error).splitlines() or [""])[0]
    return line if 0 < len(line) < 100 else type(error).__name__
