"""Layers, one start or many."""

import math
from typing import Literal

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from kfriendly.networks.layers import ACTIVATIONS, BatchNorm, Dense, TiedDense, affine


def normal(*shape: int, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return 3.0 + 2.0 * torch.randn(*shape, generator=rng, dtype=torch.float64)


def test_affine_by_hand() -> None:
    x, W = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]])
    assert affine(x, W, torch.tensor([10.0, 20.0])).tolist() == [[21.0, 37.0]]


@pytest.mark.parametrize("shape", [(5, 3), (2, 5, 3)], ids=["shared", "own rows"])
def test_affine_of_starts_equals_a_loop(shape: tuple[int, ...]) -> None:
    x, W, b = normal(*shape), normal(2, 4, 3, seed=1), normal(2, 4, seed=2)
    each = [affine(x.expand(2, 5, 3)[s], W[s], b[s]) for s in range(2)]
    assert_close(affine(x, W, b), torch.stack(each))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linear", [-1.0, 0.0, 2.0]),
        ("relu", [0.0, 0.0, 2.0]),
        ("softplus", [math.log1p(math.exp(a)) for a in (-1.0, 0.0, 2.0)]),
    ],
)
def test_activation_by_hand(name: str, expected: list[float]) -> None:
    found = ACTIVATIONS[name](torch.tensor([-1.0, 0.0, 2.0]))
    assert found.tolist() == pytest.approx(expected)


def test_batch_norm_by_hand() -> None:
    norm = BatchNorm((1, 1), centre_only=False)
    y = norm(torch.tensor([[1.0], [3.0]]))  # mean 2, variance 1
    assert y.flatten().tolist() == pytest.approx([-1.0, 1.0], abs=1e-5)
    assert float(norm.mean) == pytest.approx(0.2)
    assert float(norm.variance) == pytest.approx(1.0)


def test_batch_norm_equals_torch_in_training() -> None:
    ours, theirs = BatchNorm((1, 4), centre_only=False).double(), nn.BatchNorm1d(4)
    theirs = theirs.double()
    nn.init.constant_(ours.gamma, 1.5)
    nn.init.constant_(theirs.weight, 1.5)
    nn.init.constant_(ours.beta, -0.5)
    nn.init.constant_(theirs.bias, -0.5)
    x = normal(10, 4)
    assert_close(ours(x), theirs(x))


def test_batch_norm_gradient_equals_torch() -> None:
    ours, theirs = BatchNorm((1, 4), centre_only=False).double(), nn.BatchNorm1d(4)
    weights, x = normal(10, 4, seed=1), normal(10, 4).requires_grad_()
    (a,) = torch.autograd.grad((weights * ours(x)).sum(), x)
    (b,) = torch.autograd.grad((weights * theirs.double()(x)).sum(), x)
    assert_close(a, b)


def test_batch_norm_running_statistics_equal_torch() -> None:
    ours, theirs = BatchNorm((1, 4), centre_only=False).double(), nn.BatchNorm1d(4)
    theirs.double()
    n, n_batches = 10, 3
    for seed in range(n_batches):
        ours(normal(n, 4, seed=seed))
        theirs(normal(n, 4, seed=seed))
    assert isinstance(theirs.running_mean, Tensor)
    assert isinstance(theirs.running_var, Tensor)
    assert_close(ours.mean[0], theirs.running_mean)
    # Torch averages the unbiased variance, n / (n - 1) times ours, from one on.
    one = 0.9**n_batches
    assert_close((ours.variance[0] - one) * n / (n - 1), theirs.running_var - one)


def test_batch_norm_equals_torch_in_eval() -> None:
    ours, theirs = BatchNorm((1, 4), centre_only=False).double(), nn.BatchNorm1d(4)
    theirs.double()
    ours(normal(10, 4))
    assert isinstance(theirs.running_mean, Tensor)
    assert isinstance(theirs.running_var, Tensor)
    theirs.running_mean.copy_(ours.mean[0])
    theirs.running_var.copy_(ours.variance[0])
    x = normal(6, 4, seed=1)
    assert_close(ours.eval()(x), theirs.eval()(x))


def test_batch_norm_of_images_equals_torch() -> None:
    ours = BatchNorm((1, 3, 1, 1), centre_only=False).double()
    x = normal(5, 3, 4, 4)
    assert_close(ours(x), nn.BatchNorm2d(3).double()(x))


def test_centring_subtracts_the_mean_only() -> None:
    norm = BatchNorm((1, 2), centre_only=True)
    y = norm(torch.tensor([[1.0, 100.0], [3.0, 300.0]]))
    assert y.tolist() == [[-1.0, -100.0], [1.0, 100.0]]


def test_centring_subtracts_the_running_mean_in_eval() -> None:
    norm = BatchNorm((1, 1), centre_only=True)
    norm(torch.tensor([[10.0], [30.0]]))  # the running mean goes a tenth of the way
    assert norm.eval()(torch.tensor([[5.0]])).item() == pytest.approx(3.0)


@pytest.mark.parametrize("centre_only", [True, False])
def test_batch_norm_of_one_feature_averages_rows_only(centre_only: bool) -> None:
    norm = BatchNorm((1, 1), centre_only=centre_only)
    norm.mean.data, norm.variance.data = torch.zeros(2, 1, 1), torch.ones(2, 1, 1)
    norm(torch.tensor([[[1.0], [3.0]], [[10.0], [30.0]]]))  # two starts
    assert norm.mean.flatten().tolist() == pytest.approx([0.2, 2.0])


def test_dense_by_hand() -> None:
    layer = Dense(2, 2, generator=torch.Generator(), activation="relu")
    layer.weight.data = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    layer.bias.data = torch.tensor([0.5, 0.5])
    assert layer(torch.tensor([[3.0, 1.0]])).tolist() == [[2.5, 0.0]]


def test_dense_normalises_before_it_activates() -> None:
    layer = Dense(1, 1, generator=torch.Generator(), normalisation="centring")
    layer.weight.data = torch.ones(1, 1)
    y = layer(torch.tensor([[1.0], [3.0]]))
    assert y.flatten().tolist() == [0.0, 1.0]  # relu(-1), relu(1)


@pytest.mark.parametrize(("activation", "gain"), [("relu", 2.0), ("linear", 1.0)])
def test_dense_weights_have_the_variance_of_he(
    activation: Literal["relu", "linear"], gain: float
) -> None:
    rng = torch.Generator().manual_seed(0)
    layer = Dense(400, 300, generator=rng, activation=activation)
    assert float(layer.weight.detach().var()) * 400 == pytest.approx(gain, rel=0.02)
    assert not bool(layer.bias.any())


def test_tied_dense_by_hand() -> None:
    layer = Dense(2, 1, generator=torch.Generator())
    layer.weight.data = torch.tensor([[2.0, -3.0]])
    tied = TiedDense(layer, activation="relu")
    tied.bias.data = torch.tensor([1.0, 1.0])
    assert tied(torch.tensor([[2.0]])).tolist() == [[5.0, 0.0]]
