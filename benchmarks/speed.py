"""Speed and memory, as ratios: of the machine's limit, of peers, of ourselves.

    make bench                                  all figures
    python benchmarks/speed.py starts import    some of them

Writes results/speed.json and results/speed.txt; figures that were not asked for are
kept as they are there.
"""

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from typing import Any

import numpy as np
import peers
import torch
from figures import FIGURES, WITH_PEER
from provenance import ROOT, provenance
from timing import Figure

JSON = ROOT / "results" / "speed.json"
TEXT = ROOT / "results" / "speed.txt"


def main(names: list[str]) -> None:
    """Measure, print and write."""
    missing = peers.install() if set(names) & set(WITH_PEER) else None
    found = json.loads(JSON.read_text("utf-8")) if JSON.exists() else {}
    for name in names:
        if missing and name in WITH_PEER:
            print(f"{name}: skipped, ClustPy could not be installed: {missing}")
            continue
        found[name] = describe(FIGURES[name]())
        if name in WITH_PEER:
            found[name]["peer"] = peers.versions()
        print(line(found[name]), flush=True)
        found = {name: found[name] for name in FIGURES if name in found}
        JSON.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        TEXT.write_text(table(found), "utf-8")


def describe(figure: Figure) -> dict[str, Any]:
    """Return a figure with everything that is needed to believe it."""
    low, high = np.percentile(figure.ratios, [25, 75])
    return {
        "figure": figure.name,
        "median": round(figure.median, 3),
        "quartiles": [round(float(low), 3), round(float(high), 3)],
        "target": f"{'>=' if figure.at_least else '<='} {figure.target}",
        "met": figure.is_met,
        "note": figure.note,
        "ratios": [round(ratio, 3) for ratio in figure.ratios],
        "machine": f"{processor()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "when": datetime.now(UTC).isoformat(timespec="minutes"),
        **provenance(),
    }


def line(row: dict[str, Any]) -> str:
    """Write one figure as a line of the table."""
    low, high = row["quartiles"]
    met = "met" if row["met"] else "MISSED"
    return (
        f"{row['figure']:76} {row['median']:7.2f}  {low:6.2f} - {high:5.2f}  "
        f"{row['target']:7} {met:6}  {row['note']}"
    )


def table(found: dict[str, Any]) -> str:
    """Write all figures, and what they were measured with."""
    with_ = sorted(
        {
            f"{row['machine']}, {row['threads']} threads, Python {row['python']}, "
            f"torch {row['torch']}, scikit-learn {row['sklearn']}, "
            f"commit {row['commit']}"
            for row in found.values()
        }
    )
    peer = [row["peer"] for row in found.values() if "peer" in row][:1]
    lines = [
        "Ratios measured in one run, interleaved: median, quartiles, target",
        "",
        *map(line, found.values()),
        "",
        *with_,
        *(f"ClustPy {p['clustpy']} with torch {p['torch']}" for p in peer),
    ]
    return "\n".join(lines) + "\n"


def processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [text.split(":")[1] for text in file if "model name" in text]
        return names[0].strip()
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(FIGURES)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(FIGURES):
        parser.error(f"no such figure: {unknown.pop()}; use {', '.join(FIGURES)}")
    main(arguments.names or list(FIGURES))
