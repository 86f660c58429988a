"""A fitted estimator as the content of its files, and back."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from kfriendly.model_files.checks import (
    check_attributes,
    check_cluster,
    check_finite,
    check_size,
)
from kfriendly.model_files.files import Stored, read_stored, write_stored
from kfriendly.model_files.telling import errors_told
from kfriendly.model_files.values import Arrays, decode, encode
from kfriendly.training.plan import Plan, rebuild_state
from kfriendly.training.state import Kept

# Parts of the state since format 1. One that is added later, and that a file has not,
# is as in a fresh state.
_ALWAYS = {"network", "optimizer", "rng", "lam", "cluster", "step"}

# What a device asked for means here: "auto" is another one on another machine.
DeviceRule = Callable[[Any], torch.device]


class _Parts(NamedTuple):
    """A saved model, decoded and checked, but for the device it will be on."""

    model: Any
    plan: Plan
    kept: Kept
    attributes: dict[str, Any]


def save_model(model: Any, folder: Path) -> None:
    """Write a fitted `DCN` into a folder, and read it back to be sure.

    The folder is made if need be. A model that is to stand in one piece, or to replace
    another, goes through `DCN.save`.
    """
    plan: Plan = model._plan
    kept: Kept = model._state.keep()
    arrays: Arrays = {}
    fitted = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }
    parts = {
        # Where checkpoints were kept is a matter of one machine.
        "parameters": model.get_params(deep=False) | {"checkpoints": None},
        "plan": plan,
        "network": {"whitened": kept.whitened, "transposed": kept.transposed},
        "state": kept.snapshot,
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
    with errors_told(folder):
        parts = _decode(stored, kind)
    device = resolve_device(parts.model.device)
    with errors_told(folder):
        plan = replace(parts.plan, device=device)
        state = rebuild_state(plan, 1, parts.kept)
    parts.model.__dict__.update({"_plan": plan, "_state": state, **parts.attributes})
    return parts.model


def _decode(stored: Stored, kind: type) -> _Parts:
    """Make everything but the network, and check that it fits together."""
    content, arrays = stored
    check_finite(arrays, "state.", "attributes.scaling_")
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
    kept = Kept(snapshot, layout["whitened"], layout["transposed"])
    return _Parts(model, plan, kept, attributes)
