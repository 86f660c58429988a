"""Autoencoders: the paper's mirrored MLP, a convolutional one, and the base of both."""

from kfriendly.networks.base import Autoencoder, LayerPair, NetworkFactory
from kfriendly.networks.conv import Conv, ConvFactory
from kfriendly.networks.mlp import MLP, MLPFactory

__all__ = [
    "MLP",
    "Autoencoder",
    "Conv",
    "ConvFactory",
    "LayerPair",
    "MLPFactory",
    "NetworkFactory",
]
