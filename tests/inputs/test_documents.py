"""Documents: lines, columns, folders; and their words."""

import gzip
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from learned import Csv, Learn
from sklearn.feature_extraction.text import TfidfVectorizer

from kfriendly.errors import BadInput
from kfriendly.inputs import InputOptions, open_input

TEXTS = ["Cats chase mice", "the dogs chase cats", "Mice eat cheese, mice eat more"]


def test_lines_are_documents(tmp_path: Path, learn: Learn) -> None:
    path = tmp_path / "a.txt"
    lines = [*TEXTS[:2], " ", TEXTS[2]]
    path.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8", newline="")
    found = learn(path, lines=True)
    assert found.batch.content == TEXTS and found.batch.ids == ["0", "1", "3"]
    assert found.source.kind == "text"
    assert [b.ids for b in found.source.batches(2)] == [["0", "1"], ["3"]]
    assert found.source.fingerprint() == sha256(path.read_bytes()).hexdigest()


def test_weights_are_scikit_learns(tmp_path: Path, learn: Learn) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    found = learn(path, lines=True)
    own = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(TEXTS)
    assert found.features.names == own.get_feature_names_out().tolist()
    assert np.allclose(found.X.toarray(), own.transform(TEXTS).toarray())
    assert np.allclose(np.sqrt(found.X.power(2).sum(axis=1)), 1)


def test_new_documents_use_the_words_of_the_training(
    tmp_path: Path, learn: Learn
) -> None:
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    found = learn(tmp_path / "a.txt", lines=True)
    new = found.batch._replace(content=["cats and zebras", "zebras"], ids=["0", "1"])
    X = found.features.transform(new)
    assert X.sum(axis=1).tolist() == [1, 0]


def test_column_of_text_is_documents(csv: Csv, learn: Learn) -> None:
    path = csv('n,words,y\n7,"Cats, mice",u\n8,,v\n9,dogs,u\n')
    found = learn(path, text="words", id="n", label="y")
    assert found.batch.content == ["Cats, mice", "", "dogs"]
    assert found.batch.ids == ["7", "8", "9"] and found.features.names[0] == "cats"
    assert any("1 document with none" in note for note in found.features.notes)
    assert [b.content for b in found.source.batches(2)][1] == ["dogs"]
    with pytest.raises(BadInput, match="--text 'word'"):
        learn(path, text="word")


def test_folder_of_text_files_is_documents(tmp_path: Path, learn: Learn) -> None:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text)
    found = learn(tmp_path)
    assert found.batch.content == TEXTS and found.batch.ids[2] == "2.txt"
    assert sum(len(b.ids) for b in found.source.batches(2)) == 3
    before = found.source.fingerprint()
    (tmp_path / "2.txt").rename(tmp_path / "7.txt")
    assert open_input(str(tmp_path), InputOptions()).fingerprint() != before
    (tmp_path / "9.txt").write_bytes(b"ab\xff")
    with pytest.raises(BadInput, match=r"9.txt is not UTF-8 text.\nByte 2 "):
        learn(tmp_path)


def test_only_frequent_words_are_kept(tmp_path: Path, learn: Learn) -> None:
    lines = [f"common word{row} word{row + 1}" for row in range(2_500)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    found = learn(tmp_path / "a.txt", lines=True)
    assert found.X.shape == (2_500, 2_000)
    assert "2,000 most frequent words" in found.features.notes[0]


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_no_documents_are_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.txt").write_text(content)
    source = open_input(str(tmp_path / "a.txt"), InputOptions(lines=True))
    with pytest.raises(BadInput, match="0 samples"):
        source.read()
    with pytest.raises(BadInput, match="0 samples"):
        list(source.batches(5))


def test_no_words_are_refused(tmp_path: Path, learn: Learn) -> None:
    (tmp_path / "a.txt").write_text("the\nof and\n!\n")
    with pytest.raises(BadInput, match="no words"):
        learn(tmp_path / "a.txt", lines=True)


def test_wrong_encoding_is_named_by_its_byte(tmp_path: Path, learn: Learn) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\nna\xefve\n")
    with pytest.raises(BadInput, match=r"Byte 7 \(counted from 0\), in line 2"):
        learn(tmp_path / "a.txt", lines=True)


def test_cut_off_gzip_is_refused(tmp_path: Path, learn: Learn) -> None:
    packed = gzip.compress("\n".join(map(str, range(3_000))).encode())
    (tmp_path / "a.txt.gz").write_bytes(packed[:-100])
    with pytest.raises(BadInput, match="cannot be read"):
        learn(tmp_path / "a.txt.gz", lines=True)
