"""Choosing the number of clusters without labels."""

import numpy as np
import pytest

from kfriendly import DCN
from kfriendly.sweep import Sweep, SweepPoint, sweep_clusters


def quick() -> DCN:
    return DCN(hidden=(8,), pretrain_epochs=15, max_epochs=5, random_state=0)


def point(K: int, stability: float, silhouette: float) -> SweepPoint:
    return SweepPoint(K, 0.1, silhouette, stability, 1, np.zeros(1))


def blobs(n_clusters: int) -> np.ndarray:
    rng = np.random.RandomState(1)
    centres = 12 * rng.randn(n_clusters, 6)
    return centres[np.arange(240) % n_clusters] + rng.randn(240, 6)


def test_most_stable_number_is_taken() -> None:
    sweep = Sweep([point(2, 0.6, 0.9), point(3, 0.9, 0.2)], 2, 4, 5)
    assert sweep.suggestion == 3 and "At K = 3" in sweep.reason


def test_silhouette_decides_among_equals() -> None:
    points = [point(2, 0.95, 0.3), point(3, 0.948, 0.4), point(4, 0.85, 0.8)]
    sweep = Sweep(points, 2, 4, 5)
    assert sweep.suggestion == 3 and "at K = 2 and 3" in sweep.reason


def test_nothing_is_suggested_where_starts_disagree() -> None:
    sweep = Sweep([point(2, 0.1, 0.3), point(3, 0.2, 0.4)], 2, 4, 5)
    assert sweep.suggestion is None and "no clusters" in sweep.reason


@pytest.mark.filterwarnings("ignore")
def test_sweep_finds_clear_clusters() -> None:
    sweep = sweep_clusters(quick(), blobs(4), range(2, 7))
    assert sweep.suggestion == 4
    assert sweep.n_components == 10 and sweep.n_networks == 4
    assert sweep.points[2].smallest == 60


@pytest.mark.filterwarnings("ignore")
def test_space_is_that_of_the_middle_number() -> None:
    model = quick().set_params(views=None, pretrain_epochs=1, max_epochs=1)
    X = np.hstack([blobs(3), blobs(3)])
    assert X.shape[1] >= 4
    assert sweep_clusters(model, X, [2, 3, 4]).n_components == 3


@pytest.mark.filterwarnings("ignore")
def test_pretraining_is_shared_and_a_point_does_not_depend_on_the_others() -> None:
    model = quick().set_params(n_components=3)
    both = sweep_clusters(model, blobs(3), [3, 5]).points[1]
    alone = sweep_clusters(model, blobs(3), [5]).points[0]
    assert both[:5] == alone[:5]


@pytest.mark.filterwarnings("ignore")
def test_neighbours_take_part_in_training_unless_views_are_none() -> None:
    costs = []
    for views in ("neighbors", None):
        # The start is named, for "auto" would follow the views.
        model = quick().set_params(views=views, init="kmeans")
        costs.append(sweep_clusters(model, blobs(3), [3]).points[0].cost)
    assert costs[0] != pytest.approx(costs[1], rel=0.01)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("network", ["wide", "conv"])
def test_large_networks_are_pretrained_once_and_not_trained_further(
    network: str,
) -> None:
    X = np.random.RandomState(0).randn(60, 300 if network == "wide" else 324)
    model = DCN(pretrain_epochs=1, batch_size=30, random_state=0)
    conv = {"network": "conv", "input_shape": (18, 18)}
    model.set_params(**conv if network == "conv" else {"views": None})
    sweep = sweep_clusters(model, X, [2, 3], n_starts=2)
    assert sweep.n_networks == 1 and sweep.joint_epochs == 0
    assert [p.n_clusters for p in sweep.points] == [2, 3]


@pytest.mark.parametrize(
    ("numbers", "starts", "words"),
    [([1, 2], 4, "2 or more"), ([], 4, "2 or more"), ([2], 1, "compared")],
)
def test_senseless_requests_are_refused(
    numbers: list[int], starts: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        sweep_clusters(DCN(), np.zeros((10, 2)), numbers, n_starts=starts)
