"""What training has come to, so far and in the end."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from torch import Tensor

from kfriendly.training.history import EpochRecord, Monitor
from kfriendly.training.inference import Evaluation
from kfriendly.training.state import Kept, TrainState
from kfriendly.training.views import Walks


class Start(NamedTuple):
    """SAE+KM, and the labels and latent variance that joint training starts from."""

    sae_km: Evaluation
    labels: np.ndarray  # (..., n_rows)
    variance: Tensor  # (...)

    def take(self, start: int) -> "Start":
        """Keep the values of one start."""
        return Start(self.sae_km.take(start), self.labels[start], self.variance[start])


@dataclass(frozen=True)
class Trained:
    """The best of the starts, and what is worth knowing of the others.

    Attributes
    ----------
    kept : Kept
        Network and clusters of the best start.
    start : Start
        SAE+KM, and what its joint training started from.
    final : Evaluation
        The same after joint training.
    history : list of EpochRecord
        Its epochs.
    scores : list of float
        What the choice went by, for every start; the smallest won.
    labels : list of ndarray
        Final labels of every start.
    """

    kept: Kept
    start: Start
    final: Evaluation
    history: list[EpochRecord]
    scores: list[float]
    labels: list[np.ndarray]


class Progress(NamedTuple):
    """What a checkpoint holds: to go on from it gives the same, bit for bit."""

    seeds: list[int]
    walks: Walks | None  # the graph of neighbours
    done: list[Trained]  # groups of starts that are trained
    kept: Kept  # the group under way
    start: Start | None  # its first clusters, once they are found
    records: list[EpochRecord]


class Keeper(Protocol):
    """Who keeps checkpoints."""

    found: Progress | None  # what to go on from

    def offer(self, progress: Progress) -> None:
        """Take what training has come to, to write it now or later."""


class Keeping:
    """A monitor that offers each epoch's outcome to a keeper, if there is one.

    Attributes
    ----------
    start : Start or None
        First clusters of the starts under way; set it when they are found.
    n_before : int
        Records of the starts that were trained before.
    """

    def __init__(
        self,
        monitor: Monitor,
        keeper: Keeper | None,
        seeds: list[int],
        walks: Walks | None,
        done: list[Trained],
    ) -> None:
        self.records = monitor.records
        self.start: Start | None = None
        self.n_before = sum(len(trained.history) for trained in done)
        self._monitor = monitor
        self._keeper = keeper
        self._seeds, self._walks, self._done = seeds, walks, done

    def epochs(self, phase: str, n_epochs: int, state: TrainState) -> Iterator[int]:
        """Yield the monitor's epochs."""
        self._offer(state)
        for epoch in self._monitor.epochs(phase, n_epochs, state):
            yield epoch
            self._offer(state)

    def record(self, record: EpochRecord) -> None:
        """Hand the record on."""
        self._monitor.record(record)

    def _offer(self, state: TrainState) -> None:
        if self._keeper is None:
            return
        self._keeper.offer(
            Progress(
                self._seeds,
                self._walks,
                self._done,
                state.keep(),
                self.start,
                list(self.records),
            )
        )
