"""What is shown, and where."""

import io
import sys
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from kfriendly import DCN
from kfriendly.cli.progress import ShowProgress, bars
from kfriendly.cli.screen import Screen


def shown(screen: Screen, terminal: bool) -> str:
    """Fit something small and return what was shown on the way."""
    stream = io.StringIO()
    screen._errors = Console(file=stream, force_terminal=terminal, width=120)
    dcn = DCN(2, hidden=(8,), n_init=2, pretrain_epochs=2, max_epochs=2, layer_epochs=1)
    X = np.random.RandomState(0).randn(40, 4)
    dcn.set_callbacks(ShowProgress(screen)).fit(X)
    screen.close()
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_shows_phases_losses_and_sizes(terminal: bool) -> None:
    text = shown(Screen(), terminal)
    for phase in ("layers", "pre-train", "start", "joint", "final"):
        assert phase in text
    assert "error" in text and "sizes" in text and "moved" in text
    assert ("2/2" in text) == terminal


@pytest.mark.filterwarnings("ignore")
def test_long_phases_are_told_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kfriendly.cli.screen._PATIENCE", -1.0)
    assert "joint: 1/2, " in shown(Screen(), terminal=False)


def test_time_left_of_a_phase_that_was_taken_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 6.0, 12.0])
    monkeypatch.setattr("kfriendly.cli.screen.time.monotonic", lambda: next(clock))
    screen, stream = Screen(), io.StringIO()
    screen._errors = Console(file=stream, width=120)
    screen.begin("joint", 20)
    screen.advance("joint", 11, 20, "")  # ten lay behind: one in six seconds
    screen.advance("joint", 12, 20, "")
    assert "joint: 11/20, 54 s left" in stream.getvalue()
    assert "joint: 12/20, 48 s left" in stream.getvalue()


@pytest.mark.filterwarnings("ignore")
def test_quiet_shows_no_progress() -> None:
    assert shown(Screen("quiet"), terminal=True) == ""


def test_markup_in_data_stays_text(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    screen.note("column '[bold]a[/bold]' is set aside")
    screen.error("no column '[/]'", 3)
    text = capsys.readouterr().err
    assert "[bold]a[/bold]" in text and "'[/]'" in text


def test_counting_without_a_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kfriendly.cli.screen._PATIENCE", -1.0)
    for terminal in (True, False):
        screen, stream = Screen(), io.StringIO()
        screen._errors = Console(file=stream, force_terminal=terminal, width=120)
        screen.begin("rows")
        screen.count("rows", 1_000)
        screen.end("rows", "1,000 rows")
        screen.close()
        assert "1,000" in stream.getvalue()


def test_many_clusters_have_no_row_of_blocks() -> None:
    assert bars(np.arange(30)) == "" and len(bars(np.arange(24))) == 25


def test_pipe_that_closes_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    import typer

    from kfriendly.cli.exits import exit_codes

    with (tmp_path / "out").open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(typer.Exit) as left, exit_codes(Screen("quiet")):
            raise BrokenPipeError
    assert left.value.exit_code == 141
