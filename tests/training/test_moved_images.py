"""Which rows are images, and how images change when moved."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from kfriendly.training.images import find_image_shape, tangents
from kfriendly.training.neighbors import nearest_neighbors
from kfriendly.training.scaling import find_scaling


def draw_spots(
    n: int, side: int, *, turn: float = 0.0, shift: float = 0.0, size: float = 1.0
) -> np.ndarray:
    """Draw a smooth long spot somewhere in each image, the same but for the move."""
    rng = np.random.RandomState(0)
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    at = rng.uniform(-0.1 * side, 0.1 * side, size=(n, 2, 1, 1))
    y, x = y - at[:, 0] - shift, x - at[:, 1] + shift
    along, across = y + turn * x, x - turn * y
    spots = np.exp(-(along**2 / 4 + across**2) / (0.01 * (size * side) ** 2))
    return np.asarray(spots.reshape(n, -1))


def test_digits_and_spots_are_images() -> None:
    assert find_image_shape(load_digits().data) == (8, 8)
    assert find_image_shape(draw_spots(200, 20)) == (20, 20)


@pytest.mark.parametrize(
    "kind", ["noise", "walks", "waves", "factors", "one factor", "shuffled", "constant"]
)
def test_tables_and_series_are_no_images(kind: str) -> None:
    rng = np.random.RandomState(0)
    hours = np.arange(576)
    X = {
        "noise": rng.randn(300, 100),
        "walks": rng.randn(300, 784).cumsum(1),
        "waves": np.sin(2 * np.pi * (hours / 24 + rng.rand(300, 1))),
        "factors": rng.randn(300, 5) @ rng.randn(5, 144),
        "one factor": rng.randn(300, 1) + 0.1 * rng.randn(300, 144),
        "shuffled": load_digits().data[:, rng.permutation(64)],
        "constant": np.ones((300, 64)),
    }[kind]
    assert find_image_shape(X) is None


@pytest.mark.parametrize("n_columns", [4, 16, 60, 128])
def test_only_squares_that_are_large_enough_count(n_columns: int) -> None:
    X = np.random.RandomState(0).randn(50, n_columns).cumsum(1)
    assert find_image_shape(X) is None


@pytest.mark.parametrize("move", [{"shift": 0.2}, {"turn": 0.03}, {"size": 1.02}])
def test_tangents_span_small_moves(move: dict[str, float]) -> None:
    x, moved = (
        torch.from_numpy(draw_spots(5, 24, **how)).float() for how in ({}, move)
    )
    T = tangents(x, (24, 24))
    assert T.shape == (5, 6, 24**2)
    change = (moved - x).unsqueeze(2)
    left = change - T.mT @ torch.linalg.lstsq(T.mT, change).solution
    assert (left.norm(dim=1) < 0.15 * change.norm(dim=1)).all()


def test_tangents_of_channels_are_those_of_each() -> None:
    x = torch.rand(3, 2 * 6 * 5)
    both = tangents(x, (2, 6, 5))
    assert torch.equal(both[..., 30:], tangents(x[:, 30:], (6, 5)))


@pytest.mark.filterwarnings("ignore:.* constant")
def test_moved_images_become_neighbours() -> None:
    X, y = load_digits(return_X_y=True)
    scaling = find_scaling(X, "common")
    as_they_are = nearest_neighbors(X, scaling, 10)
    moved = nearest_neighbors(X, scaling, 10, (8, 8))
    alike = [(y[near.numpy()] == y[:, None]).mean() for near in (as_they_are, moved)]
    assert alike[1] > alike[0] + 0.01  # 0.978 and 0.965
    own = torch.arange(len(X)).unsqueeze(1)
    assert not (moved == own).any() and moved.sort(1).values.diff().min() > 0


@pytest.mark.filterwarnings("ignore:.* constant")
def test_blank_images_have_neighbours_too() -> None:
    X = np.vstack([np.zeros((20, 64)), load_digits().data[:100]])
    near = nearest_neighbors(X, find_scaling(X, "common"), 5, (8, 8))
    assert (near[:20] < 20).all()


@pytest.mark.filterwarnings("ignore:scale='common'")
def test_wide_images_are_compared_in_directions_of_some_rows() -> None:
    X = draw_spots(60, 48)  # 2,304 pixels
    near, again = (
        nearest_neighbors(X, find_scaling(X, "common"), 3, (48, 48)) for _ in range(2)
    )
    assert torch.equal(near, again) and near.shape == (60, 3)
