"""Tables on few rows."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfriendly.datasets import Dataset, load
from kfriendly.errors import ResultsWarning
from kfriendly.estimator import DCN
from kfriendly.experiments import TABLES, settings
from kfriendly.experiments.base import Case, Scores, Table, some_rows
from kfriendly.experiments.results import Results
from kfriendly.experiments.runner import Choice, fits_of, missing_fits, run_table
from kfriendly.experiments.settings import find_setting
from kfriendly.metrics import nmi
from kfriendly.networks import ConvFactory
from kfriendly.report.tables import table_section
from kfriendly.training import run
from kfriendly.training.pretrain import Autoencode

SMALL = Table(
    "small",
    "A small table",
    (Case("digits", lambda: load("digits"), "pendigits", 1 / 16),),
    ("DCN", "SAE+KM", "KM"),
    {("digits", "DCN"): Scores(0.69, 0.56, 0.72)},
    seeds=2,
)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few epochs for every setting."""
    printed, script = settings.PRINTED["pendigits"], settings.SCRIPTS["pendigits"]
    printed = replace(printed, T_p=1, T_l=1)
    script = replace(script, pretrain=(1, 0.01), joint=(1, 0.01))
    monkeypatch.setitem(settings.PRINTED, "pendigits", printed)
    monkeypatch.setitem(settings.SCRIPTS, "pendigits", script)
    few = {"pretrain_epochs": 1, "max_epochs": 1, "hidden": (8,)}
    monkeypatch.setattr(
        settings, "KFRIENDLY", settings.Setting("quick", few, factor=None)
    )


@pytest.mark.usefixtures("quick")
def test_table_is_run_once_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    choice = Choice(SMALL.methods, ("paper", "authors", "kfriendly"), 2, rows=200)
    results = Results(tmp_path, "small")
    running = run_table(SMALL, choice, results)
    next(running)  # and stopped
    assert len(missing_fits(SMALL, choice, results)) == 7
    assert len(list(run_table(SMALL, choice, results))) == 7
    assert missing_fits(SMALL, choice, results) == []
    rows = results.read()
    assert len(rows) == 2 * (1 + 2 * 3)
    assert len({row.identity for row in rows}) == len(rows)


@pytest.mark.usefixtures("quick")
def test_a_fit_that_was_stopped_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = Choice(("DCN",), ("kfriendly",), 1, rows=200)
    whole, parts = Results(tmp_path / "whole", "s"), Results(tmp_path / "parts", "s")
    list(run_table(SMALL, choice, whole))
    real = run.start_clusters

    def stop(*words: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "start_clusters", stop)
    with pytest.raises(KeyboardInterrupt):
        list(run_table(SMALL, choice, parts))
    assert parts.read() == []
    assert len(list((tmp_path / "parts" / "unfinished").iterdir())) == 1
    monkeypatch.setattr(run, "start_clusters", real)
    monkeypatch.setattr(Autoencode, "step", stop)  # which lies behind
    list(run_table(SMALL, choice, parts))
    same = [row._replace(seconds=0) for of in (whole, parts) for row in of.read()]
    assert same[0] == same[1]
    assert not list((tmp_path / "parts" / "unfinished").iterdir())


@pytest.mark.usefixtures("quick")
def test_sae_km_and_dcn_are_of_one_fit(tmp_path: Path) -> None:
    results = Results(tmp_path, "small")
    list(run_table(SMALL, Choice(SMALL.methods, ("kfriendly",), 1, 200), results))
    seconds = {row.method: row.seconds for row in results.read()}
    assert seconds["DCN"] == seconds["SAE+KM"] != seconds["KM"]


@pytest.mark.usefixtures("quick")
def test_folds_score_rows_that_were_not_trained_on(tmp_path: Path) -> None:
    table = replace(
        SMALL, methods=("DCN-Training", "DCN-Testing", "SAE+KM"), folds=2, printed={}
    )
    results = Results(tmp_path, "small")
    list(run_table(table, Choice(table.methods, ("kfriendly",), 9, 200), results))
    assert [row.seed for row in results.read()] == [0, 0, 0, 1, 1, 1]
    methods = [row.method for row in results.read()[:3]]
    assert methods == ["DCN-Training", "DCN-Testing", "SAE+KM"]


@pytest.mark.usefixtures("quick")
def test_page_has_ours_beside_the_papers(tmp_path: Path) -> None:
    results = Results(tmp_path, "small")
    list(run_table(SMALL, Choice(("DCN", "KM"), ("kfriendly",), 2), results))
    section = table_section(SMALL, results.read())
    lines = section.lines
    assert section.head[-1] == "paper"
    (dcn,) = [line for line in lines if line[:3] == ("digits", "DCN", "kfriendly")]
    assert dcn[-1] == ".69/.56/.72" and " ± " in dcn[3] and dcn[6] == "2"
    quick_look = [row._replace(rows=200) for row in results.read()]
    assert "paper" not in table_section(SMALL, quick_look).head


