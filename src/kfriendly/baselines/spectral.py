"""Spectral clustering: SC, and the last step of every method that ends in a graph."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from kfriendly.baselines.rows import Rows, rows_to_cluster, variance

# Fewer rows than this are solved densely: Lanczos needs room between K and n.
_DENSE_ROWS = 200


def spectral_embedding(
    affinity: Rows,
    n_components: int,
    random_state: np.random.RandomState,
    *,
    regularization: float = 0.0,
) -> np.ndarray:
    """Compute the leading eigenvectors of D^-1/2 A D^-1/2, with rows of unit length.

    Parameters
    ----------
    affinity : ndarray or csr_array of shape (n, n)
        Symmetric and non-negative.
    n_components : int
    random_state : RandomState instance
        Where the eigensolver starts.
    regularization : float
        A weak link between all rows is added to A: what it adds to each degree, in
        mean degrees. One is the choice of Amini, Chen, Bickel & Levina (2013). Without
        it, eigenvectors of a sparse graph of many rows may sit on pairs of twins.

    Returns
    -------
    embedding : ndarray of shape (n, n_components)
    """
    n = affinity.shape[0]
    pieces = np.zeros(n, dtype=int)
    if sp.issparse(affinity) and not regularization:
        pieces = connected_components(affinity, directed=False)[1]
    sizes = np.bincount(pieces)
    # Small pieces would take up all eigenvectors of a large graph: those of less than a
    # hundredth of an average cluster are left at the origin.
    smallest = min(n / (100 * n_components), sizes.max())
    values, columns = [], []
    for piece in np.argsort(-sizes, kind="stable")[:n_components]:
        if sizes[piece] >= smallest:
            rows = np.flatnonzero(pieces == piece)
            part = affinity if len(rows) == n else affinity[rows][:, rows]
            graph = _Graph(part, regularization)
            found, vectors = graph.eigenvectors(n_components, random_state)
            values.append(found)
            columns.append(np.zeros((n, len(found))))
            columns[-1][rows] = vectors
    # Every piece has the eigenvalue one; the larger piece comes first.
    order = np.argsort(-np.round(np.concatenate(values), 9), kind="stable")
    leading = np.concatenate(columns, axis=1)[:, order[:n_components]]
    return np.asarray(normalize(leading))


class _Graph:
    """A graph in one piece: Lanczos' method would miss copies of an eigenvalue."""

    def __init__(self, affinity: Rows, regularization: float) -> None:
        degrees = np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel()
        self._affinity = affinity
        self._tau = regularization * degrees.mean()
        degrees += self._tau
        self._roots = 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0))

    def times(self, v: np.ndarray) -> np.ndarray:
        """Multiply by D^-1/2 A D^-1/2."""
        u = self._roots * v.ravel()
        linked = self._affinity @ u.astype(self._affinity.dtype)
        return np.asarray(self._roots * (linked + self._tau * u.mean()))

    def eigenvectors(
        self, k: int, random_state: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute at most k of the largest eigenvalues, falling, and their vectors."""
        n = self._roots.size
        if n <= max(_DENSE_ROWS, 3 * k):
            full = np.stack([self.times(unit) for unit in np.eye(n)])
            values, vectors = np.linalg.eigh(full)
        else:
            product = LinearOperator((n, n), matvec=self.times, dtype=np.float64)
            start = random_state.uniform(-1.0, 1.0, n)
            n_lanczos = min(max(4 * k, 40), n)
            values, vectors = eigsh(product, k, which="LA", v0=start, ncv=n_lanczos)
        order = np.argsort(-values)[:k]
        values, vectors = values[order], vectors[:, order]
        # Eigenvectors have no sign of their own; the largest entry is made positive.
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.where(vectors[largest, np.arange(len(order))] < 0, -1.0, 1.0)
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
        gamma = self.gamma or 1.0 / max(X.shape[1] * variance(X), 1e-30)
        return np.asarray(rbf_kernel(X.astype(np.float32, copy=False), gamma=gamma))

    def _sparse(self, X: Rows) -> sp.csr_array:
        n_neighbors = min(self.n_neighbors, X.shape[0])
        graph = kneighbors_graph(X, n_neighbors, include_self=True)
        return sp.csr_array(0.5 * (graph + graph.T))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
