"""A network seen in other latent coordinates: uncorrelated, of variance one."""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from kfriendly.networks.base import Autoencoder, LayerPair
from kfriendly.networks.tracing import ErrorTrace, Trace
from kfriendly.sparse_rows import SparseRows


class Whitened(Autoencoder):
    """An autoencoder whose latent space is shifted, turned and stretched.

    encode(x) = (f(x) - mean) A and decode(h) = g(h A^-1 + mean): the reconstruction is
    the same, only distances in between change. An autoencoder's latent axes have no
    units, so K-means on them as they come weighs some more than others by accident.

    Parameters
    ----------
    network : Autoencoder
        The network, stacked or not; it is kept, not copied.
    H : Tensor of shape (..., n, R)
        Latent samples whose covariance becomes the identity.
    """

    stackable: ClassVar[bool] = True

    mean: Tensor
    forth: Tensor
    back: Tensor

    def __init__(self, network: Autoencoder, H: Tensor) -> None:
        super().__init__()
        self.network = network
        H = H.double()
        mean = H.mean(-2, keepdim=True)  # (..., 1, R)
        covariance = (H - mean).mT @ (H - mean) / H.shape[-2]  # (..., R, R)
        variances, axes = torch.linalg.eigh(covariance)
        # Directions that carry nothing stay small instead of turning into noise.
        floor = 1e-6 * variances[..., -1:] + torch.finfo(torch.float32).tiny
        deviations = variances.maximum(floor).sqrt().unsqueeze(-2)  # (..., 1, R)
        self.register_buffer("mean", mean.float())
        self.register_buffer("forth", (axes / deviations).float())
        self.register_buffer("back", (axes * deviations).mT.contiguous().float())

    def encode(self, x: Tensor) -> Tensor:
        """Map data to the white latent space."""
        return (self.network.encode(x) - self.mean) @ self.forth

    def decode(self, h: Tensor) -> Tensor:
        """Map the white latent space back to data."""
        return self.network.decode(h @ self.back + self.mean)

    def trace_encode(self, x: Tensor) -> Trace:
        """Encode data, with the way back to the parameters."""
        H, pull = self.network.trace_encode(x)
        return Trace((H - self.mean) @ self.forth, lambda G: pull(G @ self.forth.mT))

    def trace_decode(self, h: Tensor) -> Trace:
        """Decode white latent points, with the way back to them and the parameters."""
        x_hat, pull = self.network.trace_decode(h @ self.back + self.mean)
        return Trace(x_hat, lambda G: pull(G) @ self.back.mT)

    @property
    def takes_sparse(self) -> bool:
        """Whether the network within takes rows as they come, sparse."""
        return self.network.takes_sparse

    def trace_sparse_error(self, h: Tensor, x: SparseRows) -> ErrorTrace | None:
        """Trace the squared error of sparse rows by the network within."""
        found = self.network.trace_sparse_error(h @ self.back + self.mean, x)
        if found is None:
            return None
        return ErrorTrace(found.values, lambda: found.pull() @ self.back.mT)

    def layer_pairs(self) -> Sequence[LayerPair]:
        """Return the layers of the network within."""
        return self.network.layer_pairs()
