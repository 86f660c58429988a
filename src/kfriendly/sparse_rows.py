"""Rows of a wide sparse table, and what a network needs to know of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

from kfriendly.products import gram, multiply, multiply_transposed

# A Tensor, or SparseRows where a network takes them. Any: most networks never meet the
# latter, and need not say so.
Rows = Any


class ErrorGradients(NamedTuple):
    """Gradients by h (n, R), W (d, R) and b (d,)."""

    h: Tensor
    W: Tensor
    b: Tensor


class SquaredErrors(NamedTuple):
    """One value a row, and a way to the gradients of their mean.

    It takes the memory for that by W.
    """

    values: Tensor  # (n,)
    gradients: Callable[[Tensor], ErrorGradients]


# Columns of a table that are worked on at a time: the cache holds what belongs to them.
_COLUMNS = 2048


def dense(x: Rows) -> Tensor:
    """Fill in the zeros of sparse rows."""
    return x.dense() if isinstance(x, SparseRows) else x


def join(first: Rows, second: Rows) -> Rows:
    """Put rows of one kind below each other."""
    if not isinstance(first, SparseRows):
        return torch.cat([first, second])
    return SparseRows(sp.vstack([first.Z, second.Z], format="csr"), first.u)


@dataclass(frozen=True)
class SparseRows:
    """Scaled rows x = z - u: sparse z, and a shift u that all rows share.

    Centring would fill the table with -u; kept apart, the rows stay sparse.

    Parameters
    ----------
    Z : CSR array of shape (n, d), float32
    u : Tensor of shape (d,)
    """

    Z: sp.csr_array
    u: Tensor

    def __len__(self) -> int:
        return int(self.Z.shape[0])

    def __getitem__(self, rows: slice) -> "SparseRows":
        return SparseRows(self.Z[rows], self.u)

    def dense(self) -> Tensor:
        """Fill in all values, (n, d)."""
        return torch.from_numpy(self.Z.toarray()) - self.u

    def times(self, W: Tensor) -> Tensor:
        """Compute X W, (n, R), from W of shape (d, R)."""
        return _times(self.Z, W) - multiply(self.u.unsqueeze(0), W)

    def transposed_times(self, G: Tensor, into: Tensor) -> None:
        """Compute X' G, (d, R), from G of shape (n, R)."""
        sum_G = G.sum(0)
        for part, Z_part in self._columns():
            into[part] = _times(Z_part, G).addr_(self.u[part], sum_G, alpha=-1.0)

    def squared_errors(self, h: Tensor, W: Tensor, b: Tensor) -> "SquaredErrors":
        """Compute ||W h + b - x||^2 of every row without ever forming W h.

        With c = b + u it is ||W h + c||^2 - 2 z'(W h + c) + ||z||^2, and
        ||W h + c||^2 = h'(W'W)h + 2 h'W'c + c'c: what is as wide as the table meets
        the weights once, not once a row.
        """
        c = b + self.u
        WW = gram(W)  # W'W, (R, R)
        c_W = multiply(c.unsqueeze(0), W)  # (1, R)
        h_WW, z_W = multiply(h, WW), _times(self.Z, W)  # (n, R)
        z_c = torch.from_numpy(self.Z @ c.numpy())
        z_z = torch.from_numpy(self.Z.power(2).sum(axis=1))
        values = (h * (h_WW + 2.0 * (c_W - z_W))).sum(-1) + c @ c - 2.0 * z_c + z_z

        def gradients(G_W: Tensor) -> ErrorGradients:
            share = 2.0 / len(self)
            sum_h, sum_z = h.sum(0), torch.from_numpy(self.Z.sum(axis=0))
            hh = share * multiply_transposed(h, h)  # (R, R)
            pulled, pushed, W_h = -share * h, share * sum_h, torch.empty_like(c)
            for part, Z_part in self._columns():
                G = multiply(W[part], hh).add_(_times(Z_part, pulled))
                G_W[part] = G.addr_(c[part], pushed)
                W_h[part] = W[part] @ sum_h
            G_b = share * (W_h + len(self) * c - sum_z)
            return ErrorGradients(share * (h_WW + c_W - z_W), G_W, G_b)

        # Rounding may take an error of nothing below zero.
        return SquaredErrors(values.clamp_min_(0.0), gradients)

    def _columns(self) -> Iterator[tuple[slice, sp.csr_array]]:
        """Go through the columns, some at a time: which, and Z' of them."""
        for first in range(0, self.Z.shape[1], _COLUMNS):
            part = slice(first, first + _COLUMNS)
            yield part, self._transposed[part]

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return self.Z.T.tocsr()


def _times(Z: sp.csr_array, W: Tensor) -> Tensor:
    """Compute Z W: a weighted sum of a few rows of W for every row of Z.

    That is what torch's bags of embeddings are, and on all threads; its own sparse
    products took four to twenty times as long.
    """
    return F.embedding_bag(
        torch.from_numpy(Z.indices),
        W,
        torch.from_numpy(Z.indptr[:-1]),
        mode="sum",
        per_sample_weights=torch.from_numpy(Z.data),
    )
