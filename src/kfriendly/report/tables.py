"""The paper's tables beside ours: what a page of results says."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kfriendly.experiments.base import Scores, Table
from kfriendly.experiments.results import Row

HEAD = tuple("data method setting NMI ARI ACC seeds seconds MB paper".split())


class Section(NamedTuple):
    """A table or a figure of the page, with remarks under it."""

    key: str
    title: str
    head: tuple[str, ...] = ()
    lines: tuple[tuple[str, ...], ...] = ()
    picture: Path | None = None
    notes: tuple[str, ...] = ()


def table_section(table: Table, rows: Sequence[Row]) -> Section:
    """Tell of one table: a line for each case, method and setting that was run."""
    lines: list[tuple[str, ...]] = []
    for case in table.cases:
        for method in table.methods:
            lines += _lines(table, rows, case.name, method)
    notes = [table.note] if table.note else []
    quick = sorted({row.rows for row in rows if row.rows is not None})
    if quick:
        counts = ", ".join(f"{n:,}" for n in quick)
        notes.append(f"Quick looks on {counts} rows are marked and do not compare.")
    commits = ", ".join(sorted({row.commit for row in rows}))
    notes.append(f"Made by `kfriendly paper run {table.key}`; commits {commits}.")
    head, *filled = _without_empty([HEAD, *lines])
    return Section(table.key, table.title, head, tuple(filled), notes=tuple(notes))


def _without_empty(lines: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out columns that have nothing but a head, but for the first three."""
    kept = [i for i, cells in enumerate(zip(*lines, strict=True)) if any(cells[1:])]
    kept = sorted({0, 1, 2, *kept})
    return [tuple(line[i] for i in kept) for line in lines]


def _lines(
    table: Table, rows: Sequence[Row], case: str, method: str
) -> list[tuple[str, ...]]:
    mine = [row for row in rows if row.case == case and row.method == method]
    kinds = dict.fromkeys((row.setting, row.rows) for row in mine)
    lines = []
    for setting, n_rows in kinds:
        some = [r for r in mine if (r.setting, r.rows) == (setting, n_rows)]
        printed = table.printed.get((case, method)) if n_rows is None else None
        data = case or "all"
        data = data if n_rows is None else f"{data}, {n_rows:,} rows"
        lines.append((data, method, setting, *_figures(some), as_printed(printed)))
    return lines


def _figures(rows: Sequence[Row]) -> list[str]:
    """Write means, with the deviation over seeds where there are several."""
    scores = np.array([(row.nmi, row.ari, row.acc) for row in rows])
    cells = [f"{mean:.3f}" for mean in scores.mean(axis=0)]
    if len(rows) > 1:
        spread = scores.std(axis=0, ddof=1)
        cells = [f"{c} ± {s:.3f}" for c, s in zip(cells, spread, strict=True)]
    seconds = float(np.mean([row.seconds for row in rows]))
    weighed = [row.megabytes for row in rows if row.megabytes is not None]
    megabytes = f"{max(weighed):,}" if weighed else ""
    return [*cells, str(len(rows)), f"{seconds:,.0f}", megabytes]


def as_printed(scores: Scores | None) -> str:
    """Write scores as the paper does; nothing where it has none."""
    if scores is None:
        return ""
    return "/".join(f"{score:.2f}".replace("0.", ".") for score in scores)
