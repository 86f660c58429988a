"""Bad input and bad luck: cases 1, 4-12, 21-26 and 35 of the fault list."""

import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from kfriendly import (
    DCN,
    CollapseWarning,
    ConvFactory,
    DataScaleWarning,
    Descent,
    EmptyClusterWarning,
    KMeans,
    KSubspace,
    MLPFactory,
    SoftKMeans,
    TrainingDiverged,
)
from kfriendly.criteria.kmeans import CentroidState, CentroidStats
from kfriendly.networks import MLP

QUICK: dict[str, Any] = {
    "n_clusters": 2,
    "hidden": (6,),
    "pretrain_epochs": 2,
    "max_epochs": 4,
    "n_init": 1,
    "random_state": 0,
}


@pytest.fixture
def X() -> np.ndarray:
    rng = np.random.RandomState(0)
    return np.concatenate([rng.randn(30, 4), rng.randn(30, 4) + 6])


@pytest.mark.parametrize("value, name", [(np.nan, "NaN"), (np.inf, "infinity")])
def test_case_1_not_finite_is_named_and_placed(
    X: np.ndarray, value: float, name: str
) -> None:
    X[[3, 5], 2] = value
    message = f"contains {name}: 2 values, first in rows 3, 5, columns 2. Impute"
    with pytest.raises(ValueError, match=message):
        DCN(**QUICK).fit(X)


def test_case_1_not_finite_at_predict_leaves_the_model_alone(X: np.ndarray) -> None:
    dcn = DCN(**QUICK).fit(X)
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="rows 7, columns 1"):
        dcn.predict(bad)
    assert np.array_equal(dcn.predict(X), dcn.labels_)


def test_case_1_not_finite_in_sparse_is_placed(X: np.ndarray) -> None:
    X[4, 3] = np.nan
    with pytest.raises(ValueError, match="NaN: 1 values, first in rows 4, columns 3"):
        DCN(**QUICK).fit(sp.csr_array(X))


def test_case_4_overflowing_values_ask_for_scaling(X: np.ndarray) -> None:
    X[0, 0] = 1e31
    with pytest.raises(ValueError, match="larger than 1e\\+15.*Scale the data"):
        DCN(**QUICK).fit(X)


def test_case_5_unscaled_columns_warn_only_if_scaling_is_off(X: np.ndarray) -> None:
    X[:, 0] *= 1e4
    with pytest.warns(DataScaleWarning, match="Use scale='standard'"):
        DCN(**QUICK, scale="none").fit(X)
    assert DCN(**QUICK).fit(X).scaling_.rule == "standard"


def test_case_5_constant_column_works_with_one_warning(X: np.ndarray) -> None:
    X[:, 1] = 7.0
    with pytest.warns(DataScaleWarning, match="first: column 1") as caught:
        labels = DCN(**QUICK).fit_predict(X)
    assert len(caught) == 1
    assert len(np.unique(labels)) == 2


def test_case_6_identical_rows_work_with_a_warning() -> None:
    with pytest.warns(ConvergenceWarning):
        labels = DCN(**QUICK).fit_predict(np.ones((20, 3)))
    assert labels.shape == (20,)


