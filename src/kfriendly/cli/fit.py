"""`kfriendly fit`: from an input to a RUN folder."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from kfriendly.cli import runs
from kfriendly.cli.choices import explain
from kfriendly.cli.exits import Code, Refused
from kfriendly.cli.loading import Loaded, load, parameters_for
from kfriendly.cli.progress import (
    ShowProgress,
    as_json,
    in_text,
    noted_warnings,
)
from kfriendly.cli.screen import Screen
from kfriendly.cli.summary import show_summary
from kfriendly.cli.tables import name_of_ids, new_table, table_of
from kfriendly.cli.unfinished import forget_unless_resumed, resumable
from kfriendly.cli.wishes import FitWish
from kfriendly.defaults import make_plan
from kfriendly.errors import BadInput, CollapseWarning
from kfriendly.estimator import DCN
from kfriendly.metrics import margin_confidence
from kfriendly.report.page import render_page
from kfriendly.report.story import tell_story
from kfriendly.storage import write_file
from kfriendly.training.plan import Plan
from kfriendly.validation import check_enough_rows, checked_rows

# Distances of a run's own rows are kept at this quantile: new rows beyond it are far.
_FAR = 0.95


class Fitted(NamedTuple):
    """A model, and how its training went."""

    model: DCN
    seconds: float
    warnings: list[str]


def run_fit(wish: FitWish, screen: Screen) -> None:
    """Load, train, and write everything, or nothing."""
    began = datetime.now(UTC)
    with (
        resumable(wish, screen) as checkpoints,
        runs.new_place(wish.out, overwrite=wish.overwrite, marker=runs.RUN) as folder,
    ):
        loaded = load(wish.input, screen, wish.parameters["random_state"])
        model = DCN(**parameters_for(loaded.features, wish.parameters))
        make_checked_plan(model, loaded.X)
        forget_unless_resumed(wish, checkpoints)
        model.set_params(checkpoints=checkpoints)
        fitted = train(model, loaded.X, screen, strict=wish.strict)
        screen.begin("report")
        fingerprint = loaded.source.fingerprint()
        story = tell_story(
            model,
            loaded.X,
            loaded.batch,
            loaded.features,
            command=wish.command,
            fingerprint=fingerprint,
            seconds=fitted.seconds,
            seed=wish.parameters["random_state"],
            name=loaded.source.name,
        )
        far = _write_labels(folder, wish, loaded, model)
        model.save(folder / runs.MODEL)
        runs.write_lines(folder / runs.METRICS, map(as_json, model.history_))
        runs.write_json(folder / runs.STORY, story)
        write_file(folder / runs.PAGE, render_page(story).encode())
        about = _about(wish, loaded, fitted, story, fingerprint)
        about["began"] = began.isoformat(timespec="seconds")
        about["outcome"]["far"] = far
        about["files"] = runs.seal(folder)
        runs.write_json(folder / runs.RUN, about)
        screen.end("report", "written")
    screen.close()
    show_summary(wish.out, story, about, screen)


def make_checked_plan(model: DCN, X: Any) -> Plan:  # Any: ndarray or csr_array
    """Refuse bad rows and bad parameters before training, each with its exit code."""
    try:
        model._validate_params()
    except InvalidParameterError as error:
        raise Refused(Code.USAGE, str(error)) from error
    try:
        checked_rows(model, X, reset=True)
        check_enough_rows(X.shape[0], model.n_clusters)
    except ValueError as error:
        raise BadInput(str(error)) from error
    try:
        return make_plan(model.get_params(deep=False), X)
    except ValueError as error:
        raise Refused(Code.USAGE, str(error)) from error


def train(model: DCN, X: Any, screen: Screen, *, strict: bool) -> Fitted:
    """Fit with progress."""
    progress = ShowProgress(screen)
    began = time.perf_counter()
    with noted_warnings(screen) as caught:
        model.set_callbacks(progress).fit(X)
    # A run that was stopped has epochs of an earlier process.
    epochs = sum(record.seconds for record in model.history_)
    seconds = max(epochs, time.perf_counter() - began)
    collapsed = [w for w in caught if issubclass(w.category, CollapseWarning)]
    if strict and collapsed:
        raise Refused(
            Code.TRAINING,
            str(collapsed[0].message),
            "--strict was given, so nothing is written.",
        )
    return Fitted(model, seconds, in_text(caught))


def describe_rows(model: DCN, X: Any) -> dict[str, np.ndarray]:
    """Say of each row its cluster, how surely, and how far from the centre."""
    labels = model.predict(X)
    distances = model.distances(X)
    return {
        "cluster": labels.astype(np.int32),
        "confidence": margin_confidence(distances).astype(np.float32),
        "distance": distances[np.arange(len(labels)), labels].astype(np.float32),
    }


def _write_labels(folder: Path, wish: FitWish, loaded: Loaded, model: DCN) -> float:
    """Write the labels; return the distance beyond which a row is far."""
    found = describe_rows(model, loaded.X)
    name = name_of_ids(wish.input.id, loaded.source.kind)
    table = table_of(loaded.batch, name, found, keep=wish.keep_columns)
    with new_table(folder / f"labels.{wish.format}") as writer:
        writer.write_table(table)
    return float(np.quantile(found["distance"], _FAR))


def _about(
    wish: FitWish,
    loaded: Loaded,
    fitted: Fitted,
    story: dict[str, Any],
    fingerprint: str,
) -> dict[str, Any]:
    """Collect everything needed to repeat the run, and what came of it."""
    model = fitted.model
    choices = explain(model, model._plan, model.scaling_, loaded.X.shape[0])
    return {
        "format": runs.FORMAT,
        "command": wish.command,
        "folder": os.getcwd(),
        "versions": runs.versions(),
        "seed": wish.parameters["random_state"],
        "data": {
            "name": loaded.source.name,
            "kind": loaded.source.kind,
            "rows": int(loaded.X.shape[0]),
            "columns": int(loaded.X.shape[1]),
            "fingerprint": fingerprint,
        },
        "input": {
            **vars(loaded.options),
            "spec": wish.input.spec,
            "rows": wish.input.rows,
        },
        "parameters": model.get_params(deep=False) | {"checkpoints": None},
        "resolved": {choice.name: choice.value for choice in choices},
        "outcome": {
            "seconds": round(fitted.seconds, 3),
            "epochs": model.n_iter_,
            "lam": model.lam_,
            "inertia": model.inertia_,
            "reconstruction_error": model.reconstruction_error_,
            "sizes": model.cluster_sizes_.tolist(),
            "start_scores": model.start_scores_.tolist(),
        },
        "verdict": story["verdict"],
        "notes": loaded.notes,
        "warnings": fitted.warnings,
        "features": loaded.features.to_json(),
    }
