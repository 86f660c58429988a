"""Where rows come from: any input as scaled float32 tensors, a batch at a time."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from kfriendly.training.scaling import Scaling


class Source(Protocol):
    """Rows to train on or to predict."""

    n_rows: int

    def rows(self, index: Tensor) -> Tensor:
        """Return the rows of a batch, (n, n_features) or (starts, n, n_features)."""


class ArraySource:
    """An array, a read-only memmap or a CSR matrix; only the batch is ever copied."""

    def __init__(
        self, X: np.ndarray | sp.csr_array, scaling: Scaling, device: torch.device
    ) -> None:
        self.n_rows = X.shape[0]
        self.variance = scaling.variance
        self._X = X
        # Wide numbers stay so until their mean is gone: float32 cannot hold 1e9 + 1.
        kind = np.result_type(X.dtype, np.float32)
        self.dtype = kind
        self._scaled = scaling.rule != "none"
        self._mean = torch.from_numpy(scaling.mean.astype(kind))
        self._size = torch.from_numpy(scaling.size.astype(kind))
        self._device = device

    def rows(self, index: Tensor) -> Tensor:
        """Return scaled rows on the device."""
        if sp.issparse(self._X):
            picked = self._X[index.numpy()].toarray()
        else:
            picked = np.take(self._X, index.numpy(), axis=0)
        x = torch.from_numpy(picked.astype(self.dtype, copy=False))
        if self._scaled:
            x = x.sub_(self._mean).div_(self._size)
        return x.to(self._device, torch.float32)


class TensorSource:
    """Rows already computed, (..., n_rows, n_features)."""

    def __init__(self, Z: Tensor) -> None:
        self.n_rows = Z.shape[-2]
        self._Z = Z

    def rows(self, index: Tensor) -> Tensor:
        """Return the rows of a batch."""
        return self._Z.index_select(-2, index.to(self._Z.device))


class MappedSource:
    """Rows of another source after a fixed map; nothing is stored."""

    def __init__(self, source: Source, map_: Callable[[Tensor], Tensor]) -> None:
        self.n_rows = source.n_rows
        self._source = source
        self._map = map_

    def rows(self, index: Tensor) -> Tensor:
        """Return the mapped rows of a batch."""
        with torch.no_grad():
            return self._map(self._source.rows(index))


class ChosenSource:
    """Some rows of another source."""

    def __init__(self, source: Source, chosen: Tensor) -> None:
        self.n_rows = chosen.numel()
        self._source = source
        self._chosen = chosen

    def rows(self, index: Tensor) -> Tensor:
        """Return the rows of a batch."""
        return self._source.rows(self._chosen[index])


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
