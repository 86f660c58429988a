"""XRAY: clusters from the extreme rows of non-negative data."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import row_norms

from kfriendly.baselines.nnls import solve_nnls
from kfriendly.baselines.rows import Rows, non_negative_rows

# A row lies in the cone when its squared residual is below this part of its square;
# the Gram products and the coordinate descent leave errors far below it.
_INSIDE = 1e-9


class Cone(NamedTuple):
    """The rows as non-negative combinations of the anchors found so far."""

    anchors: list[int]
    B: np.ndarray  # (n, k): products of all rows with the anchors
    H: np.ndarray  # (n, k): coefficients
    residuals: np.ndarray  # (n,): squared


class XRAY(ClusterMixin, BaseEstimator):
    """XRAY: find rows that span the cone of all rows, and cluster by them.

    Minimises ||X - H X_A||² over `n_clusters` rows A, the anchors, and H >= 0, as in
    [1]_. Anchors are taken greedily: choose a row outside the cone of the anchors, take
    the row that lies furthest in the direction of its residual, fit H again.

    Parameters
    ----------
    n_clusters : int
        Number of anchors K, one for each cluster.
    selection : {"max", "rand"}
        Which row outside the cone leads to the next anchor: the one with the largest
        residual, or any. The other two rules of [1]_ cost n² a step.
    random_state : int, RandomState instance or None
        Seed of `selection="rand"`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Anchor with the largest part in each row. Coefficients are compared as if the
        anchors had the same length; a row of zeros has label 0.
    anchors_ : ndarray of shape (n_anchors,)
        Rows of `X` that are anchors, in the order found. Fewer than `n_clusters`, with
        a warning, if the cone of the data has fewer extreme rays.
    objective_ : list of float
        ||X - H X_A||² after each anchor.
    n_iter_ : int
        Number of anchors found.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they are all strings.

    References
    ----------
    .. [1] A. Kumar, V. Sindhwani, P. Kambadur, "Fast conical hull algorithms for
       near-separable non-negative matrix factorization", ICML 2013.

    Examples
    --------
    >>> from kfriendly.baselines.xray import XRAY
    >>> X = [[2, 0, 0], [0, 3, 1], [3, 1, 0], [1, 6, 2]]
    >>> XRAY(n_clusters=2).fit(X).labels_
    array([1, 0, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"max", "rand"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        selection: Literal["max", "rand"] = "max",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.selection = selection
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the anchors and the cluster of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Columns with negative values are shifted to start at zero, with a warning.
            A sparse matrix stays sparse, and must have none.
        y : None
            Ignored.

        Returns
        -------
        XRAY
            The fitted estimator.
        """
        self._validate_params()
        rows = non_negative_rows(self, X)
        self.objective_: list[float] = []
        cone = self._grow(rows)
        lengths = np.sqrt(np.diag(cone.B[cone.anchors]))
        # With no anchor at all, every row is zero and of one kind.
        parts = cone.H * lengths if cone.anchors else np.zeros((rows.shape[0], 1))
        self.labels_ = parts.argmax(axis=1)
        self.anchors_ = np.array(cone.anchors, dtype=np.int64)
        self.n_iter_ = len(cone.anchors)
        return self

    def _grow(self, X: Rows) -> Cone:
        """Add anchors until there are enough or no row is outside the cone."""
        random = check_random_state(self.random_state)
        n = X.shape[0]
        squares = row_norms(X, squared=True)
        cone = Cone([], np.empty((n, 0)), np.empty((n, 0)), squares)
        for _ in range(self.n_clusters):
            outside = np.flatnonzero(cone.residuals > _INSIDE * squares)
            if not outside.size:
                self._warn(len(cone.anchors))
                break
            if self.selection == "max":
                leader = int(cone.residuals.argmax())
            else:
                leader = int(random.choice(outside))
            cone = _extended(X, cone, _next_anchor(X, cone, leader), squares)
            self.objective_.append(float(cone.residuals.sum()))
        return cone

    def _warn(self, found: int) -> None:
        warnings.warn(
            f"XRAY: {found} anchors already span all rows, fewer than "
            f"n_clusters={self.n_clusters}; there are only {found} clusters.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _products(X: Rows, row: int) -> np.ndarray:
    """Return the products of all rows with one, (n,)."""
    vector = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
    return np.asarray(X @ vector)


def _next_anchor(X: Rows, cone: Cone, leader: int) -> int:
    """Return argmax_j R_i X_j / (1 X_j), i the leader and R = X - H X_A."""
    along = _products(X, leader) - cone.B @ cone.H[leader]  # R_i X_j, R never formed
    sums = np.asarray(X.sum(axis=1)).ravel()
    score = np.full(len(sums), -np.inf)
    np.divide(along, sums, out=score, where=sums > 0)
    score[cone.anchors] = -np.inf
    return int(score.argmax())


def _extended(X: Rows, cone: Cone, anchor: int, squares: np.ndarray) -> Cone:
    """Add an anchor and fit H again, starting from the last fit."""
    anchors = [*cone.anchors, anchor]
    B = np.column_stack([cone.B, _products(X, anchor)])
    gram = B[anchors]  # (k, k)
    H = solve_nnls(gram, B, np.column_stack([cone.H, np.zeros(len(B))]))
    residuals = squares + ((H @ gram - 2 * B) * H).sum(axis=1)
    return Cone(anchors, B, H, np.maximum(residuals, 0.0))
