"""`kfriendly compare`: two runs side by side."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from kfriendly.cli import runs
from kfriendly.cli.screen import Screen
from kfriendly.cli.tables import read_ids_and_clusters
from kfriendly.errors import ModelFileError
from kfriendly.metrics import ari, nmi

# Measures of the verdict that need no labels: what to show, and which side is better.
_SCORES = {
    "silhouette_learned": "silhouette, learned space (higher)",
    "silhouette_data": "silhouette, data (higher)",
    "davies_bouldin_learned": "Davies-Bouldin, learned space (lower)",
    "davies_bouldin_data": "Davies-Bouldin, data (lower)",
    "stability": "stability over starts (higher)",
}


class Agreement(NamedTuple):
    """How far two runs put the same rows together."""

    shared: int
    ari: float | None
    nmi: float | None


def compare_runs(first: Path, second: Path, screen: Screen) -> None:
    """Show parameters that differ, scores without labels, and agreement on rows."""
    folders = (first, second)
    found = [runs.read_run(folder) for folder in folders]
    lines = _parameters(found)
    scores = _scores(found)
    agreement = agree(first, second)
    same = found[0]["data"].get("fingerprint") == found[1]["data"].get("fingerprint")
    screen.result(
        Group(
            _table("parameter", folders, lines or {"(none differs)": ["", ""]}),
            "",
            _table("outcome", folders, scores),
            "",
            Text(_words(agreement, same)),
        ),
        runs=[str(first), str(second)],
        parameters=lines,
        outcome=scores,
        agreement=agreement._asdict(),
        same_data=same,
    )


def agree(first: Path, second: Path) -> Agreement:
    """Compare the clusters of rows that both runs know, by their ids."""
    tables = [_labels(folder) for folder in (first, second)]
    shared = sorted(set(tables[0]) & set(tables[1]))
    if len(shared) < 2:
        return Agreement(len(shared), None, None)
    a, b = (np.array([table[id_] for id_ in shared]) for table in tables)
    return Agreement(len(shared), ari(a, b), nmi(a, b))


def _labels(folder: Path) -> dict[str, int]:
    path = runs.labels_of(folder)
    try:
        ids, clusters = read_ids_and_clusters(path)
    except (ValueError, KeyError, OSError) as error:  # pyarrow's errors are these
        raise ModelFileError(
            f"{path} cannot be read: {str(error).splitlines()[0]}.\nIt was changed "
            "or cut off after it was written.\nTake it from a copy, or fit again."
        ) from error
    return dict(zip(ids, clusters.tolist(), strict=True))


def _parameters(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    """List what was asked for, resolved and read, where the two differ."""
    sides = []
    for run in found:
        data = {f"data: {k}": v for k, v in run["data"].items()}
        options = {f"input: {k}": v for k, v in run["input"].items()}
        made = run.get("versions", {}).get("kfriendly")
        both = {**run["parameters"], **run.get("resolved", {})}
        sides.append({**both, **options, **data, "kfriendly": made})
    names = list(dict.fromkeys([*sides[0], *sides[1]]))
    return {
        name: [_short(side.get(name)) for side in sides]
        for name in names
        if sides[0].get(name) != sides[1].get(name)
    }


def _scores(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    """List what came of each run; no measure here knows of classes."""
    lines: dict[str, list[str]] = {}
    for run in found:
        outcome, verdict = run["outcome"], run.get("verdict") or {}
        scores = (verdict.get("scores") or [{}])[0]
        sizes = outcome.get("sizes") or [0]
        values = {
            "verdict": verdict.get("headline"),
            **{words: scores.get(name) for name, words in _SCORES.items()},
            "reconstruction error": outcome.get("reconstruction_error"),
            "clustering cost (inertia)": outcome.get("inertia"),
            "smallest and largest cluster": f"{min(sizes):,}, {max(sizes):,}",
            "seconds": outcome.get("seconds"),
        }
        for name, value in values.items():
            lines.setdefault(name, []).append(_short(value))
    return lines


def _table(heading: str, folders: tuple[Path, Path], lines: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(heading, overflow="fold")
    for folder in folders:
        table.add_column(str(folder), overflow="fold")
    for name, (left, right) in lines.items():
        table.add_row(name, Text(left), Text(right))
    return table


def _words(agreement: Agreement, same: bool) -> str:
    if agreement.ari is None:
        return (
            "The runs share no rows, so their clusters cannot be compared. "
            "Fit both with the same --id."
        )
    known = "" if same else " The data differ: rows are matched by their ids only."
    return (
        f"On {agreement.shared:,} shared rows the clusters agree to "
        f"{agreement.ari:.3f} (adjusted Rand index: 1 is the same, 0 is chance); "
        f"NMI {agreement.nmi:.3f}.{known}"
    )


def _short(value: object) -> str:
    """Write a value so that it fits a table."""
    if value is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
