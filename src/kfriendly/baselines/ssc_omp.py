"""SSC-OMP: every sample as a sparse sum of others, found greedily."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from kfriendly.baselines.rows import Rows, rows_to_cluster, variance
from kfriendly.baselines.spectral import cluster_embedding, spectral_embedding

# Values of the largest array, correlations of a block with all rows: 256 MB.
_BLOCK_VALUES = 2**26

# Columns of rows after a kernel's map, at most.
_LIFTED = 256


class SSCOMP(ClusterMixin, BaseEstimator):
    """Sparse subspace clustering by orthogonal matching pursuit (You et al., 2016).

    For each unit row x_i approximately solves

        min ||x_i - sum_j c_ij x_j||^2,  c_ii = 0,  at most `n_nonzero` c_ij not zero,

    greedily: take the row most correlated with what is left of x_i, fit all rows taken
    so far by least squares, repeat. Rows of one subspace choose each other. Then
    spectral clustering of |C| + |C|', each row of C divided by its largest entry.

    All rows of a block pursue at once; a step is one matrix product, so that 70,000
    images take minutes.

    Parameters
    ----------
    n_clusters : int
    n_nonzero : int
        Most rows in a sum: the dimension of the subspaces, or less.
    tol : float
        A row is done when the square of what is left of it is below this.
    regularization : float
        Weight of a link between all rows in the spectral step, in mean degrees. The
        source has none. But near twins choose each other: without it the leading
        eigenvectors of 70,000 images' graph each sit on two of them. Zero is best for
        subspaces without noise.
    kernel : {"auto", "linear", "rbf"}
        "linear" is the source's. "rbf" maps rows first (Patel & Vidal, 2014): in a few
        columns there are no subspaces, any `n_nonzero` rows express all others. "auto"
        is "rbf" for fewer than four times `n_nonzero` columns.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    coefficients_ : csr_array of shape (n_samples, n_samples)
        C, row by row.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Spectral coordinates, rows of unit length.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from kfriendly.baselines import SSCOMP
    >>> t = np.linspace(1.0, 2.0, 20)[:, None]
    >>> X = np.vstack([t * [1.0, 0.2, 0.0], t * [0.0, 1.0, -1.0]])  # two lines
    >>> model = SSCOMP(2, n_nonzero=1, kernel="linear", random_state=0)
    >>> len(set(model.fit_predict(X)))
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_nonzero": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "kernel": [StrOptions({"auto", "linear", "rbf"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_nonzero: int = 5,
        tol: float = 1e-5,
        regularization: float = 1.0,
        kernel: Literal["auto", "linear", "rbf"] = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_nonzero = n_nonzero
        self.tol = tol
        self.regularization = regularization
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A sparse matrix stays sparse, unless it is small.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        rows = rows_to_cluster(self, X)
        rng = check_random_state(self.random_state)
        few = rows.shape[1] < 4 * self.n_nonzero
        if self.kernel == "rbf" or (self.kernel == "auto" and few):
            rows = _lift(rows, rng)
        C = self.coefficients_ = sparse_codes(rows, self.n_nonzero, self.tol)
        strength = abs(normalize(C, norm="max"))
        affinity = sp.csr_array(0.5 * (strength + strength.T))
        self.embedding_ = spectral_embedding(
            affinity, self.n_clusters, rng, regularization=self.regularization
        )
        self.labels_ = cluster_embedding(self.embedding_, self.n_clusters, rng)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _lift(X: Rows, random_state: np.random.RandomState) -> np.ndarray:
    """Map rows so that their products are nearly exp(-||x - y||^2 / (m var(X)))."""
    gamma = 1.0 / max(X.shape[1] * variance(X), 1e-30)
    n_lifted = min(_LIFTED, X.shape[0])
    kernel = Nystroem(gamma=gamma, n_components=n_lifted, random_state=random_state)
    return np.asarray(kernel.fit_transform(X))


