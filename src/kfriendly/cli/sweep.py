"""`kfriendly sweep`: the number of clusters, chosen without labels."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from kfriendly.cli import runs
from kfriendly.cli.fit import make_checked_plan
from kfriendly.cli.loading import Loaded, load, parameters_for
from kfriendly.cli.progress import as_json, describe, noted_warnings
from kfriendly.cli.screen import Screen
from kfriendly.cli.wishes import SweepWish
from kfriendly.estimator import DCN
from kfriendly.report.sweeps import draw_sweep
from kfriendly.sweep import Sweep, SweepPoint, sweep_clusters
from kfriendly.training.history import EpochRecord
from kfriendly.training.state import TrainState

TABLE, PICTURE = "sweep.json", "sweep.png"


def run_sweep(wish: SweepWish, screen: Screen) -> None:
    """Try every number of clusters from one pre-training, and suggest one."""
    with _folder(wish) as folder:
        loaded = load(wish.input, screen, wish.parameters["random_state"])
        given = parameters_for(loaded.features, wish.parameters)
        model = DCN(max(wish.n_clusters), **given)
        make_checked_plan(model, loaded.X)
        with noted_warnings(screen):
            sweep = _sweep(model, loaded, wish, screen)
        if folder is not None:
            draw_sweep(sweep, folder / PICTURE)
            runs.write_json(folder / TABLE, _about(wish, loaded, model, sweep))
    screen.close()
    for note in notes_on(sweep):
        screen.note(note)
    screen.result(_shown(sweep, wish), **_outcome(sweep))


def _sweep(model: DCN, loaded: Loaded, wish: SweepWish, screen: Screen) -> Sweep:
    n_numbers, n_done = len(wish.n_clusters), 0

    def tell(point: SweepPoint) -> None:
        nonlocal n_done
        n_done += 1
        if n_done == 1:
            monitor.close()
        words = f"K = {point.n_clusters}: stability {point.stability:.2f}"
        screen.advance("clusters", n_done, n_numbers, words)
        screen.event("clusters", **_numbers(point))

    monitor = _ShowPretraining(screen, n_numbers)
    sweep = sweep_clusters(
        model,
        loaded.X,
        wish.n_clusters,
        n_starts=wish.starts,
        monitor=monitor,
        tell=tell,
    )
    screen.end("clusters", f"{n_numbers} numbers tried")
    return sweep


class _ShowPretraining:
    """A monitor of the one pre-training, and the phase that follows it."""

    def __init__(self, screen: Screen, n_numbers: int) -> None:
        self.records: list[EpochRecord] = []
        self._screen, self._n_numbers = screen, n_numbers
        self._n_epochs, self._open = 0, False
        screen.begin("pre-train")

    def epochs(self, phase: str, n_epochs: int, state: TrainState) -> Iterator[int]:
        """Run all epochs."""
        self._n_epochs = n_epochs
        yield from range(n_epochs)

    def record(self, record: EpochRecord) -> None:
        """Show an epoch."""
        self.records.append(record)
        done = record.epoch + 1
        self._screen.advance("pre-train", done, self._n_epochs, describe(record))
        self._screen.event("epoch", of=self._n_epochs, **as_json(record))
        if done == self._n_epochs:
            self.close()

    def close(self) -> None:
        """Begin the next phase, once."""
        if not self._open:
            words = describe(self.records[-1]) if self.records else "none"
            self._screen.end("pre-train", words)
            self._screen.begin("clusters", self._n_numbers)
            self._open = True


def notes_on(sweep: Sweep) -> list[str]:
    """Say what the figures do and do not mean."""
    notes = []
    if not sweep.joint_epochs:
        notes.append(
            "These are the first clusters of each K: joint training of so large a "
            "network for every K would take long. --epochs N trains it."
        )
    if sweep.n_networks == 1:
        notes.append(
            "Starts share one network and differ in their first clusters only, so "
            "stability is a little too good."
        )
    return notes


@contextmanager
def _folder(wish: SweepWish) -> Iterator[Path | None]:
    """Make the folder if one was asked for."""
    place: Any = nullcontext(None)  # Any: two kinds of context
    if wish.out is not None:
        place = runs.new_place(wish.out, overwrite=wish.overwrite, marker=TABLE)
    with place as folder:
        yield folder


def _shown(sweep: Sweep, wish: SweepWish) -> Group:
    table = Table(box=None, pad_edge=False)
    for heading in ("K", "cost", "silhouette", "stability", "smallest cluster"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for point in sweep.points:
        best = point.n_clusters == sweep.suggestion
        table.add_row(
            str(point.n_clusters),
            f"{point.cost:.3f}",
            f"{point.silhouette:.3f}",
            f"{point.stability:.3f}",
            f"{point.smallest:,}",
            "█" * round(20 * max(0.0, point.stability)) + (" <- take this" * best),
            style="bold" if best else "",
        )
    lines: list[Any] = ["", table, "", Text(sweep.reason, style="bold")]  # Any: rich's
    if sweep.suggestion is not None:
        lines.append(Text(f"Next: {wish.next_command} -k {sweep.suggestion}"))
    if wish.out is not None:
        lines.append(Text(f"See {wish.out / PICTURE} and {wish.out / TABLE}."))
    return Group(*lines)


def _outcome(sweep: Sweep) -> dict[str, Any]:
    return {
        "suggestion": sweep.suggestion,
        "reason": sweep.reason,
        "points": [_numbers(point) for point in sweep.points],
        "n_components": sweep.n_components,
        "n_networks": sweep.n_networks,
        "joint_epochs": sweep.joint_epochs,
    }


def _numbers(point: SweepPoint) -> dict[str, Any]:
    return {k: v for k, v in point._asdict().items() if k != "labels"}


def _about(wish: SweepWish, loaded: Loaded, model: DCN, sweep: Sweep) -> dict[str, Any]:
    """Collect what is needed to repeat the sweep, and what it found."""
    return {
        "format": runs.FORMAT,
        "command": wish.command,
        "versions": runs.versions(),
        "data": {
            "name": loaded.source.name,
            "rows": int(loaded.X.shape[0]),
            "columns": int(loaded.X.shape[1]),
            "fingerprint": loaded.source.fingerprint(),
        },
        "parameters": model.get_params(deep=False),
        "notes": loaded.notes + notes_on(sweep),
        **_outcome(sweep),
    }
