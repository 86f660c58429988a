"""What views cost: a step with them over one without, and the graph over an epoch.

KFRIENDLY_DATA=../shared/data python benchmarks/views_cost.py

Ratios of one run, medians of interleaved repeats; a step is one of joint training.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from timing import interleave, quotients, seconds

from kfriendly import DCN
from kfriendly.datasets import load
from kfriendly.training.history import Recorder
from kfriendly.training.plan import Plan, build_state
from kfriendly.training.run import align, start_clusters, with_views
from kfriendly.training.sources import ArraySource
from kfriendly.training.threads import enough_threads

_REPEATS = 3


def epoch(plan: Plan, source: ArraySource) -> Callable[[], None]:
    """Prepare an epoch of joint training as `plan` has it."""
    plan = replace(plan, joint=replace(plan.joint, n_epochs=1), init="kmeans")
    seeds = list(range(plan.n_init))
    state = build_state(plan, seeds, 0)
    source.suit(state.network).keep()
    start = start_clusters(state, plan, source, seeds)

    def run() -> None:
        with enough_threads(state.network, plan.joint.batch_size):
            align(state, plan, source, start.labels, Recorder())

    return run


def measure(name: str, X: Any, K: int) -> None:  # Any: ndarray or csr_array
    """Print the two ratios of a data set."""
    model = DCN(K, random_state=0)
    plan = model._make_plan(X)
    source = ArraySource(X, model._find_scaling(X), plan.device)
    began = time.perf_counter()
    seen = with_views(plan, source)
    graph = time.perf_counter() - began
    alone, both = epoch(replace(plan, views=None), source), epoch(seen, source)
    without, with_them = interleave([seconds(alone), seconds(both)], _REPEATS)
    ratios = sorted(quotients(with_them, without))
    one = statistics.median(with_them)
    print(
        f"{name}: a step with views over one without "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); "
        f"graph {graph:.1f} s, epoch {one:.1f} s: {graph / one:.2f}",
        flush=True,
    )


def main() -> None:
    """Measure a table, a text and images."""
    pendigits, texts, images = (
        load(name) for name in ("pendigits", "20newsgroups", "mnist")
    )
    measure("Pendigits", pendigits.X, 10)
    measure("20Newsgroups", texts.X, 20)
    measure("MNIST test set", images.X[-10_000:], 10)
    measure("MNIST", images.X, 10)


if __name__ == "__main__":
    main()
