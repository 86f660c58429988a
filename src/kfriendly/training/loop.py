"""The epoch loop that pre-training and joint training share."""

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from kfriendly.errors import TrainingDiverged
from kfriendly.losses import Loss
from kfriendly.sparse_rows import Rows, dense
from kfriendly.training.descent import Descent
from kfriendly.training.history import EpochRecord, Monitor
from kfriendly.training.objective import Means
from kfriendly.training.sources import Source, batches
from kfriendly.training.state import TrainState
from kfriendly.training.views import Pairs, Views

# How often the step size is halved before a diverging run is given up.
_MAX_HALVINGS = 3
# A reconstruction this many times worse than none at all will not come back.
_EXPLODED = 1e3


class Task(Protocol):
    """What is done with each batch and after each epoch."""

    @property
    def loss(self) -> Loss:
        """The reconstruction loss of this phase."""

    def step(self, state: TrainState, x: Rows, index: Tensor, progress: float) -> Means:
        """Train on one batch; `progress` through the phase is 0 to 1."""

    def end_epoch(self, state: TrainState, source: Source) -> dict[str, np.ndarray]:
        """Return further fields of the epoch's record."""


@dataclass(frozen=True)
class Phase:
    """A number of epochs with one optimiser; with `views`, batches hold pairs."""

    name: str
    n_epochs: int
    batch_size: int
    descent: Descent
    views: Views | None = None

    def draw(self, source: Source, rng: torch.Generator) -> Pairs:
        """Return what gives the rows of a batch in this epoch, views behind them."""
        return source.rows if self.views is None else self.views.draw(source, rng)


def run_phase(
    phase: Phase,
    task: Task,
    state: TrainState,
    source: Source,
    monitor: Monitor,
    depth: int = 0,
) -> None:
    """Run the epochs of a phase, or those left of it, with `state.optimizer`.

    An epoch that ends in an objective that is not finite, or a reconstruction far
    worse than none, is undone and run again at half the step size; after three
    halvings `TrainingDiverged` is raised. `depth` tells apart the layers, which have
    phases of one name.
    """
    if not state.enter(f"{phase.name} {depth}"):
        return
    few = source.rows(torch.arange(min(256, source.n_rows)))
    ceiling = _ceiling(task.loss, dense(few))
    before = None
    for epoch in monitor.epochs(phase.name, phase.n_epochs, state):
        began = time.perf_counter()
        before = state.snapshot(before)
        means = _run_epoch(phase, task, state, source)
        while not means.are_sound(ceiling):
            slowdown = state.slowdown / 2
            if slowdown < 0.5**_MAX_HALVINGS:
                raise TrainingDiverged(_advice(phase, epoch))
            state.restore(before)
            state.slowdown = slowdown
            means = _run_epoch(phase, task, state, source)
        record = EpochRecord(
            phase.name,
            epoch,
            objective=means.objective.cpu().numpy(),
            reconstruction=means.reconstruction.cpu().numpy(),
            clustering=means.clustering.cpu().numpy(),
            contrast=means.contrast.cpu().numpy(),
            lam=means.lam.cpu().numpy(),
            learning_rate=state.optimizer.rate,
            seconds=time.perf_counter() - began,
            **task.end_epoch(state, source),
        )
        state.epoch += 1
        monitor.record(record)


@torch.no_grad()
def _run_epoch(phase: Phase, task: Task, state: TrainState, source: Source) -> Means:
    """Pass once over all rows in a new random order."""
    order = torch.randperm(source.n_rows, generator=state.rng)
    parts = list(batches(order, phase.batch_size))
    n_steps = phase.n_epochs * len(parts)
    rows_of = phase.draw(source, state.rng)
    state.network.train()
    sums = Means(*(torch.zeros_like(state.lam) for _ in Means._fields))
    for index in parts:
        state.optimizer.rate = state.slowdown * phase.descent.rate(state.step, n_steps)
        means = task.step(state, rows_of(index), index, state.step / n_steps)
        share = index.numel() / source.n_rows
        for total, value in zip(sums[:-1], means[:-1], strict=True):  # but lam
            total.add_(value, alpha=share)
        state.step += 1
    return sums._replace(lam=means.lam)


def _ceiling(loss: Loss, x: Tensor) -> float:
    """Bound the reconstruction loss, given some rows, which may all be zero."""
    x = as_rows(x)
    of_nothing = float(loss(torch.zeros_like(x), x).mean())
    of_unit_variance = x.shape[-1]
    return _EXPLODED * (of_nothing + of_unit_variance)


def as_rows(x: Tensor) -> Tensor:
    """Flatten what passes between two convolutions, (n, channels, height, width)."""
    return x.flatten(1) if x.dim() > 3 else x


def _advice(phase: Phase, epoch: int) -> str:
    return (
        f"The objective grew without bound in the {phase.name} phase, epoch "
        f"{epoch}, even at 1/{2**_MAX_HALVINGS} of learning_rate="
        f"{phase.descent.learning_rate}. Use a smaller learning rate, "
        "Descent(clip=1.0), a smaller lam, or scale='standard'."
    )
