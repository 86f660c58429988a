"""The command line, as typed."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kfriendly import __version__
from kfriendly.cli import data as data_module
from kfriendly.cli import demo as demo_module
from kfriendly.cli import paper as paper_module
from kfriendly.cli.app import app
from kfriendly.datasets import Dataset, catalogue, make_sigmoid_sigmoid
from kfriendly.datasets.base import Entry
from kfriendly.datasets.files import DataFile
from kfriendly.errors import DataNotFound
from kfriendly.experiments import TABLES
from kfriendly.experiments.base import Case, Scores, Table

TYPED = """
import sys
from kfriendly.cli import main
sys.argv = ["kfriendly", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print("modules:", *sys.modules)
"""


def modules_after(words: list[str]) -> set[str]:
    """Type a command; return what has been imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", TYPED, *words], capture_output=True, text=True
    )
    return set(done.stdout.rpartition("modules: ")[2].split())


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["demo", "--nonsense"],
        ["data", "--help"],
        ["fit", "--help"],
        ["fit", "rows.csv"],
        ["fit", "rows.csv", "-k", "many"],
        ["fit", "rows.csv", "-k", "2", "--hidden", "wide"],
        ["sweep", "rows.csv", "-k", "20:2"],
        ["predict", "run"],
    ],
)
def test_help_and_argument_errors_import_nothing_heavy(words: list[str]) -> None:
    modules = modules_after(words)
    assert "kfriendly.cli.app" in modules
    assert not {"torch", "sklearn", "numpy", "matplotlib", "pyarrow"} & modules


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["fit", "--help"],
        ["data", "--help"],
        ["paper", "list", "--help"],
        ["nonsense"],
        ["data", "nonsense"],
        ["fit", "rows.csv", "--nonsense"],
    ],
)
def test_help_and_unknown_names_do_not_wait_for_pydantic(words: list[str]) -> None:
    modules = modules_after(words)
    assert "kfriendly.cli.app" in modules
    # The last is what pydantic looks for its plugins with.
    assert not {"pydantic", "pydantic_core", "importlib.metadata"} & modules


@pytest.mark.parametrize("name", ["help", "install-completion", "show-completion"])
def test_flags_that_are_false_by_default_are_still_offered(name: str) -> None:
    assert f"--{name} " in CliRunner().invoke(app, ["--help"]).stdout


