"""The cost that the network minimises: Eqs. (4) and (5)."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from kfriendly import criteria, losses
from kfriendly.criteria import Criterion, State
from kfriendly.networks import Autoencoder
from kfriendly.networks.tracing import ErrorTrace
from kfriendly.sparse_rows import Rows, SparseRows, dense


class Means(NamedTuple):
    """Mean costs of a batch or an epoch, one entry a start, and the weight used."""

    reconstruction: Tensor  # (...)
    clustering: Tensor  # (...)
    lam: Tensor  # (...)

    @property
    def objective(self) -> Tensor:
        """Eq. (4), averaged over samples."""
        return self.reconstruction + 0.5 * self.lam * self.clustering

    def are_sound(self, ceiling: float) -> bool:
        """Tell whether training may go on from here, for every start."""
        finite = self.objective.isfinite().all()
        return bool(finite) and bool((self.reconstruction <= ceiling).all())


class Cost(NamedTuple):
    """The terms of Eq. (4), one value per sample, and what they were computed from."""

    reconstruction: Tensor  # (..., n)
    clustering: Tensor  # (..., n)
    H: Tensor  # (..., n, R)
    S: Tensor  # (..., n, K)

    def means(self, lam: Tensor) -> Means:
        """Average over the samples of each start."""
        return Means(self.reconstruction.mean(-1), self.clustering.mean(-1), lam)


@dataclass(frozen=True)
class Objective:
    """Eq. (4): a sum of per-sample terms.

    A further term, say one that looks at views of each sample, joins in
    `differentiate`: one more value a sample, one more summand in the latent gradient.
    """

    loss: losses.Loss
    criterion: Criterion

    def differentiate(
        self,
        network: Autoencoder,
        x: Rows,
        cluster: State,
        *,
        lam: Tensor,
        S: Tensor | None = None,
    ) -> Cost:
        """Add the gradient of Eq. (5) to that of the network's parameters.

        Eq. (5) is the mean of Eq. (4) over the batch. Starts are independent: the
        gradient of their sum is each one's own. `S` is the nearest cluster if not
        given.
        """
        H, pull_H = network.trace_encode(x)  # (..., n, R)
        if S is None:
            S = self.criterion.assign(H, cluster)  # Eq. (7)
        clustering, G = criteria.differentiate(self.criterion, H, S, cluster)
        share = (lam * (0.5 / H.shape[-2])).view(*lam.shape, 1, 1)
        G = G.mul_(share)  # (..., n, R)
        if self.loss is losses.none:  # Eq. (3) has no decoder to run
            reconstruction = torch.zeros_like(clustering)
        else:
            reconstruction, pull = trace_error(self.loss, network, H, x)
            G = G + pull()
        pull_H(G)
        return Cost(reconstruction, clustering, H, S)

    @property
    def pretraining_loss(self) -> losses.Loss:
        """The loss of the plain autoencoder; Eq. (3) has none of its own."""
        return losses.squared if self.loss is losses.none else self.loss

    def reconstruct(self, network: Autoencoder, H: Tensor, x: Rows) -> Tensor:
        """Compute l(g(h), x), (..., n)."""
        if self.loss is losses.none:
            return H.new_zeros(H.shape[:-1])
        return self.loss(network.decode(H), dense(x))


def trace_error(
    loss: losses.Loss, network: Autoencoder, H: Tensor, x: Rows
) -> ErrorTrace:
    """Compute l(g(h), x), (..., n), with the way back to h and the parameters."""
    if isinstance(x, SparseRows) and loss is losses.squared:
        found = network.trace_sparse_error(H, x)
        if found is not None:
            return found
    x_hat, pull = network.trace_decode(H)
    values, G = losses.differentiate(loss, x_hat, dense(x))
    return ErrorTrace(values, lambda: pull(G))
