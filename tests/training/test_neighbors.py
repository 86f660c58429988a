"""The graph of nearest neighbours."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from kfriendly.training import neighbors
from kfriendly.training.neighbors import mutual_neighbors, nearest_neighbors
from kfriendly.training.scaling import find_scaling


@pytest.mark.parametrize(("n", "k"), [(30, 3), (64, 10), (700, 15), (1100, 5)])
def test_neighbors_are_scikit_learns(n: int, k: int) -> None:
    X = np.random.RandomState(0).randn(n, 6) * [1, 2, 3, 4, 5, 6] + 7
    scaling = find_scaling(X, "common")
    expected = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    found = nearest_neighbors(X, scaling, k)
    assert found.dtype == torch.int32
    assert (found.numpy() == expected).mean() > 0.999  # but for ties within rounding


def test_scaled_rows_are_compared() -> None:
    X = np.random.RandomState(0).randn(100, 3) * [1.0, 1e3, 1e6]
    scaling = find_scaling(X, "standard")
    scaled = (X - scaling.mean) / scaling.size
    search = NearestNeighbors(n_neighbors=4).fit(scaled)
    expected = search.kneighbors(return_distance=False)
    assert (nearest_neighbors(X, scaling, 4).numpy() == expected).all()


def test_many_columns_are_turned_without_changing_the_order() -> None:
    rng = np.random.RandomState(0)
    X = rng.randn(200, 20) @ rng.randn(20, 300) + 5.0  # twenty directions, 300 columns
    search = NearestNeighbors(n_neighbors=5).fit(X)
    expected = search.kneighbors(return_distance=False)
    found = nearest_neighbors(X, find_scaling(X, "common"), 5)
    assert (found.numpy() == expected).all()


def test_sparse_rows_are_compared_by_the_angles_of_roots_and_topics() -> None:
    rng = np.random.RandomState(0)
    X = rng.rand(150, 25) * (rng.rand(150, 25) < 0.3) * rng.rand(150, 1) * 10
    X[:, 0] += 0.1
    U = normalize(np.sqrt(X))
    left, strength, _ = np.linalg.svd(U, full_matrices=False)
    T = normalize(left[:, :20] * strength[:20])
    nearness = U @ U.T + 0.2 * T @ T.T
    np.fill_diagonal(nearness, -1)
    expected = np.argsort(-nearness, axis=1)[:, :6]
    sparse = sp.csr_array(X)
    found = nearest_neighbors(sparse, find_scaling(sparse, "common"), 6)
    # Of 25 columns the twenty strongest directions are found exactly.
    assert (found.numpy() == expected).mean() > 0.99


def test_texts_without_a_word_in_common_meet_in_their_topic() -> None:
    # Rows 0 to 79 hold either of two synonyms and the topic's words; 80 and 81 hold one
    # synonym each and a word of their own. All others have another topic.
    rng = np.random.RandomState(0)
    X = np.zeros((120, 60))
    X[:80, :10] = rng.rand(80, 10) < 0.5
    X[np.arange(80), np.arange(80) % 2] = 1
    X[80, [0, 50]] = X[81, [1, 51]] = 1
    X[82:, 20:30] = rng.rand(38, 10) < 0.5
    X[82:, 20] = 1
    sparse = sp.csr_array(X)
    distances = neighbors._angles(sparse)(slice(80, 81))[0]
    assert distances[81] < distances[82:].min()


def test_texts_without_words_have_neighbors() -> None:
    X = sp.csr_array((60, 50))
    assert nearest_neighbors(X, find_scaling(X, "none"), 3).shape == (60, 3)


@pytest.mark.parametrize("shape", [(4, 1), (2, 3), (5, 2)])
def test_texts_too_few_for_topics_have_neighbors(shape: tuple[int, int]) -> None:
    X = sp.csr_array(np.random.RandomState(0).rand(*shape))
    assert nearest_neighbors(X, find_scaling(X, "none"), 1).shape == (shape[0], 1)


def test_large_sparse_tables_are_never_filled_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.RandomState(0)
    X = sp.csr_array(rng.rand(120, 50) * (rng.rand(120, 50) < 0.3) + 0.0)
    scaling = find_scaling(X, "common")
    filled_in = nearest_neighbors(X, scaling, 5)
    monkeypatch.setattr(neighbors, "_DENSE_VALUES", 10)
    assert (nearest_neighbors(X, scaling, 5) == filled_in).float().mean() > 0.99


def test_mutual_neighbors_by_hand() -> None:
    # 0 and 1 choose each other; 2 chooses both, nobody chooses 2.
    chosen = torch.tensor([[1, 3], [0, 3], [0, 1], [1, 0]], dtype=torch.int32)
    found = mutual_neighbors(chosen, n_least=2).tolist()
    assert found == [[1, 3], [0, 3], [0, 1], [1, 0]]  # 2, alone, keeps both


def test_neighbors_between_large_pieces_are_kept() -> None:
    # Two groups of four that have each other; but 0 has 4 of the other group, and 1
    # has 8 of a pair, which has 0 and 2.
    four = [[1, 3, 4], [2, 0, 8], [3, 1, 0], [0, 2, 1]]
    others = [[5, 7, 6], [6, 4, 7], [7, 5, 4], [4, 6, 5]]
    chosen = torch.tensor([*four, *others, [9, 0, 2], [8, 0, 2]], dtype=torch.int32)
    found = mutual_neighbors(chosen, n_least=3).tolist()
    assert found[0] == [1, 3, 4]  # two that are mutual, and one of the other group
    assert found[1] == [2, 0, 2]  # not the one of the pair, which is small
    assert found[4:8] == others
    assert found[8:] == [[9, 0, 2], [8, 0, 2]]  # a pair is no cluster: it keeps all


def test_duplicated_rows_have_each_other() -> None:
    X = np.repeat(np.random.RandomState(0).randn(20, 3), 4, axis=0)
    found = nearest_neighbors(X, find_scaling(X, "common"), 3).numpy()
    assert (found // 4 == np.arange(80)[:, None] // 4).all()
    assert (found != np.arange(80)[:, None]).all()


@pytest.fixture
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbors, "_MOST_ROWS", 100)


@pytest.mark.usefixtures("few_rows_are_many")
def test_of_many_rows_nearly_all_neighbors_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbors, "_NEARBY_CELLS", 15)  # of 54
    X = np.random.RandomState(0).randn(3_000, 4)
    scaling = find_scaling(X, "common")
    expected = NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False)
    found = nearest_neighbors(X, scaling, 5).numpy()
    share = (found[:, :, None] == expected[:, None, :]).any(2).mean()
    assert 0.95 < share < 1.0  # 1 would mean that all were compared with all


@pytest.mark.usefixtures("few_rows_are_many")
@pytest.mark.parametrize("n_distinct", [1, 3, 400])
def test_many_rows_in_few_places_have_as_many_neighbors(n_distinct: int) -> None:
    places = np.random.RandomState(0).randn(n_distinct, 3)
    X = np.tile(places, (400 // n_distinct, 1))
    found = nearest_neighbors(X, find_scaling(X, "none"), 20).numpy()
    assert (found != np.arange(len(X))[:, None]).all()
    assert all(len(set(row)) == 20 for row in found.tolist())
    if n_distinct < 20:
        assert (X[found] == X[:, None]).all()


@pytest.mark.usefixtures("few_rows_are_many")
def test_of_many_rows_as_many_are_compared_as_neighbors_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbors, "_NEARBY_CELLS", 1)  # 20 rows
    X = np.random.RandomState(0).randn(400, 3)
    found = nearest_neighbors(X, find_scaling(X, "common"), 100)
    assert all(len(set(row)) == 100 for row in found.tolist())
