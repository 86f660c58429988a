"""Algorithm 1, step by step."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from kfriendly.criteria import KMeans
from kfriendly.criteria.kmeans import CentroidState
from kfriendly.losses import squared
from kfriendly.networks import MLPFactory
from kfriendly.training.alternating import (
    Alternating,
    JointRules,
    network_step,
    sgd_step,
)
from kfriendly.training.descent import Descent
from kfriendly.training.objective import Objective
from kfriendly.training.sources import TensorSource
from kfriendly.training.state import TrainState

OBJECTIVE = Objective(squared, KMeans(prior_count=5.0))


RULES = JointRules()


@pytest.fixture(autouse=True)
def as_in_the_loop() -> Iterator[None]:
    with torch.no_grad():
        yield


def make_state(seed: int = 0) -> TrainState:
    network = MLPFactory((6,))(4, 2, torch.Generator().manual_seed(seed))
    # On either side of the first rows' latent points, so that both get some.
    H = network.encode(rows()).detach().double()
    M = torch.stack([H[0], H[1]])
    return TrainState(
        network,
        Descent("sgd", 0.01).optimizer(network.parameters()),
        rng=torch.Generator().manual_seed(seed),
        lam=torch.tensor(0.5),
        cluster=CentroidState(M, torch.full((2,), 5.0, dtype=torch.float64)),
    )


def rows(n: int = 12) -> Tensor:
    return torch.randn(n, 4, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("encode_again", [False, True])
def test_sgd_step_is_eqs_6_7_8(encode_again: bool) -> None:
    state, by_hand = make_state(), make_state()
    x, rules = rows(), JointRules(encode_again=encode_again)
    _, S = sgd_step(state, x, OBJECTIVE, rules, lam=state.lam)

    old = by_hand.cluster
    H = by_hand.network.encode(x)
    network_step(by_hand, x, OBJECTIVE, rules, lam=by_hand.lam, S=None)  # Eq. (6)
    if encode_again:
        H = by_hand.network.encode(x)
    nearest = (H[:, None] - old.M[None].float()).norm(dim=-1).argmin(1)  # Eq. (7)
    M, c = old.M.clone(), old.c.clone()
    for h, k in zip(H.double(), nearest, strict=True):  # Eq. (8), one by one
        c[k] += 1
        M[k] += (h - M[k]) / c[k]

    assert torch.equal(S.argmax(1), nearest)
    torch.testing.assert_close(state.cluster.M, M, rtol=0, atol=1e-6)
    assert torch.equal(state.cluster.c, c)


def test_network_step_leaves_clusters_alone() -> None:
    state = make_state()
    before = state.cluster
    network_step(state, rows(), OBJECTIVE, RULES, lam=state.lam, S=None)
    assert state.cluster is before


def test_sgd_step_uses_stored_assignment_if_given() -> None:
    nearest, stored = make_state(), make_state()
    x = rows()
    S = 1.0 - KMeans().assign(stored.network.encode(x), stored.cluster)
    sgd_step(nearest, x, OBJECTIVE, RULES, lam=nearest.lam)
    sgd_step(stored, x, OBJECTIVE, RULES, lam=stored.lam, S=S)
    first, other = (next(s.network.parameters()) for s in (nearest, stored))
    assert not torch.equal(first, other)


def make_task(state: TrainState, **rules: Any) -> Alternating:
    task = Alternating(OBJECTIVE, JointRules(**rules), 2)
    task.begin(state, np.zeros(12, dtype=np.int32))
    return task


def test_hold_keeps_rows_and_centres_where_they_started() -> None:
    state = make_state()
    task = make_task(state, hold=0.5)
    before = state.cluster
    task.step(state, rows(), torch.arange(12), progress=0.4)
    assert state.cluster is before
    assert task.end_epoch(state, TensorSource(rows()))["sizes"].tolist() == [12, 0]


def test_hold_ends_and_rows_go_to_their_nearest_centre() -> None:
    state = make_state()
    task = make_task(state, hold=0.5)
    task.step(state, rows(), torch.arange(12), progress=0.6)
    assert task.end_epoch(state, TensorSource(rows()))["sizes"].min() > 0


def test_ramp_raises_lam_from_zero() -> None:
    state = make_state()
    task = make_task(state, ramp=0.5)
    lams = [
        float(task.step(state, rows(), torch.arange(12), p).lam)
        for p in (0.0, 0.25, 0.5, 1.0)
    ]
    assert lams == [0.0, 0.25, 0.5, 0.5]


def test_stored_assignments_are_those_of_the_last_visit() -> None:
    state = make_state()
    task = make_task(state, assignment="stored")
    task.step(state, rows(), torch.arange(12), progress=0.0)  # first labels: all zero
    task.end_epoch(state, TensorSource(rows()))
    reference = make_state()
    first = torch.tensor([[1.0, 0.0]]).repeat(12, 1)
    _, S = sgd_step(reference, rows(), OBJECTIVE, RULES, lam=reference.lam, S=first)
    sgd_step(reference, rows(), OBJECTIVE, RULES, lam=reference.lam, S=S)
    task.step(state, rows(), torch.arange(12), progress=0.0)
    assert torch.equal(state.cluster.M, reference.cluster.M)


def test_refresh_moves_centres_to_the_means_of_their_rows() -> None:
    state = make_state()
    task = make_task(state, refresh_every=1, empty_cluster="keep")
    task.step(state, rows(), torch.arange(12), progress=0.0)
    task.end_epoch(state, TensorSource(rows()))
    H = state.network.encode(rows()).detach().double()
    S = KMeans().assign(H.float(), state.cluster).bool()
    means = torch.stack([H[S[:, k]].mean(0) for k in range(2)])
    torch.testing.assert_close(state.cluster.M, means, rtol=0, atol=1e-5)


def test_reseed_puts_an_empty_centre_on_the_worst_row() -> None:
    state = make_state()
    task = make_task(state)
    far = torch.tensor([[0.0, 0.0], [1e6, 1e6]], dtype=torch.float64)
    state.cluster = state.cluster._replace(M=far)
    task.step(state, rows(), torch.arange(12), progress=0.0)
    assert task.end_epoch(state, TensorSource(rows()))["empty"] == 1
    H = state.network.encode(rows()).detach().double()
    distance = (H - state.cluster.M[1]).norm(dim=1).min()
    assert float(distance) < 1e-5


def test_nothing_remains_of_an_epoch_that_is_undone() -> None:
    state = make_state()
    task = make_task(state, hold=0.5)
    before = state.snapshot()
    task.step(state, rows(), torch.arange(12), progress=0.6)  # rows go elsewhere
    state.restore(before)
    task.step(state, rows(), torch.arange(12), progress=0.1)  # held to the first labels
    reference = make_state()
    make_task(reference, hold=0.5).step(
        reference, rows(), torch.arange(12), progress=0.1
    )
    found, expected = (list(s.network.parameters()) for s in (state, reference))
    assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize("again", [False, True])
def test_snapshot_brings_everything_back(again: bool) -> None:
    state = make_state()
    old = make_state()
    sgd_step(old, rows(), OBJECTIVE, RULES, lam=old.lam)
    room = old.snapshot() if again else None
    before = state.snapshot(room)
    tensors = [] if room is None else [*room["network"].values(), *room["optimizer"]]
    kept = [*before["network"].values(), *before["optimizer"]]
    assert all(a is b for a, b in zip(tensors, kept, strict=False))
    reference = make_state()
    sgd_step(state, rows(), OBJECTIVE, RULES, lam=state.lam)
    torch.randperm(5, generator=state.rng)
    state.restore(before)
    for result, expected in ((state, reference),):
        sgd_step(result, rows(), OBJECTIVE, RULES, lam=result.lam)
        sgd_step(expected, rows(), OBJECTIVE, RULES, lam=expected.lam)
    assert torch.equal(state.cluster.M, reference.cluster.M)
    assert torch.equal(
        torch.randperm(5, generator=state.rng),
        torch.randperm(5, generator=reference.rng),
    )
