"""The paper's synthetic data: four clusters in a plane, seen through a curved lens.

The centres, 10 apart, and the deviation 1.5 are those of the authors' script; the
paper shows them only as a picture.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit as sigmoid
from sklearn.utils import check_random_state

from kfriendly.arguments import are_widths, require

CENTRES = 10.0 * np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
DEVIATION = 1.5
N_FEATURES = 100

RandomState = int | np.random.RandomState | None


def make_sigmoid_sigmoid(
    n_per_cluster: int = 2_500, *, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw x = sigmoid(U sigmoid(W h)), Eq. (9).

    Parameters
    ----------
    n_per_cluster : int
        Rows in each of the four clusters.
    random_state : int, RandomState instance or None
        Seed of h, W and U.

    Returns
    -------
    X : ndarray of shape (4 * n_per_cluster, 100)
    y : ndarray of shape (4 * n_per_cluster,)
        True cluster of each row.
    """
    rng = check_random_state(random_state)
    h, y = draw_latent(n_per_cluster, rng)
    W, U = rng.standard_normal((10, 2)), rng.standard_normal((N_FEATURES, 10))
    return sigmoid(sigmoid(h @ W.T) @ U.T), y  # Eq. (9)


def make_sigmoid_squared(
    n_per_cluster: int = 2_500, *, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw x = sigmoid(W h)^2, Eq. (10); else as `make_sigmoid_sigmoid`."""
    return _one_layer(lambda a: sigmoid(a) ** 2, n_per_cluster, random_state)  # Eq. 10


def make_tanh_sigmoid(
    n_per_cluster: int = 2_500, *, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw x = tanh(sigmoid(W h)), Eq. (11); else as `make_sigmoid_sigmoid`."""
    return _one_layer(lambda a: np.tanh(sigmoid(a)), n_per_cluster, random_state)


SYNTHETIC = {
    "sigmoid_sigmoid": make_sigmoid_sigmoid,
    "sigmoid_squared": make_sigmoid_squared,
    "tanh_sigmoid": make_tanh_sigmoid,
}


def draw_latent(
    n_per_cluster: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Draw h, (n, 2), and its cluster, in random order: each model draws them first."""
    whole = are_widths((n_per_cluster,))
    require(whole, "n_per_cluster", n_per_cluster, "a whole number of at least 1")
    y = rng.permutation(np.repeat(np.arange(len(CENTRES)), n_per_cluster))
    return CENTRES[y] + DEVIATION * rng.standard_normal((y.size, 2)), y


def _one_layer(
    bend: Callable[[np.ndarray], np.ndarray],
    n_per_cluster: int,
    random_state: RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    rng = check_random_state(random_state)
    h, y = draw_latent(n_per_cluster, rng)
    return bend(h @ rng.standard_normal((N_FEATURES, 2)).T), y
