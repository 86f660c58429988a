"""Figures: every part on few rows."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import needs_data

from kfriendly import DCN
from kfriendly.baselines import DEC
from kfriendly.experiments import FIGURES, figures
from kfriendly.experiments.figures import Figure
from kfriendly.report.figures import draw_figure

# Methods meet fewer rows than they are made for.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = 80
QUICK: dict[str, Any] = {"hidden": (8,), "pretrain_epochs": 2, "max_epochs": 2}
NEED_DATA = ("fig5a", "fig5b", "fig6", "supp-fig3")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few epochs for every network."""
    monkeypatch.setattr(figures, "DCN", partial(DCN, **QUICK))
    monkeypatch.setattr(figures, "DEC", partial(DEC, **QUICK))


def _check(figure: Figure, folder: Path) -> None:
    parts = {name: part(ROWS) for name, part in figure.parts.items()}
    for arrays in parts.values():
        numbers = [a for a in arrays.values() if a.dtype.kind in "fiu"]
        assert all(np.isfinite(array).all() for array in numbers)
    draw_figure(figure, parts, folder / "new" / "picture.png")
    picture = (folder / "new" / "picture.png").read_bytes()
    assert picture.startswith(b"\x89PNG")


@pytest.mark.parametrize("key", [key for key in FIGURES if key not in NEED_DATA])
def test_figure_is_computed_and_drawn(key: str, tmp_path: Path) -> None:
    _check(FIGURES[key], tmp_path)


@needs_data
@pytest.mark.parametrize("key", NEED_DATA)
def test_figure_of_real_data_is_computed_and_drawn(key: str, tmp_path: Path) -> None:
    _check(FIGURES[key], tmp_path)


def test_true_latent_is_that_of_the_data() -> None:
    arrays = FIGURES["fig1"].parts["true latent"](400)
    assert float(arrays["nmi"]) > 0.95
    centres = [arrays["points"][arrays["y"] == k].mean(0) for k in range(4)]
    expected = [[0, 0], [0, 10], [10, 0], [10, 10]]
    assert np.allclose(centres, expected, atol=1.0)


def test_paper_has_nine_panels_of_spaces() -> None:
    for key in ("fig1", "supp-fig1", "supp-fig2"):
        assert len(FIGURES[key].parts) == 9
