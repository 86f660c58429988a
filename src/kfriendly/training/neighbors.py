"""The nearest neighbours of every row: found once, by products, without a tree."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import MiniBatchKMeans
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd
from torch import Tensor

from kfriendly.products import linear, multiply, multiply_transposed
from kfriendly.training.images import tangents
from kfriendly.training.scaling import Scaling, brought_to_length
from kfriendly.training.words import are_words

# Directions kept: neighbours hardly change with more, and noise leaves with the rest.
_DIRECTIONS = 100
# They are found from so many rows; of many columns from a quarter of them, and nearly.
_ROWS_FOR_DIRECTIONS = 20_000
_MOST_COLUMNS = 2_048
# Topics of texts, and how much the angle between them counts beside that of words.
_TOPICS = 20
_TOPICS_WEIGHT = 0.2
# Of so many images that are near as they are, those nearest after a move are taken.
_CANDIDATES = 100
# Up to so many rows all are compared with all. Of more, each with about 30 sqrt(n) that
# are near, which hold 97 in 100 of the ten nearest of 70,000 images.
_MOST_ROWS = 20_000
_NEARBY_CELLS = 30
# Rows compared with others at a time.
_BLOCK = 512
# Columns in a group of which only the smallest entry is looked at first.
_GROUP = 8
_FAR = 1e30
# Sparse rows are filled in for their products up to this many values, 512 MiB.
_DENSE_VALUES = 2**27


@torch.no_grad()
def nearest_neighbors(
    X: np.ndarray | sp.csr_array,
    scaling: Scaling,
    k: int,
    shape: tuple[int, ...] | None = None,
) -> Tensor:
    """Find the k nearest other rows of each row, nearest first, (n_rows, k) int32.

    Rows of words, see `are_words`, are compared by the angles of their roots and of
    their topics; others by the distance of scaled rows, in their hundred strongest
    principal directions; images of `shape` by what is left of it when one is moved by
    a little, Simard's tangent distance.
    """
    if are_words(X, shape):
        return _nearest(_angles(sp.csr_array(X)), X.shape[0], k)
    axes = _axes(X, scaling)
    Z = torch.cat([multiply(x, axes) for x in _scaled(X, scaling)])  # (n, d)
    if shape is None:
        return _nearest_dense(Z, k)
    near = _nearest_dense(Z, min(len(Z) - 1, max(k, _CANDIDATES)))
    return _nearest_when_moved(near, Z, k, X, shape, axes / _sizes(scaling))


def share_cut(neighbors: Tensor, labels: Tensor, n_clusters: int) -> Tensor:
    """Compute the share of neighbours (n_rows, k) that lie in other clusters, (...).

    The mean over clusters, of labels (..., n_rows): a normalised cut of the graph. It
    needs no labels of classes, and tells good clusters from bad ones whatever their
    shape. An empty cluster counts as cut off wholly.
    """
    flat = labels.reshape(-1, labels.shape[-1]).long()
    found = []
    for of in flat:
        away = (of[neighbors.long()] != of.unsqueeze(1)).double().mean(1)
        sizes = of.bincount(minlength=n_clusters)
        total = of.bincount(away, minlength=n_clusters)
        found.append(torch.where(sizes > 0, total / sizes, 1.0).mean())
    return torch.stack(found).reshape(labels.shape[:-1])


def _nearest_dense(Z: Tensor, k: int) -> Tensor:
    """Compare rows (n, d) with all others, or of many with those around them."""
    if len(Z) <= _MOST_ROWS:
        return _nearest(_distances(Z, Z), len(Z), k)
    return _nearest_in_cells(Z, k)


def _nearest_in_cells(Z: Tensor, k: int) -> Tensor:
    """Part rows (n, d) into sqrt(n) cells; compare each cell with those nearby."""
    n_cells = math.isqrt(len(Z))
    cells = MiniBatchKMeans(
        n_cells, init="random", n_init=1, max_iter=3, batch_size=4_096, random_state=0
    ).fit(Z.numpy())
    of = torch.from_numpy(cells.labels_).long()
    sizes = of.bincount(minlength=n_cells)
    members = torch.split(of.argsort(stable=True), sizes.tolist())
    centers = torch.from_numpy(cells.cluster_centers_)
    apart = torch.cdist(centers, centers).fill_diagonal_(-1.0)  # its own comes first
    enough = max(k + 1, _NEARBY_CELLS * n_cells)
    found = torch.empty(len(Z), k, dtype=torch.int32)
    for mine, nearby in zip(members, apart.argsort(1), strict=True):
        n_nearby = int((sizes[nearby].cumsum(0) < enough).sum()) + 1
        others = torch.cat([members[cell] for cell in nearby[:n_nearby].tolist()])
        at = _nearest(_distances(Z[mine], F.embedding(others, Z)), len(mine), k)
        found[mine] = others[at.long()].int()
    return found


def _nearest(distances: "Distances", n: int, k: int) -> Tensor:
    """Compare n rows with all others, of which they are the first, (n, k)."""
    found = torch.empty(n, k, dtype=torch.int32)
    for first in range(0, n, _BLOCK):
        D = distances(slice(first, first + _BLOCK))  # (block, n)
        rows = torch.arange(len(D))
        D[rows, first + rows] = _FAR  # not its own neighbour
        found[first : first + _BLOCK] = _smallest(D, k)
    return found


# Some rows -> a monotone function of their distances to all others, (block, n).
Distances = Callable[[slice], Tensor]


def _angles(X: sp.csr_array) -> Distances:
    """Compare sparse rows by minus the cosine of their roots' angle, and their topics'.

    The roots of weights, as in Hellinger's distance, let no single word decide. All
    words count: in a hundred directions alone texts have other, and worse, neighbours.
    Beside the words the strongest directions, where synonyms meet, help a little.
    """
    roots = sp.csr_array(X, dtype=np.float32, copy=True)
    roots.data = np.sign(roots.data) * np.sqrt(np.abs(roots.data))
    U = sp.csr_array(normalize(roots))
    U = sp.hstack([U, math.sqrt(_TOPICS_WEIGHT) * _topics(U)], format="csr")
    if U.shape[0] * U.shape[1] <= _DENSE_VALUES:  # products are quicker filled in
        dense = torch.from_numpy(U.toarray())
        return lambda rows: multiply(-dense[rows], dense.T)
    columns = sp.csc_array(U).T
    return lambda rows: -torch.from_numpy((U[rows] @ columns).toarray())


def _topics(U: sp.csr_array) -> sp.csr_array:
    """Place texts in their strongest directions, as unit rows (n, d)."""
    n_topics = min(_TOPICS, *(n - 1 for n in U.shape))
    if n_topics < 1:
        return sp.csr_array((U.shape[0], 0), dtype=U.dtype)
    _, _, directions = randomized_svd(U, n_topics, n_iter=5, random_state=0)
    return sp.csr_array(normalize(U @ directions.T), dtype=U.dtype)


def _distances(Z: Tensor, others: Tensor) -> Distances:
    """Compare rows (n, d) by ||a - b||^2 less ||a||^2, which keeps the order."""
    squares = others.square().sum(1)
    return lambda rows: linear(-2.0 * Z[rows], others, squares)


def mutual_neighbors(neighbors: Tensor, n_least: int) -> Tensor:
    """Keep the neighbours of which a row is a neighbour too, (n_rows, k).

    They are more often of the row's own cluster: hubs between clusters are near to
    many, and few are near to them. That leaves the graph in pieces. One of fewer than
    `n_least` rows, 2 or more, is no cluster: its rows keep their neighbours elsewhere.
    One of more could pass for a cluster, and be half of one: neighbours in another such
    piece are kept, unless there are so few rows that each has some elsewhere anyway.
    The places of the others are filled with those kept, in turn.
    """
    n, k = neighbors.shape
    mutual = torch.empty(n, k, dtype=torch.bool)
    for first in range(0, n, _BLOCK):
        rows = torch.arange(first, min(first + _BLOCK, n), dtype=torch.int32)
        theirs = neighbors[neighbors[first : first + _BLOCK].long()]  # (block, k, k)
        mutual[first : first + _BLOCK] = (theirs == rows.view(-1, 1, 1)).any(2)
    piece = _pieces(neighbors, mutual)
    sizes = piece.bincount()
    is_small, is_large = sizes < n_least, sizes >= max(n_least, k + 1)
    own, theirs = piece.unsqueeze(1), piece[neighbors.long()]
    both_large = is_large[own] & is_large[theirs]
    kept = mutual | ((own != theirs) & (is_small[own] | both_large))
    kept_first = torch.argsort((~kept).int(), dim=1, stable=True)
    n_kept = kept.sum(1, keepdim=True)
    return neighbors.gather(1, kept_first).gather(1, torch.arange(k) % n_kept)


def _pieces(neighbors: Tensor, kept: Tensor) -> Tensor:
    """Find which connected piece of a graph each row is in, (n_rows,)."""
    ends = neighbors[kept].numpy()
    starts = np.concatenate([[0], kept.sum(1).cumsum(0).numpy()])
    n = len(neighbors)
    graph = sp.csr_array((np.ones(len(ends), np.int8), ends, starts), shape=(n, n))
    return torch.from_numpy(connected_components(graph)[1]).long()


def _smallest(D: Tensor, k: int) -> Tensor:
    """Find the columns of the k smallest entries of each row, smallest first.

    They lie in the k groups of columns whose smallest entries are smallest: only those
    are sorted, and the few columns over, which takes half the time.
    """
    n_groups, n_over = divmod(D.shape[1], _GROUP)
    if n_groups < k:
        return D.topk(k, largest=False).indices.int()
    over = torch.arange(D.shape[1] - n_over, D.shape[1]).expand(len(D), -1)
    grouped = D[:, : _GROUP * n_groups].view(len(D), _GROUP, n_groups)
    groups = grouped.amin(1).topk(k, largest=False, sorted=False).indices  # (n, k)
    starts = n_groups * torch.arange(_GROUP).unsqueeze(1)
    columns = torch.cat([(groups.unsqueeze(1) + starts).flatten(1), over], 1)
    at = D.gather(1, columns).topk(k, largest=False).indices
    return columns.gather(1, at).int()


def _nearest_when_moved(
    near: Tensor,
    Z: Tensor,
    k: int,
    X: np.ndarray,
    shape: tuple[int, ...],
    axes: Tensor,
) -> Tensor:
    """Choose k of the images that are near, (n, c), by min over t of ||z + T't - z'||.

    The rows of T, (6, d), are the changes of an image by small moves, see `tangents`,
    in the directions `axes` (n_pixels, d), as are the positions Z.
    """
    found = torch.empty(len(Z), k, dtype=torch.int32)
    block = max(16, min(_BLOCK, 2**21 // X.shape[1]))
    for first in range(0, len(Z), block):
        rows = slice(first, first + block)
        images = torch.from_numpy(np.asarray(X[rows], dtype=np.float32))
        T = tangents(images, shape)  # (block, 6, n_pixels)
        T = multiply(T.flatten(0, 1), axes).view(*T.shape[:2], -1)  # (block, 6, d)
        G = T @ T.mT  # a blank image has none: it stays where it is
        floor = 1e-6 * G.diagonal(dim1=1, dim2=2).mean().clamp_min(1e-20)
        L = torch.linalg.cholesky(G + floor * torch.eye(len(G[0])))
        T = torch.linalg.solve_triangular(L, T, upper=False)  # orthonormal rows
        apart = F.embedding(near[rows], Z).sub_(Z[rows].unsqueeze(1))  # (block, c, d)
        explained = torch.bmm(T, apart.mT).square_().sum(1)  # (block, c)
        D = torch.linalg.vector_norm(apart, dim=2).square() - explained
        chosen = D.topk(k, largest=False).indices
        found[rows] = near[rows].gather(1, chosen)
    return found


def _axes(X: np.ndarray, scaling: Scaling) -> Tensor:
    """Find the strongest directions of scaled dense rows, (m, d), from some rows."""
    n, m = X.shape
    if m <= _DIRECTIONS:
        return torch.eye(m)
    wide = m > _MOST_COLUMNS
    n_chosen = min(n, _ROWS_FOR_DIRECTIONS // (4 if wide else 1))
    some = _scaled(X[np.linspace(0, n - 1, n_chosen, dtype=int)], scaling)
    if wide:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            q = min(_DIRECTIONS, n_chosen)
            return Tensor(torch.svd_lowrank(torch.cat(list(some)), q=q, niter=4)[2])
    moments = torch.zeros(m, m, dtype=torch.float64)
    for x in some:
        moments += multiply_transposed(x, x)
    axes: Tensor = torch.linalg.eigh(moments / n_chosen).eigenvectors[:, -_DIRECTIONS:]
    return axes.float()


def _sizes(scaling: Scaling) -> Tensor:
    """Return what each column is divided by, (m, 1)."""
    return torch.from_numpy(np.asarray(scaling.size, dtype=np.float32)).unsqueeze(1)


def _scaled(X: np.ndarray, scaling: Scaling) -> Iterator[Tensor]:
    """Yield scaled and centred rows, some thousands at a time."""
    for first in range(0, len(X), 4 * _BLOCK):
        x = brought_to_length(X[first : first + 4 * _BLOCK], scaling.rule)
        x = (x - scaling.mean) / scaling.size
        yield torch.from_numpy(x.astype(np.float32))
