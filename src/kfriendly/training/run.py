"""From a plan and data to a trained model: all starts, and the best of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from kfriendly.errors import TrainingDiverged
from kfriendly.losses import squared
from kfriendly.training.alternating import Alternating, sgd_step
from kfriendly.training.history import Monitor
from kfriendly.training.inference import Evaluation, evaluate
from kfriendly.training.loop import run_phase
from kfriendly.training.plan import Plan, build_state, resume_state, take_start
from kfriendly.training.pretrain import pretrain_end_to_end, pretrain_layers
from kfriendly.training.progress import Keeper, Keeping, Progress, Start, Trained
from kfriendly.training.sources import ArraySource, batches
from kfriendly.training.starts import (
    cluster_latent,
    latent_sample,
    start_from_mixture,
)
from kfriendly.training.state import TrainState
from kfriendly.training.threads import enough_threads
from kfriendly.training.views import Walks, make_views, show_noise

# Parameters of the starts that train together, at most: 16 of the paper's MNIST net.
_STACK_LIMIT = 2**26
# Of the weight of the clustering term, with noise: chosen on texts, docs/noise.md.
_OF_CLUSTERS = 0.3


def train(
    source: ArraySource,
    plan: Plan,
    seeds: list[int],
    monitor: Monitor,
    keeper: Keeper | None = None,
) -> Trained:
    """Train one network a seed and keep the best, chosen without labels.

    Networks that can be stacked train together, as many as memory allows. Batches are
    the same for every start, so together or one by one makes no difference but time.
    With a keeper, training goes on from what it has found.
    """
    found = keeper.found if keeper is not None else None
    results: list[Trained] = []
    if found is not None:
        seeds, results = found.seeds, list(found.done)
        monitor.records.extend(found.records)
    seen = with_views(plan, source, found.walks if found is not None else None)
    walks = seen.joint.views if isinstance(seen.joint.views, Walks) else None
    for group in list(_groups(plan, seeds))[len(results) :]:
        watched = Keeping(monitor, keeper, seeds, walks, list(results))
        results.append(_train_group(source, seen, group, seeds[0], watched, found))
        found = None
    best = min(results, key=lambda trained: min(trained.scores))
    return replace(
        best,
        scores=[score for trained in results for score in trained.scores],
        labels=[labels for trained in results for labels in trained.labels],
    )


def with_views(plan: Plan, source: ArraySource, walks: Walks | None = None) -> Plan:
    """Let pre-training and joint training see views or noise, if any is wanted.

    `walks` are those on a graph that is known already.
    """
    if plan.noise is not None:
        show = partial(show_noise, restore=plan.noise.restore)
        return replace(
            plan,
            objective=replace(plan.objective, noisy=plan.noise.restore),
            pretrain=replace(plan.pretrain, views=show(plan.noise.pretrain)),
            joint=replace(plan.joint, views=show(plan.noise.joint)),
        )
    if plan.views is None:
        return plan
    views = walks or make_views(plan.views, source, plan.n_clusters, plan.shape)
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
    monitor: Keeping,
    found: Progress | None,
) -> Trained:
    """Train stacked starts, or a single one, through all phases or those left."""
    if found is None:
        state, start = build_state(plan, seeds, order_seed), None
    else:
        state, start = resume_state(plan, len(seeds), found.kept), found.start
    source.suit(state.network).keep()
    with enough_threads(state.network, plan.joint.batch_size):
        if start is None:
            pretrain(state, plan, source, monitor)
            start = start_clusters(state, plan, source, seeds)
        monitor.start = start
        align(state, plan, source, start.labels, monitor)
    final = evaluate(state.network, state.cluster, plan.objective, source)
    scores = score_starts(final, plan, source.variance)
    chosen = int(np.argmin(scores))
    history = monitor.records[monitor.n_before :]
    labels = list(np.atleast_2d(final.labels))
    if len(seeds) > 1:
        state = take_start(state, plan, chosen)
        start, final = start.take(chosen), final.take(chosen)
        history = [record.take(chosen) for record in history]
    return Trained(state.keep(), start, final, history, scores, labels)


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
        alone = plan.n_init == 1
        labels = start_from_mixture(
            state, criterion, source, seeds, n_clusters=K, alone=alone
        )
        variance = torch.full_like(variance, plan.n_components)  # white
    lam = torch.full_like(variance, plan.lam or 0.0)
    if plan.lam is None:
        lam = balance(source.variance, variance)
        if plan.objective.noisy and plan.objective.loss is squared:
            # What noise keeps the network from telling is no reason for tight clusters,
            # and of what it tells much is not of clusters.
            told = 1.0 - sae_km.reconstruction / max(source.variance, 1e-30)
            lam = _OF_CLUSTERS * lam * told.clamp(0.01, 1.0)
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
    task = Alternating(plan.objective, plan.rules, plan.n_clusters)
    task.begin(state, labels)
    run_phase(plan.joint, task, state, source, monitor)
    state.labels = state.S = torch.empty(0)  # of use in training alone


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
