"""Algorithm 1: network, assignment and centres, in turn, batch after batch."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from kfriendly.criteria import converge, reseed
from kfriendly.sparse_rows import Rows
from kfriendly.training.inference import BLOCK
from kfriendly.training.objective import Cost, Means, Objective
from kfriendly.training.sources import Source
from kfriendly.training.starts import latent_sample
from kfriendly.training.state import TrainState

EmptyPolicy = Literal["keep", "reseed"]
AssignmentRule = Literal["current", "stored"]


class StepResult(NamedTuple):
    """Mean costs before the step, and the assignment after it."""

    means: Means
    S: Tensor  # (..., n, K)


@dataclass(frozen=True)
class JointRules:
    """What Algorithm 1 leaves open.

    Parameters
    ----------
    ramp : float
        Share of the phase over which lambda rises from zero to its value.
    hold : float
        Share of the phase in which only the network moves, and rows and centres stay
        where the start has put them.
    assignment : {"current", "stored"}
        Whether Eq. (5) uses each row's nearest cluster now, or of its last visit.
    refresh_every : int or None
        Epochs after which the criterion is run to convergence on all latent samples.
    empty_cluster : {"keep", "reseed"}
        What happens to a cluster that had no sample in an epoch.
    clip : float or None
        Largest norm of a start's gradient.
    encode_again : bool
        Whether Eqs. (7) and (8) see the batch through the network as it is after
        Eq. (6), as printed, which takes a sixth more arithmetic, or as it was before.
    """

    ramp: float = 0.0
    hold: float = 0.0
    assignment: AssignmentRule = "current"
    refresh_every: int | None = None
    empty_cluster: EmptyPolicy = "reseed"
    clip: float | None = None
    encode_again: bool = False


def sgd_step(
    state: TrainState,
    x: Rows,
    objective: Objective,
    rules: JointRules,
    *,
    lam: Tensor,
    S: Tensor | None = None,
) -> StepResult:
    """Take one step of Algorithm 1 on a batch, under `torch.no_grad()`.

    `S` holds the assignment of each row from its last visit, as in the authors' code;
    without it rows go to their nearest clusters first, which needs no memory of rows
    and so works online.
    """
    cost = network_step(state, x, objective, rules, lam=lam, S=S)  # Eq. (6)
    criterion = objective.criterion
    H = state.network.encode(x) if rules.encode_again else cost.H  # (..., n, R)
    known = S is None and not rules.encode_again
    S = cost.S if known else criterion.assign(H, state.cluster)  # Eq. (7)
    stats = criterion.statistics(H, S)
    state.cluster = criterion.update(state.cluster, stats)  # Eq. (8)
    return StepResult(cost.means(lam), S)


def network_step(
    state: TrainState,
    x: Rows,
    objective: Objective,
    rules: JointRules,
    *,
    lam: Tensor,
    S: Tensor | None,
) -> Cost:
    """Move the network alone, Eq. (6); return the costs before the step."""
    state.optimizer.clear()
    cost = objective.differentiate(
        state.network, x, state.cluster, lam=lam, S=S
    )  # Eq. (5)
    state.optimizer.step(clip=rules.clip, stacked=lam.dim() > 0)  # Eq. (6)
    return cost


class Alternating:
    """Algorithm 1 over many epochs; `state.labels` is its memory of rows.

    Parameters
    ----------
    objective : Objective
    rules : JointRules
    K : int
        Number of clusters.
    """

    def __init__(self, objective: Objective, rules: JointRules, K: int) -> None:
        self.loss = objective.pretraining_loss
        self._objective = objective
        self._rules = rules
        self._K = K
        # Of the epoch under way; the state has those of the last one: if this one
        # diverges, it is run again and nothing of it must remain.
        self._labels = torch.empty(0)  # (..., n_rows)
        self._S = torch.empty(0)  # (..., n_rows, K) if assignments are stored

    def begin(self, state: TrainState, labels: np.ndarray) -> None:
        """Give the rows their first clusters, (..., n_rows)."""
        state.labels = torch.from_numpy(labels)
        if self._rules.assignment == "stored":
            state.S = F.one_hot(state.labels.long(), self._K).float()

    def step(self, state: TrainState, x: Rows, index: Tensor, progress: float) -> Means:
        """Train on a batch and remember where its rows went."""
        rules, objective = self._rules, self._objective
        stores = rules.assignment == "stored"
        if not self._labels.numel():
            self._labels, self._S = state.labels.clone(), state.S.clone()
        lam = state.lam
        if progress < rules.ramp:
            lam = lam * (progress / rules.ramp)
        if progress < rules.hold:
            S = F.one_hot(state.labels[..., index].long(), self._K).to(state.lam)
            cost = network_step(state, x, objective, rules, lam=lam, S=S)
            return cost.means(lam)
        stored = state.S[..., index, :].to(state.lam) if stores else None
        means, S = sgd_step(state, x, objective, rules, lam=lam, S=stored)
        labels = S.max(-1).indices  # much quicker than argmax
        self._labels.index_copy_(-1, index, labels.int().cpu())
        if stores:
            self._S[..., index, :] = S.cpu()
        return means

    def end_epoch(self, state: TrainState, source: Source) -> dict[str, np.ndarray]:
        """Count, refresh and reseed clusters; return sizes, changes and empties."""
        labels = self._labels
        changed = (labels != state.labels).float().mean(-1)
        state.labels, state.S = labels.clone(), self._S.clone()
        each = [
            of.bincount(minlength=self._K) for of in labels.view(-1, labels.shape[-1])
        ]
        sizes = torch.stack(each).view(*labels.shape[:-1], self._K)
        empty = sizes == 0  # (..., K)
        if self._rules.empty_cluster == "reseed" and bool(empty.any()):
            self._reseed(state, source, empty)
        every = self._rules.refresh_every
        if every and (state.epoch + 1) % every == 0:
            H = latent_sample(state, source)
            state.cluster = converge(self._objective.criterion, H, state.cluster)
        return {
            "sizes": sizes.numpy(),
            "changed": changed.numpy(),
            "empty": empty.sum(-1).numpy(),
        }

    def _reseed(self, state: TrainState, source: Source, empty: Tensor) -> None:
        """Move centres without samples to the samples that fit their own worst."""
        H = latent_sample(state, source, max_rows=2 * BLOCK)
        criterion = self._objective.criterion
        cost = criterion.cost(H, criterion.assign(H, state.cluster), state.cluster)
        worst = cost.topk(self._K, dim=-1).indices  # (..., K)
        rows = worst.unsqueeze(-1).expand(*worst.shape, H.shape[-1])
        state.cluster = reseed(state.cluster, empty.to(H.device), H.gather(-2, rows))
