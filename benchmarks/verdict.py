"""What the report's verdict says of data whose answer is known; see docs/verdict.md.

python benchmarks/verdict.py
"""

import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
)

from kfriendly import DCN
from kfriendly.datasets import make_sigmoid_sigmoid
from kfriendly.experiments import TABLES
from kfriendly.inputs import Batch, Features
from kfriendly.report.story import tell_story


class Case(NamedTuple):
    """Rows, the number of clusters asked for, and classes if there are any."""

    name: str
    X: np.ndarray
    K: int
    y: np.ndarray | None = None


def cases() -> Iterator[Case]:
    """Yield data without clusters, with clear ones, and with known classes."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(800, 6))
    yield Case("normal noise, 6 columns", noise, 5)
    yield Case("the same, two clusters", noise, 2)
    yield Case("uniform noise, 2 columns", rng.uniform(size=(800, 2)), 4)
    yield Case("one long cloud", noise * [8, 1, 1, 1, 1, 1], 2)
    yield Case("normal noise, 50 columns", rng.normal(size=(800, 50)), 5)
    for name, n_blobs, spread, K in (
        ("six blobs", 6, 1.0, 6),
        ("six wide blobs", 6, 4.0, 6),
        ("three blobs, eight clusters", 3, 1.0, 8),
    ):
        X, y = make_blobs(
            800, centers=n_blobs, n_features=8, cluster_std=spread, random_state=0
        )
        yield Case(name, X, K, y)
    for shape in TABLES["beyond-small"].cases:
        if shape.name in ("two moons", "two circles"):
            drawn = shape.load_for(0)
            yield Case(shape.name, drawn.X, 2, drawn.y)
    X, y = make_sigmoid_sigmoid(1_200, random_state=0)
    yield Case("synthetic, Eq. (9)", X, 4, y)
    for name, load, K in (
        ("digits", load_digits, 10),
        ("wine", load_wine, 3),
        ("iris", load_iris, 3),
        ("breast cancer", load_breast_cancer, 2),
    ):
        found = load()
        yield Case(name, found.data, K, found.target)


def verdict_of(case: Case) -> dict[str, Any]:
    """Fit with defaults and return the verdict."""
    X = np.asarray(case.X, dtype=np.float32)
    batch = Batch(X, [str(i) for i in range(len(X))], case.y)
    names = [f"x{j}" for j in range(X.shape[1])]
    # The story reads no more than this of features.
    features = cast(Features, SimpleNamespace(names=names, notes=[], input_shape=None))
    model = DCN(case.K, random_state=0).fit(X)
    story = tell_story(
        model,
        X,
        batch,
        features,
        command="",
        fingerprint="",
        seconds=0.0,
        seed=0,
        map_seconds=0.0,
    )
    return cast(dict[str, Any], story["verdict"])  # a story is JSON


def main() -> None:
    """Print the table of the page."""
    warnings.simplefilter("ignore")
    print(
        "| data | K | verdict | stability | silhouette | parted, of shuffled ", end=""
    )
    print("| DCN against K-means | ARI of DCN, K-means |")
    print(f"|{'---|' * 8}")
    for case in cases():
        verdict = verdict_of(case)
        rules = [f"{rule['value']:.2f}" for rule in verdict["rules"][:3]]
        found = [s["ari"] for s in verdict["scores"][:2]]
        known = "" if case.y is None else f"{found[0]:.2f}, {found[1]:.2f}"
        outcome = verdict["comparisons"][0]["outcome"]
        cells = [case.name, str(case.K), verdict["level"], *rules, outcome, known]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
