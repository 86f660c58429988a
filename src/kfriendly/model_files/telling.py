"""One error for all that can be wrong with the content of a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kfriendly.errors import ModelFileError
from kfriendly.model_files.files import MANIFEST


@contextmanager
def errors_told(folder: Path) -> Iterator[None]:
    """Turn errors of all kinds, from parts that do not fit, into one."""
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RuntimeError,  # torch's, and too deep a recursion
        TypeError,
        ValueError,
    ) as error:
        found = " ".join(str(error).split())[:300]
        raise ModelFileError(
            f"{folder / MANIFEST} does not describe a model that this kfriendly can "
            f"make: {found}. It is not used. Save the model anew from where it came."
        ) from error
