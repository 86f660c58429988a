"""Mirrored multi-layer perceptron, the paper's network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from kfriendly.arguments import are_widths, require
from kfriendly.networks.base import Autoencoder, LayerPair
from kfriendly.networks.layers import (
    WIDE,
    Activation,
    Dense,
    Normalisation,
    TiedDense,
    require_style,
)
from kfriendly.networks.tracing import (
    Chain,
    ErrorTrace,
    Trace,
    chain_of,
    on_sphere,
    run_chain,
    trace,
    trace_chain,
    trace_on_sphere,
    trace_squared_error,
)
from kfriendly.sparse_rows import Rows, SparseRows


@dataclass(frozen=True)
class MLPFactory:
    """How to build an `MLP`; pass it as `DCN(network=...)`.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the encoder's hidden layers; the decoder mirrors them.
    bottleneck, output : {"linear", "relu", "softplus"}
        Activation of the latent layer and of the reconstruction. The paper's text and
        the authors' first code have ReLU for both, their second code linear.
    normalisation : {"none", "batch", "centring"}
        Normalisation of the encoder's layers; "centring" is the authors' own kind.
    tied : bool
        Use the encoder's weights, transposed, in the decoder.
    sphere : bool
        Bring latent points to one length, so that only their direction tells: texts
        are compared by their angle.

    Examples
    --------
    >>> build = MLPFactory(hidden=(50, 16), tied=True)
    >>> network = build(16, 10, torch.Generator())
    """

    hidden: tuple[int, ...] = (500, 500, 2000)
    bottleneck: Activation = "linear"
    output: Activation = "linear"
    normalisation: Normalisation = "none"
    tied: bool = False
    sphere: bool = False

    def __post_init__(self) -> None:
        widths = "a tuple of whole numbers >= 1"
        require(are_widths(self.hidden), "MLPFactory: hidden", self.hidden, widths)
        ends = {"bottleneck": self.bottleneck, "output": self.output}
        require_style("MLPFactory", ends, self.normalisation)

    def __call__(
        self, n_features: int, n_components: int, generator: torch.Generator
    ) -> "MLP":
        """Build a network with fresh weights."""
        return MLP((n_features, *self.hidden, n_components), self, generator)


class MLP(Autoencoder):
    """Dense layers down to the bottleneck, and the same widths back up."""

    stackable: ClassVar[bool] = True

    @property
    def takes_sparse(self) -> bool:
        """Whether rows may come sparse: wide ones, to a single start."""
        if self._encoder_chain is None:
            return False
        W = self._encoder_chain[0].weight
        return W.dim() == 2 and W.shape[-1] >= WIDE

    def __init__(
        self, widths: Sequence[int], style: MLPFactory, generator: torch.Generator
    ) -> None:
        super().__init__()
        pairs = list(zip(widths[:-1], widths[1:], strict=True))
        last = len(pairs) - 1
        self.encoder = nn.Sequential()
        self.decoder = nn.Sequential()
        for depth, (n_in, n_out) in enumerate(pairs):
            layer = Dense(
                n_in,
                n_out,
                generator=generator,
                activation=style.bottleneck if depth == last else "relu",
                normalisation=style.normalisation,
            )
            self.encoder.append(layer)
            outward: Activation = style.output if depth == 0 else "relu"
            mirror: nn.Module = (
                TiedDense(layer, activation=outward)
                if style.tied
                else Dense(n_out, n_in, generator=generator, activation=outward)
            )
            self.decoder.insert(0, mirror)
        self._encoder_chain = chain_of(self.encoder)
        self._decoder_chain = chain_of(self.decoder)
        self._sphere = style.sphere

    def encode(self, x: Rows) -> Tensor:
        """Map data to the latent space, f."""
        h = _run(self.encoder, self._encoder_chain, x)
        return on_sphere(h) if self._sphere else h

    def decode(self, h: Tensor) -> Tensor:
        """Map the latent space back to data, g."""
        return _run(self.decoder, self._decoder_chain, h)

    def trace_encode(self, x: Rows) -> Trace:
        """Encode data, with the way back to the parameters."""
        if self._encoder_chain is None:
            return trace(self.encode, x, want_input=False)
        found = trace_chain(self._encoder_chain, x, want_input=False)
        return trace_on_sphere(found) if self._sphere else found

    def trace_decode(self, h: Tensor) -> Trace:
        """Decode latent points, with the way back to them and the parameters."""
        if self._decoder_chain is None:
            return trace(self.decode, h, want_input=True)
        return trace_chain(self._decoder_chain, h, want_input=True)

    def trace_sparse_error(self, h: Tensor, x: SparseRows) -> ErrorTrace | None:
        """Trace the squared error of sparse rows, if the output is linear."""
        if self._decoder_chain is None or self._decoder_chain[-1].relu:
            return None
        return trace_squared_error(self._decoder_chain, h, x, want_input=True)

    def layer_pairs(self) -> Sequence[LayerPair]:
        """Return the layers outermost first."""
        mirrored = reversed(list(self.decoder))
        return [LayerPair(*pair) for pair in zip(self.encoder, mirrored, strict=True)]


def _run(layers: nn.Sequential, chain: Chain | None, x: Rows) -> Tensor:
    """Apply layers; by autograd's rules only where it wants to know."""
    if chain is None or torch.is_grad_enabled():
        return layers(x)  # type: ignore[no-any-return]  # nn.Module returns Any
    return run_chain(chain, x)
