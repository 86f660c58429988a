"""The verbs that work on data: their options, and nothing heavy."""

from pathlib import Path
from typing import Annotated

import typer

from kfriendly.cli import options as o
from kfriendly.cli.command_line import command_of, fit_after_sweep
from kfriendly.cli.exits import exit_codes
from kfriendly.cli.wishes import (
    FitWish,
    InputWish,
    SweepWish,
    read_numbers,
    read_size,
    read_widths,
)


def fit(
    context: typer.Context,
    input: o.Input,
    clusters: Annotated[
        int,
        typer.Option(
            "--clusters",
            "-k",
            min=1,
            metavar="K",
            show_default=False,
            help="Number of clusters; `kfriendly sweep` helps to choose it.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="RUN", help="Folder to write.")
    ] = Path("run"),
    text: o.Text = None,
    lines: o.Lines = False,
    id: o.Id = None,
    label: o.Label = None,
    columns: o.Columns = None,
    drop: o.Drop = None,
    missing: o.MissingOption = o.Missing.impute,
    image_size: o.ImageSize = None,
    rows: o.Rows = None,
    scale: o.ScaleOption = o.Scale.auto,
    components: o.Components = None,
    network: o.NetworkOption = o.Network.auto,
    hidden: o.Hidden = None,
    init: o.InitOption = o.Start.auto,
    views: o.ViewsOption = o.Views.auto,
    criterion: o.CriterionOption = o.Criterion.kmeans,
    lam: o.Lam = None,
    starts: o.Starts = None,
    pretrain_epochs: o.PretrainEpochs = None,
    epochs: o.Epochs = None,
    batch_size: o.BatchSize = None,
    device: o.Device = "auto",
    seed: o.Seed = 0,
    format: o.FormatOption = o.TableFormat.parquet,
    keep_columns: o.KeepColumns = False,
    overwrite: o.Overwrite = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Leave with code 6 if the clusters collapse."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with a run that was stopped."),
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Go on even if the data have changed since."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Tell what would be done, and how long it takes."
        ),
    ] = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Find clusters in a file, a folder of images or text; write them, and a report.

    RUN gets the model, labels.parquet, metrics.jsonl, run.json and report.html.
    """
    screen = o.screen_for(quiet, json)
    wish = FitWish(
        _input_wish(
            input, text, lines, id, columns, drop, missing, image_size, rows, label
        ),
        out,
        o.given(
            n_clusters=clusters,
            n_components=components,
            hidden=o.read(hidden, read_widths, "--hidden"),
            network=network,
            criterion=criterion,
            init=init,
            lam=lam,
            scale=scale,
            n_init=starts,
            pretrain_epochs=pretrain_epochs,
            max_epochs=epochs,
            batch_size=batch_size,
            device=device,
            random_state=seed,
        )
        | o.given_views(views),
        format.value,
        keep_columns,
        overwrite,
        strict,
        resume,
        force,
        command_of(context),
    )
    with exit_codes(screen):
        if dry_run:
            from kfriendly.cli.dry_run import tell_plan

            tell_plan(wish, screen)
        else:
            from kfriendly.cli.fit import run_fit

            run_fit(wish, screen)


Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        show_default=False,
        help="A .parquet or .csv file, or - for CSV on the output.",
    ),
]


def predict(
    run: o.Run,
    input: o.Input,
    out: Out,
    id: o.Id = None,
    keep_columns: o.KeepColumns = False,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Give new rows to the clusters of a run: cluster, confidence and distance.

    Columns are found by name. Rows are read in parts: memory does not grow with them.
    """
    screen = o.screen_for(quiet, json)
    with exit_codes(screen):
        from kfriendly.cli.predict import Job, predict_rows

        predict_rows(Job(run, str(input), out, id, overwrite, keep_columns), screen)


def transform(
    run: o.Run,
    input: o.Input,
    out: Out,
    id: o.Id = None,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Map rows to the learned space: z0, z1, ... of each."""
    screen = o.screen_for(quiet, json)
    with exit_codes(screen):
        from kfriendly.cli.predict import Job, transform_rows

        transform_rows(Job(run, str(input), out, id, overwrite), screen)


def report(
    run: o.Run,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Another place for the page."),
    ] = None,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the page of a run anew: report.html; the data is not needed."""
    screen = o.screen_for(quiet, json)
    with exit_codes(screen):
        from kfriendly.cli.report import write_page

        write_page(run, out, screen, overwrite=overwrite)


def compare(
    first: o.Run, second: o.Run, quiet: o.Quiet = False, json: o.Json = False
) -> None:
    """Show where two runs differ, their scores, and how far their clusters agree."""
    screen = o.screen_for(quiet, json)
    with exit_codes(screen):
        from kfriendly.cli.compare import compare_runs

        compare_runs(first, second, screen)


def inspect(run: o.Run, quiet: o.Quiet = False, json: o.Json = False) -> None:
    """Show what is in a run, and verify every file against its checksum."""
    screen = o.screen_for(quiet, json)
    with exit_codes(screen):
        from kfriendly.cli.inspect import inspect_run

        inspect_run(run, screen)


def sweep(
    context: typer.Context,
    input: o.Input,
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            "-k",
            metavar="RANGE",
            help="Numbers of clusters to try: 2:20, 2:20:2 or 4,8,16.",
        ),
    ] = "2:12",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for the curves and figures."
        ),
    ] = None,
    text: o.Text = None,
    lines: o.Lines = False,
    id: o.Id = None,
    columns: o.Columns = None,
    drop: o.Drop = None,
    missing: o.MissingOption = o.Missing.impute,
    image_size: o.ImageSize = None,
    rows: o.Rows = None,
    scale: o.ScaleOption = o.Scale.auto,
    components: o.Components = None,
    network: o.NetworkOption = o.Network.auto,
    hidden: o.Hidden = None,
    views: o.ViewsOption = o.Views.auto,
    starts: Annotated[int, typer.Option(min=2, help="Starts for each K.")] = 4,
    pretrain_epochs: o.PretrainEpochs = None,
    epochs: o.Epochs = None,
    batch_size: o.BatchSize = None,
    device: o.Device = "auto",
    seed: o.Seed = 0,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Choose the number of clusters without labels: cost, silhouette and stability.

    Pre-trains once; each K then starts from the same networks.
    """
    screen = o.screen_for(quiet, json)
    numbers = o.read(clusters, read_numbers, "--clusters")
    wish = SweepWish(
        _input_wish(input, text, lines, id, columns, drop, missing, image_size, rows),
        numbers or (),
        out,
        o.given(
            n_components=components,
            hidden=o.read(hidden, read_widths, "--hidden"),
            network=network,
            scale=scale,
            pretrain_epochs=pretrain_epochs,
            max_epochs=epochs,
            batch_size=batch_size,
            device=device,
            random_state=seed,
        )
        | o.given_views(views),
        starts,
        overwrite,
        command_of(context),
        fit_after_sweep(context),
    )
    with exit_codes(screen):
        from kfriendly.cli.sweep import run_sweep

        run_sweep(wish, screen)


def _input_wish(
    input: Path,
    text: str | None,
    lines: bool,
    id: str | None,
    columns: str | None,
    drop: str | None,
    missing: o.Missing,
    image_size: str | None,
    rows: int | None,
    label: str | None = None,
) -> InputWish:
    """Read what the options under "What to read" say."""
    return InputWish(
        str(input),
        text,
        lines,
        id,
        label,
        o.names_in(columns),
        o.names_in(drop),
        missing.value,
        o.read(image_size, read_size, "--image-size"),
        rows,
    )
