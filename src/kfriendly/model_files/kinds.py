"""Which objects a model file may name, and whether a value is of its declared type."""

import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin

import numpy as np

from kfriendly.criteria import KMeans, KSubspace, SoftKMeans
from kfriendly.criteria.k_subspace import SubspaceState
from kfriendly.criteria.kmeans import CentroidState
from kfriendly.criteria.soft_kmeans import SoftState
from kfriendly.networks import ConvFactory, MLPFactory
from kfriendly.training.alternating import JointRules
from kfriendly.training.descent import Descent
from kfriendly.training.history import EpochRecord
from kfriendly.training.inference import Evaluation
from kfriendly.training.loop import Phase
from kfriendly.training.objective import Objective
from kfriendly.training.plan import Plan
from kfriendly.training.progress import Progress, Start, Trained
from kfriendly.training.scaling import Scaling
from kfriendly.training.state import Kept
from kfriendly.training.views import Walks
from kfriendly.views import Altered, DropWords, MoveImages, Neighbors, Noise

# Dataclasses and named tuples, by the name that stands in the file. Nothing else is
# ever made from a file, and no name in it is looked up anywhere but here.
KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Altered,
        CentroidState,
        ConvFactory,
        Descent,
        DropWords,
        EpochRecord,
        Evaluation,
        JointRules,
        KMeans,
        KSubspace,
        Kept,
        MLPFactory,
        MoveImages,
        Neighbors,
        Noise,
        Objective,
        Phase,
        Plan,
        Progress,
        Scaling,
        SoftKMeans,
        SoftState,
        Start,
        SubspaceState,
        Trained,
        Walks,
    )
}


def field_names(kind: type) -> list[str]:
    """List the fields of a dataclass or a named tuple."""
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return list(kind._fields)  # type: ignore[attr-defined]  # a named tuple


def make(kind: type, values: dict[str, Any]) -> Any:
    """Make an object of its fields; one left out has its default.

    Raises ValueError for a field it has not, and for a value of another type than the
    class declares.
    """
    hints = kind.__annotations__
    for name, value in values.items():
        if name not in field_names(kind):
            raise ValueError(f"{kind.__name__} has no field {name[:50]!r}")
        if not fits(value, hints[name]):
            raise ValueError(f"{kind.__name__}.{name} cannot be {str(value)[:50]}")
    return kind(**values)


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a declared type, as far as that can be told.

    Examples
    --------
    >>> fits(3, int | None), fits((3, "a"), tuple[int, ...]), fits(True, int)
    (True, False, False)
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(v, parts[0]) for v in value)
    if origin is Callable:
        return callable(value)
    if hint is Any or getattr(hint, "_is_protocol", False):
        return not isinstance(value, str | int | float | None)
    if hint in (int, float):  # numpy's numbers count, and a whole number is real
        number = Integral if hint is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    if hint is np.ndarray:  # the record of one start has numpy's numbers
        return isinstance(value, np.ndarray | np.generic)
    return isinstance(value, hint if origin is None else origin)
