"""`kfriendly fit`: the RUN folder, and what is refused."""

import json
import os
import re
import shlex
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from commands import TINY, run

from kfriendly import DCN, Neighbors
from kfriendly.cli import fit as fit_module
from kfriendly.cli.choices import explain
from kfriendly.errors import TrainingDiverged
from kfriendly.training.scaling import find_scaling


def read_run(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return found


def test_fit_writes_the_folder_and_nothing_beside_it(fitted: Path) -> None:
    names = {"labels.parquet", "metrics.jsonl", "model", "report.html", "run.json"}
    assert {path.name for path in fitted.iterdir()} == names | {"story.json"}
    assert [path.name for path in fitted.parent.iterdir()] == ["run"]


def test_labels_have_a_row_each_and_equal_the_models(fitted: Path, rows: Path) -> None:
    table = pq.read_table(fitted / "labels.parquet")
    assert table.column_names == ["name", "cluster", "confidence", "distance"]
    assert table["name"].to_pylist() == [f"r{i:03d}" for i in range(120)]
    model = DCN.load(fitted / "model")
    X = np.genfromtxt(rows, delimiter=",", skip_header=1, usecols=(1, 2, 3))
    X = X.astype(np.float32)
    assert table["cluster"].to_pylist() == model.predict(X).tolist()
    nearest = model.distances(X).min(axis=1)
    np.testing.assert_allclose(table["distance"], nearest, rtol=1e-4)
    assert 0 <= min(table["confidence"].to_pylist())


def test_metrics_have_a_line_an_epoch(fitted: Path) -> None:
    lines = (fitted / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [r["phase"] for r in records] == ["pretrain"] * 2 + ["joint"] * 2
    assert sum(records[-1]["sizes"]) == 120 and 0 <= records[-1]["changed"] <= 1


def test_run_json_repeats_the_run(fitted: Path, tmp_path: Path) -> None:
    about = read_run(fitted)
    words = shlex.split(about["command"])
    assert words[:2] == ["kfriendly", "fit"]
    again = [tmp_path / "again" if word == str(fitted) else word for word in words[1:]]
    assert run(*again).exit_code == 0
    both = [read_run(folder) for folder in (fitted, tmp_path / "again")]
    for name in ("data", "parameters", "resolved", "features", "seed"):
        assert both[0][name] == both[1][name]
    tables = [pq.read_table(f / "labels.parquet") for f in (fitted, tmp_path / "again")]
    assert tables[0].equals(tables[1])


def test_run_json_tells_what_was_used(fitted: Path) -> None:
    about = read_run(fitted)
    assert about["data"]["rows"] == 120 and len(about["data"]["fingerprint"]) == 64
    assert about["seed"] == 0 and about["resolved"]["n_components"] == 10
    assert {"kfriendly", "torch", "python"} <= set(about["versions"])
    assert any("never" in note for note in about["notes"])  # of the known classes


def test_known_classes_do_not_change_the_clusters(
    fitted: Path, rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("--id", "name", "--drop", "kind", *TINY)
    assert run("fit", rows, "-k", 3, "-o", out, *words).exit_code == 0
    tables = [pq.read_table(f / "labels.parquet") for f in (fitted, out)]
    assert tables[0].equals(tables[1])


def test_summary_tells_verdict_clusters_and_place(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = run("fit", rows, "-k", 3, "-o", out, "--drop", "kind", *TINY)
    assert result.exit_code == 0
    assert re.search("clusters", result.stdout) and str(out) in result.stdout
    assert "load:" not in result.stdout and "joint: " in result.stderr
    assert "'name' is set aside" in result.stderr


def test_summary_compares_with_known_classes(rows: Path, tmp_path: Path) -> None:
    words = ("-k", 3, "-o", tmp_path / "run", "--label", "kind", *TINY)
    result = run("fit", rows, *words)
    assert result.exit_code == 0 and "not used in training: NMI" in result.stdout


def test_csv_labels_with_row_numbers_and_columns(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("--format", "csv", "--keep-columns", "--drop", "kind", *TINY)
    assert run("fit", rows, "-k", 3, "-o", out, *words).exit_code == 0
    table = pyarrow.csv.read_csv(out / "labels.csv")
    names = ["row", "name", "a", "b", "c", "cluster", "confidence", "distance"]
    assert table.column_names == names
    assert table["row"].to_pylist() == list(range(120))


def test_quiet_is_quiet(rows: Path, tmp_path: Path) -> None:
    result = run("fit", rows, "-k", 2, "-o", tmp_path / "run", "--quiet", *TINY)
    assert result.exit_code == 0 and result.output == ""


def test_json_is_an_object_a_line(rows: Path, tmp_path: Path) -> None:
    result = run("fit", rows, "-k", 2, "-o", tmp_path / "run", "--json", *TINY)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    phases = [e["phase"] for e in events if e["event"] == "phase"]
    assert phases == ["load", "pre-train", "start", "joint", "final", "report"]
    assert sum(e["event"] == "epoch" for e in events) == 4
    assert events[-1]["event"] == "result" and events[-1]["verdict"]["headline"]


def test_rows_from_the_standard_input(rows: Path, tmp_path: Path) -> None:
    words = ("-k", 2, "-o", tmp_path / "run", "--drop", "kind", "--rows", 60, *TINY)
    result = run("fit", "-", *words, typed=rows.read_text())
    assert result.exit_code == 0, result.output
    assert "60 of 120 rows" in result.stderr
    table = pq.read_table(tmp_path / "run" / "labels.parquet")
    assert table.num_rows == 60 and table["row"].to_pylist() != list(range(60))


def test_text_by_lines(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    words = ["apple pear plum", "wheel engine brake"]
    path.write_text("\n".join(f"{words[i % 2]} {i % 7}" for i in range(60)))
    result = run("fit", path, "--lines", "-k", 2, "-o", tmp_path / "run", *TINY)
    assert result.exit_code == 0, result.output
    assert read_run(tmp_path / "run")["data"]["kind"] == "text"


def test_output_that_exists_is_kept(fitted: Path, rows: Path) -> None:
    before = (fitted / "run.json").read_bytes()
    result = run("fit", rows, "-k", 2, "-o", fitted, *TINY)
    assert result.exit_code == 2 and "--overwrite" in result.stderr
    assert (fitted / "run.json").read_bytes() == before


def test_overwrite_replaces_a_run_but_no_other_folder(
    rows: Path, tmp_path: Path
) -> None:
    words = ("fit", rows, "-k", 2, "--overwrite", "-q", *TINY, "-o")
    assert run(*words, tmp_path / "run").exit_code == 0
    assert run(*words, tmp_path / "run").exit_code == 0
    assert os.listdir(tmp_path) == ["run"]
    result = run(*words, rows.parent)
    assert result.exit_code == 2 and "holds other things" in result.stderr
    assert rows.exists()


def test_output_that_cannot_be_written_fails_before_loading(
    rows: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    result = run("fit", rows, "-k", 2, "-o", tmp_path / "file" / "run", *TINY)
    assert result.exit_code == 2 and "Choose another" in result.stderr
    assert "load" not in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-k", 200], 3, "n_clusters=200"),
        (["-k", 2, "--columns", "a,nonsense"], 3, "nonsense"),
        (["-k", 2, "--network", "conv"], 2, "input_shape"),
        (["-k", 2, "--device", "cuda:0"], 2, "GPU"),
        (["-k", 2, "--device", "abacus"], 2, "abacus"),
        (["-k", 2, "--lam", "nan"], 2, "lam"),
        (["-k", 2, "--hidden", "8,x"], 2, "--hidden"),
        (["-k", 2, "--image-size", "8"], 2, "--image-size"),
        (["-k", 0], 2, "-k"),
        (["-k", 2, "--quiet", "--json"], 2, "exclude"),
        ([], 2, "--clusters"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_code(
    words: list[object], code: int, message: str, rows: Path, tmp_path: Path
) -> None:
    result = run("fit", rows, "-o", tmp_path / "run", *words)
    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "'a'"),
        ("a,b\n1,2\n3\n", "Line 3"),
    ],
)
def test_bad_files_are_refused_with_code_3(
    content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    result = run("fit", path, "-k", 1, "-o", tmp_path / "run")
    assert result.exit_code == 3 and message in result.stderr
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_missing_values_can_be_refused(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + ",3\n" + "4,5.5\n" * 20)
    words = ("fit", path, "-k", 2, "-o", tmp_path / "run", *TINY)
    refused = run(*words, "--missing", "error")
    assert refused.exit_code == 3 and "'a'" in refused.stderr
    assert "20" in refused.stderr  # the row
    dropped = run(*words, "--missing", "drop")
    assert dropped.exit_code == 0, dropped.output
    assert pq.read_table(tmp_path / "run" / "labels.parquet").num_rows == 40


def test_strict_leaves_on_collapse(tmp_path: Path) -> None:
    path = tmp_path / "same.csv"
    path.write_text("a,b\n" + "1,2\n" * 40)
    words = ("fit", path, "-k", 2, *TINY, "-o", tmp_path / "run")
    strict = run(*words, "--strict")
    assert strict.exit_code == 6, strict.output
    assert os.listdir(tmp_path) == ["same.csv"]


def test_no_epochs_is_a_valid_run(rows: Path, tmp_path: Path) -> None:
    words = ("--pretrain-epochs", 1, "--epochs", 0, "--hidden", 8, "--starts", 2)
    result = run("fit", rows, "-k", 2, "-o", tmp_path / "run", *words)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (TrainingDiverged("smaller steps"), 6, "smaller steps"),
        (MemoryError("9 GB"), 5, "--rows"),
        (OSError(28, "No space left on device"), 5, "No space left"),
        (KeyboardInterrupt(), 130, "Nothing was written"),
        (RuntimeError("odd"), 1, "The trace is in"),
    ],
)
def test_errors_leave_nothing_behind(
    error: BaseException,
    code: int,
    message: str,
    rows: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(fit_module, "train", fail)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    out = tmp_path / "place" / "run"
    result = run("fit", rows, "-k", 2, "-o", out)
    assert result.exit_code == code and message in result.stderr
    assert os.listdir(out.parent) == []


def test_terminated_while_loading_leaves_nothing(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*words: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(fit_module, "load", end)
    result = run("fit", rows, "-k", 2, "-o", tmp_path / "run")
    assert result.exit_code == 130 and os.listdir(tmp_path) == []


def test_dry_run_explains_and_writes_nothing(rows: Path, tmp_path: Path) -> None:
    result = run("fit", rows, "-k", 3, "-o", tmp_path / "run", "--dry-run")
    assert result.exit_code == 0, result.output
    for words in ("Columns used", "n_components", "as many as clusters", "memory"):
        assert words in result.stdout
    assert os.listdir(tmp_path) == []


def test_file_larger_than_memory_is_refused_before_reading(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kfriendly.cli.memory.free_bytes", lambda: 1_000)
    result = run("fit", rows, "-k", 3, "-o", tmp_path / "run")
    assert result.exit_code == 5 and "kfriendly predict" in result.stderr


@pytest.mark.parametrize(
    ("words", "views", "init"),
    [((), Neighbors(), "kmeans"), (("--views", "none"), None, "mixture")],
)
def test_views_are_on_unless_none_are_asked_for(
    words: tuple[str, ...], views: object, init: str, rows: Path, tmp_path: Path
) -> None:
    names = ("--id", "name", "--label", "kind")
    result = run("fit", rows, "-k", 3, "--out", tmp_path / "run", *names, *TINY, *words)
    assert result.exit_code == 0, result.output
    plan = DCN.load(tmp_path / "run" / "model")._plan
    assert (plan.views, plan.init) == (views, init)


def test_numbers_and_categories_keep_the_weights_they_were_given(
    tmp_path: Path,
) -> None:
    table = tmp_path / "mixed.csv"
    rng = np.random.RandomState(0)
    # One income far beyond the others: by widths alone, columns of unlike units.
    income = [*rng.rand(299), 300.0]
    lines = [f"{x:.3f},{'abc'[i % 3]}" for i, x in enumerate(income)]
    table.write_text("\n".join(["income,kind", *lines]))
    result = run("fit", table, "-k", 2, "--out", tmp_path / "run", *TINY)
    assert result.exit_code == 0, result.output
    assert DCN.load(tmp_path / "run" / "model").scaling_.rule == "common"


def test_choices_say_that_texts_lose_words() -> None:
    X = sp.csr_array(sp.random_array((90, 200), density=0.1, format="csr", rng=0))
    model = DCN(2)
    choices = explain(model, model._make_plan(X), find_scaling(X, "common"), 90)
    views = next(choice for choice in choices if choice.name == "views")
    assert views.value == "10 neighbours, less 50% of their words"
    assert "like words" in views.why


def test_choices_say_that_images_are_moved() -> None:
    X = np.random.default_rng(0).random((90, 64))
    model = DCN(2, input_shape=(8, 8))
    choices = explain(model, model._make_plan(X), find_scaling(X, "common"), 90)
    views = next(choice for choice in choices if choice.name == "views")
    assert views.value == "10 neighbours, moved by up to 0.29 pixels"
    assert "images" in views.why


def test_choices_say_that_many_texts_are_trained_longer() -> None:
    X = sp.csr_array(sp.random_array((5_001, 200), density=0.01, format="csr", rng=0))
    model = DCN(2, views=None)
    plan = model._make_plan(X)
    choices = explain(model, plan, find_scaling(X, "common"), 5_001)
    epochs = next(choice for choice in choices if choice.name == "pretrain_epochs")
    assert epochs.value == plan.pretrain.n_epochs == 100
    assert "5,600 steps" in epochs.why
