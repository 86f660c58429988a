"""Passes over all rows without training."""

from typing import Any

import numpy as np
import pytest
import torch
from checks import lived_in
from torch import Tensor
from torch.testing import assert_close

from kfriendly import losses
from kfriendly.criteria import Criterion, KMeans, KSubspace, SoftKMeans
from kfriendly.criteria.kmeans import CentroidState
from kfriendly.networks import Autoencoder, ConvFactory, MLPFactory, NetworkFactory
from kfriendly.training.inference import (
    BLOCK,
    blocks,
    decode_rows,
    encode_rows,
    evaluate,
    map_rows,
    reconstruction_losses,
)
from kfriendly.training.objective import Objective
from kfriendly.training.sources import ChosenSource, TensorSource

N = 2 * BLOCK + 37
FACTORIES: dict[str, NetworkFactory] = {
    "mlp": MLPFactory((32, 16)),
    "batch": MLPFactory((32, 16), normalisation="batch"),
    "odd widths": MLPFactory((33, 17)),
    "conv": ConvFactory((4, 5), channels=(3, 4), normalisation="batch"),
}


def data(n: int = N, width: int = 20) -> TensorSource:
    rng = torch.Generator().manual_seed(0)
    return TensorSource(torch.randn(n, width, generator=rng))


def build(kind: str = "mlp", seed: int = 0) -> Autoencoder:
    return lived_in(FACTORIES[kind], 20, 3, seed=seed)


def stacked() -> Autoencoder:
    networks = [build(seed=seed) for seed in range(3)]
    return type(networks[0]).stack(networks)


def all_rows(source: TensorSource) -> Tensor:
    return source.rows(torch.arange(source.n_rows))


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, N])
def test_blocks_have_one_size_and_cover_rows_in_order(n: int) -> None:
    source = TensorSource(torch.arange(float(n)).unsqueeze(-1))
    found = [(count, x) for count, x in blocks(source)]
    assert {len(x) for _, x in found} == {BLOCK}
    rows = torch.cat([x[:count] for count, x in found]).flatten()
    assert torch.equal(rows, torch.arange(float(n)))


@pytest.mark.parametrize("n", [1, BLOCK, N])
def test_map_rows_equals_the_map_of_all(n: int) -> None:
    source = data(n)
    assert torch.equal(map_rows(lambda x: 2 * x, source), 2 * all_rows(source))


