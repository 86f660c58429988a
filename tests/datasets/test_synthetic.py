"""The paper's synthetic data."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import logit

from kfriendly.datasets import (
    SYNTHETIC,
    make_sigmoid_sigmoid,
    make_sigmoid_squared,
    make_tanh_sigmoid,
)
from kfriendly.datasets.synthetic import CENTRES

Make = Callable[..., tuple[np.ndarray, np.ndarray]]

UNDO: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid_squared": lambda X: logit(np.sqrt(X)),  # Eq. (10)
    "tanh_sigmoid": lambda X: logit(np.arctanh(X)),  # Eq. (11)
}


def recover_plane(name: str, X: np.ndarray) -> np.ndarray:
    """Undo the bend; keep columns where the sigmoid has not swallowed the digits."""
    kept = (X > 1e-12).all(0) & (X < X.max() - 1e-6).all(0)
    return UNDO[name](X[:, kept])


@pytest.mark.parametrize("make", SYNTHETIC.values(), ids=SYNTHETIC)
def test_synthetic_has_four_clusters_of_2500(make: Make) -> None:
    X, y = make(random_state=0)
    assert X.shape == (10_000, 100)
    assert np.bincount(y).tolist() == [2_500] * 4


@pytest.mark.parametrize("make", SYNTHETIC.values(), ids=SYNTHETIC)
def test_synthetic_of_other_size(make: Make) -> None:
    X, y = make(3, random_state=0)
    assert X.shape == (12, 100)
    assert np.bincount(y).tolist() == [3] * 4


@pytest.mark.parametrize("make", SYNTHETIC.values(), ids=SYNTHETIC)
def test_synthetic_same_seed_same_data(make: Make) -> None:
    (X, y), (X_again, y_again) = (make(5, random_state=3) for _ in range(2))
    assert np.array_equal(X, X_again)
    assert np.array_equal(y, y_again)


@pytest.mark.parametrize("make", SYNTHETIC.values(), ids=SYNTHETIC)
def test_synthetic_takes_a_random_state(make: Make) -> None:
    X, _ = make(5, random_state=np.random.RandomState(3))
    assert np.array_equal(X, make(5, random_state=3)[0])
    assert not np.array_equal(X, make(5, random_state=4)[0])


@pytest.mark.parametrize("make", SYNTHETIC.values(), ids=SYNTHETIC)
def test_synthetic_leaves_global_rng_alone(make: Make) -> None:
    np.random.seed(7)
    expected = np.random.random()
    np.random.seed(7)
    make(5, random_state=0)
    assert np.random.random() == expected


@pytest.mark.parametrize("make", SYNTHETIC.values(), ids=SYNTHETIC)
def test_synthetic_rows_are_mixed(make: Make) -> None:
    _, y = make(100, random_state=0)
    assert (np.diff(y) < 0).any()


@pytest.mark.parametrize(
    ("make", "highest"),
    [
        (make_sigmoid_sigmoid, 1.0),  # Eq. (9)
        (make_sigmoid_squared, 1.0),  # Eq. (10)
        (make_tanh_sigmoid, np.tanh(1.0)),  # Eq. (11)
    ],
)
def test_synthetic_range(make: Make, highest: float) -> None:
    X, _ = make(500, random_state=0)
    assert X.min() >= 0.0
    assert 0.95 * highest < X.max() <= highest


@pytest.mark.parametrize("name", UNDO)
def test_one_layer_data_is_a_bent_plane(name: str) -> None:
    X, _ = SYNTHETIC[name](200, random_state=0)
    singular = np.linalg.svd(recover_plane(name, X), compute_uv=False)
    assert singular[1] > 0.01 * singular[0]
    assert singular[2] < 1e-4 * singular[1]


@pytest.mark.parametrize("name", UNDO)
def test_one_layer_data_has_the_paper_s_clusters(name: str) -> None:
    X, y = SYNTHETIC[name](random_state=0)
    U, s, _ = np.linalg.svd(recover_plane(name, X), full_matrices=False)
    Z = U[:, :2] * s[:2]  # h up to a linear map
    means = np.array([Z[y == k].mean(0) for k in range(4)])
    back, *_ = np.linalg.lstsq(means, CENTRES)
    h = Z @ back
    for k, centre in enumerate([(0, 0), (0, 10), (10, 0), (10, 10)]):
        assert h[y == k].mean(0) == pytest.approx(centre, abs=0.15)
        assert h[y == k].std(0) == pytest.approx([1.5, 1.5], abs=0.06)


def test_two_layer_data_passes_ten_units() -> None:
    X, _ = make_sigmoid_sigmoid(200, random_state=0)
    singular = np.linalg.svd(logit(X), compute_uv=False)  # U sigmoid(W h)
    assert singular[9] > 1e-6 * singular[0]
    assert singular[10] < 1e-10 * singular[0]
