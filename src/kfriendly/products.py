"""Products of matrices, by the quicker of the two libraries that torch carries.

torch gives float32 products to MKL, which leaves more than half of an AMD processor's
arithmetic unused; oneDNN, which torch has for convolutions, does not. It takes longer
to call, so small products stay where they are. All but `linear` is to be called under
`torch.no_grad()`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

# From this many multiplications on oneDNN is quicker, calling it included.
_WORTH = 2**22
_FAR_NARROWER = 8
_TALL = 2048
_onednn: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def linear(x: Tensor, W: Tensor, b: Tensor, *, relu: bool = False) -> Tensor:
    """Compute W x + b of every row, or its positive part, for one start or for all.

    Rows (n, in) are shared by all starts, rows (starts, n, in) are not.
    """
    if W.dim() == 3:
        x = x.expand(len(W), *x.shape[-2:])
    if _is_worth(x, W):
        if not torch.is_grad_enabled():
            return _by_onednn(x, W, b, relu)
        y = _Linear.apply(x, W, b)  # type: ignore[no-untyped-call]
        return y.relu() if relu else y  # type: ignore[no-any-return]
    if W.dim() == 2:
        y = F.linear(x, W, b)
    elif _is_narrow(x, W.mT):
        y = torch.baddbmm(b.unsqueeze(-1), W, x.mT).mT
    else:
        y = torch.baddbmm(b.unsqueeze(-2), x, W.mT)
    return y.relu_() if relu else y


def multiply(A: Tensor, B: Tensor) -> Tensor:
    """Compute A B of two matrices, or of two stacks of them."""
    if _is_worth(A, B.mT):
        return _by_onednn(A, B.mT)
    return torch.mm(A, B) if A.dim() == 2 else multiply_stacks(A, B)


def multiply_stacks(A: Tensor, B: Tensor) -> Tensor:
    """Compute A B of two stacks of small matrices."""
    if _is_narrow(A, B):
        return torch.bmm(B.mT, A.mT).mT
    return torch.bmm(A, B)


def _is_narrow(A: Tensor, B: Tensor) -> bool:
    """Tell whether MKL computes a stack of B' A' in a third of the time of A B."""
    return B.shape[-1] < min(12, A.shape[-2])


def multiply_transposed(A: Tensor, B: Tensor) -> Tensor:
    """Compute A' B of two matrices of n rows, or of two stacks of them.

    oneDNN copies what stands first to turn it: let that be no more than the cache can
    hold, and not by far the wider.
    """
    if A.dim() == 2 and len(A) > 2 * _TALL:
        total = A.new_zeros(A.shape[1], B.shape[1])
        for a, b in zip(torch.split(A, _TALL), torch.split(B, _TALL), strict=True):
            total += multiply_transposed(a, b)
        return total
    if _FAR_NARROWER * B.shape[-1] <= A.shape[-1] and _is_worth(A.mT, B.mT):
        return multiply(B.mT, A).mT.contiguous()
    return multiply(A.mT, B).contiguous()  # as weights are


def gram(A: Tensor) -> Tensor:
    """Compute A' A of a tall matrix.

    It is the gradient by its weights of a convolution of one pixel, with the rows as
    pixels, and there oneDNN turns no matrix, which takes a third of a product's time.
    """
    if not _is_worth(A.mT, A.mT) or not A.is_contiguous():
        return multiply_transposed(A, A)
    image = A.view(1, 1, *A.shape).permute(0, 3, 1, 2)  # channels last
    weight = A.new_empty(A.shape[1], A.shape[1], 1, 1)
    once, nowhere = [1, 1], [0, 0]
    found: Tensor = torch.ops.aten.convolution_backward(
        image,
        image,
        weight,
        None,
        stride=once,
        padding=nowhere,
        dilation=once,
        transposed=False,
        output_padding=nowhere,
        groups=1,
        output_mask=[False, True, False],
    )[1]
    return found.view_as(weight[..., 0, 0])


class Products(NamedTuple):
    """A way to multiply: A B, and A' B."""

    multiply: Callable[[Tensor, Tensor], Tensor]
    multiply_transposed: Callable[[Tensor, Tensor], Tensor]


_MATRICES = Products(torch.mm, lambda A, B: torch.mm(A.mT, B))
_STACKS = Products(multiply_stacks, lambda A, B: multiply_stacks(A.mT, B).contiguous())
_EITHER = Products(multiply, multiply_transposed)


def products_for(n_products: int, n_axes: int) -> Products:
    """Choose a way for products of at most so many multiplications, once for all.

    To ask before each takes as long as a small product itself.
    """
    if n_products >= _WORTH:
        return _EITHER
    return _MATRICES if n_axes == 2 else _STACKS


class _Linear(torch.autograd.Function):
    """W x + b for autograd."""

    @staticmethod
    def forward(context: Any, x: Tensor, W: Tensor, b: Tensor) -> Tensor:
        context.save_for_backward(x, W)
        return _by_onednn(x, W, b)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (G,), (x, W) = gradients, context.saved_tensors
        wants_x, wants_W, _ = context.needs_input_grad
        return (
            multiply(G, W) if wants_x else None,
            multiply_transposed(G, x) if wants_W else None,
            G.sum(-2),
        )


def _is_worth(x: Tensor, W: Tensor) -> bool:
    """Tell whether oneDNN can compute x W' of each start, and sooner."""
    return (
        x.shape[-2] * x.shape[-1] * W.shape[-2] >= _WORTH
        and _onednn is not None
        and x.is_cpu
        and x.dtype is torch.float32
    )


def _by_onednn(
    x: Tensor, W: Tensor, b: Tensor | None = None, relu: bool = False
) -> Tensor:
    """Compute x W' + b, or its positive part; one start after another."""
    if W.dim() == 3:
        biases = [None] * len(W) if b is None else b
        starts = zip(x, W, biases, strict=True)
        return torch.stack([_by_onednn(*start, relu) for start in starts])
    y: Tensor = _onednn(x, W, b, "relu" if relu else "none", [], "")
    return y
