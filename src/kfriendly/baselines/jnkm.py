"""JNKM: non-negative matrix factorization and K-means of its directions, jointly."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import row_norms

from kfriendly.baselines.nnls import solve_nnls
from kfriendly.baselines.rows import Rows, non_negative_rows

# H and W are far from their goal while the other moves: more sweeps do not pay.
_SWEEPS = 5


class Penalties(NamedTuple):
    """Weights of the two penalties."""

    lam: float
    mu: float


class Blocks(NamedTuple):
    """The six blocks of unknowns."""

    H: np.ndarray  # (n, R) latent rows
    W: np.ndarray  # (m, R) loadings
    d: np.ndarray  # (n,) lengths, the diagonal of D
    Z: np.ndarray  # (n, R) directions, rows of length one
    M: np.ndarray  # (K, R) centres
    s: np.ndarray  # (n,) cluster of each row


class JNKM(ClusterMixin, BaseEstimator):
    """JNKM: factorize the data so that the directions of the rows form clusters.

    Minimises ||X - D H Wᵀ||² + `lam` ||H - S M||² + `mu` ||H - Z||² over H, W, D >= 0,
    D diagonal, S one-hot, centres M, and Z with rows of length one [1]_. D takes up the
    length of each row, and Z holds H near length one, so that K-means sees directions
    only. X is first divided by the root of the mean squared length of its rows, which
    is not in [1]_: it makes `lam` and `mu` free of units.

    Every step minimises over one block exactly, or descends in it: H and W by
    coordinate descent, D, Z, S and M in closed form.

    Parameters
    ----------
    n_clusters : int
        Number of clusters K.
    n_components : int or "auto"
        Rank R of the factorization. "auto" is K, or the number of columns if smaller.
    lam : float
        Weight of the clustering term. [1]_ sets it and `mu` by hand; a tenth is our
        choice, made without labels: with one, all rows of a cluster of 20Newsgroups
        came to lie on its centre, whatever the data.
    mu : float
        Weight that holds latent rows near length one. It also holds them near where
        they are, so a large one makes for small steps.
    max_iter : int
        Most rounds over all blocks.
    tol : float
        Stop when a round lowers the objective by less than this part of it.
    random_state : int, RandomState instance or None
        Seed of the start: scikit-learn's NMF, then K-means on the directions.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, S.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres M, in the latent space.
    components_ : ndarray of shape (n_components, n_features)
        Wᵀ.
    objective_ : list of float
        The objective after each round, for the divided X.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they are all strings.

    Notes
    -----
    The start is NMF, then K-means on the directions of its rows. The rounds change the
    factors far more than the clusters: a row is drawn to the centre it has.

    References
    ----------
    .. [1] B. Yang, X. Fu, N. D. Sidiropoulos, "Learning from hidden traits: joint
       factor analysis and latent clustering", IEEE Transactions on Signal
       Processing 65, 2017.

    Examples
    --------
    >>> from kfriendly.baselines.jnkm import JNKM
    >>> X = [[2, 0, 0], [0, 3, 1], [3, 0, 0], [0, 6, 2]]
    >>> labels = JNKM(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[2] != labels[1] == labels[3])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "lam": [Interval(Real, 0, None, closed="left")],
        "mu": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | Literal["auto"] = "auto",
        lam: float = 0.1,
        mu: float = 0.1,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.lam = lam
        self.mu = mu
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Factorize and cluster the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Columns with negative values are shifted to start at zero, with a warning.
            A sparse matrix stays sparse, and must have none.
        y : None
            Ignored.

        Returns
        -------
        JNKM
            The fitted estimator.
        """
        self._validate_params()
        rows = non_negative_rows(self, X)
        K, m = self.n_clusters, rows.shape[1]
        R = min(K, m) if self.n_components == "auto" else self.n_components
        # All-zero data has no scale; any will do.
        scale = np.sqrt(row_norms(rows, squared=True).mean()) or 1.0
        rows = rows / scale
        blocks = _start(rows, R, K, check_random_state(self.random_state))
        blocks = self._descend(rows, blocks)
        self.labels_ = blocks.s
        self.cluster_centers_, self.components_ = blocks.M, scale * blocks.W.T
        self.n_iter_ = len(self.objective_)
        return self

    def _descend(self, X: Rows, blocks: Blocks) -> Blocks:
        """Go round the blocks until the objective rests."""
        square = float(row_norms(X, squared=True).sum())
        penalties = Penalties(self.lam, self.mu)
        self.objective_: list[float] = []
        last = np.inf
        for _ in range(self.max_iter):
            blocks = _go_round(X, blocks, penalties)
            value = _objective(X, blocks, penalties) + square
            self.objective_.append(value)
            if last - value <= self.tol * value:
                break
            last = value
        return blocks

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _start(X: Rows, R: int, K: int, random: np.random.RandomState) -> Blocks:
    """Take NMF's factors, then K-means of the directions of its rows."""
    nmf = NMF(R, random_state=random)
    with warnings.catch_warnings():
        # A start need not have converged.
        warnings.simplefilter("ignore", ConvergenceWarning)
        H = nmf.fit_transform(X)
    W = nmf.components_.T  # (m, R)
    # Directions have a meaning only between components of like length.
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0] = 1.0
    Z = _directions(H * lengths, np.full(H.shape, R**-0.5))
    means = KMeans(K, n_init=10, random_state=random).fit(Z)
    d = np.linalg.norm(H * lengths, axis=1)
    return Blocks(Z, W / lengths, d, Z, means.cluster_centers_, means.labels_)


