"""Reconstruction losses l of Eq. (4): one value per sample, never reduced.

Each takes the reconstruction and the data, sums over features (the last axis) and keeps
every other axis, so that many starts can share one call.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]  # (x_hat, x) -> (..., n)

# Below this a reconstruction counts as zero: log(0) would make one sample infinite.
_SMALLEST = 1e-20


def squared(x_hat: Tensor, x: Tensor) -> Tensor:
    """Squared error, the paper's choice."""
    return (x_hat - x).square().sum(-1)


def absolute(x_hat: Tensor, x: Tensor) -> Tensor:
    """Absolute error: large deviations weigh less than with `squared`."""
    return (x_hat - x).abs().sum(-1)


def kl(x_hat: Tensor, x: Tensor) -> Tensor:
    """Generalised Kullback-Leibler divergence of non-negative data, as in NMF."""
    x_hat = x_hat.clamp_min(_SMALLEST)
    return (torch.xlogy(x, x) - torch.xlogy(x, x_hat) - x + x_hat).sum(-1)


def none(x_hat: Tensor, x: Tensor) -> Tensor:
    """No reconstruction term, Eq. (3): the latent space may become trivial."""
    return (x_hat - x).sum(-1) * 0.0


def differentiate(loss: Loss, x_hat: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Compute a loss, (..., n), and the gradient of its mean over rows by `x_hat`."""
    if loss is squared:  # by hand: autograd would take longer than the sums
        error = x_hat - x
        return error.square().sum(-1), error.mul_(2.0 / error.shape[-2])
    x_hat = x_hat.detach().requires_grad_()
    with torch.enable_grad():
        value = loss(x_hat, x)
        (gradient,) = torch.autograd.grad(value.mean(-1).sum(), x_hat)
    return value.detach(), gradient


LOSSES: dict[str, Loss] = {
    "squared": squared,
    "absolute": absolute,
    "kl": kl,
    "none": none,
}
