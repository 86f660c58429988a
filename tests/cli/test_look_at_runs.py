"""`kfriendly inspect`, `compare` and `report`."""

import json
import shutil
from pathlib import Path

import pytest
from commands import TINY, run

from kfriendly.cli.compare import agree


@pytest.fixture
def copy(fitted: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return Path(shutil.copytree(fitted, tmp_path / "copy"))


def test_inspect_shows_data_model_and_files(fitted: Path) -> None:
    result = run("inspect", fitted)
    assert result.exit_code == 0, result.output
    for words in ("120 rows", "SHA-256", "joint epochs", "labels.parquet", "whole"):
        assert words in result.stdout


def test_inspect_as_json(fitted: Path) -> None:
    found = json.loads(run("inspect", fitted, "--json").stdout)
    assert set(found["files"].values()) == {"whole"}
    assert found["parameters"]["n_clusters"] == 3


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("labels.parquet", b"x", "another size"),
        ("metrics.jsonl", None, "not there"),
        ("model/weights.safetensors", b"", "another size"),
    ],
)
def test_inspect_names_what_was_changed(
    name: str, content: bytes | None, words: str, copy: Path
) -> None:
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    result = run("inspect", copy)
    assert result.exit_code == 4
    assert words in result.stdout and name in result.stderr


def test_inspect_finds_one_flipped_bit(copy: Path) -> None:
    path = copy / "report.html"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    result = run("inspect", copy)
    assert result.exit_code == 4 and "another checksum" in result.stdout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 9}, "format 9"),
        ({"data": None}, "'data'"),
        ({"files": {"../x": {}}}, "leads out"),
    ],
)
def test_strange_run_json_is_refused(
    change: dict[str, object], words: str, copy: Path
) -> None:
    about = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(about | change))
    result = run("inspect", copy)
    assert result.exit_code == 4 and words in result.stderr


def test_report_is_written_anew_and_sealed(copy: Path, tmp_path: Path) -> None:
    page = (copy / "report.html").read_bytes()
    (copy / "report.html").unlink()
    assert run("report", copy).exit_code == 0
    assert (copy / "report.html").read_bytes() == page
    assert run("inspect", copy).exit_code == 0
    other = tmp_path / "page.html"
    assert run("report", copy, "--out", other).exit_code == 0
    assert run("report", copy, "--out", other).exit_code == 2
    assert other.read_bytes() == page


def test_report_of_a_broken_story_is_code_4(copy: Path) -> None:
    (copy / "story.json").write_text("{}")
    assert run("report", copy).exit_code == 4


def test_compare_with_itself_agrees_wholly(fitted: Path) -> None:
    result = run("compare", fitted, fitted)
    assert result.exit_code == 0, result.output
    assert "none differs" in result.stdout and "agree to 1.000" in result.stdout


def test_compare_shows_what_differs(fitted: Path, rows: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    words = ("-k", 2, "--id", "name", "--drop", "kind", "--rows", 80, *TINY)
    assert run("fit", rows, *words, "-o", other, "--format", "csv").exit_code == 0
    found = json.loads(run("compare", fitted, other, "--json").stdout)
    assert found["parameters"]["n_clusters"] == ["3", "2"]
    assert found["agreement"]["shared"] == 80 and found["same_data"]
    assert found["agreement"]["ari"] == agree(other, fitted).ari
    assert "stability over starts (higher)" in found["outcome"]


def test_compare_without_labels_or_shared_rows(copy: Path, fitted: Path) -> None:
    (copy / "labels.parquet").write_bytes(b"cut")
    assert run("compare", copy, fitted).exit_code == 4
    (copy / "labels.parquet").unlink()
    assert run("compare", copy, fitted).exit_code == 4
    (copy / "labels.csv").write_text("name,cluster\nelse,0\n")
    result = run("compare", copy, fitted)
    assert result.exit_code == 0 and "share no rows" in result.stdout
