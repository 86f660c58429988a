"""Results of a long run, a line of JSON each, kept as they come."""

import json
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the results there are; one that an interrupted run cut short is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text("utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"Left out of {path}, not complete: {line[:60]}")
    return rows


def append_line(path: Path, row: dict[str, Any]) -> None:
    """Print a result and keep it."""
    line = json.dumps(row)
    print(line, flush=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
