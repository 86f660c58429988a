"""The command line, as typed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from kfriendly import DCN, __version__
from kfriendly.cli import demo as demo_module
from kfriendly.cli.app import app
from kfriendly.cli.progress import ShowProgress
from kfriendly.datasets import make_sigmoid_sigmoid

LIGHT = """
import sys
from kfriendly.cli import main
sys.argv = ["kfriendly", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
heavy = {"torch", "sklearn", "numpy", "matplotlib"} & set(sys.modules)
print("heavy:", sorted(heavy))
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["demo", "--nonsense"]])
def test_help_and_argument_errors_import_nothing_heavy(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, *words], capture_output=True, text=True
    )
    assert done.stdout.endswith("heavy: []\n")


def test_version_is_the_packages() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"kfriendly {__version__}\n"


@pytest.mark.filterwarnings("ignore")
def test_demo_writes_table_and_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small_data(seed: int) -> list[tuple[str, np.ndarray, np.ndarray]]:
        return [("small", *make_sigmoid_sigmoid(30, random_state=seed))]

    monkeypatch.setattr(demo_module, "_data", small_data)
    out = tmp_path / "new" / "folder"
    result = CliRunner().invoke(app, ["demo", "--out", str(out), "--seed", "3"])
    assert result.exit_code == 0, result.output
    assert "K-means" in result.output and "SAE+KM" in result.output
    report = (out / "report.md").read_text()
    assert report.count("| small |") == 3 and "kfriendly demo --seed 3" in report
    assert (out / "spaces.png").read_bytes().startswith(b"\x89PNG")


def test_demo_says_so_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file" / "x")])
    assert result.exit_code == 2
    assert "Choose another --out" in result.output


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_shows_phases(terminal: bool, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+") as file:
        console = Console(file=file, force_terminal=terminal, width=120)
        dcn = DCN(2, n_init=2, pretrain_epochs=2, max_epochs=2, layer_epochs=1)
        X = np.random.RandomState(0).randn(40, 4)
        dcn.set_callbacks(ShowProgress(console, "mine")).fit(X)
        file.seek(0)
        text = file.read()
    assert "mine: pre-training" in text
    assert "mine: joint training" in text
    assert ("2/2" in text) == terminal
    assert ("2 epochs, reconstruction error" in text) != terminal
