"""JSON from strangers: read in bounded time and memory, or refused."""

import json
import math
from typing import Any, NoReturn

# Larger than the manifest of any model: names of 100,000 columns are a few MB.
MOST_BYTES = 2**24
# Each costs up to a hundred bytes of memory, however few it has in the file.
_MOST_VALUES = 2**21


def parse(content: bytes) -> Any:
    """Parse JSON; raise ValueError for what JSON allows and no writer of ours makes.

    That is: keys given twice, NaN and infinity, numbers beyond a float, nesting that
    no stack bears, and more values than a model has.

    Examples
    --------
    >>> parse(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    n_values = sum(content.count(mark) for mark in (b",", b"[", b"{", b":"))
    if len(content) > MOST_BYTES or n_values > _MOST_VALUES:
        raise ValueError(f"it has {len(content)} bytes and about {n_values} values")
    try:
        return json.loads(
            content.decode("ascii"),
            object_pairs_hook=_once_each,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def render(value: Any) -> bytes:
    """Write JSON that `parse` reads, a top-level key a line."""
    lines = (
        f" {json.dumps(key)}: {json.dumps(part, allow_nan=False)}"
        for key, part in value.items()
    )
    return ("{\n" + ",\n".join(lines)).encode("ascii") + b"\n}\n"


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:50]!r} is given twice")
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:50]} is too large")
    return value
