"""`kfriendly sweep`."""

import json
from pathlib import Path

import pytest
from commands import run

from kfriendly.cli.wishes import read_numbers

QUICK = ("--hidden", "8", "--pretrain-epochs", "2", "--epochs", "1", "--starts", "2")


def test_sweep_writes_curves_and_a_suggestion(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    words = ("-k", "2:4", "--drop", "kind", "--id", "name", "-o", out, *QUICK)
    result = run("sweep", rows, *words)
    assert result.exit_code == 0, result.output
    assert (out / "sweep.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((out / "sweep.json").read_text())
    assert [point["n_clusters"] for point in found["points"]] == [2, 3, 4]
    assert found["reason"].split()[0] in result.stdout
    words_of_fit = "--id name --drop kind --hidden 8 --pretrain-epochs 2 --epochs 1"
    command = f"Next: kfriendly fit {rows} {words_of_fit} -k {found['suggestion']}"
    assert command in result.stdout.replace("\n", " ")
    assert run("sweep", rows, *words).exit_code == 2  # it is there


def test_sweep_as_json_needs_no_folder(rows: Path) -> None:
    result = run("sweep", rows, "-k", "2,3", "--json", *QUICK)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [e["n_clusters"] for e in events if e["event"] == "clusters"] == [2, 3]
    assert events[-1]["event"] == "result" and len(events[-1]["points"]) == 2


def test_sweep_trains_with_the_views_asked_for(rows: Path, tmp_path: Path) -> None:
    words = ("-k", "2,3", "--drop", "kind", "--id", "name", *QUICK)
    found = {}
    for views in ("auto", "neighbors", "none"):
        out = tmp_path / views
        assert run("sweep", rows, *words, "--views", views, "-o", out).exit_code == 0
        found[views] = json.loads((out / "sweep.json").read_text())
    assert [about["parameters"]["views"] for about in found.values()] == [
        "auto",
        "neighbors",
        None,
    ]
    assert found["auto"]["points"] == found["neighbors"]["points"]
    assert found["auto"]["points"] != found["none"]["points"]


@pytest.mark.parametrize("text", ["1:4", "x", "", "5:2", "2:9:0", "2:3,4", "3,1"])
def test_ranges_that_make_no_sense_are_usage_errors(text: str, rows: Path) -> None:
    result = run("sweep", rows, "-k", text)
    assert result.exit_code == 2 and "2:20" in result.stderr.replace("\n", "")


def test_more_clusters_than_rows_is_bad_data(rows: Path) -> None:
    assert run("sweep", rows, "-k", "2:200").exit_code == 3


def test_read_numbers_sorts_and_drops_twins() -> None:
    assert read_numbers("8,4,8") == (4, 8)
