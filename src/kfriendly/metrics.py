"""Scores of a clustering: against known classes, and without them."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (
    adjusted_rand_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    normalized_mutual_info_score,
    silhouette_score,
)
from sklearn.metrics.cluster import contingency_matrix


def nmi(
    classes: ArrayLike, labels: ArrayLike, *, normalisation: str = "arithmetic"
) -> float:
    """Compute the normalised mutual information, 0 to 1.

    Parameters
    ----------
    classes, labels : array-like of shape (n_samples,)
        Known classes and found clusters.
    normalisation : {"arithmetic", "geometric", "min", "max"}
        Mean of the two entropies to divide by. The paper's scikit-learn of 2016 used
        the geometric one; the two differ in the third decimal for balanced clusters.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(
        normalized_mutual_info_score(classes, labels, average_method=normalisation)
    )


def ari(classes: ArrayLike, labels: ArrayLike) -> float:
    """Compute the adjusted Rand index: 1 for equal partitions, about 0 for chance.

    Examples
    --------
    >>> ari([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(adjusted_rand_score(classes, labels))


def acc(classes: ArrayLike, labels: ArrayLike) -> float:
    """Compute the accuracy under the best one-to-one map of clusters to classes.

    The map is found by the Hungarian method. With more clusters than classes the
    surplus clusters are mapped to none and their samples count as wrong.

    Examples
    --------
    >>> acc([0, 0, 1, 1], [1, 1, 0, 2])
    0.75
    """
    counts = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / counts.sum())


def agreement(labelings: list[ArrayLike]) -> np.ndarray:
    """Compute each labeling's mean adjusted Rand index with all the others.

    Examples
    --------
    >>> agreement([[0, 0, 1, 1], [1, 1, 0, 0]])
    array([1., 1.])
    """
    n = len(labelings)
    if n < 2:
        raise ValueError(f"agreement needs at least two labelings, got {n}.")
    pairs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = ari(labelings[i], labelings[j])
    return np.asarray(pairs.sum(axis=1) / (n - 1))


def stability(labelings: list[ArrayLike]) -> float:
    """Compute the mean adjusted Rand index over all pairs of labelings.

    Near one, another start would give the same clusters; low, the clusters are an
    accident of the start.

    Examples
    --------
    >>> stability([[0, 0, 1, 1], [1, 1, 0, 0]])
    1.0
    """
    return float(agreement(labelings).mean())


def margin_confidence(distances: ArrayLike) -> np.ndarray:
    """Compute how clearly each row is in its cluster: 1 - d1/d2, 0 to 1.

    d1 and d2 are the distances to the nearest and the next centre. Zero is halfway
    between two clusters, one on a centre. With a single cluster it is one.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_clusters)

    Returns
    -------
    confidence : ndarray of shape (n_samples,)

    Examples
    --------
    >>> margin_confidence([[1.0, 4.0], [3.0, 3.0]])
    array([0.75, 0.  ])
    """
    D = np.asarray(distances)
    D = D.astype(np.result_type(D, np.float32))
    if D.shape[1] == 1:
        return np.ones(len(D), dtype=D.dtype)
    nearest, next_ = np.partition(D, 1, axis=1)[:, :2].T
    # A row on two centres at once is as unclear as can be.
    share = np.divide(nearest, next_, out=np.ones_like(next_), where=next_ > 0)
    return np.asarray(1 - share)


def silhouette(
    X: ArrayLike, labels: ArrayLike, *, max_rows: int = 5_000, seed: int = 0
) -> float:
    """Compute the mean silhouette on at most `max_rows` rows, -1 to 1.

    Returns NaN where it is undefined: one cluster, or one cluster a row.
    """
    X, labels = _enough_clusters(X, labels)
    n_rows = len(labels)
    if n_rows > max_rows:
        chosen = np.random.RandomState(seed).choice(n_rows, max_rows, replace=False)
        X, labels = _enough_clusters(X[chosen], labels[chosen])
    return float(silhouette_score(X, labels)) if len(labels) else np.nan


def davies_bouldin(X: ArrayLike, labels: ArrayLike) -> float:
    """Compute the Davies-Bouldin index: lower is better; NaN where undefined."""
    X, labels = _enough_clusters(X, labels)
    return float(davies_bouldin_score(X, labels)) if len(labels) else np.nan


def calinski_harabasz(X: ArrayLike, labels: ArrayLike) -> float:
    """Compute the Calinski-Harabasz ratio: higher is better; NaN where undefined."""
    X, labels = _enough_clusters(X, labels)
    return float(calinski_harabasz_score(X, labels)) if len(labels) else np.nan


def _enough_clusters(X: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both as arrays, empty where a label-free score is not defined."""
    X, labels = np.asarray(X), np.asarray(labels)
    n_found = len(np.unique(labels))
    return (X, labels) if 1 < n_found < len(labels) else (X[:0], labels[:0])
