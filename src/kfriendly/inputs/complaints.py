"""Errors in the form all inputs share: what, where, what to do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from kfriendly.errors import BadInput
from kfriendly.inputs.base import InputOptions


def complain(what: str, where: str, advice: str) -> BadInput:
    """Make an error of three lines."""
    return BadInput(f"{what}\n{where}\n{advice}")


def quoted(names: Iterable[object], most: int = 5) -> str:
    """Write names with commas between, the first few of many.

    Examples
    --------
    >>> quoted(["a", "b c"]), quoted(range(4), most=2)
    ("'a', 'b c'", '0, 1, ... (4 in all)')
    """
    shown = [repr(name) for name in names]
    more = f", ... ({len(shown)} in all)" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def counted(n: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(12_000, "row")
    ('1 row', '12,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def refuse_twins(names: Sequence[str], source: str) -> None:
    """Refuse two columns of one name."""
    seen = Counter(names)
    twins = [name for name, n in seen.items() if n > 1]
    if twins:
        raise complain(
            f"Columns {quoted(twins)} appear more than once.",
            f"In the column names of {source}.",
            "Give every column a name of its own.",
        )


def refuse_options(
    options: InputOptions, unusable: Iterable[str], name: str, kind: str
) -> None:
    """Refuse options that mean nothing for an input of this kind."""
    for option in unusable:
        if getattr(options, option):
            raise complain(
                f"--{option} cannot be used here.",
                f"{name} is {kind}.",
                f"Leave out --{option}.",
            )


def require_columns(
    wanted: Iterable[str], present: Sequence[str], option: str, source: str
) -> None:
    """Refuse names of columns that are not there, with those that are near."""
    absent = [name for name in wanted if name not in present]
    if not absent:
        return
    near = get_close_matches(absent[0], present, n=3)
    there = f"Did you mean {quoted(near)}?" if near else "Check the spelling."
    raise complain(
        f"{option} {absent[0]!r}: there is no such column.",
        f"{source} has the columns {quoted(present, most=20)}.",
        there,
    )
