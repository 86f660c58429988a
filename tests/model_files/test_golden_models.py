"""Models written by released versions keep loading, and give the same labels.

`python tests/model_files/test_golden_models.py FOLDER` writes one with the version at
hand: at a release that changes the format, into tests/golden_models/format-N. The files
of earlier formats are never written anew.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from saved_models import fit, make_rows

from kfriendly import DCN, ConvFactory, KMeans, SoftKMeans

GOLDEN = Path(__file__).parents[1] / "golden_models"
ANSWERS = "answers.json"


@pytest.mark.parametrize(
    "folder",
    sorted(GOLDEN.glob("format-*/*/")),
    ids=lambda p: f"{p.parent.name}-{p.name}",
)
def test_case_42_golden_model_loads_and_gives_the_same_labels(folder: Path) -> None:
    answers = json.loads((folder / ANSWERS).read_text())
    model = DCN.load(folder)
    X = np.array(answers["rows"])
    assert model.predict(X).tolist() == answers["labels"]
    np.testing.assert_allclose(model.transform(X), answers["latent"], rtol=1e-3)
    model.partial_fit(X)


def test_there_is_a_golden_model_of_this_format() -> None:
    assert len(list(GOLDEN.glob("format-1/*/answers.json"))) == 3


def write(folder: Path) -> None:
    X = make_rows(40, 16).round(2)
    models = {
        "mlp": fit(X, hidden=(4,), criterion=KMeans(prior_count=10)),
        "conv": fit(X, network=ConvFactory((4, 4), channels=(2,)), optimizer="sgd"),
        "soft": fit(X, hidden=(4,), init="kmeans", criterion=SoftKMeans()),
    }
    for name, model in models.items():
        model.save(folder / name)
        found = {
            "rows": X.tolist(),
            "labels": model.predict(X).tolist(),
            "latent": model.transform(X).tolist(),
        }
        (folder / name / ANSWERS).write_text(json.dumps(found))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
