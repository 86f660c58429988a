"""Sparse rows against the same rows filled in."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.testing import assert_close

from kfriendly import DCN
from kfriendly.criteria import KMeans
from kfriendly.criteria.kmeans import CentroidState
from kfriendly.defaults import default_batch_size
from kfriendly.losses import squared
from kfriendly.networks import MLPFactory
from kfriendly.networks.layers import WIDE
from kfriendly.networks.whitened import Whitened
from kfriendly.sparse_rows import SparseRows
from kfriendly.training.descent import Descent, Optimizer
from kfriendly.training.history import Recorder
from kfriendly.training.loop import Phase
from kfriendly.training.objective import Objective, trace_error
from kfriendly.training.pretrain import pretrain_end_to_end, pretrain_layers
from kfriendly.training.scaling import find_scaling
from kfriendly.training.sources import ArraySource, TensorSource
from kfriendly.training.state import TrainState

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def as_in_the_loop() -> Any:
    with torch.no_grad():
        yield


def table(n: int = 30, d: int = WIDE + 7) -> sp.csr_array:
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=0.01, rng=rng, format="lil")
    X[np.arange(d) % n, np.arange(d)] = 1 + rng.random(d)  # no column is constant
    return sp.csr_array(X, dtype=np.float32)


def sparse_rows(n: int = 30) -> SparseRows:
    X = table(n)
    u = torch.rand(X.shape[1], generator=torch.Generator().manual_seed(1))
    return SparseRows(X, 0.01 * u)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


def network_of(d: int, **style: Any) -> Any:
    return MLPFactory((6, 5), **style)(d, 3, torch.Generator().manual_seed(3))


def test_products_equal_those_of_dense_rows() -> None:
    x = sparse_rows()
    W, G = normal(x.Z.shape[1], 4), normal(30, 4)
    assert_close(x.times(W), x.dense() @ W, rtol=1e-4, atol=1e-4)
    found = torch.empty(x.Z.shape[1], 4)
    x.transposed_times(G, into=found)
    assert_close(found, x.dense().mT @ G, rtol=1e-4, atol=1e-4)


def test_rows_without_a_value_are_the_shift() -> None:
    u = torch.arange(WIDE).float()
    x = SparseRows(sp.csr_array((3, WIDE), dtype=np.float32), u)
    assert_close(x.dense(), -u.expand(3, WIDE))
    assert_close(x.times(torch.ones(WIDE, 1)), -u.sum().expand(3, 1))


def test_squared_errors_and_gradients_equal_autograd() -> None:
    x = sparse_rows()
    h, W, b = normal(30, 5), 0.1 * normal(x.Z.shape[1], 5), normal(x.Z.shape[1])
    values, gradients = x.squared_errors(h, W, b)
    leaves = [tensor.clone().requires_grad_() for tensor in (h, W, b)]
    with torch.enable_grad():
        plain = squared(leaves[0] @ leaves[1].mT + leaves[2], x.dense())
        expected = torch.autograd.grad(plain.mean(), leaves)
    assert_close(values, plain.detach(), rtol=1e-5, atol=1e-3)
    found = gradients(torch.empty_like(W))
    assert_close(list(found), list(expected), rtol=1e-4, atol=1e-4)


def test_gradients_of_wide_weights_have_the_same_memory_in_every_step() -> None:
    x = sparse_rows()
    network = network_of(x.Z.shape[1])
    wide = [p for p in network.parameters() if max(p.shape) >= WIDE and p.dim() == 2]

    def memory() -> list[int]:
        _, pull = trace_error(squared, network, network.encode(x), x)
        network.trace_encode(x).pull(pull())
        return [p.grad.data_ptr() for p in wide if p.grad is not None]

    first = memory()
    assert len(first) == 2
    Optimizer(network.parameters(), Descent()).clear()
    assert memory() == first


def test_gradients_that_are_not_cleared_add_up() -> None:
    x = sparse_rows()
    network = network_of(x.Z.shape[1])
    W = network.encoder[0].weight
    network.trace_encode(x).pull(normal(30, 3))
    once = W.grad.clone()
    network.trace_encode(x).pull(2.0 * normal(30, 3))
    assert_close(W.grad, 3.0 * once)


def test_a_copied_network_takes_no_memory_of_gradients_along() -> None:
    x = sparse_rows()
    network = network_of(x.Z.shape[1])
    n_bytes = len(pickle.dumps(network))
    network.trace_encode(x).pull(normal(30, 3))
    assert len(pickle.dumps(network)) < 1.1 * n_bytes
    before = network.encoder[0].weight.grad.clone()
    copy.deepcopy(network).trace_encode(x).pull(2.0 * normal(30, 3))
    assert_close(network.encoder[0].weight.grad, before)


@pytest.mark.parametrize(
    "style",
    [{}, {"output": "relu"}, {"output": "softplus"}, {"bottleneck": "relu"}],
    ids=str,
)
@pytest.mark.parametrize("whitened", [False, True])
def test_gradient_of_eq_5_equals_that_of_dense_rows(
    style: dict[str, Any], whitened: bool
) -> None:
    x = sparse_rows()
    network = network_of(x.Z.shape[1], **style)
    if whitened:
        network = Whitened(network, network.encode(x.dense()))
    assert network.takes_sparse
    cluster = CentroidState(normal(4, 3).double(), torch.ones(4).double())
    objective = Objective(squared, KMeans())
    found = []
    for rows in (x, x.dense()):
        network.zero_grad(set_to_none=True)
        cost = objective.differentiate(network, rows, cluster, lam=torch.tensor(0.7))
        gradients = [p.grad for p in network.parameters()]
        found.append([cost.reconstruction, cost.clustering, *gradients])
    assert_close(*found, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("scale", ["none", "common", "standard"])
def test_source_scales_sparse_rows_as_dense_ones(scale: Any) -> None:
    X = table()
    scaling = find_scaling(X, scale)
    index = torch.tensor([4, 0, 4, 29])
    dense = ArraySource(X, scaling, CPU).rows(index)
    sparse = ArraySource(X, scaling, CPU).suit(network_of(X.shape[1])).rows(index)
    assert isinstance(sparse, SparseRows)
    assert_close(sparse.dense(), dense)


def test_a_narrow_or_stacked_or_normalised_network_gets_dense_rows() -> None:
    X = table()
    source = ArraySource(X, find_scaling(X, "none"), CPU)
    wide = network_of(X.shape[1])
    for network in (
        type(wide).stack([wide, wide]),
        network_of(X.shape[1], normalisation="batch"),
    ):
        assert isinstance(source.suit(network).rows(torch.arange(3)), Tensor)
    narrow = ArraySource(X[:, :50], find_scaling(X[:, :50], "none"), CPU)
    rows = narrow.suit(network_of(50)).rows(torch.arange(3))
    assert isinstance(rows, Tensor)


@pytest.mark.parametrize("pretrain", [pretrain_layers, pretrain_end_to_end])
@pytest.mark.parametrize("method", ["adam", "sgd"])
def test_pretraining_on_sparse_rows_equals_dense(pretrain: Any, method: Any) -> None:
    X = table()
    scaling = find_scaling(X, "common")
    rate = {"adam": 1e-4, "sgd": 1e-7}[method]
    phase = Phase("pretrain", 2, 10, Descent(method, rate))
    ends = []
    for keep in (True, False):
        network = network_of(X.shape[1])
        source: Any = ArraySource(X, scaling, CPU).suit(network)
        if not keep:
            source = TensorSource(source.rows(torch.arange(30)).dense())
        optimizer = phase.descent.optimizer(network.parameters())
        state = TrainState(network, optimizer, torch.Generator().manual_seed(0))
        pretrain(state, source, Objective(squared, KMeans()), phase, Recorder())
        ends.append([p.detach() for p in network.parameters()])
    assert_close(*ends, rtol=1e-2, atol=1e-4)


def test_dcn_of_a_wide_csr_equals_that_of_the_array() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = np.zeros((120, WIDE), np.float32)
    for i, k in enumerate(y):  # each cluster has its own words
        X[i, rng.choice(np.arange(50 * k, 50 * k + 50), 20)] = 1 + rng.random(20)
    X[np.arange(WIDE) % 120, np.arange(WIDE)] += 0.1  # no column is constant
    settings: dict[str, Any] = {
        "hidden": (16,),
        "scale": "common",
        "views": None,  # neighbours of sparse rows are others
        "noise": None,  # and so are the words that would be hidden
        "pretrain_epochs": 15,
        "max_epochs": 10,
        "random_state": 0,
    }
    sparse = DCN(3, **settings).fit(sp.csr_array(X))
    dense = DCN(3, **settings).fit(X)
    assert np.array_equal(sparse.labels_, dense.labels_)
    assert sparse.reconstruction_error_ == pytest.approx(
        dense.reconstruction_error_, rel=1e-2
    )
    assert np.array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)
    scores = sparse.score_samples(sp.csr_array(X))
    assert scores == pytest.approx(sparse.score_samples(X), rel=1e-3)
    sparse.partial_fit(sp.csr_array(X[:50]))
    assert sparse.labels_.shape == (50,)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (sp.csr_array((20_000, WIDE)), 2_000),
        (sp.csr_array((10**6, WIDE)), 2_048),
        (sp.csr_array((50, WIDE)), 16),
        (sp.csr_array((20_000, WIDE - 1)), 256),
        (np.broadcast_to(np.float32(0), (20_000, WIDE)), 256),
        (np.broadcast_to(np.float32(0), (4_000, 10)), 100),
    ],
    ids=lambda X: f"{type(X).__name__}{getattr(X, 'shape', '')}",
)
def test_batches_are_large_where_the_weights_take_the_time(
    X: Any, expected: int
) -> None:
    assert default_batch_size(X) == expected
