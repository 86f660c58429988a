"""A fitted estimator as the content of its files, and back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from kfriendly.errors import ModelFileError
from kfriendly.model_files.checks import (
    check_attributes,
    check_cluster,
    check_finite,
    check_like,
    check_size,
)
from kfriendly.model_files.files import MANIFEST, Stored, read_stored, write_stored
from kfriendly.model_files.values import Arrays, decode, encode
from kfriendly.networks import Autoencoder
from kfriendly.networks.whitened import Whitened
from kfriendly.training.run import Plan, build_state
from kfriendly.training.state import TrainState

# Parts of the state since format 1. One that is added later, and that a file has not,
# is as in a fresh state.
_ALWAYS = {"network", "optimizer", "rng", "lam", "cluster", "step"}

# What a device asked for means here: "auto" is another one on another machine.
DeviceRule = Callable[[Any], torch.device]


class _Parts(NamedTuple):
    """A saved model, decoded and checked, but for the device it will be on."""

    model: Any
    plan: Plan
    layout: dict[str, Any]
    snapshot: dict[str, Any]
    attributes: dict[str, Any]


def save_model(model: Any, folder: Path) -> None:
    """Write a fitted `DCN` into a folder, and read it back to be sure.

    The folder is made if need be. A model that is to stand in one piece, or to replace
    another, goes through `DCN.save`.
    """
    plan: Plan = model._plan
    arrays: Arrays = {}
    fitted = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    parts = {
        "parameters": model.get_params(deep=False),
        "plan": plan,
        "network": _layout(model._state.network),
        "state": model._state.snapshot(),
        "attributes": fitted,
    }
    content = {name: encode(part, name, arrays) for name, part in parts.items()}
    write_stored(folder, Stored(content, arrays))
    load_model(folder, type(model), lambda _: plan.device)


def load_model(folder: Path, kind: type, resolve_device: DeviceRule) -> Any:
    """Read a saved model and return it, an estimator of this class.

    Raises ModelFileError for anything that is wrong with it.
    """
    stored = read_stored(folder)
    with _errors_told(folder):
        parts = _decode(stored, kind)
    device = resolve_device(parts.model.device)
    with _errors_told(folder):
        plan = replace(parts.plan, device=device)
        state = _rebuild(plan, parts.layout, parts.snapshot)
    parts.model.__dict__.update({"_plan": plan, "_state": state, **parts.attributes})
    return parts.model


def _decode(stored: Stored, kind: type) -> _Parts:
    """Make everything but the network, and check that it fits together."""
    content, arrays = stored
    check_finite(arrays)
    parameters, plan, layout, snapshot, attributes = (
        decode(content[name], arrays)
        for name in ("parameters", "plan", "network", "state", "attributes")
    )
    model = kind(**parameters)
    model._validate_params()
    if model.device != "auto" and torch.device(model.device).type == "meta":
        raise ValueError("its device holds no numbers")
    check_size(plan, arrays, whitened=layout["whitened"])
    if not set(snapshot) >= _ALWAYS:
        raise ValueError(f"its state has only {sorted(snapshot)}")
    check_cluster(snapshot["cluster"], plan)
    check_attributes(attributes, plan)
    return _Parts(model, plan, layout, snapshot, attributes)


@contextmanager
def _errors_told(folder: Path) -> Iterator[None]:
    """Turn errors of all kinds, from parts that do not fit, into one."""
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,  # torch's, and too deep a recursion
        TypeError,
        ValueError,
    ) as error:
        found = " ".join(str(error).split())[:300]
        raise ModelFileError(
            f"{folder / MANIFEST} does not describe a model that this kfriendly can "
            f"make: {found}. It is not used. Save the model anew from where it came."
        ) from error


def _layout(network: Autoencoder) -> dict[str, Any]:
    """Describe what `plan.build` does not tell: the wrapping, and the memory layout.

    Products of a transposed matrix differ in the last digit from those of a copy.
    """
    transposed = [n for n, p in network.named_parameters() if not p.is_contiguous()]
    return {"whitened": isinstance(network, Whitened), "transposed": transposed}


def _rebuild(
    plan: Plan, layout: dict[str, Any], snapshot: dict[str, Any]
) -> TrainState:
    """Make the state of training that `snapshot` was taken of."""
    state = build_state(plan, [0], 0)
    if layout["whitened"]:
        nowhere = torch.zeros(1, plan.n_components, device=plan.device)
        state.network = Whitened(state.network, nowhere)
    for name, p in state.network.named_parameters():
        if p.dim() >= 2:
            p.data = _laid(p.data, transposed=name in layout["transposed"])
    state.optimizer = plan.joint.descent.optimizer(state.network.parameters())
    fresh = state.snapshot()
    saved = {**fresh, **_moved(snapshot, plan.device), "rng": snapshot["rng"]}
    check_like(fresh, {**saved, "cluster": fresh["cluster"]})
    state.restore(saved)
    return state


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
