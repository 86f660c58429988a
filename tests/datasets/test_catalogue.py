"""Every data set by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from marks import needs_data

from kfriendly.datasets import DATASETS, load
from kfriendly.datasets.derived import keep_arrays
from kfriendly.errors import DataCorrupt, UnknownName

SHAPES = {
    "mnist": (70_000, 784, 10),
    "fashion-mnist": (70_000, 784, 10),
    "pendigits": (10_992, 16, 10),
    "20newsgroups": (18_846, 2_000, 20),
    "rcv1-sample": (1_054, 2_000, 20),
    "rcv1-subset1": (2_961, 944, 20),
    "rcv1-subset2": (1_439, 944, 20),
    "rcv1-subset3": (1_436, 944, 20),
}
SIZES = {
    "mnist": [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958],
    "fashion-mnist": [7_000] * 10,
    "pendigits": [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055],
}


@needs_data
@pytest.mark.parametrize("name", SHAPES)
def test_real_data_has_its_known_shape(name: str) -> None:
    data = load(name)
    assert (*data.X.shape, data.n_clusters) == SHAPES[name]
    assert data.y.shape == (data.X.shape[0],) and data.y.dtype == np.int64
    assert data.y.min() >= 0 and data.y.max() == data.n_clusters - 1
    assert data.class_names is not None and len(data.class_names) == data.n_clusters
    if data.feature_names is not None:
        assert len(data.feature_names) == data.X.shape[1]


@needs_data
@pytest.mark.parametrize("name", SIZES)
def test_classes_have_their_known_sizes(name: str) -> None:
    assert np.bincount(load(name).y).tolist() == SIZES[name]


@needs_data
def test_mnist_parts_make_up_the_whole() -> None:
    train, test = load("mnist", part="train"), load("mnist", part="test")
    assert (len(train.y), len(test.y)) == (60_000, 10_000)
    assert np.array_equal(load("mnist").X[60_000:], test.X)


def test_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match=r"part='validation'.*'train'"):
        load("mnist", part="validation")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rcv1-sample", {"n_clusters": 21}, "n_clusters=21.*from 1 to 20"),
        ("rcv1-subset1", {"n_clusters": 0}, "n_clusters=0.*from 1 to 20"),
        ("rcv1-sample", {"n_words": 0}, "n_words=0.*at least 1"),
        ("20newsgroups", {"n_words": -1, "source": "counts"}, "n_words=-1"),
    ],
)
@needs_data
def test_impossible_options_are_refused(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        load(name, **options)


def test_synthetic_data_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="n_per_cluster=0.*at least 1"):
        load("synthetic-9", n_per_cluster=0)


@needs_data
def test_first_classes_of_a_sample_can_be_taken() -> None:
    data = load("rcv1-sample", n_clusters=4)
    assert np.bincount(data.y).tolist() == [204, 91, 113, 79]
    assert data.class_names == ["M14", "M11", "M13", "GSPO"]


@needs_data
def test_tf_idf_rows_have_unit_length() -> None:
    data = load("rcv1-sample", n_words=100)
    lengths = np.sqrt(data.X.power(2).sum(axis=1))
    assert data.X.shape[1] == 100 and sp.issparse(data.X)
    assert np.allclose(lengths[lengths > 0], 1.0, atol=1e-5)


@pytest.mark.parametrize("name", ["synthetic-9", "synthetic-10", "synthetic-11"])
def test_synthetic_data_takes_size_and_seed(name: str) -> None:
    data = load(name, n_per_cluster=10, random_state=3)
    assert data.X.shape == (40, 100) and data.n_clusters == 4
    again = load(name, n_per_cluster=10, random_state=3)
    assert np.array_equal(data.X, again.X)


def test_unknown_name_is_refused_with_all_known_ones() -> None:
    with pytest.raises(UnknownName, match="'minst'.*mnist.*digits"):
        load("minst")


def test_every_entry_says_what_it_is() -> None:
    assert all(entry.summary for entry in DATASETS.values())
    assert all(entry.terms for entry in DATASETS.values() if entry.files)


def test_arrays_are_made_once_and_kept(tmp_path: Path) -> None:
    made = []

    def make() -> dict[str, np.ndarray]:
        made.append(1)
        return {"X": np.arange(3)}

    path = tmp_path / "deep" / "X.npz"
    first, second = keep_arrays(path, make), keep_arrays(path, make)
    assert made == [1] and np.array_equal(first["X"], second["X"])
    assert sorted(p.name for p in path.parent.iterdir()) == ["X.npz", "X.npz.sha256"]


def test_kept_arrays_that_changed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "X.npz"
    keep_arrays(path, lambda: {"X": np.arange(3)})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataCorrupt, match="Remove both files"):
        keep_arrays(path, dict)


def test_failed_making_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> dict[str, np.ndarray]:
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        keep_arrays(tmp_path / "X.npz", fail)
    assert list(tmp_path.iterdir()) == []
