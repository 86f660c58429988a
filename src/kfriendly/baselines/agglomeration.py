"""Agglomeration by graph degree linkage: the half of JULE that has no network."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import AgglomerativeClustering
from sklearn.neighbors import NearestNeighbors

# Rows of the table of affinities that are looked at together.
_BLOCK = 256
# Isolated clusters are mere outliers if all are this many times the number wanted.
_MANY = 20


class Neighbors(NamedTuple):
    """The nearest other samples of each sample, nearest first, both (n, k)."""

    squared_distances: np.ndarray
    indices: np.ndarray

    def groups(self) -> np.ndarray:
        """Label the samples linked by nearest neighbours: JULE's first clusters."""
        n, k = self.indices.shape
        nearest = self.indices[:, 0] if k else np.arange(n)
        links = sp.csr_array((np.ones(n), (np.arange(n), nearest)), shape=(n, n))
        return np.asarray(connected_components(links, directed=False)[1])

    def graph(self) -> sp.csr_array:
        """Weigh the directed edges from each sample to its neighbours, (n, n).

        w_ij = exp(-d_ij^2 / sigma^2), and sigma^2 is the mean of all d_ij^2: a = 1,
        as in the paper.
        """
        n, k = self.indices.shape
        squares = self.squared_distances.ravel()
        # All distances are zero among copies of one row: any sigma will do.
        variance = (squares.mean() if k else 0.0) or 1.0
        ends = (np.repeat(np.arange(n), k), self.indices.ravel())
        return sp.csr_array((np.exp(-squares / variance), ends), shape=(n, n))


def find_neighbors(H: np.ndarray | sp.csr_array, n_neighbors: int) -> Neighbors:
    """Find the nearest other samples, as many as there are at most."""
    n = H.shape[0]
    k = min(n_neighbors, n - 1)
    if k == 0:
        return Neighbors(np.empty((n, 0)), np.empty((n, 0), dtype=np.intp))
    distances, indices = NearestNeighbors(n_neighbors=k).fit(H).kneighbors()
    return Neighbors(distances.astype(np.float64) ** 2, indices)


