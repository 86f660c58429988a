"""NPY and NPZ files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from learned import Learn

from kfriendly.errors import BadInput
from kfriendly.inputs import InputOptions, open_input


def _save(path: Path, array: Any, **choices: Any) -> Path:
    np.save(path, array, **choices)
    return path


def test_npy_is_read_by_place(tmp_path: Path, learn: Learn) -> None:
    rows = np.arange(12.0).reshape(4, 3)
    found = learn(_save(tmp_path / "a.npy", rows))
    assert (found.X == rows).all() and found.features.names == ["x0", "x1", "x2"]
    assert found.batch.ids == ["0", "1", "2", "3"] and found.batch.labels is None


def test_float32_stays_on_disk(tmp_path: Path, learn: Learn) -> None:
    rows = np.random.default_rng(0).random((20, 3), dtype=np.float32)
    found = learn(_save(tmp_path / "a.npy", rows))
    assert np.shares_memory(found.X, found.batch.content)


@pytest.mark.parametrize("name", ["2", "x2"])
def test_columns_go_by_number_or_name(tmp_path: Path, learn: Learn, name: str) -> None:
    path = _save(tmp_path / "a.npy", np.arange(12).reshape(4, 3))
    assert learn(path, columns=(name,)).X.ravel().tolist() == [2, 5, 8, 11]
    assert learn(path, drop=(name,)).features.names == ["x0", "x1"]
    labelled = learn(path, label=name)
    assert labelled.features.names == ["x0", "x1"]
    assert labelled.batch.labels is not None
    assert labelled.batch.labels.tolist() == [2, 5, 8, 11]
    with pytest.raises(BadInput, match="--drop 'x9'"):
        learn(path, drop=("x9",))


def test_npz_holds_rows_classes_and_ids(tmp_path: Path, learn: Learn) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(3), y=np.array([2, 0, 1]), names=np.array(["u", "v", "w"]))
    found = learn(path, label="y", id="names")
    assert (found.X == np.eye(3)).all() and found.batch.ids == ["u", "v", "w"]
    assert found.batch.labels is not None and found.batch.labels.tolist() == [2, 0, 1]
    np.savez(path, first=np.eye(3), second=np.eye(3))
    with pytest.raises(BadInput, match="'first', 'second'"):
        learn(path)
    np.savez(path, X=np.eye(3), y=np.zeros(2))
    with pytest.raises(BadInput, match=r"shape \(2,\), for 3 rows"):
        learn(path, label="y")


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_stays_sparse(tmp_path: Path, learn: Learn, kind: Any) -> None:
    dense = np.array([[0, 1.5], [2, 0], [0, 0]])
    sp.save_npz(tmp_path / "a.npz", kind(dense))
    found = learn(tmp_path / "a.npz")
    assert isinstance(found.X, sp.csr_array) and (found.X.toarray() == dense).all()
    pieces = list(found.source.batches(2))
    assert (pieces[1].content.toarray() == dense[2:]).all()


def test_wide_sparse_rows_are_never_filled(tmp_path: Path, learn: Learn) -> None:
    rows = sp.random_array((20_000, 50_000), density=1e-4, rng=np.random.default_rng(0))
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(rows))
    assert learn(tmp_path / "a.npz").X.nnz == rows.nnz  # dense it were 4 GB


def test_sparse_with_a_bad_value_is_refused_or_dropped(
    tmp_path: Path, learn: Learn
) -> None:
    dense = np.array([[0, 1.5], [0, 0], [np.nan, 0], [0, np.inf]])
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(dense))
    with pytest.raises(BadInput, match=r"'x0', 'x1'.\n.*row 2, row 3"):
        learn(tmp_path / "a.npz")
    assert learn(tmp_path / "a.npz", missing="drop").batch.ids == ["0", "1"]


def test_missing_values_refused_dropped_or_filled(tmp_path: Path, learn: Learn) -> None:
    rows = np.array([[1, 2], [np.nan, 4], [5, 6], [8, np.nan]])
    path = _save(tmp_path / "a.npy", rows)
    found = learn(path)
    assert found.X.tolist() == [[1, 2], [5, 4], [5, 6], [8, 4]]
    assert np.isnan(found.batch.content[1, 0])  # the input's rows stay as they are
    assert any("'x0' lacks 1 value" in note for note in found.features.notes)
    assert learn(path, missing="drop").batch.ids == ["0", "2"]
    with pytest.raises(BadInput, match=r"2 missing values in columns 'x0', 'x1'"):
        learn(path, missing="error")


def test_gap_in_new_rows_is_filled_from_the_training(
    tmp_path: Path, learn: Learn
) -> None:
    found = learn(_save(tmp_path / "a.npy", np.array([[1.0, 2], [3, 4], [9, 6]])))
    new = found.batch._replace(content=np.array([[np.nan, 1]]), ids=["7"])
    assert found.features.transform(new).tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros(5), "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 3, 4)), "got 3D array"),
        (np.zeros((2, 2), complex), "Complex data not supported"),
        (np.array([["a", "b"]]), "does not hold numbers"),
        (np.zeros((0, 3)), "0 samples"),
        (np.zeros((3, 0)), "0 features"),
        (np.array([[1e31, 0], [0, 1]]), "too large"),
        (np.array([[2**60, 0], [0, 1]]), "too large"),
        (np.array([[np.inf, 0], [0, 1]]), "infinite"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(
    tmp_path: Path, learn: Learn, rows: np.ndarray, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        learn(_save(tmp_path / "a.npy", rows))


def test_objects_are_refused_unloaded(tmp_path: Path, learn: Learn) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (tmp_path.joinpath, ("sprung",))

    path = _save(tmp_path / "a.npy", np.array([[Trap()]]), allow_pickle=True)
    with pytest.raises(BadInput, match="Python objects"):
        learn(path)
    (tmp_path / "b.npy").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(BadInput, match="cannot be read"):
        learn(tmp_path / "b.npy")


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_cut_off_files_are_refused(tmp_path: Path, learn: Learn, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    (np.save if suffix == "npy" else np.savez)(path, np.ones((30, 4)))
    content = path.read_bytes()
    for length in range(0, len(content) - 1, 53):
        path.write_bytes(content[:length])
        with pytest.raises(BadInput, match="cannot be read"):
            learn(path)


def test_sparse_with_places_out_of_bounds_is_refused(
    tmp_path: Path, learn: Learn
) -> None:
    rows = sp.csr_array(np.eye(2, 3))
    rows.indices[1] = 99
    sp.save_npz(tmp_path / "a.npz", rows)
    with pytest.raises(BadInput, match="cannot be read"):
        learn(tmp_path / "a.npz")


def test_bytes_in_three_axes_are_images(tmp_path: Path, learn: Learn) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 5, 6, 3), dtype=np.uint8)
    found = learn(_save(tmp_path / "a.npy", images))
    assert found.source.kind == "images" and found.features.input_shape == (3, 5, 6)
    assert np.allclose(found.X.reshape(4, 3, 5, 6)[1, 2] * 255, images[1, ..., 2])
    assert found.features.names[0] == "red pixel 0,0"


def test_other_number_of_columns_is_refused(tmp_path: Path, learn: Learn) -> None:
    found = learn(_save(tmp_path / "a.npy", np.eye(3)))
    path = _save(tmp_path / "b.npy", np.eye(4))
    with pytest.raises(BadInput, match="X has 4 features, but DCN is expecting 3"):
        found.features.transform(open_input(str(path), InputOptions()).read())


def test_big_endian_and_fortran_order_are_read(tmp_path: Path, learn: Learn) -> None:
    rows = np.asfortranarray(np.arange(6).reshape(2, 3)).astype(">f4")
    assert learn(_save(tmp_path / "a.npy", rows)).X.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_npz_by_the_name_of_npy_is_read(tmp_path: Path, learn: Learn) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(2))
    path = (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    assert (learn(path).X == np.eye(2)).all()


def test_all_columns_dropped_is_refused(tmp_path: Path, learn: Learn) -> None:
    with pytest.raises(BadInput, match="No column can be used"):
        learn(_save(tmp_path / "a.npy", np.eye(2)), drop=("0", "1"))


def test_rows_without_gaps_are_all_kept(tmp_path: Path, learn: Learn) -> None:
    found = learn(_save(tmp_path / "a.npy", np.eye(3)), missing="drop")
    assert found.batch.ids == ["0", "1", "2"]
