"""K-subspace: every cluster is a flat piece of the latent space, not a point."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from kfriendly.arguments import are_widths, require
from kfriendly.criteria.base import converge, one_hot_nearest, weighted_mean
from kfriendly.criteria.kmeans import KMeans


class SubspaceState(NamedTuple):
    """Centres M (..., K, R), counts c (..., K), spreads C (..., K, R, R), bases U.

    U (..., K, R, q) has the leading eigenvectors of C as columns.
    """

    M: Tensor
    c: Tensor
    C: Tensor
    U: Tensor


class SubspaceStats(NamedTuple):
    """Sums (..., K, R), products (..., K, R, R) and number (..., K) of samples."""

    sums: Tensor
    products: Tensor
    n: Tensor


@dataclass(frozen=True)
class KSubspace:
    """Squared distance to the nearest of K affine subspaces of dimension `q`.

    Parameters
    ----------
    q : int
        Dimension of each subspace; must be smaller than the latent space.
    prior_count : float
        As in `KMeans`.
    """

    q: int = 1
    prior_count: float = 100.0

    def __post_init__(self) -> None:
        c = self.prior_count
        require(are_widths((self.q,)), "KSubspace: q", self.q, "a whole number >= 1")
        require(0 <= c < math.inf, "KSubspace: prior_count", c, "0 or more")

    def init(self, H: Tensor, n_clusters: int, seed: int) -> SubspaceState:
        """Start from K-means and alternate until the subspaces stand still."""
        R = H.shape[-1]
        if self.q >= R:
            raise ValueError(
                f"KSubspace(q={self.q}) needs a latent space of more than {self.q} "
                f"dimensions, but n_components={R}."
            )
        start = KMeans(prior_count=self.prior_count).init(H, n_clusters, seed)
        S = KMeans().assign(H, start)
        C = H.new_zeros(n_clusters, R, R, dtype=torch.float64)
        state = SubspaceState(*start, C, C[..., : self.q])
        nothing = state._replace(c=torch.zeros_like(start.c))
        state = self.update(nothing, self.statistics(H, S))._replace(c=start.c)
        return converge(self, H, state)  # type: ignore[no-any-return]

    def assign(self, H: Tensor, state: SubspaceState) -> Tensor:
        """Give each sample to its nearest subspace."""
        return one_hot_nearest(self._residuals(H, state))

    def cost(self, H: Tensor, S: Tensor, state: SubspaceState) -> Tensor:
        """Compute the squared distance to the sample's own subspace."""
        return (S * self._residuals(H, state)).sum(-1)  # (..., n)

    def statistics(self, H: Tensor, S: Tensor) -> SubspaceStats:
        """Sum samples and their outer products by cluster."""
        H, S = H.double(), S.double()
        products = torch.einsum("...nk,...nr,...nq->...krq", S, H, H)
        return SubspaceStats(S.mT @ H, products, S.sum(-2))

    def update(self, state: SubspaceState, stats: SubspaceStats) -> SubspaceState:
        """Average means and second moments as in Eq. (8), and take new bases."""
        M, c, C, _ = state
        second = C + M.unsqueeze(-1) * M.unsqueeze(-2)  # (..., K, R, R)
        second = weighted_mean(second, c, stats.products, stats.n)
        M = weighted_mean(M, c, stats.sums, stats.n)
        C = second - M.unsqueeze(-1) * M.unsqueeze(-2)
        U = torch.linalg.eigh(C).eigenvectors[..., -self.q :]  # ascending order
        return SubspaceState(M, c + stats.n, C, U)

    def _residuals(self, H: Tensor, state: SubspaceState) -> Tensor:
        """Compute ||(I - U_k U_k')(h_i - m_k)||^2, (..., n, K)."""
        D = H.unsqueeze(-2) - state.M.to(H.dtype).unsqueeze(-3)  # (..., n, K, R)
        within = torch.einsum("...nkr,...krq->...nkq", D, state.U.to(H.dtype))
        return (D.square().sum(-1) - within.square().sum(-1)).clamp_min(0.0)
