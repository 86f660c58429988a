"""What people use instead, run in an environment of its own: never a dependency.

`make peers` makes it, in the folder .peers of the working directory.
"""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from kfriendly.errors import PeerNotFound

PEERS = ("UMAP+KM", "ClustPy's DCN")
_PYTHON = Path(".peers/bin/python")
_WORKER = Path(__file__).with_name("peer_worker.py")


class PeerLabels(NamedTuple):
    """Clusters, and what finding them took."""

    labels: np.ndarray
    seconds: float
    megabytes: int


def run_peer(method: str, X: Any, n_clusters: int, seed: int) -> PeerLabels:
    """Cluster the rows of `X`, dense or sparse, by another program."""
    if not _PYTHON.exists():
        raise PeerNotFound(
            f"{method} runs in an environment of its own, and {_PYTHON} is not there. "
            "Run `make peers`, which needs the network, or leave the method out with "
            "--methods."
        )
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder, "rows"), Path(folder, "labels.npy")
        if sp.issparse(X):
            sp.save_npz(rows.with_suffix(".npz"), sp.csr_matrix(X))
        else:
            np.save(rows.with_suffix(".npy"), X)
        order = {"method": method, "n_clusters": n_clusters, "seed": seed}
        done = subprocess.run(
            [_PYTHON, _WORKER, json.dumps(order), folder],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
            raise PeerNotFound(f"{method} failed in {_PYTHON}: {last}")
        cost = json.loads(done.stdout.splitlines()[-1])
        return PeerLabels(np.load(labels, allow_pickle=False), **cost)
