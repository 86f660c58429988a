"""Small fitted models, and ways to change their files."""

import copy
import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from kfriendly import DCN
from kfriendly.model_files import MANIFEST, WEIGHTS

QUICK: dict[str, Any] = {
    "n_clusters": 3,
    "pretrain_epochs": 2,
    "max_epochs": 2,
    "n_init": 2,
    "views": None,  # a whitened network has more parts
    "random_state": 0,
}
Change = Callable[[dict[str, Any]], object]


def make_rows(n_rows: int = 120, n_columns: int = 16) -> np.ndarray:
    rng = np.random.RandomState(0)
    groups = rng.randint(3, size=(n_rows, 1))
    return np.asarray(rng.randn(n_rows, n_columns) + 5 * groups)


def fit(X: Any, **parameters: Any) -> DCN:
    """Fit for two epochs; what it warns of is not what these tests are about."""
    given = {**QUICK, **parameters}
    if "network" not in given and "input_shape" not in given:
        given.setdefault("hidden", (8,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return DCN(**given).fit(X)


def read_manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
    return found


def seal(body: bytes) -> bytes:
    """Close a manifest with the line that makes it look whole."""
    digest = hashlib.sha256(body).hexdigest()
    return body + f',\n "sha256": "{digest}"\n}}\n'.encode()


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest as a forger would: with a checksum that fits."""
    manifest = {key: value for key, value in manifest.items() if key != "sha256"}
    body = json.dumps(manifest).encode().removesuffix(b"}")
    (folder / MANIFEST).write_bytes(seal(body))


def forge(folder: Path, change: Change) -> None:
    """Change the manifest, and make it look whole."""
    manifest = copy.deepcopy(read_manifest(folder))
    change(manifest)
    write_manifest(folder, manifest)


def forge_weights(folder: Path, content: bytes) -> None:
    """Replace the weights, and tell the manifest."""
    (folder / WEIGHTS).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    entry = {"size": len(content), "sha256": digest}
    forge(folder, lambda manifest: manifest["files"].update({WEIGHTS: entry}))


def forge_tensor(folder: Path, name: str, tensor: np.ndarray) -> None:
    """Replace one tensor, and tell the manifest of its new shape too."""
    tensors = {**load_file(folder / WEIGHTS), name: tensor}
    described = {"dtype": tensor.dtype.name, "shape": list(tensor.shape)}
    forge(folder, lambda manifest: manifest["tensors"].update({name: described}))
    forge_weights(folder, save(tensors))
