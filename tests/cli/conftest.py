"""Files to cluster, and a run that is fitted once."""

from pathlib import Path

import numpy as np
import pytest
from commands import TINY, run


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV file of 120 rows: names, three columns of numbers, and classes."""
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    rng = np.random.RandomState(0)
    lines = ["name,a,b,c,kind"]
    for i in range(120):
        x = rng.randn(3) + 4 * (i % 3)
        lines.append(f"r{i:03d},{x[0]:.4f},{x[1]:.4f},{x[2]:.4f},k{i % 3}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def fitted(rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run; tests that change it copy it first."""
    out = tmp_path_factory.mktemp("runs") / "run"
    names = ("--id", "name", "--label", "kind")
    result = run("fit", rows, "-k", 3, "--out", out, *names, *TINY)
    assert result.exit_code == 0, result.output
    return out
