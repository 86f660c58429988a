"""Hard K-means: Eqs. (1), (7) and (8)."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from sklearn.cluster import KMeans as ScikitKMeans
from torch import Tensor

from kfriendly.arguments import require
from kfriendly.criteria.base import distances, one_hot_nearest, weighted_mean
from kfriendly.products import multiply

CentreRule = Literal["online", "frozen"]


class CentroidState(NamedTuple):
    """Centres M (..., K, R) and how many samples each has taken, c (..., K)."""

    M: Tensor
    c: Tensor


class CentroidStats(NamedTuple):
    """Sum (..., K, R) and number (..., K) of the samples of each cluster."""

    sums: Tensor
    n: Tensor


@dataclass(frozen=True)
class KMeans:
    """Squared distance to the nearest centre.

    Parameters
    ----------
    centers : {"online", "frozen"}
        "online" moves the centres by Eq. (8). "frozen" keeps them where the start, or
        the last refresh, has put them, which is what the authors' first release did by
        an integer division.
    prior_count : float
        Samples each centre counts as having taken before the first one. 100: from the
        authors' code, not in the paper, where the first step would be 1/0; a small
        value lets one early batch move a centre by its full length.
    max_count : float
        Largest count, so that the steps never fall below about 1/max_count and
        centres keep up with a network that still moves. Infinity is Eq. (8) as printed.
    """

    centers: CentreRule = "online"
    prior_count: float = 100.0
    max_count: float = math.inf

    def __post_init__(self) -> None:
        rules = get_args(CentreRule)
        for holds, name, allowed in (
            (self.centers in rules, "centers", f"one of {rules}"),
            (0 <= self.prior_count < math.inf, "prior_count", "0 or more"),
            (self.max_count > 0, "max_count", "above 0; infinity is no limit"),
            (
                self.centers == "online" or self.prior_count > 0,
                "prior_count",
                "above 0 with centers='frozen'",
            ),
        ):
            require(holds, f"KMeans: {name}", getattr(self, name), allowed)

    def init(self, H: Tensor, n_clusters: int, seed: int) -> CentroidState:
        """Run scikit-learn's K-means, ten k-means++ starts, on the latent samples."""
        kmeans = ScikitKMeans(n_clusters, n_init=10, random_state=seed)
        M = torch.from_numpy(kmeans.fit(H.cpu().numpy()).cluster_centers_)
        M = M.to(H.device, torch.float64)
        c = min(self.prior_count, self.max_count)
        return CentroidState(M, torch.full_like(M[:, 0], c))

    def assign(self, H: Tensor, state: CentroidState) -> Tensor:
        """Give each sample to its nearest centre, Eq. (7)."""
        return one_hot_nearest(distances(H, state.M))  # (..., n, K)  Eq. (7)

    def cost(self, H: Tensor, S: Tensor, state: CentroidState) -> Tensor:
        """Compute ||h - M s||^2, Eq. (1)."""
        return (H - S @ state.M.to(H.dtype)).square().sum(-1)  # (..., n)  Eq. (1)

    def slope(
        self, H: Tensor, S: Tensor, state: CentroidState
    ) -> tuple[Tensor, Tensor]:
        """Compute the cost and its gradient, 2 (h - M s)."""
        D = H - multiply(S, state.M.to(H.dtype))
        return D.square().sum(-1), 2.0 * D

    def statistics(self, H: Tensor, S: Tensor) -> CentroidStats:
        """Sum the samples of each cluster."""
        H, S = H.double(), S.double()
        return CentroidStats(S.mT @ H, S.sum(-2))

    def update(self, state: CentroidState, stats: CentroidStats) -> CentroidState:
        """Move each centre towards the samples assigned to it, Eq. (8).

        Eq. (8) applied one sample at a time, with step 1/c_k, equals one weighted mean.
        """
        M, c = state
        M_new = weighted_mean(M, c, stats.sums, stats.n)  # (..., K, R)  Eq. (8)
        c_new = c + stats.n
        if self.max_count < math.inf:
            c_new = c_new.clamp(max=self.max_count)
        if self.centers == "frozen":  # but a start or a refresh, from no count, moves
            M_new = torch.where((c > 0).unsqueeze(-1), M, M_new)
            c_new = torch.where(c > 0, c, c_new)
        return CentroidState(M_new, c_new)
