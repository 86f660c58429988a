"""Numbers, dates and missing values as people write them."""

import re
from typing import Literal

Writing = Literal["point", "comma", "flag", "date"]

# What stands for a missing value, after blanks around it are cut off.
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "-NaN", "NAN"),
    *("null", "NULL", "Null", "None", "none", "NaT", "?"),
)

# Patterns for pyarrow and for re alike.
PATTERNS: dict[Writing, str] = {
    "point": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?([iI]nf(inity)?|INF)$",
    "comma": r"^[+-]?\d*,?\d+$",
    "flag": r"^([tT]rue|[fF]alse|TRUE|FALSE)$",
    "date": (
        r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?$"
        r"|^\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([T ].*)?$"
        r"|^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$"
    ),
}
# 1,234 may be a thousand: a comma is a decimal point where other digits follow it.
NOT_THOUSANDS = r",(\d{1,2}|\d{4,})$"

_POINT = re.compile(PATTERNS["point"])


def is_number(text: str) -> bool:
    """Tell whether a text is a number, written with a point.

    Examples
    --------
    >>> is_number(" -1.5e3"), is_number("1,5"), is_number("")
    (True, False, False)
    """
    return _POINT.match(text.strip()) is not None
