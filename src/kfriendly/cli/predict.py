"""`kfriendly predict` and `transform`: new rows, read and written in parts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kfriendly.cli import runs
from kfriendly.cli.fit import describe_rows
from kfriendly.cli.screen import Screen
from kfriendly.cli.tables import STDOUT, name_of_ids, new_table, table_of
from kfriendly.errors import BadInput, ModelFileError
from kfriendly.estimator import DCN
from kfriendly.inputs import (
    Features,
    Input,
    InputOptions,
    features_from_json,
    open_input,
    options_for,
)

# Values of a part; rows follow from the columns.
_PART = 2**24
# New rows beyond the distance of all but this share of a run's own are far; twice the
# share of them is worth a note.
_FAR_SHARE = 0.05


class Job(NamedTuple):
    """What to read, by which run, and where to write it."""

    run: Path
    spec: str
    out: Path
    id: str | None = None
    overwrite: bool = False
    keep_columns: bool = False


class _Opened(NamedTuple):
    """A run that is ready to be used."""

    model: DCN
    features: Features
    source: Input
    name: str  # of the column of ids
    far: float | None
    part: int  # rows at a time


def predict_rows(job: Job, screen: Screen) -> None:
    """Write cluster, confidence and distance of every row."""
    opened = _open(job)
    n_far = 0

    def describe(X: Any) -> dict[str, np.ndarray]:  # Any: ndarray or csr_array
        nonlocal n_far
        found = describe_rows(opened.model, X)
        if opened.far is not None:
            n_far += int((found["distance"] > opened.far).sum())
        return found

    n_rows = _stream(opened, job, describe, screen)
    share = n_far / n_rows
    if opened.far is not None and share > 2 * _FAR_SHARE:
        screen.note(
            f"{share:.0%} of these rows lie farther from their centre than "
            f"{1 - _FAR_SHARE:.0%} of those the run was fitted to: "
            "the data may have changed."
        )
    _done(job, n_rows, screen, far_share=share)


def transform_rows(job: Job, screen: Screen) -> None:
    """Write the place of every row in the learned space."""
    opened = _open(job)

    def describe(X: Any) -> dict[str, np.ndarray]:  # Any: ndarray or csr_array
        H = opened.model.transform(X)
        return {f"z{i}": np.ascontiguousarray(h) for i, h in enumerate(H.T)}

    _done(job, _stream(opened, job, describe, screen), screen)


def _open(job: Job) -> _Opened:
    """Load the model and open the input as the run's own was opened."""
    run = runs.read_run(job.run)
    model = DCN.load(job.run / runs.MODEL)
    try:
        options = _options(run["input"])
        features = features_from_json(run["features"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{job.run / runs.RUN} cannot be used: {error}.\nIts columns or options "
            "are not as they were written.\nTake it from a copy, or fit again."
        ) from error
    # Known classes are not needed here, and may not be there.
    options = replace(options, label=None, id=job.id or options.id)
    options = options_for(features, options)
    try:
        source = open_input(job.spec, options)
    except BadInput:
        if job.id is not None or options.id is None:
            raise
        options = replace(options, id=None)  # new rows may have no names
        source = open_input(job.spec, options)
    far = run["outcome"].get("far")
    return _Opened(
        model,
        features,
        source,
        name_of_ids(options.id, source.kind),
        far if isinstance(far, float) else None,
        max(1, min(65_536, _PART // max(1, len(features.names)))),
    )


def _options(saved: dict[str, Any]) -> InputOptions:
    """Take back the options that were written as JSON, where tuples are lists."""
    values = {key: saved[key] for key in vars(InputOptions())}
    size = values["image_size"]
    return InputOptions(
        **{
            **values,
            "columns": tuple(values["columns"]),
            "drop": tuple(values["drop"]),
            "image_size": None if size is None else (int(size[0]), int(size[1])),
        }
    )


def _stream(
    opened: _Opened,
    job: Job,
    describe: Callable[[Any], dict[str, np.ndarray]],
    screen: Screen,
) -> int:
    """Read, describe and write part after part; return how many rows there were."""
    n_rows = n_read = 0
    screen.begin("rows")
    with new_table(job.out, overwrite=job.overwrite) as writer:
        for batch in opened.source.batches(opened.part):
            n_read += len(batch.ids)
            batch = opened.features.drop_incomplete(batch)
            if not batch.ids:
                continue
            found = describe(opened.features.transform(batch))
            n_rows += len(batch.ids)
            table = table_of(batch, opened.name, found, keep=job.keep_columns)
            writer.write_table(table)
            screen.count("rows", n_rows)
    screen.end("rows", f"{n_rows:,} rows")
    screen.close()
    if n_rows < n_read:
        screen.note(f"{n_read - n_rows:,} rows with missing values were left out.")
    if not n_rows:
        screen.note("No row is complete: nothing was written.")
    return max(1, n_rows)


def _done(job: Job, n_rows: int, screen: Screen, **more: float) -> None:
    if job.out == STDOUT:  # the output is the table itself
        return
    screen.result(
        f"{n_rows:,} rows are in {job.out}", out=str(job.out), rows=n_rows, **more
    )
