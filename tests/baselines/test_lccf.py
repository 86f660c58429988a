from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfriendly.baselines.lccf import LCCF, Factors, _graph, _problem

Data = tuple[np.ndarray, np.ndarray]


@pytest.mark.filterwarnings("ignore")  # odd data on purpose
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [LCCF(max_iter=20)]
)
def test_lccf_passes_check(estimator: LCCF, check: Callable[[LCCF], None]) -> None:
    check(estimator)


def _blobs(shift: float = 0.0) -> Data:
    """Return blobs in three directions; of both signs when shifted."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], 40))
    return 10 * np.eye(3, 6)[y] + rng.uniform(size=(120, 6)) - shift, y


def _noise(signed: bool) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(60, 12))
    return X if signed else np.abs(X)


def test_embedding_of_two_directions_is_their_indicator() -> None:
    X = np.repeat(np.eye(2, 4), [7, 9], axis=0)
    model = LCCF(2, lam=1, tol=0, random_state=0).fit(X)
    V = np.sort(model.embedding_, axis=1)  # the order of the concepts is free
    np.testing.assert_allclose(V, np.tile([0.0, 1.0], (16, 1)), atol=1e-6)
    assert model.objective_[-1] < 1e-9
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], X[:, 0] == 1)


@pytest.mark.parametrize("signed", [False, True])
def test_objective_equals_its_definition_at_unit_concepts(signed: bool) -> None:
    X, rng = _noise(signed), np.random.default_rng(1)
    S = _graph(X, 5, "cosine").toarray()
    W, V = rng.uniform(size=(2, 60, 3))
    problem = _problem(X, sp.csr_array(S), 7.0)
    found = problem.objective(Factors(W, V, problem.kernel(W)))
    lengths = np.linalg.norm(X.T @ W, axis=0)
    W, V = W / lengths, V * lengths
    L = np.diag(S.sum(axis=1)) - S
    expected = ((X.T - X.T @ W @ V.T) ** 2).sum() + 7.0 * np.trace(V.T @ L @ V)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("weights", ["cosine", "binary"])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("lam", [0, 1, 100])
def test_objective_falls_in_every_update(weights: Any, signed: bool, lam: int) -> None:
    model = LCCF(4, lam=lam, weights=weights, max_iter=60, tol=0, random_state=0)
    values = np.array(model.fit(_noise(signed)).objective_)
    assert len(values) == model.n_iter_ > 10
    assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_graph_joins_rows_if_either_is_a_neighbour() -> None:
    X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    half = 0.5**0.5
    S = _graph(X, 1, "cosine").toarray()
    found = S if S[2, 0] else S[[1, 0, 2]][:, [1, 0, 2]]  # the tie is free
    np.testing.assert_allclose(found, [[0, 1, half], [1, 0, 0], [half, 0, 0]])


def test_binary_graph_goes_by_distance() -> None:
    X = np.array([[1.0, 0.0], [9.0, 0.0], [1.0, 0.1]])
    expected = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    np.testing.assert_array_equal(_graph(X, 1, "binary").toarray(), expected)


@pytest.mark.parametrize("weights", ["cosine", "binary"])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_lccf_finds_blobs(weights: Any, shift: float) -> None:
    X, y = _blobs(shift)
    labels = LCCF(3, weights=weights, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_fit_on_csr_equals_fit_on_dense(
    make: Callable[[np.ndarray], Any], shift: float
) -> None:
    X, _ = _blobs(shift)
    X[np.abs(X) < 0.5] = 0
    dense, sparse = (LCCF(3, random_state=0).fit(data) for data in (X, make(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.objective_, sparse.objective_)


def test_same_seed_gives_same_labels() -> None:
    first, second = (LCCF(4, random_state=3).fit_predict(_noise(True)) for _ in "ab")
    np.testing.assert_array_equal(first, second)


def test_rows_of_zeros_do_no_harm() -> None:
    X, y = _blobs()
    labels = LCCF(3, random_state=0).fit_predict(np.vstack([X, np.zeros((2, 6))]))
    assert adjusted_rand_score(y, labels[:-2]) == 1.0


def test_one_row_is_one_cluster() -> None:
    np.testing.assert_array_equal(LCCF(1).fit_predict([[1.0, 2.0]]), [0])


def test_fewer_rows_than_clusters_raise() -> None:
    with pytest.raises(ValueError, match="n_clusters=3 .* n_samples=2"):
        LCCF(3).fit(np.eye(2))


@pytest.mark.parametrize(
    "params",
    [{"n_clusters": 0}, {"lam": -1}, {"n_neighbors": 0}, {"weights": "heat"}],
)
def test_bad_parameters_raise(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        LCCF(**params).fit(np.eye(9))
