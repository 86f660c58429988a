"""The cost that the network minimises: Eqs. (4) and (5), and the contrast of views."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from kfriendly import criteria, losses
from kfriendly.criteria import Criterion, State
from kfriendly.networks import Autoencoder
from kfriendly.networks.tracing import ErrorTrace
from kfriendly.sparse_rows import Rows, SparseRows, dense
from kfriendly.training.contrast import contrast

_ZERO = torch.zeros(())  # goes with tensors of any device


class Means(NamedTuple):
    """Mean costs of a batch or an epoch, one entry a start, and the weight used.

    `contrast` comes with its weight; it is zero without views.
    """

    reconstruction: Tensor  # (...)
    clustering: Tensor  # (...)
    contrast: Tensor  # (...)
    lam: Tensor  # (...)

    @property
    def objective(self) -> Tensor:
        """Eq. (4), averaged over samples, and the contrast if there are views."""
        return self.reconstruction + 0.5 * self.lam * self.clustering + self.contrast

    def are_sound(self, ceiling: float) -> bool:
        """Tell whether training may go on from here, for every start."""
        finite = self.objective.isfinite().all()
        return bool(finite) and bool((self.reconstruction <= ceiling).all())


class Cost(NamedTuple):
    """The terms of the objective, one value a sample, and what they came from.

    A term that is not there is a single zero.
    """

    reconstruction: Tensor  # (..., n)
    clustering: Tensor  # (..., n)
    contrast: Tensor  # (..., n)
    H: Tensor  # (..., n, R)
    S: Tensor  # (..., n, K), or empty in pre-training

    def means(self, lam: Tensor) -> Means:
        """Average over the samples of each start."""
        return Means(
            self.reconstruction.mean(-1),
            self.clustering.mean(-1) if self.clustering.dim() else self.clustering,
            self.contrast.mean(-1) if self.contrast.dim() else self.contrast,
            lam,
        )


class _Terms(NamedTuple):
    """What does not depend on the clusters, and the gradient by H of their means."""

    reconstruction: Tensor  # (..., n)
    contrast: Tensor  # (..., n)
    G: Tensor


@dataclass(frozen=True)
class Objective:
    """Eq. (4): a sum of per-sample terms; with views, a further one.

    Parameters
    ----------
    loss : Loss
    criterion : Criterion
    contrast : float or None
        Weight of the contrast of views. None is for batches without views, Eq. (4) as
        printed. With views a batch holds its samples and then a view of each: a view
        shares its sample's cluster, and only samples are reconstructed.
    noisy : bool
        Whether a batch holds its samples and then what the network sees of each: it
        has to reconstruct the sample all the same. Eq. (4) otherwise.
    """

    loss: losses.Loss
    criterion: Criterion
    contrast: float | None = None
    noisy: bool = False

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
        seen, x = self._parts(x)
        H, pull_H = network.trace_encode(seen)  # (..., n, R); with views (..., 2 n, R)
        h = H if self.contrast is None else H.chunk(2, dim=-2)[0]  # (..., n, R)
        if S is None:
            S = self.criterion.assign(h, cluster)  # Eq. (7)
        shared = S if self.contrast is None else torch.cat([S, S], dim=-2)
        clustering, G = criteria.differentiate(self.criterion, H, shared, cluster)
        G = G.mul_((lam * (0.5 / H.shape[-2])).view(*lam.shape, 1, 1))
        terms = self._without_clusters(network, H, x, self.loss)
        pull_H(G.add_(terms.G))
        return Cost(terms.reconstruction, clustering, terms.contrast, h, S)

    def differentiate_alone(self, network: Autoencoder, x: Rows) -> Cost:
        """Do the same without clusters, for pre-training."""
        seen, x = self._parts(x)
        H, pull_H = network.trace_encode(seen)
        reconstruction, contrast, G = self._without_clusters(
            network, H, x, self.pretraining_loss
        )
        pull_H(G)
        return Cost(reconstruction, _ZERO, contrast, H, H.new_empty(0))

    def _parts(self, x: Rows) -> tuple[Rows, Rows]:
        """Tell the rows of a batch that are encoded, and those reconstructed."""
        if self.contrast is None and not self.noisy:
            return x, x
        n = len(x) // 2
        return x[n:] if self.noisy else x, x[:n]

    def _without_clusters(
        self, network: Autoencoder, H: Tensor, x: Rows, loss: losses.Loss
    ) -> "_Terms":
        """Compute what does not depend on the clusters, and its latent gradient."""
        h = H
        if self.contrast is not None:
            h = H.chunk(2, dim=-2)[0]
        if loss is losses.none:  # Eq. (3) has no decoder to run
            reconstruction, G = h.new_zeros(h.shape[:-1]), torch.zeros_like(h)
        else:
            reconstruction, pull = trace_error(loss, network, h, x)
            G = pull()
        if self.contrast is None:
            return _Terms(reconstruction, _ZERO, G)
        values, slope = contrast(H)
        G = torch.cat([G, torch.zeros_like(G)], dim=-2)
        G.add_(slope, alpha=self.contrast)
        return _Terms(reconstruction, self.contrast * values, G)

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
