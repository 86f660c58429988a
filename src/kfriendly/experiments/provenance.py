"""Which code made a result."""

import platform
import subprocess
from pathlib import Path

import sklearn
import torch

_PACKAGE = Path(__file__).parent.parent


def commit() -> str:
    """Return the commit of the code, marked if the package differs from it.

    Only the package counts: the results themselves change while they are made.
    """
    found = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", str(_PACKAGE))
    return (found or "not a clone") + ("+changes" if changed else "")


def versions() -> dict[str, str]:
    """Return the versions of what a result depends on."""
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "sklearn": sklearn.__version__,
    }


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=_PACKAGE, capture_output=True, text=True
        )
    except FileNotFoundError:  # no git on this machine
        return ""
    return done.stdout.strip()
