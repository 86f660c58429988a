"""Sparse subspace clustering by orthogonal matching pursuit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.linear_model import OrthogonalMatchingPursuit

from kfriendly.baselines import SSCOMP, ssc_omp
from kfriendly.baselines.ssc_omp import sparse_codes
from kfriendly.metrics import ari


def _subspaces(
    n_subspaces: int = 4, dim: int = 3, n: int = 60, ambient: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of random subspaces: a union with a known answer."""
    rng = np.random.RandomState(0)
    parts = [rng.randn(n, dim) @ rng.randn(dim, ambient) for _ in range(n_subspaces)]
    return np.concatenate(parts), np.repeat(np.arange(n_subspaces), n)


def test_union_of_subspaces_is_found() -> None:
    X, y = _subspaces()
    model = SSCOMP(4, n_nonzero=3, regularization=0.0, random_state=0).fit(X)
    assert ari(y, model.labels_) == 1.0
    linked = SSCOMP(4, n_nonzero=3, random_state=0).fit_predict(X)
    assert ari(y, linked) > 0.95
    C = model.coefficients_.tocoo()
    assert (y[C.coords[0]] == y[C.coords[1]]).all()  # rows choose their own subspace


def test_codes_are_those_of_scikit_learns_pursuit() -> None:
    X, _ = _subspaces(n_subspaces=2, n=15, ambient=8)
    X = X + 0.1 * np.random.RandomState(1).randn(*X.shape)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    C = sparse_codes(X, 3, 0.0).toarray()
    for i in range(len(U)):
        others = np.delete(np.arange(len(U)), i)
        omp = OrthogonalMatchingPursuit(n_nonzero_coefs=3, fit_intercept=False)
        expected = omp.fit(U[others].T, U[i]).coef_
        assert np.allclose(C[i, others], expected, atol=1e-4)
        assert C[i, i] == 0.0


def test_more_atoms_never_leave_more() -> None:
    X = np.random.RandomState(0).randn(50, 10)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    left = [
        np.linalg.norm(U - sparse_codes(X, k, 0.0) @ U, axis=1) for k in range(1, 7)
    ]
    assert (np.diff(left, axis=0) <= 1e-6).all()


def test_sparse_rows_give_the_codes_of_dense_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.RandomState(0)
    X = rng.rand(40, 30) * (rng.rand(40, 30) < 0.3)
    dense = sparse_codes(X, 4, 1e-5)
    monkeypatch.setattr(ssc_omp, "_BLOCK_VALUES", 300)  # too few to fill it in
    sparse = sparse_codes(sp.csr_array(X), 4, 1e-5)
    assert np.allclose(dense.toarray(), sparse.toarray(), atol=1e-4)


def test_blocks_do_not_change_the_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = _subspaces()
    whole = sparse_codes(X, 3, 1e-5)
    monkeypatch.setattr(ssc_omp, "_BLOCK_VALUES", 7 * len(X))
    assert np.allclose(sparse_codes(X, 3, 1e-5).toarray(), whole.toarray(), atol=1e-4)


def test_pursuit_stops_where_nothing_is_left() -> None:
    X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 0.0], [0.0, 1.0]])
    C = sparse_codes(X, 3, 1e-5)
    assert np.diff(C.indptr).tolist() == [1, 1, 1, 0, 1]


def test_rows_of_zeros_and_twins_are_clustered() -> None:
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 5, axis=0)
    labels = SSCOMP(2, random_state=0).fit_predict(X)
    assert len(set(labels[5:10])) == len(set(labels[10:])) == 1


def test_few_columns_are_lifted_and_many_are_not() -> None:
    X, y = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=1)
    lifted = SSCOMP(3, random_state=0).fit_predict(X)
    plain = SSCOMP(3, kernel="linear", random_state=0).fit_predict(X)
    assert ari(y, lifted) > 0.8 > 0.4 > ari(y, plain)  # a plane is one subspace
    assert ari(y, SSCOMP(3, random_state=0).fit_predict(sp.csr_array(X))) > 0.8
    X, _ = _subspaces()
    codes = [
        SSCOMP(4, n_nonzero=3, kernel=kernel, random_state=0).fit(X).coefficients_
        for kernel in ("auto", "linear")
    ]
    assert (codes[0] != codes[1]).nnz == 0
