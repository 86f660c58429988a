"""What each column of a table is good for, told from its name, type and values."""

import re
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
import pyarrow.types as pt

from kfriendly.inputs.base import Batch
from kfriendly.inputs.complaints import complain, counted
from kfriendly.inputs.encodings import CategoryColumn, Encoding, NumberColumn
from kfriendly.inputs.number_text import NOT_THOUSANDS, Writing
from kfriendly.inputs.values import (
    Column,
    as_numbers,
    as_text,
    holds_dates,
    holds_numbers,
    holds_text,
    is_written,
    usual_writing,
)

MOST_VALUES = 20  # of a category that get a column of their own
# Fewer rows than this that count 1, 2, 3, ... may do so by chance.
_ENOUGH_TO_COUNT = 20
# A column of which so many values are numbers was meant to be numbers.
_MEANT_AS_NUMBERS = 0.9
# As in id, user_id, userId, Index; not as in paid or grid.
_ID_NAME = re.compile(
    r"(?i:(^|[_\W])(id|ids|uuid|guid|index|idx|key|rownames)$)|[a-z](Id|ID)$|^column 1$"
)


class SetAside(NamedTuple):
    """A column that is not used, and why, in words that end a sentence."""

    reason: str


def judge(name: str, batch: Batch) -> Encoding | SetAside:
    """Decide what to do with a column that nobody named."""
    column = batch.content[name]
    if column.null_count == len(column):
        return SetAside("it has no values")
    if holds_dates(column):
        return SetAside(
            f"it holds dates or times; {_as_column(name)} uses them as days"
        )
    if holds_numbers(column):
        return _judge_numbers(name, column, usual_writing(column))
    if not holds_text(column):
        return SetAside(f"it holds {column.type}, which is neither numbers nor text")
    return _judge_text(name, batch)


def take(name: str, batch: Batch) -> Encoding:
    """Encode a column that was asked for by name, whatever it looks like."""
    column = batch.content[name]
    if holds_text(column):
        text = as_text(column)
        writing = find_writing(text)
        if writing is None:
            return _category(name, text)
        values = as_numbers(text, writing)
        if writing == "date" and np.isnan(values).sum() > text.null_count:
            raise complain(
                f"Column {name!r} has dates that cannot be read.",
                f"In {batch.source}, as {pc.drop_null(text)[0].as_py()!r}.",
                "Write them as 2024-03-01 or 2024-03-01T12:30, or leave them out.",
            )
        return _number(name, values, writing)
    if holds_numbers(column) or holds_dates(column):
        return _number(name, as_numbers(column, "point"), usual_writing(column))
    raise complain(
        f"Column {name!r} cannot be used.",
        f"In {batch.source} it holds {column.type}, which is neither numbers nor text.",
        "Leave it out of --columns.",
    )


def find_writing(text: Column) -> Writing | None:
    """Find how all values are written as numbers, if they are."""
    present = pc.drop_null(text)
    if not len(present):
        return None
    for writing in ("point", "flag", "date", "comma"):
        if pc.all(is_written(present, writing)).as_py():
            thousands = (
                writing == "comma"
                and not pc.any(pc.match_substring_regex(present, NOT_THOUSANDS)).as_py()
            )
            return None if thousands else writing
    return None


def _judge_text(name: str, batch: Batch) -> Encoding | SetAside:
    column = batch.content[name]
    text = as_text(column)
    present = pc.drop_null(text)
    if not len(present):
        return SetAside("it has no values")
    writing = find_writing(text)
    if writing == "date":
        return SetAside(
            f"it holds dates or times; {_as_column(name)} uses them as days"
        )
    if writing:
        return _judge_numbers(name, column, writing)
    n, distinct = len(present), pc.count_distinct(present).as_py()
    if distinct > MOST_VALUES:
        _refuse_spoilt_numbers(name, text, batch)
    words = pc.mean(pc.count_substring_regex(present, r"\S+")).as_py()
    if distinct > MOST_VALUES and distinct > n / 2 and words >= 4:
        return SetAside(f"it holds free text; --text {name!r} clusters by its words")
    if (distinct == n or distinct > max(MOST_VALUES, n / 2)) and not pt.is_dictionary(
        column.type
    ):
        return SetAside(
            "nearly every row has a value of its own, as identifiers do; "
            f"--id {name!r} names the rows by it"
        )
    return _category(name, text)


def _judge_numbers(name: str, column: Column, writing: Writing) -> Encoding | SetAside:
    values = as_numbers(column, writing)
    values = values[~np.isnan(values)]
    if not values.size:
        return SetAside("it has no values")
    if _counts_rows(name, values):
        return SetAside(
            f"it numbers the rows, as identifiers do; --id {name!r} names them by it, "
            f"{_as_column(name)} uses it as a number"
        )
    return _number(name, values, writing)


def _counts_rows(name: str, values: np.ndarray) -> bool:
    """Tell whether whole numbers, no two alike, identify rows."""
    whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    if not whole or values.size < 2 or np.unique(values).size < values.size:
        return False
    consecutive = values.max() - values.min() == values.size - 1
    return bool(
        _ID_NAME.search(name) or (consecutive and values.size >= _ENOUGH_TO_COUNT)
    )


def _number(name: str, values: np.ndarray, writing: Writing) -> NumberColumn:
    present = values[np.isfinite(values)]
    return NumberColumn(
        name, float(np.median(present)) if present.size else 0.0, writing
    )


def _category(name: str, text: Column) -> CategoryColumn:
    """Keep the most frequent values; among equally frequent ones in their order."""
    counts = pc.value_counts(pc.drop_null(text)).to_pylist()
    counts.sort(key=lambda item: (-item["counts"], item["values"]))
    values = tuple(item["values"] for item in counts[:MOST_VALUES])
    return CategoryColumn(name, values, other=len(counts) > MOST_VALUES)


def _refuse_spoilt_numbers(name: str, text: Column, batch: Batch) -> None:
    """Refuse numbers with a few other things among them: a note is easily missed."""
    good = pc.fill_null(is_written(text, "point"), True).to_numpy()
    bad = np.flatnonzero(~good)
    n = len(text) - text.null_count
    if bad.size > (1 - _MEANT_AS_NUMBERS) * n:
        return
    first = int(bad[0])
    raise complain(
        f"Column {name!r} is numbers but for {counted(bad.size, 'value')}: "
        f"{text[first].as_py()!r} is none.",
        f"In {batch.source}, first in {batch.place_of(first)}.",
        f"Correct or empty these values, or leave the column out with --drop {name!r}.",
    )


def _as_column(name: str) -> str:
    return f"--columns with {name!r} in it"
