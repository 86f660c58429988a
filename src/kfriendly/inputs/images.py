"""A folder of images, brought to one size and, if all are grey, to one channel."""

import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from kfriendly.errors import BadInput
from kfriendly.inputs.base import Batch, InputOptions, Kind
from kfriendly.inputs.complaints import complain, counted
from kfriendly.inputs.hashing import hash_files

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
# More pixels a side than this make a network slow and rarely help to cluster.
_LARGEST_SIDE = 64


class _Look(NamedTuple):
    """What all images have in common."""

    size: tuple[int, int]  # height, width
    grey: bool
    n_resized: int


class ImageFolder:
    """Images of a folder and the folders in it, in the order of their names.

    Parameters
    ----------
    paths : list of Path
    folder : Path
    name : str
    options : InputOptions
        `image_size`, and `label`, which may be "folder".
    """

    kind: Kind = "images"

    def __init__(
        self, paths: list[Path], folder: Path, name: str, options: InputOptions
    ) -> None:
        self._paths, self._folder, self.name = paths, folder, name
        self._options = options
        self.column_names: list[str] = []
        if options.label not in (None, "folder"):
            raise complain(
                f"--label {options.label!r}: images have no columns.",
                f"{name} is a folder of images.",
                "--label folder takes the name of the folder each image lies in.",
            )

    @property
    def notes(self) -> list[str]:
        """Say what was done to the images."""
        look = self._look
        if not look.n_resized:
            return []
        height, width = look.size
        return [
            f"{counted(look.n_resized, 'image')} of {len(self._paths):,} resized to "
            f"{height}x{width} (height x width); --image-size sets another size."
        ]

    def read(self) -> Batch:
        """Read everything."""
        return self._batch(self._paths)

    def batches(self, n_rows: int) -> Iterator[Batch]:
        """Read `n_rows` images at a time, in constant memory."""
        for first in range(0, len(self._paths), n_rows):
            yield self._batch(self._paths[first : first + n_rows])

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the bytes of all files."""
        return hash_files(self._paths, self._folder)

    def _batch(self, paths: list[Path]) -> Batch:
        (height, width), grey, _ = self._look
        shape = (len(paths), height, width) if grey else (len(paths), height, width, 3)
        images = np.empty(shape, np.uint8)
        for place, path in enumerate(paths):
            images[place] = _read_image(path, (height, width), grey)
        labels = None
        if self._options.label == "folder":
            labels = np.array([path.parent.name for path in paths])
        ids = [path.relative_to(self._folder).as_posix() for path in paths]
        return Batch(images, ids, labels, self.name)

    @cached_property
    def _look(self) -> _Look:
        """Look at the size of every image, and at colours until one has some."""
        sizes: Counter[tuple[int, int]] = Counter()
        grey = True
        for path in self._paths:
            with _opened(path) as image:
                sizes[_upright_size(image)] += 1
                grey = grey and _is_grey(image)
        size = self._options.image_size or _shrunk(sizes.most_common(1)[0][0])
        return _Look(size, grey, len(self._paths) - sizes[size])


def _shrunk(size: tuple[int, int]) -> tuple[int, int]:
    """Keep the proportions, the longer side at most `_LARGEST_SIDE`."""
    factor = min(1.0, _LARGEST_SIDE / max(size))
    height, width = (max(1, round(side * factor)) for side in size)
    return height, width


class _opened:  # noqa: N801 - a context, used as a function
    """An image, decoded within the context; any trouble names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Image.Image:
        try:
            with warnings.catch_warnings():
                # A picture that claims to be enormous is refused, not just warned of.
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                self._image = Image.open(self._path)
        except _FAILURES as error:
            raise _unreadable(self._path, error) from error
        return self._image

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        self._image.close()
        if isinstance(error, _FAILURES) and not isinstance(error, BadInput):
            raise _unreadable(self._path, error) from error


_FAILURES = (
    UnidentifiedImageError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
    OSError,
    SyntaxError,  # Pillow's word for a broken PNG
    ValueError,
    EOFError,
)


def _read_image(path: Path, size: tuple[int, int], grey: bool) -> np.ndarray:
    with _opened(path) as image:
        upright = _eight_bits(ImageOps.exif_transpose(image))
        channels = upright.convert("RGB").convert("L" if grey else "RGB")
        height, width = size
        if channels.size != (width, height):
            channels = channels.resize((width, height), Image.Resampling.LANCZOS)
        return np.asarray(channels)


def _eight_bits(image: Image.Image) -> Image.Image:
    """Bring 16-bit greys down to 8 bits; Pillow would cut them off."""
    if not image.mode.startswith("I"):
        return image
    values = np.asarray(image).astype(np.int64)
    return Image.fromarray((values.clip(0, 65_535) >> 8).astype(np.uint8))


def _is_grey(image: Image.Image) -> bool:
    if image.mode in ("1", "L", "LA", "I", "F") or image.mode.startswith("I;16"):
        return True
    pixels = np.asarray(image.convert("RGB"))
    return bool((pixels == pixels[..., :1]).all())


def _upright_size(image: Image.Image) -> tuple[int, int]:
    """Return height and width, after the turn that a camera noted."""
    width, height = image.size
    turned = image.getexif().get(0x0112, 1) >= 5  # the tag of orientation
    return (width, height) if turned else (height, width)


def _unreadable(path: Path, error: BaseException) -> BadInput:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return complain(
        f"{path.name} cannot be read as an image: {reason.rstrip('.')}.",
        f"In {path}.",
        "The file is cut off or damaged: replace it, or take it out of the folder.",
    )
