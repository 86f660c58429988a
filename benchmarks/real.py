"""K-means, SAE+KM, SAE+GMM and DCN, all defaults, on real data at hand.

    KFRIENDLY_DATA=... python benchmarks/real.py pendigits mnist-test --seeds 3

Appends to results/real.jsonl. No label is used but for the scores.
"""

import argparse
import time
import warnings

from lines import append_line
from provenance import ROOT, provenance
from sklearn.cluster import KMeans

from kfriendly import DCN
from kfriendly.datasets import load
from kfriendly.metrics import acc, ari, nmi

RESULTS = ROOT / "results" / "real.jsonl"


DATA: dict[str, tuple[str, dict[str, str]]] = {
    "pendigits": ("pendigits", {}),
    "mnist-test": ("mnist", {"part": "test"}),
    "digits": ("digits", {}),
}


def run(name: str, seed: int) -> None:
    """Fit one data set with one seed, print and append the scores."""
    loadable, options = DATA[name]
    X, y, K = load(loadable, **options)[1:4]
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcn = DCN(K, views=None, random_state=seed).fit(X)
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
    append_line(RESULTS, row | provenance())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=list(DATA))
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.names:
        for seed in range(arguments.seeds):
            run(name, seed)
