"""Contracts that every loss, criterion and network must keep; also for your own.

`check_loss`, `check_criterion` and `check_autoencoder` run all checks of a kind. The
lists `LOSS_CHECKS`, `CRITERION_CHECKS` and `NETWORK_CHECKS` have them one by one, for
`pytest.mark.parametrize`.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close

from kfriendly.criteria import Criterion, converge, reseed
from kfriendly.losses import Loss
from kfriendly.networks import Autoencoder, NetworkFactory

K, R, N = 3, 3, 60


def check_loss(loss: Loss) -> None:
    """Check a reconstruction loss."""
    for check in LOSS_CHECKS:
        check(loss)


def check_criterion(criterion: Criterion) -> None:
    """Check a criterion on three clusters in three dimensions."""
    for check in CRITERION_CHECKS:
        check(criterion)


def check_autoencoder(
    build: NetworkFactory, n_features: int, n_components: int
) -> None:
    """Check the networks that a factory builds."""
    for check in NETWORK_CHECKS:
        check(build, n_features, n_components)


# Losses


def loss_sums_over_features_only(loss: Loss) -> None:
    x_hat, x = _rows(2, 5, 4, seed=0), _rows(2, 5, 4, seed=1)
    assert loss(x_hat, x).shape == (2, 5)


def loss_of_starts_equals_a_loop(loss: Loss) -> None:
    x_hat, x = _rows(2, 5, 4, seed=0), _rows(5, 4, seed=1)  # all starts share x
    assert_close(loss(x_hat, x), torch.stack([loss(one, x) for one in x_hat]))


def loss_of_a_row_ignores_other_rows(loss: Loss) -> None:
    x_hat, x = _rows(5, 4, seed=0), _rows(5, 4, seed=1)
    assert_close(loss(x_hat, x)[2:3], loss(x_hat[2:3], x[2:3]))


def loss_is_zero_at_equality(loss: Loss) -> None:
    x = _rows(5, 4, seed=0)
    assert_close(loss(x, x), torch.zeros(5, dtype=x.dtype), rtol=0.0, atol=1e-12)


def loss_is_never_negative(loss: Loss) -> None:
    x_hat, x = _rows(50, 4, seed=0), _rows(50, 4, seed=1)
    assert bool((loss(x_hat, x) >= 0).all())


def loss_has_its_own_gradient(loss: Loss) -> None:
    x_hat, x = _rows(5, 4, seed=0).requires_grad_(), _rows(5, 4, seed=1)
    assert torch.autograd.gradcheck(lambda z: loss(z, x), x_hat)


def _rows(*shape: int, seed: int) -> Tensor:
    """Draw values between 0.1 and 1.1: every loss is smooth there."""
    rng = torch.Generator().manual_seed(seed)
    return 0.1 + torch.rand(*shape, generator=rng, dtype=torch.float64)


LOSS_CHECKS: list[Callable[[Loss], None]] = [
    loss_sums_over_features_only,
    loss_of_starts_equals_a_loop,
    loss_of_a_row_ignores_other_rows,
    loss_is_zero_at_equality,
    loss_is_never_negative,
    loss_has_its_own_gradient,
]


# Criteria


def init_has_centres_and_counts(criterion: Criterion) -> None:
    state = criterion.init(latent_example(), K, 0)
    assert state.M.shape == (K, R)
    assert state.c.shape == (K,)
    assert state.M.dtype == state.c.dtype == torch.float64


def init_depends_on_seed_only(criterion: Criterion) -> None:
    H = latent_example()
    for a, b in zip(criterion.init(H, K, 7), criterion.init(H, K, 7), strict=True):
        assert torch.equal(a, b)


def assign_gives_shares(criterion: Criterion) -> None:
    H, state = clusters_example(criterion)
    S = criterion.assign(H, state)
    assert S.shape == (N, K)
    assert bool((S >= 0).all())
    assert_close(S.sum(-1), torch.ones(N, dtype=H.dtype))


def assign_minimises_cost(criterion: Criterion) -> None:
    """No whole assignment is cheaper, and for soft criteria no share at all is."""
    H, state = clusters_example(criterion)
    S = criterion.assign(H, state)
    best = criterion.cost(H, S, state)
    assert bool((best <= vertex_costs(criterion, H, state) + 1e-12).all())
    if not bool(((S == 0) | (S == 1)).all()):
        rng = torch.Generator().manual_seed(3)
        for _ in range(100):
            other = torch.rand(N, K, generator=rng, dtype=H.dtype)
            other = other / other.sum(-1, keepdim=True)
            for share in (1.0, 1e-3):  # anywhere, and close by
                near = S + share * (other - S)
                assert bool((best <= criterion.cost(H, near, state) + 1e-12).all())


def cost_has_its_own_gradient(criterion: Criterion) -> None:
    H, state = clusters_example(criterion)
    H = H[:10].requires_grad_()
    S = criterion.assign(H.detach(), state)
    assert torch.autograd.gradcheck(lambda h: criterion.cost(h, S, state), H)


def statistics_of_batches_add_up(criterion: Criterion) -> None:
    H, state = clusters_example(criterion)
    S = criterion.assign(H, state)
    joined = criterion.statistics(H, S)
    parts = zip(
        criterion.statistics(H[:17], S[:17]),
        criterion.statistics(H[17:], S[17:]),
        strict=True,
    )
    for whole, (first, second) in zip(joined, parts, strict=True):
        assert_close(first + second, whole, rtol=0.0, atol=1e-11)


def zero_statistics_change_nothing(criterion: Criterion) -> None:
    H, state = clusters_example(criterion)
    stats = criterion.statistics(H[:0], criterion.assign(H[:0], state))
    for c in (state.c, torch.zeros_like(state.c)):  # zero: nothing to divide by
        old = state._replace(c=c)
        new = criterion.update(old, stats)
        assert torch.equal(new.M, old.M)
        assert torch.equal(new.c, old.c)
        before, after = (vertex_costs(criterion, H, s) for s in (old, new))
        assert_close(after, before, rtol=0.0, atol=1e-10)


def starts_equal_a_loop(criterion: Criterion) -> None:
    H, state, each = _two_starts(criterion)
    S = criterion.assign(H, state)
    cost = criterion.cost(H, S, state)
    new = criterion.update(state, criterion.statistics(H, S))
    for start, (h, one) in enumerate(zip(H, each, strict=True)):
        s = criterion.assign(h, one)
        assert_close(S[start], s)
        assert_close(cost[start], criterion.cost(h, s, one))
        moved = criterion.update(one, criterion.statistics(h, s))
        _assert_same_clusters(criterion, h, _entry(new, start), moved)


def vmap_equals_starts(criterion: Criterion) -> None:
    H, state, _ = _two_starts(criterion)
    S = criterion.assign(H, state)
    stats = criterion.statistics(H, S)
    assert_close(torch.func.vmap(criterion.assign)(H, state), S)
    assert_close(
        torch.func.vmap(criterion.cost)(H, S, state), criterion.cost(H, S, state)
    )
    assert_close(tuple(torch.func.vmap(criterion.statistics)(H, S)), tuple(stats))
    _assert_same_clusters(
        criterion,
        H,
        torch.func.vmap(criterion.update)(state, stats),
        criterion.update(state, stats),
    )


def converge_never_raises_cost(criterion: Criterion) -> None:
    H, state = clusters_example(criterion)
    costs = []
    for n_iter in range(12):
        found = converge(criterion, H, state, n_iter=n_iter)
        costs.append(float(criterion.cost(H, criterion.assign(H, found), found).sum()))
    for before, after in zip(costs, costs[1:], strict=False):
        assert after <= before + 1e-9 * abs(before), costs


def converge_keeps_counts(criterion: Criterion) -> None:
    H, state = clusters_example(criterion)
    assert torch.equal(converge(criterion, H, state).c, state.c)


def reseed_moves_marked_centres_only(criterion: Criterion) -> None:
    H, state, _ = _two_starts(criterion)
    empty = torch.tensor([[True, False, False], [False, True, True]])
    new = reseed(state, empty, H[:, :K])
    assert torch.equal(new.M[empty], H[:, :K][empty])
    assert torch.equal(new.M[~empty], state.M[~empty])
    assert torch.equal(new.c, state.c)


def latent_example(seed: int = 0) -> Tensor:
    """Draw 60 samples around three centres in three dimensions."""
    rng = torch.Generator().manual_seed(seed)
    centres = 2.0 * torch.randn(K, R, generator=rng, dtype=torch.float64)
    noise = torch.randn(N, R, generator=rng, dtype=torch.float64)
    return centres[torch.arange(N) % K] + noise


def clusters_example(criterion: Criterion, seed: int = 0) -> tuple[Tensor, Any]:
    """Return samples and clusters that do not fit them well, with unequal counts."""
    H = latent_example(seed)
    state = criterion.init(H, K, seed)
    rng = torch.Generator().manual_seed(seed + 1)
    M = state.M + torch.randn(K, R, generator=rng, dtype=torch.float64)
    c = torch.tensor([1.0, 20.0, 300.0], dtype=torch.float64)
    return H, state._replace(M=M, c=c)


def vertex_costs(criterion: Criterion, H: Tensor, state: Any) -> Tensor:
    """Compute the cost of every sample in every single cluster, (K, ..., n)."""
    whole = torch.eye(K, dtype=H.dtype)
    S = [one.expand(*H.shape[:-1], K) for one in whole]
    return torch.stack([criterion.cost(H, s, state) for s in S])


def _two_starts(criterion: Criterion) -> tuple[Tensor, Any, list[Any]]:
    """Return two starts stacked, and their clusters alone."""
    (H0, a), (H1, b) = (clusters_example(criterion, seed) for seed in (0, 1))
    stacked = type(a)(*(torch.stack(fields) for fields in zip(a, b, strict=True)))
    return torch.stack([H0, H1]), stacked, [a, b]


def _entry(state: Any, start: int) -> Any:
    return type(state)(*(field[start] for field in state))


def _assert_same_clusters(criterion: Criterion, H: Tensor, a: Any, b: Any) -> None:
    """Compare by what clusters do: bases of a subspace may differ in sign."""
    assert_close(a.M, b.M, rtol=0.0, atol=1e-11)
    assert_close(a.c, b.c)
    costs = (vertex_costs(criterion, H, state) for state in (a, b))
    assert_close(*costs, rtol=0.0, atol=1e-9)


CRITERION_CHECKS: list[Callable[[Criterion], None]] = [
    init_has_centres_and_counts,
    init_depends_on_seed_only,
    assign_gives_shares,
    assign_minimises_cost,
    cost_has_its_own_gradient,
    statistics_of_batches_add_up,
    zero_statistics_change_nothing,
    starts_equal_a_loop,
    vmap_equals_starts,
    converge_never_raises_cost,
    converge_keeps_counts,
    reseed_moves_marked_centres_only,
]


# Networks


def rows_go_in_and_out(build: NetworkFactory, n_features: int, R: int) -> None:
    network = build(n_features, R, torch.Generator())
    H = network.encode(_rows(5, n_features, seed=9).float())
    assert H.shape == (5, R)
    assert network.decode(H).shape == (5, n_features)


def same_seed_gives_same_weights(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    first, second = (
        build(n_features, R, torch.Generator().manual_seed(5)) for _ in range(2)
    )
    _assert_same_tensors(first, second)


def other_seed_gives_other_weights(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    first, second = (
        build(n_features, R, torch.Generator().manual_seed(seed)) for seed in (5, 6)
    )
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        # Biases may start equal; weights have two axes or more of some size.
        assert sum(size > 1 for size in a.shape) < 2 or not torch.equal(a, b)


def building_leaves_global_rng_alone(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    before = torch.get_rng_state()
    build(n_features, R, torch.Generator().manual_seed(5))
    assert torch.equal(torch.get_rng_state(), before)


def pairs_are_outermost_first_and_fit(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    network = lived_in(build, n_features, R, seed=0).eval()
    x = y = _rows(5, n_features, seed=9).float()
    pairs = network.layer_pairs()
    for pair in pairs:
        inner = pair.encode(y)
        assert pair.decode(inner).shape == y.shape
        y = inner
    assert torch.equal(y, network.encode(x))
    for pair in reversed(pairs):
        y = pair.decode(y)
    assert torch.equal(y, network.decode(network.encode(x)))


def pairs_hold_every_parameter_once(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    network = build(n_features, R, torch.Generator())
    pairs = torch.nn.ModuleList([m for pair in network.layer_pairs() for m in pair])
    assert {id(p) for p in pairs.parameters()} == {id(p) for p in network.parameters()}


def rows_ignore_batch_mates_in_eval(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    network = lived_in(build, n_features, R, seed=0).double().eval()
    x = _rows(7, n_features, seed=9)
    H = network.encode(x)
    assert_close(network.encode(x[3:4]), H[3:4])
    assert_close(network.decode(H[3:4]), network.decode(H)[3:4])


def eval_changes_no_buffer(build: NetworkFactory, n_features: int, R: int) -> None:
    network = lived_in(build, n_features, R, seed=0).eval()
    before = [b.clone() for b in network.buffers()]
    network.decode(network.encode(_rows(7, n_features, seed=9).float()))
    for old, new in zip(before, network.buffers(), strict=True):
        assert torch.equal(old, new)


def gradient_reaches_every_trained_parameter(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    network = lived_in(build, n_features, R, seed=0).train()
    x = _rows(7, n_features, seed=9).float()
    total = (network.decode(network.encode(x)) - x).square().sum()
    trained = [p for p in network.parameters() if p.requires_grad]
    for gradient in torch.autograd.grad(total, trained):
        assert bool(gradient.isfinite().all())


def stack_and_take_round_trip_exactly(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    networks = [lived_in(build, n_features, R, seed=seed) for seed in range(3)]
    if networks[0].stackable:
        stacked = type(networks[0]).stack(networks)
        for start, network in enumerate(networks):
            _assert_same_tensors(stacked.take(start), network)


def stack_and_take_copy(build: NetworkFactory, n_features: int, R: int) -> None:
    network = lived_in(build, n_features, R, seed=0)
    if network.stackable:
        stacked = type(network).stack([network, network])
        taken = stacked.take(0)
        for tensor in stacked.state_dict().values():
            tensor.zero_()
        for untouched in (network, taken):
            assert all(bool(p.any()) for p in untouched.parameters())


def stacked_equals_each_alone(build: NetworkFactory, n_features: int, R: int) -> None:
    networks = [lived_in(build, n_features, R, seed=seed) for seed in range(3)]
    if not networks[0].stackable:
        return
    stacked = type(networks[0]).stack(networks)
    x = _rows(7, n_features, seed=9).float()
    for mode in (True, False):
        H = stacked.train(mode).encode(x)  # (starts, n, R)
        x_hat = stacked.decode(H)
        for start, network in enumerate(networks):
            h = network.train(mode).encode(x)
            assert_close(H[start], h, rtol=1e-6, atol=1e-6)
            assert_close(x_hat[start], network.decode(h), rtol=1e-5, atol=1e-6)
            _assert_same_tensors(stacked.take(start), network, atol=1e-6)


def stacked_takes_rows_of_its_own(
    build: NetworkFactory, n_features: int, R: int
) -> None:
    networks = [lived_in(build, n_features, R, seed=seed) for seed in range(3)]
    if not networks[0].stackable:
        return
    x = _rows(3, 7, n_features, seed=9).float()  # each start sees other rows
    H = type(networks[0]).stack(networks).eval().encode(x)
    for start, network in enumerate(networks):
        h = network.eval().encode(x[start])
        assert_close(H[start], h, rtol=1e-6, atol=1e-6)


def lived_in(
    build: NetworkFactory, n_features: int, R: int, *, seed: int
) -> Autoencoder:
    """Build a network whose biases and running statistics are no longer trivial."""
    rng = torch.Generator().manual_seed(seed)
    network = build(n_features, R, rng)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=rng))
        for _ in range(3):
            x = torch.rand(9, n_features, generator=rng)
            network.train().decode(network.encode(x))
    return network


def _assert_same_tensors(a: Autoencoder, b: Autoencoder, *, atol: float = 0.0) -> None:
    assert_close(dict(a.state_dict()), dict(b.state_dict()), rtol=0.0, atol=atol)


NETWORK_CHECKS: list[Callable[[NetworkFactory, int, int], None]] = [
    rows_go_in_and_out,
    same_seed_gives_same_weights,
    other_seed_gives_other_weights,
    building_leaves_global_rng_alone,
    pairs_are_outermost_first_and_fit,
    pairs_hold_every_parameter_once,
    rows_ignore_batch_mates_in_eval,
    eval_changes_no_buffer,
    gradient_reaches_every_trained_parameter,
    stack_and_take_round_trip_exactly,
    stack_and_take_copy,
    stacked_equals_each_alone,
    stacked_takes_rows_of_its_own,
]
