"""Cluster rows by another program; runs in .peers, which has no kfriendly.

`python peer_worker.py ORDER FOLDER` reads FOLDER/rows.npy or rows.npz, writes
FOLDER/labels.npy, and prints the seconds and megabytes it took.
"""

import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans


def umap_and_kmeans(X: Any, n_clusters: int, seed: int) -> np.ndarray:
    """Run UMAP to ten dimensions, then K-means."""
    import umap

    reducer = umap.UMAP(
        n_neighbors=15, min_dist=0.0, n_components=10, random_state=seed
    )
    H = reducer.fit_transform(X)
    kmeans = KMeans(n_clusters, n_init=10, random_state=seed)
    return np.asarray(kmeans.fit_predict(H))


def clustpy_dcn(X: Any, n_clusters: int, seed: int) -> np.ndarray:
    """Run ClustPy's DCN at its defaults."""
    from clustpy.deep import DCN

    rows = (X.toarray() if sp.issparse(X) else X).astype(np.float32)
    return np.asarray(DCN(n_clusters, random_state=seed).fit(rows).labels_)


METHODS = {"UMAP+KM": umap_and_kmeans, "ClustPy's DCN": clustpy_dcn}


def end_with_parent() -> None:
    """Let no fit go on alone for an hour when the command was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Read, cluster, write."""
    end_with_parent()
    order, folder = json.loads(sys.argv[1]), Path(sys.argv[2])
    sparse = folder / "rows.npz"
    X = sp.load_npz(sparse) if sparse.exists() else np.load(folder / "rows.npy")
    began = time.perf_counter()
    labels = METHODS[order["method"]](X, order["n_clusters"], order["seed"])
    seconds = round(time.perf_counter() - began, 2)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    np.save(folder / "labels.npy", labels)
    print(json.dumps({"seconds": seconds, "megabytes": megabytes}))  # noqa: T201


if __name__ == "__main__":
    main()
