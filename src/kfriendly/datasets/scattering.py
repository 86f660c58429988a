"""Wavelet scattering of images, after Bruna and Mallat [1]_.

An image x is seen through wavelets psi of J scales and L directions, and what comes out
is made insensitive to small shifts: take the modulus, then the average phi over 2^J
pixels. What the average loses, a second round of wavelets finds again::

    S0 = x * phi        S1 = |x * psi_1| * phi        S2 = ||x * psi_1| * psi_2| * phi

Letters are theirs: J, L, psi, phi, U for a modulus before its average, S after it, j
for a scale; a hat is a Fourier transform.

References
----------
.. [1] J. Bruna and S. Mallat, "Invariant scattering convolution networks", IEEE
   Transactions on Pattern Analysis and Machine Intelligence 35(8), 2013.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from kfriendly.arguments import are_widths, require
from kfriendly.datasets.wavelets import frequencies, low_pass, morlet

# Squares of larger values leave float32 when summed.
_LARGEST = 1e15
# A path this much smaller than the largest is rounding, as of images without edges.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Scattering:
    """Scattering transform of images of one size.

    An image is padded with zeros, as much on either side, to a multiple of 2^J (28 x 28
    pixels of MNIST become 32 x 32 if J = 3), then by 2^J more pixels, reflected, on
    every side, because convolutions are periodic. Results stand 2^J pixels apart, and
    those of the reflected border are cut off: MNIST gives 4 x 4 for each path.

    Parameters
    ----------
    shape : tuple of int
        Height and width of an image.
    J : int
        Number of scales; averages are over about 2^J pixels, fewer than a side has.
    L : int
        Number of directions of the wavelets, pi/L apart.
    order : {1, 2}
        Most wavelets one after another.

    Examples
    --------
    >>> Scattering((28, 28), J=3, L=8)(torch.rand(5, 28, 28)).shape
    torch.Size([5, 217, 4, 4])
    """

    shape: tuple[int, int]
    J: int = 3
    L: int = 8
    order: int = 2

    def __post_init__(self) -> None:
        shape, J, owner = self.shape, self.J, "Scattering"
        image = are_widths(shape) and len(shape) == 2
        require(image, f"{owner}: shape", shape, "(height, width), whole numbers >= 1")
        require(are_widths((J,)), f"{owner}: J", J, "a whole number >= 1")
        require(are_widths((self.L,)), f"{owner}: L", self.L, "a whole number >= 1")
        order = are_widths((self.order,)) and self.order <= 2
        require(order, f"{owner}: order", self.order, "1 or 2")
        most = (min(shape) - 1).bit_length() - 1
        fits = f"at most {most}, for 2**J to be below both sides of images of {shape}; "
        require(J <= most, f"{owner}: J", J, fits + "take a smaller J or larger images")

    @property
    def n_paths(self) -> int:
        """Number of paths: one, L a scale, and L^2 for every two scales."""
        J, L = self.J, self.L
        return 1 + L * J + (self.order - 1) * L**2 * J * (J - 1) // 2

    @property
    def directions(self) -> list[float]:
        """Angles of the wavelets from the vertical axis, in kymatio's order."""
        return [math.pi * (self.L // 2 - 1 - turn) / self.L for turn in range(self.L)]

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """Shape of one image's scattering: paths, height, width."""
        height, width = (side // 2**self.J - 2 for side in self._padded)
        return self.n_paths, height, width

    def __call__(self, images: Tensor) -> Tensor:
        """Transform images.

        Parameters
        ----------
        images : Tensor of shape (n, height, width)
            Of float32 or float64; results have the same type.

        Returns
        -------
        Tensor of shape (n, n_paths, height', width')
            Order 0, then order 1 by (j1, direction 1), then order 2 by (j1, direction
            1, j2, direction 2) with j1 < j2, the last changing fastest. A wavelet
            after a coarser one finds next to nothing, so these paths are left out.
        """
        _check_images(images, self.shape)
        return self._transform(images)

    def _transform(self, images: Tensor) -> Tensor:
        x = _pad(images, 2**self.J)
        x_hat = torch.fft.fft2(x)
        S = [self._average(x, 0).unsqueeze(1)]
        S2 = []
        for j in range(self.J):
            U = self._modulus(x_hat, 0, j)  # (n, L, h / 2^j, w / 2^j)
            S.append(self._average(U, j))
            if self.order == 2 and j < self.J - 1:
                S2.append(self._second_order(U, j))
        return torch.cat(S + S2, 1)

    def _second_order(self, U: Tensor, j1: int) -> Tensor:
        """Scatter the moduli of scale j1 with all coarser wavelets."""
        U_hat = torch.fft.fft2(U)
        S2 = [
            self._average(self._modulus(U_hat, j1, j2), j2)  # (n, L, L, h', w')
            for j2 in range(j1 + 1, self.J)
        ]
        return torch.cat(S2, 2).flatten(1, 2)

    def _modulus(self, U_hat: Tensor, i: int, j: int) -> Tensor:
        """Take |U * psi_j| at every 2^j-th pixel, of U at every 2^i-th.

        To keep every k-th pixel is to fold the k x k bands of the spectrum onto each
        other, so they are summed as they are multiplied. Wavelets have real spectra:
        two real products make a complex one.
        """
        psi = self._wavelets[i, j].to(U_hat.real)  # (L, k^2, h, 2 w)
        bands = torch.view_as_real(_bands(U_hat, 2 ** (j - i))).flatten(-2)
        bands = bands.unsqueeze(-4)  # (..., 1, k^2, h, 2 w)
        folded = bands[..., 0, :, :] * psi[:, 0]
        for band in range(1, psi.shape[1]):
            folded.addcmul_(bands[..., band, :, :], psi[:, band])
        pairs = folded.reshape(*folded.shape[:-1], -1, 2)
        U = torch.fft.ifft2(torch.view_as_complex(pairs))  # (..., L, h, w)
        # A third of the time of U.abs(), which minds overflow where there is none.
        return torch.addcmul(U.real.square(), U.imag, U.imag).sqrt_()

    def _average(self, U: Tensor, j: int) -> Tensor:
        """Take U * phi at every 2^J-th pixel inside the border, of U at every 2^j-th.

        A Gaussian is a product of two, so this is a product with two short matrices,
        which takes less time than the way through the Fourier domain and back.
        """
        rows, columns = (average.to(U) for average in self._averages[j])
        S: Tensor = rows @ (U @ columns.T)
        return S

    @property
    def _padded(self) -> tuple[int, int]:
        step = 2**self.J
        height, width = ((-(-side // step) + 2) * step for side in self.shape)
        return height, width

    @cached_property
    def _wavelets(self) -> dict[tuple[int, int], Tensor]:
        """Spectra of scale j for images at every 2^i-th pixel, as `_modulus` reads."""
        height, width = self._padded
        bank = {}
        pairs = [(i, j) for j in range(self.J) for i in range(max(1, j))]
        for i, j in pairs:
            omega = frequencies(height, 2**i), frequencies(width, 2**i)
            psi = [morlet(omega, j, t, slant=4 / self.L) for t in self.directions]
            k = 2 ** (j - i)
            bands = _bands(torch.stack(psi), k) / k**2  # folding takes their mean
            bank[i, j] = bands.repeat_interleave(2, -1)
        return bank

    @cached_property
    def _averages(self) -> list[tuple[Tensor, Tensor]]:
        """Matrices that average rows and columns, for images at every 2^j-th pixel."""
        J, (height, width) = self.J, self._padded
        return [(_averaging(height, j, J), _averaging(width, j, J)) for j in range(J)]


def scatter(
    images: np.ndarray,
    *,
    J: int = 3,
    L: int = 8,
    order: int = 2,
    batch_size: int = 16,
    normalise: bool = True,
) -> np.ndarray:
    """Turn images into rows of scattering coefficients.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        Real numbers of any type, taken as they are: twice the grey values give twice
        the coefficients, and the same rows if `normalise`.
    J, L, order
        As in `Scattering`, where padding is explained too.
    batch_size : int
        Images transformed at once. Their intermediate results take memory, about 1 MB
        an image of MNIST; results do not depend on it.
    normalise : bool
        Divide the coefficients of each path by one number: the largest Euclidean norm,
        over all of `images`, that the height' x width' coefficients of this path have.
        Every path then counts the same; else order 0 drowns the rest. A path that
        holds nothing but rounding errors is left as it is.

    Returns
    -------
    ndarray of shape (n, n_paths * height' * width'), of float32
        Path by path, each path row by row. MNIST with J = 3 and L = 8 has
        217 paths of 4 x 4, which makes 3,472 columns.

    Examples
    --------
    >>> scatter(np.eye(28)[None], J=3, L=8).shape
    (1, 3472)
    """
    require(are_widths((batch_size,)), "batch_size", batch_size, "a whole number >= 1")
    transform = Scattering(_image_shape(images), J, L, order)
    features = np.empty((len(images), *transform.output_shape), np.float32)
    for first in range(0, len(images), batch_size):
        rows = slice(first, first + batch_size)
        with np.errstate(over="ignore"):  # infinity is refused in the next line but one
            batch = torch.from_numpy(images[rows].astype(np.float32))
        _check_values(batch, first)
        features[rows] = transform._transform(batch).numpy()
    if normalise:
        _normalise(features)
    return features.reshape(len(images), -1)


def _pad(images: Tensor, step: int) -> Tensor:
    """Fill up to whole steps with zeros, then add a reflected step on every side."""
    margins = []
    for side in (images.shape[2], images.shape[1]):  # torch pads the last axis first
        missing = -side % step
        margins += [missing // 2, missing - missing // 2]
    return F.pad(F.pad(images, margins), (step,) * 4, mode="reflect")


def _bands(spectrum: Tensor, k: int) -> Tensor:
    """Cut a spectrum into k x k bands: (..., h, w) to (..., k^2, h / k, w / k)."""
    *lead, height, width = spectrum.shape
    bands = spectrum.reshape(*lead, k, height // k, k, width // k)
    return bands.transpose(-3, -2).flatten(-4, -3)


def _averaging(side: int, j: int, J: int) -> Tensor:
    """Convolve 2^-j `side` pixels with phi, as a matrix; a row each 2^J-th, inside."""
    phi: Tensor = torch.fft.ifft(low_pass(frequencies(side, 2**j), J)).real
    kept = 2 ** (J - j) * torch.arange(1, side // 2**J - 1)
    shifts = kept[:, None] - torch.arange(phi.numel())
    return phi[shifts % phi.numel()]


def _normalise(features: np.ndarray) -> None:
    """Divide each path by its largest norm, in place; (n, paths, h, w)."""
    squares = np.einsum("nphw,nphw->np", features, features)  # needs no copy
    largest = np.sqrt(squares.max(0))
    largest[largest <= _ROUNDING * largest.max()] = 1.0
    features /= largest[:, None, None]


def _image_shape(images: np.ndarray) -> tuple[int, int]:
    """Return height and width, or say what is wrong."""
    if images.ndim != 3 or len(images) == 0:
        raise ValueError(
            f"images has shape {images.shape}, but (n, height, width) with n >= 1 is "
            "needed; reshape flat rows, and transform colours one by one."
        )
    if images.dtype.kind not in "fiu":
        raise ValueError(
            f"images has type {images.dtype}, but real numbers are needed; convert "
            "with images.astype(np.float32)."
        )
    return images.shape[1], images.shape[2]


def _check_images(images: Tensor, shape: tuple[int, int]) -> None:
    found = tuple(images.shape)
    if found[1:] != shape or len(images) == 0:
        raise ValueError(
            f"images has shape {found}, but (n, {shape[0]}, {shape[1]}) with n >= 1 is "
            "needed; reshape the images, or make a Scattering of their shape."
        )
    if images.dtype not in (torch.float32, torch.float64):
        raise ValueError(
            f"images has type {images.dtype}, but torch.float32 or torch.float64 is "
            "needed; convert with images.float()."
        )
    _check_values(images)


def _check_values(images: Tensor, first: int = 0) -> None:
    """Refuse NaN, infinity and values too large for float32."""
    bad = ~(images.abs().amax((1, 2)) <= _LARGEST)  # NaN compares false
    if bad.any():
        place = first + int(bad.nonzero()[0])
        raise ValueError(
            f"images[{place}] holds NaN, infinity or values beyond {_LARGEST:g}, but "
            "finite ones are needed; drop such images, or fill in or scale the values."
        )
