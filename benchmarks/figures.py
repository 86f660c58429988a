"""The figures of `make bench`: each is a ratio measured in one run."""

import numpy as np
import torch
from peers import Peer
from timing import Figure, Job, interleave, quotients, seconds

from kfriendly import DCN
from kfriendly.defaults import make_plan
from kfriendly.training.history import Recorder
from kfriendly.training.run import align, build_state, start_clusters
from kfriendly.training.scaling import find_scaling
from kfriendly.training.sources import ArraySource
from kfriendly.training.threads import enough_threads

MNIST = (784, 500, 500, 2000, 10)
PENDIGITS = (16, 50, 16, 10)
Widths = tuple[int, ...]


def joint_flops() -> Figure:
    """Joint training against a large matrix product, in FLOP/s."""
    n_rows = 40 * 256
    epoch, product = interleave([joint(MNIST, n_rows, 256), matmul()], 15)
    rate = [n_rows * step_flops(MNIST) / t for t in epoch]
    return Figure(
        "joint training, MNIST net: FLOP/s over a 2048^3 product's",
        quotients(rate, [2 * 2048**3 / t for t in product]),
        0.80,
        True,
        f"{np.median(rate) / 1e9:.0f} GFLOP/s",
    )


def joint_mnist() -> Figure:
    """Joint training against ClustPy, large network."""
    return _against_clustpy("MNIST net, batch 256", MNIST, 20 * 256, 256, 2.0)


def joint_pendigits() -> Figure:
    """Joint training against ClustPy, small network."""
    return _against_clustpy("Pendigits net, batch 110", PENDIGITS, 5_500, 110, 10.0)


def _against_clustpy(
    name: str, widths: Widths, n_rows: int, batch: int, target: float
) -> Figure:
    peer = Peer(widths, n_rows, batch)
    ours, theirs = interleave([joint(widths, n_rows, batch), peer.epoch], 15)
    peer.close()
    return Figure(
        f"{name}: samples/s over ClustPy's",
        quotients(theirs, ours),
        target,
        True,
        " and ".join(f"{n_rows / np.median(t):,.0f}" for t in (ours, theirs)),
    )


def stacked_starts() -> Figure:
    """Sixteen starts against one."""
    one, many = (joint(PENDIGITS, 5_500, 110, n_init=n) for n in (1, 16))
    a, b = interleave([one, many], 25)
    return Figure(
        "Pendigits net: time of 16 starts over one",
        quotients(b, a),
        3.0,
        False,
        f"{np.median(b) / 50 * 1e3:.2f} and {np.median(a) / 50 * 1e3:.2f} ms a step",
    )


def joint(widths: Widths, n_rows: int, batch: int, n_init: int = 1) -> Job:
    """Make a job of one epoch of Algorithm 1."""
    X = np.random.RandomState(0).randn(n_rows, widths[0]).astype(np.float32)
    dcn = DCN(
        10,
        hidden=widths[1:-1],
        n_components=widths[-1],
        batch_size=batch,
        n_init=n_init,
        init="kmeans",
        max_epochs=1,
    )
    plan = make_plan(dcn.get_params(deep=False), *X.shape)
    source = ArraySource(X, find_scaling(X, "common"), plan.device)
    seeds = list(range(n_init))
    state = build_state(plan, seeds, 0)
    start = start_clusters(state, plan, source, seeds)

    def epoch() -> None:
        with enough_threads(state.network, batch):
            align(state, plan, source, start.labels, Recorder())

    return seconds(epoch)


def matmul(size: int = 2048) -> Job:
    """Make a job of one large matrix product, the best of five."""
    A, B = torch.randn(size, size), torch.randn(size, size)
    out = torch.empty(size, size)
    once = seconds(lambda: torch.mm(A, B, out=out))
    return lambda: float(np.median([once() for _ in range(5)]))


def step_flops(widths: Widths) -> int:
    """Count the multiplications and additions of one step, for one sample.

    Matrix products only, and only those that are run: both ways through the network,
    a gradient for every weight and every input but the data.
    """
    encoder = sum(a * b for a, b in zip(widths, widths[1:], strict=False))
    return 2 * (6 * encoder - widths[0] * widths[1])


FIGURES = {
    "joint-flops": joint_flops,
    "joint-mnist": joint_mnist,
    "joint-pendigits": joint_pendigits,
    "starts": stacked_starts,
}
