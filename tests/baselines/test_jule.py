"""JULE and its agglomeration, against brute force and on clusters that are known."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.testing import assert_allclose, assert_array_equal, assert_equal
from sklearn.datasets import make_blobs, make_moons
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfriendly.baselines.agglomeration import (
    Neighbors,
    affinities,
    agglomerate,
    find_neighbors,
    graph_degree_linkage,
    join_isolated,
)
from kfriendly.baselines.jule import JULE, triplet_losses
from kfriendly.metrics import ari

QUICK: dict[str, Any] = {"epochs": 2, "hidden": (8,), "n_components": 4}


# Agglomeration


def test_graph_weighs_neighbours_by_hand() -> None:
    squares, indices = np.array([[1.0], [1.0], [4.0]]), np.array([[1], [0], [1]])
    W = Neighbors(squares, indices).graph().toarray()
    near, far = np.exp(-0.5), np.exp(-2.0)  # sigma^2 = (1 + 1 + 4) / 3
    assert_allclose(W, [[0.0, near, 0.0], [near, 0.0, 0.0], [0.0, far, 0.0]])


def test_groups_follow_nearest_neighbours() -> None:
    H = np.array([[0.0], [1.0], [2.5], [10.0], [11.0]])
    assert_array_equal(find_neighbors(H, 3).groups(), [0, 0, 0, 1, 1])


def _affinity_by_formula(W: np.ndarray, i: np.ndarray, j: np.ndarray) -> float:
    """A(C_i -> C_j) + A(C_j -> C_i) of the members i and j, as it stands there."""
    there, back = W[np.ix_(i, j)], W[np.ix_(j, i)]
    forth = np.ones(i.size) @ there @ back @ np.ones(i.size) / i.size**2
    return float(forth + np.ones(j.size) @ back @ there @ np.ones(j.size) / j.size**2)


def test_affinities_equal_formula() -> None:
    rng = np.random.default_rng(0)
    W = rng.random((9, 9)) * (rng.random((9, 9)) < 0.5)  # directed, not symmetric
    labels = np.array([0, 1, 2, 0, 1, 2, 2, 3, 2])
    found = affinities(sp.csr_array(W), labels)
    for i in range(4):
        for j in range(4):
            members = np.flatnonzero(labels == i), np.flatnonzero(labels == j)
            expected = 0.0 if i == j else _affinity_by_formula(W, *members)
            assert found[i, j] == pytest.approx(expected)


def _merge_by_formula(
    W: sp.csr_array, labels: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Compute all affinities anew for every merge."""
    labels = labels.copy()
    while labels.max() + 1 > n_clusters:
        A = affinities(W, labels)
        a, b = np.unravel_index(A.argmax(), A.shape)
        labels[labels == b] = a
        labels = np.unique(labels, return_inverse=True)[1]
    return labels


@pytest.mark.parametrize("n_clusters", [1, 4, 15])
@pytest.mark.parametrize("seed", range(3))
def test_agglomerate_equals_affinities_made_anew(seed: int, n_clusters: int) -> None:
    H = np.random.default_rng(seed).standard_normal((120, 2))
    neighbors = find_neighbors(H, 15)
    W, labels = neighbors.graph(), neighbors.groups()
    found = agglomerate(H, W, labels, n_clusters)
    assert np.unique(found).size == n_clusters
    assert ari(found, _merge_by_formula(W, labels, n_clusters)) == 1.0


def test_agglomerate_joins_nearest_means_where_graph_is_apart() -> None:
    H = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]])
    W, labels = find_neighbors(H, 1).graph(), np.repeat([0, 1, 2], 2)
    for points in (H, sp.csr_array(H)):
        assert ari(agglomerate(points, W, labels, 2), [0, 0, 0, 0, 1, 1]) == 1.0


def test_agglomerate_gives_as_many_clusters_as_asked_for_at_ties() -> None:
    H = np.array([[i, j] for i in range(12) for j in range(12)], dtype=float)
    W = find_neighbors(H, 8).graph()
    W.data[:] = 1.0
    for n_clusters in range(1, 40, 3):
        labels = agglomerate(H, W, np.arange(144), n_clusters)
        assert_array_equal(np.unique(labels), np.arange(n_clusters))


def _pairs_and_an_outlier() -> tuple[np.ndarray, sp.csr_array]:
    """Make 20 pairs and one sample that points to a pair, but is nobody's neighbour."""
    H = np.append(np.arange(20.0).repeat(2) * 10, 34.0)[:, None]
    other = np.arange(40) ^ 1
    ends = (np.arange(41), np.append(other, 6))
    return H, sp.csr_array((np.full(41, 0.5), ends), shape=(41, 41))


def test_isolated_clusters_join_the_nearest_others() -> None:
    H, W = _pairs_and_an_outlier()
    for points in (H, sp.csr_array(H)):
        joined = join_isolated(points, W, np.arange(41), 2)
        assert_array_equal(joined, [*range(40), 6])


def test_isolated_clusters_are_left_where_others_are_few() -> None:
    H, W = _pairs_and_an_outlier()
    every = np.arange(41)
    assert_array_equal(join_isolated(H, W, every, 3), every)
    assert_array_equal(join_isolated(H, sp.csr_array((41, 41)), every, 2), every)


def test_linkage_separates_moons() -> None:
    X, y = make_moons(400, noise=0.05, random_state=0)
    assert ari(y, graph_degree_linkage(X, 2)) == 1.0


