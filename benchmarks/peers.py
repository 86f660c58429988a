"""Other people's programs, in a virtual environment of their own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Self

from provenance import ROOT

FOLDER = ROOT / ".peers"
PYTHON = FOLDER / "bin" / "python"
_IMPORTS = "import clustpy.deep, umap"
PACKAGES = ("clustpy==0.0.3", "umap-learn==0.5.12")


def install() -> str | None:
    """Make the environment if it is not there; return why it could not be made."""
    if _answers(_IMPORTS):
        return None
    print(f"Installing {', '.join(PACKAGES)} into {FOLDER.name} (gigabytes) ...")
    for words in (
        [sys.executable, "-m", "venv", str(FOLDER)],
        [str(PYTHON), "-m", "pip", "install", "--quiet", *PACKAGES],
    ):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip() or done.stdout.strip()).splitlines()[-1]
    return None if _answers(_IMPORTS) else f"{_IMPORTS!r} fails in {FOLDER.name}"


def versions() -> dict[str, str]:
    """Return the versions the peers run with."""
    code = (
        "import json, torch; from importlib.metadata import version; "
        "print(json.dumps({'clustpy': version('clustpy'), 'torch': torch.__version__}))"
    )
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True)
    return dict(json.loads(done.stdout))


class Peer:
    """A worker that runs one epoch at a time, so that others can have turns.

    Parameters
    ----------
    widths : tuple of int
        Columns, hidden widths and latent size.
    n_rows, batch_size : int
    """

    def __init__(self, widths: tuple[int, ...], n_rows: int, batch_size: int) -> None:
        worker = Path(__file__).with_name("clustpy_worker.py")
        order = {"widths": widths, "n_rows": n_rows, "batch_size": batch_size}
        self._process = subprocess.Popen(
            [PYTHON, worker, json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def epoch(self) -> float:
        """Run one epoch and return its seconds."""
        assert self._process.stdin and self._process.stdout
        print("go", file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()


def _answers(code: str) -> bool:
    if not PYTHON.exists():
        return False
    return subprocess.run([PYTHON, "-c", code], capture_output=True).returncode == 0


if __name__ == "__main__":
    sys.exit(install())
