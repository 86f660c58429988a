"""Outputs together with a way back: from the gradient of an output to all others.

Autograd takes longer over its books than a small network over its sums. Layers whose
gradient is known are differentiated here by hand; all else by autograd. Everything here
is to be called under `torch.no_grad()`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from kfriendly.networks.layers import Dense, affine
from kfriendly.products import Products, products_for
from kfriendly.sparse_rows import Rows, SparseRows

_relu_gradient = torch.ops.aten.threshold_backward.grad_input


class Trace(NamedTuple):
    """The output of a part of a network, and its way back.

    `pull` takes the gradient of the output, which it may write over, adds to `grad` of
    every parameter, and returns the gradient of the input, or an empty tensor where
    that was not wanted.
    """

    output: Tensor
    pull: Callable[[Tensor], Tensor]


class ErrorTrace(NamedTuple):
    """Reconstruction errors, one a row, and the way back from their mean.

    `pull` adds to `grad` of every parameter and returns the gradient of the input.
    """

    values: Tensor
    pull: Callable[[], Tensor]


class Room:
    """Memory for the gradient of a wide weight, the same in every step.

    The system hands out memory of that size page by page and filled with zeros, which
    takes as long as the gradient of sparse rows itself.

    Parameters
    ----------
    weight : Parameter
    """

    def __init__(self, weight: nn.Parameter) -> None:
        self._weight = weight
        self._memory: Tensor | None = None

    def take(self) -> Tensor:
        """Return memory laid out as the weight is, once its last gradient is gone."""
        if self._memory is None or self._memory is self._weight.grad:
            self._memory = torch.empty_like(self._weight)
        return self._memory

    def __reduce__(self) -> tuple[type["Room"], tuple[nn.Parameter]]:
        return Room, (self._weight,)  # a copy begins with no memory


class Link(NamedTuple):
    """A dense layer that is W x + b, or its positive part, and nothing else."""

    weight: nn.Parameter
    bias: nn.Parameter
    relu: bool
    n_products: int  # a row
    room: Room  # for the gradient by sparse rows


Chain = Sequence[Link]


def chain_of(layers: Iterable[nn.Module]) -> Chain | None:
    """List the layers as links, or return None if one of them is something else."""
    links = []
    for layer in layers:
        if not isinstance(layer, Dense) or not layer.is_plain:
            return None
        W, relu = layer.weight, layer.activation == "relu"
        links.append(Link(W, layer.bias, relu, W.shape[-2] * W.shape[-1], Room(W)))
    return links


def trace(
    function: Callable[[Tensor], Tensor], x: Tensor, *, want_input: bool
) -> Trace:
    """Trace any function by autograd."""
    x = x.detach().requires_grad_(want_input)
    with torch.enable_grad():
        output = function(x)

    def pull(G: Tensor) -> Tensor:
        if output.requires_grad:
            output.backward(G)  # type: ignore[no-untyped-call]
        return G.new_empty(0) if x.grad is None else x.grad

    return Trace(output.detach(), pull)


def trace_chain(chain: Chain, x: Rows, *, want_input: bool) -> Trace:
    """Trace plain dense layers by hand."""
    inputs = [x]
    for link in chain:
        inputs.append(_apply(link, inputs[-1]))
    output = inputs[-1]

    def pull(G: Tensor) -> Tensor:
        largest = G.shape[-2] * max([link.n_products for link in chain])
        by = products_for(largest, G.dim())
        for depth in reversed(range(len(chain))):
            link = chain[depth]
            if link.relu:
                _relu_gradient(G, inputs[depth + 1], 0, grad_input=G)
            add_gradient(link.weight, _transposed_times(by, G, inputs[depth], link))
            add_gradient(link.bias, G.sum(-2))
            if depth or want_input:
                G = by.multiply(G, link.weight)
        return G if want_input else G.new_empty(0)

    return Trace(output, pull)


def trace_on_sphere(found: Trace) -> Trace:
    """Trace rows brought to one length; what would change it alone has no effect."""
    h, pull = found
    y, stretch = _on_sphere(h)

    def pull_back(G: Tensor) -> Tensor:
        outwards = (y * G).mean(-1, keepdim=True)  # y'y is R
        return pull(stretch * (G - y * outwards))

    return Trace(y, pull_back)


def on_sphere(h: Tensor) -> Tensor:
    """Bring rows to the length of a point whose coordinates are all one, root of R."""
    return _on_sphere(h)[0]


def _on_sphere(h: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows of one length, and by what each was multiplied, (..., n, 1)."""
    length = torch.linalg.vector_norm(h, dim=-1, keepdim=True)
    stretch = h.shape[-1] ** 0.5 / length.clamp_min(torch.finfo(h.dtype).tiny ** 0.5)
    return h * stretch, stretch


def run_chain(chain: Chain, x: Rows) -> Tensor:
    """Apply plain dense layers, keeping nothing."""
    for link in chain:
        x = _apply(link, x)
    return x  # type: ignore[no-any-return]


def _apply(link: Link, x: Rows) -> Tensor:
    return affine(x, link.weight, link.bias, relu=link.relu)


def trace_squared_error(
    chain: Chain, x: Rows, target: SparseRows, *, want_input: bool
) -> ErrorTrace:
    """Trace the squared error of a chain with a linear end, which is not computed."""
    *hidden, last = chain
    h, pull_hidden = trace_chain(hidden, x, want_input=want_input)
    values, gradients = target.squared_errors(h, last.weight, last.bias)

    def pull() -> Tensor:
        G = gradients(last.room.take())
        add_gradient(last.weight, G.W)
        add_gradient(last.bias, G.b)
        return pull_hidden(G.h)

    return ErrorTrace(values, pull)


def _transposed_times(by: Products, G: Tensor, x: Rows, link: Link) -> Tensor:
    """Compute G' x, laid out in memory as W is: optimisers go through both in step."""
    if isinstance(x, SparseRows):
        room = link.room.take()
        x.transposed_times(G, into=room.mT)
        return room
    if x.dim() < G.dim():  # all starts share their rows
        x = x.expand(len(G), -1, -1)
    if link.weight.is_contiguous():
        return by.multiply_transposed(G, x)
    return by.multiply_transposed(x, G).mT


def add_gradient(p: nn.Parameter, gradient: Tensor) -> None:
    """Add to a parameter's gradient; a tied weight has two."""
    if p.requires_grad:
        p.grad = gradient if p.grad is None else p.grad + gradient
