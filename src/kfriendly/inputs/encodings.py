"""How one column of a table becomes numbers."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kfriendly.inputs.number_text import Writing
from kfriendly.inputs.values import Column, as_numbers, as_text, holds_text, is_written


@dataclass(frozen=True)
class NumberColumn:
    """Numbers as they are; missing ones are `fill`, the median of the training rows."""

    name: str
    fill: float
    writing: Writing = "point"

    @property
    def names(self) -> list[str]:
        """The name of the one column it makes."""
        return [self.name]

    def unreadable(self, column: Column) -> np.ndarray:
        """Find the places of values that are there but are no numbers."""
        if not holds_text(column):
            return np.zeros(0, np.int64)
        good = is_written(as_text(column), self.writing)
        return np.flatnonzero(~pc.fill_null(good, True).to_numpy())

    def encode(self, column: Column) -> np.ndarray:
        """Return an (n, 1) array, NaN where a value is missing."""
        return as_numbers(column, self.writing)[:, None]

    def complete(self, values: np.ndarray) -> np.ndarray:
        """Fill in what is missing."""
        return np.where(np.isnan(values), self.fill, values)

    def to_json(self) -> dict[str, Any]:
        """Return the fields."""
        return {"as": "number", **asdict(self)}


@dataclass(frozen=True)
class CategoryColumn:
    """A one for the value that a row has: a column for each frequent value.

    Two values need but one column: scaled to one variance, two would count twice.

    Parameters
    ----------
    name : str
    values : tuple of str
        Frequent values, the most frequent first.
    other : bool
        Whether there is a last column for all other values. If not, a value that was
        not among the training rows is all zeros; of two values it is half of each.
    """

    name: str
    values: tuple[str, ...]
    other: bool

    @property
    def has_two(self) -> bool:
        """Whether one column says it all."""
        return len(self.values) == 2 and not self.other

    @property
    def names(self) -> list[str]:
        """A name for each value."""
        return [f"{self.name}={value}" for value in (*self.values, "other")][
            : self._width
        ]

    def unreadable(self, column: Column) -> np.ndarray:
        """Any value will do."""
        return np.zeros(0, np.int64)

    def encode(self, column: Column) -> np.ndarray:
        """Return an (n, values) array, a row of NaN where the value is missing."""
        text = as_text(column)
        places = pc.index_in(text, pa.array(self.values, pa.large_string()))
        place = pc.fill_null(places, len(self.values)).to_numpy()  # of any other value
        ones: np.ndarray = np.eye(len(self.values) + 1)[place][:, : self._width]
        if self.has_two:
            ones[place == 2] = 0.5
        ones[pc.is_null(text).to_numpy()] = np.nan
        return ones

    def complete(self, values: np.ndarray) -> np.ndarray:
        """Let a missing value be none of the values."""
        return np.where(np.isnan(values), 0.5 if self.has_two else 0.0, values)

    def to_json(self) -> dict[str, Any]:
        """Return the fields."""
        return {"as": "category", **asdict(self)}

    @property
    def _width(self) -> int:
        return 1 if self.has_two else len(self.values) + self.other


Encoding = NumberColumn | CategoryColumn


def encoding_from_json(stored: dict[str, Any]) -> Encoding:
    """Make an encoding of what `to_json` returned."""
    fields = {key: value for key, value in stored.items() if key != "as"}
    if stored["as"] == "number":
        return NumberColumn(**fields)
    return CategoryColumn(**fields | {"values": tuple(fields["values"])})
