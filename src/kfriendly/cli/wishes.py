"""What was asked for on the command line, as plain values; imports nothing heavy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Format = Literal["parquet", "csv"]


@dataclass(frozen=True)
class InputWish:
    """An input and how to read it."""

    spec: str
    text: str | None = None
    lines: bool = False
    id: str | None = None
    label: str | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: Literal["error", "drop", "impute"] = "impute"
    image_size: tuple[int, int] | None = None
    rows: int | None = None


@dataclass(frozen=True)
class FitWish:
    """A fit: what to read, how to train, where to write."""

    input: InputWish
    out: Path
    parameters: dict[str, Any] = field(default_factory=dict)  # of the estimator
    format: Format = "parquet"
    keep_columns: bool = False
    overwrite: bool = False
    strict: bool = False
    resume: bool = False
    force: bool = False
    command: str = ""


@dataclass(frozen=True)
class SweepWish:
    """A sweep over numbers of clusters."""

    input: InputWish
    n_clusters: tuple[int, ...]
    out: Path | None = None
    parameters: dict[str, Any] = field(default_factory=dict)  # of the estimator
    starts: int = 4
    overwrite: bool = False
    command: str = ""
    next_command: str = ""  # the fit, but for the number of clusters


def read_numbers(text: str) -> tuple[int, ...]:
    """Read `2:20`, `2:20:3` or `4,8,16`; the last number is included.

    Examples
    --------
    >>> read_numbers("2:5"), read_numbers("2:8:3"), read_numbers("8,4")
    ((2, 3, 4, 5), (2, 5, 8), (4, 8))
    """
    try:
        numbers = [int(part) for part in text.replace(":", ",").split(",")]
    except ValueError:
        numbers = []
    if ":" in text and "," not in text and len(numbers) in (2, 3) and numbers[-1] > 0:
        step = numbers[2] if len(numbers) == 3 else 1
        numbers = list(range(numbers[0], numbers[1] + 1, step))
    elif ":" in text:
        numbers = []
    if not numbers or min(numbers) < 2:
        raise ValueError(
            f"{text!r} is not a range of clusters; write 2:20, 2:20:2 or 4,8,16, "
            "from 2 up."
        )
    return tuple(sorted(set(numbers)))


def read_widths(text: str) -> tuple[int, ...]:
    """Read the widths of layers, `128,64`."""
    try:
        widths = tuple(int(part) for part in text.split(","))
    except ValueError:
        widths = ()
    if not widths or min(widths) < 1:
        raise ValueError(f"{text!r} is not a list of widths; write 500,500,2000.")
    return widths


def read_size(text: str) -> tuple[int, int]:
    """Read the size of images, `28x28`: height and width."""
    try:
        height, width = (int(part) for part in text.lower().split("x"))
    except ValueError:
        height, width = 0, 0
    if min(height, width) < 1:
        raise ValueError(f"{text!r} is not a size of images; write 28x28.")
    return height, width
