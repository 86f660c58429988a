"""From an input to numbers: the first phase of every command that trains."""

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from kfriendly.cli.memory import refuse_large_file, refuse_too_large
from kfriendly.cli.screen import Screen
from kfriendly.cli.wishes import InputWish
from kfriendly.inputs import (
    Batch,
    Features,
    Input,
    InputOptions,
    open_input,
    plan_features,
)
from kfriendly.inputs.table_features import TableFeatures


class Loaded(NamedTuple):
    """Rows as they came and as numbers."""

    source: Input
    options: InputOptions
    batch: Batch
    features: Features
    X: Any  # ndarray or csr_array; scipy has no types
    notes: list[str]


def load(wish: InputWish, screen: Screen, seed: int) -> Loaded:
    """Read an input, draw rows if asked, and learn how to turn them into numbers."""
    screen.begin("load")
    options = options_of(wish)
    refuse_large_file(wish.spec)
    source = open_input(wish.spec, options)
    batch = source.read()
    notes = list(source.notes)
    n_rows = len(batch.ids)
    if wish.rows is not None and wish.rows < n_rows:
        rng = np.random.RandomState(seed)
        batch = batch.take(np.sort(rng.choice(n_rows, wish.rows, replace=False)))
        notes.append(f"{wish.rows:,} of {n_rows:,} rows were drawn at random.")
    features = plan_features(source, batch, options)
    batch = features.drop_incomplete(batch)
    if source.kind != "text":  # stays sparse
        refuse_too_large(8 * len(batch.ids) * len(features.names), "This table")
    X = features.transform(batch)
    notes += features.notes
    if batch.labels is not None and wish.label is None:
        notes.append("The known classes of this data are never used in training.")
    screen.end("load", f"{X.shape[0]:,} rows, {X.shape[1]:,} columns")
    for note in notes:
        screen.note(note)
    return Loaded(source, options, batch, features, X, notes)


def options_of(wish: InputWish) -> InputOptions:
    """Keep what the readers of inputs want to know."""
    names = [field.name for field in fields(InputOptions)]
    return InputOptions(**{name: getattr(wish, name) for name in names})


def parameters_for(features: Features, given: dict[str, Any]) -> dict[str, Any]:
    """Add to the estimator's what follows from the kind of input.

    Images have a shape. Numbers and categories have been made to weigh alike, and stay
    so.
    """
    added: dict[str, Any] = {}
    if features.input_shape is not None:
        added["input_shape"] = features.input_shape
    mixed = isinstance(features, TableFeatures) and features.sizes
    if mixed and given.get("scale", "auto") == "auto":
        added["scale"] = "common"
    return {**given, **added}
