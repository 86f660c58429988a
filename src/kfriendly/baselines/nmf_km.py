"""NMF+KM: non-negative matrix factorisation, then K-means."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval

from kfriendly.baselines.rows import non_negative_rows


class NMFKMeans(ClusterMixin, BaseEstimator):
    """K-means on the coefficients of a non-negative matrix factorisation.

    Minimises ||X - H W||_F^2 with H, W >= 0 by scikit-learn's NMF, then clusters the
    rows of H for a W with rows of unit length: the product leaves their lengths open,
    but distances between rows of H depend on them.

    Parameters
    ----------
    n_clusters : int
    n_components : int or None
        Rank of the factorisation; None is `n_clusters`, or fewer if X is smaller.
    max_iter : int
        Most rounds of NMF.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, n_components)
        H.
    n_iter_ : int
        Rounds of NMF.
    n_features_in_ : int

    Examples
    --------
    >>> from kfriendly.baselines import NMFKMeans
    >>> from sklearn.datasets import load_digits
    >>> labels = NMFKMeans(10, random_state=0).fit_predict(load_digits().data)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        max_iter: int = 500,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Columns with negative values are shifted to start at zero, with a warning.
            A sparse matrix must have none.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        rows = non_negative_rows(self, X)
        rng = check_random_state(self.random_state)
        rank = self.n_components or min(self.n_clusters, *rows.shape)
        nmf = NMF(
            rank,
            max_iter=self.max_iter,
            init="nndsvda" if rank <= min(rows.shape) else "random",
            random_state=rng.randint(2**31 - 1),
        )
        H = nmf.fit_transform(rows)
        self.embedding_ = H * np.linalg.norm(nmf.components_, axis=1)
        self.n_iter_ = nmf.n_iter_
        seed = rng.randint(2**31 - 1)
        kmeans = KMeans(self.n_clusters, n_init=10, random_state=seed)
        self.labels_ = kmeans.fit_predict(self.embedding_)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
