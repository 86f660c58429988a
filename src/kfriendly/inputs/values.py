"""Values of one column of a table as text or as numbers."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from kfriendly.inputs.number_text import MISSING, PATTERNS, Writing

_MISSING = pa.array(MISSING, pa.large_string())
_DAY = 86_400_000  # milliseconds

Column = Any  # pyarrow.ChunkedArray, which has no types


def holds_text(column: Column) -> bool:
    """Tell whether values are text, also when kept in a dictionary."""
    kind = column.type
    kind = kind.value_type if pt.is_dictionary(kind) else kind
    return bool(
        pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)
    )


def holds_numbers(column: Column) -> bool:
    """Tell whether values are numbers or truth values."""
    kind = column.type
    kind = kind.value_type if pt.is_dictionary(kind) else kind
    return bool(
        pt.is_integer(kind)
        or pt.is_floating(kind)
        or pt.is_decimal(kind)
        or pt.is_boolean(kind)
    )


def holds_dates(column: Column) -> bool:
    """Tell whether values are dates, times or lengths of time."""
    return bool(pt.is_temporal(column.type) and not pt.is_interval(column.type))


def usual_writing(column: Column) -> Writing:
    """Tell how values that are not text would be written in a text file."""
    if pt.is_boolean(column.type):
        return "flag"
    return "date" if holds_dates(column) else "point"


def as_text(column: Column) -> Column:
    """Return the values as text without blanks around; what says missing is null."""
    text = pc.utf8_trim_whitespace(pc.cast(column, pa.large_string()))
    return pc.if_else(pc.is_in(text, _MISSING), pa.scalar(None, text.type), text)


def is_written(text: Column, writing: Writing) -> Column:
    """Tell which values can be read as numbers; missing ones are null."""
    if writing == "point" and _casts(text):
        return pc.if_else(pc.is_null(text), pa.scalar(None, pa.bool_()), True)
    return pc.match_substring_regex(text, PATTERNS[writing])


def as_numbers(column: Column, writing: Writing) -> np.ndarray:
    """Return values as float64; missing ones, and text that is no number, are NaN.

    Dates are days since 1970, times of the day and lengths of time are days too.
    """
    if pt.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if holds_text(column):
        return _read(as_text(column), writing)
    if pt.is_boolean(column.type):
        column = pc.cast(column, pa.uint8())
    if holds_dates(column):
        return _days(column)
    if pt.is_float16(column.type):
        column = pc.cast(column, pa.float32())
    return _to_numpy(pc.cast(column, pa.float64(), safe=False))


def _read(text: Column, writing: Writing) -> np.ndarray:
    """Read text; what does not fit the pattern becomes NaN."""
    if writing == "point" and (numbers := _casts(text)):
        return _to_numpy(numbers)
    good = is_written(text, writing)
    text = pc.if_else(good, text, pa.scalar(None, text.type))
    if writing == "flag":
        return _to_numpy(
            pc.cast(pc.cast(pc.utf8_lower(text), pa.bool_()), pa.float64())
        )
    if writing == "date":
        days = [_day(value) for value in text.to_pylist()]
        return np.array(days, dtype=np.float64)
    if writing == "comma":
        text = pc.replace_substring(text, ",", ".")
    return _to_numpy(pc.cast(text, pa.float64()))


def _casts(text: Column) -> Column | None:
    """Return text as numbers if all of it is: several times faster than a pattern."""
    try:
        return pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return None


def _day(value: str | None) -> float:
    """Read a date as in 2024-03-01 or 2024-03-01T12:30Z; others are NaN."""
    try:
        moment = datetime.fromisoformat(value or "")
    except ValueError:
        return float("nan")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.timestamp() * 1_000 / _DAY


def _days(column: Column) -> np.ndarray:
    if pt.is_time(column.type) or pt.is_duration(column.type):
        unit = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}[column.type.unit]
        whole = pa.int32() if pt.is_time32(column.type) else pa.int64()
        return _to_numpy(pc.cast(pc.cast(column, whole), pa.float64())) * unit / _DAY
    moments = pc.cast(pc.cast(column, pa.timestamp("ms"), safe=False), pa.int64())
    return _to_numpy(pc.cast(moments, pa.float64(), safe=False)) / _DAY


def _to_numpy(column: Column) -> np.ndarray:
    return np.array(column.to_numpy(), dtype=np.float64)
