"""Many small pictures in one: a sheet of tiles."""

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

# Side of a tile and WebP quality, tried in this order until the sheet is small enough.
_TRIES = (
    *((48, 80), (40, 70), (32, 70), (28, 60), (24, 50)),
    *((20, 40), (16, 40), (16, 20), (12, 20), (8, 10)),
)
# WebP knows no wider picture.
_WIDEST = 16_383


def make_sheet(images: np.ndarray, budget: int) -> dict[str, Any] | None:
    """Draw images as tiles of one sheet that takes at most `budget` bytes in the page.

    Parameters
    ----------
    images : ndarray of shape (n, height, width) or (n, height, width, 3), uint8
    budget : int
        Bytes of base64.

    Returns
    -------
    sheet : dict or None
        The picture as a data URL, the side of a tile and the number of columns; None
        if not even the smallest tiles fit.
    """
    if not len(images):
        return None
    native = max(images.shape[1:3])
    tries = [(min(native, _TRIES[0][0]), 80)]
    tries += [(size, quality) for size, quality in _TRIES if size <= native]
    for size, quality in tries:
        if _likely_size(images, size, quality) > 1.15 * budget:
            continue
        sheet = _draw(images, size, quality)
        if len(sheet["url"]) <= budget:
            return sheet
    return None


def _likely_size(images: np.ndarray, size: int, quality: int) -> float:
    """Guess the size of a sheet from one of a few hundred tiles."""
    if len(images) <= 600:
        return 0.0
    some = images[:: len(images) // 400]
    return len(_draw(some, size, quality)["url"]) * len(images) / len(some)


def _draw(images: np.ndarray, size: int, quality: int) -> dict[str, Any]:
    n = len(images)
    columns = min(int(np.ceil(np.sqrt(n))), _WIDEST // size)
    lines = -(-n // columns)
    colour = images.ndim == 4
    sheet = np.zeros((lines * size, columns * size, *images.shape[3:]), dtype=np.uint8)
    for i, image in enumerate(images):
        top, left = i // columns * size, i % columns * size
        sheet[top : top + size, left : left + size] = _tile(image, size)
    file = io.BytesIO()
    Image.fromarray(sheet, "RGB" if colour else "L").save(
        file, "WEBP", quality=quality, method=2
    )
    text = base64.b64encode(file.getvalue()).decode("ascii")
    return {"url": f"data:image/webp;base64,{text}", "size": size, "columns": columns}


def _tile(image: np.ndarray, size: int) -> np.ndarray:
    """Fit an image into a square on black."""
    height, width = image.shape[:2]
    longest = max(height, width)
    if longest == size == min(height, width):
        return image
    scale = size / longest
    shape = max(1, round(width * scale)), max(1, round(height * scale))
    small = np.asarray(Image.fromarray(image).resize(shape, Image.Resampling.BOX))
    tile = np.zeros((size, size, *image.shape[2:]), dtype=np.uint8)
    top, left = (size - shape[1]) // 2, (size - shape[0]) // 2
    tile[top : top + shape[1], left : left + shape[0]] = small
    return tile
