"""What a clustering criterion is, and what every criterion shares.

A criterion is a frozen object without tensors. Its evolving part is a `State`, passed
in and returned. All tensors may have leading axes, one entry a start: `H` is
(..., n, R), `S` is (..., n, K). The same functions serve one start, many stacked
starts, and `torch.func.vmap`.
"""

from typing import Any, Protocol

import torch
from torch import Tensor

# A NamedTuple of tensors with at least the centres M (..., K, R) and the number of
# samples each has taken c (..., K). Any: a criterion only ever meets its own.
State = Any


class Criterion(Protocol):
    """The clustering part of Eq. (4) and its two updates, Eqs. (7) and (8)."""

    def init(self, H: Tensor, n_clusters: int, seed: int) -> State:
        """Find first clusters in the latent samples of one start, (n, R)."""

    def assign(self, H: Tensor, state: State) -> Tensor:
        """Assign samples to clusters, Eq. (7): (..., n, K)."""

    def cost(self, H: Tensor, S: Tensor, state: State) -> Tensor:
        """Compute each sample's clustering cost, (..., n)."""

    def statistics(self, H: Tensor, S: Tensor) -> Any:
        """Sum up what `update` needs; sums of batches and of ranks add up."""

    def update(self, state: State, stats: Any) -> State:
        """Move the clusters, Eq. (8)."""


def squared_distances(H: Tensor, M: Tensor) -> Tensor:
    """Compute ||h_i - m_k||^2, (..., n, K), in the precision of `H`.

    By differences, not by ||h||^2 - 2 h'm + ||m||^2: K and R are small, and the
    product form loses the digits that decide between two close centres.
    """
    return (H.unsqueeze(-2) - M.to(H.dtype).unsqueeze(-3)).square().sum(-1)


def distances(H: Tensor, M: Tensor) -> Tensor:
    """Compute ||h_i - m_k||, as `squared_distances` but faster; not for autograd."""
    exact = "donot_use_mm_for_euclid_dist"
    return torch.cdist(H, M.to(H.dtype), compute_mode=exact)


def one_hot_nearest(distances: Tensor) -> Tensor:
    """Put a one at the smallest entry of each row."""
    nearest = distances.min(-1, keepdim=True).indices  # much quicker than argmin
    return torch.zeros_like(distances).scatter(-1, nearest, 1.0)


def differentiate(
    criterion: Criterion, H: Tensor, S: Tensor, state: State
) -> tuple[Tensor, Tensor]:
    """Compute each sample's cost, and its gradient for fixed assignments.

    By the criterion's own `slope(H, S, state)` if it has one, else by autograd, which
    takes several times as long in a small network.
    """
    slope = getattr(criterion, "slope", None)
    if slope is not None:
        return slope(H, S, state)  # type: ignore[no-any-return]
    H = H.detach().requires_grad_()
    with torch.enable_grad():
        cost = criterion.cost(H, S, state)
        (gradient,) = torch.autograd.grad(cost.sum(), H)
    return cost.detach(), gradient


def converge(
    criterion: Criterion, H: Tensor, state: State, *, n_iter: int = 100
) -> State:
    """Alternate full assignments and updates from `state` until nothing changes.

    Lloyd's algorithm for any criterion: with the counts set to zero, `update` takes the
    plain mean of all of `H`. The counts of `state` are kept, so that training goes on
    with the same step sizes.
    """
    c = state.c
    S = criterion.assign(H, state)
    for _ in range(n_iter):
        stats = criterion.statistics(H, S)
        state = criterion.update(state._replace(c=torch.zeros_like(c)), stats)
        S_new = criterion.assign(H, state)
        if torch.equal(S_new, S):
            break
        S = S_new
    return state._replace(c=c)


def reseed(state: State, empty: Tensor, H: Tensor) -> State:
    """Put the centres marked in `empty`, (..., K), at the rows of `H`, (..., K, R)."""
    M = torch.where(empty.unsqueeze(-1), H.to(state.M.dtype), state.M)
    return state._replace(M=M)


def weighted_mean(old: Tensor, c: Tensor, sums: Tensor, n: Tensor) -> Tensor:
    """Compute (c old + sums) / (c + n), and `old` where c + n is zero.

    `old` and `sums` may have more trailing axes than `c` and `n`. Written as a step
    from `old`, so that very large counts lose no digits of it.
    """
    for _ in range(old.dim() - c.dim()):
        c, n = c.unsqueeze(-1), n.unsqueeze(-1)
    total = (c + n).clamp_min_(torch.finfo(old.dtype).tiny)
    return torch.addcdiv(old, torch.addcmul(sums, n, old, value=-1.0), total)
