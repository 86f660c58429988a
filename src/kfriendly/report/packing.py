"""Data made small and safe for a page: arrays as base64, texts cut short."""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
# Characters that could end a script element, or a line of JavaScript.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_UNSAFE |= {"\u2028": "\\u2028", "\u2029": "\\u2029"}


def pack(values: np.ndarray, dtype: str) -> str:
    """Write an array as base64 of little-endian numbers.

    Examples
    --------
    >>> pack(np.array([1, 2]), "u2")
    'AQACAA=='
    """
    numbers = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def excerpt(text: object, most: int) -> str:
    r"""Return the start of a text on one line, at most `most` characters.

    Examples
    --------
    >>> excerpt("one  two\nthree", 8)
    'one two…'
    """
    # Four characters a kept one: white space shrinks, and a long text is not copied.
    line = _SPACE.sub(" ", plain(text)[: 4 * most + 64]).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def plain(text: object) -> str:
    """Return text that UTF-8 can hold: half of a surrogate pair becomes a ``?``."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def script_json(content: Any) -> str:
    r"""Write JSON that can stand inside a script element, whatever the texts say.

    Examples
    --------
    >>> script_json(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(
        content, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return re.sub("[<>&\u2028\u2029]", lambda found: _UNSAFE[found.group()], text)


def cost(texts: Sequence[str]) -> int:
    """Count the bytes that texts take in a page."""
    return len(script_json(list(texts)).encode("utf-8", "replace"))


def number(value: Any) -> float | None:
    """Return a number for JSON, which has no NaN: None where there is none."""
    if value is None or not np.isfinite(value):
        return None
    return float(value)
