"""RCV1-v2: the paper's subset, and documents that look like it."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from marks import needs_data
from sklearn.utils import Bunch

from kfriendly.datasets import load, make_rcv1_like, rcv1
from kfriendly.datasets.rcv1 import SECOND_LEVEL, paper_classes, read_topics
from kfriendly.datasets.rcv1_like import CLASS_SIZES, DISTINCT_WORDS
from kfriendly.errors import DataNotFound


@needs_data
def test_rule_gives_the_papers_counts_on_the_complete_topic_file() -> None:
    _, topics, Y = read_topics()
    assert Y.shape == (804_414, 103) and Y.nnz == 2_606_875
    y, names = paper_classes(Y, topics)
    sizes = np.bincount(y[y >= 0])
    assert dict(zip(names, sizes.tolist(), strict=True)) == CLASS_SIZES
    for n_classes, n_documents in ((4, 178_603), (8, 267_466), (20, 365_968)):
        assert (paper_classes(Y, topics, n_classes)[0] >= 0).sum() == n_documents


@needs_data
def test_rule_gives_the_classes_on_file() -> None:
    documents, topics, Y = read_topics()
    y, _ = paper_classes(Y, topics)
    path = Path(os.environ["KFRIENDLY_DATA"]) / "rcv1" / "paper20_labels.npz"
    with np.load(path) as known:
        assert np.array_equal(documents[y >= 0], known["doc_id"])
        assert np.array_equal(y[y >= 0], known["y"])


@needs_data
def test_second_level_is_that_of_the_taxonomy() -> None:
    path = Path(os.environ["KFRIENDLY_DATA"]) / "rcv1" / "rcv1.taxonomy"
    children = dict(line.split("\t", 1) for line in path.read_text().splitlines())
    roots = children["Root"].split()
    assert sorted(SECOND_LEVEL) == sorted(
        topic for root in roots for topic in children[root].split()
    )


def test_rule_by_hand() -> None:
    topics = np.array(["C11", "C15", "C152", "GSPO", "M11"])
    Y = sp.csr_array(
        np.array(
            [
                [0, 1, 1, 0, 0],  # C15, the largest class: dropped
                [0, 1, 0, 0, 0],
                [0, 1, 0, 0, 0],
                [1, 0, 0, 1, 0],  # two of the second level: left out
                [0, 0, 0, 1, 0],
                [0, 0, 0, 1, 0],
                [0, 0, 0, 0, 1],
                [0, 0, 1, 0, 0],  # none of the second level
            ]
        )
    )
    y, names = paper_classes(Y, topics, 2)
    assert y.tolist() == [-1, -1, -1, -1, 0, 0, 1, -1]
    assert names == ["GSPO", "M11"]


def _fake_collection(**_: Any) -> Bunch:
    """Three documents of M14, two of M11, four of C15; five words."""
    topics = np.array(["C15", "M11", "M14", "MCAT"])
    kinds = [2, 0, 0, 1, 2, 0, 1, 0, 2]
    Y = np.zeros((9, 4), dtype=np.uint8)
    Y[np.arange(9), kinds] = 1
    X = sp.csr_matrix(np.arange(45).reshape(9, 5) % 7 / 10.0)
    return Bunch(data=X, target=sp.csr_matrix(Y), target_names=topics)


def test_subset_is_built_from_scikit_learns_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFRIENDLY_DATA", str(tmp_path))
    monkeypatch.setattr(rcv1, "fetch_rcv1", _fake_collection)
    data = load("rcv1", n_clusters=2, n_words=3)
    assert data.y.tolist() == [0, 1, 0, 1, 0] and data.class_names == ["M14", "M11"]
    rows = _fake_collection().data.toarray()[[0, 3, 4, 6, 8]]
    heaviest = np.sort(np.argsort(-rows.sum(0), kind="stable")[:3])
    assert np.allclose(data.X.toarray(), rows[:, heaviest])
    monkeypatch.setattr(rcv1, "fetch_rcv1", None)  # kept: not fetched again
    assert np.array_equal(load("rcv1", n_clusters=2, n_words=3).y, data.y)
    names = sorted(path.name for path in (tmp_path / "rcv1").iterdir())
    assert names == ["rcv1-words.npz", "rcv1-words.npz.sha256"]  # and no pickle


def test_offline_message_names_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(**_: Any) -> Bunch:
        raise OSError("no route")

    monkeypatch.setenv("KFRIENDLY_DATA", str(tmp_path))
    monkeypatch.setattr(rcv1, "fetch_rcv1", offline)
    with pytest.raises(DataNotFound, match="no route.*fetch_rcv1.*rcv1-sample"):
        load("rcv1")


@pytest.mark.parametrize("n_clusters", [0, 55])
def test_impossible_number_of_classes_is_refused(n_clusters: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 54"):
        paper_classes(sp.csr_array((1, 1)), np.array(["C11"]), n_clusters)


def test_look_alike_has_the_density_and_class_shares_of_rcv1() -> None:
    data = make_rcv1_like(20_000, random_state=0)
    assert data.X.shape == (20_000, 47_236) and data.X.dtype == np.float32
    assert data.X.nnz / 20_000 == pytest.approx(DISTINCT_WORDS, rel=0.05)
    sizes = np.array(list(CLASS_SIZES.values()))
    shares = np.bincount(data.y, minlength=20) / 20_000
    assert np.allclose(shares, sizes / sizes.sum(), atol=1e-4)
    assert np.allclose(data.X.power(2).sum(axis=1), 1.0, atol=1e-4)


@pytest.mark.slow
def test_look_alike_at_full_size_has_rcv1s_class_sizes() -> None:
    data = make_rcv1_like(n_clusters=4, random_state=0)
    assert data.X.shape[0] == 178_603
    assert np.bincount(data.y).tolist() == list(CLASS_SIZES.values())[:4]


def test_look_alike_of_few_documents_has_every_class() -> None:
    data = make_rcv1_like(25, random_state=0)
    assert len(data.y) == 25 and len(np.unique(data.y)) == 20


def test_look_alike_with_fewer_documents_than_classes_is_refused() -> None:
    with pytest.raises(ValueError, match="n_documents=3.*at least 4"):
        make_rcv1_like(3, n_clusters=4)
