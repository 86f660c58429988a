"""Where rows come from: any input as scaled float32 tensors, a batch at a time."""

from collections.abc import Callable, Iterator
from typing import Protocol, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from kfriendly.networks import Autoencoder
from kfriendly.sparse_rows import Rows, SparseRows
from kfriendly.training.scaling import Scaling, brought_to_length

# Dense data up to this size is kept a second time, scaled.
_KEPT_BYTES = 2**28


# Which rows: of a shuffled batch, or some in a row.
Index = Tensor | slice


class Source(Protocol):
    """Rows to train on or to predict."""

    n_rows: int

    def rows(self, index: Index) -> Rows:
        """Return the rows of a batch, (n, n_features) or (starts, n, n_features)."""


class ArraySource:
    """An array, a read-only memmap or a CSR matrix.

    Only the batch is ever copied, unless `keep` is called.
    """

    def __init__(
        self, X: np.ndarray | sp.csr_array, scaling: Scaling, device: torch.device
    ) -> None:
        self.n_rows = X.shape[0]
        self.variance = scaling.variance
        self.scaling = scaling
        self.X = X
        # Wide numbers stay so until their mean is gone: float32 cannot hold 1e9 + 1.
        kind = np.result_type(X.dtype, np.float32)
        self.dtype = kind
        self._scaled = scaling.rule != "none"
        self._mean = torch.from_numpy(scaling.mean.astype(kind))
        self._size = torch.from_numpy(scaling.size.astype(kind))
        self._device = device
        self._keep_sparse = False
        self._kept: Tensor | None = None

    def keep(self) -> None:
        """Scale small dense data once: its rows will be asked for many times."""
        if not sp.issparse(self.X) and 4 * self.X.size <= _KEPT_BYTES:
            self._kept = self.rows(torch.arange(self.n_rows))

    def suit(self, network: Autoencoder) -> Self:
        """From now on give sparse rows as they are, if the network takes them."""
        self._keep_sparse = network.takes_sparse and self._device.type == "cpu"
        return self

    def rows(self, index: Index) -> Rows:
        """Return scaled rows on the device."""
        if self._kept is not None:
            return _take(self._kept, index)
        at = index if isinstance(index, slice) else index.numpy()
        picked = brought_to_length(self.X[at], self.scaling.rule)
        if sp.issparse(picked):
            if self._keep_sparse:
                return self._sparse_rows(picked)
            picked = picked.toarray()
        return self._scale(picked)

    def _scale(self, picked: np.ndarray) -> Tensor:
        if picked.dtype != self.dtype or not picked.flags.writeable:
            picked = picked.astype(self.dtype)
        x = torch.from_numpy(picked)
        if self._scaled:  # a slice is not ours to change
            x = (x - self._mean).div_(self._size)
        return x.to(self._device, torch.float32)

    def _sparse_rows(self, picked: sp.csr_array) -> SparseRows:
        """Divide by the columns' sizes; the means stay apart."""
        size = self._size.numpy()
        data = (picked.data / size[picked.indices]).astype(np.float32)
        Z = sp.csr_array((data, picked.indices, picked.indptr), shape=picked.shape)
        return SparseRows(Z, (self._mean / self._size).float())


class TensorSource:
    """Rows already computed, (..., n_rows, n_features)."""

    def __init__(self, Z: Tensor) -> None:
        self.n_rows = Z.shape[-2]
        self._Z = Z

    def rows(self, index: Index) -> Tensor:
        """Return the rows of a batch."""
        return _take(self._Z, index)


class MappedSource:
    """Rows of another source after a fixed map; nothing is stored."""

    def __init__(self, source: Source, map_: Callable[[Tensor], Tensor]) -> None:
        self.n_rows = source.n_rows
        self._source = source
        self._map = map_

    def rows(self, index: Index) -> Tensor:
        """Return the mapped rows of a batch."""
        with torch.no_grad():
            return self._map(self._source.rows(index))


class ChosenSource:
    """Some rows of another source."""

    def __init__(self, source: Source, chosen: Tensor) -> None:
        self.n_rows = chosen.numel()
        self._source = source
        self._chosen = chosen

    def rows(self, index: Index) -> Rows:
        """Return the rows of a batch."""
        return self._source.rows(self._chosen[index])


def _take(Z: Tensor, index: Index) -> Tensor:
    """Pick rows of a tensor (..., n_rows, n_features)."""
    if isinstance(index, slice):
        return Z[..., index, :]
    return Z.index_select(-2, index.to(Z.device))


def batches(order: Tensor, size: int) -> Iterator[Tensor]:
    """Cut `order` into batches of `size`; a last one of one row joins the one before.

    One row has no variance, so batch normalisation could not use it.
    """
    n = order.numel()
    first = 0
    while first < n:
        last = n if n - first <= size + 1 else first + size
        yield order[first:last]
        first = last
