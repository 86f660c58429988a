"""What tests of inputs share; here, because two files of this name confuse mypy."""

import json
from pathlib import Path
from typing import Any

import pytest
from learned import Csv, Learn, Learned

from kfriendly.inputs import (
    InputOptions,
    features_from_json,
    open_input,
    plan_features,
)


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
