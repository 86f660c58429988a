"""Pre-processed MNIST: scattering, then SSC-OMP's embedding."""

from pathlib import Path

import numpy as np
import pytest
from marks import needs_data
from sklearn.cluster import KMeans

from kfriendly.datasets import load, preprocessed
from kfriendly.datasets.base import Dataset
from kfriendly.metrics import nmi


@needs_data
@pytest.mark.slow
def test_kmeans_clusters_pre_processed_digits_better_than_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    data = load("mnist-preprocessed", part="test")
    assert data.X.shape == (10_000, 10)
    assert np.allclose(np.linalg.norm(data.X, axis=1), 1.0)
    labels = KMeans(10, n_init=3, random_state=0).fit_predict(data.X)
    assert nmi(data.y, labels) > 0.9  # pixels: .50; components not whitened: .78


def test_both_stages_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.random.RandomState(0).randint(256, size=(30, 784), dtype=np.uint8)
    few = Dataset("mnist", images, np.arange(30) % 3, 3)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(preprocessed, "load_mnist", lambda part: few)
    first = load("mnist-preprocessed", part="test", J=2, L=2)
    assert first.X.shape == (30, 3)
    names = {path.name for path in (tmp_path / "kfriendly").iterdir()}
    assert {name for name in names if name.endswith(".npz")} == {
        "mnist-test-scattering-J2-L2.npz",
        "mnist-test-preprocessed-white-J2-L2.npz",
    }
    monkeypatch.setattr(preprocessed, "_embed", None)  # not made again
    assert np.array_equal(load("mnist-preprocessed", part="test", J=2, L=2).X, first.X)


def test_components_of_one_variance_decide_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Spy:
        def __init__(self, n_clusters: int, random_state: int) -> None: ...

        def fit(self, X: np.ndarray) -> "Spy":
            seen.append(X)
            self.embedding_ = X[:, :3]
            return self

    rows = np.random.RandomState(0).randn(50, 4) * [10.0, 1.0, 0.1, 1e-6]
    digits = Dataset("mnist-scattering", rows, np.arange(50) % 3, 3)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(preprocessed, "load_scattered_mnist", lambda *sizes: digits)
    monkeypatch.setattr("kfriendly.baselines.ssc_omp.SSCOMP", Spy)
    for whiten in (True, False):
        load("mnist-preprocessed", part="test", whiten=whiten)
    white, plain = seen
    assert np.allclose(white[:, :3].std(axis=0), 1.0)
    assert white[:, 3].std() < 0.01  # no more than rounding
    assert np.array_equal(plain, rows)