@pytest.mark.parametrize("kind", FACTORIES)
@pytest.mark.parametrize("row", [0, 1, 5, BLOCK - 1, BLOCK, N - 1])
def test_row_alone_encodes_to_the_same_values(kind: str, row: int) -> None:
    network, source = build(kind), data()
    alone = encode_rows(network, ChosenSource(source, torch.tensor([row])))
    assert_close(alone[0], encode_rows(network, source)[row], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", FACTORIES)
def test_rows_in_another_order_encode_to_the_same_values(kind: str) -> None:
    network, source = build(kind), data()
    order = torch.randperm(N, generator=torch.Generator().manual_seed(1))
    shuffled = encode_rows(network, ChosenSource(source, order))
    assert_close(shuffled, encode_rows(network, source)[order], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", FACTORIES)
def test_rows_of_a_larger_set_encode_to_the_same_values(kind: str) -> None:
    network, source = build(kind), data()
    few = encode_rows(network, ChosenSource(source, torch.arange(100, 300)))
    assert_close(few, encode_rows(network, source)[100:300], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", FACTORIES)
def test_rows_in_another_order_decode_to_the_same_values(kind: str) -> None:
    network, source = build(kind), data(width=3)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(1))
    shuffled = decode_rows(network, ChosenSource(source, order))
    assert_close(shuffled, decode_rows(network, source)[order], rtol=0, atol=1e-6)


def test_rows_encode_to_the_same_values_in_every_start() -> None:
    network, source = stacked(), data()
    order = torch.randperm(N, generator=torch.Generator().manual_seed(1))
    shuffled = encode_rows(network, ChosenSource(source, order))
    assert_close(shuffled, encode_rows(network, source)[:, order], rtol=0, atol=1e-6)


def test_encode_rows_uses_running_statistics() -> None:
    network, source = build("batch").train(), data()
    buffers = [b.clone() for b in network.buffers()]
    H = encode_rows(network, source)
    for before, after in zip(buffers, network.buffers(), strict=True):
        assert torch.equal(before, after)
    with torch.no_grad():
        expected = network.eval().encode(all_rows(source))
    assert_close(H, expected, rtol=1e-5, atol=1e-5)


def test_encode_rows_takes_any_module() -> None:
    layer, source = torch.nn.Linear(20, 2), data()
    found = encode_rows(layer, source)
    assert not found.requires_grad
    assert_close(found, layer(all_rows(source)).detach(), rtol=1e-5, atol=1e-5)


def test_encode_rows_of_starts_equals_each_alone() -> None:
    network, source = stacked(), data()
    found = encode_rows(network, source)  # (starts, n, R)
    for start in range(3):
        alone = encode_rows(network.take(start), source)
        assert_close(found[start], alone, rtol=1e-5, atol=1e-5)


def test_decode_rows_equals_a_direct_computation() -> None:
    network, source = build(), data(width=3)
    with torch.no_grad():
        expected = network.decode(all_rows(source))
    assert_close(decode_rows(network, source), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", losses.LOSSES)
def test_reconstruction_losses_equal_a_direct_computation(name: str) -> None:
    network, x = build(), all_rows(data()).abs()
    objective = Objective(losses.LOSSES[name], KMeans())
    found = reconstruction_losses(network, objective, TensorSource(x))
    with torch.no_grad():
        x_hat = network.decode(network.encode(x))
    assert found.shape == (N,)
    assert_close(found, objective.pretraining_loss(x_hat, x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("criterion", [KMeans(), SoftKMeans(), KSubspace()], ids=repr)
@pytest.mark.parametrize("kind", FACTORIES)
def test_evaluate_equals_a_direct_computation(kind: str, criterion: Criterion) -> None:
    network, source = build(kind).eval(), data()
    objective = Objective(losses.squared, criterion)
    x = all_rows(source)
    with torch.no_grad():
        H = network.encode(x)
        cluster = criterion.init(H, 4, 0)
        S = criterion.assign(H, cluster)
        lost = losses.squared(network.decode(H), x)
    found = evaluate(network.train(), cluster, objective, source)
    within = criterion.cost(H, S, cluster)
    assert np.mean(found.labels == S.argmax(-1).numpy()) > 0.99  # but for near ties
    assert float(found.reconstruction) == pytest.approx(float(lost.mean()), rel=1e-5)
    assert float(found.clustering) == pytest.approx(float(within.mean()), rel=1e-5)
    variance = H.double().var(0, correction=0).sum()
    assert float(found.latent_variance) == pytest.approx(float(variance), rel=1e-5)


def evaluate_starts() -> tuple[Any, Any, TensorSource, Objective, Autoencoder]:
    network, source = stacked(), data()
    objective = Objective(losses.squared, KMeans())
    H = encode_rows(network, source)
    states = [KMeans().init(h, 4, 0) for h in H]
    cluster = CentroidState(*(torch.stack(f) for f in zip(*states, strict=True)))
    found = evaluate(network, cluster, objective, source)
    return found, states, source, objective, network


def test_evaluate_of_starts_equals_each_alone() -> None:
    found, states, source, objective, network = evaluate_starts()
    assert found.labels.shape == (3, N)
    for start in range(3):
        alone = evaluate(network.take(start), states[start], objective, source)
        one = found.take(start)
        assert np.mean(one.labels == alone.labels) > 0.99
        for name in ("reconstruction", "clustering", "latent_variance"):
            expected = float(getattr(alone, name))
            assert float(getattr(one, name)) == pytest.approx(expected, rel=1e-5)


def test_evaluate_counts_no_row_twice() -> None:
    # One row more than a block: the filling of the second must not weigh.
    x = torch.zeros(BLOCK + 1, 20)
    x[-1] = 1.0
    network = build()
    cluster = CentroidState(torch.zeros(1, 3).double(), torch.ones(1).double())
    found = evaluate(
        network, cluster, Objective(losses.squared, KMeans()), TensorSource(x)
    )
    with torch.no_grad():
        costs = network.encode(x).double().square().sum(-1)
    assert float(found.clustering) == pytest.approx(float(costs.mean()), rel=1e-5)
    assert found.labels.shape == (BLOCK + 1,)


def test_latent_variance_far_from_the_origin_keeps_its_digits() -> None:
    network = MLPFactory(())(1, 1, torch.Generator())
    with torch.no_grad():
        next(network.parameters()).fill_(1.0)
    x = 1000.0 + 0.1 * torch.randn(N, 1, generator=torch.Generator().manual_seed(0))
    cluster = CentroidState(torch.full((1, 1), 1e3).double(), torch.ones(1).double())
    objective = Objective(losses.squared, KMeans())
    found = evaluate(network, cluster, objective, TensorSource(x))
    expected = float(x.double().var(correction=0))
    assert float(found.latent_variance) == pytest.approx(expected, rel=1e-3)
