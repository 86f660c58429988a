"""The cost of Eq. (4), and its gradient written out by hand."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from checks import lived_in
from torch import Tensor
from torch.testing import assert_close

from kfriendly import losses
from kfriendly.criteria import KMeans, KSubspace, SoftKMeans
from kfriendly.criteria.kmeans import CentroidState
from kfriendly.networks import MLP, Autoencoder, LayerPair, MLPFactory
from kfriendly.training.objective import Cost, Objective

LAM = torch.tensor(0.7, dtype=torch.float64)
EQ4 = Objective(losses.squared, KMeans())


class Found(NamedTuple):
    """A cost, Eq. (5), and the gradient that was left in the parameters."""

    cost: Cost
    total: Tensor
    gradients: list[Tensor]


@torch.no_grad()
def differentiate(
    network: Autoencoder,
    x: Tensor,
    cluster: Any,
    *,
    lam: Tensor,
    S: Tensor | None = None,
    objective: Objective = EQ4,
) -> Found:
    network.zero_grad(set_to_none=True)
    cost = objective.differentiate(network, x, cluster, lam=lam, S=S)
    total = cost.means(lam).objective.sum()
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    return Found(cost, total, gradients)


def rows(n: int, width: int, seed: int = 0) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(n, width, generator=rng, dtype=torch.float64)


def centres(K: int, R: int) -> CentroidState:
    return CentroidState(rows(K, R, seed=1), torch.full((K,), 5.0).double())


def build(hidden: tuple[int, ...]) -> Autoencoder:
    return lived_in(MLPFactory(hidden), 4, 2, seed=3).double()


def gradient_by_hand(
    parameters: Sequence[np.ndarray], x: np.ndarray, M: np.ndarray, lam: float
) -> tuple[float, list[np.ndarray]]:
    """Compute Eq. (4) and its gradient by the chain rule, layer by layer.

    Parameters come as W1, b1, W2, b2, ... with the bottleneck in the middle; the
    bottleneck and the output are linear, all other layers have ReLU.
    """
    layers = list(zip(parameters[::2], parameters[1::2], strict=True))
    middle, last = len(layers) // 2 - 1, len(layers) - 1
    y = [x]
    for depth, (W, b) in enumerate(layers):
        a = y[-1] @ W.T + b
        y.append(a if depth in (middle, last) else np.maximum(a, 0.0))
    H, n = y[middle + 1], len(x)
    pull = H - M[((H[:, None] - M) ** 2).sum(2).argmin(1)]  # h - M s
    total = ((y[-1] - x) ** 2).sum() / n + lam / 2 * (pull**2).sum() / n  # Eq. (4)
    delta = 2 * (y[-1] - x) / n
    gradients: list[np.ndarray] = []
    for depth in range(last, -1, -1):
        if depth == middle:
            delta = delta + lam * pull / n
        elif depth != last:
            delta = delta * (y[depth + 1] > 0)
        gradients = [delta.T @ y[depth], delta.sum(0), *gradients]
        delta = delta @ layers[depth][0]
    return float(total), gradients


@pytest.mark.parametrize("hidden", [(), (5,), (6, 3)], ids=["linear", "relu", "two"])
@pytest.mark.parametrize("lam", [0.0, 0.7, 30.0])
def test_gradient_equals_the_one_by_hand(hidden: tuple[int, ...], lam: float) -> None:
    network, x, cluster = build(hidden), rows(9, 4), centres(3, 2)
    weight = torch.tensor(lam, dtype=torch.float64)
    found = differentiate(network, x, cluster, lam=weight)
    by_hand = [p.detach().numpy() for p in network.parameters()]
    total, gradients = gradient_by_hand(by_hand, x.numpy(), cluster.M.numpy(), lam)
    assert float(found.total) == pytest.approx(total, rel=1e-10)
    for ours, theirs in zip(found.gradients, gradients, strict=True):
        assert ours.numpy() == pytest.approx(theirs, rel=1e-10, abs=1e-10)


def test_two_layer_gradient_equals_the_formula() -> None:
    network, x, cluster = build(()), rows(9, 4), centres(3, 2)
    found = differentiate(network, x, cluster, lam=LAM).gradients
    W, b, Z, d = (p.detach().numpy() for p in network.parameters())
    X, M, n = x.numpy(), cluster.M.numpy(), 9
    H = X @ W.T + b
    S = KMeans().assign(torch.from_numpy(H), cluster).numpy()
    E, P = H @ Z.T + d - X, H - S @ M
    to_H = 2 / n * E @ Z + float(LAM) / n * P
    by_hand = [to_H.T @ X, to_H.sum(0), 2 / n * E.T @ H, 2 / n * E.sum(0)]
    for ours, theirs in zip(found, by_hand, strict=True):
        assert ours.numpy() == pytest.approx(theirs, rel=1e-10, abs=1e-10)


def test_total_equals_eq4_by_hand() -> None:
    network = MLPFactory(())(1, 1, torch.Generator()).double()
    for p, value in zip(network.parameters(), (2.0, 1.0, 3.0, -1.0), strict=True):
        p.data.fill_(value)  # h = 2 x + 1, g = 3 h - 1 = 6 x + 2
    cluster = CentroidState(torch.tensor([[0.0], [6.0]]).double(), torch.ones(2))
    x = torch.tensor([[0.0], [2.0]]).double()  # h: 1, 5; g: 2, 14
    found = differentiate(network, x, cluster, lam=torch.tensor(4.0).double())
    cost = found.cost
    assert cost.reconstruction.tolist() == [4.0, 144.0]
    assert cost.clustering.tolist() == [1.0, 1.0]
    assert found.total.item() == (4 + 144) / 2 + 4 / 2 * (1 + 1) / 2


def test_given_assignment_is_used() -> None:
    network, x, cluster = build(()), rows(9, 4), centres(3, 2)
    S = torch.eye(3).double()[torch.arange(9) % 3]
    cost = differentiate(network, x, cluster, lam=LAM, S=S).cost
    expected = (network.encode(x) - S @ cluster.M).square().sum(-1)
    assert_close(cost.clustering, expected)


def test_assignment_is_a_constant_of_the_gradient() -> None:
    # By the soft shares' optimality it makes no difference to the gradient's value.
    network, x = build(()), rows(9, 4)
    criterion = SoftKMeans()
    with torch.no_grad():
        H = network.encode(x)
    cluster = criterion.init(H, 3, 0)
    objective = Objective(losses.squared, criterion)
    S = criterion.assign(H, cluster)
    implicit = differentiate(network, x, cluster, lam=LAM, objective=objective)
    given = differentiate(network, x, cluster, lam=LAM, S=S, objective=objective)
    assert_close(implicit.gradients, given.gradients)


def test_lam_zero_is_plain_reconstruction() -> None:
    network, x = build((5,)), rows(9, 4)
    found = differentiate(network, x, centres(3, 2), lam=torch.zeros(()).double())
    plain = losses.squared(network.decode(network.encode(x)), x).mean()
    assert torch.equal(found.total, plain)
    by_autograd = torch.autograd.grad(plain, list(network.parameters()))
    assert_close(found.gradients, list(by_autograd))


def test_starts_equal_each_alone() -> None:
    networks = [lived_in(MLPFactory((5,)), 4, 2, seed=s).double() for s in range(3)]
    x, lam = rows(9, 4), torch.tensor([0.0, 0.5, 20.0]).double()
    clusters = [CentroidState(rows(3, 2, seed=s), torch.ones(3)) for s in range(3)]
    together = CentroidState(*(torch.stack(f) for f in zip(*clusters, strict=True)))
    stacked = type(networks[0]).stack(networks)
    found = differentiate(stacked, x, together, lam=lam)
    alone = [differentiate(networks[s], x, clusters[s], lam=lam[s]) for s in range(3)]
    assert_close(found.total, torch.stack([one.total for one in alone]).sum())
    clustering = torch.stack([one.cost.clustering for one in alone])
    assert_close(found.cost.clustering, clustering)
    for s in range(3):
        own = [gradient[s] for gradient in found.gradients]
        assert_close(own, alone[s].gradients)


class NoDecoder(Autoencoder):
    """An encoder that doubles, and a decoder that must not be called."""

    def encode(self, x: Tensor) -> Tensor:
        return 2.0 * x

    def decode(self, h: Tensor) -> Tensor:
        raise AssertionError("the decoder was run")

    def layer_pairs(self) -> Sequence[LayerPair]:
        return []


def test_loss_none_does_not_run_the_decoder() -> None:
    objective = Objective(losses.none, KMeans())
    cluster = CentroidState(torch.zeros(1, 1).double(), torch.ones(1))
    x = torch.tensor([[1.0], [3.0]]).double()
    lam = torch.tensor(2.0).double()
    found = differentiate(NoDecoder(), x, cluster, lam=lam, objective=objective)
    assert found.cost.reconstruction.tolist() == [0.0, 0.0]
    assert found.total.item() == 2 / 2 * (4 + 36) / 2  # Eq. (3)


@pytest.mark.parametrize("name", ["squared", "absolute", "kl"])
def test_reconstruct_uses_the_loss(name: str) -> None:
    network, x, loss = build(()), rows(9, 4).abs(), losses.LOSSES[name]
    H = network.encode(x)
    found = Objective(loss, KMeans()).reconstruct(network, H, x)
    assert torch.equal(found, loss(network.decode(H), x))


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (losses.none, losses.squared),
        (losses.kl, losses.kl),
        (losses.absolute, losses.absolute),
    ],
)
def test_pretraining_has_a_loss_even_if_training_has_none(
    loss: Any, expected: Any
) -> None:
    assert Objective(loss, KMeans()).pretraining_loss is expected


def test_clustering_term_does_not_reach_the_decoder() -> None:
    network, x = build((5,)), rows(9, 4)
    assert isinstance(network, MLP)
    small, large = (
        differentiate(network, x, centres(3, 2), lam=lam).gradients[4:]
        for lam in (LAM, 100 * LAM)
    )
    assert_close(small, large)


@pytest.mark.parametrize("name", ["squared", "absolute", "kl"])
@pytest.mark.parametrize(
    "style",
    [
        {},
        {"bottleneck": "relu", "output": "relu"},
        {"output": "softplus"},
        {"normalisation": "batch"},
        {"tied": True},
    ],
    ids=lambda style: "-".join(style) or "plain",
)
@pytest.mark.parametrize(
    "criterion", [KMeans(), SoftKMeans(), KSubspace()], ids=lambda c: type(c).__name__
)
def test_every_gradient_equals_that_of_autograd(
    name: str, style: dict[str, Any], criterion: Any
) -> None:
    factory, loss = MLPFactory((6, 3), **style), losses.LOSSES[name]
    network, x = lived_in(factory, 4, 2, seed=3).double(), rows(20, 4).abs()
    network.eval()  # a batch's statistics would change between two passes
    with torch.no_grad():
        cluster = criterion.init(network.encode(x), 3, 0)
    objective = Objective(loss, criterion)
    found = differentiate(network, x, cluster, lam=LAM, objective=objective)
    H = network.encode(x)
    S = criterion.assign(H.detach(), cluster)
    plain = loss(network.decode(H), x) + 0.5 * LAM * criterion.cost(H, S, cluster)
    parameters = [p for p in network.parameters() if p.requires_grad]
    assert_close(found.total, plain.mean().detach())
    by_autograd = torch.autograd.grad(plain.mean(), parameters)
    assert_close(found.gradients, list(by_autograd))
