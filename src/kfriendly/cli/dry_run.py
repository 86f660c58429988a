"""`kfriendly fit --dry-run`: what would be done, why, and how long it would take."""

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from kfriendly.cli.choices import Choice, explain
from kfriendly.cli.fit import make_checked_plan
from kfriendly.cli.loading import Loaded, load, parameters_for
from kfriendly.cli.memory import free_bytes, in_bytes
from kfriendly.cli.progress import noted_warnings
from kfriendly.cli.screen import Screen, in_words
from kfriendly.cli.wishes import FitWish
from kfriendly.estimator import DCN
from kfriendly.training.history import Recorder
from kfriendly.training.plan import Plan, build_state
from kfriendly.training.run import pretrain, with_views
from kfriendly.training.scaling import Scaling
from kfriendly.training.sources import ArraySource
from kfriendly.training.threads import enough_threads

# Python, torch and what else is loaded before the first row.
_BASE_BYTES = 4e8
# A step of joint training takes about so many steps of pre-training.
_JOINT = 1.4
# Seconds of the report a point, at most 20,000 of them.
_REPORT = 0.006
_MOST_POINTS = 20_000
_STEPS = 6
_MOST_NAMES = 12


class Estimate(NamedTuple):
    """What a fit will take."""

    training: float  # seconds
    report: float  # seconds
    n_bytes: float


def tell_plan(wish: FitWish, screen: Screen) -> None:
    """Read the input, resolve every choice, try a few steps; write nothing."""
    loaded = load(wish.input, screen, wish.parameters["random_state"])
    model = DCN(**parameters_for(loaded.features, wish.parameters))
    plan = make_checked_plan(model, loaded.X)
    screen.begin("try")
    with noted_warnings(screen):
        scaling = model._find_scaling(loaded.X)
        found = estimate(plan, scaling, loaded.X)
    screen.end("try", "a few steps")
    screen.close()
    choices = explain(model, plan, scaling, loaded.X.shape[0])
    screen.result(
        Group(_input(loaded), "", _table(choices), "", _words(found, wish)),
        data={"name": loaded.source.name, "rows": loaded.X.shape[0]},
        columns=loaded.features.names,
        notes=loaded.notes,
        choices=[choice._asdict() for choice in choices],
        estimate=found._asdict(),
    )


def estimate(plan: Plan, scaling: Scaling, X: Any) -> Estimate:  # Any: array or CSR
    """Take a few steps of pre-training and reckon what all of them will take."""
    n_rows = X.shape[0]
    some = X[: _STEPS * plan.pretrain.batch_size]
    source = ArraySource(some, scaling, plan.device)
    together = build_state(plan, [0], 0).network.stackable
    state = build_state(plan, list(range(plan.n_init if together else 1)), 0)
    source.suit(state.network)
    once = with_views(plan, source)
    once = replace(once, pretrain=replace(once.pretrain, n_epochs=1))
    once = replace(once, layers=replace(once.layers, n_epochs=0))
    with enough_threads(state.network, plan.pretrain.batch_size):
        pretrain(state, once, source, Recorder())  # the first steps are slow
        began = time.perf_counter()
        pretrain(state, once, source, Recorder())
        a_row = (time.perf_counter() - began) / some.shape[0]
    epochs = plan.pretrain.n_epochs + _JOINT * plan.joint.n_epochs + 1
    one_by_one = 1 if together else plan.n_init
    n_weights = sum(p.numel() for p in state.network.parameters()) * one_by_one
    # Weights, gradients, two moments, and a copy of all to go back to.
    network = 4 * 8 * n_weights
    rows = X.data.nbytes if hasattr(X, "indptr") else 2 * X.nbytes
    return Estimate(
        training=a_row * n_rows * epochs * one_by_one,
        report=_REPORT * min(n_rows, _MOST_POINTS),
        n_bytes=_BASE_BYTES + rows + network,
    )


def _input(loaded: Loaded) -> Text:
    """Say what was read and which columns are used."""
    names = loaded.features.names
    more = f", ... ({len(names):,} in all)" if len(names) > _MOST_NAMES else ""
    return Text(
        f"{loaded.source.name}: {loaded.X.shape[0]:,} rows\n"
        f"Columns used: {', '.join(names[:_MOST_NAMES])}{more}"
    )


def _table(choices: list[Choice]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "value", "why"):
        table.add_column(heading, overflow="fold")
    for choice in choices:
        table.add_row(choice.name, Text(str(choice.value)), choice.why)
    return table


def _words(found: Estimate, wish: FitWish) -> Text:
    free = free_bytes()
    of = f" of {in_bytes(free)} free" if free is not None else ""
    seconds = float(np.ceil(found.training))
    return Text(
        f"Training would take about {in_words(seconds)}, the report about "
        f"{in_words(found.report)}, and both about {in_bytes(found.n_bytes)} of "
        f"memory{of}.\nNothing was written; without --dry-run all goes to {wish.out}."
    )
