"""What each ingredient of views gives: a line a data set and variant.

KFRIENDLY_DATA=../shared/data python benchmarks/ablation.py run [--data Pendigits ...]
python benchmarks/ablation.py report

Appends to results/ablation.jsonl and goes on where it stopped.
"""

import argparse
import time
import warnings
from dataclasses import replace
from typing import Any

from lines import append_line, read_lines
from provenance import ROOT, provenance

from kfriendly import DCN, DropWords, MoveImages, Neighbors
from kfriendly.datasets import Dataset
from kfriendly.defaults import default_hidden, resolve_shape, resolve_views
from kfriendly.experiments import TABLES
from kfriendly.metrics import acc, ari, nmi
from kfriendly.training.plan import Plan

RESULTS = ROOT / "results" / "ablation.jsonl"
CASES = {case.name: case for case in TABLES["beyond"].cases}


class WithoutRamp(DCN):
    """Lambda is there in full from the first step of joint training."""

    def _make_plan(self, X: Any) -> Plan:
        plan = super()._make_plan(X)
        return replace(plan, rules=replace(plan.rules, ramp=0.0))


def variants(data: Dataset) -> dict[str, dict[str, Any]]:
    """List the parameters of every variant; all but the named one stay."""
    shape = resolve_shape("auto", data.X)
    rule = resolve_views("auto", data.X, data.n_clusters, shape)
    assert isinstance(rule, Neighbors)
    found: dict[str, dict[str, Any]] = {
        "all of it": {},
        "two starts, the better one kept": {"n_init": 2},
        "Eq. (4) alone": {"views": None, "hidden": default_hidden(data.X.shape, rule)},
        "Eq. (4) with its own defaults": {"views": None},
        "images as tables": {"input_shape": None},
        "images that stay": {"views": replace(rule, alter=None)},
        "images moved twice as far": {},
        "walks of one step": {"views": replace(rule, n_steps=1)},
        "walks of 20 steps": {"views": replace(rule, n_steps=20)},
        "no contrast": {"views": replace(rule, contrast=0.0)},
        "no words lost": {"views": replace(rule, alter=None)},
        "no joint training": {"max_epochs": 0},
        "no ramp of lambda": {},
        "K-means again every fifth epoch": {"refresh_every": 5},
        "a mixture start": {"init": "mixture"},
        "smaller layers": {"hidden": (128, 64)},
        "larger layers": {"hidden": (256, 256, 512)},
    }
    if shape is None:
        for name in [name for name in found if name.startswith("images")]:
            del found[name]
    else:
        moves = MoveImages(shape, shift=shape[-1] / 14)
        found["images moved twice as far"]["views"] = replace(rule, alter=moves)
    if not isinstance(rule.alter, DropWords):
        del found["no words lost"]
    return found


def run(names: list[str]) -> None:
    """Fit what is missing, one start each: starts are alike (`starts.py`)."""
    done = {(row["data"], row["variant"]) for row in read_lines(RESULTS)}
    for name in names:
        data = CASES[name].load_for(0)
        for variant, parameters in variants(data).items():
            if (name, variant) in done:
                continue
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kind = WithoutRamp if variant == "no ramp of lambda" else DCN
                given = {"n_init": 1, "random_state": 0, **parameters}
                model = kind(data.n_clusters, **given).fit(data.X)
            scores = [round(f(data.y, model.labels_), 4) for f in (nmi, ari, acc)]
            row = {
                "data": name,
                "variant": variant,
                "scores": scores,
                "seconds": round(time.perf_counter() - began, 1),
                **provenance(),
            }
            append_line(RESULTS, row)


def report() -> None:
    """Print the table of docs/views.md: NMI, a column a data set."""
    rows = read_lines(RESULTS)
    nmis = {(row["data"], row["variant"]): row["scores"][0] for row in rows}
    names = list(dict.fromkeys(row["data"] for row in rows))
    print(f"| variant | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for variant in dict.fromkeys(row["variant"] for row in rows):
        found = (nmis.get((name, variant)) for name in names)
        cells = ["" if x is None else f"{x:.3f}".lstrip("0") for x in found]
        print(f"| {variant} | {' | '.join(cells)} |")


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["run", "report"])
    parser.add_argument("--data", nargs="+", choices=CASES, default=list(CASES))
    given = parser.parse_args()
    if given.verb == "run":
        run(given.data)
    else:
        report()


if __name__ == "__main__":
    main()
