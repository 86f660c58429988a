"""Initialisation of the network: greedy layer-wise, then end to end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from kfriendly.losses import Loss, squared
from kfriendly.networks import LayerPair
from kfriendly.training.descent import descend
from kfriendly.training.history import Monitor
from kfriendly.training.inference import encode_rows
from kfriendly.training.loop import Means, Phase, per_row, run_phase
from kfriendly.training.sources import MappedSource, Source, TensorSource
from kfriendly.training.state import TrainState

# Outputs of a layer are kept for the next one up to this size, else computed anew.
_CACHE_BYTES = 2**30


@dataclass(frozen=True)
class Reconstruct:
    """Plain autoencoder training: minimise l(forward(x), x)."""

    forward: Callable[[Tensor], Tensor]
    loss: Loss
    clip: float | None
    stacked: bool

    def step(
        self, state: TrainState, x: Tensor, index: Tensor, progress: float
    ) -> Means:
        """Take one step of Eq. (6) with lambda = 0."""
        per_sample = per_row(self.loss, self.forward(x), x)
        mean = per_sample.mean(-1)  # (...)
        descend(state.optimizer, mean.sum(), clip=self.clip, stacked=self.stacked)
        zero = torch.zeros_like(mean)
        return Means(mean.detach(), zero, zero)

    def end_epoch(self, state: TrainState, source: Source) -> dict[str, np.ndarray]:
        """Add nothing to the record."""
        return {}


def pretrain_layers(
    state: TrainState, source: Source, loss: Loss, phase: Phase, monitor: Monitor
) -> None:
    """Train each pair of layers on the output of the layer below.

    Only the outermost pair sees the data, and so the loss for data; between hidden
    layers the squared error is used.
    """
    stacked = state.lam.dim() > 0
    pairs = state.network.layer_pairs()
    for depth, pair in enumerate(pairs):
        parameters = _unique_parameters(pair)
        state.optimizer = phase.descent.optimizer(parameters)
        forward = nn.Sequential(pair.encode, pair.decode)
        task = Reconstruct(
            forward, squared if depth else loss, phase.descent.clip, stacked
        )
        run_phase(phase, task, state, source, monitor)
        if depth + 1 < len(pairs):
            source = _outputs(pair, source)


def pretrain_end_to_end(
    state: TrainState, source: Source, loss: Loss, phase: Phase, monitor: Monitor
) -> None:
    """Train the whole autoencoder: SAE."""
    network = state.network
    state.optimizer = phase.descent.optimizer(network.parameters())
    task = Reconstruct(
        lambda x: network.decode(network.encode(x)),
        loss,
        phase.descent.clip,
        state.lam.dim() > 0,
    )
    run_phase(phase, task, state, source, monitor)


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
