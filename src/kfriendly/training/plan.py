"""Every choice of a fit, and the state of training that follows from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kfriendly.criteria import State
from kfriendly.networks import NetworkFactory
from kfriendly.networks.whitened import Whitened
from kfriendly.training.alternating import JointRules
from kfriendly.training.loop import Phase
from kfriendly.training.objective import Objective
from kfriendly.training.starts import InitRule
from kfriendly.training.state import Kept, TrainState, check_like
from kfriendly.views import Noise, ViewRule


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
    noise: Noise | None = None
    shape: tuple[int, ...] | None = None  # of the image in each row


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


def take_start(state: TrainState, plan: Plan, start: int) -> TrainState:
    """Copy one start out of many, with an optimiser of its own."""
    network = state.network.take(start)
    optimizer = plan.joint.descent.optimizer(network.parameters())
    cluster: State = type(state.cluster)(*(field[start] for field in state.cluster))
    return TrainState(
        network, optimizer, state.rng, state.lam[start], cluster, state.step
    )


def rebuild_state(plan: Plan, n_starts: int, kept: Kept) -> TrainState:
    """Make the state that was kept, with the optimiser of joint training.

    Raises ValueError if it is not one of this plan.
    """
    state = build_state(plan, [0] * n_starts, 0)
    if kept.whitened:
        R = plan.n_components
        nowhere = torch.zeros(*state.lam.shape, 1, R, device=plan.device)
        state.network = Whitened(state.network, nowhere)
    for name, p in state.network.named_parameters():
        if p.dim() >= 2:
            p.data = _laid(p.data, transposed=name in kept.transposed)
    state.optimizer = plan.joint.descent.optimizer(state.network.parameters())
    fresh = state.snapshot()
    # A part that was added to the state after it was written is as in a fresh one.
    saved = {**fresh, **_on_device(kept.snapshot, plan.device)}
    open_parts = {name: fresh[name] for name in ("cluster", "labels", "S")}
    check_like(fresh, {**saved, **open_parts})
    state.restore(saved)
    return state


def resume_state(plan: Plan, n_starts: int, kept: Kept) -> TrainState:
    """Make the state that was kept; its optimiser comes back with its phase."""
    rest = {name: v for name, v in kept.snapshot.items() if name != "optimizer"}
    state = rebuild_state(plan, n_starts, kept._replace(snapshot=rest))
    state.resumed = _on_device(kept.snapshot, plan.device)
    return state


def _on_device(snapshot: dict[str, Any], device: torch.device) -> dict[str, Any]:
    """Move a snapshot to the device, but for what is always in main memory."""
    home = {name: snapshot[name] for name in ("rng", "labels", "S") if name in snapshot}
    return {**_moved(snapshot, device), **home}


def _laid(W: torch.Tensor, *, transposed: bool) -> torch.Tensor:
    return W.mT.contiguous().mT if transposed else W.contiguous()


def _moved(value: Any, device: torch.device) -> Any:
    """Move all tensors in a value to the device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _moved(part, device) for key, part in value.items()}
    if isinstance(value, list):
        return [_moved(part, device) for part in value]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(part, device) for part in value))
    return value
