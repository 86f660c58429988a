"""What all criteria share, and that the contract notices a broken one."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from checks import check_criterion
from torch import Tensor
from torch.testing import assert_close

from kfriendly.criteria import CRITERIA, KMeans, converge, reseed, squared_distances
from kfriendly.criteria.base import one_hot_nearest, weighted_mean
from kfriendly.criteria.kmeans import CentroidState, CentroidStats

METHODS = ("init", "assign", "cost", "statistics", "update")


def of(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def farthest(H: Tensor, state: CentroidState) -> Tensor:
    return one_hot_nearest(-squared_distances(H, state.M))


def mean_over_batch(H: Tensor, S: Tensor) -> CentroidStats:
    return CentroidStats(S.mT @ H / len(H), S.sum(-2) / len(H))


def forgetful(state: CentroidState, stats: CentroidStats) -> CentroidState:
    n = stats.n.clamp_min(1.0)
    return CentroidState(stats.sums / n.unsqueeze(-1), state.c + stats.n)


def test_criteria_are_built_without_arguments() -> None:
    for build in CRITERIA.values():
        check_criterion(build())


@pytest.mark.parametrize(
    "broken",
    [{"assign": farthest}, {"statistics": mean_over_batch}, {"update": forgetful}],
    ids=lambda broken: next(iter(broken)),
)
def test_check_criterion_refuses_a_broken_one(
    broken: dict[str, Callable[..., Any]],
) -> None:
    methods = {name: getattr(KMeans(), name) for name in METHODS}
    criterion: Any = SimpleNamespace(**(methods | broken))  # quacks like a Criterion
    with pytest.raises(AssertionError):
        check_criterion(criterion)


def test_squared_distances_by_hand() -> None:
    d = squared_distances(of([[0, 0], [1, 1]]), of([[3, 4], [1, 0], [0, 0]]))
    assert d.tolist() == [[25.0, 1.0, 0.0], [13.0, 1.0, 2.0]]


def test_squared_distances_far_from_the_origin_keep_their_digits() -> None:
    H, M = of([[1e9 + 1]]), of([[1e9], [1e9 + 3]])
    assert squared_distances(H, M).tolist() == [[1.0, 4.0]]


def test_squared_distances_have_the_precision_of_the_samples() -> None:
    assert squared_distances(torch.zeros(1, 1), of([[1]])).dtype == torch.float32


def test_one_hot_nearest_marks_one_entry_a_row() -> None:
    S = one_hot_nearest(of([[2, 1, 3], [0, 0, 0]]))
    assert S.tolist() == [[0, 1, 0], [1, 0, 0]]


def test_weighted_mean_by_hand() -> None:
    mean = weighted_mean(of([[1.0], [7.0]]), of([3, 0]), of([[5.0], [0.0]]), of([1, 0]))
    assert mean.tolist() == [[2.0], [7.0]]  # (3 + 5) / 4; nothing to average


def test_weighted_mean_of_matrices_by_hand() -> None:
    old, sums = of([[[1, 2], [3, 4]]]), of([[[3, 2], [1, 0]]])
    mean = weighted_mean(old, of([1]), sums, of([1]))
    assert mean.tolist() == [[[2, 2], [2, 2]]]


def test_converge_by_hand() -> None:
    # From 0 and 3: {0, 1} and {2, 10, 11}; then {0, 1, 2} and {10, 11}.
    state = CentroidState(of([[0], [3]]), of([5, 6]))
    found = converge(KMeans(), of([[0], [1], [2], [10], [11]]), state)
    assert found.M.tolist() == [[1.0], [10.5]]
    assert found.c.tolist() == [5.0, 6.0]


def test_converge_stops_after_n_iter() -> None:
    state = CentroidState(of([[0], [3]]), of([5, 6]))
    found = converge(KMeans(), of([[0], [1], [2], [10], [11]]), state, n_iter=1)
    assert_close(found.M, of([[0.5], [23 / 3]]))


def test_converge_stops_when_nothing_changes() -> None:
    calls = []

    def counted(state: CentroidState, stats: CentroidStats) -> CentroidState:
        calls.append(1)
        return KMeans().update(state, stats)

    methods = {name: getattr(KMeans(), name) for name in METHODS}
    criterion: Any = SimpleNamespace(**(methods | {"update": counted}))
    state = CentroidState(of([[0], [3]]), of([5, 6]))
    converge(criterion, of([[0], [1], [2], [10], [11]]), state)
    assert len(calls) == 2  # the second leaves all samples where they are


def test_converge_leaves_an_empty_cluster_where_it_is() -> None:
    state = CentroidState(of([[0], [1e6]]), of([1, 1]))
    assert converge(KMeans(), of([[1], [3]]), state).M.tolist() == [[2.0], [1e6]]


def test_converge_of_starts_equals_a_loop() -> None:
    H = of([[[0], [1], [2], [10], [11]], [[0], [9], [9], [9], [10]]])
    M = of([[[0], [3]], [[0], [100]]])
    c = torch.ones(2, 2).double()
    together = converge(KMeans(), H, CentroidState(M, c))
    for start in range(2):
        alone = converge(KMeans(), H[start], CentroidState(M[start], c[start]))
        assert_close(together.M[start], alone.M)


def test_reseed_by_hand() -> None:
    state = CentroidState(of([[0.0], [1.0], [2.0]]), of([5, 6, 7]))
    H = torch.tensor([[10.0], [11.0], [12.0]])
    new = reseed(state, torch.tensor([False, True, False]), H)
    assert new.M.tolist() == [[0.0], [11.0], [2.0]]
    assert new.M.dtype == torch.float64
    assert new.c.tolist() == [5.0, 6.0, 7.0]
