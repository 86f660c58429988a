"""What each ingredient of views gives: a line a data set and variant.

KFRIENDLY_DATA=../shared/data python benchmarks/ablation.py run [--data digits ...]
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
from kfriendly.datasets import Dataset, load
from kfriendly.defaults import default_hidden, resolve_shape, resolve_views
from kfriendly.metrics import acc, ari, nmi
from kfriendly.training.plan import Plan

RESULTS = ROOT / "results" / "ablation.jsonl"
DATA = (
    "digits",
    "rcv1-20",
    "pendigits",
    "mnist-test",
    "fashion-mnist-test",
    "synthetic-9",
    "20newsgroups",
)


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


def load_rows(name: str) -> Dataset:
    """Load a data set; of image sets the test images."""
    if name == "rcv1-20":
        return load("rcv1-sample", n_clusters=20)
    if not name.endswith("-test"):
        return load(name)
    data = load(name.removesuffix("-test"))
    return data._replace(X=data.X[-10_000:], y=data.y[-10_000:])


def run(names: list[str]) -> None:
    """Fit what is missing, one start each: starts are alike (`starts.py`)."""
    done = {(row["data"], row["variant"]) for row in read_lines(RESULTS)}
    for name in names:
        data = load_rows(name)
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
    """Print the table of docs/views.md."""
    rows = read_lines(RESULTS)
    names = [name for name in DATA if any(row["data"] == name for row in rows)]
    print(f"| variant | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for variant in dict.fromkeys(row["variant"] for row in rows):
        cells = []
        for name in names:
            found = [
                row["scores"]
                for row in rows
                if (row["data"], row["variant"]) == (name, variant)
            ]
            scores = [f"{score:.3f}".lstrip("0") for score in (found or [[]])[0]]
            cells.append("/".join(scores))
        print(f"| {variant} | {' | '.join(cells)} |")


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["run", "report"])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    given = parser.parse_args()
    if given.verb == "run":
        run(given.data)
    else:
        report()


if __name__ == "__main__":
    main()
