"""CSV files: what is read, and what is refused with its place."""

import gzip
import io
from csv import writer as csv_writer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from learned import Csv, Learn

from kfriendly.errors import BadInput
from kfriendly.inputs import InputOptions, open_input


def _refused(path: Path | str, **choices: str) -> str:
    with pytest.raises(BadInput) as caught:
        open_input(str(path), InputOptions(**choices)).read()  # type: ignore[arg-type]
    message = str(caught.value)
    assert len(message.splitlines()) == 3, message  # what, where, what to do
    return message


def test_bom_crlf_and_quoted_newlines_are_read(csv: Csv, learn: Learn) -> None:
    path = csv(b'\xef\xbb\xbfa,"b\nc"\r\n1,2\r\n3,"4"\r\n"5\r\n",6\r\n')
    found = learn(path)
    assert found.features.names == ["a", "b\nc"]
    assert found.X.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_tabs_semicolons_and_gzip_are_read(tmp_path: Path, learn: Learn) -> None:
    (tmp_path / "a.tsv").write_text("a\tb,c\n1\t2\n3\t5\n")
    (tmp_path / "b.csv").write_text("a;b\n1,5;2\n2,25;7\n")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n3,5\n"))
    assert learn(tmp_path / "a.tsv").features.names == ["a", "b,c"]
    european = learn(tmp_path / "b.csv")
    assert european.X.tolist() == [[1.5, 2], [2.25, 7]]
    assert "decimal commas" in " ".join(european.features.notes)
    assert "';'" in european.source.notes[0]
    assert learn(tmp_path / "c.csv.gz").X.tolist() == [[1, 2], [3, 5]]


def test_odd_names_stay_as_they_are(csv: Csv, learn: Learn) -> None:
    names = ["two words", "größe 尺寸", "a,b", '"quoted"', "<script>", " padded "]
    head = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    found = learn(csv(head + "\n1,2,3,4,5,6\n2,3,5,7,11,13\n"))
    assert found.features.names == names


def test_unnamed_column_goes_by_its_place(csv: Csv, learn: Learn) -> None:
    rows = "\n".join(f"{row},{row % 7},{row % 3}" for row in range(30))
    found = learn(csv(",a,b\n" + rows + "\n"))  # as pandas writes its index
    assert found.features.names == ["a", "b"]
    assert "'column 1' is set aside: it numbers the rows" in found.features.notes[1]


def test_duplicate_names_are_refused(csv: Csv) -> None:
    assert "'a' appear more than once" in _refused(csv("a,b,a\n1,2,3\n"))


def test_first_line_of_numbers_is_data(csv: Csv, learn: Learn) -> None:
    found = learn(csv("1.5,2\n3,4\n5,9\n"))
    assert found.X.shape == (3, 2) and found.features.names[0] == "column 1"
    assert "no line of column names" in found.source.notes[0]


def test_counting_names_are_names(csv: Csv, learn: Learn) -> None:
    found = learn(csv("2019,2020,2021\n1,2,3\n5,1,2\n"))
    assert found.features.names == ["2019", "2020", "2021"]


@pytest.mark.parametrize("content", ["", "\n\n", "a,b\n", "a,b"])
def test_no_rows_are_refused(csv: Csv, content: str) -> None:
    message = _refused(csv(content))
    assert "rows.csv" in message and ("empty" in message or "0 samples" in message)


def test_ragged_row_is_named_by_its_line(csv: Csv) -> None:
    message = _refused(csv('a,b\n1,"x\ny"\n3,4\n5,6,7\n8,9\n'))
    assert "3 values where there are 2 columns" in message and "Line 5." in message


def test_row_that_is_too_short_is_refused(csv: Csv) -> None:
    assert "Line 3." in _refused(csv("a,b\n1,2\n3\n"))


def test_wrong_encoding_is_named_by_its_byte(csv: Csv) -> None:
    content = "a,b\n1,x\n2,caf\xe9\n".encode("latin-1")
    message = _refused(csv(content))
    place = content.index(b"\xe9")
    assert f"Byte {place} " in message and "line 3" in message and "latin1" in message


