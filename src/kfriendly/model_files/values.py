"""Values as JSON and arrays, and back.

Numbers, text and lists are themselves. Everything else is an object with one telling
key: {"tuple": ...}, {"tensor": name}, {"object": name, "fields": ...}. Tensors, and
arrays that are not small, go to a second file under the name of their place.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from kfriendly.errors import NotSavable
from kfriendly.losses import LOSSES
from kfriendly.model_files.kinds import KINDS, field_names, make

Arrays = dict[str, np.ndarray]

# Smaller arrays stand in the JSON: an epoch's record has a dozen of one value each.
_SMALL = 64
_MT19937 = 624  # words of its state
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def encode(value: Any, place: str, arrays: Arrays) -> Any:
    """Turn a value into JSON; add its arrays to `arrays`.

    Raises NotSavable for an object that is not ours, with its `place` in the model.
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        number = encode(value.item(), place, arrays)
        return {"number": number, "dtype": value.dtype.name}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list):
        return _encode_list(value, place, arrays)
    if type(value) is tuple:
        return {"tuple": _encode_list(value, place, arrays)}
    if isinstance(value, dict):
        return {"dict": _encode_dict(value, place, arrays)}
    if isinstance(value, torch.Tensor):
        arrays[place] = value.detach().cpu().numpy()
        return {"tensor": place}
    if isinstance(value, np.ndarray):
        return _encode_array(value, place, arrays)
    return _encode_object(value, place, arrays)


def _encode_list(values: Any, place: str, arrays: Arrays) -> list[Any]:
    return [encode(v, f"{place}.{i}", arrays) for i, v in enumerate(values)]


def _encode_dict(values: dict[str, Any], place: str, arrays: Arrays) -> dict[str, Any]:
    return {key: encode(v, f"{place}.{key}", arrays) for key, v in values.items()}


def _encode_array(value: np.ndarray, place: str, arrays: Arrays) -> Any:
    if value.dtype.kind in "OU":  # names of columns
        return {"strings": [str(text) for text in value.tolist()]}
    if value.size > _SMALL:
        arrays[place] = value
        return {"array": place}
    numbers = _encode_list(value.ravel().tolist(), place, arrays)
    return {"numbers": numbers, "dtype": value.dtype.name, "shape": list(value.shape)}


def _encode_object(value: Any, place: str, arrays: Arrays) -> Any:
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, np.random.RandomState):
        _, key, *rest = value.get_state()
        return {"random_state": [np.asarray(key).tolist(), *rest]}
    for name, loss in LOSSES.items():
        if value is loss:
            return {"loss": name}
    name = type(value).__name__
    if KINDS.get(name) is not type(value):
        raise NotSavable(
            f"{place} is {value!r}, which is not part of kfriendly. A model file holds "
            "numbers and the names of kfriendly's own parts, never code, so this model "
            "cannot be saved; keep the code that makes it, and fit it again."
        )
    fields = {n: getattr(value, n) for n in field_names(type(value))}
    return {"object": name, "fields": _encode_dict(fields, place, arrays)}


def decode(value: Any, arrays: Arrays) -> Any:
    """Turn JSON back into the value; raise ValueError for what `encode` never makes."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [decode(part, arrays) for part in value]
    tag = next(iter(value), "")
    if tag not in _DECODERS or len(value) != _N_KEYS.get(tag, 1):
        raise ValueError(f"an object with the keys {sorted(value)[:5]} is not known")
    return _DECODERS[tag](value, arrays)


def _decode_list(values: Any, arrays: Arrays) -> list[Any]:
    if not isinstance(values, list):
        raise ValueError(f"a list was expected, not {str(values)[:50]}")
    return [decode(value, arrays) for value in values]


def _decode_dict(values: Any, arrays: Arrays) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise ValueError(f"an object was expected, not {str(values)[:50]}")
    return {key: decode(value, arrays) for key, value in values.items()}


def _array(name: Any, arrays: Arrays) -> np.ndarray:
    if not isinstance(name, str) or name not in arrays:
        raise ValueError(f"there is no tensor {str(name)[:50]!r}")
    return arrays[name]


def _strings(texts: Any) -> np.ndarray:
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise ValueError("names must be a list of texts")
    return np.array(texts, dtype=object)


def _number(value: dict[str, Any], arrays: Arrays) -> Any:
    return _numeric(value["dtype"]).type(decode(value["number"], arrays))


def _numbers(value: dict[str, Any], arrays: Arrays) -> np.ndarray:
    numbers = _decode_list(value["numbers"], arrays)
    if len(numbers) > _SMALL:
        raise ValueError(f"an array of {len(numbers)} numbers cannot stand here")
    return np.array(numbers, dtype=_numeric(value["dtype"])).reshape(value["shape"])


def _numeric(name: Any) -> np.dtype:
    dtype = np.dtype(str(name))
    if dtype.kind not in "biuf":
        raise ValueError(f"{dtype} is not a type of numbers")
    return dtype


def _random_state(state: Any) -> np.random.RandomState:
    key, position, has_gauss, gauss = state
    if len(key) != _MT19937 or not 0 <= position <= _MT19937:
        # numpy does not look, and would read memory beyond the key.
        raise ValueError("the state of the random numbers is impossible")
    random = np.random.RandomState(0)
    random.set_state(("MT19937", key, position, has_gauss, gauss))
    return random


def _object(value: dict[str, Any], arrays: Arrays) -> Any:
    name = value["object"]
    if name not in KINDS:
        raise ValueError(f"there is no kind of object called {str(name)[:50]!r}")
    return make(KINDS[name], _decode_dict(value["fields"], arrays))


_N_KEYS = {"object": 2, "number": 2, "numbers": 3}
_DECODERS: dict[str, Callable[[dict[str, Any], Arrays], Any]] = {
    "float": lambda v, _: _NOT_FINITE[v["float"]],
    "tuple": lambda v, arrays: tuple(_decode_list(v["tuple"], arrays)),
    "dict": lambda v, arrays: _decode_dict(v["dict"], arrays),
    "tensor": lambda v, arrays: torch.from_numpy(_array(v["tensor"], arrays)),
    "array": lambda v, arrays: _array(v["array"], arrays),
    "strings": lambda v, _: _strings(v["strings"]),
    "number": _number,
    "numbers": _numbers,
    "device": lambda v, _: torch.device(v["device"]),
    "random_state": lambda v, _: _random_state(v["random_state"]),
    "loss": lambda v, _: LOSSES[v["loss"]],
    "object": _object,
}