def affinities(W: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Compute A(C_i -> C_j) + A(C_j -> C_i) of all pairs, (C, C).

    A(C_i -> C_j) = 1' W_ij W_ji 1 / |C_i|^2, where W_ij are the edges from C_i to C_j.

    Examples
    --------
    >>> W = sp.csr_array([[0.0, 0.5], [0.5, 0.0]])
    >>> affinities(W, np.array([0, 1]))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    A = _flows(W, labels) / np.square(np.bincount(labels))[:, None]
    np.fill_diagonal(A, 0.0)
    return np.asarray(A + A.T)


def _flows(W: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Compute 1' W_ij W_ji 1 of all pairs of clusters, (C, C).

    It is a sum over the samples q of C_j: what flows from C_i to q, times what flows
    from q to C_i.
    """
    n = labels.size
    Z = sp.csr_array((np.ones(n), (labels, np.arange(n))))  # (C, n)
    to_samples, from_samples = Z @ W, Z @ W.T  # (C, n)
    return np.asarray((to_samples.multiply(from_samples) @ Z.T).toarray())


class _Linkage:
    """Clusters under merging, with the best partner of each kept up to date.

    Only the flows are stored, 8 C^2 bytes for C clusters at the start; affinities
    follow from them and the sizes. Clusters that are gone, and the diagonal, have a
    flow of minus infinity, so that they are nobody's partner.
    """

    def __init__(self, W: sp.csr_array, labels: np.ndarray) -> None:
        self.labels = labels.copy()
        self._W, self._W_T = W, W.T.tocsr()
        self._sizes = np.bincount(labels).astype(np.float64)
        self._flows = _flows(W, labels)
        np.fill_diagonal(self._flows, -np.inf)
        C = self._sizes.size
        self._best = np.empty(C)
        self._partner = np.empty(C, dtype=np.intp)
        for first in range(0, C, _BLOCK):
            self._look(np.arange(first, min(first + _BLOCK, C)))

    def merge_best(self) -> bool:
        """Merge the pair of largest affinity, unless no two clusters have any."""
        a = int(self._best.argmax())
        if not self._best[a] > 0:
            return False
        b = int(self._partner[a])
        self._merge(a, b)
        row = self._affinities(np.array([a]))[0]
        better = row >= self._best  # at a tie too: the old partner may be b, now gone
        self._best[better], self._partner[better] = row[better], a
        lost = ((self._partner == a) | (self._partner == b)) & (self._best > row)
        self._look(np.flatnonzero(lost))
        return True

    def _merge(self, a: int, b: int) -> None:
        """Add cluster b to a; all flows stay exact.

        Flows of others through a and b, sums over samples, add up. The flow of the two
        through others is a sum of products that has mixed terms, so it is made anew.
        """
        flows = self._flows
        flows[:, a] += flows[:, b]
        flows[b] = flows[:, b] = -np.inf
        self._sizes[a] += self._sizes[b]
        self.labels[self.labels == b] = a
        members = (self.labels == a).astype(np.float64)
        through = (self._W_T @ members) * (self._W @ members)  # (n,)
        flows[a] = np.bincount(self.labels, through, minlength=self._sizes.size)
        flows[a, a] = -np.inf

    def _look(self, clusters: np.ndarray) -> None:
        """Search the whole rows of some clusters for their best partners."""
        A = self._affinities(clusters)
        self._partner[clusters] = A.argmax(axis=1)
        self._best[clusters] = A.max(axis=1)

    def _affinities(self, clusters: np.ndarray) -> Any:
        squares = np.square(self._sizes)
        out = self._flows[clusters] / squares[clusters, None]
        return out + self._flows[:, clusters].T / squares


def agglomerate(
    H: np.ndarray | sp.csr_array,
    W: sp.csr_array,
    labels: np.ndarray,
    n_clusters: int,
) -> np.ndarray:
    """Merge clusters, always the pair of largest affinity, until few are left.

    A graph of more parts than `n_clusters` leaves pairs without any affinity; then
    the clusters with the nearest means are joined, which graph degree linkage
    does not define.

    Parameters
    ----------
    H : array or CSR matrix of shape (n_samples, n_features)
        Samples, for the means.
    W : CSR matrix of shape (n_samples, n_samples)
        Edges, as from `Neighbors.graph`.
    labels : ndarray of shape (n_samples,)
        Clusters to start from, 0 to C - 1.
    n_clusters : int
        Number of clusters to stop at.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    """
    linkage = _Linkage(W, labels)
    left = int(labels.max()) + 1
    while left > n_clusters and linkage.merge_best():
        left -= 1
    merged = np.unique(linkage.labels, return_inverse=True)[1]
    return merged if left <= n_clusters else _join_nearest(H, merged, n_clusters)


def _join_nearest(
    H: np.ndarray | sp.csr_array, labels: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Join clusters by the distances of their means, average linkage."""
    means = _means(H, labels)
    if sp.issparse(means):
        means = means.toarray()
    join = AgglomerativeClustering(n_clusters, linkage="average")
    return np.asarray(join.fit_predict(means)[labels])


def _means(H: np.ndarray | sp.csr_array, labels: np.ndarray) -> Any:
    shares = 1.0 / np.bincount(labels)[labels]
    return sp.csr_array((shares, (labels, np.arange(labels.size)))) @ H


def join_isolated(
    H: np.ndarray | sp.csr_array,
    W: sp.csr_array,
    labels: np.ndarray,
    n_clusters: int,
) -> np.ndarray:
    """Join clusters without affinity to any other to the nearest that has some.

    Outliers in groups of two or three are nobody's neighbours. They would be left to
    the end, each a cluster, while all others are merged into one. The authors' code
    joins them too, while there are more than twenty times `n_clusters`: of fewer, an
    isolated one may be what is looked for.
    """
    if labels.max() + 1 <= _MANY * n_clusters:
        return labels
    flows = _flows(W, labels)
    np.fill_diagonal(flows, 0.0)
    linked = flows.any(axis=0) | flows.any(axis=1)
    if linked.all() or linked.sum() < n_clusters:
        return labels
    means, target = _means(H, labels), np.arange(linked.size)
    nearest = NearestNeighbors(n_neighbors=1).fit(means[linked])
    found = nearest.kneighbors(means[~linked], return_distance=False)[:, 0]
    target[~linked] = target[linked][found]
    return np.unique(target[labels], return_inverse=True)[1]


def first_clusters(neighbors: Neighbors, n_clusters: int) -> np.ndarray:
    """Start from groups of nearest neighbours, or single samples if these are few."""
    groups = neighbors.groups()
    return groups if groups.max() + 1 >= n_clusters else np.arange(groups.size)


def graph_degree_linkage(
    H: np.ndarray | sp.csr_array, n_clusters: int, *, n_neighbors: int = 20
) -> np.ndarray:
    """Cluster samples by agglomeration alone, with graph degree linkage [1]_.

    Parameters
    ----------
    H : array or CSR matrix of shape (n_samples, n_features)
        Samples.
    n_clusters : int
        Number of clusters, at most n_samples.
    n_neighbors : int
        Edges from each sample.

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] W. Zhang, X. Wang, D. Zhao, X. Tang, "Graph degree linkage: agglomerative
       clustering on a directed graph", ECCV 2012.

    Examples
    --------
    >>> H = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> graph_degree_linkage(H, 2, n_neighbors=2)
    array([0, 0, 0, 1, 1, 1])
    """
    neighbors = find_neighbors(H, n_neighbors)
    W, labels = neighbors.graph(), first_clusters(neighbors, n_clusters)
    labels = join_isolated(H, W, labels, n_clusters)
    return agglomerate(H, W, labels, n_clusters)
