"""How long walks are, and how many end in their own class: a table of docs/views.md.

KFRIENDLY_DATA=../shared/data python benchmarks/walks.py
"""

import warnings
from collections.abc import Callable

import numpy as np
import torch
from ablation import load_rows
from sklearn.datasets import make_circles, make_moons

from kfriendly import DCN
from kfriendly.datasets import Dataset, load
from kfriendly.training.run import with_views
from kfriendly.training.sources import ArraySource
from kfriendly.training.views import Walks, walk

LENGTHS = (1, 16, 128, 1_024)


def toy(name: str) -> Dataset:
    """Draw two moons or two circles."""
    if name == "two moons":
        X, y = make_moons(1_500, noise=0.06, random_state=0)
    else:
        X, y = make_circles(1_500, noise=0.06, factor=0.5, random_state=0)
    return Dataset(name, X, y, n_clusters=2)


def fashion() -> Dataset:
    """Load the test images of Fashion-MNIST."""
    data = load("fashion-mnist")
    return data._replace(X=data.X[-10_000:], y=data.y[-10_000:])


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
    cases: dict[str, Callable[[], Dataset]] = {
        "MNIST test set": lambda: load_rows("mnist-test"),
        "digits": lambda: load_rows("digits"),
        "Fashion-MNIST test set": fashion,
        "MNIST, 70,000 images": lambda: load("mnist"),
        "Pendigits": lambda: load_rows("pendigits"),
        "synthetic (9)": lambda: load_rows("synthetic-9"),
        "RCV1 subset 1": lambda: load("rcv1-subset1", n_clusters=20),
        "RCV1 subset 3": lambda: load("rcv1-subset3", n_clusters=20),
        "two circles, 1,500 rows": lambda: toy("two circles"),
        "two moons, 1,500 rows": lambda: toy("two moons"),
    }
    for name, make in cases.items():
        n_steps, found = shares(make())
        cells = " | ".join(f"{share:.3f}" for share in found)
        print(f"| {name} | {n_steps:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
