"""The cost that the network minimises: Eqs. (4) and (5)."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from kfriendly import losses
from kfriendly.criteria import Criterion, State
from kfriendly.networks import Autoencoder


class Cost(NamedTuple):
    """The terms of Eq. (4), one value per sample, and the sum that is minimised."""

    reconstruction: Tensor  # (..., n)
    clustering: Tensor  # (..., n)
    total: Tensor  # ()


@dataclass(frozen=True)
class Objective:
    """Eq. (4): a sum of per-sample terms.

    A further term, say one that looks at views of each sample, joins here: one more
    per-sample value in `Cost`, one more summand in `total`.
    """

    loss: losses.Loss
    criterion: Criterion

    def __call__(
        self,
        network: Autoencoder,
        x: Tensor,
        cluster: State,
        *,
        lam: Tensor,
        S: Tensor | None = None,
    ) -> Cost:
        """Compute the cost of a batch; `S` from the nearest clusters if not given."""
        H = network.encode(x)  # (..., n, R)
        if S is None:
            S = self.criterion.assign(H.detach(), cluster)  # Eq. (7)
        reconstruction = self.reconstruct(network, H, x)
        clustering = self.criterion.cost(H, S, cluster)
        per_sample = reconstruction + 0.5 * lam.unsqueeze(-1) * clustering  # Eq. (4)
        # The mean over the batch; starts are independent, so their sum separates.
        return Cost(reconstruction, clustering, per_sample.mean(-1).sum())  # Eq. (5)

    @property
    def pretraining_loss(self) -> losses.Loss:
        """The loss of the plain autoencoder; Eq. (3) has none of its own."""
        return losses.squared if self.loss is losses.none else self.loss

    def reconstruct(self, network: Autoencoder, H: Tensor, x: Tensor) -> Tensor:
        """Compute l(g(h), x), (..., n)."""
        if self.loss is losses.none:  # Eq. (3) has no decoder to run
            return H.new_zeros(H.shape[:-1])
        return self.loss(network.decode(H), x)
