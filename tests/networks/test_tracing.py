"""Gradients by hand against autograd's."""

from typing import Any

import pytest
import torch
from checks import lived_in
from torch import Tensor, nn
from torch.testing import assert_close

from kfriendly.networks import ConvFactory, MLPFactory, NetworkFactory
from kfriendly.networks.base import Autoencoder
from kfriendly.networks.layers import WIDE, Dense
from kfriendly.networks.tracing import Trace, chain_of, trace, trace_chain
from kfriendly.networks.whitened import Whitened

STYLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "relu ends": {"bottleneck": "relu", "output": "relu"},
    "softplus": {"output": "softplus"},
    "batch": {"normalisation": "batch"},
    "tied": {"tied": True},
}


def rows(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def build(style: str, starts: int) -> Autoencoder:
    factory = MLPFactory((6, 3), **STYLES[style])
    networks = [lived_in(factory, 4, 2, seed=s).double() for s in range(starts or 1)]
    network = type(networks[0]).stack(networks) if starts else networks[0]
    return network.eval()


def gradients(network: nn.Module) -> dict[str, Tensor]:
    return {
        name: p.grad for name, p in network.named_parameters() if p.grad is not None
    }


def check_like_autograd(network: Autoencoder, x: Tensor) -> None:
    """Compare both traces with autograd, outputs and all gradients."""
    h = network.encode(x).detach()
    for by_hand, function, point in (
        (network.trace_encode, network.encode, x),
        (network.trace_decode, network.decode, h),
    ):
        point = point.requires_grad_(function == network.decode)
        network.zero_grad(set_to_none=True)
        output = function(point)
        G = rows(*output.shape, seed=9)
        output.backward(G)  # type: ignore[no-untyped-call]
        expected = gradients(network)
        network.zero_grad(set_to_none=True)
        with torch.no_grad():
            traced: Trace = by_hand(point.detach())
            pulled = traced.pull(G)
        assert_close(traced.output, output.detach())
        assert_close(gradients(network), expected)
        if point.grad is not None:
            assert_close(pulled, point.grad)


@pytest.mark.parametrize("starts", [0, 1, 3])
@pytest.mark.parametrize("style", list(STYLES))
def test_mlp_traces_equal_autograd(style: str, starts: int) -> None:
    check_like_autograd(build(style, starts), rows(9, 4))


@pytest.mark.parametrize("starts", [0, 3])
def test_whitened_traces_equal_autograd(starts: int) -> None:
    network, x = build("plain", starts), rows(9, 4)
    check_like_autograd(Whitened(network, network.encode(x).detach()).double(), x)


def test_conv_traces_equal_autograd() -> None:
    factory: NetworkFactory = ConvFactory((4, 4), channels=(3,))
    check_like_autograd(lived_in(factory, 16, 2, seed=0).double(), rows(5, 16))


def test_gradients_of_a_tied_weight_add_up() -> None:
    network, x = build("tied", 0), rows(9, 4)
    network.decode(network.encode(x)).sum().backward()  # type: ignore[no-untyped-call]
    expected = gradients(network)
    network.zero_grad(set_to_none=True)
    with torch.no_grad():
        h, pull_h = network.trace_encode(x)
        x_hat, pull = network.trace_decode(h)
        pull_h(pull(torch.ones_like(x_hat)))
    assert_close(gradients(network), expected)


def test_frozen_parameters_get_no_gradient() -> None:
    network = build("plain", 0)
    first = next(network.parameters()).requires_grad_(False)
    with torch.no_grad():
        h, pull = network.trace_encode(rows(9, 4))
        pull(torch.ones_like(h))
    assert first.grad is None
    assert len(gradients(network)) == 5


def test_gradient_of_a_wide_layer_lies_as_its_weight() -> None:
    # The optimiser walks through both in memory.
    layer = Dense(WIDE, 3, generator=torch.Generator()).double()
    chain = chain_of([layer])
    assert chain is not None
    assert not layer.weight.is_contiguous()
    with torch.no_grad():
        y, pull = trace_chain(chain, rows(5, WIDE), want_input=False)
        pull(torch.ones_like(y))
    assert layer.weight.grad is not None
    assert layer.weight.grad.stride() == layer.weight.stride()


def test_chain_of_something_else_is_none() -> None:
    assert chain_of([nn.Linear(2, 2)]) is None


def test_trace_of_a_constant_pulls_nothing() -> None:
    with torch.no_grad():
        _, pull = trace(lambda x: 2.0 * x, rows(3, 2), want_input=False)
        assert pull(rows(3, 2)).numel() == 0
