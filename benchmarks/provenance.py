"""Which code made a result."""

import subprocess
from pathlib import Path

import sklearn
import torch

ROOT = Path(__file__).parent.parent


def provenance() -> dict[str, str]:
    """Return the commit, marked if the package differs from it, and the versions."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "src")
    return {
        "commit": commit + ("+changes" if changed else ""),
        "torch": torch.__version__,
        "sklearn": sklearn.__version__,
    }


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()
