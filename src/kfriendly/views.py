"""Views of a sample: what else should lie where it lies.

`Neighbors` and `Altered` say where views come from; `DCN(views=...)` takes either.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

from kfriendly.arguments import require
from kfriendly.sparse_rows import Rows, SparseRows

# Rows (n, n_features) and a generator -> altered rows of the same shape.
Alter = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class Neighbors:
    """A view of a sample is one of its nearest neighbours, or one of theirs.

    Parameters
    ----------
    n_neighbors : int
        Nearest rows of each row that count as its neighbours.
    n_steps : int or None
        Steps of the walk from neighbour to neighbour at whose end the view stands.
        One takes a neighbour; more let a cluster hang together as one piece. None
        takes as many as a walk needs to get about in a cluster.
    contrast : float
        Weight of the contrast, against the reconstruction in shares of the variance.
    alter : callable or None
        Alters the view too, as in `Altered`.
    """

    n_neighbors: int = 10
    n_steps: int | None = None
    contrast: float = 1.0
    alter: Alter | None = None

    def __post_init__(self) -> None:
        require(self.n_neighbors >= 1, "n_neighbors", self.n_neighbors, "1 or more")
        steps = self.n_steps is None or self.n_steps >= 1
        require(steps, "n_steps", self.n_steps, "1 or more, or None")
        _require_weight(self.contrast)
        known = self.alter is None or callable(self.alter)
        require(known, "alter", self.alter, "a callable or None")


@dataclass(frozen=True)
class Altered:
    """A view of a sample is an altered copy of it.

    Parameters
    ----------
    alter : callable
        Takes scaled rows (n, n_features) and a torch.Generator, and returns altered
        rows of the same shape. `MoveImages` is one for images.
    contrast : float
        Weight of the contrast. Zero leaves Eq. (4), trained on copies too.
    """

    alter: Alter
    contrast: float = 1.0

    def __post_init__(self) -> None:
        require(callable(self.alter), "alter", self.alter, "a callable")
        _require_weight(self.contrast)


# What `DCN(views=...)` takes, resolved.
ViewRule = Neighbors | Altered


@dataclass(frozen=True)
class MoveImages:
    """Shift, turn and stretch the images in rows by a little, each at random.

    Parameters
    ----------
    shape : tuple of int
        (height, width) or (channels, height, width) of the image in each row.
    shift : float
        Largest shift, in pixels.
    degrees : float
        Largest turn.
    stretch : float
        Largest change of size, as a share of it.
    """

    shape: tuple[int, ...]
    shift: float = 2.0
    degrees: float = 10.0
    stretch: float = 0.1

    def __call__(self, x: Tensor, rng: torch.Generator) -> Tensor:
        """Return moved copies of the rows of `x`, (n, n_features)."""
        shape = (1, *self.shape) if len(self.shape) == 2 else self.shape
        fits = x.shape[-1] == math.prod(shape)
        require(fits, "MoveImages: shape", self.shape, f"that of {x.shape[-1]} pixels")
        n = len(x)
        # Where the outside comes in, the image has its border's value, not zero: rows
        # are centred.
        images = x.reshape(n, *shape)
        turn, change, shift_x, shift_y = (
            2.0 * torch.rand(4, n, 1, 1, generator=rng) - 1.0
        )
        # A move of the plane is a product and a sum of complex numbers; pixels lie
        # from -1 to 1. (F.affine_grid takes several times as long.)
        _, height, width = shape
        pixels = torch.complex(
            _places(width).expand(height, width),
            _places(height).unsqueeze(1).expand(height, width),
        )
        move = torch.polar(
            1.0 + self.stretch * change, math.radians(self.degrees) * turn
        )
        shift = 2.0 * self.shift * torch.complex(shift_x / width, shift_y / height)
        grid = torch.view_as_real(move * pixels + shift)  # (n, height, width, 2)
        moved = F.grid_sample(
            images, grid.to(x), padding_mode="border", align_corners=False
        )
        return moved.reshape(x.shape)


@dataclass(frozen=True)
class DropWords:
    """Lose words of the texts in rows, each at random, and weigh the rest up for it.

    A text is known by the half of its words, whichever half: the network learns no
    row by heart, and places new ones better. Sparse rows stay sparse.

    Parameters
    ----------
    share : float
        Of the words that are lost.
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        require(0 <= self.share < 1, "share", self.share, "0 or more, and below 1")

    def __call__(self, x: Rows, rng: torch.Generator) -> Rows:
        """Return copies of rows (n, n_features) with fewer words."""
        if not isinstance(x, SparseRows):
            return x * self._weights(x.shape, rng).to(x)
        weights = self._weights(x.Z.data.shape, rng).numpy()
        Z = sp.csr_array((x.Z.data * weights, x.Z.indices, x.Z.indptr), x.Z.shape)
        return SparseRows(Z, x.u)

    def _weights(self, shape: tuple[int, ...], rng: torch.Generator) -> Tensor:
        kept = torch.rand(shape, generator=rng) >= self.share
        return kept / (1.0 - self.share)


@dataclass(frozen=True)
class Noise:
    """What the network sees in place of a sample, in either phase.

    Parameters
    ----------
    pretrain, joint : callable or None
        Alter rows as in `Altered`; `DropWords` is one for texts. None shows the sample
        as it is.
    restore : bool
        Whether the network has to reconstruct the sample, or what it sees of it. Words
        that are hidden are to be found again; a moved image is as good an image.
    """

    pretrain: Alter | None
    joint: Alter | None
    restore: bool = True

    def __post_init__(self) -> None:
        for name in ("pretrain", "joint"):
            alter = getattr(self, name)
            known = alter is None or callable(alter)
            require(known, f"Noise: {name}", alter, "a callable or None")


def _places(n: int) -> Tensor:
    """Place the middles of n pixels in a row that goes from -1 to 1."""
    return (2.0 * torch.arange(n) + 1.0) / n - 1.0


def _require_weight(contrast: float) -> None:
    require(0 <= contrast < math.inf, "contrast", contrast, "0 or more, and finite")
