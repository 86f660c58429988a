from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfriendly.baselines.xray import XRAY

Data = tuple[np.ndarray, np.ndarray]


@pytest.mark.filterwarnings("ignore")  # odd data on purpose
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [XRAY()],
)
def test_xray_passes_check(estimator: XRAY, check: Callable[[XRAY], None]) -> None:
    check(estimator)


def _separable(noise: float = 0.0) -> Data:
    """Return mixtures of four pure rows, which are rows 10 to 13, and these rows."""
    rng = np.random.default_rng(0)
    pure = rng.uniform(size=(4, 12))
    X = rng.dirichlet(np.ones(4), size=60) @ pure
    X[10:14] = pure * [[1.0], [2.0], [0.5], [3.0]]
    return np.maximum(X + noise * rng.normal(size=X.shape), 0), pure


def _blobs() -> Data:
    """Return blobs in three directions of the positive orthant."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], 40))
    return 10 * np.eye(3, 6)[y] + rng.uniform(size=(120, 6)), y


@pytest.mark.parametrize("selection", ["max", "rand"])
def test_anchors_are_the_pure_rows_of_separable_data(selection: Any) -> None:
    X, _ = _separable()
    model = XRAY(4, selection=selection, random_state=0).fit(X)
    assert sorted(model.anchors_) == [10, 11, 12, 13]
    assert model.objective_[-1] < 1e-9 * (X**2).sum()


def test_anchors_are_near_the_pure_rows_when_there_is_noise() -> None:
    X, pure = _separable(noise=0.01)
    found = X[XRAY(4).fit(X).anchors_]
    cosines = (found @ pure.T) / np.outer(
        np.linalg.norm(found, axis=1), np.linalg.norm(pure, axis=1)
    )
    assert (cosines.max(axis=0) > 0.99).all()


def test_labels_of_pure_rows_are_distinct() -> None:
    X, _ = _separable()
    assert len(set(XRAY(4).fit(X).labels_[10:14])) == 4


def test_labels_do_not_depend_on_length_of_anchors() -> None:
    X = [[100.0, 0.0], [0.0, 1.0], [6.0, 5.0], [5.0, 6.0]]
    labels = XRAY(2).fit(X).labels_
    assert labels[2] == labels[0] and labels[3] == labels[1]


@pytest.mark.parametrize("selection", ["max", "rand"])
def test_objective_falls_with_every_anchor(selection: Any) -> None:
    X = np.random.default_rng(0).uniform(size=(80, 20))
    model = XRAY(10, selection=selection, random_state=0).fit(X)
    assert len(model.objective_) == model.n_iter_ == 10
    assert (np.diff([(X**2).sum(), *model.objective_]) < 0).all()


def test_objective_is_the_squared_residual() -> None:
    X, y = _blobs()
    model = XRAY(1).fit(X)
    anchor = X[model.anchors_[0]]
    H = np.maximum(X @ anchor, 0) / (anchor @ anchor)
    assert model.objective_[0] == pytest.approx(((X - np.outer(H, anchor)) ** 2).sum())


def test_xray_finds_blobs() -> None:
    X, y = _blobs()
    assert adjusted_rand_score(y, XRAY(3).fit_predict(X)) == 1.0


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_fit_on_csr_equals_fit_on_dense(make: Callable[[np.ndarray], Any]) -> None:
    X, _ = _blobs()
    X[X < 0.5] = 0
    dense, sparse = XRAY(5).fit(X), XRAY(5).fit(make(X))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(dense.anchors_, sparse.anchors_)


def test_same_seed_gives_same_labels() -> None:
    X, _ = _separable(noise=0.1)
    first, second = (
        XRAY(6, selection="rand", random_state=3).fit_predict(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("X", "found"),
    [
        (np.ones((5, 3)), 1),
        (np.repeat(np.eye(2), 4, axis=0), 2),
        (np.random.default_rng(0).uniform(size=(9, 2)), 2),
        (np.zeros((4, 2)), 0),
    ],
    ids=["identical", "duplicates", "plane", "zeros"],
)
def test_fewer_extreme_rays_than_clusters_warns(X: np.ndarray, found: int) -> None:
    with pytest.warns(ConvergenceWarning, match=f"{found} anchors .* n_clusters=3"):
        model = XRAY(3).fit(X)
    assert len(model.anchors_) == len(model.objective_) == found
    assert set(model.labels_) == set(range(max(found, 1)))


def test_rows_of_zeros_are_never_anchors() -> None:
    X = np.vstack([np.zeros((3, 2)), np.eye(2)])
    assert sorted(XRAY(2).fit(X).anchors_) == [3, 4]


def test_fewer_rows_than_clusters_raise() -> None:
    with pytest.raises(ValueError, match="n_clusters=3 .* n_samples=2"):
        XRAY(3).fit(np.eye(2))


@pytest.mark.parametrize("params", [{"n_clusters": 0}, {"selection": "greedy"}])
def test_bad_parameters_raise(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        XRAY(**params).fit(np.eye(9))
