"""Progress of a fit on the terminal, as a scikit-learn callback."""

from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

_PHASES = {
    "layers": "pre-training layer",
    "pretrain": "pre-training",
    "joint": "joint training",
}


class ShowProgress:
    """A bar for each phase with losses and time left; plain lines without a terminal.

    Parameters
    ----------
    console : rich.console.Console
        Where to show it.
    name : str
        What is being fitted.
    """

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._name = name
        self._bars: dict[int, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:<34}"),
            BarColumn(bar_width=12),
            TextColumn("{task.completed:>3.0f}/{task.total:.0f}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[losses]}"),
            console=console,
            disable=not console.is_terminal,
        )

    def setup(self, estimator: Any, context: Any) -> None:
        """Show the bars."""
        self._progress.start()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Leave the bars as they are."""
        self._progress.stop()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Add a bar when a phase begins."""
        if context.task_name in _PHASES:
            title = f"{self._name}: {_PHASES[context.task_name]}"
            self._bars[id(context)] = self._progress.add_task(
                title, total=context.max_subtasks, losses=""
            )

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Move the bar after each epoch; print a line after each phase."""
        if context.task_name == "epoch":
            record = estimator.history_[-1]
            losses = f"error {record.reconstruction.mean():.3g}"
            if record.changed is not None:
                losses += f", {record.changed.mean():.1%} moved"
            self._progress.update(
                self._bars[id(context.parent)], advance=1, losses=losses
            )
        elif context.task_name in _PHASES and not self._console.is_terminal:
            record = estimator.history_[-1]
            self._console.print(
                f"{self._name}: {_PHASES[context.task_name]}, {record.epoch + 1} "
                f"epochs, reconstruction error {record.reconstruction.mean():.3g}"
            )