def test_help_of_fit_has_its_panels() -> None:
    shown = CliRunner().invoke(app, ["fit", "--help"]).stdout
    for panel in ("What to read", "How to train", "What to show and write"):
        assert panel in shown


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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with one good file, one corrupt file, and no network."""
    monkeypatch.setenv("KFRIENDLY_DATA", str(tmp_path))
    good = DataFile("good", 3, (hashlib.sha256(b"abc").hexdigest(),))
    bad = DataFile("bad", 3, ("0" * 64,), ("http://127.0.0.1:9/bad",))
    for name in ("good", "bad"):
        (tmp_path / name).write_bytes(b"abc")
    entries = {
        "whole": Entry("3 x 1", "", load_nothing, files=(good,)),
        "broken": Entry("3 x 1", "", load_nothing, files=(good, bad)),
        "made": Entry("3 x 1", "", load_nothing, made="made.npz"),
        "free": Entry("3 x 1", "", load_nothing),
    }
    monkeypatch.setattr(catalogue, "DATASETS", entries)
    monkeypatch.setattr(data_module, "DATASETS", entries)
    return tmp_path


def load_nothing() -> Dataset:
    raise DataNotFound("made.npz cannot be had")


def test_data_list_tells_what_is_here(folder: Path) -> None:
    result = CliRunner().invoke(app, ["data", "list"])
    assert result.exit_code == 0 and str(folder) in result.stdout
    lines = {line.split()[0]: line for line in result.stdout.splitlines() if line}
    assert "here" in lines["whole"] and "not here" not in lines["whole"]
    assert "not here" in lines["made"] and "none needed" in lines["free"]


def test_data_check_fails_on_a_corrupt_file_only(folder: Path) -> None:
    result = CliRunner().invoke(app, ["data", "check"])
    assert result.exit_code == 3
    assert result.stdout.split() == [
        "good",
        "good",
        "corrupt",
        "bad",
        "absent",
        "made.npz",
    ]
    assert "data fetch" in result.stderr
    assert CliRunner().invoke(app, ["data", "check", "whole"]).exit_code == 0


def test_data_fetch_goes_on_after_a_failure_and_says_so(folder: Path) -> None:
    result = CliRunner().invoke(app, ["data", "fetch", "broken", "made", "whole"])
    assert result.exit_code == 3
    assert "127.0.0.1:9/bad" in result.stderr and "made.npz" in result.stderr
    assert "whole: good is here and whole" in result.stdout


@pytest.mark.parametrize("verb", ["fetch", "check"])
def test_unknown_data_set_is_a_usage_error(verb: str) -> None:
    result = CliRunner().invoke(app, ["data", verb, "minst"])
    assert result.exit_code == 2 and "mnist" in result.stderr


def test_paper_run_takes_the_data_that_is_named() -> None:
    table = paper_module.with_data(TABLES["table2"], ("all",))
    assert [case.name for case in table.cases] == [""]
    table = paper_module.with_data(TABLES["beyond"], ("rcv1 sample", "digits"))
    names = [case.name for case in table.cases]
    assert names == [
        "Pendigits",
        "digits",
        "RCV1 sample, 4 clusters",
        "RCV1 sample, 20 clusters",
    ]


def test_paper_list_run_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(
        "tiny",
        "A tiny table",
        (Case("", lambda: catalogue.load("digits"), "pendigits"),),
        ("KM", "DCN"),
        {("", "KM"): Scores(0.5, 0.4, 0.6)},
    )
    monkeypatch.setattr(paper_module, "TABLES", {"tiny": table})
    folder = ["--results", str(tmp_path)]
    run = ["paper", "run", "tiny", "--methods", "KM", "--seeds", "2", *folder]
    first = CliRunner().invoke(app, run)
    assert first.exit_code == 0 and "2/2 KM, seed 1; 0 min left" in first.stdout
    assert "0 fits to run" in CliRunner().invoke(app, run).stdout
    assert "2 results" in CliRunner().invoke(app, ["paper", "list", *folder]).stdout
    page = tmp_path / "page.md"
    report = CliRunner().invoke(app, ["paper", "report", "--out", str(page), *folder])
    assert report.exit_code == 0 and ".50/.40/.60" in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table9"], "'table9'; there are table1"),
        (["table3", "--methods", "DCN,KMM"], "no method 'KMM'; it has DCN"),
        (["beyond", "--data", "penguins"], "no data 'penguins'; it has Pendigits; "),
        (["table3", "--settings", "ours"], "no setting 'ours'; it has paper"),
        (["beyond", "--settings", "conv"], "no setting 'conv'; it has kfriendly, vi"),
        (["beyond", "--settings", "paper"], "no setting 'paper'; it has kfriendly"),
        (["table2", "--settings", "authors-2018"], "; it has paper, authors, kfri"),
    ],
)
def test_paper_run_of_unknown_names_is_a_usage_error(
    words: list[str], message: str
) -> None:
    result = CliRunner().invoke(app, ["paper", "run", *words])
    assert result.exit_code == 2 and message in result.stderr


def test_paper_figure_is_run_once_and_drawn(tmp_path: Path) -> None:
    folder = ["--results", str(tmp_path)]
    run = ["paper", "run", "fig4", *folder]
    assert "1/1 sizes" in CliRunner().invoke(app, run).stdout
    assert "0 parts to run" in CliRunner().invoke(app, run).stdout
    page = tmp_path / "page.md"
    CliRunner().invoke(app, ["paper", "report", "--out", str(page), *folder])
    assert "figures/fig4.png" in page.read_text()
    assert (tmp_path / "figures" / "fig4.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("verb", ["list", "report", "run"])
def test_paper_says_which_part_of_a_figure_is_corrupt(
    verb: str, tmp_path: Path
) -> None:
    folder = ["--results", str(tmp_path)]
    CliRunner().invoke(app, ["paper", "run", "fig4", *folder])
    (tmp_path / "fig4" / "sizes.npz").write_bytes(b"cut")
    words = ["paper", verb, *(["fig4"] if verb == "run" else []), *folder]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 3 and "fig4/sizes.npz" in result.stderr
    assert (tmp_path / "fig4" / "sizes.npz").read_bytes() == b"cut"


def test_options_of_tables_are_refused_for_figures(tmp_path: Path) -> None:
    run = ["paper", "run", "fig4", "--seeds", "3", "--results", str(tmp_path)]
    result = CliRunner().invoke(app, run)
    assert result.exit_code == 2 and "fig4 is a figure" in result.stderr


def test_paper_run_without_data_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFRIENDLY_DATA", str(tmp_path))
    run = ["paper", "run", "table1-samples", "--methods", "KM"]
    result = CliRunner().invoke(app, [*run, "--results", str(tmp_path)])
    assert result.exit_code == 3 and "rcv1_sample2316_counts.npz" in result.stderr


def test_paper_report_without_results_says_so(tmp_path: Path) -> None:
    words = ["paper", "report", "--results", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 3 and "no results" in result.stderr