def test_case_6_fewer_distinct_rows_than_clusters_work_with_a_warning() -> None:
    X = np.repeat(np.eye(3), 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct|without a row"):
        dcn = DCN(**{**QUICK, "n_clusters": 5}).fit(X)
    assert np.array_equal(dcn.labels_, dcn.predict(X))


def test_case_7_too_few_rows_names_both_numbers() -> None:
    with pytest.raises(ValueError, match="n_clusters=5 .*n_samples=3"):
        DCN(5).fit(np.eye(3))


def test_case_7_partial_fit_needs_enough_rows_at_first_only(X: np.ndarray) -> None:
    dcn = DCN(**QUICK)
    with pytest.raises(ValueError, match="n_clusters=2 .*n_samples=1"):
        dcn.partial_fit(X[:1])
    assert dcn.partial_fit(X).partial_fit(X[:1]).labels_.shape == (1,)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_case_8_nothing_to_fit_raises(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="0 (sample|feature)"):
        DCN(2).fit(np.empty(shape))


def test_case_9_last_batch_of_one_row_works_with_batch_norm(X: np.ndarray) -> None:
    network = MLPFactory((6,), normalisation="batch")
    quick = {**QUICK, "hidden": "auto", "network": network, "batch_size": 20}
    dcn = DCN(**quick).fit(np.vstack([X, X[:1]]))
    assert np.isfinite(dcn.transform(X)).all()


@pytest.mark.parametrize(
    "bad, message",
    [
        (np.zeros((4, 3)), "X has 3 features, but DCN is expecting 4"),
        (np.zeros(4), "Expected 2D array, got 1D"),
        (np.zeros((2, 2, 2)), "dim 3"),
        (np.zeros((4, 4), complex), "Complex data not supported"),
    ],
)
def test_case_10_wrong_shape_gets_scikit_learns_message(
    X: np.ndarray, bad: np.ndarray, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        DCN(**QUICK).fit(X).predict(bad)


@pytest.mark.parametrize("columns", [["b", "a", "c", "d"], ["a", "b", "c", "other"]])
def test_case_11_other_columns_at_predict_are_listed(
    X: np.ndarray, columns: list[str]
) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    dcn = DCN(**QUICK).fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        dcn.predict(frame.set_axis(columns, axis=1))


def test_case_12_text_column_is_named(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(colour="red")
    with pytest.raises(ValueError, match="Columns 'colour' are not numeric.*drop"):
        DCN(**QUICK).fit(frame)


def test_case_12_digit_strings_follow_scikit_learns_rule(X: np.ndarray) -> None:
    as_objects = X.astype(str).astype(object)
    labels = DCN(**QUICK).fit_predict(as_objects)
    assert np.array_equal(labels, DCN(**QUICK).fit_predict(X))


def _one_far_centre(policy: Any, X: np.ndarray) -> DCN:
    """Fit with a criterion whose last centre starts where no row will ever be."""

    class FarCentre(KMeans):
        def init(self, H: torch.Tensor, n_clusters: int, seed: int) -> CentroidState:
            M, c = super().init(H, n_clusters, seed)
            M[-1] = 1e4
            return CentroidState(M, c)

    far: dict[str, Any] = {
        "criterion": FarCentre(),
        "init": "kmeans",
        "empty_cluster": policy,
    }
    with pytest.warns(EmptyClusterWarning, match="clusters without a row"):
        return DCN(**{**QUICK, "n_clusters": 3}, lam=0.1, **far).fit(X)


def test_case_21_empty_cluster_is_kept_recorded_and_warned_of(X: np.ndarray) -> None:
    dcn = _one_far_centre("keep", X)
    empty = [r.empty for r in dcn.history_ if r.phase == "joint"]
    assert empty == [1, 1, 1, 1]
    assert dcn.cluster_sizes_[2] == 0


def test_case_21_empty_cluster_is_reseeded(X: np.ndarray) -> None:
    dcn = _one_far_centre("reseed", X)
    empty = [r.empty for r in dcn.history_ if r.phase == "joint"]
    assert empty == [1, 0, 0, 0]
    assert (dcn.cluster_sizes_ > 0).all()


def test_case_22_huge_counts_stand_still_and_capped_ones_move() -> None:
    stats = CentroidStats(torch.ones(1, 2).double(), torch.ones(1).double())
    state = CentroidState(torch.zeros(1, 2).double(), torch.tensor([1e12]).double())
    assert KMeans().update(state, stats).M.abs().max() < 1e-11
    capped = KMeans(max_count=10.0).update(state, stats)
    moved = KMeans(max_count=10.0).update(capped, stats)
    assert float(moved.M[0, 0]) > 0.05


def test_case_23_divergence_is_undone_at_a_smaller_step(X: np.ndarray) -> None:
    hot = Descent("sgd", 0.8, momentum=0.0)
    dcn = DCN(**QUICK, optimizer=hot, pretrain_optimizer="adam", lam=0.5)
    dcn.set_params(views=None)  # a contrast would make it hotter still
    try:
        dcn.fit(X)
    except TrainingDiverged as error:
        pytest.fail(f"smaller steps should have helped: {error}")
    rates = [record.learning_rate for record in dcn.history_ if record.phase == "joint"]
    assert max(rates) < 0.8
    assert np.isfinite(dcn.transform(X)).all()


def test_case_23_constant_zero_rows_are_no_divergence() -> None:
    X = sp.csr_array((40, 3))
    with pytest.warns(ConvergenceWarning):
        DCN(**QUICK, scale="none").fit(X)


def test_case_23_hopeless_divergence_says_what_to_do(X: np.ndarray) -> None:
    hopeless = Descent("sgd", 1e12, momentum=0.0)
    with pytest.raises(TrainingDiverged, match="smaller learning rate.*clip=1.0"):
        DCN(**QUICK, optimizer=hopeless).fit(X)


def test_case_23_divergence_in_a_second_fit_keeps_the_first_model(
    X: np.ndarray,
) -> None:
    dcn = DCN(**QUICK).fit(X)
    before = dcn.transform(X)
    dcn.set_params(optimizer=Descent("sgd", 1e12, momentum=0.0), scale="none")
    with pytest.raises(TrainingDiverged):
        dcn.fit(X)
    assert np.array_equal(dcn.transform(X), before)


def test_case_23_divergence_in_partial_fit_changes_nothing(X: np.ndarray) -> None:
    dcn = DCN(**QUICK).fit(X)
    before = dcn.transform(X)
    dcn._state.lam = torch.tensor(float("inf"))
    with pytest.raises(TrainingDiverged, match="as it was before"):
        dcn.partial_fit(X)
    assert np.array_equal(dcn.transform(X), before)


@pytest.mark.filterwarnings("ignore::kfriendly.EmptyClusterWarning")
def test_case_24_collapse_is_seen_and_said(X: np.ndarray) -> None:
    class AllCentresAtZero(KMeans):
        def init(self, H: torch.Tensor, n_clusters: int, seed: int) -> CentroidState:
            M, c = super().init(H, n_clusters, seed)
            return CentroidState(torch.zeros_like(M), c)

    # Without reconstruction nothing keeps the latent space from following the centres.
    trap: dict[str, Any] = {
        "criterion": AllCentresAtZero(centers="frozen"),
        "loss": "none",
    }
    with pytest.warns(CollapseWarning, match="mean nothing. Use a smaller lam"):
        DCN(**QUICK, **trap, lam=1.0, init="kmeans", empty_cluster="keep").fit(X)


def test_case_25_lam_zero_is_a_plain_autoencoder(X: np.ndarray) -> None:
    dcn = DCN(**QUICK, lam=0).fit(X)
    assert dcn.lam_ == 0.0
    assert -dcn.score(X) == pytest.approx(dcn.reconstruction_error_)


NUMERIC = {
    "n_clusters": 1,
    "n_components": 1,
    "lam": 0,
    "n_init": 1,
    "layer_epochs": 0,
    "pretrain_epochs": 0,
    "max_epochs": 0,
    "batch_size": 1,
    "refresh_every": 1,
}


@pytest.mark.parametrize("name", NUMERIC)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_case_25_numbers_out_of_range_are_refused(name: str, data: Any) -> None:
    below = st.floats(max_value=NUMERIC[name], exclude_max=True) | st.just(np.nan)
    value = data.draw(below | st.just(np.inf) | st.integers(-9, NUMERIC[name] - 1))
    with pytest.raises(ValueError, match=f"The '{name}' parameter of DCN must be"):
        DCN(**{name: value}).fit(np.eye(9))


def test_case_26_no_epochs_still_give_a_model(X: np.ndarray) -> None:
    dcn = DCN(**{**QUICK, "max_epochs": 0}).fit(X)
    assert np.array_equal(dcn.predict(X), dcn.labels_)
    assert np.array_equal(dcn.labels_, dcn.sae_km_labels_)


def test_case_33_missing_gpu_is_not_replaced_in_silence(
    X: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="torch sees no GPU. Use device='cpu'"):
        DCN(**QUICK, device="cuda").fit(X)
    with pytest.raises(ValueError, match="device='abacus' is not a torch device"):
        DCN(**QUICK, device="abacus").fit(X)


FIT_AND_HASH = """
import hashlib, sys, numpy as np, torch
from kfriendly import DCN
torch.set_num_threads(int(sys.argv[1]))
rng = np.random.RandomState(0)
X = np.concatenate([rng.randn(200, 4), rng.randn(200, 4) + 6])
dcn = DCN(2, n_init=2, pretrain_epochs=2, max_epochs=2, random_state=0).fit(X)
print(hashlib.sha256(dcn.labels_.tobytes()).hexdigest())
"""


def test_case_35_labels_do_not_depend_on_threads_or_process() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", FIT_AND_HASH, threads],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        ).stdout
        for threads in ("1", "2", "1")
    }
    assert len(hashes) == 1


@pytest.mark.filterwarnings("ignore")
def test_dead_bottleneck_still_gives_a_finite_model(X: np.ndarray) -> None:
    class Dead(MLPFactory):
        def __call__(self, *shape: Any) -> MLP:
            network = super().__call__(*shape)
            for parameter in network.encoder.parameters():
                parameter.data.zero_()
            return network

    dead = Dead((6,), bottleneck="relu")
    dcn = DCN(2, network=dead, init="kmeans", pretrain_epochs=1, max_epochs=2).fit(X)
    assert np.isfinite(dcn.inverse_transform(dcn.transform(X))).all()
    assert np.isfinite(dcn.lam_)


def test_kl_loss_refuses_negative_values(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="loss='kl' needs values >= 0.*'squared'"):
        DCN(**QUICK, loss="kl").fit(X)


@pytest.mark.parametrize("hidden", [(0,), (8, -1), (2.5,), ("a",)])
def test_hidden_widths_must_be_positive(X: np.ndarray, hidden: Any) -> None:
    with pytest.raises(ValueError, match="hidden=.* whole numbers >= 1"):
        DCN(2, hidden=hidden).fit(X)


@pytest.mark.parametrize(
    "params, message",
    [
        ({"hidden": (4,), "network": MLPFactory()}, "hidden=.* no effect"),
        ({"hidden": (4,), "network": "conv"}, "hidden=.* no effect"),
        ({"input_shape": (2, 3)}, r"input_shape=\(2, 3\) is not .* of images"),
        ({"input_shape": (1, 2, 2, 1)}, r"input_shape=.* is not .* of images"),
    ],
)
def test_parameters_without_effect_are_refused(
    X: np.ndarray, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        DCN(2, **params).fit(X)


@pytest.mark.parametrize(
    "make, params",
    [
        (Descent, {"method": "newton"}),
        (Descent, {"schedule": "never"}),
        *((Descent, {"learning_rate": bad}) for bad in (0, -1.0, np.nan, np.inf)),
        *((Descent, {"momentum": bad}) for bad in (-0.1, 1.0, np.nan)),
        *((Descent, {"clip": bad}) for bad in (0, -1.0, np.nan)),
        (KMeans, {"centers": "moving"}),
        (partial(KMeans, centers="frozen"), {"prior_count": 0}),
        *((KMeans, {"prior_count": bad}) for bad in (-1, np.nan, np.inf)),
        *((KMeans, {"max_count": bad}) for bad in (0, -1, np.nan)),
        *((SoftKMeans, {"temperature": bad}) for bad in (0, -1, np.nan, np.inf)),
        (SoftKMeans, {"prior_count": -1}),
        *((KSubspace, {"q": bad}) for bad in (0, -1, 1.5)),
        (KSubspace, {"prior_count": -1}),
        *((MLPFactory, {"hidden": bad}) for bad in ((0,), (1.5,), [4])),
        (MLPFactory, {"bottleneck": "tanh"}),
        (MLPFactory, {"normalisation": "layer"}),
        (partial(ConvFactory, (4, 4)), {"kernel": 2}),
        (partial(ConvFactory, (4, 4)), {"channels": ()}),
        (partial(ConvFactory, (4, 4)), {"output": "tanh"}),
        *((ConvFactory, {"input_shape": bad}) for bad in ((4,), (4, 0), (1, 2, 3, 4))),
    ],
)
def test_case_25_small_objects_refuse_bad_arguments(
    make: Any, params: dict[str, Any]
) -> None:
    (name,) = params
    with pytest.raises(ValueError, match=f"{name}=.* is not allowed; it must be"):
        make(**params)


def test_conv_without_input_shape_says_what_it_needs(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match="network='conv' needs input_shape"):
        DCN(2, network="conv").fit(X)
