"""`kfriendly fit` stopped by Ctrl-C or SIGTERM, and taken up again."""

import os
import shlex
import signal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from commands import run
from typer.testing import Result

from kfriendly.cli import fit as fit_module
from kfriendly.cli.progress import ShowProgress

WORDS = ("--hidden", 8, "--pretrain-epochs", 2, "--epochs", 3, "--starts", 2)


@pytest.fixture
def stopped(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> Result:
    """A fit that was sent a signal in a phase."""
    number, phase = getattr(request, "param", (signal.SIGINT, "joint"))
    original = ShowProgress.on_fit_task_end

    def interrupt(self: ShowProgress, estimator: Any, context: Any) -> bool:
        if context.task_name == "epoch" and self.phase == phase:
            os.kill(os.getpid(), number)
        return original(self, estimator, context)

    # A process in the background of a shell is born deaf to Ctrl-C, and so are tests.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(ShowProgress, "on_fit_task_end", interrupt)
            return run("fit", rows, "-k", 2, "-o", tmp_path / "run", *WORDS)
    finally:
        signal.signal(signal.SIGINT, before)


def labels(folder: Path) -> list[int]:
    found: list[int] = pq.read_table(folder / "labels.parquet")["cluster"].to_pylist()
    return found


@pytest.mark.parametrize(
    "stopped",
    [(signal.SIGINT, "joint"), (signal.SIGTERM, "pre-train")],
    indirect=True,
)
def test_the_command_that_is_told_goes_on_to_the_same_result(
    stopped: Result, rows: Path, tmp_path: Path
) -> None:
    assert stopped.exit_code == 75, stopped.output
    assert os.listdir(tmp_path) == ["run.checkpoints"]
    command = stopped.stderr.split("Go on with: ")[1].strip()
    result = run(*shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    assert "Going on from" in result.stderr
    assert os.listdir(tmp_path) == ["run"]
    assert run("fit", rows, "-k", 2, "-o", tmp_path / "other", *WORDS).exit_code == 0
    assert labels(tmp_path / "run") == labels(tmp_path / "other")
    assert "--resume" not in (tmp_path / "run" / "run.json").read_text()


def test_without_resume_nothing_is_lost(
    stopped: Result, rows: Path, tmp_path: Path
) -> None:
    words = ("fit", rows, "-k", 2, "-o", tmp_path / "run", *WORDS)
    refused = run(*words)
    assert refused.exit_code == 2 and "--resume" in refused.stderr
    assert os.listdir(tmp_path) == ["run.checkpoints"]
    anew = run(*words, "--overwrite", "--json")
    assert anew.exit_code == 0 and os.listdir(tmp_path) == ["run"]
    assert anew.stdout.count('"event": "epoch"') == 2 + 3  # from the beginning


@pytest.mark.parametrize("wrong", ["input", "folder"])
def test_overwrite_that_fails_loses_nothing(
    wrong: str, stopped: Result, rows: Path, tmp_path: Path
) -> None:
    if wrong == "folder":  # RUN holds other things
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "thesis.tex").touch()
    source = tmp_path / "typo.csv" if wrong == "input" else rows
    words = ("fit", source, "-k", 2, "-o", tmp_path / "run", *WORDS, "--overwrite")
    assert run(*words).exit_code in (2, 3)
    assert list((tmp_path / "run.checkpoints").glob("epoch-*"))


def test_other_options_are_refused(stopped: Result, rows: Path, tmp_path: Path) -> None:
    words = ("fit", rows, "-k", 3, "-o", tmp_path / "run", *WORDS)
    refused = run(*words, "--resume")
    assert refused.exit_code == 2
    assert "n_clusters: 2 then, 3 now" in refused.stderr
    assert os.listdir(tmp_path) == ["run.checkpoints"]


def test_changed_data_are_refused_unless_forced(
    stopped: Result, rows: Path, tmp_path: Path
) -> None:
    header, first, *rest = rows.read_text().splitlines()
    name, _, *values = first.split(",")
    rows.write_text("\n".join([header, ",".join([name, "77.5", *values]), *rest]))
    words = ("fit", rows, "-k", 2, "-o", tmp_path / "run", *WORDS, "--resume")
    refused = run(*words)
    assert refused.exit_code == 2 and "--force" in refused.stderr
    assert run(*words, "--force").exit_code == 0


def test_interrupted_while_writing_the_report(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    words = ("fit", rows, "-k", 2, "-o", tmp_path / "run", *WORDS)
    with monkeypatch.context() as patch:
        patch.setattr(fit_module, "tell_story", interrupt)
        assert run(*words).exit_code == 75
    result = run(*words, "--resume", "--json")
    assert result.exit_code == 0
    assert '"event": "epoch"' not in result.stdout  # all were behind it


def test_resume_with_nothing_to_resume_starts_anew(rows: Path, tmp_path: Path) -> None:
    words = ("fit", rows, "-k", 2, "-o", tmp_path / "run", *WORDS)
    result = run(*words, "--resume")
    assert result.exit_code == 0 and "starts anew" in result.stderr
