"""Exit codes, and how errors are told: what, where, what to do."""

import errno
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from types import FrameType
from typing import NoReturn

import typer

from kfriendly.cli.screen import Screen


class Code(IntEnum):
    """What the exit codes of the command line mean."""

    BUG = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    RESOURCES = 5
    TRAINING = 6
    STOPPED = 75  # stopped, and --resume goes on from there
    KILLED = 130  # stopped, and nothing is written
    PIPE = 141  # nobody reads the output any more


class Refused(Exception):
    """A request that cannot be met, said in lines: what, where, what to do."""

    def __init__(self, code: Code, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.code = code


_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM}
_NOT_WRITABLE = {errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOTDIR, errno.EISDIR}


@contextmanager
def exit_codes(screen: Screen) -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code, never into a trace."""
    try:
        with _terminable():
            yield
    except KeyboardInterrupt:
        screen.close()
        _leave(screen, Code.KILLED, "Stopped. Nothing was written.")
    except BrokenPipeError:
        # Who read our output has enough of it: leave as other tools do.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(int(Code.PIPE)) from None
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        screen.close()
        code = code_of(error)
        if code is Code.BUG:
            _leave(screen, code, _bug(error))
        _leave(screen, code, _words(error))


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, so that nothing is left half-written."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not the main thread, where signals do not arrive
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def code_of(error: Exception) -> Code:
    """Choose the exit code of an error."""
    from kfriendly import errors

    if isinstance(error, Refused):
        return error.code
    if isinstance(
        error, errors.UnknownName | errors.CheckpointMismatch | FileExistsError
    ):
        return Code.USAGE
    if isinstance(error, errors.ModelFileError):
        return Code.MODEL
    if isinstance(error, errors.TrainingDiverged):
        return Code.TRAINING
    if isinstance(error, errors.BadInput | errors.DataNotFound | errors.DataCorrupt):
        return Code.DATA
    if isinstance(error, MemoryError):
        return Code.RESOURCES
    if isinstance(error, OSError):
        return _code_of_system(error)
    return Code.BUG


def cannot_write(path: Path, error: OSError) -> Exception:
    """Say that a place cannot be written to; a full disk stays what it is."""
    if error.errno is None or error.errno in _NO_ROOM:  # None: one of ours
        return error
    return Refused(
        Code.USAGE,
        f"Cannot write to {path}: {error.strerror}.",
        "Choose another --out.",
    )


def _code_of_system(error: OSError) -> Code:
    if error.errno in _NO_ROOM:
        return Code.RESOURCES
    return Code.USAGE if error.errno in _NOT_WRITABLE else Code.BUG


def _words(error: Exception) -> str:
    """Say an error in words; Python's own need more than they carry."""
    if isinstance(error, MemoryError):
        more = f"{error} " if str(error) else ""
        return (
            f"{more}There is not enough memory.\n"
            "Take fewer rows with --rows, or a smaller --batch-size."
        )
    ours = str(error)
    if isinstance(error, OSError) and error.strerror:
        place = f" {error.filename}" if error.filename else ""
        return (
            f"Cannot write or read{place}: {error.strerror}.\n"
            "Make room or choose another place."
        )
    return ours


def _bug(error: Exception) -> str:
    """Write the trace to a file and name it."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="kfriendly-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.writelines(traceback.format_exception(error))
    first = (str(error).splitlines() or [""])[0]
    return (
        f"{type(error).__name__}: {first}\n"
        f"This is a fault of kfriendly. The trace is in {Path(file.name)}\n"
        "Please report it with the trace and the command."
    )


def _leave(screen: Screen, code: Code, message: str) -> NoReturn:
    stopped = code in (Code.STOPPED, Code.KILLED)
    screen.error(message if stopped else f"Error: {message}", int(code))
    raise typer.Exit(int(code))
