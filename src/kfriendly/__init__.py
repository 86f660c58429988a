"""Find clusters in data on which K-means fails: the Deep Clustering Network."""

from kfriendly.criteria import KMeans, KSubspace, SoftKMeans
from kfriendly.errors import (
    CollapseWarning,
    DataScaleWarning,
    EmptyClusterWarning,
    KfriendlyError,
    TrainingDiverged,
)
from kfriendly.estimator import DCN
from kfriendly.networks import Autoencoder, ConvFactory, LayerPair, MLPFactory
from kfriendly.training.descent import Descent

__version__ = "0.1.0"

__all__ = [
    "DCN",
    "Autoencoder",
    "CollapseWarning",
    "ConvFactory",
    "DataScaleWarning",
    "Descent",
    "EmptyClusterWarning",
    "KMeans",
    "KSubspace",
    "KfriendlyError",
    "LayerPair",
    "MLPFactory",
    "SoftKMeans",
    "TrainingDiverged",
]
