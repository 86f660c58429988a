"""Pre-training: layer by layer, then end to end."""

import pytest
import torch

from kfriendly.criteria import KMeans
from kfriendly.losses import squared
from kfriendly.networks import ConvFactory, MLPFactory, NetworkFactory
from kfriendly.training import pretrain
from kfriendly.training.descent import Descent
from kfriendly.training.history import Recorder
from kfriendly.training.loop import Phase
from kfriendly.training.objective import Objective
from kfriendly.training.pretrain import pretrain_end_to_end, pretrain_layers
from kfriendly.training.sources import MappedSource, TensorSource
from kfriendly.training.state import TrainState

OBJECTIVE = Objective(squared, KMeans())
PHASE = Phase("layers", 15, 32, Descent("adam", 1e-2))
MLP_NET = MLPFactory((8, 6))
CONV_NET = ConvFactory((4, 4), channels=(4, 6))


def make_state(build: NetworkFactory) -> TrainState:
    network = build(16, 2, torch.Generator().manual_seed(0))
    return TrainState(
        network, PHASE.descent.optimizer(network.parameters()), torch.Generator()
    )


def make_source() -> TensorSource:
    rng = torch.Generator().manual_seed(1)
    plane = torch.randn(2, 16, generator=rng)
    return TensorSource(torch.randn(128, 2, generator=rng) @ plane)


@pytest.mark.parametrize("build", [MLP_NET, CONV_NET, MLPFactory((8,), tied=True)])
def test_pretrain_layers_lowers_the_loss_of_every_pair(build: NetworkFactory) -> None:
    state, monitor = make_state(build), Recorder()
    pretrain_layers(state, make_source(), OBJECTIVE, PHASE, monitor)
    n_pairs = len(state.network.layer_pairs())
    assert len(monitor.records) == 15 * n_pairs
    for pair in range(n_pairs):
        losses = [float(r.objective) for r in monitor.records[15 * pair :][:15]]
        assert losses[-1] < losses[0]


def test_pretrain_layers_trains_one_pair_at_a_time() -> None:
    state, monitor = make_state(MLP_NET), Recorder()
    inner = state.network.layer_pairs()[1].encode.weight.clone()  # type: ignore[operator]
    first = Phase("layers", 1, 32, Descent("adam", 1e-2))
    seen: list[bool] = []

    class Spy(Recorder):
        def record(self, record: object) -> None:
            weight = state.network.layer_pairs()[1].encode.weight
            seen.append(torch.equal(weight, inner))  # type: ignore[arg-type]

    monitor = Spy()
    pretrain_layers(state, make_source(), OBJECTIVE, first, monitor)
    assert seen == [True, False, False]


def test_pretrain_layers_without_cache_equals_with_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cached, anew = make_state(MLP_NET), make_state(MLP_NET)
    pretrain_layers(cached, make_source(), OBJECTIVE, PHASE, Recorder())
    monkeypatch.setattr(pretrain, "_CACHE_BYTES", 0)
    pretrain_layers(anew, make_source(), OBJECTIVE, PHASE, Recorder())
    for a, b in zip(
        cached.network.parameters(), anew.network.parameters(), strict=True
    ):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


def test_layer_outputs_are_not_cached_beyond_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = make_state(MLP_NET).network.layer_pairs()[0]
    assert isinstance(pretrain._outputs(pair, make_source()), TensorSource)
    monkeypatch.setattr(pretrain, "_CACHE_BYTES", 128 * 8 * 4 - 1)
    assert isinstance(pretrain._outputs(pair, make_source()), MappedSource)


def test_pretrain_end_to_end_learns_a_plane() -> None:
    state, monitor = make_state(MLPFactory((16,))), Recorder()
    phase = Phase("pretrain", 60, 32, Descent("adam", 1e-2, schedule="one_cycle"))
    pretrain_end_to_end(state, make_source(), OBJECTIVE, phase, monitor)
    variance = float(make_source().rows(torch.arange(128)).square().sum(1).mean())
    assert float(monitor.records[-1].reconstruction) < 0.02 * variance
