"""An operating system that fails at the n-th call: the fake of the storage layer."""

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kfriendly import storage

CALLS = {"open", "write", "fsync", "close", "replace", "rename", "mkdir"}


class FaultyOs:
    """Stands for the module `os`; the n-th call that touches the disk does not work.

    Parameters
    ----------
    n : int
        The call that fails, from 1; zero is none.
    fail : callable
        What happens then: raises, or ends the process.
    """

    def __init__(self, n: int, fail: Callable[[], None]) -> None:
        self.reached = False
        self._left = n
        self._fail = fail

    def __getattr__(self, name: str) -> Any:  # whatever `os` has
        real = getattr(os, name)
        return self._counted(name, real) if name in CALLS else real

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self._left -= 1
            if self._left:
                return real(*args)
            self.reached = True
            if name == "close":  # POSIX: closed even so
                real(*args)
            if name == "write":  # the disk takes half of it
                real(args[0], args[1][: len(args[1]) // 2])
            self._fail()

        return call


def fail_in_turn(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> Iterator[FaultyOs]:
    """Let the first call fail, then the second, ... until none is left to fail."""

    def fail() -> None:
        raise error

    for n in itertools.count(1):
        system = FaultyOs(n, fail)
        with monkeypatch.context() as patch:
            patch.setattr(storage, "os", system)
            yield system
        if not system.reached:
            return
