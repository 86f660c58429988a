"""Filters of the scattering transform, by their spectra: Morlet wavelets, low pass."""

import math

import torch
from torch import Tensor

# Of the finest scale, in pixels and radians per pixel; scale j has 2^j times the
# width and 2^-j times the frequency. kymatio has the same two, so results compare.
SIGMA = 0.8
XI = 3 * math.pi / 4


def frequencies(side: int, step: int = 1) -> Tensor:
    """Return the frequencies, in radians per pixel, seen at every `step`-th pixel.

    Examples
    --------
    >>> frequencies(4) / math.pi
    tensor([ 0.0000,  0.5000, -1.0000, -0.5000], dtype=torch.float64)
    """
    pixel = step / (2 * math.pi)
    omega: Tensor = torch.fft.fftfreq(side // step, pixel, dtype=torch.float64)
    return omega


def morlet(
    omega: tuple[Tensor, Tensor], j: int, theta: float, *, slant: float
) -> Tensor:
    """Return the spectrum of the Morlet wavelet of scale j, direction `theta`.

    In space it is a plane wave in a Gaussian window of height one over its area, less
    as much of the window as makes the mean zero. The window is `slant` times as wide
    along the wave as across it.

    Parameters
    ----------
    omega : pair of Tensors of shapes (height,) and (width,)
        Frequencies, in radians per pixel, down and to the right. Those of a coarser
        grid give the convolution of an image which has no higher ones.
    j : int
        Scale; the window's deviation is 0.8 * 2^j pixels along the wave, and the wave's
        frequency is 3/4 * pi / 2^j.
    theta : float
        Direction of the wave, as an angle from the vertical.
    slant : float
        Width along the wave over width across it.

    Returns
    -------
    Tensor of shape (height, width), real
    """
    origin = (torch.zeros(1, dtype=torch.float64),) * 2
    wave, window = (_gabor(omega, j, theta, xi=xi, slant=slant) for xi in (XI, 0.0))
    mean = _gabor(origin, j, theta, xi=XI, slant=slant)
    return wave - mean / _gabor(origin, j, theta, xi=0.0, slant=slant) * window


def low_pass(omega: Tensor, J: int) -> Tensor:
    """Return the spectrum of phi in one dimension: deviation 0.8 * 2^(J-1) pixels.

    Examples
    --------
    >>> low_pass(frequencies(4), 3).round(decimals=4)
    tensor([1., 0., 0., 0.], dtype=torch.float64)
    """
    sigma = SIGMA * 2 ** (J - 1)
    return torch.exp(-((sigma * _copies(omega, 2)) ** 2) / 2).sum(0)


def _gabor(
    omega: tuple[Tensor, Tensor], j: int, theta: float, *, xi: float, slant: float
) -> Tensor:
    """Spectrum of exp(i xi.u) in a Gaussian window of unit sum.

    A Gaussian around xi. Pixels sample the window, so copies 2 pi apart add up; those
    kept reach 8 deviations.
    """
    sigma = SIGMA * 2**j
    reach = math.ceil(8 * max(1.0, slant) / sigma / (2 * math.pi))
    down = _copies(omega[0], reach)[:, :, None, None]
    right = _copies(omega[1], reach)
    along = down * math.cos(theta) + right * math.sin(theta) - xi / 2**j
    across = right * math.cos(theta) - down * math.sin(theta)
    distance = along**2 + (across / slant) ** 2  # (copies, height, copies, width)
    return torch.exp(-(sigma**2) * distance / 2).sum((0, 2))


def _copies(omega: Tensor, reach: int) -> Tensor:
    """Shift frequencies by whole turns: (2 reach + 1, side)."""
    turns = torch.arange(-reach, reach + 1, dtype=omega.dtype)
    return omega + 2 * math.pi * turns[:, None]
