"""Columns of a table: used, encoded, set aside, refused."""

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from learned import Csv, Learn

from kfriendly.errors import BadInput
from kfriendly.inputs import Features, InputOptions, open_input, plan_features
from kfriendly.inputs.table_features import TableFeatures

N = 40


def unweighed(features: Features) -> Features:
    """Leave out the step that makes columns weigh alike."""
    assert isinstance(features, TableFeatures)
    return replace(features, sizes=())


def _csv_of(columns: dict[str, list[object]]) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    return ",".join(f'"{name}"' for name in columns) + "\n" + "\n".join(lines) + "\n"


def _mixed() -> str:
    return _csv_of(
        {
            "customer_id": [1_000 + 7 * row for row in range(N)],
            "row": list(range(N)),
            "age": [20 + row % 13 if row != 5 else "" for row in range(N)],
            "city": [["Rom", "Oslo", "NA", "Bern"][row % 4] for row in range(N)],
            "member": [["true", "FALSE"][row % 2] for row in range(N)],
            "since": [f"2024-01-{row % 28 + 1:02}" for row in range(N)],
            "code": [f"k{row * 31}" for row in range(N)],
            "remark": [f"the order {row} came late by {row} days" for row in range(N)],
            "same": ["5"] * N,
            "nothing": [""] * N,
        }
    )


def test_mixed_columns_are_told_apart(csv: Csv, learn: Learn) -> None:
    found = learn(csv(_mixed()))
    assert found.features.names == [
        "age",
        "city=Bern",
        "city=Oslo",
        "city=Rom",
        "member",
    ]
    assert found.X[5, 0] == 26 and found.X[2, 1:4].tolist() == [0, 0, 0]
    assert found.X[:2, 4].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("customer_id", "--id 'customer_id' names them by it"),
        ("row", "it numbers the rows"),
        ("since", "--columns with 'since' in it uses them as days"),
        ("code", "--id 'code' names the rows"),
        ("remark", "--text 'remark' clusters by its words"),
        ("same", "all its values are alike"),
        ("nothing", "it has no values"),
        ("age", "lacks 1 value of 40, filled with the median, 26"),
        ("city", "a column for each of 3 values"),
    ],
)
def test_a_note_says_what_was_done(
    csv: Csv, learn: Learn, column: str, words: str
) -> None:
    notes = learn(csv(_mixed())).features.notes
    assert any(repr(column) in note and words in note for note in notes), notes


def test_named_columns_are_used_whatever_they_look_like(csv: Csv, learn: Learn) -> None:
    found = learn(csv(_mixed()), columns=("row", "since", "code", "same"))
    assert found.features.names[:2] == ["row", "since"]
    assert found.X[:3, 0].tolist() == [0, 1, 2]
    assert np.diff(found.X[:3, 1]).tolist() == [1, 1]  # days
    assert len(found.features.names) == 2 + 21 + 1  # 20 codes and "other"; "same"


