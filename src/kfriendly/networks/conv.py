"""Mirrored convolutional autoencoder for images."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from kfriendly.arguments import are_widths, require
from kfriendly.networks.base import Autoencoder, LayerPair
from kfriendly.networks.layers import (
    ACTIVATIONS,
    Activation,
    BatchNorm,
    Dense,
    Normalisation,
    require_style,
)


@dataclass(frozen=True)
class ConvFactory:
    """How to build a `Conv`; `DCN(network="conv")` makes one with these defaults.

    Parameters
    ----------
    input_shape : tuple of int
        (height, width) or (channels, height, width) of the image in each row.
    channels : tuple of int
        Channels after each convolution; every convolution halves height and width.
    kernel : int
        Height and width of the kernels, odd.
    bottleneck, output : {"linear", "relu", "softplus"}
        Activation of the latent layer and of the reconstruction.
    normalisation : {"none", "batch", "centring"}
        Normalisation of the encoder's convolutions.

    Examples
    --------
    >>> network = ConvFactory((8, 8), channels=(4, 8))(64, 2, torch.Generator())
    """

    input_shape: tuple[int, ...]
    channels: tuple[int, ...] = (32, 64, 128)
    kernel: int = 3
    bottleneck: Activation = "linear"
    output: Activation = "linear"
    normalisation: Normalisation = "none"

    def __post_init__(self) -> None:
        shape, k, owner = self.input_shape, self.kernel, "ConvFactory"
        image = are_widths(shape) and len(shape) in (2, 3)
        sides = "(height, width) or (channels, height, width)"
        require(image, f"{owner}: input_shape", shape, sides)
        channels = "one or more whole numbers >= 1"
        sound = are_widths(self.channels) and len(self.channels) > 0
        require(sound, f"{owner}: channels", self.channels, channels)
        require(are_widths((k,)) and k % 2 == 1, f"{owner}: kernel", k, "odd")
        ends = {"bottleneck": self.bottleneck, "output": self.output}
        require_style(owner, ends, self.normalisation)

    def __call__(
        self, n_features: int, n_components: int, generator: torch.Generator
    ) -> "Conv":
        """Build a network with fresh weights."""
        if math.prod(self.input_shape) != n_features:
            raise ValueError(
                f"input_shape={self.input_shape} needs rows of "
                f"{math.prod(self.input_shape)} values, but X has {n_features} columns."
            )
        return Conv(self, n_components, generator)


class Conv(Autoencoder):
    """Strided convolutions down to one dense bottleneck, and back up."""

    def __init__(
        self, style: ConvFactory, n_components: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        *n_channels, height, width = style.input_shape
        shapes = [(n_channels[0] if n_channels else 1, height, width)]
        for channels in style.channels:
            _, height, width = shapes[-1]
            shapes.append((channels, (height + 1) // 2, (width + 1) // 2))
        self.down = nn.Sequential(nn.Unflatten(-1, shapes[0]))
        self.up = nn.Sequential()
        for depth, (outer, inner) in enumerate(zip(shapes, shapes[1:], strict=False)):
            outward: Activation = style.output if depth == 0 else "relu"
            self.down.append(_Shrink(outer, inner, style, generator))
            self.up.insert(0, _Grow(outer, inner, style.kernel, outward, generator))
        n_flat = math.prod(shapes[-1])
        narrow = Dense(
            n_flat, n_components, generator=generator, activation=style.bottleneck
        )
        widen = Dense(n_components, n_flat, generator=generator)
        self.bottleneck = nn.Sequential(nn.Flatten(), narrow)
        self.widen = nn.Sequential(widen, nn.Unflatten(-1, shapes[-1]))

    def encode(self, x: Tensor) -> Tensor:
        """Map images, flattened to rows, to the latent space, f."""
        return self.bottleneck(self.down(x))  # type: ignore[no-any-return]

    def decode(self, h: Tensor) -> Tensor:
        """Map the latent space back to flattened images, g."""
        return self.up(self.widen(h)).flatten(1)  # type: ignore[no-any-return]

    def layer_pairs(self) -> Sequence[LayerPair]:
        """Return convolutions with their mirrors, then the dense bottleneck.

        The outermost pair works on rows, the others on images of channels.
        """
        unflatten, *shrinks = self.down
        pairs = list(zip(shrinks, reversed(list(self.up)), strict=True))
        first = LayerPair(
            nn.Sequential(unflatten, pairs[0][0]),
            nn.Sequential(pairs[0][1], nn.Flatten()),
        )
        inner = [LayerPair(*pair) for pair in pairs[1:]]
        return [first, *inner, LayerPair(self.bottleneck, self.widen)]


class _Shrink(nn.Module):
    """Convolution that halves height and width."""

    def __init__(
        self,
        outer: tuple[int, int, int],
        inner: tuple[int, int, int],
        style: ConvFactory,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        k = style.kernel
        self.conv = skip_init(  # type: ignore[no-untyped-call]
            nn.Conv2d, outer[0], inner[0], k, stride=2, padding=k // 2
        )
        _initialise(self.conv, outer[0] * k**2, generator)
        self.norm: nn.Module = nn.Identity()
        if style.normalisation != "none":
            centre_only = style.normalisation == "centring"
            self.norm = BatchNorm((1, inner[0], 1, 1), centre_only=centre_only)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.norm(self.conv(x)))


class _Grow(nn.Module):
    """Transposed convolution that undoes a `_Shrink`."""

    def __init__(
        self,
        outer: tuple[int, int, int],
        inner: tuple[int, int, int],
        kernel: int,
        activation: Activation,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        # An even side needs one more row than stride 2 alone gives back.
        extra = (1 - outer[1] % 2, 1 - outer[2] % 2)
        self.conv = skip_init(  # type: ignore[no-untyped-call]
            nn.ConvTranspose2d,
            inner[0],
            outer[0],
            kernel,
            stride=2,
            padding=kernel // 2,
            output_padding=extra,
        )
        _initialise(self.conv, inner[0] * kernel**2 / 4, generator)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return ACTIVATIONS[self.activation](self.conv(x))


def _initialise(conv: nn.Module, fan_in: float, generator: torch.Generator) -> None:
    """Draw He's weights from our own generator; torch would use the global one."""
    weight, bias = conv.parameters()
    nn.init.normal_(weight, std=math.sqrt(2.0 / fan_in), generator=generator)
    nn.init.zeros_(bias)
