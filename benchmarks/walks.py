"""How long walks are, and how many end in their own class: a table of docs/views.md.

KFRIENDLY_DATA=../shared/data python benchmarks/walks.py
"""

import warnings

import numpy as np
import torch

from kfriendly import DCN
from kfriendly.datasets import Dataset
from kfriendly.experiments import TABLES
from kfriendly.training.run import with_views
from kfriendly.training.sources import ArraySource
from kfriendly.training.views import Walks, walk

CASES = {
    case.name or "MNIST, 70,000 images": case
    for key in ("beyond", "beyond-mnist", "beyond-small")
    for case in TABLES[key].cases
}
LENGTHS = (1, 16, 128, 1_024)


def shares(data: Dataset) -> tuple[int, list[float]]:
    """Return the steps of a walk by default, and the shares for some lengths."""
    dcn = DCN(data.n_clusters)
    plan, scaling = dcn._make_plan(data.X), dcn._find_scaling(data.X)
    source = ArraySource(data.X, scaling, plan.device)
    walks = with_views(plan, source).joint.views
    assert isinstance(walks, Walks)
    rng = torch.Generator().manual_seed(0)
    found = []
    for n_steps in LENGTHS:
        ends = walk(walks.mutual, n_steps, rng).numpy()
        found.append(float(np.mean(data.y[ends] == data.y)))
    return walks.n_steps, found


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    heads = " | ".join(f"after {n:,}" for n in LENGTHS)
    print(f"| data | steps | {heads} |\n|---|---|{'---|' * len(LENGTHS)}")
    for name, case in CASES.items():
        n_steps, found = shares(case.load_for(0))
        cells = " | ".join(f"{share:.3f}" for share in found)
        print(f"| {name} | {n_steps:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
