"""What a network must offer: f, g, and its layers in pairs."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, Self

import torch
from torch import Tensor, nn

from kfriendly.networks.tracing import ErrorTrace, Trace, trace
from kfriendly.sparse_rows import SparseRows

# (n_features, n_components, generator) -> a network with fresh weights.
NetworkFactory = Callable[[int, int, torch.Generator], "Autoencoder"]


class LayerPair(NamedTuple):
    """An encoder layer and the decoder layer that undoes it."""

    encode: nn.Module
    decode: nn.Module


class Autoencoder(nn.Module, ABC):
    """Encoder f(x; W) and decoder g(h; Z).

    Rows come in as (n, n_features) and leave the encoder as (n, n_components).

    A subclass may set `stackable = True` when its parameters and buffers may all have
    one more leading axis, an entry a start: `encode` then turns (n, n_features) into
    (starts, n, n_components). Other networks train their starts one after another.
    """

    stackable: ClassVar[bool] = False

    @abstractmethod
    def encode(self, x: Tensor) -> Tensor:
        """Map data to the latent space, f."""

    @abstractmethod
    def decode(self, h: Tensor) -> Tensor:
        """Map the latent space back to data, g."""

    @abstractmethod
    def layer_pairs(self) -> Sequence[LayerPair]:
        """Return the layers outermost first, for layer-wise pre-training."""

    @property
    def takes_sparse(self) -> bool:
        """Whether `encode` and `trace_encode` take rows as they come, sparse."""
        return False

    # The three ways to train on a batch may be overridden where a gradient is known.

    def trace_encode(self, x: Tensor) -> Trace:
        """Encode data, with the way back to the parameters."""
        return trace(self.encode, x, want_input=False)

    def trace_decode(self, h: Tensor) -> Trace:
        """Decode latent points, with the way back to them and the parameters."""
        return trace(self.decode, h, want_input=True)

    def trace_sparse_error(self, h: Tensor, x: SparseRows) -> ErrorTrace | None:
        """Trace the squared error of sparse rows, if that needs no reconstruction."""
        return None

    @classmethod
    def stack(cls, networks: Sequence[Self]) -> Self:
        """Join networks of one shape into one that holds them all."""
        stacked = copy.deepcopy(networks[0])
        for target, *sources in zip(
            _tensors(stacked), *map(_tensors, networks), strict=True
        ):
            target.data = torch.stack([source.data for source in sources])
        return stacked

    def take(self, start: int) -> Self:
        """Copy one start out of a stacked network."""
        network = copy.deepcopy(self)
        for tensor in _tensors(network):
            tensor.data = tensor.data[start].clone()
        return network


def _tensors(network: nn.Module) -> list[Tensor]:
    """List parameters and buffers, a shared one once."""
    return [*network.parameters(), *network.buffers()]
