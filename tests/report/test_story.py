import base64
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from stories import image_story, table_story, tell, text_story

from kfriendly.inputs import Batch
from kfriendly.report.cards import find_differences
from kfriendly.report.contents import kind_of, pack_column, pack_columns, pack_texts
from kfriendly.report.packing import cost, excerpt, number, pack
from kfriendly.report.plane import choose_rows, give_slots, make_plane
from kfriendly.report.thumbnails import make_sheet


def unpack(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)


@pytest.mark.parametrize("story", [image_story, text_story, table_story])
def test_tell_story_gives_json_without_nan(story: Any) -> None:
    told = story()
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_tell_story_sizes_add_up_and_cards_stand_largest_first() -> None:
    sizes = [card["size"] for card in image_story()["cards"]]
    assert sum(sizes) == 250
    assert sizes == sorted(sizes, reverse=True)


def test_tell_story_names_texts_by_their_words() -> None:
    topics = [{"moon", "orbit", "rocket"}, {"goal", "team", "hockey"}]
    names = [set(card["name"].split(", ")) for card in text_story()["cards"]]
    assert [topic for topic in topics if topic in names] == topics


def test_tell_story_names_are_distinct() -> None:
    names = [card["name"] for card in table_story()["cards"]]
    assert len(set(names)) == len(names)
    assert all(name.startswith(("high ", "low ")) for name in names)


def test_tell_story_points_match_the_rows() -> None:
    told = table_story()["map"]
    assert told["ids"][5] == '"quoted", 5'
    assert unpack(told["rows"], "<u4").tolist() == list(range(178))
    assert unpack(told["cluster"], "<u2").max() < 3
    assert {unpack(told["x"], "<u2").max(), unpack(told["y"], "<u2").max()} >= {65_535}


def test_tell_story_ids_that_are_row_numbers_are_not_stored() -> None:
    assert text_story()["map"]["ids"] is None


def test_tell_story_confusion_counts_every_row() -> None:
    confusion = table_story()["confusion"]
    assert sum(map(sum, confusion["counts"])) == 178
    assert sorted(confusion["clusters"]) == [0, 1, 2]
    assert confusion["classes"] == ["0", "1", "2"]


def test_tell_story_without_labels_has_no_confusion() -> None:
    told = text_story()
    assert told["confusion"] is None
    assert told["verdict"]["scores"][0]["nmi"] is None


def test_tell_story_one_cluster_and_one_latent_dimension() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    batch = Batch(X, [str(i) for i in range(40)], None)
    told = tell(X, batch, ["a", "b", "c"], 1, fit={"n_components": 1})
    assert told["verdict"]["level"] != "trust"
    assert "only one cluster" in told["verdict"]["reasons"][0]
    assert told["map"]["method"] == "as it is"
    assert json.dumps(told, allow_nan=False)


def test_tell_story_cuts_the_number_of_points_for_very_long_ids() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    batch = Batch(X, [f"{i}" * 10_000 for i in range(60)], None)
    told = tell(X, batch, ["a", "b", "c"], 2)
    assert told["map"]["n"] < 60
    assert cost(told["map"]["ids"]) < 900_000


def test_plane_of_two_dimensions_is_as_it_is() -> None:
    H = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    np.testing.assert_array_equal(make_plane(H, 100.0).points, H)


@pytest.mark.parametrize(("seconds", "method"), [(60.0, "t-SNE"), (0.0, "PCA")])
def test_plane_says_how_it_was_made(seconds: float, method: str) -> None:
    H = np.random.default_rng(0).normal(size=(40, 5))
    plane = make_plane(H, seconds)
    assert plane.method == method
    assert method in plane.sentence
    assert np.isfinite(plane.points).all()


def test_plane_of_a_latent_space_that_is_a_point() -> None:
    assert not make_plane(np.ones((20, 4)), 60.0).points.any()


def test_choose_rows_samples_without_repeats() -> None:
    rows = choose_rows(30_000, 20_000)
    assert len(np.unique(rows)) == 20_000
    assert choose_rows(5).tolist() == [0, 1, 2, 3, 4]


def test_slots_of_one_colour_lie_apart() -> None:
    points = np.column_stack([np.arange(20.0), np.zeros(20)])
    slots = np.array(give_slots(points, np.arange(20), 20))
    assert sorted(slots) == list(range(20))
    pairs = [np.flatnonzero(slots % 10 == colour) for colour in range(10)]
    assert min(np.ptp(pair) for pair in pairs) >= 5


def test_slots_with_an_empty_cluster() -> None:
    assert sorted(give_slots(np.zeros((12, 2)), np.arange(12), 13)) == list(range(13))


def test_kind_of_raw_rows() -> None:
    images = np.zeros((2, 3, 3), np.uint8)
    contents = [pa.table({"a": [1]}), ["text"], images, np.zeros((2, 2))]
    kinds = ["table", "text", "images", "array"]
    assert [kind_of(content) for content in contents] == kinds


def test_excerpt_keeps_one_line_of_valid_text() -> None:
    assert excerpt("a\n\tb\x00c", 10) == "a b c"
    assert excerpt("x" * 100, 10) == "x" * 9 + "…"
    assert excerpt("\ud800", 10) == "?"


def test_pack_texts_fits_the_budget() -> None:
    assert cost(pack_texts(["é<&" * 500] * 200, 60_000)) <= 60_000


def test_pack_column_reads_numbers_and_codes_texts() -> None:
    table = pa.table(
        {"n": ["1", "", "2.5"], "w": ["3", "4", "5"], "t": ["a", "b", "a"]}
    )
    packed = pack_columns(table, ["n", "w", "t"], [0, 1, 2], 10_000)
    values = unpack(packed[0]["data"], "<f4")
    assert values[0] == 1.0 and np.isnan(values[1])
    assert unpack(packed[1]["data"], "<i4").tolist() == [3, 4, 5]
    assert packed[2]["values"] == ["a", "b"]


def test_pack_column_of_large_whole_numbers_is_exact() -> None:
    packed = pack_column(np.array([2**40 + 1, 2**40 + 3, 2**40 + 5]))
    assert packed["data"] == [str(2**40 + i) for i in (1, 3, 5)]


def test_pack_columns_leaves_out_what_does_not_fit() -> None:
    X = np.random.default_rng(0).normal(size=(1_000, 5))
    assert len(pack_columns(X, list("abcde"), [0, 1, 2, 3, 4], 12_000)) == 2


def test_sheet_of_twenty_thousand_images_fits_the_budget() -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (20_000, 28, 28)).astype(np.uint8)
    sheet = make_sheet(images, 1_450_000)
    assert sheet is None or len(sheet["url"]) <= 1_450_000


def test_sheet_keeps_small_images_and_colour() -> None:
    images = np.zeros((7, 8, 8, 3), np.uint8)
    sheet = make_sheet(images, 50_000)
    assert sheet is not None
    assert (sheet["size"], sheet["columns"]) == (8, 3)


def test_differences_of_clusters_by_hand() -> None:
    X = np.array([[0.0, 5.0], [0.0, 5.0], [2.0, 5.0], [2.0, 5.0]])
    found = find_differences(X, np.array([0, 0, 1, 1]), 3)
    np.testing.assert_allclose(found.standardised, [[-1, 0], [1, 0], [0, 0]])


def test_number_has_no_nan() -> None:
    assert number(float("nan")) is None
    assert number(np.float32(0.5)) == 0.5
    assert pack(np.array([258]), "u2") == "AgE="
