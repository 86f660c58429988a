"""Data sets: the paper's, small real samples, and generators."""

from kfriendly.datasets.base import Dataset
from kfriendly.datasets.catalogue import DATASETS, load
from kfriendly.datasets.rcv1_like import make_rcv1_like
from kfriendly.datasets.synthetic import (
    SYNTHETIC,
    make_sigmoid_sigmoid,
    make_sigmoid_squared,
    make_tanh_sigmoid,
)

__all__ = [
    "DATASETS",
    "SYNTHETIC",
    "Dataset",
    "load",
    "make_rcv1_like",
    "make_sigmoid_sigmoid",
    "make_sigmoid_squared",
    "make_tanh_sigmoid",
]
