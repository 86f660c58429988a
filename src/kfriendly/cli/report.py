"""`kfriendly report`: the page of a run, written anew."""

from pathlib import Path

from kfriendly.cli import runs
from kfriendly.cli.screen import Screen
from kfriendly.errors import ModelFileError
from kfriendly.report.page import render_page
from kfriendly.storage import write_file


def write_page(
    folder: Path, out: Path | None, screen: Screen, *, overwrite: bool
) -> None:
    """Draw the story that the fit has told; its own page may always be replaced."""
    run = runs.read_run(folder)
    story = runs.read_json(folder / runs.STORY)
    if out is not None and out.exists() and not overwrite:
        raise FileExistsError(
            f"{out} is there already.\nChoose another --out, or allow --overwrite."
        )
    try:
        page = render_page(story).encode()
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelFileError(
            f"{folder / runs.STORY} cannot be drawn: {error!r}.\nIt was changed, or "
            "written by another version.\nFit again."
        ) from error
    path = out or folder / runs.PAGE
    write_file(path, page)
    if out is None:
        seal = {"bytes": len(page), "sha256": runs.sha256(path)}
        run["files"][runs.PAGE] = seal
        runs.write_json(folder / runs.RUN, run)
    screen.result(f"See {path}", report=str(path))
