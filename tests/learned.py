"""What is learned from an input, for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from kfriendly.inputs import Batch, Features, Input


class Learned(NamedTuple):
    """An input, its rows, and what was learned from them."""

    source: Input
    batch: Batch
    features: Features
    X: Any  # ndarray or csr_array


Learn = Callable[..., Learned]
Csv = Callable[[str | bytes], Path]