def test_linkage_separates_blobs() -> None:
    X, y = _blobs()
    assert ari(y, graph_degree_linkage(X, 3)) == 1.0


# Training


def test_triplet_losses_by_hand() -> None:
    H = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    labels = torch.tensor([0, 0, 1, 2])
    # One pair at distance 1, negatives at 1 and 4.
    assert triplet_losses(H, labels, 0.5).tolist() == [0.25]
    assert triplet_losses(H, labels, 3.5).tolist() == [2.0]


def test_triplet_losses_equal_a_loop() -> None:
    H = torch.randn(12, 3, generator=torch.Generator().manual_seed(0)).double()
    labels = torch.tensor([0, 1, 0, 2, 1, 0, 3, 3, 2, 0, 1, 4])
    expected = []
    for i, j in itertools.combinations(range(12), 2):
        if labels[i] == labels[j]:
            near = (H[i] - H[j]).square().sum()
            far = (H[i] - H[labels != labels[i]]).square().sum(-1)
            expected.append((near - far + 0.2).clamp_min(0.0).mean())
    torch.testing.assert_close(triplet_losses(H, labels, 0.2), torch.stack(expected))


def test_triplet_losses_without_pairs_or_negatives() -> None:
    H = torch.zeros(3, 2)
    assert triplet_losses(H, torch.arange(3), 0.2).shape == (0,)
    assert triplet_losses(H, torch.zeros(3), 0.2).tolist() == [0.0, 0.0, 0.0]


def test_jule_finds_blobs() -> None:
    X, y = _blobs()
    model = JULE(3, random_state=0).fit(X)
    assert ari(y, model.labels_) == 1.0
    assert model.embedding_.shape == (300, 160)
    assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1.0, rtol=1e-5)


def test_jule_without_reclustering_finds_blobs() -> None:
    X, y = _blobs()
    assert ari(y, JULE(3, recluster=False, random_state=0).fit_predict(X)) == 1.0


def test_jule_without_training_equals_linkage() -> None:
    X, _ = make_moons(200, noise=0.2, random_state=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0).max()  # one number for both columns
    model = JULE(5, epochs=0, random_state=0).fit(X)
    assert ari(model.labels_, graph_degree_linkage(X, 5)) == 1.0
    assert model.loss_curve_ == []


def test_jule_periods_follow_unroll() -> None:
    X = np.repeat(np.arange(16.0), 2)[:, None]  # sixteen pairs
    for unroll, n_periods in ((0.9, 1), (0.5, 3), (0.2, 7)):
        # 16 2; 16 8 4 2; 16 12 9 7 5 4 3 2
        model = JULE(2, unroll=unroll, **QUICK).fit(X)
        assert model.n_iter_ == n_periods


def test_triplet_loss_falls_in_training() -> None:
    X, _ = make_blobs(400, n_features=6, centers=4, cluster_std=3.0, random_state=0)
    model = JULE(4, random_state=0).fit(X)
    for first in range(0, len(model.loss_curve_), 20):
        period = model.loss_curve_[first : first + 20]
        assert np.mean(period[-5:]) < np.mean(period[:5])


def test_same_seed_gives_same_labels_and_leaves_global_seeds() -> None:
    X, _ = make_blobs(200, centers=5, cluster_std=2.0, random_state=0)
    before = torch.get_rng_state(), np.random.get_state(legacy=False)
    first, second = (JULE(5, epochs=5, random_state=7).fit(X) for _ in range(2))
    assert_array_equal(first.labels_, second.labels_)
    assert_array_equal(first.embedding_, second.embedding_)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert_equal(np.random.get_state(legacy=False), before[1])


def test_fit_on_csr_equals_fit_on_dense() -> None:
    X, _ = _blobs()
    X[np.abs(X) < 1.0] = 0.0
    dense = JULE(3, epochs=5, random_state=0).fit(X)
    sparse = JULE(3, epochs=5, random_state=0).fit(sp.csr_array(X))
    assert_array_equal(dense.labels_, sparse.labels_)
    assert_allclose(dense.embedding_, sparse.embedding_, atol=1e-3)


@pytest.mark.parametrize(
    ("X", "n_clusters"),
    [
        (np.ones((30, 2)), 3),
        (np.repeat([[0.0], [1.0], [7.0]], 10, axis=0), 3),
        (np.arange(5.0)[:, None], 5),
        (np.arange(5.0)[:, None], 4),
        (np.arange(5.0)[:, None], 1),
        (np.ones((1, 1)), 1),
    ],
)
def test_jule_takes_tiny_and_repeated_rows(X: np.ndarray, n_clusters: int) -> None:
    labels = JULE(n_clusters, random_state=0, **QUICK).fit_predict(X)
    assert_array_equal(np.unique(labels), np.arange(n_clusters))


# The door


def test_too_few_rows_are_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"n_clusters=8 .* n_samples=5"):
        JULE().fit(np.arange(5.0)[:, None])


def test_too_many_rows_are_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"21 rows.*max_rows=20.*sample.*raise"):
        JULE(2, max_rows=20).fit(np.arange(21.0)[:, None])


@parametrize_with_checks([JULE(**QUICK)])  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore")  # odd data on purpose
def test_jule_passes_check(estimator: JULE, check: Callable[[JULE], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_param_validation,
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_jule_passes_further_check(check: Callable[[str, JULE], None]) -> None:
    check("JULE", JULE(**QUICK))


def _blobs() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(300, n_features=4, centers=3, cluster_std=0.7, random_state=3)
    return X, y
