"""Batches with views: the samples first, then a view of each, in the same order."""

import warnings
from dataclasses import dataclass
from typing import Protocol

import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from kfriendly.sparse_rows import Rows, dense
from kfriendly.training.neighbors import mutual_neighbors, nearest_neighbors
from kfriendly.training.sources import ArraySource, Source
from kfriendly.views import Alter, Neighbors, ViewRule

# How long walks are: see `walk_length`.
_WALKERS = 2_000
_FAR_ENOUGH = 0.75
_LONGEST_WALK = 100


class Views(Protocol):
    """Where views come from."""

    def pairs(self, source: Source, index: Tensor, rng: torch.Generator) -> Rows:
        """Return the rows of `index` and then a view of each, (2 n, n_features)."""


@dataclass(frozen=True)
class Walks:
    """A view is the row where a walk from neighbour to neighbour ends, or a copy."""

    neighbors: Tensor  # (n_rows, k)
    mutual: Tensor  # (n_rows, k)
    n_steps: int
    alter: Alter | None = None

    def pairs(self, source: Source, index: Tensor, rng: torch.Generator) -> Rows:
        """Return rows and the rows their walks end at."""
        view = index
        for _ in range(self.n_steps):
            view = _step(self.mutual, view, rng)
        if self.alter is None:
            return source.rows(torch.cat([index, view]))
        x = dense(source.rows(torch.cat([index, view])))
        return torch.cat([x[: len(index)], altered(self.alter, x[len(index) :], rng)])

    def cut(self, labels: Tensor, n_clusters: int) -> Tensor:
        """Compute the share of neighbours that lie in other clusters, (...).

        The mean over clusters, of labels (..., n_rows): a normalised cut of the graph.
        It needs no labels of classes, and tells good clusters from bad ones whatever
        their shape. An empty cluster counts as cut off wholly.
        """
        flat = labels.reshape(-1, labels.shape[-1]).long()
        found = []
        for of in flat:
            away = (of[self.neighbors.long()] != of.unsqueeze(1)).double().mean(1)
            sizes = of.bincount(minlength=n_clusters)
            total = of.bincount(away, minlength=n_clusters)
            found.append(torch.where(sizes > 0, total / sizes, 1.0).mean())
        return torch.stack(found).reshape(labels.shape[:-1])


@dataclass(frozen=True)
class Copies:
    """A view is an altered copy."""

    alter: Alter

    def pairs(self, source: Source, index: Tensor, rng: torch.Generator) -> Rows:
        """Return rows and their copies."""
        x = dense(source.rows(index))
        return torch.cat([x, altered(self.alter, x, rng)])


def altered(alter: Alter, x: Tensor, rng: torch.Generator) -> Tensor:
    """Alter rows (n, n_features); the callable may be a user's, and wrong."""
    copies = alter(x, rng)
    if not isinstance(copies, Tensor) or copies.shape != x.shape:
        found = tuple(getattr(copies, "shape", ())) or type(copies).__name__
        raise ValueError(
            f"views: the callable returned {found} for rows of shape "
            f"{tuple(x.shape)}; it must return a tensor of that shape."
        )
    return copies.to(x)


def make_views(
    rule: ViewRule,
    source: ArraySource,
    n_clusters: int,
    shape: tuple[int, ...] | None = None,
) -> Views:
    """Find what a rule needs of the data, once for all starts and phases.

    `shape` is that of the image in each row, if there is one.
    """
    if not isinstance(rule, Neighbors):
        return Copies(rule.alter)
    k = rule.n_neighbors
    if k >= source.n_rows:
        raise ValueError(
            f"views: n_neighbors={k} needs more than {k} rows, but X has "
            f"{source.n_rows}. Use fewer neighbours, or views=None."
        )
    nearest = nearest_neighbors(source.X, source.scaling, k, shape)
    mutual = mutual_neighbors(nearest)
    n_steps = rule.n_steps or walk_length(source, mutual, n_clusters)
    return Walks(nearest, mutual, n_steps, rule.alter)


def walk_length(source: Source, mutual: Tensor, n_clusters: int) -> int:
    """Find how many steps a walk needs to get about in its cluster, and no more.

    Rows of few dimensions, of which clusters are wide against the distance of two
    neighbours, need many; of many dimensions few, and longer walks only leave. Steps
    are taken until rows are three quarters as far from where they set out as two rows
    of a cluster are from each other, in the mean of squares; clusters are K-means'.
    """
    rng = torch.Generator().manual_seed(0)
    first = torch.randperm(source.n_rows, generator=rng)[:_WALKERS]
    x = dense(source.rows(first))
    kmeans = KMeans(min(n_clusters, len(x)), n_init=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few distinct rows
        spread = 2.0 * kmeans.fit(x.cpu().numpy()).inertia_ / len(x)
    last = first
    for n_steps in range(1, _LONGEST_WALK):
        last = _step(mutual, last, rng)
        way = (dense(source.rows(last)) - x).square().sum(1).mean()
        if float(way) >= _FAR_ENOUGH * spread:
            return n_steps
    return _LONGEST_WALK


def _step(mutual: Tensor, index: Tensor, rng: torch.Generator) -> Tensor:
    """Go to a mutual neighbour of each row."""
    chosen = torch.randint(mutual.shape[1], index.shape, generator=rng)
    return mutual[index, chosen].long()
