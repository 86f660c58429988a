"""DCN as a user meets it."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch
from sklearn.cluster import KMeans as ScikitKMeans
from sklearn.datasets import load_digits, make_blobs

from kfriendly import DCN, Descent, KMeans, KSubspace, MLPFactory
from kfriendly.datasets import make_sigmoid_squared
from kfriendly.metrics import ari, nmi
from kfriendly.networks import MLP, Autoencoder, LayerPair

QUICK: dict[str, Any] = {
    "n_clusters": 3,
    "hidden": (8,),
    "pretrain_epochs": 3,
    "max_epochs": 5,
    "n_init": 2,
    "batch_size": 32,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    return np.asarray(make_blobs(160, 5, centers=3, random_state=1)[0])


@pytest.fixture(scope="module")
def fitted(blobs: np.ndarray) -> DCN:
    return DCN(**QUICK).fit(blobs)


def test_fit_predict_finds_blobs() -> None:
    X, y = make_blobs(200, 6, centers=4, cluster_std=0.5, random_state=3)
    assert ari(y, DCN(4, n_init=2, random_state=0).fit_predict(X)) == 1.0


def test_frozen_centres_are_those_of_the_mixture() -> None:
    X, y = make_blobs(200, 6, centers=4, cluster_std=0.5, random_state=3)
    dcn = DCN(4, n_init=1, criterion=KMeans(centers="frozen"), random_state=0).fit(X)
    assert ari(y, dcn.initial_labels_) == 1.0
    assert ari(y, dcn.labels_) == 1.0
    assert np.array_equal(dcn.labels_, dcn.initial_labels_)


def test_fit_beats_kmeans_where_clusters_are_bent() -> None:
    X, y = make_sigmoid_squared(250, random_state=100)
    found = DCN(4, pretrain_epochs=40, max_epochs=20, random_state=0).fit_predict(X)
    kmeans = ScikitKMeans(4, n_init=10, random_state=0).fit_predict(X)
    assert nmi(y, found) > nmi(y, kmeans) + 0.1


def test_labels_equal_predict_on_training_data(fitted: DCN, blobs: np.ndarray) -> None:
    assert np.array_equal(fitted.labels_, fitted.predict(blobs))
    assert fitted.cluster_sizes_.sum() == len(blobs)


def test_fit_same_seed_same_result(fitted: DCN, blobs: np.ndarray) -> None:
    again = DCN(**QUICK).fit(blobs)
    assert np.array_equal(again.transform(blobs), fitted.transform(blobs))


def test_fit_leaves_global_seeds_alone(blobs: np.ndarray) -> None:
    before = torch.get_rng_state(), np.random.get_state(legacy=False)
    DCN(**QUICK).fit(blobs)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert str(np.random.get_state(legacy=False)) == str(before[1])


def test_fit_on_csr_equals_fit_on_dense(blobs: np.ndarray) -> None:
    X = np.where(np.abs(blobs) < 3, 0.0, blobs)
    # Without views: neighbours of sparse rows are those at small angles.
    dense, sparse = (DCN(**QUICK, views=None).fit(x) for x in (X, sp.csr_array(X)))
    np.testing.assert_allclose(
        sparse.transform(sp.csr_array(X)), dense.transform(X), rtol=1e-4, atol=1e-4
    )
    assert np.array_equal(dense.labels_, sparse.labels_)


@pytest.mark.parametrize("kind", ["float32", "int64", "uint8", "list", "fortran"])
def test_fit_takes_arrays_of_any_kind(kind: str, blobs: np.ndarray) -> None:
    X = np.round((blobs + 20) * 3)
    same: Any = X.tolist() if kind == "list" else np.asfortranarray(X)
    if kind not in ("list", "fortran"):
        same = X.astype(kind)
    assert np.array_equal(DCN(**QUICK).fit_predict(same), DCN(**QUICK).fit_predict(X))


def test_fit_takes_read_only_memmap(blobs: np.ndarray, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", blobs)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.array_equal(DCN(**QUICK).fit_predict(X), DCN(**QUICK).fit_predict(blobs))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_fit_takes_frames_and_gives_them_back(frame: Any, blobs: np.ndarray) -> None:
    X = frame({f"column{i}": blobs[:, i] for i in range(5)})
    kind = "pandas" if frame is pd.DataFrame else "polars"
    out = DCN(**QUICK).set_output(transform=kind).fit_transform(X)
    assert isinstance(out, frame)
    assert list(out.columns) == [f"dcn{i}" for i in range(10)]


def test_inverse_transform_is_in_the_units_of_the_data() -> None:
    X = make_blobs(300, 4, centers=3, random_state=0)[0] * 1000 + 5e5
    dcn = DCN(3, random_state=0, max_epochs=0, n_init=1, pretrain_epochs=20).fit(X)
    error = np.mean((dcn.inverse_transform(dcn.transform(X)) - X) ** 2)
    assert error < 0.2 * X.var()


def test_inverse_transform_refuses_wrong_width(fitted: DCN) -> None:
    with pytest.raises(
        ValueError, match="H has 2 columns, but the latent space has 10"
    ):
        fitted.inverse_transform(np.zeros((4, 2)))


def test_score_is_minus_eq4(fitted: DCN, blobs: np.ndarray) -> None:
    distances = fitted.transform(blobs) - fitted.cluster_centers_[fitted.labels_]
    clustering = np.mean(np.sum(distances**2, axis=1))
    expected = np.mean(fitted.score_samples(blobs)) - fitted.lam_ / 2 * clustering
    assert fitted.score(blobs) == pytest.approx(expected, rel=1e-5)


def test_inertia_and_reconstruction_error_match_scores(
    fitted: DCN, blobs: np.ndarray
) -> None:
    objective = fitted.reconstruction_error_ + fitted.lam_ / 2 * (
        fitted.inertia_ / len(blobs)
    )
    assert -fitted.score(blobs) == pytest.approx(objective)


def test_score_samples_is_low_for_an_outlier(fitted: DCN, blobs: np.ndarray) -> None:
    outlier = blobs[:1] + 100
    assert fitted.score_samples(outlier)[0] < fitted.score_samples(blobs).min()


def test_lam_auto_does_not_depend_on_units(blobs: np.ndarray) -> None:
    small, large = DCN(**QUICK).fit(blobs), DCN(**QUICK).fit(blobs * 1e4)
    assert large.lam_ == pytest.approx(small.lam_, rel=1e-3)
    assert np.array_equal(small.labels_, large.labels_)


def test_max_epochs_zero_is_sae_km(blobs: np.ndarray) -> None:
    dcn = DCN(**{**QUICK, "max_epochs": 0}).fit(blobs)
    assert dcn.n_iter_ == 0
    assert np.array_equal(dcn.labels_, dcn.sae_km_labels_)


def test_sae_km_labels_do_not_depend_on_joint_training(blobs: np.ndarray) -> None:
    joint = DCN(**{**QUICK, "n_init": 1}).fit(blobs)
    alone = DCN(**{**QUICK, "n_init": 1, "max_epochs": 0}).fit(blobs)
    assert np.array_equal(joint.sae_km_labels_, alone.labels_)


def test_history_has_every_epoch_of_the_chosen_start(fitted: DCN) -> None:
    phases = [(record.phase, record.epoch) for record in fitted.history_]
    assert phases == [("pretrain", i) for i in range(3)] + [
        ("joint", i) for i in range(5)
    ]
    assert all(record.objective.ndim == 0 for record in fitted.history_)
    sizes = fitted.history_[-1].sizes
    assert sizes is not None and sizes.sum() == len(fitted.labels_)


def test_best_start_has_lowest_score(fitted: DCN) -> None:
    best = int(np.argmin(fitted.start_scores_))
    assert len(fitted.start_labels_) == 2
    assert np.array_equal(fitted.start_labels_[best], fitted.labels_)


def test_partial_fit_over_chunks_equals_one_pass(blobs: np.ndarray) -> None:
    chunks, whole = DCN(**QUICK).fit(blobs), DCN(**QUICK).fit(blobs)
    rng = np.random.RandomState(0)
    new = blobs[rng.permutation(len(blobs))][:128]
    for part in (new[:64], new[64:96], new[96:]):  # all multiples of batch_size
        chunks.partial_fit(part)
    whole.partial_fit(new)
    assert np.array_equal(chunks.transform(blobs), whole.transform(blobs))
    assert np.array_equal(chunks.cluster_centers_, whole.cluster_centers_)


def test_partial_fit_follows_clusters_that_move(blobs: np.ndarray) -> None:
    dcn = DCN(**{**QUICK, "criterion": KMeans(prior_count=1, max_count=50)})
    dcn.partial_fit(blobs)
    before = dcn.cluster_centers_.copy()
    for _ in range(5):
        dcn.partial_fit(blobs + 2.0)
    assert np.abs(dcn.cluster_centers_ - before).max() > 0.01


def test_partial_fit_keeps_nothing_of_the_chunk(blobs: np.ndarray) -> None:
    dcn = DCN(**QUICK).partial_fit(blobs)
    dcn.partial_fit(np.repeat(blobs, 2, axis=0))
    size = len(pickle.dumps(dcn))
    dcn.partial_fit(np.repeat(blobs, 2, axis=0))
    assert len(pickle.dumps(dcn)) == pytest.approx(size, abs=100)


def test_batched_starts_equal_sequential_starts(
    blobs: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    params: dict[str, Any] = {**QUICK, "n_init": 4}
    batched = DCN(**params).fit(blobs)
    monkeypatch.setattr(MLP, "stackable", False)
    sequential = DCN(**params).fit(blobs)
    np.testing.assert_allclose(
        sequential.start_scores_, batched.start_scores_, rtol=1e-3
    )
    np.testing.assert_allclose(
        sequential.transform(blobs), batched.transform(blobs), rtol=1e-2, atol=1e-3
    )
    for one, other in zip(sequential.start_labels_, batched.start_labels_, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("normalisation", ["batch", "centring"])
def test_batched_starts_equal_sequential_ones_with_normalisation(
    normalisation: Any, blobs: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = MLPFactory((8,), normalisation=normalisation, tied=True)
    params = {**QUICK, "hidden": "auto", "network": network, "init": "kmeans"}
    batched = DCN(**params).fit(blobs)
    monkeypatch.setattr(MLP, "stackable", False)
    sequential = DCN(**params).fit(blobs)
    np.testing.assert_allclose(
        sequential.transform(blobs), batched.transform(blobs), rtol=1e-2, atol=1e-3
    )


@pytest.mark.parametrize(
    "params",
    [
        {"loss": "absolute"},
        {"loss": "none", "lam": 0.1},
        {"criterion": "soft_kmeans"},
        {"criterion": KSubspace(q=1)},
        {"init": "kmeans", "refresh_every": 2},
        {"init": "kmeans", "assignment": "stored"},
        {"criterion": KMeans(centers="frozen")},
        {"optimizer": "sgd"},
        {"optimizer": Descent("sgd", 0.01, schedule="constant", clip=1.0)},
        {"layer_epochs": 2},
        {"hidden": "auto", "layer_epochs": 2, "network": MLPFactory((8, 4), tied=True)},
        {"scale": "standard"},
        {"scale": "none"},
    ],
)
@pytest.mark.filterwarnings("ignore::kfriendly.EmptyClusterWarning")
def test_fit_works_with_every_choice(params: dict[str, Any], blobs: np.ndarray) -> None:
    found = DCN(**{**QUICK, **params}).fit(blobs)
    assert np.isfinite(found.transform(blobs)).all()
    assert np.array_equal(found.labels_, found.predict(blobs))


def test_fit_with_kl_keeps_reconstruction_non_negative() -> None:
    X = np.random.RandomState(0).poisson(3.0, (100, 6))
    dcn = DCN(**{**QUICK, "loss": "kl"}).fit(X)
    assert dcn.scaling_.rule == "nonnegative"
    assert (dcn.inverse_transform(dcn.transform(X)) >= 0).all()


def test_fit_on_images_uses_convolutions() -> None:
    X = load_digits().images[:120].reshape(120, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcn = DCN(
            3,
            network="conv",
            input_shape=(8, 8),
            n_init=2,
            pretrain_epochs=2,
            max_epochs=2,
        ).fit(X)
    assert dcn.inverse_transform(dcn.transform(X)).shape == (120, 64)


class _OwnNetwork(Autoencoder):
    """A user's network that knows nothing of starts."""

    def __init__(self, n_features: int, n_components: int) -> None:
        super().__init__()
        self.f = torch.nn.Linear(n_features, n_components)
        self.g = torch.nn.Linear(n_components, n_features)

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        return self.f(x)  # type: ignore[no-any-return]

    def decode(self, h: torch.Tensor) -> torch.Tensor:
        return self.g(h)  # type: ignore[no-any-return]

    def layer_pairs(self) -> list[LayerPair]:
        return [LayerPair(self.f, self.g)]


def test_fit_takes_any_autoencoder(blobs: np.ndarray) -> None:
    def build(n_features: int, n_components: int, rng: torch.Generator) -> _OwnNetwork:
        return _OwnNetwork(n_features, n_components)

    dcn = DCN(3, network=build, layer_epochs=1, pretrain_epochs=2, max_epochs=2).fit(
        blobs
    )
    assert dcn.transform(blobs).shape == (160, 10)


def test_latent_size_follows_clusters_and_columns() -> None:
    X = np.random.RandomState(0).rand(60, 2)
    quick: dict[str, Any] = {
        "pretrain_epochs": 1,
        "max_epochs": 1,
        "hidden": (4,),
        "n_init": 1,
    }
    assert DCN(5, **quick).fit(X).transform(X).shape == (60, 10)  # room for neighbours
    assert DCN(5, views=None, **quick).fit(X).transform(X).shape == (60, 2)
    assert DCN(1, views=None, **quick).fit(X).transform(X).shape == (60, 1)
    assert DCN(5, n_components=7, **quick).fit(X).transform(X).shape == (60, 7)
