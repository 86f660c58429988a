"""Twenty draws of each synthetic model: K-means, SAE+KM, SAE+GMM and DCN.

    python benchmarks/synthetic.py run        append to results/synthetic.jsonl
    python benchmarks/synthetic.py report     write docs/synthetic.md

A run goes on where it stopped. SAE+KM, SAE+GMM (the mixture that joint training starts
from) and DCN of a draw have the same pre-trained weights, those of the chosen start.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from lines import append_line, read_lines
from provenance import ROOT, provenance
from sklearn.cluster import KMeans

from kfriendly import DCN, CollapseWarning
from kfriendly.datasets import SYNTHETIC
from kfriendly.metrics import acc, ari, nmi

RESULTS = ROOT / "results" / "synthetic.jsonl"
PAGE = ROOT / "docs" / "synthetic.md"
DRAWS = range(20)
N_INIT = 16
METHODS = ("K-means", "SAE+KM", "SAE+GMM", "DCN")
EQUATIONS = {"sigmoid_sigmoid": 9, "sigmoid_squared": 10, "tanh_sigmoid": 11}


def run() -> None:
    """Run every draw that is not yet in the results."""
    done = {(row["model"], row["draw"]) for row in read_lines(RESULTS)}
    made_by = provenance()
    for draw in DRAWS:
        for model in SYNTHETIC:
            if (model, draw) not in done:
                row = {"model": model, "draw": draw, **measure(model, draw)}
                row |= {**made_by, "n_init": N_INIT}
                append_line(RESULTS, row)


def measure(model: str, draw: int) -> dict[str, Any]:
    """Fit one draw; labels are used for the scores only."""
    X, y = SYNTHETIC[model](random_state=draw)
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dcn = DCN(4, n_init=N_INIT, views=None, random_state=draw).fit(X)
    seconds = time.perf_counter() - began
    labels = {
        "K-means": KMeans(4, n_init=10, random_state=draw).fit_predict(X),
        "SAE+KM": dcn.sae_km_labels_,
        "SAE+GMM": dcn.initial_labels_,
        "DCN": dcn.labels_,
    }
    return {
        "scores": {
            method: [round(score(y, found), 4) for score in (nmi, ari, acc)]
            for method, found in labels.items()
        },
        "starts_nmi": [round(nmi(y, found), 4) for found in dcn.start_labels_],
        "collapsed": any(issubclass(w.category, CollapseWarning) for w in caught),
        "smallest_cluster": int(dcn.cluster_sizes_.min()),
        "seconds": round(seconds, 1),
    }


def report() -> None:
    """Write the distribution over draws as a page."""
    rows = read_lines(RESULTS)
    lines = [
        "# The synthetic models, twenty draws each",
        "",
        "Made by `make synthetic` (`python benchmarks/synthetic.py run`, then "
        f"`report`) from `{RESULTS.relative_to(ROOT)}`, which has the commit, the "
        "versions and the scores of every draw and start. `DCN(4, "
        f"n_init={N_INIT}, views=None)` and nothing else set; 4 x 2,500 rows; draws "
        "0 to 19.",
        "",
        "| model | method | NMI median | min | quartiles | max | ARI | ACC |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for model, equation in EQUATIONS.items():
        part = [row for row in rows if row["model"] == model]
        for method in METHODS:
            scores = np.array([row["scores"][method] for row in part])
            low, first, middle, third, high = np.percentile(
                scores[:, 0], [0, 25, 50, 75, 100]
            )
            ari_, acc_ = np.median(scores[:, 1:], axis=0)
            lines.append(
                f"| ({equation}), {len(part)} draws | {method} | {middle:.3f} | "
                f"{low:.3f} | {first:.3f} to {third:.3f} | {high:.3f} | {ari_:.3f} | "
                f"{acc_:.3f} |"
            )
    lines += ["", *_checks(rows), "", *NOTES]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


def _checks(rows: list[dict[str, Any]]) -> list[str]:
    """Compare draw by draw, in words."""
    lines = []
    for model, equation in EQUATIONS.items():
        part = [row for row in rows if row["model"] == model]
        dcn, sae, gmm = (
            np.array([row["scores"][m][0] for row in part])
            for m in ("DCN", "SAE+KM", "SAE+GMM")
        )
        best = np.array([max(row["starts_nmi"]) for row in part])
        lines.append(
            f"- ({equation}): DCN >= SAE+KM in {np.mean(dcn >= sae):.0%} of draws, "
            f">= SAE+GMM in {np.mean(dcn >= gmm):.0%}; collapsed in "
            f"{sum(row['collapsed'] for row in part)} (lowest NMI of any of the "
            f"{sum(len(row['starts_nmi']) for row in part)} starts: "
            f"{min(min(row['starts_nmi']) for row in part):.3f}); the start chosen "
            "without labels "
            f"is {np.median(best - dcn):.3f} NMI below the best one (median, at most "
            f"{np.max(best - dcn):.3f})."
        )
    return lines


NOTES = """\
What to make of it:

- The start is what matters most. K-means cuts the widest of these clusters (see the
  picture in the README), and Eq. (4) does not repair a wrong start: from the paper's
  start plain alternation typically added 0 to .08 NMI in a development prototype. So
  the default starts from a Gaussian mixture on the whitened bottleneck and holds it for
  a fifth of joint training. SAE+GMM stands in the table to show how much of the gain is
  the mixture's and how much is Eq. (4)'s.
- Tried in that prototype (draws 100 to 107) and left out: soft assignment after the
  hold (NMI .6 to .7), estimating the mixture anew during joint training (collapse),
  lam of a tenth to ten times the default (little difference), frozen centres (none),
  choosing the start by reconstruction alone or by Eq. (4) in its own units (misses some
  draws by .2), a wider network (as good, twice the time).
- No label is used in training or in the choice of the start. But the rule itself
  (network, epochs, rates, mixture, hold, score) was developed by looking at NMI on
  other draws, seeds 100 to 107, and on Pendigits and digits. Draws 0 to 19 were run
  by the frozen rule. Draw 0 had been seen before: that of (9) in the demo, and all
  three in a first run that was stopped there to mend faults found by tests.
""".splitlines()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=["run", "report"])
    {"run": run, "report": report}[parser.parse_args().job]()
