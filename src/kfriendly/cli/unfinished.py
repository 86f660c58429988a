"""A run that was stopped: its checkpoints lie beside the RUN folder it was to write."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kfriendly.cli.exits import Code, Refused, code_of
from kfriendly.cli.screen import Screen
from kfriendly.cli.wishes import FitWish
from kfriendly.model_files import Checkpoints, clear_checkpoints, find_checkpoints


@contextmanager
def resumable(wish: FitWish, screen: Screen) -> Iterator[Checkpoints]:
    """Yield where checkpoints go; tell how to go on if the work is interrupted."""
    out = Path(os.path.abspath(wish.out))
    folder = out.with_name(f"{out.name}.checkpoints")
    _take_up(folder, wish, screen)
    try:
        yield Checkpoints(folder, leave=True, force=wish.force)
    except KeyboardInterrupt as error:
        if not find_checkpoints(folder):
            raise
        raise Refused(
            Code.STOPPED,
            f"Stopped. The state of training is kept in {folder}.",
            f"Go on with: {wish.command} --resume",
        ) from error
    except Exception as error:
        if code_of(error) is Code.TRAINING:  # to go on would end there again
            clear_checkpoints(folder)
        raise
    clear_checkpoints(folder)


def forget_unless_resumed(wish: FitWish, checkpoints: Checkpoints) -> None:
    """Remove what an earlier run has kept, now that nothing keeps this one back."""
    if not wish.resume:
        clear_checkpoints(Path(checkpoints.folder))


def _take_up(folder: Path, wish: FitWish, screen: Screen) -> None:
    """Say what is taken up, or refuse to start anew over what was kept."""
    there = find_checkpoints(folder)
    if wish.resume and there:
        screen.note(f"Going on from {there[0]}.")
    elif wish.resume:
        screen.note(f"There is no checkpoint in {folder}: this starts anew.")
    elif there and not wish.overwrite:
        raise Refused(
            Code.USAGE,
            "An earlier run was stopped before its end.",
            f"Its state of training is in {folder}.",
            "Go on from it with --resume, or start anew with --overwrite.",
        )