def test_id_and_label_are_not_used(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b,c\n1,2,7\n2,9,8\n"), id="b", label="c")
    assert found.features.names == ["a"] and found.batch.ids == ["2", "9"]
    assert found.batch.labels is not None and found.batch.labels.tolist() == ["7", "8"]
    assert any("scores only" in note for note in found.features.notes)


def test_dropped_columns_are_not_read(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b\n1,x\n2,y\n"), drop=("b",))
    assert found.batch.content.column_names == ["a"]
    with pytest.raises(BadInput, match="--drop 'z'"):
        learn(csv("a,b\n1,2\n2,3\n"), drop=("z",))


def test_rare_values_share_a_column(csv: Csv, learn: Learn) -> None:
    values = [f"v{k}" for k in range(25) for _ in range(30 - k)]
    found = learn(csv("a\n" + "\n".join(values) + "\n"))
    assert found.features.names == [*(f"a=v{k}" for k in range(20)), "a=other"]
    assert found.X.sum(axis=1).tolist() == [1] * len(values)
    assert found.X[-1, -1] == 1


def test_unseen_value_is_other_or_nothing(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b\n1,x\n2,y\n3,x\n4,w\n"))
    new = open_input(str(csv("b,a\nz,1\n")), InputOptions()).read()
    assert unweighed(found.features).transform(new).tolist() == [[1, 0, 0, 0]]


def test_two_values_need_one_column(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b\n1,no\n2,yes\n3,no\n4,\n"))
    assert found.features.names == ["a", "b=no"]
    assert found.X[:, 1].tolist() == [1, 0, 1, 0.5]
    assert "'b' is encoded: 1 is 'no', 0 is 'yes'." in found.features.notes
    new = open_input(str(csv("b,a\nmaybe,1\nyes,1\n")), InputOptions()).read()
    assert unweighed(found.features).transform(new)[:, 1].tolist() == [0.5, 0]


@pytest.mark.parametrize(
    ("text", "number"),
    [("007", 7), (" 1e3 ", 1000), ("+2.5", 2.5), (".5", 0.5), ("-3.", -3)],
)
def test_digit_strings_are_numbers(
    csv: Csv, learn: Learn, text: str, number: float
) -> None:
    assert learn(csv(f"a,b\n{text},1\n17,2\n")).X[0, 0] == number


def test_thousands_are_not_taken_for_decimals(csv: Csv, learn: Learn) -> None:
    rows = "".join(f'"{k % 3 + 1},000",{k % 4}\n' for k in range(12))
    assert learn(csv("a,b\n" + rows)).features.names[0] == "a=1,000"


def test_numbers_with_a_stray_word_are_refused(csv: Csv, learn: Learn) -> None:
    rows = [f"{row / 7:.4f},{row % 3}" for row in range(60)]
    rows[17] = "unknown,1"
    with pytest.raises(BadInput, match=r"'a' is numbers but for 1 value: 'unknown'"):
        learn(csv("a,b\n" + "\n".join(rows)))


def test_arrow_types_become_numbers(tmp_path: Path, learn: Learn) -> None:
    table = pa.table(
        {
            "flag": [True, None, False],
            "small": pa.array([1.5, 2, 4], pa.float16()),
            "money": [Decimal("1.25"), Decimal("2.50"), None],
            "whole": pa.array([2**62, 1, 5], pa.int64()),
            "kind": pa.array(["u", "v", "u"]).dictionary_encode(),
        }
    )
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(table, path)
    found = learn(path, drop=("whole",))
    assert found.X[:, 0].tolist() == [1, 0.5, 0]
    assert found.X[:, 2].tolist() == [1.25, 2.5, 1.875]
    assert found.features.names[3:] == ["kind=u"]
    with pytest.raises(BadInput, match=r"beyond 1e\+15 in column 'whole'"):
        learn(path)


def test_dates_times_and_lists_are_set_aside(tmp_path: Path, learn: Learn) -> None:
    moments = [datetime(2024, 1, 1, 12), None, datetime(2024, 1, 3)]
    table = pa.table(
        {
            "x": [1.0, 2.0, 4.0],
            "day": [date(2024, 1, 1), date(2024, 1, 2), None],
            "moment": moments,
            "clock": [time(6), time(12), time(18)],
            "span": [timedelta(days=1), timedelta(days=2), None],
            "list": [[1], [2, 3], []],
        }
    )
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(table, path)
    assert learn(path).features.names == ["x"]
    found = learn(path, columns=("clock", "span", "day", "moment"))
    days = dict(zip(found.features.names, found.X.T.tolist(), strict=True))
    assert days["clock"] == [0.25, 0.5, 0.75] and days["span"] == [1, 2, 1.5]
    assert days["day"][1] - days["day"][0] == 1
    with pytest.raises(BadInput, match="'list' cannot be used"):
        learn(path, columns=("list",))


def test_dates_that_nobody_can_read_are_refused(csv: Csv, learn: Learn) -> None:
    with pytest.raises(BadInput, match="Write them as 2024-03-01"):
        learn(csv("a\n3/4/2024\n5/6/2024\n"), columns=("a",))


def test_rows_all_alike_are_used(csv: Csv, learn: Learn) -> None:
    assert learn(csv("a,b\n1,2\n1,2\n1,2\n")).X.tolist() == [[1, 2]] * 3


def test_nothing_to_use_is_refused_with_the_reasons(csv: Csv, learn: Learn) -> None:
    with pytest.raises(BadInput, match=r"No column can be used.\n.*'d' is set aside"):
        learn(csv("d\n2024-01-01\n2024-01-02\n"))


def test_missing_values_refused_dropped_or_filled(csv: Csv, learn: Learn) -> None:
    content = "a,b\n1,x\n,y\n4,\nNaN,x\n7,y\n"
    assert learn(csv(content)).X[:, 0].tolist() == [1, 4, 4, 4, 7]
    dropped = learn(csv(content), missing="drop")
    assert dropped.batch.ids == ["0", "4"] and dropped.X[:, 0].tolist() == [1, 7]
    assert any("3 rows of 5" in note for note in dropped.features.notes)
    with pytest.raises(
        BadInput, match=r"2 missing values in column 'a'.\n.*row 1, row 3"
    ):
        learn(csv(content), missing="error")


def test_infinity_is_refused_or_dropped(csv: Csv, learn: Learn) -> None:
    content = "a,b\n1,2\ninf,3\n2,4\n-inf,9\n"
    with pytest.raises(BadInput, match="2 infinite values in column 'a'"):
        learn(csv(content))
    assert learn(csv(content), missing="drop").batch.ids == ["0", "2"]


def test_overflow_is_refused_with_advice_to_scale(csv: Csv, learn: Learn) -> None:
    with pytest.raises(BadInput, match=r"column 'b'[^\n]*\n.*row 1\..*\nScale"):
        learn(csv("a,b\n1,2\n3,1e31\n"))


def test_columns_may_come_in_another_order(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b\n1,2\n3,5\n"))
    other = open_input(str(csv("b,a\n5,3\n")), InputOptions()).read()
    assert found.features.transform(other).tolist() == [[3, 5]]


def test_missing_and_new_columns_are_listed(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b\n1,2\n3,5\n"))
    other = open_input(str(csv("a,c\n5,3\n")), InputOptions()).read()
    with pytest.raises(BadInput, match=r"without 'b' and with the new 'c'"):
        found.features.transform(other)


def test_columns_set_aside_may_come_or_not(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,d,y\n1,2024-01-01,u\n3,2024-01-02,v\n"), label="y")
    for content in ("a\n3\n", "y,d,a\nu,2024-01-05,3\n"):
        batch = open_input(str(csv(content)), InputOptions()).read()
        assert found.features.transform(batch).tolist() == [[3]]


def test_word_among_new_numbers_is_refused(csv: Csv, learn: Learn) -> None:
    found = learn(csv("a,b\n1,2\n3,5\n"))
    new = open_input(str(csv("a,b\n1,2\n3,x\n")), InputOptions()).read()
    with pytest.raises(BadInput, match=r"'b' has 1 value .*'x'.\n.*row 1"):
        found.features.transform(new)


def test_plan_does_not_look_at_classes(csv: Csv) -> None:
    features = []
    for classes in ("uuvv", "vuvu"):
        rows = "".join(f"{row},{c}\n" for row, c in enumerate(classes))
        options = InputOptions(label="y")
        source = open_input(str(csv("a,y\n" + rows)), options)
        features.append(plan_features(source, source.read(), options))
    assert features[0] == features[1]


@pytest.mark.parametrize("name", ["id", "user_id", "userId", "ID", "row-index", "Key"])
def test_names_of_identifiers_are_known(csv: Csv, learn: Learn, name: str) -> None:
    found = learn(csv(f"{name},b\n17,2\n3,5\n40,1\n"))
    assert found.features.names == ["b"]


@pytest.mark.parametrize("name", ["paid", "grid", "acid", "idle", "keys pressed"])
def test_other_names_are_no_identifiers(csv: Csv, learn: Learn, name: str) -> None:
    found = learn(csv(f"{name},b\n17,2\n3,5\n40,1\n"))
    assert found.features.names == [name, "b"]


def test_model_of_a_parquet_file_takes_csv(
    tmp_path: Path, csv: Csv, learn: Learn
) -> None:
    days = [date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 2)]
    table = pa.table({"flag": [True, False, None], "day": days, "x": [1, 2, 4]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    found = learn(tmp_path / "a.parquet", columns=("flag", "day", "x"))
    text = "x,day,flag\n1,2024-01-01,true\n2,2024-01-03,False\n4,2024-01-02,\n"
    batch = open_input(str(csv(text)), InputOptions()).read()
    assert found.features.transform(batch).tolist() == found.X.tolist()


def test_column_without_a_value_is_filled(tmp_path: Path, learn: Learn) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"n": [1.0, 2.0, 4.0, 3.0], "c": ["u", "v", "u", "v"]})
    pyarrow.parquet.write_table(table, path)
    features = learn(path).features
    pyarrow.parquet.write_table(pa.table({"n": [None], "c": [None]}), path)
    batch = open_input(str(path), InputOptions()).read()
    assert unweighed(features).transform(batch).tolist() == [[2.5, 0.5]]
