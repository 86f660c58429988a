"""Batches with views: the samples first, then a view of each, in the same order."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from kfriendly.sparse_rows import Rows, SparseRows, dense, join
from kfriendly.training.neighbors import (
    mutual_neighbors,
    nearest_neighbors,
    share_cut,
)
from kfriendly.training.sources import ArraySource, Source
from kfriendly.views import Alter, DropWords, Neighbors, ViewRule

# How long walks are: see `walk_length`.
_WALKERS = 2_000
_MOST_VALUES = 2**24  # of their rows, 64 MiB; but 200 rows at least
_FAR_ENOUGH = 0.8
_FARTHER = 1.1
_LONGEST_WALK = 2**13

# Which rows -> they, and then a view of each, (2 n, n_features); or what stands for
# them, (n, n_features).
Pairs = Callable[[Tensor], Rows]


class Views(Protocol):
    """Where views come from."""

    def draw(self, source: Source, rng: torch.Generator) -> Pairs:
        """Draw the views of an epoch."""


@dataclass(frozen=True)
class Walks:
    """A view is the row where a walk from neighbour to neighbour ends, or a copy."""

    mutual: Tensor  # (n_rows, k)
    n_steps: int
    alter: Alter | None = None

    def draw(self, source: Source, rng: torch.Generator) -> Pairs:
        """Let a walk set out from every row."""
        ends = walk(self.mutual, self.n_steps, rng)

        def pairs(index: Tensor) -> Rows:
            x = source.rows(torch.cat([index, ends[index]]))
            if self.alter is None:
                return x
            n = len(index)
            return beside(x[:n], x[n:], self.alter, rng)

        return pairs

    def cut(self, labels: Tensor, n_clusters: int) -> Tensor:
        """Compute the share of walks that end in other clusters, (...).

        One sets out from each row by way of each neighbour, the same for all labels.
        Neighbours alone would let a digit that is written in two ways pass for two.
        """
        rng = torch.Generator().manual_seed(0)
        ends = walk(self.mutual, self.n_steps - 1, rng, self.mutual)  # (n_rows, k)
        return share_cut(ends, labels, n_clusters)


@dataclass(frozen=True)
class Copies:
    """A view is an altered copy."""

    alter: Alter

    def draw(self, source: Source, rng: torch.Generator) -> Pairs:
        """Alter every row when its turn comes."""

        def pairs(index: Tensor) -> Rows:
            x = source.rows(index)
            return beside(x, x, self.alter, rng)

        return pairs


@dataclass(frozen=True)
class Instead:
    """Altered copies stand for the rows, of which nothing else is seen."""

    alter: Alter

    def draw(self, source: Source, rng: torch.Generator) -> Pairs:
        """Alter every row when its turn comes."""
        return lambda index: altered(self.alter, source.rows(index), rng)


def show_noise(alter: Alter | None, *, restore: bool) -> Views | None:
    """Tell what the network sees: a copy beside the sample to restore, or instead."""
    if restore:
        return Copies(alter or _as_it_is)
    return None if alter is None else Instead(alter)


def _as_it_is(x: Tensor, rng: torch.Generator) -> Tensor:
    return x


def beside(own: Rows, views: Rows, alter: Alter, rng: torch.Generator) -> Rows:
    """Put altered views below their samples."""
    views = altered(alter, views, rng)
    return join(own if isinstance(views, SparseRows) else dense(own), views)


def altered(alter: Alter, x: Rows, rng: torch.Generator) -> Rows:
    """Alter rows (n, n_features); the callable may be a user's, and wrong.

    It takes dense rows; only words are lost of sparse ones.
    """
    if not isinstance(alter, DropWords):
        x = dense(x)
    copies = alter(x, rng)
    if isinstance(copies, SparseRows):
        return copies
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
    a_quarter = max(2, source.n_rows // (4 * n_clusters))  # of a cluster on average
    mutual = mutual_neighbors(nearest, a_quarter)
    n_steps = rule.n_steps or walk_length(source, mutual, n_clusters)
    return Walks(mutual, n_steps, rule.alter)


def walk_length(source: Source, mutual: Tensor, n_clusters: int) -> int:
    """Find how many steps a walk needs to get about in its cluster, and no more.

    Along a line or across a plane it takes many; in many dimensions few, and longer
    walks only leave the cluster. Steps are doubled as long as that takes rows a tenth
    farther, and not yet four fifths as far as two rows of a cluster are from each
    other, in the mean of squares; clusters are K-means'. Rows of words, where some are
    near to all, get no farther from the first step on.
    """
    rng = torch.Generator().manual_seed(0)
    first = torch.randperm(source.n_rows, generator=rng)[:_WALKERS]
    n_columns = dense(source.rows(first[:1])).shape[1]
    first = first[: max(200, _MOST_VALUES // n_columns)]
    x = dense(source.rows(first))
    kmeans = KMeans(min(n_clusters, len(x)), n_init=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few distinct rows
        spread = 2.0 * kmeans.fit(x.cpu().numpy()).inertia_ / len(x)

    def way(reach: Tensor) -> float:
        last = reach[first, 0].long()
        ways = (dense(source.rows(last)) - x).square().sum(1)
        return float(ways.sum() / (last != first).sum().clamp_min(1))  # not back home

    n_steps, reach, gone = 1, mutual, way(mutual)
    while n_steps < _LONGEST_WALK:
        reach = _go(reach, reach, rng)
        before, gone = gone, way(reach)
        if gone >= _FAR_ENOUGH * spread or gone < _FARTHER * before:
            break
        n_steps *= 2
    return n_steps


def walk(
    mutual: Tensor, n_steps: int, rng: torch.Generator, at: Tensor | None = None
) -> Tensor:
    """Walk from every row, or from those given, and return where each walk ends.

    Two walks of t steps are one of 2 t: `reach` (n_rows, k) holds ends of walks of 1,
    2, 4, ... steps, so that long walks cost little more than short ones.
    """
    at, reach = torch.arange(len(mutual)) if at is None else at, mutual
    while True:
        if n_steps % 2:
            at = _go(reach, at, rng)
        n_steps //= 2
        if not n_steps:
            return at.long()
        reach = _go(reach, reach, rng)


def _go(reach: Tensor, at: Tensor, rng: torch.Generator) -> Tensor:
    """Go from rows to one of those they reach, each at random."""
    chosen = torch.randint(reach.shape[1], at.shape, generator=rng)
    return reach[at.long(), chosen]
