"""Everything that changes while training, and nothing else."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from kfriendly.criteria import State
from kfriendly.networks import Autoencoder
from kfriendly.training.descent import Optimizer


@dataclass
class TrainState:
    """A checkpoint is exactly this.

    A stacked network holds many starts; `cluster` and `lam` then have the same leading
    axis. `cluster` is None until the criterion is initialised.
    """

    network: Autoencoder
    optimizer: Optimizer
    rng: torch.Generator
    lam: Tensor = field(default_factory=lambda: torch.zeros(()))
    cluster: State = None
    step: int = 0

    def snapshot(self) -> dict[str, Any]:
        """Copy everything, to come back to with `restore`."""
        return {
            "network": {k: v.clone() for k, v in self.network.state_dict().items()},
            "optimizer": self.optimizer.snapshot(),
            "rng": self.rng.get_state(),
            "lam": self.lam,
            "cluster": self.cluster,  # never changed in place
            "step": self.step,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        self.network.load_state_dict(snapshot["network"])
        self.optimizer.restore(snapshot["optimizer"])
        self.rng.set_state(snapshot["rng"])
        self.lam = snapshot["lam"]
        self.cluster = snapshot["cluster"]
        self.step = snapshot["step"]
