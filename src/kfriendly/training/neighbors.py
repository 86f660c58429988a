"""The nearest neighbours of every row: found once, exactly, without a tree."""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.preprocessing import normalize
from torch import Tensor

from kfriendly.training.scaling import Scaling

# Directions kept: neighbours hardly change with more, and noise leaves with the rest.
_DIRECTIONS = 100
# Rows compared with all others at a time.
_BLOCK = 512
# The k nearest lie in the k groups whose nearest members are nearest: only those are
# sorted, which makes the search as quick as the products.
_GROUP = 64
_FAR = 1e30
# Sparse rows are filled in for their products up to this many values, 512 MiB.
_DENSE_VALUES = 2**27


@torch.no_grad()
def nearest_neighbors(X: np.ndarray | sp.csr_array, scaling: Scaling, k: int) -> Tensor:
    """Find the k nearest other rows of each row, nearest first, (n_rows, k) int32.

    Rows of a sparse table, which are texts as a rule, are compared by their angle as
    they are; others by the distance of scaled rows, in their hundred strongest
    principal directions.
    """
    n = X.shape[0]
    distances = _angles(X) if sp.issparse(X) else _distances(X, scaling)
    found = torch.empty(n, k, dtype=torch.int32)
    for first in range(0, n, _BLOCK):
        D = distances(slice(first, first + _BLOCK))  # (block, n)
        rows = torch.arange(len(D))
        D[rows, first + rows] = _FAR  # not its own neighbour
        found[first : first + _BLOCK] = _smallest(D, k)
    return found


# Some rows -> a monotone function of their distances to all rows, (block, n).
Distances = Callable[[slice], Tensor]


def _angles(X: sp.csr_array) -> Distances:
    """Compare sparse rows by minus the cosine of their angle.

    All words count: in a hundred directions texts have other, and worse, neighbours.
    """
    U = sp.csr_array(normalize(X.astype(np.float32)))
    if U.shape[0] * U.shape[1] <= _DENSE_VALUES:  # products are quicker filled in
        dense = torch.from_numpy(U.toarray())
        return lambda rows: -dense[rows] @ dense.T
    columns = sp.csc_array(U).T
    return lambda rows: -torch.from_numpy((U[rows] @ columns).toarray())


def _distances(X: np.ndarray, scaling: Scaling) -> Distances:
    """Compare scaled rows by ||a - b||^2 less ||a||^2, which keeps the order."""
    Z = _positions(X, scaling)  # (n, d)
    others = torch.cat([Z, Z.square().sum(1, keepdim=True)], 1).T

    def distances(rows: slice) -> Tensor:
        z = Z[rows]
        return torch.cat([-2.0 * z, torch.ones_like(z[:, :1])], 1) @ others

    return distances


def mutual_neighbors(neighbors: Tensor) -> Tensor:
    """Keep the neighbours of which a row is a neighbour too, (n_rows, k).

    They are more often of the row's own cluster: hubs between clusters are near to
    many, and few are near to them. The places of the others are filled with those kept,
    in turn; a row that has none keeps its nearest one.
    """
    n, k = neighbors.shape
    mutual = torch.empty(n, k, dtype=torch.bool)
    for first in range(0, n, _BLOCK):
        rows = torch.arange(first, min(first + _BLOCK, n), dtype=torch.int32)
        theirs = neighbors[neighbors[first : first + _BLOCK].long()]  # (block, k, k)
        mutual[first : first + _BLOCK] = (theirs == rows.view(-1, 1, 1)).any(2)
    kept_first = torch.argsort((~mutual).int(), dim=1, stable=True)
    n_kept = mutual.sum(1, keepdim=True).clamp_min(1)
    return neighbors.gather(1, kept_first).gather(1, torch.arange(k) % n_kept)


def _smallest(D: Tensor, k: int) -> Tensor:
    """Find the columns of the k smallest entries of each row, smallest first."""
    D = F.pad(D, (0, -D.shape[1] % _GROUP), value=_FAR)
    grouped = D.view(len(D), -1, _GROUP)
    n_groups = min(k, grouped.shape[1])
    groups = grouped.amin(2).topk(n_groups, largest=False).indices  # (n, n_groups)
    candidates = grouped.gather(1, groups.unsqueeze(2).expand(-1, -1, _GROUP))
    at = candidates.flatten(1).topk(k, largest=False).indices  # (n, k)
    return (groups.gather(1, at // _GROUP) * _GROUP + at % _GROUP).int()


def _positions(X: np.ndarray, scaling: Scaling) -> Tensor:
    """Turn scaled dense rows to their strongest directions, (n, d)."""
    n, m = X.shape
    if m <= _DIRECTIONS:
        return torch.cat(list(_scaled(X, scaling)))
    moments = torch.zeros(m, m, dtype=torch.float64)
    for x in _scaled(X, scaling):
        moments += x.T @ x
    axes = torch.linalg.eigh(moments / n).eigenvectors[:, -_DIRECTIONS:].float()
    return torch.cat([x @ axes for x in _scaled(X, scaling)])


def _scaled(X: np.ndarray, scaling: Scaling) -> Iterator[Tensor]:
    """Yield scaled and centred rows, some thousands at a time."""
    for first in range(0, len(X), 4 * _BLOCK):
        x = (X[first : first + 4 * _BLOCK] - scaling.mean) / scaling.size
        yield torch.from_numpy(x.astype(np.float32))
