"""How often the start that is kept is the best one: a table of docs/views.md.

KFRIENDLY_DATA=../shared/data python benchmarks/starts.py run [--data iris wine ...]
python benchmarks/starts.py report

Fits six starts of each data set, three times, and appends to results/starts.jsonl; goes
on where it stopped.
"""

import argparse
import warnings

import numpy as np
from lines import append_line, read_lines
from provenance import ROOT, provenance

from kfriendly import DCN
from kfriendly.experiments import TABLES
from kfriendly.metrics import nmi

RESULTS = ROOT / "results" / "starts.jsonl"
CASES = {
    case.name: case for key in ("beyond-small", "beyond") for case in TABLES[key].cases
}
N_STARTS = 6
SEEDS = (100, 101, 102)  # of no other table


def run(names: list[str]) -> None:
    """Fit what is missing."""
    done = {(row["data"], row["seed"]) for row in read_lines(RESULTS)}
    for name in names:
        for seed in SEEDS:
            if (name, seed) in done:
                continue
            data = CASES[name].load_for(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = DCN(data.n_clusters, n_init=N_STARTS, random_state=seed)
                model.fit(data.X)
            row = {
                "data": name,
                "seed": seed,
                "scores": [round(float(score), 5) for score in model.start_scores_],
                "nmi": [
                    round(nmi(data.y, labels), 4) for labels in model.start_labels_
                ],
                **provenance(),
            }
            append_line(RESULTS, row)


def report() -> None:
    """Print the table."""
    rows = read_lines(RESULTS)
    print(
        "| data | NMI of the start kept | of one at random | of the best "
        "| of the worst | best kept |\n|---|---|---|---|---|---|"
    )
    for name in dict.fromkeys(row["data"] for row in rows):
        found = [row for row in rows if row["data"] == name]
        kept = [row["nmi"][int(np.argmin(row["scores"]))] for row in found]
        best = [max(row["nmi"]) for row in found]
        n_best = sum(a == b for a, b in zip(kept, best, strict=True))
        columns = (kept, [row["nmi"] for row in found], best)
        worst = np.mean([min(row["nmi"]) for row in found])
        cells = [f"{value:.3f}" for value in (*map(np.mean, columns), worst)]
        print(f"| {name} | {' | '.join(cells)} | {n_best} of {len(found)} |")


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=["run", "report"])
    parser.add_argument("--data", nargs="+", choices=CASES, default=list(CASES))
    given = parser.parse_args()
    if given.verb == "run":
        run(given.data)
    else:
        report()


if __name__ == "__main__":
    main()
