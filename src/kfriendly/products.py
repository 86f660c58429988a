"""Products of matrices, by the quicker of the two libraries that torch carries.

torch gives float32 products to MKL, which leaves more than half of an AMD processor's
arithmetic unused; oneDNN, which torch has for convolutions, does not. It takes longer
to call, so small products stay where they are. All but `linear` is to be called under
`torch.no_grad()`.
"""

from typing import Any

import torch
from torch import Tensor

# From this many multiplications on oneDNN is quicker, calling it included.
_WORTH = 2**22
_FAR_NARROWER = 8
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
        y = torch.addmm(b, x, W.mT)
    else:
        y = torch.baddbmm(b.unsqueeze(-2), x, W.mT)
    return y.relu_() if relu else y


def multiply(A: Tensor, B: Tensor) -> Tensor:
    """Compute A B of two matrices, or of two stacks of them."""
    if _is_worth(A, B.mT):
        return _by_onednn(A, B.mT)
    return torch.mm(A, B) if A.dim() == 2 else torch.bmm(A, B)  # quicker than matmul


def multiply_transposed(A: Tensor, B: Tensor) -> Tensor:
    """Compute A' B of two matrices of n rows, or of two stacks of them.

    oneDNN copies what stands first to turn it: let that not be by far the wider.
    """
    if _FAR_NARROWER * B.shape[-1] <= A.shape[-1] and _is_worth(A.mT, B.mT):
        return multiply(B.mT, A).mT.contiguous()
    return multiply(A.mT, B)


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
