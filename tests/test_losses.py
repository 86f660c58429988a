"""Reconstruction losses: numbers by hand, and the contract of all."""

import math
from collections.abc import Callable

import pytest
import torch
from checks import LOSS_CHECKS, check_loss
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from kfriendly.losses import LOSSES, Loss, absolute, kl, none, squared

X_HAT = torch.tensor([[1.0, 2.0, 4.0], [0.5, 1.0, 1.0]])
X = torch.tensor([[1.0, 4.0, 1.0], [0.5, 0.0, 2.0]])

nonnegative = st.lists(st.floats(0.0, 1e3), min_size=4, max_size=4)


@pytest.mark.parametrize("check", LOSS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LOSSES)
def test_loss_keeps_contract(name: str, check: Callable[[Loss], None]) -> None:
    check(LOSSES[name])


def test_check_loss_refuses_a_mean_over_features() -> None:
    def mean_over_rows(x_hat: Tensor, x: Tensor) -> Tensor:
        return (x_hat - x).square().mean(-2)

    with pytest.raises(AssertionError):
        check_loss(mean_over_rows)


def test_squared_by_hand() -> None:
    assert squared(X_HAT, X).tolist() == [13.0, 2.0]  # 4 + 9; 1 + 1


def test_absolute_by_hand() -> None:
    assert absolute(X_HAT, X).tolist() == [5.0, 2.0]  # 2 + 3; 1 + 1


def test_kl_by_hand() -> None:
    x_hat, x = torch.tensor([[2.0, 3.0]]), torch.tensor([[4.0, 0.0]])
    by_hand = 4 * math.log(4 / 2) - 4 + 2 + 3
    assert float(kl(x_hat, x)) == pytest.approx(by_hand, rel=1e-6)


def test_none_is_zero_by_hand() -> None:
    assert none(X_HAT, X).tolist() == [0.0, 0.0]


@given(nonnegative)
@settings(deadline=None, derandomize=True)
def test_kl_is_zero_at_equality(values: list[float]) -> None:
    x = torch.tensor(values, dtype=torch.float64)
    # A zero counts as 1e-6, so it may cost as much.
    assert 0.0 <= float(kl(x, x)) <= 4e-6


@given(nonnegative, nonnegative)
@settings(deadline=None, derandomize=True)
def test_kl_is_never_negative(x_hat: list[float], x: list[float]) -> None:
    pair = torch.tensor([x_hat, x], dtype=torch.float64)
    assert float(kl(pair[0], pair[1])) >= -1e-9


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_kl_is_finite_where_reconstruction_is_zero(value: float) -> None:
    x_hat = torch.zeros(1, 3, requires_grad=True)
    cost = kl(x_hat, torch.full((1, 3), value))
    (gradient,) = torch.autograd.grad(cost.sum(), x_hat)
    assert bool(cost.isfinite().all())
    assert bool(gradient.isfinite().all())


def test_kl_pulls_back_a_saturated_softplus() -> None:
    a = torch.full((1, 1), -15.0, requires_grad=True)  # softplus(a) = 3e-7
    cost = kl(torch.nn.functional.softplus(a), torch.ones(1, 1))
    (gradient,) = torch.autograd.grad(cost.sum(), a)
    assert float(gradient) < -0.01  # -1 by calculus; at 0 it never comes back
