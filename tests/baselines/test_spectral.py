"""Spectral clustering."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons

from kfriendly.baselines import SC
from kfriendly.baselines.spectral import cluster_embedding, spectral_embedding
from kfriendly.metrics import ari


@pytest.mark.parametrize("n", [50, 300])  # by a dense solver, and by Lanczos' method
def test_embedding_solves_the_regularised_eigenproblem(n: int) -> None:
    rng = np.random.RandomState(0)
    A = rng.rand(n, n)
    A = A + A.T
    linked = A + A.sum() / n**2
    d = np.sqrt(linked.sum(1))
    _, vectors = np.linalg.eigh(linked / d / d[:, None])
    leading = vectors[:, :-4:-1]
    expected = leading / np.linalg.norm(leading, axis=1, keepdims=True)
    found = spectral_embedding(A, 3, rng, regularization=1.0)
    assert np.allclose(np.abs(found), np.abs(expected), atol=1e-4)


def test_twins_do_not_hide_the_clusters() -> None:
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 300)
    A = (rng.rand(600, 600) < np.where(y[:, None] == y, 0.05, 0.005)).astype(float)
    A = np.triu(A, 1)
    for i in range(0, 40, 2):  # linked to nobody but each other
        A[i : i + 2], A[:, i : i + 2] = 0.0, 0.0
        A[i, i + 1] = 5.0
    embedding = spectral_embedding(sp.csr_array(A + A.T), 2, rng, regularization=1.0)
    labels = cluster_embedding(embedding[40:], 2, rng)
    assert ari(y[40:], labels) > 0.95


def test_graph_in_pieces_has_a_vector_for_each() -> None:
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2, 3], 150)
    A = rng.rand(600, 600) * (y[:, None] == y)
    embedding = spectral_embedding(sp.csr_array(A + A.T), 4, rng)
    assert ari(y, cluster_embedding(embedding, 4, rng)) == 1.0


def test_dense_and_sparse_affinity_give_one_embedding() -> None:
    rng = np.random.RandomState(0)
    A = rng.rand(300, 300) * (rng.rand(300, 300) < 0.2)
    A = A + A.T
    dense = spectral_embedding(A.copy(), 3, np.random.RandomState(1))
    sparse = spectral_embedding(sp.csr_array(A), 3, np.random.RandomState(1))
    assert np.allclose(dense, sparse, atol=1e-4)


def test_neighbours_find_two_moons() -> None:
    X, y = make_moons(600, noise=0.05, random_state=0)
    assert ari(y, SC(2, affinity="neighbors", random_state=0).fit_predict(X)) == 1.0


@pytest.mark.parametrize("affinity", ["rbf", "neighbors"])
def test_sparse_rows_give_the_labels_of_dense_ones(affinity: str) -> None:
    X, y = make_blobs(300, centers=3, n_features=5, cluster_std=0.5, random_state=1)
    dense = SC(3, affinity=affinity, random_state=0).fit_predict(X)  # type: ignore[arg-type]
    sparse = SC(3, affinity=affinity, random_state=0).fit_predict(sp.csr_matrix(X))  # type: ignore[arg-type]
    assert ari(y, dense) == ari(y, sparse) == 1.0


def test_too_many_rows_for_a_dense_affinity_names_the_option() -> None:
    X = np.zeros((70_000, 1), dtype=np.float32)
    with pytest.raises(ValueError, match=r"18\.3 GiB.*affinity='neighbors'"):
        SC(2).fit(X)


def test_a_row_without_neighbours_does_no_harm() -> None:
    A = sp.csr_array(np.diag([0.0, 1.0, 1.0]))
    assert np.isfinite(spectral_embedding(A, 2, np.random.RandomState(0))).all()
