"""Pendigits: sixteen coordinates of the pen for each handwritten digit."""

import numpy as np

from kfriendly.datasets.base import Dataset, Entry
from kfriendly.datasets.files import DataFile, obtain

_SOURCE = "https://archive.ics.uci.edu/ml/machine-learning-databases/pendigits/"
_FILES = (
    DataFile(
        "pendigits/pendigits.tra",
        502_098,
        ("e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",),
        (_SOURCE + "pendigits.tra",),
    ),
    DataFile(
        "pendigits/pendigits.tes",
        234_366,
        ("8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",),
        (_SOURCE + "pendigits.tes",),
    ),
)


def _load() -> Dataset:
    """Read both files, training rows first."""
    parts = [np.loadtxt(obtain(f), delimiter=",", dtype=np.int64) for f in _FILES]
    table = np.concatenate(parts)
    names = [f"{axis}{point}" for point in range(1, 9) for axis in "xy"]
    digits = [str(digit) for digit in range(10)]
    return Dataset("pendigits", table[:, :-1], table[:, -1], 10, names, digits)


PENDIGITS = Entry(
    "10,992 x 16",
    "pen coordinates of handwritten digits",
    _load,
    files=_FILES,
    terms="CC BY 4.0, UCI (Alpaydin & Alimoglu)",
)