def test_wrong_byte_is_found_beyond_the_first_block(csv: Csv) -> None:
    content = b"a,b\n" + b"1,\xc3\xa9\n" * 500_000 + b"1,\xff\n"
    assert f"Byte {len(content) - 2:,} " in _refused(csv(content))


def test_utf16_is_told_from_latin1(csv: Csv) -> None:
    assert "utf-16" in _refused(csv("a,b\n1,2\n".encode("utf-16")))


def test_open_quote_is_refused(csv: Csv) -> None:
    message = _refused(csv('a,b\n1,2\n3,"4\n5,6\n'))
    assert "quote" in message and "line 3" in message


def test_lone_quote_inside_a_value_is_read(csv: Csv, learn: Learn) -> None:
    rows = "".join(f'{row % 4 + 0.5},{row % 3}" pipe\n' for row in range(9))
    assert learn(csv("a,b\n" + rows)).features.names[1] == 'b=0" pipe'


def test_cut_off_gzip_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "\n".join(map(str, rng.random(5_000)))
    packed = gzip.compress(f"a\n{rows}\n".encode())
    for name, content in (("cut", packed[:-900]), ("bad", packed[:400] + b"x" * 4_000)):
        path = tmp_path / f"{name}.csv.gz"
        path.write_bytes(content)
        assert f"{name}.csv.gz cannot be read" in _refused(path)


def test_binary_file_is_refused(csv: Csv) -> None:
    assert "UTF-8" in _refused(csv(bytes(range(256)) * 10))


def test_every_cut_of_a_file_is_read_or_refused(csv: Csv) -> None:
    content = 'a,"b ""c""",d\n1,"x\ny",é\n2,"z",\n'.encode()
    for length in range(len(content)):
        try:
            open_input(str(csv(content[:length])), InputOptions()).read()
        except BadInput as error:
            assert len(str(error).splitlines()) == 3


def test_absent_file_is_refused(tmp_path: Path) -> None:
    assert "is not there" in _refused(tmp_path / "no.csv")


def test_unknown_column_has_its_neighbours_named(csv: Csv) -> None:
    message = _refused(csv("customer_id,b\n1,2\n"), id="customerid")
    assert "Did you mean 'customer_id'?" in message


def test_long_values_do_not_hide_a_ragged_row(csv: Csv) -> None:
    assert "Line 3." in _refused(csv(f'a,b\n"{"x" * 200_000}",2\n3\n'))


def test_row_beyond_a_block_is_refused(csv: Csv) -> None:
    assert "16 MB" in _refused(csv(f'a,b\n"{"x, " * 13_000_000}",2\n3,4\n'))


_CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(_CELLS, min_size=3, max_size=3), min_size=1, max_size=9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_is_read_back(csv: Csv, rows: list[list[str]]) -> None:
    stream = io.StringIO(newline="")
    names = ["a", "b, c", 'd"e']
    csv_writer(stream).writerows([names, *rows])
    batch = open_input(str(csv(stream.getvalue())), InputOptions()).read()
    assert [list(row.values()) for row in batch.content.to_pylist()] == rows


def test_batches_are_the_whole_in_pieces(csv: Csv) -> None:
    rows = "".join(f"{row},w{row % 5}\n" for row in range(1_234))
    source = open_input(str(csv("a,b\n" + rows)), InputOptions(label="b"))
    whole, pieces = source.read(), list(source.batches(100))
    assert [len(piece.ids) for piece in pieces] == [100] * 12 + [34]
    assert [id_ for piece in pieces for id_ in piece.ids] == whole.ids
    labels = [piece.labels for piece in pieces if piece.labels is not None]
    assert np.concatenate(labels).tolist() == [f"w{row % 5}" for row in range(1_234)]
    assert pieces[3].content.equals(whole.content.slice(300, 100))


def test_fingerprint_changes_with_the_bytes(csv: Csv) -> None:
    first = open_input(str(csv("a\n1\n")), InputOptions()).fingerprint()
    other = open_input(str(csv("a\n2\n")), InputOptions()).fingerprint()
    assert first != other and len(first) == 64
