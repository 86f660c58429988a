"""Models on disk: a folder of plain numbers and JSON, checked before it is used."""

from kfriendly.model_files.checkpoints import (
    Checkpoints,
    clear_checkpoints,
    find_checkpoints,
    keeper_for,
)
from kfriendly.model_files.files import MANIFEST, WEIGHTS, Stored, read_stored
from kfriendly.model_files.model import load_model, save_model

__all__ = [
    "MANIFEST",
    "WEIGHTS",
    "Checkpoints",
    "Stored",
    "clear_checkpoints",
    "find_checkpoints",
    "keeper_for",
    "load_model",
    "read_stored",
    "save_model",
]
