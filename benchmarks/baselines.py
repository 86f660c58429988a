"""All baselines on the paper's data: scores, time, peak memory, the paper's figures.

    KFRIENDLY_DATA=... python benchmarks/baselines.py run [--data ...] [--methods ...]
    python benchmarks/baselines.py report

`run` fits each method in a process of its own, appends to results/baselines.jsonl and
skips what is there already; `report` writes docs/baselines.md. All at their defaults;
labels are used for the scores alone.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from lines import append_line, read_lines
from provenance import ROOT, provenance

from kfriendly.experiments import TABLES
from kfriendly.report.tables import as_printed

RESULTS = ROOT / "results" / "baselines.jsonl"
PAGE = ROOT / "docs" / "baselines.md"
NOTES = ROOT / "benchmarks" / "baselines_notes.md"

# Data under the name of the table: what to load, and the paper's name for it.
DATA: dict[str, tuple[str, dict[str, Any]]] = {
    "Pendigits": ("pendigits", {}),
    "20Newsgroups": ("20newsgroups", {}),
    "20Newsgroups, D. Cai's counts": ("20newsgroups", {"source": "counts"}),
    "MNIST, 10,000": ("mnist", {"part": "test"}),
    "MNIST, 70,000": ("mnist", {}),
    "MNIST scattering, 70,000": ("mnist-scattering", {}),
    "MNIST pre-processed, 70,000": ("mnist-preprocessed", {}),
}
METHODS = [
    "KM",
    "SC",
    "SC (neighbors)",
    "SSC-OMP",
    "LCCF",
    "XRAY",
    "NMF+KM",
    "JNKM",
    "JULE",
    "DCN",  # before SAE+KM, which comes with it where there is one start
    "SAE+KM",
    "DEC",
    "DCN w/o reconstruction",
]
FEW = {
    "MNIST scattering, 70,000": ["KM", "SSC-OMP"],
    "MNIST pre-processed, 70,000": ["KM"],
}
# Whose table a data set is in, and its case there.
TABLE = {
    "Pendigits": ("supp-table1", ""),
    "20Newsgroups": ("table2", ""),
    "20Newsgroups, D. Cai's counts": ("table2", "D. Cai's counts"),
    "MNIST, 70,000": ("table3", ""),
    "MNIST pre-processed, 70,000": ("table4", ""),
}
# ChongYou/subspace-clustering's README.
OF_ITS_AUTHOR = {
    ("MNIST scattering, 70,000", "SSC-OMP"): "source .843/.849/.928",
}


def fit_one(data: str, method: str, seed: int) -> list[dict[str, Any]]:
    """Fit one method and score it; a refusal is a result too.

    DCN with a single start has SAE+KM of the same weights in it, and so two results.
    """
    from kfriendly import DCN
    from kfriendly.baselines import make_baseline
    from kfriendly.datasets import load
    from kfriendly.metrics import acc, ari, nmi

    name, options = DATA[data]
    X, y, K = load(name, **options)[1:4]
    row: dict[str, Any] = {"data": data, "method": method, "seed": seed}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = (
        DCN(K, views=None, random_state=seed)
        if method == "DCN"
        else make_baseline(method, K, random_state=seed)
    )
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = model.fit_predict(X)
    except ValueError as error:
        return [row | {"refused": str(error)}]
    row["seconds"] = round(time.perf_counter() - began, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row["megabytes"] = round((peak - before) / 1024)
    row["megabytes_before"] = round(before / 1024)
    row["scores"] = [round(score(y, labels), 4) for score in (nmi, ari, acc)]
    if method != "DCN" or len(model.start_scores_) > 1:
        return [row]
    epochs = (e.seconds for e in model.history_ if e.phase != "joint")
    labels = model.sae_km_labels_
    scores = [round(score(y, labels), 4) for score in (nmi, ari, acc)]
    first = {"method": "SAE+KM", "scores": scores, "seconds": round(sum(epochs), 1)}
    return [row | first, row]


def run(data: list[str], methods: list[str], seeds: int) -> None:
    """Fit what is not in the results yet, one process after another."""
    for name in data:
        for method in methods:
            if method not in FEW.get(name, METHODS):
                continue
            for seed in range(seeds):
                done = {
                    (r["data"], r["method"], r["seed"]) for r in read_lines(RESULTS)
                }
                if (name, method, seed) not in done:
                    _run_apart(name, method, seed)


def _run_apart(data: str, method: str, seed: int) -> None:
    command = [sys.executable, __file__, "one", data, method, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{data}, {method}: failed\n{done.stderr[-2000:]}", flush=True)
        return
    for row in json.loads(done.stdout.splitlines()[-1]):
        append_line(RESULTS, row | provenance())


def report() -> None:
    """Write the page: one table a data set, then what is below the paper and why."""
    rows = read_lines(RESULTS)
    parts = [
        "# Baselines\n",
        "Made by `make baselines` (`benchmarks/baselines.py`; results in "
        "results/baselines.jsonl). Every method at its defaults, labels used for the "
        "scores alone. NMI / ARI / ACC, mean over the seeds; seconds on two shared "
        "cores, other work at times beside them; MB is what the fit adds to the peak "
        "of the process after loading (0: loading took more). SAE+KM has the weights "
        "of DCN where there is one start, and its seconds are those of pre-training."
        "\n",
    ]
    for data in DATA:
        table = _table(data, [row for row in rows if row["data"] == data])
        if table:
            parts += [f"## {data}\n", table]
    commits = sorted({row["commit"] for row in rows})
    parts.append(f"Commits: {', '.join(commits)}.\n")
    if NOTES.exists():
        parts.append(NOTES.read_text())
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print(f"See {PAGE}")


def _table(data: str, rows: list[dict[str, Any]]) -> str:
    lines = []
    for method in METHODS:
        found = [row for row in rows if row["method"] == method]
        if found:
            lines.append(f"| {method} | {_cells(found)} | {_printed(data, method)} |")
    if not lines:
        return ""
    head = "| method | NMI | ARI | ACC | seeds | seconds | MB | printed |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *lines]) + "\n"


def _printed(data: str, method: str) -> str:
    if data not in TABLE:
        return OF_ITS_AUTHOR.get((data, method), "")
    key, case = TABLE[data]
    scores = TABLES[key].printed.get((case, method))
    return f"paper {as_printed(scores)}" if scores else ""


def _cells(rows: list[dict[str, Any]]) -> str:
    scored = [row for row in rows if "scores" in row]
    if not scored:
        return "refused | | | | | |".replace("refused", _short(rows[0]["refused"]))[:-2]
    means = np.mean([row["scores"] for row in scored], axis=0)
    seconds = np.mean([row["seconds"] for row in scored])
    memory = max(row["megabytes"] for row in scored)
    scores = " | ".join(f"{mean:.3f}" for mean in means)
    return f"{scores} | {len(scored)} | {seconds:,.0f} | {memory:,}"


def _short(message: str) -> str:
    return "refused: " + message.split(". ")[0].replace("|", "/")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    runner.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    runner.add_argument("--seeds", type=int, default=1)
    one = commands.add_parser("one")
    one.add_argument("data")
    one.add_argument("method")
    one.add_argument("seed", type=int)
    commands.add_parser("report")
    given = parser.parse_args()
    if given.command == "run":
        run(given.data, given.methods, given.seeds)
    elif given.command == "one":
        print(json.dumps(fit_one(given.data, given.method, given.seed)))
    else:
        report()
