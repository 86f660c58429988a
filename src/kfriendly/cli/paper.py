"""`kfriendly paper`: the paper's tables and figures, run and reported."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from kfriendly.datasets.derived import condition_of, keep_arrays
from kfriendly.errors import UnknownName
from kfriendly.experiments import FIGURES, TABLES
from kfriendly.experiments.base import Table
from kfriendly.experiments.figures import Arrays, Figure
from kfriendly.experiments.results import Results
from kfriendly.experiments.runner import Choice, Fit, missing_fits, run_table
from kfriendly.experiments.settings import SettingName, offers
from kfriendly.report.figures import draw_figure
from kfriendly.report.results import as_html, as_markdown
from kfriendly.report.tables import Section, table_section


def list_experiments(folder: Path) -> bool:
    """Print every key, and how much of it has been run."""
    width = max(map(len, [*TABLES, *FIGURES]))
    for key, table in TABLES.items():
        n_rows = len(Results(folder, key).read())
        print(f"{key:{width}}  {table.title}: {n_rows or 'no'} results")
    for key, figure in FIGURES.items():
        n_parts = len(read_parts(figure, folder, None))
        print(f"{key:{width}}  {figure.title}: {n_parts} of {len(figure.parts)} parts")
    return True


def find_experiment(key: str) -> Table | Figure:
    """Return a table or a figure by its key."""
    known: dict[str, Table | Figure] = {**TABLES, **FIGURES}
    if key not in known:
        raise UnknownName(
            f"There is no experiment {key!r}; there are {', '.join(known)}."
        )
    return known[key]


class Wish(NamedTuple):
    """What was asked for on the command line; None is not said."""

    methods: str | None
    settings: str | None
    seeds: int | None
    rows: int | None
    data: tuple[str, ...] = ()


def run_experiment(key: str, wish: Wish, folder: Path) -> bool:
    """Run what is missing of a table or a figure."""
    found = find_experiment(key)
    if isinstance(found, Table):
        table = with_data(found, wish.data)
        run_table_aloud(table, chosen(table, wish), folder)
        return True
    if wish._replace(rows=None) != Wish(None, None, None, None):
        raise UnknownName(
            f"{key} is a figure: it has no --data, --methods, --settings or --seeds."
        )
    run_figure_aloud(found, wish.rows, folder)
    return True


def with_data(table: Table, parts: tuple[str, ...]) -> Table:
    """Keep the data sets whose names contain one of these texts; none is all.

    The data set that a table is about has no name of its own: "all", as on the page.
    """
    names = [case.name or "all" for case in table.cases]
    for part in parts:
        if not any(part.lower() in name.lower() for name in names):
            raise UnknownName(
                f"{table.key} has no data {part!r}; it has {'; '.join(names)}."
            )
    cases = tuple(
        case
        for case, name in zip(table.cases, names, strict=True)
        if not parts or any(part.lower() in name.lower() for part in parts)
    )
    return replace(table, cases=cases)


def chosen(table: Table, wish: Wish) -> Choice:
    """Read lists with commas; refuse names that the table does not have."""
    methods = tuple(wish.methods.split(",")) if wish.methods else table.methods
    offered = tuple(
        name
        for name in table.settings
        if any(offers(case.settings, name) for case in table.cases)
    )
    settings = tuple(wish.settings.split(",")) if wish.settings else offered
    for kind, names, known in (
        ("method", methods, table.methods),
        ("setting", settings, offered),
    ):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UnknownName(
                f"{table.key} has no {kind} {unknown[0]!r}; it has {', '.join(known)}."
            )
    checked = cast(tuple[SettingName, ...], settings)
    return Choice(methods, checked, wish.seeds or table.seeds, wish.rows)


def run_table_aloud(table: Table, choice: Choice, folder: Path) -> None:
    """Run what is missing of a table, with a line a fit and the time left."""
    results = Results(folder, table.key)
    missing = missing_fits(table, choice, results)
    print(f"{table.title}: {len(missing)} fits to run; results in {results.path}")
    progress = _Progress(len(missing))
    for fit in run_table(table, choice, results):
        progress.tell(_name(fit))


def run_figure_aloud(figure: Figure, rows: int | None, folder: Path) -> None:
    """Compute the missing parts of a figure, with a line a part and the time left."""
    missing = [
        part
        for part in figure.parts
        if condition_of(_path(figure, part, folder, rows)) != "good"
    ]
    print(f"{figure.title}: {len(missing)} parts to run; in {folder / figure.key}")
    progress = _Progress(len(missing))
    for part in missing:
        path = _path(figure, part, folder, rows)
        keep_arrays(path, lambda part=part: figure.parts[part](rows))  # type: ignore[misc]
        progress.tell(part)


def read_parts(figure: Figure, folder: Path, rows: int | None) -> dict[str, Arrays]:
    """Read the parts of a figure that have been run, in its order."""
    paths = {part: _path(figure, part, folder, rows) for part in figure.parts}
    return {
        part: keep_arrays(path, dict) for part, path in paths.items() if path.exists()
    }


def write_report(folder: Path, out: Path) -> bool:
    """Write all that has been run, as Markdown to `out` and as HTML beside it."""
    sections = [
        table_section(table, rows)
        for key, table in TABLES.items()
        if (rows := Results(folder, key).read())
    ]
    for key, figure in FIGURES.items():
        parts = read_parts(figure, folder, None)
        if parts:
            picture = out.parent / "figures" / f"{key}.png"
            draw_figure(figure, parts, picture)
            notes = [figure.note] if figure.note else []
            notes.append(f"Made by `kfriendly paper run {key}`.")
            section = Section(key, figure.title, picture=picture, notes=tuple(notes))
            sections.append(section)
    if not sections:
        print(
            f"There are no results in {folder}; run `kfriendly paper run KEY` first.",
            file=sys.stderr,
        )
        return False
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(as_markdown(sections, out.parent), encoding="utf-8")
    page = out.with_suffix(".html")
    page.write_text(as_html(sections), encoding="utf-8")
    print(f"See {page} and {out}")
    return True


class _Progress:
    """A line for each thing done, with the time left."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._began = time.monotonic()

    def tell(self, name: str) -> None:
        self._done += 1
        a_piece = (time.monotonic() - self._began) / self._done
        left = a_piece * (self._total - self._done) / 60
        print(f"{self._done}/{self._total} {name}; {left:.0f} min left", flush=True)


def _path(figure: Figure, part: str, folder: Path, rows: int | None) -> Path:
    """Name a part's file, without characters that file systems mind."""
    name = "".join(c if c.isalnum() else "-" for c in part)
    return (
        folder / figure.key / (f"{name}.npz" if rows is None else f"{name}-{rows}.npz")
    )


def _name(fit: Fit) -> str:
    method = "DCN" if len(fit.methods) > 1 else fit.methods[0]
    words = [fit.case.name, method, fit.setting, f"seed {fit.seed}"]
    return ", ".join(word for word in words if word)
