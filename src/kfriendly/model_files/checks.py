"""Whether the parts of a saved model fit together. All raise ValueError."""

import math
from itertools import pairwise
from typing import Any, get_type_hints

import numpy as np

from kfriendly.model_files.kinds import fits
from kfriendly.networks import ConvFactory, MLPFactory
from kfriendly.training.plan import Plan
from kfriendly.training.scaling import Scaling

_ATTRIBUTES: dict[str, Any] = {
    "n_features_in_": int,
    "n_iter_": int,
    "lam_": float,
    "inertia_": float,
    "reconstruction_error_": float,
    "cluster_centers_": np.ndarray,
    "cluster_sizes_": np.ndarray,
    "labels_": np.ndarray,
    "history_": list,
    "scaling_": Scaling,
}


def check_finite(arrays: dict[str, np.ndarray], *places: str) -> None:
    """Refuse weights, centres or scales that are NaN or infinite."""
    for name, array in arrays.items():
        counts = name.startswith(places)
        if counts and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"the tensor {name[:80]} has NaN or infinite values")


def check_size(plan: Any, arrays: dict[str, np.ndarray], *, whitened: bool) -> None:
    """Refuse a plan for a network larger than the weights: it must not be built."""
    if not isinstance(plan, Plan):
        raise ValueError("the plan is not a plan")
    for name in ("n_features", "n_components", "n_clusters"):
        if getattr(plan, name) < 1:
            raise ValueError(f"the plan has {name}={getattr(plan, name)}")
    layers = _layer_sizes(plan)
    needed = sum(layers) + (plan.n_components**2 if whitened else 0)
    there = [a.size for name, a in arrays.items() if name.startswith("state.network.")]
    if needed > sum(there) or len(layers) > len(there):
        raise ValueError(
            f"its network needs {len(layers)} layers of {needed} weights, but the "
            f"weights file has {sum(there)} in {len(there)} tensors"
        )


def _layer_sizes(plan: Plan) -> list[int]:
    """Count the encoder's weights by layer without making it; biases are left out."""
    build, F, R = plan.build, plan.n_features, plan.n_components
    if isinstance(build, MLPFactory):
        widths = (F, *build.hidden, R)
        return [a * b for a, b in pairwise(widths)]
    if isinstance(build, ConvFactory):
        *_, height, width = build.input_shape
        halved = 1 << len(build.channels)
        n_pixels = math.ceil(height / halved) * math.ceil(width / halved)
        kernels = [a * b * build.kernel**2 for a, b in pairwise((1, *build.channels))]
        return [*kernels, build.channels[-1] * n_pixels * R]
    raise ValueError(f"{type(build).__name__} is not a network of ours")


def check_cluster(cluster: Any, plan: Plan) -> None:
    """Refuse clusters that are not the criterion's, or not K of R dimensions."""
    criterion, K, R = plan.objective.criterion, plan.n_clusters, plan.n_components
    kind = get_type_hints(type(criterion).init)["return"]
    if type(cluster) is not kind:
        raise ValueError(f"the clusters are no {kind.__name__}")
    shapes = {
        "M": (K, R),
        "c": (K,),
        "T": (),
        "C": (K, R, R),
        "U": (K, R, getattr(criterion, "q", 0)),
    }
    for name, tensor in cluster._asdict().items():
        if tuple(tensor.shape) != shapes[name]:
            raise ValueError(
                f"the clusters' {name} has the shape {tuple(tensor.shape)}, but "
                f"n_clusters={K} and n_components={R}"
            )


def check_attributes(attributes: dict[str, Any], plan: Plan) -> None:
    """Refuse attributes of a fit that are missing, odd, or of other sizes."""
    for name, hint in _ATTRIBUTES.items():
        if not fits(attributes.get(name), hint):
            raise ValueError(f"{name} is missing or no {hint.__name__}")
    odd = [n for n in attributes if not n.endswith("_") or n.startswith("_")]
    if odd:
        raise ValueError(f"{odd[0][:50]!r} is not the name of a fitted attribute")
    K, R, F = plan.n_clusters, plan.n_components, plan.n_features
    scaling, names = attributes["scaling_"], attributes.get("feature_names_in_")
    sizes = {
        "n_features_in_": ((attributes["n_features_in_"],), (F,)),
        "cluster_centers_": (attributes["cluster_centers_"].shape, (K, R)),
        "cluster_sizes_": (attributes["cluster_sizes_"].shape, (K,)),
        "scaling_.mean": (scaling.mean.shape, (F,)),
        "scaling_.size": (scaling.size.shape, (F,)),
        "feature_names_in_": ((F,) if names is None else names.shape, (F,)),
    }
    for name, (found, expected) in sizes.items():
        if found != expected:
            raise ValueError(f"{name} has the size {found}, but {expected} is needed")
    finite = np.isfinite(scaling.mean).all() and np.isfinite(scaling.size).all()
    if not (finite and (scaling.size > 0).all()):
        raise ValueError("scaling_ has values that are NaN, infinite or zero")
