"""Rows that are images: finding out, and how they change when moved by a little."""

import math

import numpy as np
import torch
from torch import Tensor

# The smallest side of an image that can be told from a table.
_SMALLEST_SIDE = 8
# Rows that are looked at.
_ROWS = 2_000
# By how much more neighbouring pixels vary together than those half an image apart.
# Of what was tried, images have 0.25 (8 x 8 digits) and more; tables, waves and random
# walks zero and less.
_MORE_ALIKE = 0.15


def find_image_shape(X: np.ndarray) -> tuple[int, int] | None:
    """Find out whether rows are square grey images; return (height, width) or None.

    In an image a pixel varies with those beside, above and below it, and much less
    with those half an image away. Columns of a table have no such order, and in a
    series what is near in time is alike, whatever the width of a line.
    """
    side = math.isqrt(X.shape[1])
    if side**2 != X.shape[1] or side < _SMALLEST_SIDE:
        return None
    chosen = np.linspace(0, len(X) - 1, min(_ROWS, len(X)), dtype=int)
    images = X[chosen].astype(np.float64).reshape(-1, side, side)
    images -= images.mean(0)
    variance = np.square(images).mean()
    if not 0 < variance < math.inf:
        return None

    def together(down: int, right: int) -> float:
        others = images[:, : side - down, : side - right]
        return float((images[:, down:, right:] * others).mean() / variance)

    near = min(together(0, 1), together(1, 0))
    far = max(together(0, side // 2), together(side // 2, 0))
    return (side, side) if near - far > _MORE_ALIKE else None


def tangents(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Compute how images change when shifted, turned, stretched or slanted a little.

    Of rows (n, n_pixels) of images of `shape`, (height, width) or (channels, height,
    width), returns (n, 6, n_pixels). They span the changes by all small affine moves;
    outside the image is the value zero.
    """
    *_, height, width = shape
    images = torch.nn.functional.pad(x.view(len(x), -1, height, width), (1, 1, 1, 1))
    right = 0.5 * (images[..., 1:-1, 2:] - images[..., 1:-1, :-2])
    down = 0.5 * (images[..., 2:, 1:-1] - images[..., :-2, 1:-1])
    across = torch.linspace(-1.0, 1.0, width)
    along = torch.linspace(-1.0, 1.0, height).unsqueeze(1)
    changes = [
        weight * slope for slope in (right, down) for weight in (1.0, across, along)
    ]
    return torch.stack([change.flatten(1) for change in changes], 1)
