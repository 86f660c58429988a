"""Images to numbers: pixels from 0 to 1."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kfriendly.inputs.base import Batch, InputOptions
from kfriendly.inputs.complaints import complain, counted

_CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class ImageFeatures:
    """Size and colours of the images.

    Parameters
    ----------
    size : (height, width)
        To be given as `image_size` when further images are opened.
    colour : bool
        Whether there are three channels; they come first in a row.
    notes : list of str
    """

    size: tuple[int, int]
    colour: bool
    notes: list[str]

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of the image in each row, as `DCN` takes it."""
        return (3, *self.size) if self.colour else self.size

    @cached_property
    def names(self) -> list[str]:
        """Channel, row and column of each pixel."""
        height, width = self.size
        pixels = [f"pixel {y},{x}" for y in range(height) for x in range(width)]
        if not self.colour:
            return pixels
        return [f"{channel} {pixel}" for channel in _CHANNELS for pixel in pixels]

    def drop_incomplete(self, batch: Batch) -> Batch:
        """Return the batch: images have no missing values."""
        return batch

    def transform(self, batch: Batch) -> np.ndarray:
        """Turn images into rows of float32 numbers from 0 to 1."""
        images = batch.content
        if images.shape[1:3] != self.size:
            raise complain(
                f"Images are {_by(images.shape[1:3])}, but the training images were "
                f"{_by(self.size)}.",
                f"In {batch.source}.",
                f"Open them with --image-size {_by(self.size)}.",
            )
        if images.ndim == 4 and not self.colour:
            images = _grey(images)
        elif images.ndim == 3 and self.colour:
            images = np.repeat(images[..., None], 3, axis=3)
        if self.colour:
            images = images.transpose(0, 3, 1, 2)
        X: np.ndarray = images.reshape(len(images), -1).astype(np.float32)
        X /= 255
        return X

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON-able values."""
        return {"kind": "images", **asdict(self), "size": list(self.size)}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "ImageFeatures":
        """Make features of what `to_json` returned."""
        height, width = stored["size"]
        return ImageFeatures((height, width), stored["colour"], list(stored["notes"]))


def plan_images(batch: Batch, options: InputOptions) -> ImageFeatures:
    """Take size and colours of the training images."""
    n, height, width = batch.content.shape[:3]
    colour = batch.content.ndim == 4
    shade = "in colour" if colour else "in grey"
    note = f"{counted(n, 'image')} of {_by((height, width))} pixels, {shade}."
    return ImageFeatures((height, width), colour, [note])


def _grey(images: np.ndarray) -> np.ndarray:
    """Weigh the channels as Pillow does, ITU-R 601-2."""
    weights = np.array([19_595, 38_470, 7_471], np.uint32)
    return ((images @ weights + 0x8000) >> 16).astype(np.uint8)


def _by(size: tuple[int, ...]) -> str:
    return "x".join(map(str, size))
