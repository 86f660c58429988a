"""Does it cost quality to encode each batch once instead of twice? Five seeds each.

    KFRIENDLY_DATA=... python benchmarks/reuse.py

Algorithm 1 as printed encodes the batch again after the network's step, for Eqs. (7)
and (8); the default takes the latent samples from before it. Appends to
results/reuse.jsonl what is not yet there, and prints the means.
"""

import statistics
import warnings
from dataclasses import replace
from typing import Any

from lines import append_line, read_lines
from provenance import ROOT, provenance

from kfriendly import DCN, datasets
from kfriendly.datasets import SYNTHETIC
from kfriendly.metrics import acc, ari, nmi
from kfriendly.training.plan import Plan

RESULTS = ROOT / "results" / "reuse.jsonl"
SEEDS = range(5)
DATA = ["digits", "pendigits", *SYNTHETIC]


def load(name: str, seed: int) -> Any:
    """Load a table, or make a synthetic draw that no reported table uses."""
    if name in SYNTHETIC:
        return SYNTHETIC[name](random_state=100 + seed)
    return datasets.load(name)[1:3]


class AsPrinted(DCN):
    """Algorithm 1 with its second pass through the encoder."""

    def _make_plan(self, X: Any) -> Plan:
        plan = super()._make_plan(X)
        return replace(plan, rules=replace(plan.rules, encode_again=True))


METHODS: dict[str, type[DCN]] = {"once": DCN, "twice": AsPrinted}


def run() -> None:
    """Fit all that is not yet in the results."""
    done = {(row["data"], row["seed"], row["encoded"]) for row in read_lines(RESULTS)}
    for seed in SEEDS:
        for name in DATA:
            X, y = load(name, seed)
            for encoded, method in METHODS.items():
                if (name, seed, encoded) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = method(len(set(y)), random_state=seed).fit_predict(X)
                scores = [round(score(y, labels), 4) for score in (nmi, ari, acc)]
                row = {"data": name, "seed": seed, "encoded": encoded, "scores": scores}
                append_line(RESULTS, row | provenance())


def report() -> None:
    """Print mean scores and how often either way had the higher NMI."""
    rows = {
        (r["data"], r["encoded"], r["seed"]): r["scores"] for r in read_lines(RESULTS)
    }
    for name in DATA:
        found = {
            encoded: [
                rows[name, encoded, s] for s in SEEDS if (name, encoded, s) in rows
            ]
            for encoded in METHODS
        }
        means = {
            encoded: "/".join(
                f"{statistics.mean(c):.3f}" for c in zip(*scores, strict=True)
            )
            for encoded, scores in found.items()
        }
        print(f"{name:16} NMI/ARI/ACC  once {means['once']}  twice {means['twice']}")


if __name__ == "__main__":
    run()
    report()
