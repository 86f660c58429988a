"""Layers whose weights may hold many starts at once.

A weight is (out, in), or (starts, out, in) in a stacked network; see `Autoencoder`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kfriendly.arguments import require
from kfriendly.products import linear
from kfriendly.sparse_rows import SparseRows

Activation = Literal["linear", "relu", "softplus"]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda x: x,
    "relu": torch.relu,
    "softplus": F.softplus,
}
Normalisation = Literal["none", "batch", "centring"]

# From this width on a layer's weights lie in memory input by input, not output by
# output: a sparse row has few inputs.
WIDE = 4096


def require_style(owner: str, ends: Mapping[str, str], normalisation: str) -> None:
    """Refuse activations at either end, or a normalisation, that do not exist."""
    activations, kinds = tuple(ACTIVATIONS), get_args(Normalisation)
    for name, value in ends.items():
        holds = value in activations
        require(holds, f"{owner}: {name}", value, f"one of {activations}")
    holds = normalisation in kinds
    require(holds, f"{owner}: normalisation", normalisation, f"one of {kinds}")


def affine(
    x: Tensor | SparseRows, W: Tensor, b: Tensor, *, relu: bool = False
) -> Tensor:
    """Compute W x + b, or its positive part, for every row, for one start or for all.

    Rows (n, in) are shared by all starts, rows (starts, n, in) are not.
    """
    if isinstance(x, SparseRows):
        y = x.times(W.mT) + b
        return y.relu_() if relu else y
    return linear(x, W, b, relu=relu)


class BatchNorm(nn.Module):
    """Batch normalisation, or the authors' kind, which only subtracts the mean.

    The authors' code used the mean of the batch at prediction too, so that a row's
    place depended on its neighbours in the batch. Here a running mean takes over.

    Parameters
    ----------
    shape : sequence of int
        Shape of the statistics: the number of features, and 1 where averaged.
    centre_only : bool
        Divide by one instead of the standard deviation.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, shape: Sequence[int], *, centre_only: bool) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(*shape))
        self.beta = nn.Parameter(torch.zeros(*shape))
        self.register_buffer("mean", torch.zeros(*shape))
        self.register_buffer("variance", torch.ones(*shape))
        # Counted from the end, so that a leading axis of starts does not matter.
        self._averaged = tuple(
            axis - len(shape) for axis, size in enumerate(shape) if size == 1
        )
        self._centre_only = centre_only
        self._momentum = 0.1

    def forward(self, x: Tensor) -> Tensor:
        """Normalise by the batch in training, by running statistics otherwise."""
        mean, variance = self.mean, self.variance
        if self.training:
            variance, mean = torch.var_mean(
                x, dim=self._averaged, correction=0, keepdim=True
            )
            with torch.no_grad():
                self.mean.lerp_(mean, self._momentum)
                self.variance.lerp_(variance, self._momentum)
        x = x - mean
        if not self._centre_only:
            x = x * torch.rsqrt(variance + 1e-5)
        return x * self.gamma + self.beta


class Dense(nn.Module):
    """activation(normalise(W x + b))."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        *,
        generator: torch.Generator,
        activation: Activation = "relu",
        normalisation: Normalisation = "none",
    ) -> None:
        super().__init__()
        # He's variance keeps the size of the signal through ReLU layers.
        gain = 2.0 if activation == "relu" else 1.0
        W = torch.randn(n_out, n_in, generator=generator) * math.sqrt(gain / n_in)
        if n_in >= WIDE:
            W = W.mT.contiguous().mT
        self.weight = nn.Parameter(W)
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.activation = activation
        self.norm: nn.Module = nn.Identity()
        if normalisation != "none":
            self.bias.requires_grad_(False)  # the norm takes it out and has its own
            self.norm = BatchNorm((1, n_out), centre_only=normalisation == "centring")

    @property
    def is_plain(self) -> bool:
        """Whether this is W x + b, or its positive part, and nothing else."""
        simple = self.activation in ("linear", "relu")
        return simple and isinstance(self.norm, nn.Identity)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to rows, (n, in) or (starts, n, in)."""
        y = self.norm(affine(x, self.weight, self.bias))
        return ACTIVATIONS[self.activation](y)


class TiedDense(nn.Module):
    """The mirror of a `Dense` layer: its transposed weight and an own bias."""

    def __init__(self, mirrored: Dense, *, activation: Activation) -> None:
        super().__init__()
        self.mirrored = mirrored
        self.bias = nn.Parameter(torch.zeros(mirrored.weight.shape[-1]))
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to rows."""
        y = affine(x, self.mirrored.weight.mT, self.bias)
        return ACTIVATIONS[self.activation](y)
