"""From a plan and data to a trained model: all starts, and the best of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from kfriendly.criteria import State
from kfriendly.errors import TrainingDiverged
from kfriendly.networks import NetworkFactory
from kfriendly.training.alternating import (
    Alternating,
    JointRules,
    sgd_step,
)
from kfriendly.training.history import EpochRecord, Monitor
from kfriendly.training.inference import Evaluation, evaluate
from kfriendly.training.loop import Phase, run_phase
from kfriendly.training.objective import Objective
from kfriendly.training.pretrain import pretrain_end_to_end, pretrain_layers
from kfriendly.training.sources import ArraySource, batches
from kfriendly.training.starts import (
    InitRule,
    cluster_latent,
    latent_sample,
    start_from_mixture,
)
from kfriendly.training.state import TrainState
from kfriendly.training.threads import enough_threads
from kfriendly.training.views import Walks, make_views
from kfriendly.views import ViewRule

# Parameters of the starts that train together, at most: 16 of the paper's MNIST net.
_STACK_LIMIT = 2**26


@dataclass(frozen=True)
class Plan:
    """Every choice of a fit, resolved.

    Only `lam` may be left open: None is set after pre-training, see `balance`.
    """

    build: NetworkFactory
    n_features: int
    n_components: int
    n_clusters: int
    n_init: int
    objective: Objective
    init: InitRule
    lam: float | None
    layers: Phase
    pretrain: Phase
    joint: Phase
    rules: JointRules
    device: torch.device
    views: ViewRule | None = None


class Start(NamedTuple):
    """SAE+KM, and the labels and latent variance that joint training starts from."""

    sae_km: Evaluation
    labels: np.ndarray  # (..., n_rows)
    variance: Tensor  # (...)

    def take(self, start: int) -> "Start":
        """Keep the values of one start."""
        return Start(self.sae_km.take(start), self.labels[start], self.variance[start])


@dataclass(frozen=True)
class Trained:
    """The best of the starts, and what is worth knowing of the others.

    Attributes
    ----------
    state : TrainState
        Network and clusters of the best start.
    start : Start
        SAE+KM, and what its joint training started from.
    final : Evaluation
        The same after joint training.
    history : list of EpochRecord
        Its epochs.
    scores : list of float
        What the choice went by, for every start; the smallest won.
    labels : list of ndarray
        Final labels of every start.
    """

    state: TrainState
    start: Start
    final: Evaluation
    history: list[EpochRecord]
    scores: list[float]
    labels: list[np.ndarray]


def train(
    source: ArraySource, plan: Plan, seeds: Sequence[int], monitor: Monitor
) -> Trained:
    """Train one network a seed and keep the best by the final objective.

    Networks that can be stacked train together, as many as memory allows. Batches are
    the same for every start, so together or one by one makes no difference but time.
    """
    seen = with_views(plan, source)
    results = [
        _train_group(source, seen, group, seeds[0], monitor)
        for group in _groups(plan, seeds)
    ]
    best = min(results, key=lambda trained: min(trained.scores))
    return Trained(
        best.state,
        best.start,
        best.final,
        best.history,
        scores=[score for trained in results for score in trained.scores],
        labels=[labels for trained in results for labels in trained.labels],
    )


def with_views(plan: Plan, source: ArraySource) -> Plan:
    """Let pre-training and joint training see views, if any are wanted."""
    if plan.views is None:
        return plan
    views = make_views(plan.views, source)
    weight = plan.views.contrast * source.variance
    return replace(
        plan,
        objective=replace(plan.objective, contrast=weight),
        pretrain=replace(plan.pretrain, views=views),
        joint=replace(plan.joint, views=views),
    )


def _groups(plan: Plan, seeds: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split the starts into groups that train together."""
    network = plan.build(plan.n_features, plan.n_components, torch.Generator())
    size = 1
    if network.stackable:
        n_parameters = sum(p.numel() for p in network.parameters())
        size = max(1, _STACK_LIMIT // n_parameters)
    for first in range(0, len(seeds), size):
        yield seeds[first : first + size]


def _train_group(
    source: ArraySource,
    plan: Plan,
    seeds: Sequence[int],
    order_seed: int,
    monitor: Monitor,
) -> Trained:
    """Train stacked starts, or a single one, through all phases."""
    n_records = len(monitor.records)
    state = build_state(plan, seeds, order_seed)
    source.suit(state.network).keep()
    with enough_threads(state.network, plan.joint.batch_size):
        pretrain(state, plan, source, monitor)
        start = start_clusters(state, plan, source, seeds)
        align(state, plan, source, start.labels, monitor)
    final = evaluate(state.network, state.cluster, plan.objective, source)
    scores = score_starts(final, plan, source.variance)
    chosen = int(np.argmin(scores))
    history = monitor.records[n_records:]
    labels = list(np.atleast_2d(final.labels))
    if len(seeds) > 1:
        state = take_start(state, plan, chosen)
        start, final = start.take(chosen), final.take(chosen)
        history = [record.take(chosen) for record in history]
    return Trained(state, start, final, history, scores, labels)


def build_state(plan: Plan, seeds: Sequence[int], order_seed: int) -> TrainState:
    """Make fresh networks, stacked if there are several."""
    shape = (plan.n_features, plan.n_components)
    networks = [
        plan.build(*shape, torch.Generator().manual_seed(seed)) for seed in seeds
    ]
    stacked = len(networks) > 1
    network = networks[0].stack(networks) if stacked else networks[0]
    network.to(plan.device)
    return TrainState(
        network,
        plan.joint.descent.optimizer(network.parameters()),
        rng=torch.Generator().manual_seed(order_seed),
        lam=torch.zeros((len(seeds),) if stacked else (), device=plan.device),
    )


def pretrain(
    state: TrainState, plan: Plan, source: ArraySource, monitor: Monitor
) -> None:
    """Initialise the network: layer by layer, then end to end."""
    if plan.layers.n_epochs:
        pretrain_layers(state, source, plan.objective, plan.layers, monitor)
    if plan.pretrain.n_epochs:
        pretrain_end_to_end(state, source, plan.objective, plan.pretrain, monitor)


def start_clusters(
    state: TrainState, plan: Plan, source: ArraySource, seeds: Sequence[int]
) -> Start:
    """Cluster the bottleneck and set lambda."""
    criterion, K = plan.objective.criterion, plan.n_clusters
    H = latent_sample(state, source)
    state.cluster = cluster_latent(criterion, H, K, seeds)
    sae_km = evaluate(state.network, state.cluster, plan.objective, source)
    labels, variance = sae_km.labels, sae_km.latent_variance
    if plan.init == "mixture" and plan.joint.n_epochs:
        labels = start_from_mixture(state, criterion, source, seeds, n_clusters=K)
        variance = torch.full_like(variance, plan.n_components)  # white
    lam = torch.full_like(variance, plan.lam or 0.0)
    if plan.lam is None:
        lam = balance(source.variance, variance)
    state.lam = lam.to(state.lam)
    return Start(sae_km, labels, variance)


def align(
    state: TrainState,
    plan: Plan,
    source: ArraySource,
    labels: np.ndarray,
    monitor: Monitor,
) -> None:
    """Train network and clusters together, Algorithm 1."""
    state.optimizer = plan.joint.descent.optimizer(state.network.parameters())
    task = Alternating(plan.objective, plan.rules, labels, plan.n_clusters)
    run_phase(plan.joint, task, state, source, monitor)


@torch.no_grad()
def pass_once(state: TrainState, plan: Plan, source: ArraySource) -> None:
    """Run Algorithm 1 over the rows in order, once; on divergence nothing changes."""
    before = state.snapshot()
    state.network.train()
    finite = torch.ones((), dtype=torch.bool)
    for index in batches(torch.arange(source.n_rows), plan.joint.batch_size):
        state.optimizer.rate = plan.joint.descent.rate(state.step, None)
        x = source.rows(index)
        result = sgd_step(state, x, plan.objective, plan.rules, lam=state.lam)
        finite &= result.means.objective.isfinite().cpu()
        state.step += 1
    if not finite:
        state.restore(before)
        raise TrainingDiverged(
            "The objective became infinite or NaN in this chunk; the model is as it "
            "was before. Look for outliers in it, or use a smaller learning rate."
        )


def balance(data_variance: float, latent_variance: Tensor) -> Tensor:
    """Set lambda so that Eq. (4) weighs both terms by the variance they explain.

    With lam/2 = Var(x)/Var(h) the objective is Var(x) times (the share of the data's
    variance that is lost + the share of the latent variance within clusters): a change
    of units of either changes nothing.
    """
    smallest = 1e-30 * max(data_variance, 1e-30)  # of a latent space that is a point
    lam = 2.0 * data_variance / latent_variance.clamp_min(smallest)
    return torch.where(latent_variance > smallest, lam, 0.0)


def score_starts(final: Evaluation, plan: Plan, data_variance: float) -> list[float]:
    """Score starts without labels: by the cut if there is a graph, else by Eq. (4)."""
    if isinstance(plan.joint.views, Walks):
        labels = torch.from_numpy(final.labels)
        scores = plan.joint.views.cut(labels, plan.n_clusters)
    else:
        scores = selection_score(final, data_variance)
    return [float(score) for score in scores.reshape(-1)]


def selection_score(final: Evaluation, data_variance: float) -> Tensor:
    """Score starts by Eq. (4) in shares of variance, smaller is better.

    The final latent variance is used, not that at the start: a start must not win by
    shrinking its space.
    """
    tiny = torch.finfo(torch.float64).tiny
    lost = final.reconstruction / max(data_variance, tiny)
    within = final.clustering / final.latent_variance.clamp_min(tiny)
    return lost + within


def take_start(state: TrainState, plan: Plan, start: int) -> TrainState:
    """Copy one start out of many, with an optimiser of its own."""
    network = state.network.take(start)
    optimizer = plan.joint.descent.optimizer(network.parameters())
    cluster: State = type(state.cluster)(*(field[start] for field in state.cluster))
    return TrainState(
        network, optimizer, state.rng, state.lam[start], cluster, state.step
    )
