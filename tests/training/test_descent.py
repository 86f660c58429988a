"""Network updates, Eq. (6): optimiser, step size and clipping."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from kfriendly.training.descent import Descent, Method, Optimizer


def parameter(values: list[float]) -> nn.Parameter:
    return nn.Parameter(torch.tensor(values, dtype=torch.float64))


def slopes(p: nn.Parameter, gradient: list[float]) -> Tensor:
    """Return a cost whose gradient is this one everywhere."""
    return (p * torch.tensor(gradient, dtype=torch.float64)).sum()


def descend(
    optimizer: Optimizer, total: Tensor, *, clip: float | None, stacked: bool
) -> None:
    """Take one step down the gradient that autograd finds."""
    optimizer.clear()
    total.backward()  # type: ignore[no-untyped-call]
    optimizer.step(clip=clip, stacked=stacked)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("method", ["sgd", "adam"])
def test_optimizer_equals_torch(method: Method, momentum: float) -> None:
    rng = torch.Generator().manual_seed(0)
    ours = [nn.Parameter(torch.randn(5, 3, generator=rng)) for _ in range(3)]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    optimizer = Descent(method, 0.01, momentum=momentum).optimizer(ours)
    plain: torch.optim.Optimizer
    if method == "adam":
        plain = torch.optim.Adam(theirs, 0.01, betas=(momentum, 0.999), fused=True)
    else:
        nesterov = momentum > 0
        plain = torch.optim.SGD(theirs, 0.01, momentum=momentum, nesterov=nesterov)
    for _ in range(10):
        gradients = [torch.randn(5, 3, generator=rng) for _ in ours]
        for p, q, gradient in zip(ours, theirs, gradients, strict=True):
            p.grad, q.grad = gradient.clone(), gradient.clone()
        optimizer.step(clip=None, stacked=False)
        plain.step()
        for p, q in zip(ours, theirs, strict=True):
            assert_close(p, q, rtol=1e-6, atol=1e-7)


def test_restore_undoes_steps_to_the_bit() -> None:
    p = parameter([5.0, -3.0])
    optimizer = Descent("adam", 0.1).optimizer([p])
    descend(optimizer, (p**2).sum(), clip=None, stacked=False)
    snapshot, value = optimizer.snapshot(), p.detach().clone()
    ends = []
    for _ in range(2):
        p.data.copy_(value)
        optimizer.restore(snapshot)
        for _ in range(3):
            descend(optimizer, (p**2).sum(), clip=None, stacked=False)
        ends.append(p.detach().clone())
    assert torch.equal(*ends)


def test_sgd_equals_nesterov_by_hand() -> None:
    rate, mu = 0.1, 0.9
    p = parameter([5.0, -3.0])
    optimizer = Descent("sgd", rate, momentum=mu).optimizer([p])
    q, v = np.array([5.0, -3.0]), np.zeros(2)
    for _ in range(20):
        descend(optimizer, (p**2).sum() + p.sum(), clip=None, stacked=False)
        g = 2 * q + 1
        v = mu * v + g
        q = q - rate * (g + mu * v)
        assert p.detach().numpy() == pytest.approx(q, rel=1e-12, abs=1e-12)


def test_sgd_without_momentum_is_gradient_descent() -> None:
    p = parameter([5.0])
    optimizer = Descent("sgd", 0.1, momentum=0.0).optimizer([p])
    for _ in range(2):
        descend(optimizer, slopes(p, [2.0]), clip=None, stacked=False)
    assert p.tolist() == pytest.approx([4.6])


def test_adam_equals_kingma_and_ba_by_hand() -> None:
    rate, mu = 0.01, 0.8
    p = parameter([5.0, -3.0])
    optimizer = Descent("adam", rate, momentum=mu).optimizer([p])
    q, m, v = np.array([5.0, -3.0]), np.zeros(2), np.zeros(2)
    for t in range(1, 11):
        descend(optimizer, (p**2).sum(), clip=None, stacked=False)
        m, v = mu * m + (1 - mu) * 2 * q, 0.999 * v + 0.001 * (2 * q) ** 2
        q = q - rate * (m / (1 - mu**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    assert p.detach().numpy() == pytest.approx(q, rel=1e-9)


@pytest.mark.parametrize("method", ["sgd", "adam"])
def test_descend_forgets_the_gradient_before(method: Method) -> None:
    p, q = parameter([1.0]), parameter([1.0])
    q.grad = torch.tensor([100.0], dtype=torch.float64)
    for one in (p, q):
        optimizer = Descent(method, 0.1).optimizer([one])
        descend(optimizer, slopes(one, [2.0]), clip=None, stacked=False)
    assert torch.equal(p, q)


def test_clip_shortens_the_gradient_of_all_parameters_together() -> None:
    p, q = parameter([0.0]), parameter([0.0, 0.0])
    optimizer = Descent("sgd", 1.0, momentum=0.0).optimizer([p, q])
    total = slopes(p, [3.0]) + slopes(q, [0.0, 4.0])  # of length 5
    descend(optimizer, total, clip=1.0, stacked=False)
    assert p.tolist() == pytest.approx([-0.6])
    assert q.tolist() == pytest.approx([0.0, -0.8])


def test_clip_leaves_a_short_gradient_alone() -> None:
    p = parameter([0.0, 0.0])
    optimizer = Descent("sgd", 1.0, momentum=0.0).optimizer([p])
    descend(optimizer, slopes(p, [0.3, 0.4]), clip=1.0, stacked=False)
    assert p.tolist() == [-0.3, -0.4]


def test_clip_of_no_gradient_is_no_step() -> None:
    p = parameter([1.0])
    optimizer = Descent("sgd", 1.0, momentum=0.0).optimizer([p])
    descend(optimizer, slopes(p, [0.0]), clip=1.0, stacked=False)
    assert p.tolist() == [1.0]


def test_clip_of_starts_equals_each_alone() -> None:
    rng = torch.Generator().manual_seed(0)
    W = torch.randn(3, 4, 2, generator=rng, dtype=torch.float64)
    b = torch.randn(3, 4, generator=rng, dtype=torch.float64)
    size = torch.tensor([1e-3, 1.0, 1e6], dtype=torch.float64)  # of the gradients
    together = nn.Parameter(W.clone()), nn.Parameter(b.clone())
    descent = Descent("sgd", 1.0, momentum=0.0)
    total = (size * (together[0].flatten(1).sin().sum(1) + together[1].sum(1))).sum()
    descend(descent.optimizer(together), total, clip=1.0, stacked=True)
    for s in range(3):
        alone = nn.Parameter(W[s].clone()), nn.Parameter(b[s].clone())
        total = size[s] * (alone[0].sin().sum() + alone[1].sum())
        descend(descent.optimizer(alone), total, clip=1.0, stacked=False)
        assert_close([p[s] for p in together], list(alone))


def test_clip_lets_no_start_touch_another() -> None:
    p = nn.Parameter(torch.zeros(2, 2, dtype=torch.float64))
    optimizer = Descent("sgd", 1.0, momentum=0.0).optimizer([p])
    gradient = torch.tensor([[0.3, 0.4], [3e9, 4e9]], dtype=torch.float64)
    descend(optimizer, (p * gradient).sum(), clip=1.0, stacked=True)
    assert p[0].tolist() == [-0.3, -0.4]
    assert p[1].tolist() == pytest.approx([-0.6, -0.8])


def test_clip_ignores_parameters_without_gradient() -> None:
    p, unused = parameter([0.0]), parameter([7.0])
    optimizer = Descent("sgd", 1.0).optimizer([p, unused])
    descend(optimizer, slopes(p, [0.5]), clip=1.0, stacked=False)
    assert unused.tolist() == [7.0]


def test_constant_rate() -> None:
    assert {Descent(learning_rate=0.3).rate(step, 100) for step in range(100)} == {0.3}


def test_diminishing_rate_by_hand() -> None:
    descent = Descent(learning_rate=0.3, schedule="diminishing")
    rates = [descent.rate(step, None) for step in (0, 1000, 2000)]
    assert rates == pytest.approx([0.3, 0.15, 0.1])


def test_diminishing_rate_decreases() -> None:
    descent = Descent(learning_rate=0.3, schedule="diminishing")
    assert np.all(np.diff([descent.rate(step, 50) for step in range(50)]) < 0)


def test_one_cycle_starts_low_peaks_and_ends_near_zero() -> None:
    descent = Descent(learning_rate=0.3, schedule="one_cycle")
    rates = np.array([descent.rate(step, 400) for step in range(400)])
    assert rates[0] == pytest.approx(0.04 * 0.3)
    assert rates.argmax() == 100  # after a quarter
    assert rates.max() == pytest.approx(0.3)
    assert 0.0 < rates[-1] < 1e-4 * 0.3


def test_one_cycle_rises_and_then_falls() -> None:
    descent = Descent(learning_rate=0.3, schedule="one_cycle")
    steps = np.diff([descent.rate(step, 400) for step in range(401)])
    assert np.all(steps[:100] > 0)
    assert np.all(steps[100:] < 0)


def test_one_cycle_stays_at_a_tenth_where_the_end_is_not_known() -> None:
    descent = Descent(learning_rate=0.3, schedule="one_cycle")
    rates = [descent.rate(step, None) for step in (0, 10, 10_000)]
    assert rates == pytest.approx([0.03, 0.03, 0.03])
