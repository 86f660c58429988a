"""First clusters and the whitened space they live in."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from torch import Tensor

from kfriendly import DCN
from kfriendly.criteria import KMeans
from kfriendly.metrics import ari
from kfriendly.networks import MLPFactory
from kfriendly.networks.whitened import Whitened
from kfriendly.training import starts
from kfriendly.training.descent import Descent
from kfriendly.training.sources import TensorSource
from kfriendly.training.starts import (
    cluster_latent,
    latent_sample,
    start_from_mixture,
)
from kfriendly.training.state import TrainState


def make_state(n_starts: int) -> TrainState:
    networks = [
        MLPFactory(())(2, 2, torch.Generator().manual_seed(seed))
        for seed in range(n_starts)
    ]
    network = networks[0].stack(networks) if n_starts > 1 else networks[0]
    optimizer = Descent().optimizer(network.parameters())
    lam = torch.zeros((n_starts,) if n_starts > 1 else ())
    return TrainState(network, optimizer, torch.Generator().manual_seed(0), lam)


def long_and_round() -> tuple[Tensor, np.ndarray]:
    """Two long parallel clusters, which K-means cuts across."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 300)
    X = np.column_stack([rng.randn(600) * 10, rng.randn(600) * 0.3 + 3 * y])
    return torch.from_numpy(X).float(), y


def test_whitened_space_has_unit_covariance() -> None:
    X, _ = long_and_round()
    state = make_state(3)
    H = latent_sample(state, TensorSource(X))
    white = Whitened(state.network, H).encode(X)
    for h in white.detach():
        torch.testing.assert_close(
            torch.cov(h.T, correction=0), torch.eye(2), atol=1e-3, rtol=0
        )
        torch.testing.assert_close(h.mean(0), torch.zeros(2), atol=1e-3, rtol=0)


def test_whitened_network_reconstructs_as_before() -> None:
    X, _ = long_and_round()
    network = make_state(1).network
    white = Whitened(network, network.encode(X).detach())
    torch.testing.assert_close(
        white.decode(white.encode(X)),
        network.decode(network.encode(X)),
        rtol=1e-3,
        atol=1e-3,
    )


def test_whitened_flat_direction_stays_finite() -> None:
    network = make_state(1).network
    H = torch.zeros(10, 2)
    H[:, 0] = torch.arange(10)
    white = Whitened(network, H)
    assert torch.isfinite(white.decode(white.encode(torch.zeros(3, 2)))).all()


def test_mixture_finds_long_clusters_in_every_start() -> None:
    X, y = long_and_round()
    state = make_state(2)
    labels = start_from_mixture(
        state, KMeans(), TensorSource(X), [0, 1], n_clusters=2, alone=False
    )
    assert [ari(y, found) for found in labels] == [1.0, 1.0]


def test_mixture_centres_are_the_means_of_its_clusters() -> None:
    X, _ = long_and_round()
    state = make_state(1)
    labels = start_from_mixture(
        state, KMeans(), TensorSource(X), [0], n_clusters=2, alone=True
    )
    H = state.network.encode(X).detach().double()
    means = torch.stack([H[torch.from_numpy(labels == k)].mean(0) for k in range(2)])
    torch.testing.assert_close(state.cluster.M, means, rtol=0, atol=1e-5)


def test_cluster_latent_treats_starts_as_if_alone() -> None:
    H = torch.randn(3, 50, 2, generator=torch.Generator().manual_seed(0))
    together = cluster_latent(KMeans(), H, 4, [5, 6, 7])
    alone = [
        cluster_latent(KMeans(), h, 4, [seed]).M
        for h, seed in zip(H, [5, 6, 7], strict=True)
    ]
    assert torch.equal(together.M, torch.stack(alone))


def test_latent_sample_is_limited_and_does_not_touch_the_order_of_batches() -> None:
    X, _ = long_and_round()
    state = make_state(1)
    before = state.rng.get_state()
    assert latent_sample(state, TensorSource(X), max_rows=40).shape == (40, 2)
    assert torch.equal(state.rng.get_state(), before)


@pytest.mark.parametrize("alone", [False, True])
def test_a_start_that_is_alone_takes_the_best_of_many_mixtures(
    monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    tried: list[int] = []

    class Spy(GaussianMixture):  # type: ignore[misc]  # scikit-learn has no types
        def fit(self, rows: np.ndarray) -> GaussianMixture:
            tried.append(self.n_init)
            return super().fit(rows)

    monkeypatch.setattr(starts, "GaussianMixture", Spy)
    X = make_blobs(200, centers=3, n_features=4, random_state=0)[0].astype(np.float32)
    quick: dict[str, Any] = {
        "n_init": 1 if alone else 2,
        "pretrain_epochs": 1,
        "max_epochs": 1,
    }
    DCN(3, views=None, random_state=0, **quick).fit(X)
    assert tried == ([20] if alone else [3, 3])
