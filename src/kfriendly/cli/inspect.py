"""`kfriendly inspect`: what is in a run, and whether it is whole."""

from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from kfriendly.cli import runs
from kfriendly.cli.exits import Code, Refused
from kfriendly.cli.memory import in_bytes
from kfriendly.cli.screen import Screen, in_words
from kfriendly.estimator import DCN


def inspect_run(folder: Path, screen: Screen) -> None:
    """Show data, model, outcome and files; leave with code 4 if a file was changed."""
    run = runs.read_run(folder)
    found = runs.verify(folder, run)
    broken = [name for name, state in found.items() if state != "whole"]
    if not any(name.startswith(f"{runs.MODEL}/") for name in broken):
        DCN.load(folder / runs.MODEL)  # refuses what checksums cannot tell
    screen.result(
        Group(_facts(run), "", _files(folder, run, found)),
        run=str(folder),
        files=found,
        **{
            key: value for key, value in run.items() if key not in ("files", "features")
        },
    )
    if broken:
        raise Refused(
            Code.MODEL,
            f"{len(broken)} of {len(found)} files are not as they were written.",
            f"In {folder}: {', '.join(broken)}.",
            "Take them from a copy, or fit again.",
        )


def _facts(run: dict[str, Any]) -> Table:
    """Say what was fitted to what, and what came of it."""
    data, outcome = run["data"], run["outcome"]
    resolved = run.get("resolved", {})
    sizes = outcome.get("sizes") or [0]
    facts = {
        "command": run.get("command"),
        "data": f"{data.get('name')}: {data.get('rows', 0):,} rows, "
        f"{data.get('columns', 0):,} columns",
        "SHA-256 of it": data.get("fingerprint"),
        "clusters": f"{len(sizes)}, of {min(sizes):,} to {max(sizes):,} rows",
        "network": f"{resolved.get('network')}; a space of "
        f"{resolved.get('n_components')} dimensions",
        "training": f"{in_words(float(outcome.get('seconds', 0)))}, "
        f"{outcome.get('epochs')} joint epochs",
        "reconstruction error": f"{outcome.get('reconstruction_error'):.4g}",
        "verdict": run.get("verdict", {}).get("headline"),
        "seed": run.get("seed"),
        "began": run.get("began"),
        "versions": ", ".join(f"{k} {v}" for k, v in run.get("versions", {}).items()),
        "notes": "\n".join(run.get("notes", []) + run.get("warnings", [])),
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in (None, ""):
            table.add_row(name, Text(str(value)))
    return table


def _files(folder: Path, run: dict[str, Any], found: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("file")
    table.add_column("size", justify="right")
    table.add_column("checksum")
    for name, state in found.items():
        style = "green" if state == "whole" else "bold red"
        size = in_small_bytes(run["files"][name].get("bytes", 0))
        table.add_row(Text(name), size, Text(state, style=style))
    return table


def in_small_bytes(n_bytes: int) -> str:
    """Say the size of a file.

    Examples
    --------
    >>> in_small_bytes(900), in_small_bytes(52_000)
    ('900 bytes', '52 kB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes < 1e6 else in_bytes(n_bytes)
