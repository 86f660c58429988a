"""Checks of what small objects are made with, at the moment they are made."""

from numbers import Integral


def require(holds: bool, argument: str, value: object, allowed: str) -> None:
    """Raise an error that names the argument, the value found and what is allowed.

    Examples
    --------
    >>> require(0 <= 0.9 < 1, "Descent: momentum", 0.9, "from 0 to below 1")
    """
    if not holds:
        raise ValueError(f"{argument}={value!r} is not allowed; it must be {allowed}.")


def are_widths(values: object) -> bool:
    """Tell whether these are whole numbers of at least one.

    Examples
    --------
    >>> are_widths((50, 16)), are_widths((50, 0))
    (True, False)
    """
    return isinstance(values, tuple) and all(
        isinstance(value, Integral) and int(value) > 0 for value in values
    )
