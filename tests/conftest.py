"""What tests of inputs and of the command line share."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import TINY, run
from learned import Csv, Learn, Learned

from kfriendly.inputs import (
    InputOptions,
    features_from_json,
    open_input,
    plan_features,
)
from kfriendly.inputs.table_features import TableFeatures


@pytest.fixture
def learn() -> Learn:
    """Open, read, plan, transform; JSON and back on the way."""

    def _learn(spec: Path | str, **choices: Any) -> Learned:
        options = InputOptions(**choices)
        source = open_input(str(spec), options)
        batch = source.read()
        features = plan_features(source, batch, options)
        batch = features.drop_incomplete(batch)
        again = features_from_json(json.loads(json.dumps(features.to_json())))
        assert again == features
        X = again.transform(batch)
        assert X.dtype == "float32" and X.shape == (len(batch.ids), len(again.names))
        if isinstance(again, TableFeatures) and again.sizes:
            # Tests speak of the numbers before columns are made to weigh alike.
            widths = [len(encoding.names) for encoding in again.encodings]
            X = (X * np.repeat(again.sizes, widths)).round(5).astype("float32")
        return Learned(source, batch, features, X)

    return _learn


@pytest.fixture
def csv(tmp_path: Path) -> Csv:
    """Write a CSV file."""

    def _write(content: str | bytes) -> Path:
        path = tmp_path / "rows.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


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
