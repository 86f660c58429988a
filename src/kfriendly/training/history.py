"""What is recorded of each epoch, and who is told."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from kfriendly.training.state import TrainState


class EpochRecord(NamedTuple):
    """One epoch. While many starts train together, values have one entry a start.

    `objective` is Eq. (4) with the weight `lam` of that epoch, averaged over the
    samples as they passed by, and with views the contrast. `sizes`, `changed` (share
    of labels that differ from those of the epoch before) and `empty` (clusters without
    a sample) are only known in the joint phase.
    """

    phase: str
    epoch: int
    objective: np.ndarray
    reconstruction: np.ndarray
    clustering: np.ndarray
    contrast: np.ndarray
    lam: np.ndarray
    learning_rate: float
    seconds: float
    sizes: np.ndarray | None = None
    changed: np.ndarray | None = None
    empty: np.ndarray | None = None

    def take(self, start: int) -> "EpochRecord":
        """Keep the values of one start."""
        return self._replace(
            **{
                name: value[start]
                for name, value in self._asdict().items()
                if isinstance(value, np.ndarray)
            }
        )


class Monitor(Protocol):
    """Told of every phase and epoch; may end a phase early."""

    records: list[EpochRecord]

    def epochs(self, phase: str, n_epochs: int, state: TrainState) -> Iterator[int]:
        """Yield the epochs from `state.epoch` on, as many as shall be run."""

    def record(self, record: EpochRecord) -> None:
        """Take the record of the epoch just run."""


class Recorder:
    """The plain monitor: runs all epochs and keeps their records."""

    def __init__(self) -> None:
        self.records: list[EpochRecord] = []

    def epochs(self, phase: str, n_epochs: int, state: TrainState) -> Iterator[int]:
        """Yield every epoch."""
        yield from range(state.epoch, n_epochs)

    def record(self, record: EpochRecord) -> None:
        """Keep the record."""
        self.records.append(record)
