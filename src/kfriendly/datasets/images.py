"""MNIST and Fashion-MNIST, in the idx format of MNIST's authors."""

import gzip
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from kfriendly.arguments import require
from kfriendly.datasets.base import Dataset, Entry
from kfriendly.datasets.files import DataFile, obtain

Part = Literal["all", "train", "test"]

_TYPE_BYTE = 8  # unsigned bytes, the only type these files have


def read_idx(path: Path) -> np.ndarray:
    """Read a gzipped idx file of bytes."""
    with gzip.open(path) as stream:
        content = stream.read()
    zero, kind, n_axes = content[:2], content[2], content[3]
    if zero != b"\0\0" or kind != _TYPE_BYTE:
        raise ValueError(
            f"{path} is not an idx file of bytes: it starts {content[:4]!r}."
        )
    shape = np.frombuffer(content, ">i4", n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _load(
    name: str, files: tuple[DataFile, ...], class_names: list[str], part: Part = "all"
) -> Dataset:
    """Read images as rows of 784 bytes: training images first, then test images."""
    require(part in ("all", "train", "test"), "part", part, "'all', 'train' or 'test'")
    images_and_labels = {"all": files, "train": files[:2], "test": files[2:]}[part]
    arrays = [read_idx(obtain(file)) for file in images_and_labels]
    X = np.concatenate([images.reshape(len(images), -1) for images in arrays[::2]])
    y = np.concatenate(arrays[1::2]).astype(np.int64)
    return Dataset(name, X, y, len(class_names), class_names=class_names)


def _files(
    folder: str, urls: tuple[str, ...], parts: dict[str, tuple[int, str]]
) -> tuple[DataFile, ...]:
    return tuple(
        DataFile(f"{folder}/{name}", size, (sha256,), tuple(u + name for u in urls))
        for name, (size, sha256) in parts.items()
    )


_MNIST = _files(
    "mnist",
    (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    {
        "train-images-idx3-ubyte.gz": (
            9_912_422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        "train-labels-idx1-ubyte.gz": (
            28_881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        "t10k-images-idx3-ubyte.gz": (
            1_648_877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        "t10k-labels-idx1-ubyte.gz": (
            4_542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    },
)
_FASHION = _files(
    "fashion_mnist",
    (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    ),
    {
        "train-images-idx3-ubyte.gz": (
            26_421_880,
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        "train-labels-idx1-ubyte.gz": (
            29_515,
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        "t10k-images-idx3-ubyte.gz": (
            4_422_102,
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        "t10k-labels-idx1-ubyte.gz": (
            5_148,
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    },
)
_DIGITS = [str(digit) for digit in range(10)]
_GARMENTS = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
]

load_mnist = partial(_load, "mnist", _MNIST, _DIGITS)

MNIST = Entry(
    "70,000 x 784",
    "images of handwritten digits",
    load_mnist,
    'part="all", "train" or "test"',
    _MNIST,
    "CC BY-SA 3.0, LeCun, Cortes & Burges",
)
FASHION_MNIST = Entry(
    "70,000 x 784",
    "images of garments; not in the paper",
    partial(_load, "fashion-mnist", _FASHION, _GARMENTS),
    'part="all", "train" or "test"',
    _FASHION,
    "MIT, Zalando SE",
)
