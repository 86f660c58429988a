"""Choosing the number of clusters without labels.

One pre-training serves every K: the autoencoder does not know of clusters yet. From
there each K is trained from several starts, and three things are measured: the cost,
how well the clusters stand apart in the space that all K share, and how far the starts
agree. Splitting a real cluster, or joining two, can be done in many ways, so that
starts disagree where K is wrong.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from torch import Tensor

from kfriendly.defaults import make_plan, resolve_scale
from kfriendly.estimator import DCN
from kfriendly.metrics import silhouette, stability
from kfriendly.training.history import Monitor, Recorder
from kfriendly.training.inference import encode_rows, evaluate
from kfriendly.training.plan import Plan, build_state
from kfriendly.training.run import align, pretrain, start_clusters, with_views
from kfriendly.training.scaling import find_scaling
from kfriendly.training.sources import ArraySource
from kfriendly.training.state import TrainState
from kfriendly.training.threads import enough_threads
from kfriendly.validation import check_enough_rows, checked_rows

# Numbers at which starts disagree by at most a tenth more than at the best, or by about
# a twentieth, are taken for equal: other seeds change as much. Set on the data sets of
# docs/command-line.md, so not proven by them.
_TIE, _LITTLE = 1.1, 0.05
# Below this the starts hardly agree on anything.
_UNRELIABLE = 0.5


class SweepPoint(NamedTuple):
    """What was found for one number of clusters; means over the starts.

    `cost` is the share of the learned space's variance that lies within clusters.
    `silhouette` is measured in the pre-trained space, which is the same for all K.
    `stability` is the adjusted Rand index of two starts. `labels` are those of the
    start of the lowest cost.
    """

    n_clusters: int
    cost: float
    silhouette: float
    stability: float
    smallest: int
    labels: np.ndarray


@dataclass(frozen=True)
class Sweep:
    """All points, and the one to take.

    Attributes
    ----------
    points : list of SweepPoint
    n_components : int
        Size of the space that all K share.
    n_networks : int
        Networks that were pre-trained.
    joint_epochs : int
        Epochs of joint training for each K; zero leaves the first clusters as they are.
    """

    points: list[SweepPoint]
    n_components: int
    n_networks: int
    joint_epochs: int

    @property
    def suggestion(self) -> int | None:
        """The number of clusters to take; None if no number stands out."""
        best = self._best()
        return best.n_clusters if best.stability >= _UNRELIABLE else None

    @property
    def reason(self) -> str:
        """Why, in words."""
        best = self._best()
        top = max(point.stability for point in self.points)
        if self.suggestion is None:
            return (
                f"No number of clusters stands out: at best, K = {best.n_clusters}, "
                f"two starts agree to {top:.2f} only, where 1 is the same clusters and "
                "0 is chance. There may be no clusters here."
            )
        ties = [point.n_clusters for point in self._candidates()]
        if len(ties) == 1:
            return (
                f"At K = {best.n_clusters} starts agree best: {best.stability:.2f}, "
                "where 1 is the same clusters and 0 is chance."
            )
        return (
            f"Starts agree best, and about equally, at K = {_listed(ties)} "
            f"({best.stability:.2f} of 1 at {best.n_clusters}); of these the clusters "
            f"of K = {best.n_clusters} stand apart best (silhouette "
            f"{best.silhouette:.2f})."
        )

    def _candidates(self) -> list[SweepPoint]:
        least = min(1.0 - point.stability for point in self.points)
        most = _TIE * least + _LITTLE
        return [point for point in self.points if 1.0 - point.stability <= most]

    def _best(self) -> SweepPoint:
        return max(self._candidates(), key=lambda point: point.silhouette)


def _listed(numbers: list[int]) -> str:
    """Write numbers as in a sentence: 2, 3 and 5."""
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def sweep_clusters(
    model: DCN,
    X: ArrayLike,
    n_clusters: Sequence[int],
    *,
    n_starts: int = 4,
    monitor: Monitor | None = None,
    tell: Callable[[SweepPoint], None] = lambda point: None,
) -> Sweep:
    """Cluster `X` into each number of clusters and measure how well it fits.

    Parameters
    ----------
    model : DCN
        Parameters to train with; it is not changed. `n_components="auto"` is that of a
        fit of the middle of `n_clusters`. `max_epochs="auto"` is as in a fit for small
        networks, and zero for those of more than 256 columns, where it would take
        hours. `n_init` is how many networks are pre-trained; with one, starts differ in
        their first clusters only.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_clusters : sequence of int
        Numbers of clusters, at least 2.
    n_starts : int
        Starts for each number, at least 2.
    monitor : Monitor or None
        Told of the epochs of pre-training.
    tell : callable
        Told of each point when it is known.

    Examples
    --------
    >>> from kfriendly import DCN
    >>> from kfriendly.datasets import make_sigmoid_sigmoid
    >>> from kfriendly.sweep import sweep_clusters
    >>> X, y = make_sigmoid_sigmoid(100, random_state=0)
    >>> model = DCN(pretrain_epochs=5, max_epochs=5, random_state=0)
    >>> [point.n_clusters for point in sweep_clusters(model, X, [2, 4]).points]
    [2, 4]
    """
    numbers = sorted(set(n_clusters))
    if not numbers or numbers[0] < 2:
        raise ValueError(f"n_clusters={list(n_clusters)} must all be 2 or more.")
    if n_starts < 2:
        raise ValueError(f"n_starts={n_starts} must be 2 or more: starts are compared.")
    shared = _Shared(model, X, numbers, n_starts, monitor or Recorder())
    points = []
    for K in numbers:
        points.append(shared.point(K))
        tell(points[-1])
    plan = shared.plan
    return Sweep(points, plan.n_components, shared.n_networks, plan.joint.n_epochs)


class _Shared:
    """What every K starts from: the data, and networks after pre-training."""

    def __init__(
        self,
        model: DCN,
        X: ArrayLike,
        numbers: Sequence[int],
        n_starts: int,
        monitor: Monitor,
    ) -> None:
        model = clone(model).set_params(n_clusters=numbers[-1])
        model._validate_params()
        rows = checked_rows(model, X, reset=True)
        check_enough_rows(rows.shape[0], numbers[-1])
        plan = _plan(model, rows, numbers, n_starts)
        rule = resolve_scale(model.get_params(deep=False), rows)
        self._source = ArraySource(rows, find_scaling(rows, rule), plan.device)
        self.plan = with_views(plan, self._source)
        rng = check_random_state(model.random_state)
        self._seeds = rng.randint(2**31 - 1, size=n_starts).tolist()
        self.n_networks = self.plan.n_init
        state = self._fresh_state()
        self._source.suit(state.network).keep()
        with enough_threads(state.network, self.plan.pretrain.batch_size):
            pretrain(state, self.plan, self._source, monitor)
        self._state = state
        H = encode_rows(state.network, self._source).cpu().numpy()  # (..., n, R)
        self._H = H if H.ndim == 3 else H[None]

    def _fresh_state(self) -> TrainState:
        """Make the networks; those that cannot be stacked are one."""
        seeds = self._seeds
        network = build_state(self.plan, seeds[:1], seeds[0]).network
        if not network.stackable or self.n_networks == 1:
            self.n_networks = 1
            return build_state(self.plan, seeds[:1], seeds[0])
        return build_state(self.plan, seeds, seeds[0])

    def point(self, K: int) -> SweepPoint:
        """Cluster into K from every start and measure."""
        plan = replace(self.plan, n_clusters=K)
        labels, cost = _run(self._state, plan, self._source, self._seeds)
        spaces = [self._H[i % len(self._H)] for i in range(len(labels))]
        apart = [silhouette(H, of) for H, of in zip(spaces, labels, strict=True)]
        best = labels[int(np.argmin(cost))]
        return SweepPoint(
            K,
            cost=float(np.mean(cost)),
            silhouette=float(np.nanmean(apart)) if np.any(np.isfinite(apart)) else 0.0,
            stability=stability(list(labels)),
            smallest=int(np.bincount(best, minlength=K).min()),
            labels=best,
        )


def _plan(model: DCN, rows: np.ndarray, numbers: Sequence[int], n_starts: int) -> Plan:
    """Resolve the parameters for all K at once."""
    params = model.get_params(deep=False)
    plan = make_plan(params, rows)
    if params["n_components"] == "auto":
        middle = numbers[len(numbers) // 2]
        of_middle = {**params, "n_clusters": middle, "views": plan.views}
        R = make_plan(of_middle, rows).n_components
        plan = replace(plan, n_components=R)
    wide = plan.n_init == 1
    if params["max_epochs"] == "auto" and wide:
        plan = replace(plan, joint=replace(plan.joint, n_epochs=0))
    return replace(plan, n_init=1 if wide else n_starts)


def _run(
    state: TrainState, plan: Plan, source: ArraySource, seeds: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Train copies of the pre-trained networks; return each start's labels and cost."""
    if state.network.stackable:
        return _train(_copies(state, plan, seeds), plan, source, seeds)
    one_by_one = [
        _train(_copies(state, plan, [seed]), plan, source, [seed]) for seed in seeds
    ]
    labels, cost = zip(*one_by_one, strict=True)
    return np.concatenate(labels), np.concatenate(cost)


