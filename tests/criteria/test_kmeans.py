"""Hard K-means: Eqs. (1), (7) and (8)."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from checks import CRITERION_CHECKS, clusters_example
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as ScikitKMeans
from torch import Tensor
from torch.testing import assert_close

from kfriendly.criteria import Criterion, KMeans, converge
from kfriendly.criteria.kmeans import CentroidState

KINDS = {
    "online": KMeans(),
    "capped": KMeans(max_count=300.0),
    "frozen": KMeans(centers="frozen"),
}


def one_sample_at_a_time(state: CentroidState, H: Tensor, labels: Tensor) -> Tensor:
    """Apply Eq. (8) as printed: count the sample, then step by 1 / count."""
    M, c = state.M.clone(), state.c.clone()
    for h, k in zip(H, labels.tolist(), strict=True):
        c[k] += 1
        M[k] += (h - M[k]) / c[k]
    return M


def of(values: list[list[float]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def counts(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("check", CRITERION_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_kmeans_keeps_contract(kind: str, check: Callable[[Criterion], None]) -> None:
    check(KINDS[kind])


def test_assign_by_hand() -> None:
    state = CentroidState(of([[0, 0], [4, 0]]), counts(1, 1))
    S = KMeans().assign(of([[1, 5], [3, -5], [2, 0]]), state)
    assert S.tolist() == [[1, 0], [0, 1], [1, 0]]  # a tie goes to the first


def test_cost_by_hand() -> None:
    state = CentroidState(of([[0, 0], [4, 0]]), counts(1, 1))
    H, S = of([[1, 2], [1, 2]]), of([[1, 0], [0, 1]])
    assert KMeans().cost(H, S, state).tolist() == [5.0, 13.0]


def test_statistics_by_hand() -> None:
    H, S = of([[1, 2], [3, 4], [5, 6]]), of([[1, 0], [0, 1], [1, 0]])
    stats = KMeans().statistics(H, S)
    assert stats.sums.tolist() == [[6.0, 8.0], [3.0, 4.0]]
    assert stats.n.tolist() == [2.0, 1.0]


def test_statistics_of_float32_batches_add_up() -> None:
    H = torch.tensor([[2.0**24], [1.0]])  # their sum needs 25 bits, float32 has 24
    stats = KMeans().statistics(H, torch.ones(2, 1))
    assert float(stats.sums) == 2.0**24 + 1


def test_update_by_hand() -> None:
    state = CentroidState(of([[0.0], [10.0]]), counts(3, 1))
    stats = KMeans().statistics(of([[4.0], [8.0]]), of([[1, 0], [0, 1]]))
    M, c = KMeans().update(state, stats)
    assert M.tolist() == [[1.0], [9.0]]  # steps of 1/4 and 1/2
    assert c.tolist() == [4.0, 2.0]


@given(
    n=st.integers(0, 40),
    K=st.integers(1, 6),
    R=st.integers(1, 5),
    prior=st.sampled_from([0.0, 1.0, 7.5, 100.0, 1e6]),
    seed=st.integers(0, 2**31),
)
@settings(deadline=None, derandomize=True)
def test_update_equals_eq8_one_sample_at_a_time(
    n: int, K: int, R: int, prior: float, seed: int
) -> None:
    rng = torch.Generator().manual_seed(seed)
    H = torch.randn(n, R, generator=rng, dtype=torch.float64)
    M = torch.randn(K, R, generator=rng, dtype=torch.float64)
    state = CentroidState(M, torch.full((K,), prior, dtype=torch.float64))
    S = KMeans().assign(H, state)
    new = KMeans().update(state, KMeans().statistics(H, S))
    expected = one_sample_at_a_time(state, H, S.argmax(-1))
    assert_close(new.M, expected, rtol=0.0, atol=1e-12)
    assert torch.equal(new.c, state.c + S.sum(0))


def test_update_does_not_depend_on_how_rows_are_batched() -> None:
    H, state = clusters_example(KMeans())
    S = KMeans().assign(H, state)
    whole = KMeans().update(state, KMeans().statistics(H, S))
    for part in (slice(0, 7), slice(7, 8), slice(8, None)):
        state = KMeans().update(state, KMeans().statistics(H[part], S[part]))
    assert_close(state.M, whole.M, rtol=0.0, atol=1e-12)
    assert torch.equal(state.c, whole.c)


def test_update_of_huge_count_loses_no_digit() -> None:
    m, h, c = 1 / 3, 2 / 3 + 1e5, 1e12
    state = CentroidState(of([[m]]), counts(c))
    new = KMeans().update(state, KMeans().statistics(of([[h]]), of([[1]])))
    exact = Fraction(m) + (Fraction(h) - Fraction(m)) / (Fraction(c) + 1)
    assert float(new.M) == pytest.approx(float(exact), rel=0.0, abs=math.ulp(m))
    assert float(new.c) == 1e12 + 1


def test_update_of_huge_count_does_not_drift() -> None:
    start = state = CentroidState(of([[1 / 3, math.pi, -1e5 / 7]]), counts(1e12))
    stats = KMeans().statistics(start.M, of([[1]]))  # a sample right on the centre
    for _ in range(1000):
        state = KMeans().update(state, stats)
    assert torch.equal(state.M, start.M)


def test_update_without_prior_takes_the_plain_mean() -> None:
    state = CentroidState(of([[1e6], [5.0]]), counts(0, 0))
    stats = KMeans().statistics(of([[1.0], [2.0], [6.0]]), of([[1, 0]] * 3))
    assert KMeans().update(state, stats).M.tolist() == [[3.0], [5.0]]


def test_update_keeps_its_input() -> None:
    H, state = clusters_example(KMeans())
    M, c = (field.clone() for field in state)
    KMeans().update(state, KMeans().statistics(H, KMeans().assign(H, state)))
    assert torch.equal(state.M, M)
    assert torch.equal(state.c, c)


def test_max_count_caps_the_count() -> None:
    criterion = KMeans(max_count=10.0)
    state = CentroidState(of([[0.0]]), counts(8))
    new = criterion.update(state, criterion.statistics(of([[1.0]] * 5), of([[1]] * 5)))
    assert new.c.tolist() == [10.0]


def test_max_count_keeps_the_step_from_vanishing() -> None:
    criterion = KMeans(max_count=9.0)
    state = CentroidState(of([[0.0]]), counts(9))
    for moves in (1, 2, 3):  # each a tenth of the way, also after many samples
        state = criterion.update(state, criterion.statistics(of([[1.0]]), of([[1]])))
        assert float(state.M) == pytest.approx(1 - 0.9**moves)


def test_frozen_moves_by_no_sample_that_comes() -> None:
    criterion = KMeans(centers="frozen")
    H, start = clusters_example(criterion)
    state = start
    for _ in range(3):
        stats = criterion.statistics(H, criterion.assign(H, state))
        state = criterion.update(state, stats)
    assert torch.equal(state.M, start.M)
    assert torch.equal(state.c, start.c)


def test_frozen_starts_and_refreshes_like_online() -> None:
    H = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    start = KMeans().init(H, 3, 0)._replace(M=H[:3].double())
    frozen = converge(KMeans(centers="frozen"), H, start)
    assert not torch.equal(frozen.M, start.M)
    assert torch.equal(frozen.M, converge(KMeans(), H, start).M)


@pytest.mark.parametrize("prior", [0.0, 1.0, 100.0])
def test_init_respects_prior_count(prior: float) -> None:
    state = KMeans(prior_count=prior).init(of([[0.0], [0.2], [5.0]]), 2, 0)
    assert state.c.tolist() == [prior, prior]


def test_init_respects_max_count() -> None:
    criterion = KMeans(prior_count=100.0, max_count=10.0)
    assert criterion.init(of([[0.0], [0.2], [5.0]]), 2, 0).c.tolist() == [10.0, 10.0]


def test_init_by_hand() -> None:
    M, _ = KMeans().init(of([[0.0], [2.0], [50.0], [52.0]]), 2, 0)
    assert sorted(M.flatten().tolist()) == [1.0, 51.0]


def test_converge_equals_lloyd_of_scikit_learn() -> None:
    criterion = KMeans()
    H, state = clusters_example(criterion)
    found = converge(criterion, H, state)
    reference = ScikitKMeans(3, init=state.M.numpy(), n_init=1, tol=0.0).fit(H.numpy())
    labels = criterion.assign(H, found).argmax(-1)
    assert labels.tolist() == reference.labels_.tolist()
    assert_close(found.M.numpy(), reference.cluster_centers_)
