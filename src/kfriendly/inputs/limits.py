"""Values that no network can use, refused with their place."""

import numpy as np

from kfriendly.errors import BadInput
from kfriendly.inputs.base import Batch, Missing
from kfriendly.inputs.complaints import complain, counted

# Squares of larger values leave float32 when summed over many columns; as in DCN.
LARGEST = 1e15


def check_values(
    values: np.ndarray, column: str, batch: Batch, missing: Missing
) -> None:
    """Refuse NaN, infinity and values too large, in an (n, k) part of one column."""
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(values) <= LARGEST)  # NaN compares false
    if not bad.any():
        return
    rows, _ = np.nonzero(bad)
    raise bad_values(values[bad], np.unique(rows), f"column {column!r}", batch, missing)


def bad_values(
    values: np.ndarray, rows: np.ndarray, column: str, batch: Batch, missing: Missing
) -> BadInput:
    """Make the error that counts bad values and names rows, column and way out."""
    if np.isnan(values).any():
        what = "missing value"
        filled = "--missing impute fills in medians, "
        advice = "Fill them in, " if missing == "impute" else filled
    elif np.isinf(values).any():
        what, advice = "infinite value", "Correct them, "
    else:
        return complain(
            f"{counted(values.size, 'value')} beyond {LARGEST:g} in {column}, too "
            "large to compute with.",
            _where(rows, batch),
            "Scale the column or change its units, or leave it out with --drop.",
        )
    return complain(
        f"{counted(values.size, what)} in {column}.",
        _where(rows, batch),
        f"{advice}--missing drop leaves such rows out, --drop leaves out the column.",
    )


def _where(rows: np.ndarray, batch: Batch, most: int = 5) -> str:
    more = ", ..." if rows.size > most else ""
    places = ", ".join(batch.place_of(int(row)) for row in rows[:most])
    return f"In {batch.source}: {places}{more}. Rows go by --id, or count from 0."