def _go_round(X: Rows, b: Blocks, penalties: Penalties) -> Blocks:
    """Lower the objective over one block after the other."""
    b = b._replace(H=_latent_rows(X, b, penalties))
    DH = b.d[:, None] * b.H
    b = b._replace(W=solve_nnls(DH.T @ DH, X.T @ DH, b.W, max_sweeps=_SWEEPS))
    b = b._replace(d=_lengths(X, b))
    b = b._replace(Z=_directions(b.H, b.Z))
    b = b._replace(s=_nearest(b.H, b.M))
    return b._replace(M=_means(b.H, b.s, b.M))


def _latent_rows(X: Rows, b: Blocks, penalties: Penalties) -> np.ndarray:
    """Descend in H: each row has its own weight, d², beside the same two penalties."""
    lam, mu = penalties
    target = b.d[:, None] * (X @ b.W) + lam * b.M[b.s] + mu * b.Z  # (n, R)
    return solve_nnls(
        b.W.T @ b.W,
        target,
        b.H,
        weights=b.d**2,
        ridge=lam + mu,
        max_sweeps=_SWEEPS,
    )


def _lengths(X: Rows, b: Blocks) -> np.ndarray:
    """Minimise over D; a row without a reconstruction keeps its length."""
    along = ((X @ b.W) * b.H).sum(axis=1)
    square = ((b.H @ (b.W.T @ b.W)) * b.H).sum(axis=1)
    return np.asarray(np.divide(along, square, out=b.d.copy(), where=square > 0))


def _directions(H: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Minimise over Z; a row of zeros has no direction and takes another."""
    norms = np.linalg.norm(H, axis=1, keepdims=True)
    return np.asarray(np.divide(H, norms, out=otherwise.copy(), where=norms > 0))


def _nearest(H: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Minimise over S."""
    return np.asarray(((M**2).sum(axis=1) - 2 * H @ M.T).argmin(axis=1))


def _means(H: np.ndarray, s: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Minimise over M; a cluster without rows keeps its centre."""
    K = len(M)
    counts = np.bincount(s, minlength=K)[:, None]  # (K, 1)
    sums = np.stack([np.bincount(s, column, minlength=K) for column in H.T], axis=1)
    return np.asarray(np.divide(sums, counts, out=M.copy(), where=counts > 0))


def _objective(X: Rows, b: Blocks, penalties: Penalties) -> float:
    """Return all three terms less ||X||², with X - D H Wᵀ never formed."""
    DH = b.d[:, None] * b.H
    fit = ((DH @ (b.W.T @ b.W) - 2 * (X @ b.W)) * DH).sum()
    clusters = ((b.H - b.M[b.s]) ** 2).sum()
    lengths = ((b.H - b.Z) ** 2).sum()
    return float(fit + penalties.lam * clusters + penalties.mu * lengths)
