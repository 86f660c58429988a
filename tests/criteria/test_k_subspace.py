"""K-subspace: clusters that are flat pieces of the latent space."""

import math
from collections.abc import Callable

import pytest
import torch
from checks import CRITERION_CHECKS, clusters_example, latent_example
from sklearn.decomposition import PCA
from torch import Tensor
from torch.testing import assert_close

from kfriendly.criteria import Criterion, KSubspace, converge
from kfriendly.criteria.k_subspace import SubspaceState


def of(values: list[list[float]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def lines(directions: Tensor, M: Tensor) -> SubspaceState:
    """Make lines through the rows of `M` along the rows of `directions`."""
    U = directions.unsqueeze(-1)
    return SubspaceState(M, torch.ones_like(M[:, 0]), U @ U.mT, U)


@pytest.mark.parametrize("check", CRITERION_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("q", [1, 2])
def test_k_subspace_keeps_contract(q: int, check: Callable[[Criterion], None]) -> None:
    check(KSubspace(q=q))


def test_cost_by_hand() -> None:
    # A horizontal line through (0, 1) and a vertical one through (5, 0).
    state = lines(of([[1, 0], [0, 1]]), of([[0, 1], [5, 0]]))
    H = of([[100, 3], [100, 3]])
    assert KSubspace().cost(H, of([[1, 0], [0, 1]]), state).tolist() == [4.0, 95.0**2]


def test_assign_goes_by_distance_to_the_line_not_to_the_centre() -> None:
    state = lines(of([[1, 0], [0, 1]]), of([[0, 1], [50, 0]]))
    S = KSubspace().assign(of([[40, 3], [48, 90]]), state)
    assert S.tolist() == [[1, 0], [0, 1]]


def test_init_recovers_two_lines() -> None:
    along = [-2.0, -1.0, 0.0, 1.0, 2.0]
    H = of([[x, 0.0] for x in along] + [[20.0, 3 + y] for y in along])
    state = KSubspace().init(H, 2, 0)
    order = state.M[:, 0].argsort()
    assert_close(state.M[order], of([[0, 0], [20, 3]]))
    assert_close(state.U[order].abs().squeeze(-1), of([[1, 0], [0, 1]]))
    cost = KSubspace().cost(H, KSubspace().assign(H, state), state)
    assert float(cost.max()) < 1e-20


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_init_has_converged(seed: int) -> None:
    H = latent_example(seed)
    state = KSubspace().init(H, 3, seed)
    again = converge(KSubspace(), H, state)
    assert_close(again.M, state.M, rtol=0.0, atol=1e-10)


def test_converge_recovers_lines_that_cross() -> None:
    # Through one point, so that no K-means could tell them apart.
    along = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]
    H = of([[x, 0.0] for x in along] + [[0.0, y] for y in along])
    s, c = math.sin(0.4), math.cos(0.4)
    start = lines(of([[c, s], [-s, c]]), of([[0.1, 0], [0, -0.1]]))
    state = converge(KSubspace(), H, start)
    assert_close(state.M, torch.zeros_like(state.M), rtol=0.0, atol=1e-12)
    assert_close(state.U.abs().squeeze(-1), of([[1, 0], [0, 1]]))


def test_update_without_prior_equals_pca() -> None:
    H = latent_example()
    state = KSubspace(q=2).init(H, 1, 0)._replace(c=torch.zeros(1).double())
    state = KSubspace(q=2).update(
        state, KSubspace(q=2).statistics(H, torch.ones(60, 1).double())
    )
    pca = PCA(2).fit(H.numpy())
    V = torch.from_numpy(pca.components_)
    assert_close(state.M[0].numpy(), pca.mean_)
    assert_close(state.U[0] @ state.U[0].mT, V.mT @ V)


def test_update_keeps_bases_orthonormal() -> None:
    criterion = KSubspace(q=2)
    H, state = clusters_example(criterion)
    S = criterion.assign(H, state)
    U = criterion.update(state, criterion.statistics(H, S)).U
    assert_close(U.mT @ U, torch.eye(2).double().expand(3, 2, 2))


def test_update_in_batches_equals_one_update() -> None:
    criterion = KSubspace()
    H, state = clusters_example(criterion)
    S = criterion.assign(H, state)
    whole = criterion.update(state, criterion.statistics(H, S))
    for part in (slice(0, 20), slice(20, None)):
        state = criterion.update(state, criterion.statistics(H[part], S[part]))
    assert_close(state.M, whole.M, rtol=0.0, atol=1e-12)
    assert_close(state.C, whole.C, rtol=0.0, atol=1e-10)


def test_init_respects_prior_count() -> None:
    assert KSubspace(prior_count=7.0).init(latent_example(), 2, 0).c.tolist() == [7, 7]


@pytest.mark.parametrize("q", [3, 4])
def test_init_refuses_q_out_of_range(q: int) -> None:
    with pytest.raises(ValueError, match=rf"q={q}\b.*n_components=3"):
        KSubspace(q=q).init(latent_example(), 2, 0)
