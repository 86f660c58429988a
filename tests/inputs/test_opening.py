"""What a name on the command line stands for."""

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from learned import Csv, Learn
from marks import needs_data

from kfriendly.datasets import load
from kfriendly.datasets.newsgroups import read_newsgroups
from kfriendly.errors import BadInput, UnknownName
from kfriendly.inputs import InputOptions, open_input


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> io.BytesIO:
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return stream


def _send(stream: io.BytesIO, content: bytes) -> None:
    stream.write(content)
    stream.seek(0)


def test_standard_input_is_csv(stdin: io.BytesIO, learn: Learn) -> None:
    _send(stdin, b"a,b\n1,2\n3,5\n")
    found = learn("-")
    assert found.X.tolist() == [[1, 2], [3, 5]]
    assert found.source.name == "standard input"
    assert found.source.fingerprint() == found.source.fingerprint()


def test_standard_input_may_be_lines_or_parquet(
    stdin: io.BytesIO, learn: Learn
) -> None:
    _send(stdin, b"cats purr\ndogs bark\n")
    assert learn("-", lines=True).batch.content == ["cats purr", "dogs bark"]
    stdin.seek(0)
    stdin.truncate()
    pyarrow.parquet.write_table(pa.table({"a": [1.5, 2.5]}), stdin, filesystem=None)
    stdin.seek(0)
    assert learn("-").X.ravel().tolist() == [1.5, 2.5]


def test_standard_input_leaves_no_file(
    stdin: io.BytesIO, tmp_path: Path, learn: Learn
) -> None:
    _send(stdin, b"a,b\n1,2\n3,5\n")
    source = open_input("-", InputOptions())
    assert len(list(tmp_path.iterdir())) == 1
    del source
    assert not list(tmp_path.iterdir())
    _send(stdin, b"")
    stdin.truncate()
    with pytest.raises(BadInput, match="standard input is empty"):
        open_input("-", InputOptions())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "words"), [("a.txt", "--lines"), ("a.xlsx", "Known are CSV")]
)
def test_unknown_file_is_refused(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(BadInput, match=words):
        open_input(str(tmp_path / name), InputOptions())


def test_folder_of_nothing_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither images"):
        open_input(str(tmp_path), InputOptions())
    (tmp_path / "a.png").touch()
    (tmp_path / "a.parquet").touch()
    with pytest.raises(BadInput, match="several kinds"):
        open_input(str(tmp_path), InputOptions())


@pytest.mark.parametrize(
    ("name", "choices", "words"),
    [
        ("data:digits", {"label": "y"}, "--label cannot be used here"),
        ("a.txt", {"lines": True, "id": "n"}, "--id cannot be used here"),
        ("a.npy", {"text": "body"}, "--text cannot be used here"),
        ("images", {"columns": ("a",)}, "--columns cannot be used here"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    tmp_path: Path, name: str, choices: dict[str, Any], words: str
) -> None:
    (tmp_path / "a.txt").write_text("x")
    np.save(tmp_path / "a.npy", np.eye(2))
    (tmp_path / "images").mkdir()
    (tmp_path / "images/a.png").touch()
    spec = name if name.startswith("data:") else str(tmp_path / name)
    with pytest.raises(BadInput, match=words):
        open_input(spec, InputOptions(**choices))


def test_digits_are_images(learn: Learn) -> None:
    found = learn("data:digits")
    assert found.source.kind == "images" and found.features.input_shape == (8, 8)
    assert found.X.max() == 1 and found.batch.content.max() == 255
    assert found.batch.labels is not None and found.batch.labels[3] == "3"


def test_options_of_a_data_set_follow_its_name(learn: Learn) -> None:
    found = learn("data:synthetic-9,n_per_cluster=25")
    assert found.X.shape == (100, 100) and found.source.kind == "array"
    with pytest.raises(BadInput, match="'small' is no option"):
        learn("data:synthetic-9,small")
    with pytest.raises(BadInput, match="n_per_cluster=25"):
        learn("data:synthetic-9,rows=3")
    with pytest.raises(UnknownName, match="no data set 'iris'"):
        learn("data:iris")


def test_fingerprint_of_a_data_set_is_of_its_values() -> None:
    options = InputOptions()
    specs = (
        "data:digits",
        "data:synthetic-9,n_per_cluster=5",
        "data:synthetic-9,n_per_cluster=5,random_state=1",
        "data:rcv1-like,n_documents=300,random_state=0",
    )
    found = [open_input(spec, options).fingerprint() for spec in specs]
    again = [open_input(spec, options).fingerprint() for spec in specs]
    assert found == again and len(set(found)) == len(specs)


@needs_data
def test_mnist_is_images(learn: Learn) -> None:
    found = learn("data:mnist,part=test")
    assert found.batch.content.shape == (10_000, 28, 28)
    assert np.allclose(found.X * 255, load("mnist", part="test").X)


@needs_data
@pytest.mark.slow
def test_newsgroups_are_documents(learn: Learn) -> None:
    found = learn("data:20newsgroups")
    assert found.batch.content == read_newsgroups()[0]
    assert found.X.shape == (18_846, 2_000) and found.batch.labels is not None
    assert found.batch.labels[0] == "alt.atheism"


@needs_data
def test_pendigits_as_csv_are_the_data_set(csv: Csv, learn: Learn) -> None:
    data = load("pendigits")
    names = ",".join([*(data.feature_names or []), "digit"])
    rows = np.column_stack([data.X, data.y]).tolist()
    lines = [",".join(map(str, row)) for row in rows]
    found = learn(csv("\n".join([names, *lines])), label="digit")
    direct = learn("data:pendigits")
    assert np.array_equal(found.X, direct.X)
    assert found.features.names == direct.features.names
    assert found.batch.labels is not None and direct.batch.labels is not None
    assert found.batch.labels.tolist() == direct.batch.labels.tolist()


def test_types_can_be_had_without_torch() -> None:
    code = (
        "import sys, kfriendly.inputs\nassert not {'torch', 'PIL'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
