"""Ratios that mean something on a noisy machine."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

Job = Callable[[], float]  # runs once and returns what it measured, mostly seconds


class Figure(NamedTuple):
    """One line of the table: a ratio, every time it was measured, and its target."""

    name: str
    ratios: Sequence[float]
    target: float
    at_least: bool
    note: str

    @property
    def median(self) -> float:
        """The figure."""
        return statistics.median(self.ratios)

    @property
    def is_met(self) -> bool:
        """Whether the median reaches the target."""
        if self.at_least:
            return self.median >= self.target
        return self.median <= self.target


def seconds(function: Callable[[], object]) -> Job:
    """Make a job that times a function."""

    def job() -> float:
        began = time.perf_counter()
        function()
        return time.perf_counter() - began

    return job


def interleave(jobs: Sequence[Job], repeats: int) -> list[list[float]]:
    """Run all jobs in turn, `repeats` times, after one round to warm up.

    A slow spell of the machine then hits neighbours in one round, not one job.
    """
    for job in jobs:
        job()
    rounds = [[job() for job in jobs] for _ in range(repeats)]
    return [list(column) for column in zip(*rounds, strict=True)]


def quotients(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Divide measurements of the same rounds."""
    return [a / b for a, b in zip(above, below, strict=True)]
