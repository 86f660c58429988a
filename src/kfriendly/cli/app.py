"""The `kfriendly` command and its verbs."""

import sys
from pathlib import Path
from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover - needs an environment without the extra
    sys.exit("The command line needs more packages: pip install 'kfriendly[app]'")

from kfriendly import __version__

app = typer.Typer(
    help="Find clusters in data on which K-means fails.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
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
        raise typer.Exit(2) from error
    from kfriendly.cli.demo import run_demo

    run_demo(out, seed)


def main() -> None:
    """Run the command line."""
    app()
