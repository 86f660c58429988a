from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfriendly.baselines.jnkm import JNKM

Data = tuple[np.ndarray, np.ndarray]


@pytest.mark.filterwarnings("ignore")  # odd data on purpose
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [JNKM(max_iter=10)],
)
def test_jnkm_passes_check(estimator: JNKM, check: Callable[[JNKM], None]) -> None:
    check(estimator)


def _blobs() -> Data:
    """Return blobs in three directions of the positive orthant."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], 40))
    return 10 * np.eye(3, 6)[y] + rng.uniform(size=(120, 6)), y


def _rays() -> Data:
    """Return rows of all lengths along three directions: an exact model."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], 20))
    return rng.uniform(0.1, 10, size=(60, 1)) * rng.uniform(size=(3, 8))[y], y


def test_jnkm_fits_rays_exactly() -> None:
    X, y = _rays()
    model = JNKM(3, random_state=0, tol=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.objective_[-1] < 1e-9 * len(X)


def test_components_are_orthogonal_directions_of_rows() -> None:
    X = np.repeat([[3.0, 0.0, 4.0], [0.0, 10.0, 0.0]], 5, axis=0)
    W = JNKM(2, random_state=0, tol=0).fit(X).components_
    directions = W / np.linalg.norm(W, axis=1, keepdims=True)
    found = directions[directions[:, 1].argsort()]
    np.testing.assert_allclose(found, [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize(("lam", "mu"), [(0, 1), (1, 1), (10, 0.1), (0.1, 10)])
def test_objective_falls_in_every_round(lam: float, mu: float) -> None:
    X = np.random.default_rng(0).uniform(size=(80, 20)) ** 4
    model = JNKM(5, lam=lam, mu=mu, max_iter=50, tol=0, random_state=0).fit(X)
    values = np.array(model.objective_)
    assert len(values) == model.n_iter_ > 10
    assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_jnkm_finds_blobs() -> None:
    X, y = _blobs()
    assert adjusted_rand_score(y, JNKM(3, random_state=0).fit_predict(X)) == 1.0


def test_units_of_the_data_do_not_matter() -> None:
    X = np.random.default_rng(0).uniform(size=(60, 10)) ** 4
    small = JNKM(4, max_iter=5, random_state=0).fit(X)
    large = JNKM(4, max_iter=5, random_state=0).fit(1024 * X)
    np.testing.assert_array_equal(small.labels_, large.labels_)
    np.testing.assert_allclose(small.objective_, large.objective_)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_fit_on_csr_equals_fit_on_dense(make: Callable[[np.ndarray], Any]) -> None:
    X, _ = _blobs()
    X[X < 0.5] = 0
    dense, sparse = (JNKM(3, random_state=0).fit(data) for data in (X, make(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.objective_, sparse.objective_)


def test_same_seed_gives_same_labels() -> None:
    X = np.random.default_rng(0).uniform(size=(60, 10))
    first, second = (JNKM(4, random_state=3).fit_predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_n_components_sets_the_rank() -> None:
    X, _ = _blobs()
    model = JNKM(3, n_components=4, max_iter=2, random_state=0).fit(X)
    assert model.components_.shape == (4, 6)
    assert model.cluster_centers_.shape == (3, 4)


def test_rows_of_zeros_do_no_harm() -> None:
    X, y = _blobs()
    labels = JNKM(3, random_state=0).fit_predict(np.vstack([X, np.zeros((2, 6))]))
    assert adjusted_rand_score(y, labels[:-2]) == 1.0


def test_fewer_rows_than_clusters_raise() -> None:
    with pytest.raises(ValueError, match="n_clusters=3 .* n_samples=2"):
        JNKM(3).fit(np.eye(2))


@pytest.mark.parametrize(
    "params",
    [{"n_clusters": 0}, {"n_components": 0}, {"lam": -1}, {"mu": 0}, {"max_iter": 0}],
)
def test_bad_parameters_raise(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        JNKM(**params).fit(np.eye(9))
