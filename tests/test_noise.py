"""Noise without views: of texts, on a latent sphere, and of images."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import load_digits
from torch import Tensor
from torch.testing import assert_close

from kfriendly import DCN
from kfriendly.criteria import KMeans
from kfriendly.defaults import make_plan, pretraining_length, resolve_scale
from kfriendly.experiments.settings import PRINTED, find_setting
from kfriendly.losses import squared
from kfriendly.metrics import ari
from kfriendly.networks import MLPFactory
from kfriendly.networks.tracing import on_sphere
from kfriendly.training.descent import Descent
from kfriendly.training.objective import Objective
from kfriendly.training.run import with_views
from kfriendly.training.scaling import find_scaling
from kfriendly.training.sources import ArraySource
from kfriendly.views import DropWords, MoveImages, Neighbors, Noise

K = 4
MOVES = MoveImages((32, 32), shift=32 / 14)


def make_texts(seed: int = 0, n: int = 240) -> tuple[sp.csr_array, np.ndarray]:
    """Draw texts of four topics, ten to eighty words each, half of them common."""
    rng = np.random.RandomState(seed)
    y = rng.randint(K, size=n)
    X = np.zeros((n, 200), np.float32)
    for row, topic in zip(X, y, strict=True):
        length = rng.randint(10, 80)
        own = rng.randint(40, size=length // 2) + 40 * topic
        common = rng.randint(200, size=length - length // 2)
        np.add.at(row, np.concatenate([own, common]), 1.0)
    return sp.csr_array(X), y


def plan_of(X: Any, **params: Any) -> Any:
    return make_plan(DCN(K, **params).get_params(deep=False), X)


def test_finds_topics_of_unequal_texts() -> None:
    X, y = make_texts()
    model = DCN(K, views=None, random_state=0).fit(X)
    assert model.scaling_.rule == "rows"
    assert ari(y, model.labels_) > 0.8
    assert (model.predict(X) == model.labels_).all()
    assert np.linalg.norm(model.transform(X), axis=1) == pytest.approx(20**0.5)


def test_length_does_not_matter_to_a_fitted_model() -> None:
    X, _ = make_texts()
    model = DCN(K, views=None, pretrain_epochs=2, max_epochs=1, random_state=0).fit(X)
    times = 1.0 + np.arange(X.shape[0])[:, None] % 7
    longer = sp.csr_array(X.multiply(times))
    assert model.transform(longer) == pytest.approx(model.transform(X), abs=1e-4)


def test_defaults_of_texts_and_of_all_else() -> None:
    X, _ = make_texts()
    plan = plan_of(X, views=None)
    assert plan.noise == Noise(DropWords(0.8), DropWords(0.5))
    assert plan.build == MLPFactory((256,), sphere=True)
    assert (plan.n_components, plan.init) == (20, "kmeans")
    assert plan.joint.descent.learning_rate == 1e-3
    many = sp.vstack([X] * 21, format="csr")
    assert plan_of(many, views=None).build.hidden == (1000,)
    assert plan_of(many, views=None).joint.descent.learning_rate == 3e-3
    for other in (plan_of(X), plan_of(np.random.RandomState(0).randn(99, 5))):
        assert other.noise is None
        assert not other.build.sphere


def test_centres_keep_up_with_noise() -> None:
    X, _ = make_texts()
    criterion = plan_of(X, views=None).objective.criterion
    assert criterion == KMeans(max_count=100)  # at least the prior count
    many = sp.vstack([X] * 3, format="csr")
    assert plan_of(many, views=None).objective.criterion == KMeans(max_count=720 / K)
    own = plan_of(X, views=None, criterion=KMeans())
    assert own.objective.criterion == KMeans()


def make_images(n: int = 200) -> np.ndarray:
    """Enlarge digits to 32 x 32 pixels."""
    small = load_digits().data[:n].reshape(-1, 8, 8)
    return np.kron(small, np.ones((4, 4))).reshape(len(small), -1)


def test_autoencoders_of_images_are_trained_on_moved_ones() -> None:
    X = make_images(1_000)
    plan = plan_of(X, views=None)
    assert plan.noise == Noise(MOVES, None, restore=False)
    assert plan.objective.criterion == KMeans()
    still = plan_of(X, views=None, noise=None)
    assert plan.pretrain.n_epochs == 2 * still.pretrain.n_epochs
    assert plan.joint == still.joint
    for params in ({"input_shape": None}, {"noise": None}, {"views": "neighbors"}):
        assert plan_of(X, **{"views": None, **params}).noise is None
    assert plan_of(load_digits().data, views=None).noise is None  # of 8 x 8 pixels


def test_larger_steps_are_taken_over_moved_images() -> None:
    X = make_images()
    plan = plan_of(X, views=None)
    rates = [phase.descent.learning_rate for phase in (plan.pretrain, plan.joint)]
    assert rates == [2e-3, 1e-3]
    own = plan_of(X, views=None, pretrain_optimizer=Descent("adam", 1e-4))
    assert own.pretrain.descent.learning_rate == 1e-4


def test_lambda_counts_what_the_network_tells() -> None:
    X, _ = make_texts()
    quick: dict[str, Any] = {"pretrain_epochs": 20, "max_epochs": 0, "random_state": 0}
    model = DCN(K, views=None, **quick).fit(X)
    told = 1.0 - model.reconstruction_error_ / model.scaling_.variance
    H = model.transform(X)
    spread = np.square(H - H.mean(0)).sum(1).mean()
    wanted = 0.3 * 2.0 * model.scaling_.variance / spread * told
    assert 0.01 < told < 1.0
    assert model.lam_ == pytest.approx(wanted, rel=1e-3)


def test_scale_of_texts_is_the_users_if_given() -> None:
    X, _ = make_texts()
    for params, rule in (
        ({"views": None}, "rows"),
        ({"views": None, "scale": "standard"}, "standard"),
        ({}, "auto"),
        ({"loss": "kl"}, "nonnegative"),
    ):
        assert resolve_scale(DCN(K, **params).get_params(), X) == rule


def test_the_papers_settings_have_no_noise() -> None:
    X, _ = make_texts()
    for data in PRINTED:
        for name in ("paper", "authors"):
            params = find_setting(data, name, 240).params
            assert plan_of(X, **params).noise is None


def test_rows_get_length_one_sparse_or_dense() -> None:
    X, _ = make_texts()
    for rows in (X, X.toarray(), X.toarray().astype(int)):
        scaling = find_scaling(rows, "rows")
        source = ArraySource(rows, scaling, torch.device("cpu"))
        x = source.rows(torch.arange(5)).numpy() * scaling.size
        assert np.linalg.norm(x, axis=1) == pytest.approx(1.0, rel=1e-6)
        cosine = (x * X[:5].toarray()).sum(1) / np.linalg.norm(X[:5].toarray(), axis=1)
        assert cosine == pytest.approx(1.0, rel=1e-6)
        assert scaling.variance == pytest.approx(X.shape[1])


def test_a_text_without_words_is_no_trouble() -> None:
    X, _ = make_texts()
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 200), dtype=np.float32)]))
    model = DCN(K, views=None, pretrain_epochs=2, max_epochs=1, random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.filterwarnings("ignore")  # of all that is wrong with them
def test_texts_that_are_all_one_leave_lambda_a_number() -> None:
    X = sp.csr_array(np.tile(make_texts()[0][:1].toarray(), (40, 1)))
    model = DCN(K, views=None, pretrain_epochs=1, max_epochs=1, random_state=0).fit(X)
    assert np.isfinite(model.lam_)


@pytest.mark.parametrize("shape", [(7, 3), (2, 7, 3)])
def test_gradient_on_the_sphere_is_autograds(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    factory = MLPFactory((5,), sphere=True)
    networks = [factory(4, 3, torch.Generator().manual_seed(s)) for s in (0, 1)]
    network = networks[0].stack(networks) if len(shape) == 3 else networks[0]
    x, G = torch.randn(7, 4), torch.randn(shape)
    parameters = list(network.encoder.parameters())
    expected = torch.autograd.grad(network.encode(x), parameters, G)
    with torch.no_grad():
        H, pull = network.trace_encode(x)
        assert_close(H, network.encode(x))
        assert_close(H.norm(dim=-1), torch.full(shape[:-1], 3**0.5))
        pull(G)
    for p, wanted in zip(parameters, expected, strict=True):
        assert_close(p.grad, wanted, rtol=1e-4, atol=1e-6)


def test_a_point_at_the_origin_stays_finite() -> None:
    h = torch.zeros(2, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(on_sphere(h).sum(), h)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("joint", [False, True])
def test_noise_is_seen_and_the_sample_reconstructed(joint: bool) -> None:
    torch.manual_seed(0)
    network = MLPFactory((6,))(8, 2, torch.Generator().manual_seed(0))
    sample, seen = torch.randn(5, 8), torch.randn(5, 8)
    criterion = KMeans()
    cluster = criterion.init(torch.randn(9, 2), 2, 0)
    lam = torch.tensor(0.7)
    H = network.encode(seen)
    wanted = squared(network.decode(H), sample).mean()
    if joint:
        S = criterion.assign(H.detach(), cluster)
        wanted = wanted + 0.5 * lam * criterion.cost(H, S, cluster).mean()
    expected = torch.autograd.grad(wanted, list(network.parameters()))
    objective = Objective(squared, criterion, noisy=True)
    batch = torch.cat([sample, seen])
    with torch.no_grad():
        if joint:
            cost = objective.differentiate(network, batch, cluster, lam=lam)
        else:
            cost = objective.differentiate_alone(network, batch)
    assert_close(cost.H, H.detach())
    for p, gradient in zip(network.parameters(), expected, strict=True):
        assert_close(p.grad, gradient, rtol=1e-4, atol=1e-6)


def test_each_phase_has_its_noise() -> None:
    X, _ = make_texts()
    plan = plan_of(X, views=None, noise=Noise(DropWords(0.9), _ones))
    source = ArraySource(X, find_scaling(X, "rows"), torch.device("cpu"))
    seen = with_views(plan, source)
    rng = torch.Generator().manual_seed(0)
    index = torch.arange(50)
    before = seen.pretrain.draw(source, rng)(index)[50:]
    assert 0.05 < (before != 0).float().mean() / (_dense(X) != 0).mean() < 0.15
    assert (seen.joint.draw(source, rng)(index)[50:] == 1.0).all()


@pytest.mark.parametrize("restore", [False, True])
def test_without_noise_the_sample_is_seen_as_it_is(restore: bool) -> None:
    X, _ = make_texts()
    noise = Noise(_ones, None, restore=restore)
    plan = plan_of(X, views=None, noise=noise)
    source = ArraySource(X, find_scaling(X, "rows"), torch.device("cpu"))
    seen = with_views(plan, source)
    rng, index = torch.Generator().manual_seed(0), torch.arange(50)
    own = source.rows(index)
    before = seen.pretrain.draw(source, rng)(index)
    then = seen.joint.draw(source, rng)(index)
    ones = torch.ones_like(own)
    assert_close(before, torch.cat([own, ones]) if restore else ones)
    assert_close(then, torch.cat([own, own]) if restore else own)
    assert seen.objective.noisy == restore


def test_wide_sparse_texts_stay_sparse() -> None:
    X, y = make_texts()
    wide = sp.csr_array(sp.hstack([X] * 21))
    model = DCN(K, views=None, hidden=(32,), random_state=0).fit(wide)
    assert model._state.network.takes_sparse
    assert ari(y, model.labels_) > 0.8


def test_noise_beside_views_is_refused() -> None:
    X, _ = make_texts()
    with pytest.raises(ValueError, match="noise=.* is for views=None.*Neighbors"):
        DCN(K, views=Neighbors(), noise=DropWords()).fit(X)
    with pytest.raises(ValueError, match="Noise: joint"):
        Noise(DropWords(), 0.5)  # type: ignore[arg-type]


def test_a_model_of_texts_is_saved_and_goes_on(tmp_path: Path) -> None:
    X, _ = make_texts()
    quick: dict[str, Any] = {"pretrain_epochs": 2, "max_epochs": 2, "random_state": 0}
    model = DCN(K, views=None, **quick).fit(X)
    model.save(tmp_path / "model")
    loaded = DCN.load(tmp_path / "model")
    assert (loaded.transform(X) == model.transform(X)).all()
    assert loaded._plan.noise == model._plan.noise
    loaded.partial_fit(X[:50])
    kept = DCN(K, views=None, checkpoints=tmp_path / "kept", **quick).fit(X)
    assert (kept.labels_ == model.labels_).all()


@pytest.mark.filterwarnings("ignore:.*columns are constant")
def test_a_model_of_images_is_saved_with_what_it_saw(tmp_path: Path) -> None:
    X = make_images()
    quick: dict[str, Any] = {"pretrain_epochs": 2, "max_epochs": 1, "random_state": 0}
    model = DCN(K, views=None, **quick).fit(X)
    model.save(tmp_path / "model")
    loaded = DCN.load(tmp_path / "model")
    assert loaded._plan.noise == Noise(MOVES, None, restore=False)
    assert (loaded.predict(X) == model.labels_).all()


def _ones(x: Tensor, rng: torch.Generator) -> Tensor:
    return torch.ones_like(x)


def _dense(X: sp.csr_array) -> np.ndarray:
    return np.asarray(X[:50].toarray())


def test_rows_never_seen_the_same_way_twice_are_trained_longer() -> None:
    words = Noise(DropWords(0.8), DropWords(0.5))
    moves = Noise(MoveImages((28, 28)), None, restore=False)
    assert pretraining_length(18_846, None) == (1_400, 20)
    assert pretraining_length(18_846, words) == (5_600, 20)
    assert pretraining_length(18_846, moves) == (2_800, 40)
    assert pretraining_length(5_000, words) == (1_400, 20)  # learned by heart
