"""Progress of a fit on the screen, as a scikit-learn callback."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kfriendly.cli.screen import Screen
from kfriendly.training.history import EpochRecord

# The estimator's phases, as shown; `start` and `final` lie between and after them.
PHASES = {"layers": "layers", "pretrain": "pre-train", "joint": "joint"}
_BLOCKS = "▁▂▃▄▅▆▇█"
# More clusters than this are told by their smallest and largest only.
_MOST_BLOCKS = 24


class ShowProgress:
    """A bar or lines for each phase, with losses, sizes and time left.

    Parameters
    ----------
    screen : Screen
        Where to show it.

    Attributes
    ----------
    phase : str
        The phase under way.
    """

    def __init__(self, screen: Screen) -> None:
        self.phase = ""
        self._screen = screen

    def setup(self, estimator: Any, context: Any) -> None:  # Any: scikit-learn's types
        """Nothing is shown before the first phase."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End what is under way: all is trained, or training was stopped."""
        if self.phase:
            self._end("best start kept" if self.phase == "final" else "stopped")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Show a phase when it begins."""
        if context.task_name in PHASES:
            if self.phase:
                self._end("first clusters found")
            self._begin(PHASES[context.task_name], context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Show each epoch; training goes on."""
        if context.task_name == "epoch":
            record = estimator.history_[-1]
            total = context.parent.max_subtasks
            self._screen.advance(self.phase, record.epoch + 1, total, describe(record))
            self._screen.event("epoch", of=total, **as_json(record))
        elif context.task_name in PHASES:
            self._end(describe(estimator.history_[-1]))
            self._begin("final" if context.task_name == "joint" else "start", None)
        return False

    def _begin(self, phase: str, total: int | None) -> None:
        self.phase = phase
        self._screen.begin(phase, total)

    def _end(self, words: str) -> None:
        self._screen.end(self.phase, words)
        self.phase = ""


@contextmanager
def noted_warnings(screen: Screen) -> Iterator[list[warnings.WarningMessage]]:
    """Show warnings as notes when the work is done, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    for text in in_text(caught):
        screen.note(text)


def in_text(caught: list[warnings.WarningMessage]) -> list[str]:
    """List what warnings say, each once."""
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def describe(record: EpochRecord) -> str:
    """Say an epoch in words; of many starts, the best."""
    record = _best(record)
    words = f"error {float(record.reconstruction):.3g}"
    if record.sizes is None or record.changed is None:
        return words
    sizes = np.asarray(record.sizes)
    return (
        f"{words}, cost {float(record.clustering):.3g}, "
        f"{float(record.changed):.1%} moved, sizes {bars(sizes)}"
        f"{sizes.min():,}-{sizes.max():,}"
    )


def bars(sizes: np.ndarray) -> str:
    """Draw the sizes of clusters as a row of blocks.

    Examples
    --------
    >>> bars(np.array([1, 4, 8]))
    '▁▄█ '
    """
    if len(sizes) > _MOST_BLOCKS:
        return ""
    heights = np.ceil(sizes / max(1, sizes.max()) * len(_BLOCKS)).astype(int)
    return "".join(_BLOCKS[max(0, height - 1)] for height in heights) + " "


def as_json(record: EpochRecord) -> dict[str, Any]:
    """Turn an epoch into JSON-able values; of many starts, the best."""
    values = _best(record)._asdict()
    return {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in values.items()
        if value is not None
    }


def _best(record: EpochRecord) -> EpochRecord:
    if np.ndim(record.objective) == 0:
        return record
    return record.take(int(np.argmin(record.objective)))
