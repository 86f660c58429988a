"""Everything that changes while training, and nothing else."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kfriendly.criteria import State
from kfriendly.networks import Autoencoder
from kfriendly.networks.whitened import Whitened
from kfriendly.training.descent import Optimizer, copied


class Kept(NamedTuple):
    """A state as plain values: what is written to a disk.

    Besides the snapshot, how its network is wrapped and which of its matrices lie
    transposed in memory: products of those differ in the last digit.
    """

    snapshot: dict[str, Any]
    whitened: bool
    transposed: list[str]


def _nothing() -> Tensor:
    return torch.empty(0)


@dataclass
class TrainState:
    """What training goes on from.

    A stacked network holds many starts; `cluster` and `lam` then have the same leading
    axis. `cluster` is None until the criterion is initialised.

    Attributes
    ----------
    leg : str
        The phase under way, see `run_phase`.
    epoch, step : int
        Epochs and steps of it that lie behind.
    slowdown : float
        Its share of the rate, halved each time that an epoch diverges.
    labels : Tensor of shape (..., n_rows)
        In joint training: the cluster of each row as of the last epoch. Else empty.
    S : Tensor of shape (..., n_rows, K)
        The same as a matrix, if the assignment rule is "stored". Else empty.
    resumed : dict or None
        A snapshot to go on from, until its phase is reached.
    """

    network: Autoencoder
    optimizer: Optimizer
    rng: torch.Generator
    lam: Tensor = field(default_factory=lambda: torch.zeros(()))
    cluster: State = None
    step: int = 0
    leg: str = ""
    epoch: int = 0
    slowdown: float = 1.0
    labels: Tensor = field(default_factory=_nothing)
    S: Tensor = field(default_factory=_nothing)
    resumed: dict[str, Any] | None = None

    def snapshot(self, old: dict[str, Any] | None = None) -> dict[str, Any]:
        """Copy everything, to come back to with `restore`.

        An `old` snapshot of the same phase gives its memory for the new one.
        """
        tensors = self.network.state_dict()
        rooms = {"network": {}, "optimizer": ()} if old is None else old
        room = rooms["network"].get
        return {
            "network": {k: copied(v, room(k)) for k, v in tensors.items()},
            "optimizer": self.optimizer.snapshot(rooms["optimizer"]),
            "rng": self.rng.get_state(),
            **{name: getattr(self, name) for name in _NEVER_CHANGED_IN_PLACE},
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        self.network.load_state_dict(snapshot["network"])
        self.optimizer.restore(snapshot["optimizer"])
        self.rng.set_state(snapshot["rng"])
        for name in _NEVER_CHANGED_IN_PLACE:
            setattr(self, name, snapshot[name])

    def keep(self) -> Kept:
        """Turn everything into plain values."""
        parameters = self.network.named_parameters()
        transposed = [name for name, p in parameters if not p.is_contiguous()]
        return Kept(self.snapshot(), isinstance(self.network, Whitened), transposed)

    def enter(self, leg: str) -> bool:
        """Begin a phase; tell whether it is to be run.

        A state that was kept comes back in the phase it was kept in; those before lie
        behind it.
        """
        if self.resumed is None:
            self.leg, self.epoch, self.step, self.slowdown = leg, 0, 0, 1.0
        elif self.resumed["leg"] == leg:
            self.restore(self.resumed)
            self.resumed = None
        return self.resumed is None


_NEVER_CHANGED_IN_PLACE = (
    "lam",
    "cluster",
    "step",
    "leg",
    "epoch",
    "slowdown",
    "labels",
    "S",
)


def check_like(model: Any, found: Any, place: str = "state") -> None:
    """Refuse values that differ from `model` in structure, shape or type."""
    if type(found) is not type(model):
        raise ValueError(f"{place} is no {type(model).__name__}")
    if isinstance(model, dict):
        if list(model) != list(found):
            raise ValueError(f"{place} has not the parts of this network")
        for key, part in model.items():
            check_like(part, found[key], f"{place}.{key}")
    elif isinstance(model, list):
        if len(model) != len(found):
            raise ValueError(f"{place} has {len(found)} parts, not {len(model)}")
        for i, (a, b) in enumerate(zip(model, found, strict=True)):
            check_like(a, b, f"{place}.{i}")
    elif isinstance(model, torch.Tensor):
        if model.shape != found.shape or model.dtype != found.dtype:
            raise ValueError(
                f"{place} has the shape {tuple(found.shape)}, not {tuple(model.shape)}"
            )
