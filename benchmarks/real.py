"""K-means, SAE+KM, SAE+GMM and DCN, all defaults, on real data at hand.

    KFRIENDLY_DATA=... python benchmarks/real.py pendigits mnist-test --seeds 3

Appends to results/real.jsonl. No label is used but for the scores.
"""

import argparse
import gzip
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from provenance import ROOT, provenance
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from kfriendly import DCN
from kfriendly.metrics import acc, ari, nmi

RESULTS = ROOT / "results" / "real.jsonl"
Table = tuple[np.ndarray, np.ndarray]


def pendigits() -> Table:
    """Read both UCI files, 10,992 x 16."""
    parts = [
        np.loadtxt(_folder() / "pendigits" / f"pendigits.{part}", delimiter=",")
        for part in ("tra", "tes")
    ]
    table = np.vstack(parts).astype(np.int64)
    return table[:, :-1], table[:, -1]


def mnist_test() -> Table:
    """Read the 10,000 test images, 784 columns."""
    images = _idx("t10k-images-idx3-ubyte.gz", header=16)
    return images.reshape(-1, 784), _idx("t10k-labels-idx1-ubyte.gz", header=8)


def digits() -> Table:
    """Load scikit-learn's 1,797 digits, 64 columns."""
    bunch = load_digits()
    return bunch.data, bunch.target


DATA: dict[str, Callable[[], Table]] = {
    "pendigits": pendigits,
    "mnist-test": mnist_test,
    "digits": digits,
}


def run(name: str, seed: int) -> None:
    """Fit one data set with one seed, print and append the scores."""
    X, y = DATA[name]()
    K = len(np.unique(y))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcn = DCN(K, random_state=seed).fit(X)
    seconds = time.perf_counter() - began
    labels = {
        "K-means": KMeans(K, n_init=10, random_state=seed).fit_predict(X),
        "SAE+KM": dcn.sae_km_labels_,
        "SAE+GMM": dcn.initial_labels_,
        "DCN": dcn.labels_,
    }
    scores = {
        method: [round(score(y, found), 3) for score in (nmi, ari, acc)]
        for method, found in labels.items()
    }
    row = {"data": name, "seed": seed, "scores": scores, "seconds": round(seconds)}
    row |= provenance()
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)


def _folder() -> Path:
    return Path(os.environ["KFRIENDLY_DATA"])


def _idx(name: str, *, header: int) -> np.ndarray:
    data = gzip.decompress((_folder() / "mnist" / name).read_bytes())
    return np.frombuffer(data, np.uint8, offset=header)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=list(DATA))
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.names:
        for seed in range(arguments.seeds):
            run(name, seed)
