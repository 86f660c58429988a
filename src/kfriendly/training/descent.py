"""Network updates, Eq. (6): optimiser, step size and clipping."""

import math
from collections.abc import Iterable, Sequence
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

    def optimizer(self, parameters: Iterable[nn.Parameter]) -> "Optimizer":
        """Make an optimiser for these parameters."""
        return Optimizer(parameters, self)

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


class Optimizer:
    """Adam, or SGD with Nesterov's momentum, by torch's own fused operations.

    torch.optim's classes spend 0.3 ms a step around the same two operations, as much as
    all arithmetic of a small network, and their first use imports torch's compiler.

    Parameters
    ----------
    parameters : iterable of Parameter
    descent : Descent
        Method, momentum and first rate; `rate` may change before each step.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], descent: Descent) -> None:
        self.parameters = [p for p in parameters if p.requires_grad]
        self.rate = descent.learning_rate
        self._adam = descent.method == "adam"
        self._momentum = descent.momentum
        self._first = [torch.zeros_like(p.detach()) for p in self.parameters]
        self._second = [torch.zeros_like(m) for m in self._first if self._adam]
        self._transposes = any(not p.is_contiguous() for p in self.parameters)
        device = self.parameters[0].device if self.parameters else None
        self._n_steps = torch.zeros((), device=device)

    def clear(self) -> None:
        """Forget all gradients."""
        for p in self.parameters:
            p.grad = None

    def step(self, *, clip: float | None, stacked: bool) -> None:
        """Move every parameter that has a gradient, Eq. (6)."""
        P: list[Tensor] = [*self.parameters]
        G = [p.grad for p in P if p.grad is not None]
        first, second = self._first, self._second
        if len(G) < len(P):  # some did not take part
            have = [i for i, p in enumerate(P) if p.grad is not None]
            P, first = [P[i] for i in have], [first[i] for i in have]
            second = [second[i] for i in have if self._adam]
        if clip is not None:
            _clip(G, clip, stacked)
        self._n_steps += 1
        if self._transposes:
            P, G, first, second = map(_as_in_memory, (P, G, first, second))
        if self._adam:
            torch._fused_adam_(
                P,
                G,
                first,
                second,
                [],
                [self._n_steps] * len(P),
                lr=self.rate,
                beta1=self._momentum,
                beta2=0.999,
                eps=1e-8,
                weight_decay=0.0,
                amsgrad=False,
                maximize=False,
            )
        else:
            torch._fused_sgd_(
                P,
                G,
                first if self._momentum else [],
                lr=self.rate,
                momentum=self._momentum,
                nesterov=self._momentum > 0,
                dampening=0.0,
                weight_decay=0.0,
                maximize=False,
                is_first_step=False,
            )

    def snapshot(self, old: Sequence[Tensor] = ()) -> list[Tensor]:
        """Copy what the steps have left behind, to come back to with `restore`.

        An `old` snapshot gives its memory for the new one.
        """
        tensors = self._tensors()
        rooms: Sequence[Tensor | None] = old or [None] * len(tensors)
        return [copied(t, room) for t, room in zip(tensors, rooms, strict=True)]

    def restore(self, snapshot: list[Tensor]) -> None:
        """Go back to a snapshot."""
        for tensor, before in zip(self._tensors(), snapshot, strict=True):
            tensor.copy_(before)

    def _tensors(self) -> list[Tensor]:
        return [*self._first, *self._second, self._n_steps]


def copied(tensor: Tensor, room: Tensor | None) -> Tensor:
    """Copy a tensor, into memory of its shape that is no longer needed if there is."""
    return tensor.clone() if room is None else room.copy_(tensor)


def _as_in_memory(tensors: list[Tensor]) -> list[Tensor]:
    """Turn transposed tensors back; torch would copy them, and copy the result back."""
    return [t if t.is_contiguous() else t.mT for t in tensors]


def _clip(gradients: list[Tensor], largest: float, stacked: bool) -> None:
    """Shorten each start's gradient to `largest`; starts do not touch each other."""
    if not gradients:
        return
    axis = 1 if stacked else 0
    squares = [g.flatten(axis).square().sum(-1) for g in gradients]
    norm = torch.stack(squares).sum(0).sqrt()  # (starts,) or ()
    factor = (largest / norm.clamp_min(1e-12)).clamp(max=1.0)
    for g in gradients:
        g.mul_(factor.reshape(factor.shape + (1,) * (g.dim() - factor.dim())))
