import numpy as np
import pytest
from scipy.optimize import nnls

from kfriendly.baselines.nnls import solve_nnls


def _problem(n: int = 30, m: int = 8, K: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, m)), rng.normal(size=(K, m))


def test_solve_nnls_equals_scipy_row_by_row() -> None:
    X, basis = _problem()
    H = solve_nnls(basis @ basis.T, X @ basis.T, np.zeros((30, 4)))
    expected = [nnls(basis.T, row)[0] for row in X]
    np.testing.assert_allclose(H, expected, atol=1e-6)


def test_solve_nnls_with_weights_and_ridge_equals_stacked_problem() -> None:
    X, basis = _problem()
    d, ridge = np.linspace(0, 2, 30), 0.3
    target = d[:, None] * (X @ basis.T) + ridge
    H = solve_nnls(basis @ basis.T, target, np.ones((30, 4)), weights=d**2, ridge=ridge)
    corner = np.sqrt(ridge) * np.eye(4)
    expected = [
        nnls(np.vstack([d_i * basis.T, corner]), np.hstack([row, corner.sum(axis=0)]))[
            0
        ]
        for d_i, row in zip(d, X, strict=True)
    ]
    np.testing.assert_allclose(H, expected, atol=1e-6)


@pytest.mark.parametrize("max_sweeps", [1, 2, 5])
def test_solve_nnls_is_never_worse_than_its_start(max_sweeps: int) -> None:
    X, basis = _problem()
    start = np.random.default_rng(1).uniform(size=(30, 4))
    H = solve_nnls(basis @ basis.T, X @ basis.T, start, max_sweeps=max_sweeps)
    cost, cost_of_start = (
        ((X - H @ basis) ** 2).sum(1),
        ((X - start @ basis) ** 2).sum(1),
    )
    assert (cost <= cost_of_start).all()


def test_solve_nnls_leaves_start_and_zero_columns_alone() -> None:
    start = np.ones((1, 2))
    H = solve_nnls(np.diag([1.0, 0.0]), np.array([[3.0, 0.0]]), start)
    np.testing.assert_array_equal(H, [[3.0, 1.0]])
    np.testing.assert_array_equal(start, np.ones((1, 2)))


def test_solve_nnls_accepts_no_column() -> None:
    assert solve_nnls(*[np.empty((n, 0)) for n in (0, 3, 3)]).shape == (3, 0)
