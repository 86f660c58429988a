"""Find clusters in data on which K-means fails: the Deep Clustering Network.

Names are loaded when first used, so that `kfriendly --help` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kfriendly.criteria import KMeans, KSubspace, SoftKMeans
    from kfriendly.errors import (
        CheckpointMismatch,
        CheckpointWarning,
        CollapseWarning,
        DataScaleWarning,
        EmptyClusterWarning,
        KfriendlyError,
        ModelFileError,
        NotSavable,
        TrainingDiverged,
    )
    from kfriendly.estimator import DCN
    from kfriendly.model_files import Checkpoints
    from kfriendly.networks import Autoencoder, ConvFactory, LayerPair, MLPFactory
    from kfriendly.training.descent import Descent
    from kfriendly.views import Altered, DropWords, MoveImages, Neighbors, Noise

__version__ = "0.1.0"

__all__ = [
    "DCN",
    "Altered",
    "Autoencoder",
    "CheckpointMismatch",
    "CheckpointWarning",
    "Checkpoints",
    "CollapseWarning",
    "ConvFactory",
    "DataScaleWarning",
    "Descent",
    "DropWords",
    "EmptyClusterWarning",
    "KMeans",
    "KSubspace",
    "KfriendlyError",
    "LayerPair",
    "MLPFactory",
    "ModelFileError",
    "MoveImages",
    "Neighbors",
    "Noise",
    "NotSavable",
    "SoftKMeans",
    "TrainingDiverged",
]

_HOMES = {
    "kfriendly.estimator": ["DCN"],
    "kfriendly.criteria": ["KMeans", "KSubspace", "SoftKMeans"],
    "kfriendly.networks": ["Autoencoder", "ConvFactory", "LayerPair", "MLPFactory"],
    "kfriendly.training.descent": ["Descent"],
    "kfriendly.views": ["Altered", "DropWords", "MoveImages", "Neighbors", "Noise"],
    "kfriendly.model_files": ["Checkpoints"],
    "kfriendly.errors": [
        "CheckpointMismatch",
        "CheckpointWarning",
        "CollapseWarning",
        "DataScaleWarning",
        "EmptyClusterWarning",
        "KfriendlyError",
        "ModelFileError",
        "NotSavable",
        "TrainingDiverged",
    ],
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'kfriendly' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
