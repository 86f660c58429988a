"""Data sets: the paper's synthetic ones."""

from kfriendly.datasets.synthetic import (
    SYNTHETIC,
    make_sigmoid_sigmoid,
    make_sigmoid_squared,
    make_tanh_sigmoid,
)

__all__ = [
    "SYNTHETIC",
    "make_sigmoid_sigmoid",
    "make_sigmoid_squared",
    "make_tanh_sigmoid",
]