def sparse_codes(X: Rows, n_nonzero: int, tol: float) -> sp.csr_array:
    """Write each row, at unit length, as a sum of at most `n_nonzero` others.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, m)
    n_nonzero : int
    tol : float
        Largest square of what may be left of a row.

    Returns
    -------
    C : csr_array of shape (n, n)
        Coefficients; the diagonal is zero.
    """
    n = X.shape[0]
    U = normalize(X.astype(np.float32))
    if sp.issparse(U):  # of few columns it is quicker filled in
        U = U.toarray() if n * U.shape[1] <= _BLOCK_VALUES else sp.csr_array(U)
    n_atoms = min(n_nonzero, n - 1)
    block = max(1, _BLOCK_VALUES // n)
    starts = range(0, n, block)
    blocks = [_pursue(U, np.arange(i, min(i + block, n)), n_atoms, tol) for i in starts]
    return sp.csr_array(sp.vstack(blocks))


def _pursue(U: Rows, index: np.ndarray, n_atoms: int, tol: float) -> sp.csr_array:
    """Run orthogonal matching pursuit for the rows `index`, all at once."""
    n = U.shape[0]
    support = np.zeros((len(index), n_atoms), dtype=np.int64)
    codes = np.zeros((len(index), n_atoms))
    gram = np.zeros((len(index), n_atoms, n_atoms))
    target = np.zeros((len(index), n_atoms))  # products of each row with its atoms
    active = np.flatnonzero(_row_products(U, index, index) > 0)
    for t in range(n_atoms):
        left = U[index[active]] - _combine(codes[active, :t], support[active, :t], U)
        active, left = _not_done(active, left, tol)
        if not active.size:
            break
        correlation = _absolute_products(left, U)
        rows = np.arange(active.size)
        correlation[rows, index[active]] = -1.0
        correlation[rows[:, None], support[active, :t]] = -1.0
        support[active, t] = newest = correlation.argmax(axis=1)
        target[active, t] = _row_products(U, index[active], newest)
        for s in range(t + 1):
            products = _row_products(U, support[active, s], newest)
            gram[active, s, t] = gram[active, t, s] = products
        codes[active, : t + 1] = _solve(
            gram[active, : t + 1, : t + 1], target[active, : t + 1]
        )
    rows = np.repeat(np.arange(len(index)), n_atoms)
    C = sp.csr_array((codes.ravel(), (rows, support.ravel())), shape=(len(index), n))
    C.eliminate_zeros()
    return C


def _combine(codes: np.ndarray, support: np.ndarray, U: Rows) -> Rows:
    """Sum up the atoms of each row."""
    n_rows, n_atoms = codes.shape
    values = codes.ravel().astype(np.float32)
    starts = n_atoms * np.arange(n_rows + 1)
    shape = (n_rows, U.shape[0])
    return sp.csr_array((values, support.ravel(), starts), shape=shape) @ U


def _not_done(active: np.ndarray, left: Rows, tol: float) -> tuple[np.ndarray, Rows]:
    """Keep the rows of which something is left."""
    squares = left.power(2) if sp.issparse(left) else left**2
    going_on = np.asarray(squares.sum(axis=1)).ravel() > tol
    return active[going_on], left[going_on]


def _absolute_products(left: Rows, U: Rows) -> np.ndarray:
    products = left @ U.T
    dense = products.toarray() if sp.issparse(products) else products
    return np.asarray(np.abs(dense, out=dense))


def _row_products(U: Rows, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Compute the products of the rows i with the rows j, pair by pair."""
    if sp.issparse(U):
        return np.asarray(U[i].multiply(U[j]).sum(axis=1)).ravel()
    return np.asarray(np.einsum("nm,nm->n", U[i], U[j]))


def _solve(gram: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Solve the normal equations of every row; a little is added for atoms alike."""
    ridge = 1e-7 * np.eye(gram.shape[-1])
    return np.asarray(np.linalg.solve(gram + ridge, target[..., None])[..., 0])
