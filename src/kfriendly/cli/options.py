"""Arguments and options that several verbs share."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from kfriendly.cli.screen import How, Screen


class Missing(StrEnum):
    """What happens to missing values."""

    impute = "impute"
    drop = "drop"
    error = "error"


class TableFormat(StrEnum):
    """Formats of tables written."""

    parquet = "parquet"
    csv = "csv"


class Scale(StrEnum):
    """Scaling of the columns."""

    auto = "auto"
    standard = "standard"
    common = "common"
    nonnegative = "nonnegative"
    rows = "rows"
    none = "none"


class Network(StrEnum):
    """Kinds of network."""

    auto = "auto"
    mlp = "mlp"
    conv = "conv"


class Views(StrEnum):
    """What else should lie where a row lies."""

    auto = "auto"
    neighbors = "neighbors"
    none = "none"


class Start(StrEnum):
    """First clusters."""

    auto = "auto"
    mixture = "mixture"
    kmeans = "kmeans"


class Criterion(StrEnum):
    """Clustering criteria."""

    kmeans = "kmeans"
    soft_kmeans = "soft_kmeans"
    k_subspace = "k_subspace"


_READ, _TRAIN, _WRITE = "What to read", "How to train", "What to show and write"

# A path also where `-` and `data:NAME` may stand: shells then complete file names.
Input = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="CSV, TSV, Parquet, Feather, NPY or NPZ; a folder of images or of "
        "Parquet files; a text file with --lines; - for the standard input; or "
        "data:NAME, a data set of `kfriendly data list`.",
        show_default=False,
    ),
]
Run = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A folder made by `kfriendly fit`.", show_default=False
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Cluster the text in this column.", rich_help_panel=_READ
    ),
]
Lines = Annotated[
    bool, typer.Option("--lines", help="A document a line.", rich_help_panel=_READ)
]
Id = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Names the rows in what is written; never clustered.",
        rich_help_panel=_READ,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Known classes: for scores only, never used in training.",
        rich_help_panel=_READ,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Use only these columns, with commas between.",
        rich_help_panel=_READ,
    ),
]
Drop = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Leave these columns out, with commas between.",
        rich_help_panel=_READ,
    ),
]
MissingOption = Annotated[
    Missing,
    typer.Option("--missing", help="Missing values.", rich_help_panel=_READ),
]
ImageSize = Annotated[
    str | None,
    typer.Option(
        metavar="HxW",
        help="Size that images are brought to, as 28x28.",
        rich_help_panel=_READ,
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Use N rows, drawn at random.",
        rich_help_panel=_READ,
    ),
]
Components = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="R", help="Size of the learned space.", rich_help_panel=_TRAIN
    ),
]
Hidden = Annotated[
    str | None,
    typer.Option(
        metavar="WIDTHS",
        help="Widths of the hidden layers, as 500,500,2000.",
        rich_help_panel=_TRAIN,
    ),
]
NetworkOption = Annotated[
    Network,
    typer.Option(
        "--network",
        help="conv is for images, and slow without a GPU.",
        rich_help_panel=_TRAIN,
    ),
]
ViewsOption = Annotated[
    Views,
    typer.Option(
        "--views",
        help="Let each row's nearest neighbours take part; none is the paper's method.",
        rich_help_panel=_TRAIN,
    ),
]
InitOption = Annotated[
    Start, typer.Option("--init", help="First clusters.", rich_help_panel=_TRAIN)
]
CriterionOption = Annotated[
    Criterion,
    typer.Option("--criterion", help="What a cluster is.", rich_help_panel=_TRAIN),
]
ScaleOption = Annotated[
    Scale, typer.Option("--scale", help="Scaling of columns.", rich_help_panel=_TRAIN)
]
Lam = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="WEIGHT",
        help="Weight of the clustering term; chosen from the data if not given.",
        rich_help_panel=_TRAIN,
    ),
]
Starts = Annotated[
    int | None,
    typer.Option(
        "--starts",
        "--n-init",
        min=1,
        metavar="N",
        help="Networks trained; the best is kept, without labels.",
        rich_help_panel=_TRAIN,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="Epochs of joint training.", rich_help_panel=_TRAIN
    ),
]
PretrainEpochs = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="Epochs of pre-training.", rich_help_panel=_TRAIN
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Rows in a batch.", rich_help_panel=_TRAIN),
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.", rich_help_panel=_TRAIN)]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=2**32 - 1, help="Same seed, same clusters.", rich_help_panel=_TRAIN
    ),
]
FormatOption = Annotated[
    TableFormat,
    typer.Option("--format", help="Format of the labels.", rich_help_panel=_WRITE),
]
KeepColumns = Annotated[
    bool,
    typer.Option(
        "--keep-columns",
        help="Write the columns of a table beside its clusters.",
        rich_help_panel=_WRITE,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace what is there.", rich_help_panel=_WRITE),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show errors only.", rich_help_panel=_WRITE),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Write events as JSON, one a line.", rich_help_panel=_WRITE
    ),
]

_Read = TypeVar("_Read")


def screen_for(quiet: bool, json: bool) -> Screen:
    """Make the screen that was asked for."""
    if quiet and json:
        raise typer.BadParameter("--quiet and --json exclude each other.")
    how: How = "json" if json else "quiet" if quiet else "auto"
    return Screen(how)


def names_in(text: str | None) -> tuple[str, ...]:
    """Split names at commas; a name with a comma is put in double quotes.

    Examples
    --------
    >>> names_in('age, "income, net"')
    ('age', 'income, net')
    """
    import csv

    if text is None:
        return ()
    return tuple(next(csv.reader([text], skipinitialspace=True)))


def read(text: str | None, by: Callable[[str], _Read], option: str) -> _Read | None:
    """Read the value of an option; one that cannot be read is a usage error."""
    if text is None:
        return None
    try:
        return by(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def given(**parameters: object) -> dict[str, object]:
    """Keep the parameters that were said; the others keep their defaults."""
    return {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in parameters.items()
        if value is not None
    }


def given_views(views: Views) -> dict[str, str | None]:
    """Say which views to take; None is a choice here, which `given` would leave out."""
    return {"views": None if views is Views.none else views.value}
