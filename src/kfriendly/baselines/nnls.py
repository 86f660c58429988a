"""Non-negative least squares for many rows that share one small Gram matrix."""

import numpy as np

# A row is done when no coefficient moved by more than this part of its largest one.
_SETTLED = 1e-8


def solve_nnls(
    gram: np.ndarray,
    target: np.ndarray,
    start: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    ridge: float = 0.0,
    max_sweeps: int = 500,
) -> np.ndarray:
    """Minimise h A_i hᵀ - 2 h tᵢᵀ over h >= 0 for every row i, by coordinate descent.

    With A_i = weights_i `gram` + `ridge` I. Every coordinate is minimised exactly, so
    the result is never worse than `start`, however few sweeps there are. Rows that
    have settled are left out of later sweeps.

    Parameters
    ----------
    gram : ndarray of shape (K, K)
        Products of the basis vectors with one another.
    target : ndarray of shape (n, K)
        Products of the rows with the basis vectors, each times its weight.
    start : ndarray of shape (n, K)
        Where the descent starts; not negative.
    weights : ndarray of shape (n,) or None
        Factor of `gram` for each row; None is one.
    ridge : float
        Added to the diagonal, the same for all rows.
    max_sweeps : int
        Passes over the K coordinates.

    Returns
    -------
    ndarray of shape (n, K)
        The coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> solve_nnls(np.eye(2), np.array([[3.0, -1.0]]), np.ones((1, 2)))
    array([[3., 0.]])
    """
    H = np.array(start, dtype=np.float64)  # (n, K)
    q = np.ones(len(H)) if weights is None else weights
    lengths = np.sqrt(np.diag(gram) + ridge)
    moving = np.arange(len(H))
    for _ in range(max_sweeps):
        before = H[moving]
        after = _sweep(before.copy(), gram, target[moving], q[moving], ridge)
        H[moving] = after
        step = (np.abs(after - before) * lengths).max(axis=1, initial=0.0)
        size = (after * lengths).max(axis=1, initial=0.0)
        moving = moving[step > _SETTLED * size]
        if not moving.size:
            break
    return H


def _sweep(
    H: np.ndarray, gram: np.ndarray, target: np.ndarray, q: np.ndarray, ridge: float
) -> np.ndarray:
    """Minimise over one column of `H` after the other, in place."""
    for k in range(len(gram)):
        curvature = q * gram[k, k] + ridge  # (n,)
        slope = q * (H @ gram[:, k]) + ridge * H[:, k] - target[:, k]
        # No curvature: the column does not enter the problem and stays.
        step = np.divide(slope, curvature, out=np.zeros(len(H)), where=curvature > 0)
        H[:, k] = np.maximum(H[:, k] - step, 0.0)
    return H
