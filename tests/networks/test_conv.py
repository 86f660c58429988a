"""The convolutional autoencoder."""

import math
from collections.abc import Callable

import pytest
import torch
from checks import (
    NETWORK_CHECKS,
    lived_in,
    pairs_are_outermost_first_and_fit,
    rows_go_in_and_out,
)
from torch import nn
from torch.testing import assert_close

from kfriendly.networks import Conv, ConvFactory, NetworkFactory

FACTORIES: dict[str, ConvFactory] = {
    "plain": ConvFactory((6, 5), channels=(3, 4)),
    "colour": ConvFactory((3, 5, 2), channels=(2,)),
    "batch": ConvFactory((6, 5), channels=(3, 4), normalisation="batch"),
    "centring": ConvFactory((6, 5), channels=(3, 4), normalisation="centring"),
    "relu": ConvFactory((6, 5), channels=(3,), bottleneck="relu", output="relu"),
}


def build(style: ConvFactory, n_components: int = 2) -> Conv:
    rng = torch.Generator().manual_seed(0)
    return style(math.prod(style.input_shape), n_components, rng)


@pytest.mark.parametrize("check", NETWORK_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", FACTORIES)
def test_conv_keeps_contract(
    kind: str, check: Callable[[NetworkFactory, int, int], None]
) -> None:
    check(FACTORIES[kind], 30, 2)


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize(
    "shape", [(8, 8), (7, 7), (8, 5), (1, 3), (1, 28, 28), (3, 9, 6)], ids=str
)
def test_conv_restores_image_size(shape: tuple[int, ...], kernel: int) -> None:
    style = ConvFactory(shape, channels=(2, 3, 4), kernel=kernel)
    rows_go_in_and_out(style, math.prod(shape), 2)
    pairs_are_outermost_first_and_fit(style, math.prod(shape), 2)


def test_conv_halves_sides_and_rounds_up() -> None:
    network = build(ConvFactory((3, 9, 6), channels=(2, 5)))
    x, shapes = torch.zeros(1, 3 * 9 * 6), []
    for layer in network.down:
        x = layer(x)
        shapes.append(tuple(x.shape[1:]))
    assert shapes == [(3, 9, 6), (2, 5, 3), (5, 3, 2)]


def test_conv_reads_rows_as_channel_height_width() -> None:
    network = build(ConvFactory((2, 3, 4), channels=(2,)))
    x = torch.arange(24.0).reshape(1, 24)
    assert torch.equal(network.down[0](x), x.reshape(1, 2, 3, 4))


def test_conv_sees_neighbours_not_positions() -> None:
    # The same pixel two further on moves the answer of the first layer one further on.
    network = build(ConvFactory((1, 12), channels=(4,)))
    left, right = torch.zeros(1, 12), torch.zeros(1, 12)
    left[0, 4] = right[0, 6] = 1.0
    a, b = network.down(left), network.down(right)  # (1, 4, 1, 6)
    assert bool(a.any())
    assert_close(a[..., 1:4], b[..., 2:5])


def test_conv_refuses_rows_of_another_length() -> None:
    message = r"input_shape=\(8, 8\) needs rows of 64 values, but X has 63 columns"
    with pytest.raises(ValueError, match=message):
        ConvFactory((8, 8))(63, 2, torch.Generator())


@pytest.mark.parametrize("shape", [(30,), (2, 3, 1, 5)], ids=str)
def test_conv_refuses_shapes_that_are_no_image(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="input_shape"):
        ConvFactory(shape, channels=(2,))(30, 2, torch.Generator())


def test_conv_signal_keeps_its_size() -> None:
    # He's variance, going in and coming back: within a factor of three a layer.
    network = build(ConvFactory((16, 16), channels=(32, 64)), n_components=10)
    x = torch.randn(100, 256, generator=torch.Generator().manual_seed(0))
    H = network.encode(x)
    for y in (H, network.decode(H)):
        assert 0.1 < float(y.detach().std()) < 10.0


def test_conv_biases_start_at_zero() -> None:
    network = build(FACTORIES["plain"])
    biases = [p for name, p in network.named_parameters() if name.endswith("bias")]
    assert len(biases) == 6
    assert not any(bool(b.any()) for b in biases)


def test_conv_output_is_not_negative_if_relu() -> None:
    network = lived_in(FACTORIES["relu"], 30, 2, seed=0)
    x = torch.randn(50, 30, generator=torch.Generator().manual_seed(0))
    H = network.requires_grad_(False).encode(x)
    assert float(H.min()) >= 0.0
    assert float(network.decode(H).min()) == 0.0


def test_conv_inner_decoder_layers_have_relu() -> None:
    network = build(FACTORIES["plain"])
    x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    for layer in (network.widen, *list(network.up)[:-1]):
        x = layer(x)
        assert x.min().item() == 0.0


def test_conv_batch_norm_is_over_rows_and_pixels() -> None:
    network = build(FACTORIES["batch"]).double().train()
    x = torch.randn(9, 30, generator=torch.Generator().manual_seed(0)).double()
    unflatten, shrink, *_ = network.down
    y = shrink.get_submodule("conv")(unflatten(x))
    theirs = nn.BatchNorm2d(3).double()(y)
    assert_close(shrink(unflatten(x)), torch.relu(theirs))


def test_conv_is_not_stackable() -> None:
    assert not Conv.stackable  # convolutions take no leading axis of starts
