"""Soft K-means: every sample belongs to every cluster, by a share."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from kfriendly.arguments import require
from kfriendly.criteria.base import squared_distances, weighted_mean
from kfriendly.criteria.kmeans import CentroidStats, KMeans


class SoftState(NamedTuple):
    """Centres M (..., K, R), shares taken c (..., K), temperature T (...)."""

    M: Tensor
    c: Tensor
    T: Tensor


@dataclass(frozen=True)
class SoftKMeans:
    """Free energy sum_k s_k ||h - m_k||^2 + T sum_k s_k log s_k.

    Its minimum over the shares s is a softmax of -||h - m_k||^2 / T, and over the
    centres the weighted mean, so both updates of Algorithm 1 carry over.

    Parameters
    ----------
    temperature : float
        Softness, as a multiple of the mean squared distance to the nearest centre at
        the start, so that it does not depend on units. Towards zero: hard K-means.
    prior_count : float
        As in `KMeans`.
    """

    temperature: float = 0.5
    prior_count: float = 100.0

    def __post_init__(self) -> None:
        T, c = self.temperature, self.prior_count
        require(0 < T < math.inf, "SoftKMeans: temperature", T, "above 0")
        require(0 <= c < math.inf, "SoftKMeans: prior_count", c, "0 or more")

    def init(self, H: Tensor, n_clusters: int, seed: int) -> SoftState:
        """Start from hard K-means, whose mean cost sets the temperature."""
        hard = KMeans(prior_count=self.prior_count)
        start = hard.init(H, n_clusters, seed)
        spread = squared_distances(H, start.M).amin(-1).mean()
        # Samples that all lie on centres leave no scale: any small number is as good.
        T = (self.temperature * spread).clamp_min(torch.finfo(H.dtype).tiny ** 0.5)
        return SoftState(start.M, start.c, T)

    def assign(self, H: Tensor, state: SoftState) -> Tensor:
        """Compute the shares that minimise the free energy."""
        d = squared_distances(H, state.M)  # (..., n, K)
        return torch.softmax(-d / _per_entry(state.T, d), dim=-1)

    def cost(self, H: Tensor, S: Tensor, state: SoftState) -> Tensor:
        """Compute the free energy of each sample."""
        d = squared_distances(H, state.M)
        return (S * d + _per_entry(state.T, d) * torch.xlogy(S, S)).sum(-1)  # (..., n)

    def statistics(self, H: Tensor, S: Tensor) -> CentroidStats:
        """Sum the samples of each cluster, weighted by share."""
        H, S = H.double(), S.double()
        return CentroidStats(S.mT @ H, S.sum(-2))

    def update(self, state: SoftState, stats: CentroidStats) -> SoftState:
        """Move each centre towards its samples, Eq. (8) with shares for ones."""
        M, c, T = state
        return SoftState(weighted_mean(M, c, stats.sums, stats.n), c + stats.n, T)


def _per_entry(T: Tensor, d: Tensor) -> Tensor:
    """Give T, one value a start, the axes of `d`."""
    return T.to(d.dtype)[..., None, None]
