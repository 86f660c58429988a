"""Passes over all rows without training."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kfriendly.criteria import Criterion, State
from kfriendly.networks import Autoencoder
from kfriendly.sparse_rows import Rows, dense
from kfriendly.training.objective import Objective
from kfriendly.training.sources import Source

# Rows go through the network in blocks of exactly this size, the last one filled up:
# matrix products of one shape give a row the same value whatever its neighbours are,
# bit for bit in layers of twelve or more outputs, and within a few units of rounding
# in narrower ones, where the place of a row in the block may matter.
BLOCK = 1024


class Evaluation(NamedTuple):
    """Mean costs over all rows, one entry a start, and labels (..., n_rows)."""

    labels: np.ndarray
    reconstruction: Tensor
    clustering: Tensor
    latent_variance: Tensor

    def take(self, start: int) -> "Evaluation":
        """Keep the values of one start."""
        return Evaluation(
            self.labels[start],
            self.reconstruction[start],
            self.clustering[start],
            self.latent_variance[start],
        )


def blocks(source: Source) -> Iterator[tuple[int, Rows]]:
    """Yield the rows in order, and how many of each block count."""
    for first in range(0, source.n_rows, BLOCK):
        count = min(BLOCK, source.n_rows - first)
        if count == BLOCK:
            yield count, source.rows(slice(first, first + BLOCK))
        else:
            index = torch.arange(first, first + BLOCK)
            index[count:] = first
            yield count, source.rows(index)


@torch.no_grad()
def map_rows(function: Callable[[Tensor], Tensor], source: Source) -> Tensor:
    """Apply `function` to all rows in order, (..., n_rows, width)."""
    mapped = torch.empty(0)
    for block, (count, x) in enumerate(blocks(source)):
        y = function(x)[..., :count, :]
        if block == 0:
            mapped = y.new_empty((*y.shape[:-2], source.n_rows, y.shape[-1]))
        mapped[..., block * BLOCK : block * BLOCK + count, :] = y
    return mapped


def encode_rows(encoder: Autoencoder | nn.Module, source: Source) -> Tensor:
    """Encode all rows in order with running, not batch, statistics."""
    encoder.eval()
    encode = encoder.encode if isinstance(encoder, Autoencoder) else encoder
    return map_rows(encode, source)


def assign_rows(
    network: Autoencoder, cluster: State, criterion: Criterion, source: Source
) -> np.ndarray:
    """Give all rows to their clusters, (..., n_rows)."""
    network.eval()
    labels = map_rows(
        lambda x: criterion.assign(network.encode(x), cluster).argmax(-1, keepdim=True),
        source,
    )
    return labels.squeeze(-1).int().cpu().numpy()


def decode_rows(network: Autoencoder, source: Source) -> Tensor:
    """Decode all rows in order."""
    network.eval()
    return map_rows(network.decode, source)


def reconstruction_losses(
    network: Autoencoder, objective: Objective, source: Source
) -> Tensor:
    """Compute the reconstruction loss of each row, (..., n_rows)."""
    network.eval()
    loss = objective.pretraining_loss
    return map_rows(
        lambda x: loss(network.decode(network.encode(x)), dense(x)).unsqueeze(-1),
        source,
    ).squeeze(-1)


@torch.no_grad()
def evaluate(
    network: Autoencoder, cluster: State, objective: Objective, source: Source
) -> Evaluation:
    """Assign all rows and average the terms of Eq. (4); keeps nothing but labels."""
    network.eval()
    criterion = objective.criterion
    labels = []
    sums: list[Tensor] = []
    for count, x in blocks(source):
        H = network.encode(x)
        S = criterion.assign(H, cluster)
        labels.append(S.argmax(-1)[..., :count].int().cpu())
        reconstruction = objective.reconstruct(network, H, x).unsqueeze(-1)
        clustering = criterion.cost(H, S, cluster).unsqueeze(-1)
        H = H.double()  # squares of float32 lose small variances
        terms = (reconstruction, clustering, H, H.square())
        new = [term[..., :count, :].double().sum(-2) for term in terms]
        sums = [a + b for a, b in zip(sums, new, strict=True)] if sums else new
    lost, within, h, hh = (total / source.n_rows for total in sums)
    return Evaluation(
        torch.cat(labels, -1).numpy(),
        lost.squeeze(-1),
        within.squeeze(-1),
        (hh - h.square()).sum(-1).clamp_min(0.0),
    )
