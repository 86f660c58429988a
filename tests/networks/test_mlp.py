"""The paper's mirrored multi-layer perceptron."""

from collections.abc import Callable

import pytest
import torch
from checks import NETWORK_CHECKS, check_autoencoder, lived_in
from torch.testing import assert_close

from kfriendly.networks import MLP, MLPFactory, NetworkFactory
from kfriendly.networks.layers import Normalisation, TiedDense

FACTORIES: dict[str, MLPFactory] = {
    "plain": MLPFactory((8, 6)),
    "linear": MLPFactory(()),
    "batch": MLPFactory((8, 6), normalisation="batch"),
    "centring": MLPFactory((8, 6), normalisation="centring"),
    "tied": MLPFactory((8, 6), tied=True),
    "tied batch": MLPFactory((8, 6), normalisation="batch", tied=True),
    "tied centring": MLPFactory((8, 6), normalisation="centring", tied=True),
    "paper's text": MLPFactory((8, 6), bottleneck="relu", output="relu"),
    "softplus": MLPFactory((8,), output="softplus"),
}


def build(style: MLPFactory, n_features: int = 5, n_components: int = 2) -> MLP:
    return style(n_features, n_components, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("check", NETWORK_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", FACTORIES)
def test_mlp_keeps_contract(
    kind: str, check: Callable[[NetworkFactory, int, int], None]
) -> None:
    check(FACTORIES[kind], 5, 2)


@pytest.mark.parametrize(("n_features", "n_components"), [(1, 1), (3, 7)])
def test_mlp_of_any_size_keeps_contract(n_features: int, n_components: int) -> None:
    check_autoencoder(FACTORIES["batch"], n_features, n_components)


def test_mlp_mirrors_its_widths() -> None:
    network = build(MLPFactory((50, 16)), 30, 10)
    shapes = {name: tuple(p.shape) for name, p in network.named_parameters()}
    weights = {name: shape for name, shape in shapes.items() if "weight" in name}
    assert list(weights.values()) == [
        *[(50, 30), (16, 50), (10, 16)],
        *[(16, 10), (50, 16), (30, 50)],
    ]


def test_mlp_defaults_are_the_widths_of_the_paper() -> None:
    assert MLPFactory().hidden == (500, 500, 2000)


def test_mlp_without_hidden_layers_is_two_affine_maps() -> None:
    network = lived_in(MLPFactory(()), 5, 2, seed=0)
    W, b, Z, d = network.parameters()
    x = torch.ones(1, 5)
    assert_close(network.encode(x), x @ W.mT + b)
    assert_close(network.decode(x[:, :2]), x[:, :2] @ Z.mT + d)


@pytest.mark.parametrize("normalisation", ["none", "batch", "centring"])
def test_tied_weights_are_one_tensor(normalisation: Normalisation) -> None:
    network = build(MLPFactory((4,), normalisation=normalisation, tied=True))
    for pair in network.layer_pairs():
        assert isinstance(pair.decode, TiedDense)
        assert pair.decode.mirrored.weight is pair.encode.weight
    weights = [name for name, _ in network.named_parameters() if "weight" in name]
    assert weights == ["encoder.0.weight", "encoder.1.weight"]


def test_tied_weights_stay_shared_after_stack_and_take() -> None:
    style = MLPFactory((4,), tied=True)
    stacked = MLP.stack([build(style), build(style)])
    for network in (stacked, stacked.take(1)):
        with torch.no_grad():
            next(network.encoder.parameters()).fill_(7.0)
        mirror = network.layer_pairs()[0].decode
        assert isinstance(mirror, TiedDense)
        assert bool((mirror.mirrored.weight == 7.0).all())


def test_tied_decoder_uses_the_transposed_weight() -> None:
    network = lived_in(MLPFactory((), tied=True), 5, 2, seed=0)
    W, _, d = network.parameters()
    assert_close(network.decode(torch.ones(1, 2)), torch.ones(1, 2) @ W + d)


def test_tied_gradient_has_both_ways() -> None:
    network = build(MLPFactory((), tied=True), 1, 1)
    weight = next(network.encoder.parameters())
    weight.data.fill_(3.0)
    x_hat = network.decode(network.encode(torch.ones(1, 1)))  # w * w
    (gradient,) = torch.autograd.grad(x_hat.sum(), weight)
    assert float(gradient) == 6.0


def test_untied_parameters_are_not_shared() -> None:
    network = build(MLPFactory((4,)))
    assert len(list(network.parameters())) == 8  # two layers a way, weight and bias


def test_bottleneck_and_output_have_their_activations() -> None:
    style = MLPFactory((8,), bottleneck="relu", output="softplus")
    network = lived_in(style, 5, 2, seed=0).requires_grad_(False)
    x = torch.randn(50, 5, generator=torch.Generator().manual_seed(0))
    assert float(network.encode(x).min()) == 0.0
    assert float(network.decode(network.encode(x)).min()) > 0.0


def test_linear_bottleneck_and_output_take_both_signs() -> None:
    network = lived_in(MLPFactory((8,)), 5, 2, seed=0).requires_grad_(False)
    x = torch.randn(50, 5, generator=torch.Generator().manual_seed(0))
    H = network.encode(x)
    assert float(H.min()) < 0 < float(H.max())
    assert float(network.decode(H).min()) < 0 < float(network.decode(H).max())


def test_inner_decoder_layers_have_relu() -> None:
    network = lived_in(MLPFactory((8, 6)), 5, 2, seed=0)
    x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    for layer in list(network.get_submodule("decoder").children())[:-1]:
        x = layer(x)
        assert x.min().item() == 0.0


def test_decoder_is_not_normalised() -> None:
    network = build(MLPFactory((4,), normalisation="batch"))
    assert [name for name, _ in network.decoder.named_buffers()] == []
    assert len(list(network.encoder.buffers())) == 4  # mean and variance, two layers


def test_gradient_of_stacked_equals_each_alone() -> None:
    networks = [lived_in(FACTORIES["tied batch"], 5, 2, seed=seed) for seed in (0, 1)]
    stacked = type(networks[0]).stack(networks)
    x = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    gradients = []
    for network in (stacked, *networks):
        total = (network.train().decode(network.encode(x)) - x).square().sum()
        trained = [p for p in network.parameters() if p.requires_grad]
        gradients.append(torch.autograd.grad(total, trained))
    for together, *alone in zip(*gradients, strict=True):
        assert_close(together, torch.stack(alone), rtol=1e-4, atol=1e-4)
