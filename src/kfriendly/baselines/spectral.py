"""Spectral clustering: SC, and the last step of every method that ends in a graph."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from kfriendly.baselines.rows import Rows, rows_to_cluster

# Fewer rows than this are solved densely: Lanczos needs room between K and n.
_DENSE_ROWS = 200


def spectral_embedding(
    affinity: Rows, n_components: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Compute the leading eigenvectors of D^-1/2 A D^-1/2, with rows of unit length.

    Parameters
    ----------
    affinity : ndarray or csr_array of shape (n, n)
        Symmetric and non-negative; a dense one is overwritten.
    n_components : int
    random_state : RandomState instance
        Where the eigensolver starts.

    Returns
    -------
    embedding : ndarray of shape (n, n_components)
    """
    degrees = np.asarray(affinity.sum(axis=1)).ravel().astype(np.float64)
    roots = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    if sp.issparse(affinity):
        scale = sp.diags_array(roots)
        similarity: Rows = sp.csr_array(scale @ affinity @ scale)
    else:
        similarity = affinity
        similarity *= roots[:, None].astype(affinity.dtype)
        similarity *= roots[None, :].astype(affinity.dtype)
    vectors = _leading_eigenvectors(similarity, n_components, random_state)
    return np.asarray(normalize(vectors))


def _leading_eigenvectors(
    A: Rows, k: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Solve a graph piece by piece, and merge by eigenvalue, larger pieces first.

    Each piece has the eigenvalue one once; the whole has it as often as there are
    pieces, and Lanczos' method does not find all of its copies. Pieces of less than a
    hundredth of an average cluster would take up all eigenvectors of a large graph:
    they are left at the origin, if there are larger ones.
    """
    n = A.shape[0]
    _, piece_of = connected_components(A) if sp.issparse(A) else (1, np.zeros(n, int))
    sizes = np.bincount(piece_of)
    smallest = min(n / (100 * k), sizes.max())
    pieces = [p for p in np.argsort(-sizes, kind="stable")[:k] if sizes[p] >= smallest]
    values, columns = [], []
    for piece in pieces:
        rows = np.flatnonzero(piece_of == piece)
        part = A if len(rows) == n else A[rows][:, rows]
        found, vectors = _solve(part, min(k, len(rows)), random_state)
        whole = np.zeros((n, len(found)))
        whole[rows] = vectors
        values.append(found)
        columns.append(whole)
    order = np.argsort(-np.round(np.concatenate(values), 9), kind="stable")[:k]
    return np.asarray(np.concatenate(columns, axis=1)[:, order])


def _solve(
    A: Rows, k: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the k largest eigenvalues, falling, and their vectors."""
    n = A.shape[0]
    start = random_state.uniform(-1.0, 1.0, n).astype(A.dtype)
    if n <= max(_DENSE_ROWS, 3 * k):
        values, vectors = np.linalg.eigh(A.toarray() if sp.issparse(A) else A)
    else:
        n_lanczos = min(max(4 * k, 40), n)
        values, vectors = eigsh(A, k, which="LA", v0=start, ncv=n_lanczos)
    order = np.argsort(-values)[:k]
    values, vectors = values[order], vectors[:, order]
    # Eigenvectors have no sign of their own; the largest entry is made positive.
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(k)] < 0, -1.0, 1.0)
    return values, vectors * signs


def cluster_embedding(
    embedding: np.ndarray, n_clusters: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Run K-means, ten starts, on the rows of an embedding."""
    seed = random_state.randint(2**31 - 1)
    kmeans = KMeans(n_clusters, n_init=10, random_state=seed)
    return np.asarray(kmeans.fit_predict(embedding))


class SC(ClusterMixin, BaseEstimator):
    """Spectral clustering (Ng, Jordan & Weiss, 2001): K-means on eigenvectors.

    Relaxes the normalised cut: maximises Tr(V' D^-1/2 A D^-1/2 V), V'V = I, then
    clusters the rows of V, scaled to unit length.

    scikit-learn's SpectralClustering inverts the Laplacian, which a neighbour graph of
    70,000 images does not allow within 24 GiB; here only products with the graph are
    needed, so that the same class serves both affinities at any size.

    Parameters
    ----------
    n_clusters : int
    affinity : {"rbf", "neighbors"}
        "rbf" is exp(-gamma ||x - y||^2) between all pairs: memory grows with the
        square of the rows. "neighbors" joins each row to its nearest ones.
    gamma : float or None
        None is 1 / (columns * variance of X).
    n_neighbors : int
        Neighbours of each row, itself among them, for "neighbors".
    max_rows : int
        Most rows for a dense affinity: 20,000 take 1.6 GB.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, n_clusters)
    n_features_in_ : int

    Examples
    --------
    >>> from kfriendly.baselines import SC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> labels = SC(2, affinity="neighbors", random_state=0).fit_predict(X)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "affinity": [StrOptions({"rbf", "neighbors"})],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Literal["rbf", "neighbors"] = "rbf",
        gamma: float | None = None,
        n_neighbors: int = 10,
        max_rows: int = 20_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.max_rows = max_rows
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        rows = rows_to_cluster(self, X)
        rng = check_random_state(self.random_state)
        affinity = self._dense(rows) if self.affinity == "rbf" else self._sparse(rows)
        self.embedding_ = spectral_embedding(affinity, self.n_clusters, rng)
        self.labels_ = cluster_embedding(self.embedding_, self.n_clusters, rng)
        return self

    def _dense(self, X: Rows) -> np.ndarray:
        n = X.shape[0]
        if n > self.max_rows:
            raise ValueError(
                f"affinity='rbf' needs a dense {n:,} x {n:,} matrix, "
                f"{4 * n * n / 2**30:.1f} GiB, and max_rows={self.max_rows:,}. Use "
                "affinity='neighbors', or raise max_rows if the memory is there."
            )
        gamma = self.gamma or 1.0 / max(X.shape[1] * _variance(X), 1e-30)
        return np.asarray(rbf_kernel(X.astype(np.float32, copy=False), gamma=gamma))

    def _sparse(self, X: Rows) -> sp.csr_array:
        n_neighbors = min(self.n_neighbors, X.shape[0])
        graph = kneighbors_graph(X, n_neighbors, include_self=True)
        return sp.csr_array(0.5 * (graph + graph.T))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _variance(X: Rows) -> float:
    """Compute the variance of all entries about their common mean."""
    if not sp.issparse(X):
        return float(X.var())
    return float(X.power(2).mean() - X.mean() ** 2)
