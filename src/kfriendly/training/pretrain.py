"""Initialisation of the network: greedy layer-wise, then end to end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from kfriendly.losses import Loss, differentiate, squared
from kfriendly.networks import LayerPair
from kfriendly.networks.tracing import (
    ErrorTrace,
    chain_of,
    trace,
    trace_chain,
    trace_squared_error,
)
from kfriendly.sparse_rows import Rows, SparseRows, dense
from kfriendly.training.history import Monitor
from kfriendly.training.inference import encode_rows
from kfriendly.training.loop import Phase, as_rows, run_phase
from kfriendly.training.objective import Means, Objective
from kfriendly.training.sources import MappedSource, Source, TensorSource
from kfriendly.training.state import TrainState

# Outputs of a layer are kept for the next one up to this size, else computed anew.
_CACHE_BYTES = 2**30


@dataclass(frozen=True)
class Reconstruct:
    """Training of a pair of layers: minimise l(x_hat, x) as `trace` computes it."""

    trace: Callable[[Rows], ErrorTrace]
    loss: Loss
    clip: float | None
    stacked: bool

    def step(self, state: TrainState, x: Rows, index: Tensor, progress: float) -> Means:
        """Take one step of Eq. (6) with lambda = 0."""
        state.optimizer.clear()
        per_sample, pull = self.trace(x)
        pull()
        state.optimizer.step(clip=self.clip, stacked=self.stacked)  # Eq. (6)
        mean = per_sample.mean(-1)  # (...)
        zero = torch.zeros_like(mean)
        return Means(mean, zero, zero, zero)

    def end_epoch(self, state: TrainState, source: Source) -> dict[str, np.ndarray]:
        """Add nothing to the record."""
        return {}


def pretrain_layers(
    state: TrainState,
    source: Source,
    objective: Objective,
    phase: Phase,
    monitor: Monitor,
) -> None:
    """Train each pair of layers on the output of the layer below.

    Only the outermost pair sees the data, and so the loss for data; between hidden
    layers the squared error is used.
    """
    if state.resumed is not None and not state.resumed["leg"].startswith(phase.name):
        return  # all layers lie behind
    stacked = state.lam.dim() > 0
    pairs = state.network.layer_pairs()
    for depth, pair in enumerate(pairs):
        parameters = _unique_parameters(pair)
        state.optimizer = phase.descent.optimizer(parameters)
        its_loss = squared if depth else objective.pretraining_loss
        trace = partial(trace_pair, pair, its_loss)
        task = Reconstruct(trace, its_loss, phase.descent.clip, stacked)
        run_phase(phase, task, state, source, monitor, depth)
        if depth + 1 < len(pairs):
            source = _outputs(pair, source)


@dataclass(frozen=True)
class Autoencode:
    """End-to-end pre-training: the objective without clusters."""

    objective: Objective
    clip: float | None

    @property
    def loss(self) -> Loss:
        """The reconstruction loss of this phase."""
        return self.objective.pretraining_loss

    def step(self, state: TrainState, x: Rows, index: Tensor, progress: float) -> Means:
        """Take one step of Eq. (6) with lambda = 0."""
        state.optimizer.clear()
        cost = self.objective.differentiate_alone(state.network, x)
        stacked = state.lam.dim() > 0
        state.optimizer.step(clip=self.clip, stacked=stacked)  # Eq. (6)
        return cost.means(torch.zeros_like(state.lam))

    def end_epoch(self, state: TrainState, source: Source) -> dict[str, np.ndarray]:
        """Add nothing to the record."""
        return {}


def pretrain_end_to_end(
    state: TrainState,
    source: Source,
    objective: Objective,
    phase: Phase,
    monitor: Monitor,
) -> None:
    """Train the whole autoencoder: SAE."""
    state.optimizer = phase.descent.optimizer(state.network.parameters())
    task = Autoencode(objective, phase.descent.clip)
    run_phase(phase, task, state, source, monitor)


def trace_pair(pair: LayerPair, loss: Loss, x: Rows) -> ErrorTrace:
    """Trace the error of a layer and its mirror."""
    chain = chain_of(pair)
    if chain is None:
        x = dense(x)
        x_hat, pull = trace(nn.Sequential(*pair), x, want_input=False)
    elif isinstance(x, SparseRows) and loss is squared and not chain[-1].relu:
        return trace_squared_error(chain, x, x, want_input=False)
    else:
        x_hat, pull = trace_chain(chain, x, want_input=False)
    values, G = differentiate(loss, as_rows(x_hat), as_rows(dense(x)))
    return ErrorTrace(values, lambda: pull(G.view_as(x_hat)))


def _unique_parameters(pair: LayerPair) -> Sequence[nn.Parameter]:
    """List the parameters of both layers, tied ones once."""
    return list(nn.ModuleList(pair).parameters())


def _outputs(pair: LayerPair, source: Source) -> Source:
    """Return the source of the next layer: stored if it fits, else computed anew."""
    outputs = MappedSource(source, lambda x: pair.encode.eval()(x))
    example = outputs.rows(torch.zeros(1, dtype=torch.long))
    n_bytes = source.n_rows * example.numel() * example.element_size()
    if example.dim() > 3 or n_bytes > _CACHE_BYTES:
        return outputs
    return TensorSource(encode_rows(pair.encode, source))
