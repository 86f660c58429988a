"""DCN with views: neighbours and altered copies."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from torch.testing import assert_close

from kfriendly import DCN
from kfriendly.criteria import CRITERIA
from kfriendly.defaults import default_hidden, resolve_views
from kfriendly.metrics import ari
from kfriendly.sparse_rows import SparseRows, dense
from kfriendly.training.neighbors import share_cut
from kfriendly.training.scaling import find_scaling
from kfriendly.training.sources import ArraySource, TensorSource
from kfriendly.training.views import Walks, beside, make_views, walk
from kfriendly.views import Altered, DropWords, MoveImages, Neighbors

QUICK: dict[str, Any] = {
    "hidden": (16,),
    "pretrain_epochs": 6,
    "max_epochs": 4,
    "random_state": 0,
}


def _blobs() -> tuple[np.ndarray, np.ndarray]:
    X, y, *_ = make_blobs(300, 6, centers=3, random_state=0)
    return X, y


def _shake(x: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    return x + 0.1 * torch.randn(x.shape, generator=rng)


def _nothing(x: torch.Tensor, rng: torch.Generator) -> Any:
    return None


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("views", ["neighbors", _shake])
@pytest.mark.parametrize("n_init", [1, 3])
def test_views_find_blobs_under_every_criterion(
    criterion: str, views: Any, n_init: int
) -> None:
    X, y = _blobs()
    model = DCN(3, criterion=criterion, views=views, n_init=n_init, **QUICK).fit(X)
    if criterion != "k_subspace":  # which looks for planes
        assert ari(y, model.labels_) > 0.95
    assert model.history_[-1].contrast > 0
    assert (model.labels_ == model.predict(X)).all()


def test_without_views_there_is_no_contrast_and_eq_4_is_the_objective() -> None:
    X, _ = _blobs()
    last = DCN(3, views=None, **QUICK).fit(X).history_[-1]
    assert last.contrast == 0
    expected = last.reconstruction + 0.5 * last.lam * last.clustering
    assert last.objective == pytest.approx(expected)


def test_same_seed_gives_the_same_clusters() -> None:
    X, _ = _blobs()
    first, second = (DCN(3, views="neighbors", **QUICK).fit(X) for _ in range(2))
    assert np.array_equal(first.transform(X), second.transform(X))


def test_sparse_text_takes_neighbors() -> None:
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(3), 60)
    X = rng.rand(180, 90) * (rng.rand(180, 90) < 0.1)
    for k in range(3):
        X[y == k, 30 * k : 30 * k + 30] += rng.rand(60, 30) * (rng.rand(60, 30) < 0.3)
    model = DCN(3, views="neighbors", **QUICK).set_params(pretrain_epochs=40)
    assert ari(y, model.fit_predict(sp.csr_array(X))) > 0.7


def test_images_are_moved_by_a_convolutional_network_too() -> None:
    X, y = load_digits(return_X_y=True)
    X = X[y < 3][:240] + 1e-3 * np.random.RandomState(0).rand(240, 64)
    model = DCN(
        3, network="conv", input_shape=(8, 8), views=MoveImages((8, 8), shift=1.0)
    )
    model.set_params(pretrain_epochs=4, max_epochs=2, random_state=0)
    assert model.fit(X).history_[-1].contrast > 0


@pytest.mark.parametrize(("n_rows", "moves"), [(20_000, True), (20_001, False)])
def test_images_are_moved_where_they_are_few(n_rows: int, moves: bool) -> None:
    X = np.empty((n_rows, 12))
    rule = resolve_views("auto", X, 5, (3, 4))
    assert isinstance(rule, Neighbors)
    expected = MoveImages((3, 4), shift=4 / 28, degrees=5.0, stretch=0.05)
    assert rule.alter == (expected if moves else None)


def test_move_images_keeps_images_where_nothing_moves() -> None:
    x = torch.rand(5, 36)
    still = MoveImages((6, 6), shift=0.0, degrees=0.0, stretch=0.0)
    torch.testing.assert_close(still(x, torch.Generator()), x)
    color = MoveImages((3, 4, 3), shift=1.0)
    assert color(x, torch.Generator()).shape == x.shape


def test_move_images_shifts_by_whole_pixels_as_told() -> None:
    image = torch.zeros(1, 7, 7)
    image[0, 3, 3] = 1.0
    moved = MoveImages((7, 7), shift=2.0, degrees=0.0, stretch=0.0)(
        image.view(1, 49), torch.Generator().manual_seed(0)
    ).view(7, 7)
    weights = moved / moved.sum()
    middle = (weights.sum(1) @ torch.arange(7.0), weights.sum(0) @ torch.arange(7.0))
    assert all(abs(float(m) - 3.0) <= 2.0 for m in middle) and not torch.equal(
        moved, image[0]
    )


def test_move_images_is_torchs_affine_map() -> None:
    x, seed = torch.rand(6, 3 * 8 * 5), 3
    moved = MoveImages((3, 8, 5), shift=1.5, degrees=30.0, stretch=0.2)(
        x, torch.Generator().manual_seed(seed)
    )
    draws = torch.rand(4, 6, generator=torch.Generator().manual_seed(seed))
    turn, change, right, down = 2.0 * draws - 1.0
    angle, size = turn * np.pi / 6, 1.0 + 0.2 * change
    cos, sin = size * angle.cos(), size * angle.sin()
    first = torch.stack([cos, -sin, 2 * 1.5 / 5 * right], 1)
    second = torch.stack([sin, cos, 2 * 1.5 / 8 * down], 1)
    matrices = torch.stack([first, second], 1)
    grid = F.affine_grid(matrices, [6, 3, 8, 5], align_corners=False)
    expected = F.grid_sample(
        x.view(6, 3, 8, 5), grid, padding_mode="border", align_corners=False
    )
    torch.testing.assert_close(moved.view(6, 3, 8, 5), expected, rtol=0.0, atol=1e-5)


def test_dropped_words_are_a_share_and_the_rest_weighs_more() -> None:
    X = sp.random_array((200, 300), density=0.1, format="csr", rng=0, dtype=np.float32)
    rows = SparseRows(sp.csr_array(X), torch.rand(300))
    fewer = DropWords(0.4)(rows, torch.Generator().manual_seed(0))
    lost = fewer.Z.data == 0
    assert abs(lost.mean() - 0.4) < 0.02
    np.testing.assert_allclose(fewer.Z.data[~lost], rows.Z.data[~lost] / 0.6, 1e-6)
    assert fewer.u is rows.u and rows.Z.nnz == X.nnz
    filled = DropWords(0.4)(torch.ones(100, 80), torch.Generator().manual_seed(0))
    assert abs((filled == 0).double().mean() - 0.4) < 0.02
    assert abs(filled.mean() - 1.0) < 0.03
    with pytest.raises(ValueError, match="share"):
        DropWords(1.0)


def test_texts_lose_words_and_stay_sparse_in_a_batch() -> None:
    X = sp.csr_array(sp.random_array((60, 200), density=0.05, format="csr", rng=0))
    rule = resolve_views("auto", X, 3)
    assert isinstance(rule, Neighbors) and rule.alter == DropWords()
    own = SparseRows(X.astype(np.float32), torch.zeros(200))
    rng = torch.Generator().manual_seed(0)
    both = beside(own, own, DropWords(), rng)
    assert isinstance(both, SparseRows) and len(both) == 120
    assert_close(both.dense()[:60], own.dense())
    assert not torch.equal(both.dense()[60:], own.dense())
    moved = beside(own, own, lambda x, rng: x + 1.0, rng)
    assert_close(moved[60:], own.dense() + 1.0)


def test_more_neighbors_than_rows_is_refused() -> None:
    X, _ = _blobs()
    with pytest.raises(ValueError, match="n_neighbors=300 needs more than 300 rows"):
        DCN(3, views=Neighbors(300), **QUICK).fit(X)


def test_a_callable_of_the_wrong_shape_is_refused() -> None:
    X, _ = _blobs()
    with pytest.raises(ValueError, match=r"returned \(3, 6\) for rows of shape"):
        DCN(3, views=lambda x, rng: x[:3], **QUICK).fit(X)
    with pytest.raises(ValueError, match="returned NoneType"):
        DCN(3, views=_nothing, **QUICK).fit(X)
    with pytest.raises(ValueError, match="that of 6 pixels"):
        DCN(3, views=MoveImages((2, 2)), **QUICK).fit(X)


def test_a_wrong_callable_is_refused_for_neighbors_too() -> None:
    X, _ = _blobs()
    with pytest.raises(ValueError, match="must return a tensor of that shape"):
        DCN(3, views=Neighbors(3, alter=lambda x, rng: x[:, :1]), **QUICK).fit(X)


def test_duplicated_rows_and_constant_columns_are_clustered() -> None:
    X = np.repeat([[0.0, 0.0, 1.0], [9.0, 0.0, 1.0], [0.0, 9.0, 1.0]], 30, axis=0)
    y = np.repeat(np.arange(3), 30)
    with pytest.warns(UserWarning, match="constant"):
        labels = DCN(3, views="neighbors", **QUICK).fit_predict(X)
    assert ari(y, labels) == 1.0


@pytest.mark.parametrize(
    "wrong", [{"n_neighbors": 0}, {"n_steps": 0}, {"contrast": -1.0}, {"alter": 3}]
)
def test_options_of_neighbors_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}="):
        Neighbors(**wrong)


def test_auto_takes_neighbors_where_clusters_have_some_and_data_is_not_huge() -> None:
    def rule(views: Any, n_rows: int) -> Any:
        return resolve_views(views, np.empty((n_rows, 1), np.int8), 10)

    assert rule("auto", 10_000) == Neighbors()
    assert rule("auto", 200) == Neighbors(6)
    assert rule("auto", 80) is None and rule("auto", 1_000_000) is None
    assert rule("neighbors", 1_000_000) == Neighbors()
    assert rule(None, 10_000) is None
    assert rule(_shake, 10_000) == Altered(_shake)
    text = resolve_views("auto", sp.csr_array((500, 3)), 5)
    assert text == Neighbors(contrast=10.0, alter=DropWords())


def test_layers_are_small_with_neighbors_and_larger_for_many_rows() -> None:
    assert default_hidden((20_000, 784), Neighbors()) == (256, 128)
    assert default_hidden((20_001, 784), Neighbors()) == (256, 256, 512)
    assert default_hidden((20_001, 784)) == (500, 500, 2000)


def test_layers_for_few_columns_without_views_are_larger_for_many_rows() -> None:
    assert default_hidden((5_000, 16)) == (128, 64)
    assert default_hidden((5_001, 16)) == (256, 256, 512)
    assert default_hidden((200_000, 16)) == (256, 256, 512)
    assert default_hidden((200_001, 16)) == (128, 64)  # time counts


def test_partial_fit_goes_on_without_views() -> None:
    X, y = _blobs()
    model = DCN(3, views="neighbors", **QUICK).partial_fit(X)
    assert ari(y, model.partial_fit(X[:150]).predict(X)) > 0.9


def test_cut_is_the_mean_share_of_rows_elsewhere_by_hand() -> None:
    near = torch.tensor([[1, 2], [0, 2], [3, 1], [2, 0]], dtype=torch.int32)
    labels = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 0]])
    # Cluster 0: row 0 has one of two away, row 1 too; cluster 1: 1 of 2 and 1 of 2.
    # All in one cluster: nothing is away, but the empty one counts as one.
    assert share_cut(near, labels, 2).tolist() == [0.5, 0.5]


def test_cut_of_walks_of_one_step_is_that_of_the_graph() -> None:
    near = torch.tensor([[1, 2], [0, 2], [3, 1], [2, 0]], dtype=torch.int32)
    labels = torch.tensor([[0, 0, 1, 1], [0, 0, 0, 1]])
    assert_close(Walks(near, 1).cut(labels, 2), share_cut(near, labels, 2))


@pytest.mark.parametrize(("n_steps", "share"), [(1, 1.0), (2, 0.0), (3, 1.0)])
def test_cut_of_walks_is_by_where_they_end(n_steps: int, share: float) -> None:
    ring = torch.tensor([[1], [2], [3], [0]], dtype=torch.int32)
    labels = torch.tensor([0, 1, 0, 1])
    assert Walks(ring, n_steps).cut(labels, 2) == share


def test_start_takes_what_cuts_the_graph_least() -> None:
    X, y = _blobs()
    model = DCN(3, views=Neighbors(5, 2), **QUICK).fit(X)
    assert ari(y, model.initial_labels_) > 0.95
    assert model.start_scores_.min() < 0.02  # hardly any walk ends in another


def test_walks_go_from_neighbour_to_neighbour_and_stand_behind_their_samples() -> None:
    ring = torch.tensor([[1], [2], [3], [4], [0]], dtype=torch.int32)
    rows = TensorSource(torch.arange(5.0).unsqueeze(1))
    pairs = Walks(ring, 3).draw(rows, torch.Generator())
    found = dense(pairs(torch.tensor([0, 4])))
    assert found.flatten().tolist() == [0, 4, 3, 2]


def test_the_row_at_the_end_of_a_walk_is_altered_and_the_sample_is_not() -> None:
    ring = torch.tensor([[1], [2], [0]], dtype=torch.int32)
    rows = TensorSource(torch.arange(3.0).unsqueeze(1))
    walks = Walks(ring, 1, lambda x, rng: x + 10.0)
    found = dense(walks.draw(rows, torch.Generator())(torch.tensor([0, 2])))
    assert found.flatten().tolist() == [0, 2, 11, 10]


def _walks(X: np.ndarray, n_neighbors: int, n_clusters: int) -> Walks:
    source = ArraySource(X, find_scaling(X, "common"), torch.device("cpu"))
    walks = make_views(Neighbors(n_neighbors), source, n_clusters)
    assert isinstance(walks, Walks)
    return walks


def test_walks_are_long_where_clusters_are_wide_and_short_where_they_are_not() -> None:
    rng = np.random.RandomState(0)

    def length(X: np.ndarray, n_neighbors: int = 10, n_clusters: int = 1) -> int:
        return _walks(X, n_neighbors, n_clusters).n_steps

    line, plane = length(rng.rand(400, 1)), length(rng.rand(400, 2))
    assert line > plane > length(rng.randn(400, 30)) >= 1
    assert length(rng.rand(400, 2), n_clusters=20) < plane  # narrow ones
    assert length(np.ones((20, 2))) == 1  # all rows are one
    assert length(rng.randn(400, 500)) == 1  # no step leads farther
    # Short texts are near to all: walks end there, and get no farther.
    words = 1.0 / np.arange(1, 201)
    sizes = rng.randint(5, 200, 400)
    texts = np.stack([rng.multinomial(n, words / words.sum()) for n in sizes])
    assert length(texts.astype(float)) <= 4
    # Of two steps along three neighbours many lead back, which is no sign of an end.
    assert length(rng.randn(400, 20), n_neighbors=3) > 1


def test_walks_do_not_leave_a_cluster_of_few_rows() -> None:
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.randn(55, 2), rng.randn(5, 2) + 30.0])
    assert (_walks(X, 6, n_clusters=3).mutual[55:] >= 55).all()


def test_row_that_nobody_has_keeps_its_neighbors_however_few_rows_there_are() -> None:
    X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0]])
    assert _walks(X, 2, n_clusters=3).mutual[4].tolist() == [3, 2]


@pytest.mark.parametrize("n_steps", [1, 2, 3, 6, 100, 1_001])
def test_walks_take_as_many_steps_as_told(n_steps: int) -> None:
    ring = ((torch.arange(7) + 1) % 7).int().unsqueeze(1).expand(7, 3)
    ends = walk(ring, n_steps, torch.Generator())
    assert ends.tolist() == [(i + n_steps) % 7 for i in range(7)]


def test_walks_of_many_steps_end_as_chances_say() -> None:
    # From 0 to 1 or 2 alike, from 1 to 0, from 2 to itself: after four steps from 0,
    # a quarter is back at 0, and three are lost in 2.
    mutual = torch.tensor([[1, 2], [0, 0], [2, 2]], dtype=torch.int32)
    many = torch.cat([mutual + 3 * i for i in range(4_000)])
    ends = walk(many, 4, torch.Generator().manual_seed(0)).view(-1, 3)[:, 0] % 3
    shares = ends.bincount(minlength=3) / len(ends)
    assert np.allclose(shares, [0.25, 0.0, 0.75], atol=0.03)


@pytest.mark.parametrize("shape", ["moons", "circles"])
def test_long_clusters_are_found_which_kmeans_cuts(shape: str) -> None:
    make = {"moons": make_moons, "circles": partial(make_circles, factor=0.5)}[shape]
    X, y = make(1_000, noise=0.05, random_state=0)
    assert ari(y, KMeans(2, n_init=10, random_state=0).fit_predict(X)) < 0.6
    assert ari(y, DCN(2, n_init=1, random_state=0).fit_predict(X)) > 0.95
