"""A loaded model is the saved one."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from saved_models import fit, make_rows, read_manifest
from sklearn.exceptions import NotFittedError

from kfriendly import (
    DCN,
    Altered,
    ConvFactory,
    Descent,
    DropWords,
    KMeans,
    KSubspace,
    MLPFactory,
    MoveImages,
    Neighbors,
    NotSavable,
    SoftKMeans,
)
from kfriendly.criteria.kmeans import CentroidState
from kfriendly.losses import absolute
from kfriendly.metrics import margin_confidence
from kfriendly.training.state import TrainState

VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "paper's start": {"init": "kmeans"},
    "neighbours": {"views": Neighbors(4, n_steps=2)},
    "moved images": {"views": Altered(MoveImages((4, 4)), contrast=0.5)},
    "fewer words": {"views": Neighbors(3, alter=DropWords(0.3))},
    "one start": {"n_init": 1},
    "no joint training": {"max_epochs": 0},
    "conv": {"network": "conv", "input_shape": (4, 4), "n_init": 1, "max_epochs": 1},
    "conv factory": {
        "network": ConvFactory((1, 4, 4), channels=(4,), normalisation="batch")
    },
    "tied": {"network": MLPFactory((8,), tied=True)},
    "batch norm": {"network": MLPFactory((8, 4), normalisation="batch")},
    "soft": {"criterion": SoftKMeans(temperature=0.2)},
    "subspace": {"criterion": KSubspace(q=1)},
    "capped": {"criterion": KMeans(max_count=1e3)},
    "sgd": {"optimizer": Descent("sgd", 1e-3, schedule="diminishing", clip=1.0)},
    "two optimisers": {"pretrain_optimizer": "sgd"},
    "loss by function": {"loss": absolute},
    "no loss": {"loss": "none"},
    "stored": {"assignment": "stored", "refresh_every": 1},
    "numpy's numbers": {"n_clusters": np.int64(3), "lam": np.float32(0.5)},
    "list of widths": {"hidden": [8, 4]},
    "RandomState": {"random_state": np.random.RandomState(5)},
    "device": {"device": torch.device("cpu")},
}


@pytest.fixture
def X() -> np.ndarray:
    return make_rows()


def reloaded(model: DCN, folder: Path) -> DCN:
    model.save(folder / "model")
    return DCN.load(folder / "model")


def assert_same(a: DCN, b: DCN, X: Any) -> None:
    """Compare all that a fitted model can be asked, bit for bit."""
    for method in ("predict", "transform", "score_samples", "distances"):
        np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))
    assert a.score(X) == b.score(X)
    H = a.transform(X)
    np.testing.assert_array_equal(a.inverse_transform(H), b.inverse_transform(H))


@pytest.mark.parametrize("name", VARIANTS)
def test_load_gives_the_model_back_and_training_goes_on(
    name: str, X: np.ndarray, tmp_path: Path
) -> None:
    model = fit(X, **VARIANTS[name])
    loaded = reloaded(model, tmp_path)
    assert_same(model, loaded, X)
    for chunk in (X[:50], X[50:]):
        model.partial_fit(chunk)
        loaded.partial_fit(chunk)
    assert_same(model, loaded, X)


def test_load_keeps_every_fitted_attribute(X: np.ndarray, tmp_path: Path) -> None:
    model = fit(X)
    loaded = reloaded(model, tmp_path)
    names = {name for name in vars(model) if name.endswith("_")}
    assert names == {name for name in vars(loaded) if name.endswith("_")}
    for name in names - {"history_", "start_labels_", "scaling_"}:
        np.testing.assert_array_equal(getattr(model, name), getattr(loaded, name))
    np.testing.assert_equal(model.start_labels_, loaded.start_labels_)
    np.testing.assert_equal(tuple(model.scaling_), tuple(loaded.scaling_))
    np.testing.assert_equal(
        [record._asdict() for record in model.history_],
        [record._asdict() for record in loaded.history_],
    )


def test_load_keeps_parameters(X: np.ndarray, tmp_path: Path) -> None:
    model = fit(X, criterion=KMeans(prior_count=7), optimizer=Descent(momentum=0.5))
    assert reloaded(model, tmp_path).get_params() == model.get_params()


def test_load_keeps_the_state_of_training(X: np.ndarray, tmp_path: Path) -> None:
    model = fit(X).partial_fit(X)  # so that the optimiser has something to remember
    before, after = model._state, reloaded(model, tmp_path)._state
    assert isinstance(after, TrainState)
    numbers, same = before.snapshot(), after.snapshot()
    assert numbers.pop("leg") == same.pop("leg")
    torch.testing.assert_close(numbers, same, rtol=0, atol=0)
    assert before.rng.initial_seed() == after.rng.initial_seed()


def test_load_keeps_names_of_columns(X: np.ndarray, tmp_path: Path) -> None:
    names = ["a, b", "", "größe", "<script>", "\n", *map(str, range(11))]
    frame = pd.DataFrame(X, columns=names)
    model = fit(frame)
    loaded = reloaded(model, tmp_path)
    assert loaded.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(frame), loaded.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[names[::-1]])


@pytest.mark.parametrize("n_init", [1, 2])
def test_load_keeps_the_memory_layout_of_wide_layers(
    n_init: int, tmp_path: Path
) -> None:
    rows = sp.random_array((40, 5000), density=0.01, rng=np.random.default_rng(0))
    X = sp.csr_array(rows)
    model = fit(X, n_init=n_init)
    loaded = reloaded(model, tmp_path)
    assert_same(model, loaded, X)
    strides = [p.stride() for p in model._state.network.parameters()]
    assert strides == [p.stride() for p in loaded._state.network.parameters()]


def test_save_again_gives_the_same_files(X: np.ndarray, tmp_path: Path) -> None:
    fit(X).save(tmp_path / "a")
    DCN.load(tmp_path / "a").save(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_save_refuses_to_replace_without_being_told(
    X: np.ndarray, tmp_path: Path
) -> None:
    model = fit(X)
    model.save(tmp_path / "m")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.save(tmp_path / "m")
    model.partial_fit(X).save(tmp_path / "m", overwrite=True)
    assert_same(model, DCN.load(tmp_path / "m"), X)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_save_never_replaces_a_folder_that_is_no_model(
    X: np.ndarray, tmp_path: Path
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "1.jpg").touch()
    with pytest.raises(FileExistsError, match="holds other things"):
        fit(X).save(tmp_path / "photos", overwrite=True)


def test_save_before_fit_raises_not_fitted(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        DCN().save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


class OwnFactory(MLPFactory):
    """A network that no file can hold: there may be any code in it."""


class OwnKMeans(KMeans):
    def init(self, H: torch.Tensor, n_clusters: int, seed: int) -> CentroidState:
        return super().init(H, n_clusters, seed + 1)


def own_loss(x_hat: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (x_hat - x).pow(4).sum(-1)


@pytest.mark.parametrize(
    "parameters, place",
    [
        ({"network": OwnFactory((8,))}, r"network is .*OwnFactory"),
        ({"criterion": OwnKMeans()}, r"criterion is .*OwnKMeans"),
        ({"loss": own_loss}, r"loss is .*own_loss"),
    ],
)
def test_save_refuses_parts_that_are_not_ours(
    parameters: dict[str, Any], place: str, X: np.ndarray, tmp_path: Path
) -> None:
    with pytest.raises(NotSavable, match=place + ".*cannot be saved"):
        fit(X, **parameters).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_manifest_lists_versions_files_and_tensors(
    X: np.ndarray, tmp_path: Path
) -> None:
    fit(X).save(tmp_path / "m")
    manifest = read_manifest(tmp_path / "m")
    assert manifest["format_version"] == 1
    assert list(manifest["files"]) == ["weights.safetensors"]
    centres = manifest["tensors"]["state.cluster.M"]
    assert centres == {"dtype": "float64", "shape": [3, 3]}


def test_load_on_another_device_than_the_saved_one(
    X: np.ndarray, tmp_path: Path
) -> None:
    model = fit(X)
    model.set_params(device="cuda").save(tmp_path / "m")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="torch sees no GPU"):
            DCN.load(tmp_path / "m")
    loaded = DCN.load(tmp_path / "m", device="cpu")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_distances_are_those_that_predict_goes_by(X: np.ndarray) -> None:
    model = fit(X)
    D = model.distances(X)
    assert D.shape == (len(X), 3)
    np.testing.assert_array_equal(D.argmin(axis=1), model.predict(X))
    H = model.transform(X)
    expected = np.linalg.norm(H[:, None] - model.cluster_centers_, axis=2)
    np.testing.assert_allclose(D, expected, rtol=1e-5)
    assert margin_confidence(D).min() >= 0
