"""All data sets by name."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from kfriendly.datasets.base import Dataset, Entry
from kfriendly.datasets.images import FASHION_MNIST, MNIST
from kfriendly.datasets.newsgroups import NEWSGROUPS
from kfriendly.datasets.pendigits import PENDIGITS
from kfriendly.datasets.preprocessed import MNIST_PREPROCESSED, MNIST_SCATTERING
from kfriendly.datasets.rcv1 import RCV1, RCV1_SAMPLE, RCV1_SUBSETS
from kfriendly.datasets.rcv1_like import make_rcv1_like
from kfriendly.datasets.synthetic import SYNTHETIC, RandomState
from kfriendly.errors import UnknownName


def _load_digits() -> Dataset:
    bunch = load_digits()
    names = [str(digit) for digit in bunch.target_names]
    X, y = bunch.data, bunch.target.astype(np.int64)
    return Dataset("digits", X, y, 10, list(bunch.feature_names), names)


def _draw_synthetic(
    model: str, n_per_cluster: int = 2_500, random_state: RandomState = 0
) -> Dataset:
    X, y = SYNTHETIC[model](n_per_cluster, random_state=random_state)
    return Dataset(model, X, y, 4)


def _synthetic(model: str, equation: int) -> Entry:
    return Entry(
        "10,000 x 100",
        f"four clusters in a plane, seen through Eq. ({equation})",
        partial(_draw_synthetic, model),
        "n_per_cluster=2500, random_state=0",
    )


DATASETS: dict[str, Entry] = {
    "mnist": MNIST,
    "mnist-scattering": MNIST_SCATTERING,
    "mnist-preprocessed": MNIST_PREPROCESSED,
    "fashion-mnist": FASHION_MNIST,
    "pendigits": PENDIGITS,
    "20newsgroups": NEWSGROUPS,
    "rcv1": RCV1,
    "rcv1-sample": RCV1_SAMPLE,
    **RCV1_SUBSETS,
    "rcv1-like": Entry(
        "365,968 x 47,236",
        "random documents of RCV1's sizes and density",
        make_rcv1_like,
        "n_documents, n_clusters=20, n_words=47236, random_state",
    ),
    "digits": Entry("1,797 x 64", "digits that come with scikit-learn", _load_digits),
    "synthetic-9": _synthetic("sigmoid_sigmoid", 9),
    "synthetic-10": _synthetic("sigmoid_squared", 10),
    "synthetic-11": _synthetic("tanh_sigmoid", 11),
}


def load(name: str, **options: Any) -> Dataset:
    """Load a data set by name; files that are absent are fetched and verified.

    Parameters
    ----------
    name : str
        A key of `DATASETS`.
    **options
        What the data set lets one choose; `DATASETS[name].options` names it.

    Returns
    -------
    Dataset
        name, X, y, n_clusters, feature_names, class_names.

    Examples
    --------
    >>> from kfriendly.datasets import load
    >>> load("digits").X.shape
    (1797, 64)
    """
    return find(name).load(**options)


def find(name: str) -> Entry:
    """Return the catalogue's line of a data set."""
    if name not in DATASETS:
        raise UnknownName(
            f"There is no data set {name!r}; there are {', '.join(DATASETS)}."
        )
    return DATASETS[name]
