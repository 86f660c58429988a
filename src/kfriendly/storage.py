"""Files and folders that are whole or not there, whatever happens while they are made.

A file is written under a temporary name beside its own, and takes its name when all of
it is on the disk. A folder of several files does the same. What stood there before
stays until then.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

# Not on every system: a symbolic link is not followed, a pipe not waited for.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, or replace it; on any error the old one is as it was.

    Only its owner can read it. The folder must be there.
    """
    with new_file(path) as descriptor:
        _write_all(descriptor, content)


def write_new_file(path: Path, content: bytes) -> None:
    """Write a file that must not be there yet; of two who try, one fails."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    try:
        _write_all(descriptor, content)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[int]:
    """Yield the descriptor of a file that becomes `path` if all goes well."""
    unfinished = path.with_name(f"{path.name}.tmp-{_own_mark()}")
    descriptor = os.open(
        unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600
    )
    try:
        try:
            yield descriptor
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(unfinished, path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            os.unlink(unfinished)
        if isinstance(error, OSError):  # a full disk does not say for which file
            error.filename = str(path)
        raise
    _sync_folder(path.parent)


def read_file(path: Path, *, most: int) -> bytes:
    """Read a plain file of at most `most` bytes.

    Raises OSError for a symbolic link, a pipe, a device, or a larger file.
    """
    descriptor = os.open(path, _READ | _BINARY)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(path))
        if found.st_size > most:
            reason = f"it has {found.st_size} bytes, more than {most}"
            raise OSError(errno.EFBIG, reason, str(path))
        return stream.read(found.st_size)


@contextlib.contextmanager
def new_folder(
    path: Path, overwrite: bool, *, marker: str | None = None
) -> Iterator[Path]:
    """Yield a temporary folder that becomes `path` if all goes well.

    Enter it before long work: what would make it fail at the end makes it fail here.

    Parameters
    ----------
    path : Path
        The folder to make; missing parents are made too.
    overwrite : bool
        Whether a folder that is there may be replaced. It is moved away, and removed
        when the new one stands.
    marker : str or None
        A file that a folder must hold to be replaced, so that a slip of the hand does
        not remove a folder of other things. An empty one may always go.
    """
    path = Path(os.path.abspath(path))  # ".." and "." have no name to put a mark to
    _check_place(path, overwrite, marker)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.tmp-{_own_mark()}")
    os.mkdir(unfinished)
    try:
        yield unfinished
        _sync_folder(unfinished)
        _check_place(path, overwrite, marker)
        _put(unfinished, path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _put(unfinished: Path, path: Path) -> None:
    """Give the folder its name, and remove the one that had it."""
    old = path.with_name(f"{path.name}.old-{_own_mark()}")
    replaced = path.exists()
    if replaced:
        os.rename(path, old)
    try:
        os.rename(unfinished, path)
    except BaseException:
        if replaced:
            os.rename(old, path)
        raise
    _sync_folder(path.parent)
    if replaced:
        shutil.rmtree(old, ignore_errors=True)


def _check_place(path: Path, overwrite: bool, marker: str | None) -> None:
    """Refuse a place that is taken by what must not be lost."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_dir():
        raise FileExistsError(
            f"{path} is there and is not a folder. Choose another name, or remove it."
        )
    if not overwrite:
        raise FileExistsError(
            f"{path} is there already. Choose another name, or allow it to be "
            "replaced: overwrite=True, on the command line --overwrite."
        )
    names = os.listdir(path)
    if marker is not None and names and marker not in names:
        raise FileExistsError(
            f"{path} has no {marker}, so it holds other things and is not replaced. "
            "Choose another name, or remove it yourself."
        )


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    """Make names in a folder last; where a folder cannot be opened, they do anyway."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _own_mark() -> str:
    """Make part of a name that is nobody else's: a process id is, on one machine."""
    return f"{os.getpid()}-{secrets.token_hex(4)}"
