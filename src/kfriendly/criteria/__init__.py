"""Clustering criteria: K-means (the paper's), soft K-means, K-subspace."""

from kfriendly.criteria.base import (
    Criterion,
    State,
    converge,
    differentiate,
    reseed,
    squared_distances,
)
from kfriendly.criteria.k_subspace import KSubspace
from kfriendly.criteria.kmeans import KMeans
from kfriendly.criteria.soft_kmeans import SoftKMeans

CRITERIA: dict[str, type[Criterion]] = {
    "kmeans": KMeans,
    "soft_kmeans": SoftKMeans,
    "k_subspace": KSubspace,
}

__all__ = [
    "CRITERIA",
    "Criterion",
    "KMeans",
    "KSubspace",
    "SoftKMeans",
    "State",
    "converge",
    "differentiate",
    "reseed",
    "squared_distances",
]
