"""The nearest neighbours of every row: found once, exactly, without a tree."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.decomposition import TruncatedSVD
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


@torch.no_grad()
def nearest_neighbors(X: np.ndarray | sp.csr_array, scaling: Scaling, k: int) -> Tensor:
    """Find the k nearest other rows of each row, nearest first, (n_rows, k) int32.

    Rows of a sparse table, which are texts as a rule, are compared by their angle as
    they are, others by the distance of scaled rows; both in the hundred strongest
    principal directions.
    """
    Z = _angles(X) if sp.issparse(X) else _positions(X, scaling)  # (n, d)
    n = len(Z)
    # ||a - b||^2 less ||a||^2, which does not change the order, as one product.
    lengths = Z.square().sum(1, keepdim=True)
    others = F.pad(torch.cat([Z, lengths], 1), (0, 0, 0, -n % _GROUP))
    others[n:, -1] = _FAR
    found = torch.empty(n, k, dtype=torch.int32)
    for first in range(0, n, _BLOCK):
        z = Z[first : first + _BLOCK]
        D = torch.cat([-2.0 * z, torch.ones_like(z[:, :1])], 1) @ others.T
        rows = torch.arange(len(z))
        D[rows, first + rows] = _FAR  # not its own neighbour
        found[first : first + _BLOCK] = _smallest(D, k)
    return found


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
    grouped = D.view(len(D), -1, _GROUP)
    n_groups = min(k, grouped.shape[1])
    groups = grouped.amin(2).topk(n_groups, largest=False).indices  # (n, n_groups)
    candidates = grouped.gather(1, groups.unsqueeze(2).expand(-1, -1, _GROUP))
    at = candidates.flatten(1).topk(k, largest=False).indices  # (n, k)
    return (groups.gather(1, at // _GROUP) * _GROUP + at % _GROUP).int()


def _angles(X: sp.csr_array) -> Tensor:
    """Turn sparse rows of unit length to their strongest directions, (n, d)."""
    n_directions = min(_DIRECTIONS, X.shape[1], X.shape[0] - 1)
    svd = TruncatedSVD(n_directions, random_state=0)
    turned = svd.fit_transform(normalize(X.astype(np.float32)))
    return F.normalize(torch.from_numpy(turned.astype(np.float32)))


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
