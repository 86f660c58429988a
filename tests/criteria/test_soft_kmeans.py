"""Soft K-means: shares, free energy and temperature."""

import math
from collections.abc import Callable

import pytest
import torch
from checks import CRITERION_CHECKS, clusters_example, latent_example
from torch import Tensor
from torch.testing import assert_close

from kfriendly.criteria import Criterion, KMeans, SoftKMeans, squared_distances
from kfriendly.criteria.soft_kmeans import SoftState


def of(values: list[list[float]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def two_centres(T: float) -> SoftState:
    """Put centres at 0 and 2 on a line."""
    c = torch.tensor([1.0, 1.0], dtype=torch.float64)
    return SoftState(of([[0.0], [2.0]]), c, torch.tensor(T, dtype=torch.float64))


@pytest.mark.parametrize("check", CRITERION_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("temperature", [0.05, 0.5, 5.0])
def test_soft_kmeans_keeps_contract(
    temperature: float, check: Callable[[Criterion], None]
) -> None:
    check(SoftKMeans(temperature=temperature))


def test_assign_halves_a_sample_in_the_middle() -> None:
    assert SoftKMeans().assign(of([[1.0]]), two_centres(3.0)).tolist() == [[0.5, 0.5]]


def test_assign_by_hand() -> None:
    # Distances 0 and 4, and 4 / T = log 3: shares of 3 to 1.
    S = SoftKMeans().assign(of([[0.0]]), two_centres(4 / math.log(3)))
    assert S.flatten().tolist() == pytest.approx([0.75, 0.25])


def test_cost_by_hand() -> None:
    cost = SoftKMeans().cost(of([[0.0]]), of([[0.75, 0.25]]), two_centres(2.0))
    entropy = 0.75 * math.log(0.75) + 0.25 * math.log(0.25)
    assert float(cost) == pytest.approx(0.25 * 4 + 2.0 * entropy)


def test_cost_of_whole_assignment_is_that_of_kmeans() -> None:
    H, state = clusters_example(SoftKMeans())
    hard = KMeans().assign(H, state)
    expected = KMeans().cost(H, hard, state)
    assert_close(SoftKMeans().cost(H, hard, state), expected)


def test_cost_of_own_shares_is_the_free_energy() -> None:
    criterion = SoftKMeans()
    H, state = clusters_example(criterion)
    cost = criterion.cost(H, criterion.assign(H, state), state)
    d = squared_distances(H, state.M)
    assert_close(cost, -state.T * torch.logsumexp(-d / state.T, -1))


def test_update_by_hand() -> None:
    criterion = SoftKMeans()
    stats = criterion.statistics(of([[1.0]]), of([[0.5, 0.5]]))
    M, c, T = criterion.update(two_centres(3.0), stats)
    assert M.flatten().tolist() == pytest.approx(
        [1 / 3, 5 / 3]
    )  # half in one and a half
    assert c.tolist() == [1.5, 1.5]
    assert float(T) == 3.0


def test_init_measures_temperature_in_mean_costs() -> None:
    H = of([[-11.0], [-9.0], [9.0], [11.0]])  # centres at -10 and 10, mean cost 1
    assert float(SoftKMeans(temperature=0.25).init(H, 2, 0).T) == pytest.approx(0.25)


def test_init_respects_prior_count() -> None:
    state = SoftKMeans(prior_count=7.0).init(latent_example(), 3, 0)
    assert state.c.tolist() == [7.0, 7.0, 7.0]


def test_shares_do_not_depend_on_units() -> None:
    criterion, H = SoftKMeans(), latent_example()
    metres, millimetres = (
        criterion.assign(scaled, criterion.init(scaled, 3, 0))
        for scaled in (H, 1000.0 * H)
    )
    assert_close(metres, millimetres, rtol=0.0, atol=1e-9)


def test_low_temperature_is_hard_kmeans() -> None:
    H, state = clusters_example(SoftKMeans(temperature=1e-9))
    S = SoftKMeans().assign(H, state)
    assert_close(S, KMeans().assign(H, state), rtol=0.0, atol=1e-12)


def test_samples_on_their_centres_have_finite_shares() -> None:
    H = torch.tensor([[0.0], [0.0], [1.0], [1.0]])  # no distance sets a temperature
    criterion = SoftKMeans()
    state = criterion.init(H, 2, 0)
    S = criterion.assign(H, state)
    assert S.sort(-1).values.tolist() == [[0.0, 1.0]] * 4
    assert criterion.cost(H, S, state).tolist() == [0.0] * 4
