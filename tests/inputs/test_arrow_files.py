"""Parquet and Feather files and folders of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from learned import Learn

from kfriendly.errors import BadInput
from kfriendly.inputs import InputOptions, open_input, plan_features


def _table(n: int = 50, **further: list[Any]) -> pa.Table:
    columns = {"a": [row * 0.5 for row in range(n)], "b": [row % 7 for row in range(n)]}
    return pa.table(columns | further)


def _write(path: Path, table: pa.Table, **choices: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, path, **choices)
    return path


def test_parquet_and_feather_are_read(tmp_path: Path, learn: Learn) -> None:
    _write(tmp_path / "a.parquet", _table(), row_group_size=20)
    pyarrow.feather.write_feather(_table(), str(tmp_path / "b.feather"))
    with pa.OSFile(str(tmp_path / "c.arrow"), "wb") as stream:
        with pa.ipc.new_file(stream, _table().schema) as writer:
            writer.write_table(_table(), max_chunksize=7)
    X = learn(tmp_path / "a.parquet").X
    assert X[3].tolist() == [1.5, 3]
    assert (learn(tmp_path / "b.feather").X == X).all()
    assert (learn(tmp_path / "c.arrow").X == X).all()


def test_folder_is_read_as_one_table(tmp_path: Path, learn: Learn) -> None:
    _write(tmp_path / "d/part-1.parquet", _table(30))
    _write(tmp_path / "d/part-0.parquet", _table(20).select(["b", "a"]))
    (tmp_path / "d/_SUCCESS").touch()
    found = learn(tmp_path / "d")
    assert found.features.names == ["b", "a"] and found.X.shape == (50, 2)
    assert found.X[20].tolist() == [0, 0] and found.X[49].tolist() == [29 % 7, 14.5]
    pieces = list(found.source.batches(16))
    assert [len(piece.ids) for piece in pieces] == [16, 16, 16, 2]
    assert pieces[1].content.equals(found.batch.content.slice(16, 16))


def test_folders_of_one_value_make_a_column(tmp_path: Path, learn: Learn) -> None:
    for land in ("no", "it"):
        _write(tmp_path / f"d/land={land}/0.parquet", _table(10))
    found = learn(tmp_path / "d")
    assert found.features.names == ["a", "b", "land=it"]
    assert (
        found.X[[0, 19], 2].tolist() == [1, 0] and len(found.source.fingerprint()) == 64
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (_table().rename_columns(["a", "z"]), "lacks 'b' and also has 'z'"),
        (pa.table({"a": [1.0], "b": ["text"]}), "does not fit"),
    ],
)
def test_shard_that_differs_is_named_when_opened(
    tmp_path: Path, other: pa.Table, words: str
) -> None:
    _write(tmp_path / "d/0.parquet", _table())
    _write(tmp_path / "d/1.parquet", other)
    with pytest.raises(BadInput) as caught:
        open_input(str(tmp_path / "d"), InputOptions())
    assert "1.parquet" in str(caught.value) and words in str(caught.value)


def test_whole_numbers_and_fractions_fit_together(tmp_path: Path, learn: Learn) -> None:
    _write(tmp_path / "d/0.parquet", pa.table({"a": [1, 2], "b": [3, 5]}))
    _write(tmp_path / "d/1.parquet", pa.table({"a": [1.5, None], "b": [4, 4]}))
    assert learn(tmp_path / "d").X[:, 0].tolist() == [1, 2, 1.5, 1.5]


def test_cut_off_parquet_is_refused_at_every_length(tmp_path: Path) -> None:
    content = _write(tmp_path / "a.parquet", _table()).read_bytes()
    path = tmp_path / "cut.parquet"
    for length in (*range(0, len(content), 97), len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(BadInput, match=r"cut.parquet cannot be read"):
            open_input(str(path), InputOptions()).read()


def test_flipped_bit_is_found_by_page_checksums(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "a.parquet",
        _table(1_000),
        row_group_size=100,
        write_page_checksum=True,
        compression="none",
        use_dictionary=False,
    )
    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(6).column(0)
    content = bytearray(path.read_bytes())
    content[group.data_page_offset + 200] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"a.parquet cannot.*\nIn row group 6 of"):
        open_input(str(path), InputOptions()).read()


def test_missing_value_in_a_late_row_group_is_placed(tmp_path: Path) -> None:
    _write(tmp_path / "d/0.parquet", _table(40), row_group_size=10)
    late = pa.table({"a": [1.0] * 18 + [None, 2.0], "b": [3] * 20})
    _write(tmp_path / "d/1.parquet", late, row_group_size=5)
    options = InputOptions(missing="error")
    source = open_input(str(tmp_path / "d"), options)
    first, *rest = source.batches(32)
    features = plan_features(source, first, options)
    with pytest.raises(BadInput, match=r"row 58 \(1.parquet, row group 3\)"):
        features.transform(rest[0])


def test_place_of_a_row_is_kept_by_take(tmp_path: Path) -> None:
    path = _write(tmp_path / "0.parquet", _table(40), row_group_size=10)
    batch = open_input(str(path), InputOptions()).read()
    some = batch.take(np.array([3, 25]))
    assert some.place_of(1) == "row 25 (0.parquet, row group 2)"


def test_duplicate_names_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    _write(tmp_path / "a.parquet", table)
    pyarrow.feather.write_feather(table, str(tmp_path / "b.arrow"))
    for name in ("a.parquet", "b.arrow"):
        with pytest.raises(BadInput, match="'a' appear more than once"):
            open_input(str(tmp_path / name), InputOptions())


def test_empty_tables_are_refused(tmp_path: Path, learn: Learn) -> None:
    _write(tmp_path / "a.parquet", _table(0))
    pyarrow.feather.write_feather(_table(0), str(tmp_path / "b.feather"))
    for name in ("a.parquet", "b.feather"):
        with pytest.raises(BadInput, match="has no rows"):
            learn(tmp_path / name)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
@pytest.mark.parametrize("content", [b"", b"garbage" * 50, b"a,b\n1,2\n"])
def test_what_is_no_arrow_file_is_refused(
    tmp_path: Path, suffix: str, content: bytes
) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="cannot be read"):
        open_input(str(path), InputOptions())


def test_cut_off_feather_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    pyarrow.feather.write_feather(_table(500), str(path))
    content = path.read_bytes()
    for length in range(1, len(content), 211):
        path.write_bytes(content[:length])
        with pytest.raises(BadInput, match="cannot be read"):
            open_input(str(path), InputOptions()).read()
