"""The `kfriendly` command and its verbs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover - needs an environment without the extra
    sys.exit("The command line needs more packages: pip install 'kfriendly[app]'")

from kfriendly import __version__
from kfriendly.cli import verbs
from kfriendly.cli.exits import Code

# typer hands a flag that was not given to pydantic unless its default is False: help
# and unknown names would wait for the import.
_FLAGS = ("help", "install_completion", "show_completion")
_CONTEXT = {"default_map": dict.fromkeys(_FLAGS, False)}

app = typer.Typer(
    help="Find clusters in data on which K-means fails.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=_CONTEXT,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"kfriendly {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    pass


for verb in (
    verbs.fit,
    verbs.sweep,
    verbs.predict,
    verbs.transform,
    verbs.report,
    verbs.compare,
    verbs.inspect,
):
    app.command()(verb)


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the picture and the table.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of data and training.")] = 0,
) -> None:
    """Cluster the paper's synthetic data and handwritten digits, and draw the spaces.

    Compares K-means, an autoencoder followed by K-means (SAE+KM) and DCN.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"Cannot write to {out}: {error.strerror}. Choose another --out.")
        raise typer.Exit(int(Code.USAGE)) from error
    from kfriendly.cli.demo import run_demo

    run_demo(out, seed)


data = typer.Typer(
    help="List, fetch and check data sets.",
    no_args_is_help=True,
    context_settings=_CONTEXT,
)
app.add_typer(data, name="data")

Names = Annotated[
    list[str] | None, typer.Argument(help="Data sets; all of them if none is named.")
]


@data.command("list")
def list_data() -> None:
    """Show every data set, and which are on this machine."""
    from kfriendly.cli.data import list_datasets

    list_datasets()


@data.command("fetch")
def fetch_data(
    names: Annotated[list[str], typer.Argument(help="Data sets to fetch.")],
) -> None:
    """Download data sets into the data folder and verify them."""
    from kfriendly.cli.data import fetch_datasets

    _finish(lambda: fetch_datasets(names))


@data.command("check")
def check_data(names: Names = None) -> None:
    """Verify the checksums of files in the data folder; corrupt ones are an error."""
    from kfriendly.cli.data import check_datasets
    from kfriendly.datasets.catalogue import DATASETS

    _finish(lambda: check_datasets(names or list(DATASETS)))


paper = typer.Typer(
    help="Run the paper's tables and figures.",
    no_args_is_help=True,
    context_settings=_CONTEXT,
)
app.add_typer(paper, name="paper")

ResultsFolder = Annotated[Path, typer.Option(help="Folder of the results.")]


@paper.command("list")
def list_paper(results: ResultsFolder = Path("results")) -> None:
    """Show every table and figure, and what has been run."""
    from kfriendly.cli.paper import list_experiments

    _finish(lambda: list_experiments(results))


@paper.command("run")
def run_paper(
    key: Annotated[str, typer.Argument(help="A key of `paper list`.")],
    seeds: Annotated[int | None, typer.Option(min=1, help="Number of seeds.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods, with commas between; all if not given.")
    ] = None,
    settings: Annotated[
        str | None, typer.Option(help="Settings of DCN, with commas; all if not given.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(min=100, help="Rows, for a quick look.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only the data sets whose names contain this; may be said again.",
        ),
    ] = None,
    results: ResultsFolder = Path("results"),
) -> None:
    """Run what is missing of a table or figure; a run that was stopped goes on."""
    from kfriendly.cli.paper import Wish, run_experiment

    wish = Wish(methods, settings, seeds, rows, tuple(data or ()))
    _finish(lambda: run_experiment(key, wish, results))


@paper.command("report")
def report_paper(
    out: Annotated[Path, typer.Option(help="The page.")] = Path("docs/results.md"),
    results: ResultsFolder = Path("results"),
) -> None:
    """Write all that was run beside the paper's: one HTML page, and Markdown."""
    from kfriendly.cli.paper import write_report

    _finish(lambda: write_report(results, out))


def _finish(work: Callable[[], bool]) -> None:
    """Do the work and leave with the exit code of what happened."""
    from kfriendly.errors import DataCorrupt, DataNotFound, UnknownName

    try:
        good = work()
    except UnknownName as error:
        print(error, file=sys.stderr)
        raise typer.Exit(int(Code.USAGE)) from error
    except (DataNotFound, DataCorrupt) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(int(Code.DATA)) from error
    if not good:
        raise typer.Exit(int(Code.DATA))


def main() -> None:
    """Run the command line."""
    app()
