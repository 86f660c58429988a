"""Products by either library: the same numbers, and gradients, whatever the layout."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from kfriendly import products
from kfriendly.products import (
    gram,
    linear,
    multiply,
    multiply_transposed,
    products_for,
)

LARGE, NARROW, SMALL = (256, 300, 90), (512, 10, 900), (20, 30, 40)
SMALL_AND_NARROW = (110, 16, 10)
SHAPES = (LARGE, NARROW, SMALL, SMALL_AND_NARROW)


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def turned(*shape: int) -> Tensor:
    """Lay the columns out one after another, as in the first layer of wide tables."""
    return drawn(*shape[:-2], shape[-1], shape[-2]).mT


@pytest.fixture(params=["with oneDNN", "without"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.setattr(products, "_onednn", None)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Tensor]]:
    """Collect what oneDNN is asked for."""
    asked: list[Tensor] = []
    real = products._onednn

    def spy(x: Tensor, *others: object) -> Tensor:
        asked.append(x)
        return real(x, *others)  # type: ignore[no-any-return]

    monkeypatch.setattr(products, "_onednn", spy)
    yield asked


def assert_close(found: Tensor, exact: Tensor) -> None:
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("make", [drawn, turned])
@pytest.mark.parametrize("starts", [(), (3,)])
@pytest.mark.parametrize("relu", [False, True])
def test_linear_is_w_x_plus_b(
    library: None,
    shape: tuple[int, int, int],
    make: Callable[..., Tensor],
    starts: tuple[int, ...],
    relu: bool,
) -> None:
    n, a, b = shape
    x, W, bias = drawn(n, a), make(*starts, b, a), drawn(*starts, b)
    exact = x.double() @ W.double().mT + bias.double().unsqueeze(-2)
    with torch.no_grad():
        found = linear(x, W, bias, relu=relu)
    assert_close(found, exact.relu() if relu else exact)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("make", [drawn, turned])
@pytest.mark.parametrize("starts", [(), (3,)])
def test_products_equal_those_in_double_precision(
    library: None,
    shape: tuple[int, int, int],
    make: Callable[..., Tensor],
    starts: tuple[int, ...],
) -> None:
    n, a, b = shape
    A, B, C = make(*starts, n, a), drawn(*starts, a, b), make(*starts, n, b)
    assert_close(multiply(A, B), A.double() @ B.double())
    assert_close(multiply_transposed(A, C), A.double().mT @ C.double())
    assert_close(multiply_transposed(C, A), C.double().mT @ A.double())
    assert multiply_transposed(C, A).is_contiguous()  # as weights are


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("starts", [(), (3,)])
@pytest.mark.parametrize("relu", [False, True])
def test_linear_has_the_gradients_of_torchs_own(
    library: None, shape: tuple[int, int, int], starts: tuple[int, ...], relu: bool
) -> None:
    n, a, b = shape
    x, W, bias = drawn(n, a), drawn(*starts, b, a), drawn(*starts, b)
    of = [t.requires_grad_() for t in (x, W, bias)]
    y = linear(x, W, bias, relu=relu)
    exact = x.double() @ W.double().mT + bias.double().unsqueeze(-2)
    G = drawn(*y.shape)
    found = torch.autograd.grad(y, of, G)
    wanted = torch.autograd.grad(exact.relu() if relu else exact, of, G.double())
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)


def test_large_products_go_to_onednn_and_small_ones_do_not(calls: list[Tensor]) -> None:
    multiply(drawn(20, 30), drawn(30, 40))
    assert not calls
    multiply(drawn(256, 300), drawn(300, 90))
    assert len(calls) == 1
    multiply(drawn(3, 256, 300), drawn(3, 300, 90))
    assert len(calls) == 4


def test_double_precision_stays_double(calls: list[Tensor]) -> None:
    A, B = drawn(256, 300).double(), drawn(300, 90).double()
    assert multiply(A, B).equal(A @ B)
    assert not calls


def test_the_narrower_side_is_turned(calls: list[Tensor]) -> None:
    multiply_transposed(drawn(512, 900), drawn(512, 10))
    assert calls[0].shape == (10, 512)


@pytest.mark.parametrize("n", [5_000, 30])
def test_many_rows_are_multiplied_part_by_part(library: None, n: int) -> None:
    A, B = drawn(n, 30), drawn(n, 50)
    assert_close(multiply_transposed(A, B), A.double().mT @ B.double())


@pytest.mark.parametrize("shape", [(5_000, 50), (30, 4)])
@pytest.mark.parametrize("make", [drawn, turned])
def test_gram_is_the_product_with_itself(
    library: None, shape: tuple[int, int], make: Callable[..., Tensor]
) -> None:
    A = make(*shape)
    found = gram(A)
    assert found.shape == (shape[1], shape[1])
    torch.testing.assert_close(
        found.double(), A.double().mT @ A.double(), rtol=1e-4, atol=1e-2
    )


@pytest.mark.parametrize("starts", [(), (3,)])
@pytest.mark.parametrize("width", [10, 40])
def test_gradients_of_small_weights_lie_as_weights_do(
    starts: tuple[int, ...], width: int
) -> None:
    G, x = drawn(*starts, 110, 16), drawn(*starts, 110, width)
    found = products_for(1_000, G.dim()).multiply_transposed(G, x)
    torch.testing.assert_close(found, G.mT @ x)
    assert found.is_contiguous()  # the optimiser goes through memory


@pytest.mark.parametrize("starts", [(), (3,)])
def test_a_way_is_chosen_once_for_all_products(
    starts: tuple[int, ...], calls: list[Tensor]
) -> None:
    A, B = drawn(*starts, 256, 300), drawn(*starts, 300, 90)
    small, large = (products_for(n, A.dim()) for n in (1_000, 2**24))
    torch.testing.assert_close(small.multiply(A, B), A @ B)
    torch.testing.assert_close(small.multiply_transposed(A, A), A.mT @ A)
    assert not calls
    assert_close(large.multiply(A, B), A.double() @ B.double())
    assert calls
