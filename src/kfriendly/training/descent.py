"""Network updates, Eq. (6): optimiser, step size and clipping."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from kfriendly.arguments import require

Method = Literal["adam", "sgd"]
Schedule = Literal["constant", "diminishing", "one_cycle"]


@dataclass(frozen=True)
class Descent:
    """How the network moves; pass it as `DCN(optimizer=...)`.

    Parameters
    ----------
    method : {"adam", "sgd"}
        "sgd" has Nesterov momentum, as in the paper.
    learning_rate : float
        Base step size alpha.
    momentum : float
        0.9 throughout the paper; for "adam" the decay of the first moment.
    schedule : {"constant", "diminishing", "one_cycle"}
        "diminishing" is alpha / (1 + step / 1000). "one_cycle" rises over the first
        quarter of the phase and falls to zero as a cosine; where the number of
        steps is not known, as in `partial_fit`, it stays at a tenth.
    clip : float or None
        Largest norm of a start's gradient.
    """

    method: Method = "adam"
    learning_rate: float = 1e-3
    momentum: float = 0.9
    schedule: Schedule = "constant"
    clip: float | None = None

    def __post_init__(self) -> None:
        methods, schedules = get_args(Method), get_args(Schedule)
        for holds, name, allowed in (
            (self.method in methods, "method", f"one of {methods}"),
            (self.schedule in schedules, "schedule", f"one of {schedules}"),
            (0 < self.learning_rate < math.inf, "learning_rate", "above 0"),
            (0 <= self.momentum < 1, "momentum", "from 0 to below 1"),
            (self.clip is None or self.clip > 0, "clip", "above 0, or None"),
        ):
            require(holds, f"Descent: {name}", getattr(self, name), allowed)

    def optimizer(self, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        """Make a torch optimiser for these parameters."""
        if self.method == "sgd":
            return torch.optim.SGD(
                parameters,
                lr=self.learning_rate,
                momentum=self.momentum,
                nesterov=self.momentum > 0,
            )
        return torch.optim.Adam(
            parameters, lr=self.learning_rate, betas=(self.momentum, 0.999), fused=True
        )

    def rate(self, step: int, n_steps: int | None) -> float:
        """Compute the step size of a step, of `n_steps` in this phase."""
        if self.schedule == "diminishing":
            return self.learning_rate / (1.0 + step / 1000.0)
        if self.schedule == "one_cycle":
            share = _one_cycle(step / n_steps) if n_steps else 0.1
            return self.learning_rate * share
        return self.learning_rate


def _one_cycle(progress: float, rise: float = 0.25, first: float = 0.04) -> float:
    if progress < rise:
        return first + (1.0 - first) * 0.5 * (1.0 - math.cos(math.pi * progress / rise))
    return 0.5 * (1.0 + math.cos(math.pi * (progress - rise) / (1.0 - rise)))


def descend(
    optimizer: torch.optim.Optimizer,
    total: Tensor,
    *,
    clip: float | None,
    stacked: bool,
) -> None:
    """Take one step down the gradient of `total`, Eq. (6)."""
    optimizer.zero_grad(set_to_none=True)
    total.backward()  # type: ignore[no-untyped-call]
    if clip is not None:
        _clip([p for g in optimizer.param_groups for p in g["params"]], clip, stacked)
    optimizer.step()


def _clip(parameters: list[nn.Parameter], largest: float, stacked: bool) -> None:
    """Shorten each start's gradient to `largest`; starts do not touch each other."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    axis = 1 if stacked else 0
    squares = [g.flatten(axis).square().sum(-1) for g in gradients]
    norm = torch.stack(squares).sum(0).sqrt()  # (starts,) or ()
    factor = (largest / norm.clamp_min(1e-12)).clamp(max=1.0)
    for g in gradients:
        g.mul_(factor.reshape(factor.shape + (1,) * (g.dim() - factor.dim())))