def _train(
    state: TrainState, plan: Plan, source: ArraySource, seeds: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    with enough_threads(state.network, plan.joint.batch_size):
        # The mixture is left out where no epochs follow; here they may not.
        at_least_one = replace(plan, joint=replace(plan.joint, n_epochs=1))
        start = start_clusters(state, at_least_one, source, seeds)
        labels = start.labels
        if plan.joint.n_epochs:
            align(state, plan, source, start.labels, Recorder())
    final = evaluate(state.network, state.cluster, plan.objective, source)
    if plan.joint.n_epochs:
        labels = final.labels
    tiny = torch.finfo(torch.float64).tiny
    cost: Tensor = final.clustering / final.latent_variance.clamp_min(tiny)
    return np.atleast_2d(labels), np.atleast_1d(cost.cpu().numpy())


def _copies(state: TrainState, plan: Plan, seeds: Sequence[int]) -> TrainState:
    """Copy the networks, one a seed; a single one is copied for every seed."""
    network = copy.deepcopy(state.network)
    stacked = len(seeds) > 1
    if stacked and not state.lam.dim():
        network = network.stack([copy.deepcopy(network) for _ in seeds])
    return TrainState(
        network,
        plan.joint.descent.optimizer(network.parameters()),
        rng=torch.Generator().manual_seed(seeds[0]),
        lam=torch.zeros((len(seeds),) if stacked else (), device=plan.device),
    )
