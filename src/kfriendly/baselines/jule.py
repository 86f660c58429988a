"""JULE: clusters merged, and an encoder trained on them, in turns."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from kfriendly.baselines.agglomeration import (
    agglomerate,
    find_neighbors,
    first_clusters,
    graph_degree_linkage,
    join_isolated,
)
from kfriendly.defaults import default_batch_size, default_hidden
from kfriendly.networks import MLPFactory
from kfriendly.training.descent import Descent, Optimizer
from kfriendly.training.inference import encode_rows
from kfriendly.training.scaling import Scaling, find_scaling
from kfriendly.training.sources import ArraySource, batches
from kfriendly.training.threads import enough_threads
from kfriendly.validation import check_enough_rows, checked_rows

# Clusters smaller than this share of the mean size are not trained on.
_LEAST_SHARE = 0.1


class JULE(ClusterMixin, BaseEstimator):
    """Joint unsupervised learning: merge clusters and train an encoder in turns.

    Starts from many small groups of nearest neighbours and trains an encoder so that
    these become compact. Each period then merges most clusters, by graph degree linkage
    in the present representation, and trains on, until `n_clusters` are left [1]_.

    A small version of the paper's method, with these differences. The encoder is a
    multi-layer perceptron, not convolutional, so on images expect less than the paper
    reports. Affinity alone decides which pair is merged, without the paper's term for
    the next best clusters, and is exact, where the authors' code adds up parts of it.
    The loss takes negatives from all other clusters, as their code does, and none of
    its rows from clusters of less than a tenth of the mean size. New rows have no
    label: there is no `predict`.

    Graph degree linkage leaves outliers to the end. Small clusters far from all others
    may then be among the last `n_clusters`, while large ones have been merged that
    should not; training can make it worse, as it drives the clusters it is given
    apart, and results differ from seed to seed. Compare with `epochs=0`, and look at
    the sizes of the clusters.

    The agglomeration keeps a table of 8 C^2 bytes for C first clusters. C is about a
    quarter of the rows and at most half, or all rows if `n_clusters` is more than that:
    0.2 GB as a rule and 0.8 GB at most for 20,000 rows and few clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    hidden : tuple of int or "auto"
        Widths of the encoder's hidden layers. "auto" is (128, 64), and (500, 500) for
        more than 256 columns.
    n_components : int
        Size of the representation, whose rows have length one.
    n_neighbors : int
        Edges from each sample in the graph.
    unroll : float
        Share of the clusters that is merged away in a period.
    epochs : int
        Epochs of training at the start and in each period. With 20, as in the paper,
        this encoder drives small clusters apart that belong together, even on blobs.
        Zero leaves the agglomeration alone, all of it in the scaled data.
    margin : float
        By how much a sample's squared distance to another cluster shall exceed that
        to its own.
    recluster : bool
        Agglomerate once more from the start in the final representation, the paper's
        JULE-RC.
    max_rows : int
        Refuse more rows than this: memory grows with the square of their number.
    random_state : int, RandomState instance or None
        Seed of weights, batches and triplets.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    embedding_ : ndarray of shape (n_samples, n_components)
        Representation of each row.
    loss_curve_ : list of float
        Mean triplet loss of each epoch, at the start and in all periods.
    n_iter_ : int
        Number of periods.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they are all strings.

    References
    ----------
    .. [1] J. Yang, D. Parikh, D. Batra, "Joint unsupervised learning of deep
       representations and image clusters", CVPR 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(90, random_state=0, cluster_std=0.5)
    >>> labels = JULE(n_clusters=3, epochs=2, random_state=0).fit_predict(X)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "hidden": ["array-like", StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "unroll": [Interval(Real, 0, 1, closed="neither")],
        "epochs": [Interval(Integral, 0, None, closed="left")],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "recluster": ["boolean"],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hidden: tuple[int, ...] | Literal["auto"] = "auto",
        n_components: int = 160,
        n_neighbors: int = 20,
        unroll: float = 0.9,
        epochs: int = 5,
        margin: float = 0.2,
        recluster: bool = True,
        max_rows: int = 20_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.hidden = hidden
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.unroll = unroll
        self.epochs = epochs
        self.margin = margin
        self.recluster = recluster
        self.max_rows = max_rows
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster. CSR is made dense a batch at a time, never as a whole.
        y : ignored
            Not used: labels play no part.

        Returns
        -------
        self
        """
        self._validate_params()
        rows = checked_rows(self, X, reset=True)
        self._check_number_of_rows(rows.shape[0])
        scaling = find_scaling(rows, "auto")
        learner = self._make_learner(rows, scaling)
        with enough_threads(learner.encoder, learner.batch_size):
            found = self._unroll(learner, _scaled(rows, scaling))
            H = learner.encode()
        self.labels_, self.embedding_ = found.labels, H
        self.loss_curve_, self.n_iter_ = found.losses, found.n_periods
        if self.recluster and found.losses:
            self.labels_ = graph_degree_linkage(
                H, self.n_clusters, n_neighbors=self.n_neighbors
            )
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_number_of_rows(self, n_samples: int) -> None:
        check_enough_rows(n_samples, self.n_clusters)
        if n_samples > self.max_rows:
            gigabytes = 8 * (n_samples / 2) ** 2 / 1e9
            raise ValueError(
                f"X has {n_samples} rows, more than max_rows={self.max_rows}. Fit on "
                f"a sample of the rows, or raise max_rows if there are "
                f"{gigabytes:.1f} GB, what the agglomeration may need."
            )

    def _make_learner(
        self, X: np.ndarray | sp.csr_array, scaling: Scaling
    ) -> "_Learner":
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        generator = torch.Generator().manual_seed(int(seed))
        # Two layers of DCN's: here is no decoder that would need more.
        hidden = default_hidden(X.shape)[:2]
        if not isinstance(self.hidden, str):
            hidden = tuple(self.hidden)
        network = MLPFactory(hidden)(X.shape[1], self.n_components, generator)
        encoder = nn.Sequential(*network.encoder, _UnitLength())
        source = ArraySource(X, scaling, torch.device("cpu"))
        source.keep()
        return _Learner(
            encoder,
            source,
            Descent("adam").optimizer(encoder.parameters()),
            default_batch_size(X),
            self.margin,
            generator,
        )

    def _unroll(self, learner: "_Learner", H: np.ndarray | sp.csr_array) -> "_Unrolled":
        """Merge and train in turns, from the scaled rows `H` on."""
        neighbors = find_neighbors(H, self.n_neighbors)
        labels = first_clusters(neighbors, self.n_clusters)
        losses = self._train(learner, labels)
        n_periods = 0
        while (left := int(labels.max()) + 1) > self.n_clusters:
            if losses:
                H = learner.encode()
                neighbors = find_neighbors(H, self.n_neighbors)
            W = neighbors.graph()
            labels = join_isolated(H, W, labels, self.n_clusters)
            target = min(left - 1, int((1 - self.unroll) * left))
            labels = agglomerate(H, W, labels, max(self.n_clusters, target))
            losses += self._train(learner, labels)
            n_periods += 1
        return _Unrolled(labels, losses, n_periods)

    def _train(self, learner: "_Learner", labels: np.ndarray) -> list[float]:
        """Train for a period; one cluster has no others to be told from."""
        if not labels.any():
            return []
        y = torch.from_numpy(labels).long()
        return [learner.train_epoch(y) for _ in range(self.epochs)]


class _Unrolled(NamedTuple):
    """What all periods left behind."""

    labels: np.ndarray
    losses: list[float]
    n_periods: int


@dataclass(frozen=True)
class _Learner:
    """An encoder and all that training it needs, the same in every period."""

    encoder: nn.Module
    source: ArraySource
    optimizer: Optimizer
    batch_size: int
    margin: float
    generator: torch.Generator

    def encode(self) -> np.ndarray:
        """Represent all rows."""
        return encode_rows(self.encoder, self.source).numpy()

    def train_epoch(self, labels: Tensor) -> float:
        """Go through the rows once; return the mean loss of the pairs met."""
        rows = _rows_to_train(labels)
        order = rows[torch.randperm(rows.numel(), generator=self.generator)]
        total, n_pairs = torch.zeros(()), 0
        for batch in batches(order, self.batch_size):
            H = self.encoder(self.source.rows(batch))
            losses = triplet_losses(H, labels[batch], self.margin)
            if not losses.numel():
                continue
            self.optimizer.clear()
            losses.mean().backward()  # type: ignore[no-untyped-call]
            self.optimizer.step(clip=None, stacked=False)
            total += losses.detach().sum()
            n_pairs += losses.numel()
        return float(total) / max(1, n_pairs)


class _UnitLength(nn.Module):
    """Divide each row by its length."""

    def forward(self, h: Tensor) -> Tensor:
        # A row at the mean of the data is near zero at first. Without a floor its
        # gradient, 1 / length, would be all that Adam sees for a long time.
        return F.normalize(h, dim=-1, eps=1e-2)


def triplet_losses(H: Tensor, labels: Tensor, margin: float) -> Tensor:
    """Compare each pair of one cluster with all samples of others, one value a pair.

    The mean over samples k of other clusters of max(0, |i - j|^2 - |i - k|^2 + margin)
    for the pair (i, j). The paper's text takes negatives from clusters next to i's, its
    authors' code twenty from anywhere in the batch. The former drives small clusters
    apart that belong together and would be merged next.
    """
    lengths = H.square().sum(-1)
    D = lengths[:, None] + lengths - 2.0 * H @ H.mT  # (n, n) squared distances
    same = labels[:, None] == labels
    i, j = same.triu(1).nonzero(as_tuple=True)
    other = ~same[i]  # (n_pairs, n)
    excess = torch.relu(D[i, j, None] - D[i] + margin)
    return (excess * other).sum(-1) / other.sum(-1).clamp_min(1)


def _rows_to_train(labels: Tensor) -> Tensor:
    """Leave out clusters of less than a tenth of the mean size; not in the paper.

    They are outliers of a large cluster as a rule. Training would drive them away from
    it for good; left out, they mostly follow the rows that they resemble.
    """
    sizes = labels.bincount()
    least = _LEAST_SHARE * labels.numel() / sizes.numel()
    return torch.nonzero(sizes[labels] >= least).squeeze(-1)


def _scaled(
    X: np.ndarray | sp.csr_array, scaling: Scaling
) -> np.ndarray | sp.csr_array:
    """Scale rows for distances; these do not need the mean, which would fill CSR."""
    if sp.issparse(X):
        return sp.csr_array(X @ sp.diags_array(1.0 / scaling.size))
    return np.asarray((X - scaling.mean) / scaling.size)
