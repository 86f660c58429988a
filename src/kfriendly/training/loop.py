"""The epoch loop that pre-training and joint training share."""

import time
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from kfriendly.errors import TrainingDiverged
from kfriendly.losses import Loss
from kfriendly.training.descent import Descent
from kfriendly.training.history import EpochRecord, Monitor
from kfriendly.training.sources import Source, batches
from kfriendly.training.state import TrainState

# How often the step size is halved before a diverging run is given up.
_MAX_HALVINGS = 3
# A reconstruction this many times worse than none at all will not come back.
_EXPLODED = 1e3


class Means(NamedTuple):
    """Mean costs of a batch or an epoch, one entry a start, and the weight used."""

    reconstruction: Tensor  # (...)
    clustering: Tensor  # (...)
    lam: Tensor  # (...)

    @property
    def objective(self) -> Tensor:
        """Eq. (4), averaged over samples."""
        return self.reconstruction + 0.5 * self.lam * self.clustering

    def are_sound(self, ceiling: float) -> bool:
        """Tell whether training may go on from here, for every start."""
        finite = self.objective.isfinite().all()
        return bool(finite) and bool((self.reconstruction <= ceiling).all())


class Task(Protocol):
    """What is done with each batch and after each epoch."""

    @property
    def loss(self) -> Loss:
        """The reconstruction loss of this phase."""

    def step(
        self, state: TrainState, x: Tensor, index: Tensor, progress: float
    ) -> Means:
        """Train on one batch; `progress` through the phase is 0 to 1."""

    def end_epoch(self, state: TrainState, source: Source) -> dict[str, np.ndarray]:
        """Return further fields of the epoch's record."""


@dataclass(frozen=True)
class Phase:
    """A number of epochs with one optimiser."""

    name: str
    n_epochs: int
    batch_size: int
    descent: Descent


def run_phase(
    phase: Phase, task: Task, state: TrainState, source: Source, monitor: Monitor
) -> None:
    """Run the epochs of a phase, with a fresh optimiser for `state.network`.

    An epoch that ends in an objective that is not finite, or a reconstruction far
    worse than none, is undone and run again at half the step size; after three
    halvings `TrainingDiverged` is raised.
    """
    state.step = 0
    slowdown = 1.0
    ceiling = _ceiling(task.loss, source.rows(torch.arange(min(256, source.n_rows))))
    for epoch in monitor.epochs(phase.name, phase.n_epochs, state):
        began = time.perf_counter()
        before = state.snapshot()
        means = _run_epoch(phase, task, state, source, slowdown)
        while not means.are_sound(ceiling):
            state.restore(before)
            slowdown /= 2
            if slowdown < 0.5**_MAX_HALVINGS:
                raise TrainingDiverged(_advice(phase, epoch))
            means = _run_epoch(phase, task, state, source, slowdown)
        monitor.record(
            EpochRecord(
                phase.name,
                epoch,
                objective=means.objective.cpu().numpy(),
                reconstruction=means.reconstruction.cpu().numpy(),
                clustering=means.clustering.cpu().numpy(),
                lam=means.lam.cpu().numpy(),
                learning_rate=state.optimizer.param_groups[0]["lr"],
                seconds=time.perf_counter() - began,
                **task.end_epoch(state, source),
            )
        )


def _run_epoch(
    phase: Phase, task: Task, state: TrainState, source: Source, slowdown: float
) -> Means:
    """Pass once over all rows in a new random order."""
    order = torch.randperm(source.n_rows, generator=state.rng)
    parts = list(batches(order, phase.batch_size))
    n_steps = phase.n_epochs * len(parts)
    state.network.train()
    sums = (torch.zeros(()), torch.zeros(()))
    for index in parts:
        for group in state.optimizer.param_groups:
            group["lr"] = slowdown * phase.descent.rate(state.step, n_steps)
        means = task.step(state, source.rows(index), index, state.step / n_steps)
        share = index.numel() / source.n_rows
        sums = (
            sums[0] + share * means.reconstruction,
            sums[1] + share * means.clustering,
        )
        state.step += 1
    return Means(*sums, means.lam)


def _ceiling(loss: Loss, x: Tensor) -> float:
    """Bound the reconstruction loss, given some rows, which may all be zero."""
    of_nothing = float(per_row(loss, torch.zeros_like(x), x).mean())
    of_unit_variance = x.shape[-1]
    return _EXPLODED * (of_nothing + of_unit_variance)


def per_row(loss: Loss, x_hat: Tensor, x: Tensor) -> Tensor:
    """Apply a loss that sums over the last axis to rows of any shape, say images."""
    if x.dim() > 3:  # (n, channels, height, width) between two convolutions
        x_hat, x = x_hat.flatten(1), x.flatten(1)
    return loss(x_hat, x)


def _advice(phase: Phase, epoch: int) -> str:
    return (
        f"The objective grew without bound in the {phase.name} phase, epoch "
        f"{epoch}, even at 1/{2**_MAX_HALVINGS} of learning_rate="
        f"{phase.descent.learning_rate}. Use a smaller learning rate, "
        "Descent(clip=1.0), a smaller lam, or scale='standard'."
    )
