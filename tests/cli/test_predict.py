"""`kfriendly predict` and `transform`."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from commands import run

from kfriendly import DCN
from kfriendly.cli import predict as predict_module


def test_predict_of_the_same_rows_gives_the_same_labels(
    fitted: Path, rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new.parquet"
    assert run("predict", fitted, rows, "--out", out).exit_code == 0
    assert pq.read_table(out).equals(pq.read_table(fitted / "labels.parquet"))


def test_predict_in_parts_equals_predict_at_once(
    fitted: Path, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict_module, "_PART", 3 * 7)  # seven rows
    out = tmp_path / "new.parquet"
    assert run("predict", fitted, rows, "-o", out).exit_code == 0
    found, whole = pq.read_table(out), pq.read_table(fitted / "labels.parquet")
    assert found["name"].equals(whole["name"])
    assert found["cluster"].equals(whole["cluster"])
    np.testing.assert_allclose(found["distance"], whole["distance"], rtol=1e-4)


def test_columns_are_found_by_name(fitted: Path, rows: Path, tmp_path: Path) -> None:
    table = pyarrow.csv.read_csv(rows).select(["c", "kind", "a", "name", "b"])
    pyarrow.csv.write_csv(table, tmp_path / "other.csv")
    out = tmp_path / "new.parquet"
    assert run("predict", fitted, tmp_path / "other.csv", "-o", out).exit_code == 0
    assert pq.read_table(out).equals(pq.read_table(fitted / "labels.parquet"))


def test_missing_column_is_named(fitted: Path, rows: Path, tmp_path: Path) -> None:
    table = pyarrow.csv.read_csv(rows).drop_columns(["b"])
    pyarrow.csv.write_csv(table, tmp_path / "other.csv")
    result = run("predict", fitted, tmp_path / "other.csv", "-o", tmp_path / "x.csv")
    assert result.exit_code == 3 and "'b'" in result.stderr
    assert not (tmp_path / "x.csv").exists()


def test_rows_without_names_get_numbers(
    fitted: Path, rows: Path, tmp_path: Path
) -> None:
    table = pyarrow.csv.read_csv(rows).drop_columns(["name", "kind"])
    pyarrow.csv.write_csv(table, tmp_path / "other.csv")
    out = tmp_path / "x.parquet"
    result = run("predict", fitted, tmp_path / "other.csv", "-o", out)
    assert result.exit_code == 0, result.output
    assert pq.read_table(out)["row"].to_pylist() == list(range(120))


def test_output_is_a_table_and_nothing_else(fitted: Path, rows: Path) -> None:
    result = run("predict", fitted, rows, "--out", "-")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0 and len(lines) == 121
    assert lines[0].replace('"', "") == "name,cluster,confidence,distance"


def test_transform_gives_the_learned_space(
    fitted: Path, rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "space.parquet"
    assert run("transform", fitted, rows, "-o", out).exit_code == 0
    table = pq.read_table(out)
    assert table.column_names == ["name", *(f"z{i}" for i in range(10))]
    X = np.genfromtxt(rows, delimiter=",", skip_header=1, usecols=(1, 2, 3))
    H = DCN.load(fitted / "model").transform(X.astype(np.float32))
    np.testing.assert_array_equal(np.column_stack(table.columns[1:]), H)


def test_changed_data_is_noticed(fitted: Path, tmp_path: Path) -> None:
    far = pa.table({name: np.linspace(50, 90, 40) for name in "abc"})
    pq.write_table(far, tmp_path / "far.parquet")
    result = run("predict", fitted, tmp_path / "far.parquet", "-o", tmp_path / "x.csv")
    assert result.exit_code == 0 and "may have changed" in result.stderr


@pytest.mark.parametrize(
    ("out", "code"), [("x.txt", 2), ("none/x.csv", 2), ("there.csv", 2), ("x.csv", 0)]
)
def test_output_rules(
    out: str, code: int, fitted: Path, rows: Path, tmp_path: Path
) -> None:
    (tmp_path / "there.csv").write_text("mine")
    result = run("predict", fitted, rows, "-o", tmp_path / out)
    assert result.exit_code == code, result.output
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if ".tmp-" in path.name]


def test_a_value_that_cannot_be_used_leaves_no_half_file(
    fitted: Path, rows: Path, tmp_path: Path
) -> None:
    text = rows.read_text().replace("r100,", "r100,inf,1,1,k0\nr100b,")
    (tmp_path / "bad.csv").write_text(text)
    result = run("predict", fitted, tmp_path / "bad.csv", "-o", tmp_path / "x.csv")
    assert result.exit_code == 3 and "infinite" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("name", ["run.json", "model/weights.safetensors"])
@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_broken_run_is_code_4(
    name: str, content: bytes, fitted: Path, rows: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(fitted, copy)
    (copy / name).write_bytes(content)
    result = run("predict", copy, rows, "-o", tmp_path / "x.csv")
    assert result.exit_code == 4 and Path(name).name in result.stderr


def test_folder_that_is_no_run_is_code_4(tmp_path: Path, rows: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        result = run("predict", folder, rows, "-o", tmp_path / "x.csv")
        assert result.exit_code == 4 and "kfriendly fit" in result.stderr
