"""What the user sees: bars on a terminal, plain lines elsewhere, JSON, or nothing.

Progress goes to the error stream, results to the output, so that a pipe gets results
only. rich is imported when something is shown: `--help` does not wait for it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, TaskID

How = Literal["auto", "json", "quiet"]

# Seconds between two plain lines of one phase.
_PATIENCE = 5.0
# Width of lines that go to a file.
_FILE_WIDTH = 140


class Screen:
    """Tells what happens, in the way that was asked for.

    Parameters
    ----------
    how : {"auto", "json", "quiet"}
        "auto" is bars on a terminal and plain lines elsewhere; "json" writes one
        object a line to the output; "quiet" shows errors only.
    """

    def __init__(self, how: How = "auto") -> None:
        self.how = how
        self._errors = _console(stderr=True)
        self._progress: Progress | None = None
        self._bars: dict[str, TaskID] = {}
        self._began: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._before: dict[str, int] = {}  # done when the phase was taken up

    @property
    def terminal(self) -> bool:
        """Whether bars are shown."""
        return self.how == "auto" and self._errors.is_terminal

    def say(self, text: str) -> None:
        """Tell a line of progress."""
        if self.how == "auto":
            self._errors.print(text, markup=False, highlight=False)

    def note(self, text: str) -> None:
        """Tell something worth knowing."""
        if self.how == "json":
            self.event("note", text=text)
        elif self.how == "auto":
            self._errors.print(f"note: {text}", style="yellow", markup=False)

    def error(self, message: str, code: int) -> None:
        """Tell why there is no result, whatever was asked for."""
        if self.how == "json":
            self.event("error", code=code, message=message)
        self._errors.print(message, style="bold red", markup=False)

    def event(self, event: str, **fields: Any) -> None:  # Any: whatever JSON takes
        """Write an object to the output, if JSON was asked for."""
        if self.how == "json":
            print(json.dumps({"event": event, **fields}), flush=True)

    def result(self, shown: RenderableType, **fields: Any) -> None:  # Any: as `event`
        """Show the result of a command: as a picture in text, or as JSON."""
        if self.how == "json":
            self.event("result", **fields)
        elif self.how == "auto":
            _console().print(shown, highlight=False)

    def begin(self, phase: str, total: int | None = None) -> None:
        """Show that a phase has begun."""
        self._began[phase] = self._told[phase] = time.monotonic()
        self._before.pop(phase, None)
        if self.terminal:
            bars = self._show()
            self._bars[phase] = bars.add_task(phase, total=total, count="", words="")

    def advance(self, phase: str, done: int, total: int, words: str) -> None:
        """Show how far a phase is."""
        now = time.monotonic()
        own = done - self._before.setdefault(phase, done - 1)
        left = (now - self._began[phase]) / own * (total - done)
        if self._progress is not None:
            self._progress.update(
                self._bars[phase],
                completed=done,
                count=f"{done}/{total}",
                words=words,
            )
        elif now - self._told[phase] > _PATIENCE and done < total:
            self._told[phase] = now
            self.say(f"{phase}: {done}/{total}, {in_words(left)} left, {words}")

    def count(self, phase: str, done: int) -> None:
        """Show how much has been done where nobody knows how much there is."""
        now = time.monotonic()
        if self._progress is not None:
            self._progress.update(self._bars[phase], words=f"{done:,}")
        elif now - self._told[phase] > _PATIENCE:
            self._told[phase] = now
            self.say(f"{phase}: {done:,}")

    def end(self, phase: str, words: str) -> None:
        """Show that a phase is over."""
        seconds = time.monotonic() - self._began.pop(phase)
        if self._progress is not None:
            bar = self._bars.pop(phase)
            self._progress.update(bar, words=words)
            if self._progress.tasks[bar].total is None:
                self._progress.update(bar, total=1, completed=1)
            self._progress.stop_task(bar)
        else:
            self.say(f"{phase}: {words}, {in_words(seconds)}")
        self.event("phase", phase=phase, seconds=round(seconds, 3), words=words)

    def close(self) -> None:
        """Leave the bars as they are."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._bars.clear()

    def _show(self) -> Progress:
        """Put the bars on the terminal."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description:<9}"),
                BarColumn(bar_width=16),
                TextColumn("{task.fields[count]:>7}"),
                TimeRemainingColumn(compact=True, elapsed_when_finished=True),
                TextColumn("{task.fields[words]}", markup=False),
                console=self._errors,
            )
            self._progress.start()
        return self._progress


def in_words(seconds: float) -> str:
    """Say a time as one would.

    Examples
    --------
    >>> in_words(0.31), in_words(42), in_words(150), in_words(9000)
    ('0.3 s', '42 s', '2.5 min', '2.5 h')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _console(stderr: bool = False) -> Console:
    """Lines as wide as the terminal, or wide enough for a file."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _FILE_WIDTH
    return Console(stderr=stderr, width=width, soft_wrap=not stream.isatty())
