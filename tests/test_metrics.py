"""Scores of a clustering."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
)

from kfriendly import metrics
from kfriendly.metrics import (
    acc,
    agreement,
    ari,
    margin_confidence,
    nmi,
    silhouette,
    stability,
)

label_lists = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2)


def test_acc_with_more_clusters_than_classes() -> None:
    assert acc([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 3]) == 4 / 6


def test_acc_with_fewer_clusters_than_classes() -> None:
    assert acc([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]) == 4 / 6


def test_acc_uses_the_best_map_not_the_greedy_one() -> None:
    # Counts [[3, 2], [2, 0]]: the diagonal has 3, the other map 4 of 7.
    assert acc([0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0, 0]) == 4 / 7


def test_acc_maps_each_cluster_to_one_class() -> None:
    assert acc([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25


def test_acc_accepts_any_labels() -> None:
    assert acc(["b", "b", "a"], [-7, -7, 100]) == 1.0


@pytest.mark.parametrize("score", [acc, nmi, ari])
@given(label_lists, st.permutations(range(4)))
@settings(deadline=None, derandomize=True, max_examples=50)
def test_score_ignores_names_of_clusters(
    score: object, pairs: list[tuple[int, int]], names: list[int]
) -> None:
    assert callable(score)
    classes, labels = map(list, zip(*pairs, strict=True))
    renamed = [names[label] for label in labels]
    assert score(classes, renamed) == pytest.approx(score(classes, labels))


@pytest.mark.parametrize(
    ("normalisation", "divisor"),
    [
        ("arithmetic", 1.5),
        ("geometric", math.sqrt(2.0)),
        ("min", 1.0),
        ("max", 2.0),
    ],
)
def test_nmi_divides_by_the_named_mean(normalisation: str, divisor: float) -> None:
    # Entropies of 1 and 2 bits, and 1 bit in common.
    found = nmi([0, 0, 1, 1], [0, 1, 2, 3], normalisation=normalisation)
    assert found == pytest.approx(1.0 / divisor)


def test_nmi_is_arithmetic_unless_told() -> None:
    assert nmi([0, 0, 1, 1], [0, 1, 2, 3]) == pytest.approx(2 / 3)


def test_ari_by_hand() -> None:
    # Pairs together: 1 in both, 2 and 3 in each, 6 in all; (1 - 1) / (2.5 - 1) = 0.
    assert ari([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(0.0)


def test_agreement_by_hand() -> None:
    a, b = [0, 0, 1, 1], [0, 0, 0, 1]  # ari(a, b) = 0
    assert agreement([a, a, b]) == pytest.approx([0.5, 0.5, 0.0])


def test_stability_by_hand() -> None:
    a, b = [0, 0, 1, 1], [0, 0, 0, 1]
    assert stability([a, a, b]) == pytest.approx(1 / 3)  # one pair of three agrees


def test_agreement_of_one_labeling_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two labelings, got 1"):
        agreement([[0, 1]])


@pytest.mark.parametrize("name", ["silhouette", "davies_bouldin", "calinski_harabasz"])
@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]], ids=["one", "each its own"])
def test_label_free_score_is_nan_where_undefined(name: str, labels: list[int]) -> None:
    assert math.isnan(getattr(metrics, name)([[0.0], [1.0], [2.0]], labels))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("silhouette", silhouette_score),
        ("davies_bouldin", davies_bouldin_score),
        ("calinski_harabasz", calinski_harabasz_score),
    ],
)
def test_label_free_score_equals_scikit_learn(name: str, reference: object) -> None:
    assert callable(reference)
    X, labels = make_blobs(60, random_state=0)
    assert getattr(metrics, name)(X, labels) == pytest.approx(reference(X, labels))


def test_silhouette_by_hand() -> None:
    # Own distance 1, other distance 9 or 10 on average 9.5 and 10.5.
    X, labels = [[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]
    by_hand = (2 * (1 - 1 / 10.5) + 2 * (1 - 1 / 9.5)) / 4
    assert silhouette(X, labels) == pytest.approx(by_hand)


def test_silhouette_samples_above_max_rows() -> None:
    X, labels = make_blobs(400, cluster_std=4.0, random_state=0)
    chosen = silhouette(X, labels, max_rows=50, seed=1)
    assert chosen == silhouette(X, labels, max_rows=50, seed=1)
    assert chosen != silhouette(X, labels, max_rows=50, seed=2)
    assert chosen == pytest.approx(silhouette(X, labels), abs=0.2)


def test_silhouette_uses_all_rows_up_to_max_rows() -> None:
    X, labels = make_blobs(50, cluster_std=4.0, random_state=0)
    expected = pytest.approx(silhouette_score(X, labels), abs=1e-12)
    assert silhouette(X, labels, max_rows=50) == expected


def test_silhouette_is_nan_if_the_sample_has_one_cluster() -> None:
    labels = np.zeros(1000, dtype=int)
    labels[0] = 1
    X = np.arange(1000.0)[:, None]
    assert math.isnan(silhouette(X, labels, max_rows=3, seed=0))


def test_margin_confidence_of_the_two_nearest_of_three() -> None:
    D = [[4, 1, 8], [3, 3, 9], [0, 5, 5], [0, 0, 1]]
    assert margin_confidence(D).tolist() == [0.75, 0.0, 1.0, 0.0]


def test_margin_confidence_of_one_cluster_is_one() -> None:
    assert margin_confidence([[2.0], [0.0]]).tolist() == [1.0, 1.0]


def test_margin_confidence_keeps_precision_and_takes_no_rows() -> None:
    assert margin_confidence(np.empty((0, 3), np.float32)).dtype == np.float32