def test_settings_are_those_of_the_sources() -> None:
    paper = find_setting("pendigits", "paper", 10_992).params
    authors = find_setting("pendigits", "authors", 10_992).params
    assert paper["lam"] == 0.5 and authors["lam"] == 4.0
    assert authors["optimizer"].learning_rate == pytest.approx(0.005)
    assert authors["criterion"].centers == "frozen" and authors["network"].tied
    assert paper["batch_size"] == 109 and authors["batch_size"] == 20
    assert find_setting("pendigits", "kfriendly", 10_992).params == {"views": None}


def test_second_release_is_of_mnist_alone() -> None:
    choice = Choice(("DCN",), ("authors-2018",), 1)
    assert [fit.setting for fit in fits_of(TABLES["table3"], choice)] == [
        "authors-2018"
    ]
    assert list(fits_of(TABLES["supp-table1"], choice)) == []
    setting = find_setting("mnist", "authors-2018", 70_000)
    assert setting.factor == 5.1 and setting.params["refresh_every"] == 10


def test_every_table_has_settings_and_printed_figures_of_its_methods() -> None:
    for table in TABLES.values():
        names = {case.name for case in table.cases}
        if "paper" in table.settings:
            assert {case.settings for case in table.cases} <= set(settings.PRINTED)
        assert {case for case, _ in table.printed} <= names
        assert {method for _, method in table.printed} <= set(table.methods)
    assert TABLES["table1"].printed["4 clusters", "XRAY"] == Scores(0.12, -0.01, 0.34)


def test_some_rows_are_a_random_part() -> None:
    digits = load("digits")
    some = some_rows(digits, 100)
    assert some.X.shape == (100, 64) and len(np.unique(some.y)) == 10
    assert some_rows(digits, None) is digits


def _digits(random_state: int) -> Dataset:
    data = load("digits")
    return data._replace(X=data.X + random_state)


@pytest.mark.usefixtures("quick")
def test_drawn_data_is_another_one_for_each_seed() -> None:
    case = Case("drawn", _digits, drawn=True)
    assert (case.load_for(1).X - case.load_for(0).X == 1).all()
    assert Case("fixed", lambda: load("digits")).load_for(7).X.shape == (1797, 64)


def test_beyond_runs_apart_and_skips_what_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where there is no .peers
    table = TABLES["beyond"]
    digits = replace(table, cases=tuple(c for c in table.cases if c.name == "digits"))
    results = Results(tmp_path, "beyond")
    choice = Choice(("KM", "PCA+KM", "UMAP+KM"), table.settings, 1, 300)
    with pytest.warns(ResultsWarning, match="Skipped: UMAP.KM runs in an environment"):
        fits = list(run_table(digits, choice, results))
    assert [fit.methods for fit in fits] == [("KM",), ("PCA+KM",)]
    assert all(row.megabytes and row.megabytes > 100 for row in results.read())


@pytest.mark.parametrize("case", TABLES["beyond-small"].cases, ids=lambda c: c.name)
def test_small_tables_and_shapes_are_drawn_anew(case: Case) -> None:
    data, again = case.load_for(0), case.load_for(1)
    assert data.n_clusters == len(np.unique(data.y)) and len(data.X) == len(data.y)
    assert np.array_equal(data.X, again.X) is not case.drawn


def test_conv_setting_fits_images_as_large_as_mnist() -> None:
    discs = np.hypot(*np.meshgrid(np.arange(28) - 14, np.arange(28) - 14))
    rng = np.random.RandomState(0)
    radius = 4.0 + 6.0 * (np.arange(60) % 2) + rng.rand(60)
    X = (discs.ravel() < radius[:, None]) + 0.01 * rng.rand(60, 784)
    params = find_setting("", "conv", 60).params
    dcn = DCN(2, pretrain_epochs=30, max_epochs=5, random_state=0, **params).fit(X)
    assert isinstance(dcn._plan.build, ConvFactory)
    assert nmi(np.arange(60) % 2, dcn.labels_) > 0.9


_LONG_FIT = """
import multiprocessing, time
from concurrent.futures import ProcessPoolExecutor
from kfriendly.experiments.peer_worker import end_with_parent
context = multiprocessing.get_context("spawn")
with ProcessPoolExecutor(1, context, end_with_parent) as pool:
    pool.submit(int).result()
    print("fitting", flush=True)
    pool.submit(time.sleep, 600).result()
"""
_LONG_PEER = """
import subprocess, sys
peer = "import time, kfriendly.experiments.peer_worker as worker;"
peer += "worker.end_with_parent(); print('fitting', flush=True); time.sleep(600)"
subprocess.run([sys.executable, "-c", peer])
"""


@pytest.mark.parametrize("fitting", [_LONG_FIT, _LONG_PEER], ids=["ours", "peer"])
def test_no_fit_goes_on_when_the_command_is_killed(fitting: str) -> None:
    command = subprocess.Popen(
        [sys.executable, "-c", fitting], stdout=subprocess.PIPE, text=True
    )
    assert command.stdout is not None and command.stdout.readline() == "fitting\n"
    command.kill()
    # The fit's process has the same standard output: its end is the end of both.
    assert command.communicate(timeout=60)[0] == ""
