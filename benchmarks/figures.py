"""The figures of `make bench`: each is a ratio measured in one run."""

from collections.abc import Callable

import numpy as np
import peers
import torch
from timing import Figure, interleave, quotients, seconds
from workloads import (
    MNIST,
    PENDIGITS,
    Product,
    Widths,
    encoder_products,
    end_to_end,
    fitted,
    joint,
    layers,
    matmul,
    memory,
    noise,
    python,
    step_flops,
    step_products,
    words,
)

from kfriendly import products

# The machine's limit, as torch's own product shows it, and as the quicker one does.
LIMITS: dict[str, Product] = {"MKL": torch.mm, "oneDNN": products.multiply}


def joint_flops(limit: str) -> Figure:
    """Joint training against a large matrix product, in FLOP/s."""
    X = noise(40 * 256, 784)
    large = matmul(LIMITS[limit])
    jobs = [joint(X, MNIST, 256, n_epochs=3), step_products(MNIST, 256, 40), large]
    times = interleave(jobs, 15)
    flops = len(X) * step_flops(MNIST)
    rate, alone, most = (
        [count / t for t in of]
        for count, of in zip((flops, flops, 2 * 2048**3), times, strict=True)
    )
    return Figure(
        f"joint training, MNIST net: FLOP/s over a 2048^3 product's by {limit}",
        quotients(rate, most),
        0.80,
        True,
        f"{np.median(rate) / 1e9:.0f} GFLOP/s; the step's own products alone: "
        f"{np.median(quotients(alone, most)):.2f}",
    )


def joint_mnist() -> Figure:
    """Joint training against ClustPy, large network."""
    return _against_clustpy("MNIST net, batch 256", MNIST, 20 * 256, 256, 2.0)


def joint_pendigits() -> Figure:
    """Joint training against ClustPy, small network."""
    return _against_clustpy("Pendigits net, batch 110", PENDIGITS, 10_992, 110, 10.0)


def _against_clustpy(
    name: str, widths: Widths, n_rows: int, batch: int, target: float
) -> Figure:
    n_epochs = 5 if widths == PENDIGITS else 1  # what comes once a phase counts once
    ours = joint(noise(n_rows, widths[0]), widths, batch, n_epochs=n_epochs)
    with peers.Peer(widths, n_rows, batch) as peer:
        a, b = interleave([ours, peer.epoch], 15)
    speeds = [n_rows / np.median(seconds) for seconds in (a, b)]
    return Figure(
        f"{name}: samples/s over ClustPy's",
        quotients(b, a),
        target,
        True,
        "{:,.0f} over {:,.0f}".format(*speeds),
    )


def stacked_starts() -> Figure:
    """Sixteen starts against one."""
    X = noise(10_992, 16)
    one, many = interleave([joint(X, PENDIGITS, 110, n, 5) for n in (1, 16)], 9)
    times = [np.median(seconds) / 100 * 1e3 for seconds in (many, one)]
    return Figure(
        "Pendigits net: time of 16 starts over one",
        quotients(many, one),
        3.0,
        False,
        "{:.2f} over {:.2f} ms a step".format(*times),
    )


def layerwise() -> Figure:
    """Pre-training layer by layer against end to end, five epochs each.

    A layer's outputs are stored once, after its last epoch, for the layer above.
    """
    X = noise(20 * 256, 784)
    a, b = interleave([make(X, MNIST, 256, 5) for make in (layers, end_to_end)], 7)
    return Figure(
        "MNIST net: layer-wise epoch, all layers, over an end-to-end one",
        quotients(a, b),
        1.1,
        False,
        f"{np.median(a):.2f} over {np.median(b):.2f} s",
    )


def sparse(batch: int) -> Figure:
    """Measure a wide sparse table against the same rows cut to 2,000 columns."""
    X = words(20_000, 47_236, 75)
    widths = (500, 500, 2000, 10)
    jobs = [
        joint(X[:, :columns], (columns, *widths), batch, n_epochs=3)
        for columns in (47_236, 2_000)
    ]
    a, b = interleave(jobs, 3)
    return Figure(
        f"20,000 x 47,236 CSR, batch {batch}: joint epoch over that of 2,000 columns",
        quotients(a, b),
        2.0,
        False,
        f"{np.median(a):.1f} over {np.median(b):.1f} s",
    )


def inference(name: str, limit: str) -> Figure:
    """`predict` or `transform` against a large matrix product, in FLOP/s."""
    dcn, X = fitted(MNIST), noise(20_480, 784)
    large = matmul(LIMITS[limit])
    a, b = interleave([seconds(lambda: getattr(dcn, name)(X)), large], 15)
    flops = 2 * encoder_products(MNIST) * len(X)
    return Figure(
        f"{name}, MNIST net: FLOP/s over a 2048^3 product's by {limit}",
        quotients([flops / t for t in a], [2 * 2048**3 / t for t in b]),
        0.85,
        True,
        f"{flops / np.median(a) / 1e9:.0f} GFLOP/s",
    )


def memmap_memory() -> Figure:
    """Memory of ten times the rows."""
    large, small = memory(2_000_000), memory(200_000)
    return Figure(
        "peak memory of fit, memmap of 2,000,000 x 100 over 200,000 x 100",
        [large / small],
        1.3,
        False,
        f"{large:.0f} over {small:.0f} MiB, labels included",
    )


def import_time() -> Figure:
    """Import of the package against its two heavy parts."""
    ours = python("from kfriendly import DCN")
    parts = python("import torch, sklearn.cluster, sklearn.mixture")
    a, b = interleave([ours, parts], 9)
    return Figure(
        "from kfriendly import DCN over import of torch and scikit-learn",
        quotients(a, b),
        1.1,
        False,
        f"{np.median(a):.2f} over {np.median(b):.2f} s",
    )


FIGURES: dict[str, Callable[[], Figure]] = {
    "joint-flops": lambda: joint_flops("MKL"),
    "joint-flops-onednn": lambda: joint_flops("oneDNN"),
    "joint-mnist": joint_mnist,
    "joint-pendigits": joint_pendigits,
    "starts": stacked_starts,
    "layers": layerwise,
    "sparse-256": lambda: sparse(256),
    "sparse-2048": lambda: sparse(2048),
    "sparse-4096": lambda: sparse(4096),
    "predict": lambda: inference("predict", "MKL"),
    "predict-onednn": lambda: inference("predict", "oneDNN"),
    "transform": lambda: inference("transform", "MKL"),
    "transform-onednn": lambda: inference("transform", "oneDNN"),
    "memory": memmap_memory,
    "import": import_time,
}
# These need another program.
WITH_PEER = ("joint-mnist", "joint-pendigits")
