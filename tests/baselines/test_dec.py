"""Deep embedded clustering."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import make_blobs

from kfriendly import DCN
from kfriendly.baselines import DEC
from kfriendly.baselines.dec import (
    _gradients,
    divergence,
    sharpened,
    soft_assignments,
)
from kfriendly.errors import TrainingDiverged
from kfriendly.metrics import ari

QUICK: dict[str, Any] = {"hidden": (16,), "pretrain_epochs": 10}


def test_assignments_and_target_by_hand() -> None:
    Q = soft_assignments(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]]))
    assert torch.allclose(Q, torch.tensor([[1 / 1.2, 0.2 / 1.2], [0.5, 0.5]]))
    P = sharpened(torch.tensor([[0.8, 0.2], [0.6, 0.4]]))
    weights = torch.tensor([[0.64 / 1.4, 0.04 / 0.6], [0.36 / 1.4, 0.16 / 0.6]])
    assert torch.allclose(P, weights / weights.sum(1, keepdim=True))
    assert float(divergence(P, P)) == pytest.approx(0.0, abs=1e-6)


def test_dec_finds_blobs_and_predicts_its_labels() -> None:
    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    dec = DEC(3, **QUICK, random_state=0).fit(X)
    assert ari(y, dec.labels_) == 1.0
    assert np.array_equal(dec.predict(X), dec.labels_)


def test_dec_starts_from_the_weights_of_sae_km() -> None:
    X, _ = make_blobs(200, centers=4, n_features=5, cluster_std=3.0, random_state=1)
    sae_km = DCN(4, **QUICK, n_init=1, max_epochs=0, views=None, random_state=0)
    sae_km.fit(X)
    dec = DEC(4, **QUICK, max_epochs=0, random_state=0).fit(X)
    assert np.array_equal(dec.sae_km_labels_, sae_km.labels_)
    assert np.allclose(dec.cluster_centers_, sae_km.cluster_centers_, atol=1e-6)
    assert np.array_equal(dec.labels_, sae_km.labels_)


def test_gradients_are_those_of_the_divergence() -> None:
    torch.manual_seed(0)
    H, M = torch.randn(6, 2, dtype=torch.float64), torch.randn(3, 2).double()
    P = sharpened(soft_assignments(H, M))
    G_H, G_M = _gradients(H, M, P)
    small = 1e-6
    for tensor, gradient in ((H, G_H), (M, G_M)):
        before = float(divergence(P, soft_assignments(H, M)))
        tensor[0, 1] += small
        after = float(divergence(P, soft_assignments(H, M)))
        tensor[0, 1] -= small
        assert (after - before) / small == pytest.approx(
            float(gradient[0, 1]), abs=1e-5
        )


def test_an_epoch_brings_assignments_nearer_to_its_target() -> None:
    X, _ = make_blobs(256, centers=4, n_features=5, cluster_std=2.0, random_state=1)
    first, second = (
        DEC(4, **QUICK, max_epochs=n, tol=0.0, random_state=0).fit(X) for n in (0, 1)
    )
    source = first._sae._source_of(X)
    before, after = first._assign(source), second._assign(source)
    P = sharpened(before)
    assert float(divergence(P, after)) < float(divergence(P, before))


def test_divergence_is_said() -> None:
    X, _ = make_blobs(200, centers=3, n_features=5, random_state=1)
    with pytest.raises(TrainingDiverged, match="learning_rate=1e\\+30; use a smaller"):
        DEC(3, **QUICK, learning_rate=1e30, tol=0.0, random_state=0).fit(X)


def test_sparse_rows_give_the_labels_of_dense_ones() -> None:
    X, _ = make_blobs(200, centers=3, n_features=5, random_state=1)
    dense = DEC(3, **QUICK, random_state=0).fit_predict(X)
    sparse = DEC(3, **QUICK, random_state=0).fit_predict(sp.csr_matrix(X))
    assert ari(dense, sparse) == 1.0
