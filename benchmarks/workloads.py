"""Jobs that the figures time: each runs once and returns what it measured."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from timing import Job, seconds

from kfriendly import DCN, products
from kfriendly.defaults import make_plan
from kfriendly.networks import MLPFactory
from kfriendly.training.history import Recorder
from kfriendly.training.plan import Plan, build_state
from kfriendly.training.pretrain import pretrain_end_to_end, pretrain_layers
from kfriendly.training.run import align, start_clusters
from kfriendly.training.scaling import find_scaling
from kfriendly.training.sources import ArraySource
from kfriendly.training.state import TrainState
from kfriendly.training.threads import enough_threads

MNIST = (784, 500, 500, 2000, 10)
PENDIGITS = (16, 50, 16, 10)
Widths = tuple[int, ...]
Table = Any  # an array, or a CSR array
Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Fit(NamedTuple):
    """A fit taken apart: everything before its first step is done."""

    state: TrainState
    plan: Plan
    source: ArraySource

    def timed(self, phase: Callable[[], object]) -> Job:
        """Make a job of a phase: seconds an epoch, with the threads of a real fit."""

        def run() -> None:
            with enough_threads(self.state.network, self.plan.joint.batch_size):
                phase()

        once = seconds(run)
        return lambda: once() / self.plan.joint.n_epochs


def noise(n_rows: int, n_columns: int) -> np.ndarray:
    """Make a table; the time of a step does not depend on what is in it."""
    return np.random.RandomState(0).randn(n_rows, n_columns).astype(np.float32)


def words(n_rows: int, n_columns: int, per_row: int) -> sp.csr_array:
    """Make a sparse table with so many values in every row."""
    rng = np.random.default_rng(0)
    rank = np.argsort(rng.random((n_rows, 4 * per_row)), axis=1)[:, :per_row]
    start = rng.integers(0, n_columns, (n_rows, 1))
    step = n_columns // (4 * per_row)
    columns = np.sort((start + rank * step) % n_columns, axis=1)
    values = rng.random(n_rows * per_row, dtype=np.float32)
    first = np.arange(0, n_rows * per_row + 1, per_row)
    return sp.csr_array((values, columns.ravel(), first), (n_rows, n_columns))


def prepare(
    X: Table, widths: Widths, batch: int, n_init: int = 1, n_epochs: int = 1
) -> Fit:
    """Build networks and a source for a table, with settings that all figures share."""
    dcn = DCN(
        10,
        network=MLPFactory(widths[1:-1]),
        n_components=widths[-1],
        batch_size=batch,
        n_init=n_init,
        init="kmeans",
        views=None,
        noise=None,
        layer_epochs=n_epochs,
        pretrain_epochs=n_epochs,
        max_epochs=n_epochs,
    )
    plan = make_plan(dcn.get_params(deep=False), X)
    state = build_state(plan, list(range(n_init)), 0)
    source = ArraySource(X, find_scaling(X, "common"), plan.device)
    source.suit(state.network).keep()
    return Fit(state, plan, source)


def joint(
    X: Table, widths: Widths, batch: int, n_init: int = 1, n_epochs: int = 1
) -> Job:
    """Make a job of some epochs of Algorithm 1."""
    fit = prepare(X, widths, batch, n_init, n_epochs)
    state, plan, source = fit
    start = start_clusters(state, plan, source, list(range(n_init)))
    return fit.timed(lambda: align(state, plan, source, start.labels, Recorder()))


def layers(X: Table, widths: Widths, batch: int, n_epochs: int = 1) -> Job:
    """Make a job of some epochs for every pair of layers."""
    fit = prepare(X, widths, batch, n_epochs=n_epochs)
    state, plan, source = fit
    job = partial(pretrain_layers, state, source, plan.objective, plan.layers)
    return fit.timed(lambda: job(Recorder()))


def end_to_end(X: Table, widths: Widths, batch: int, n_epochs: int = 1) -> Job:
    """Make a job of some epochs of the whole autoencoder."""
    fit = prepare(X, widths, batch, n_epochs=n_epochs)
    state, plan, source = fit
    job = partial(pretrain_end_to_end, state, source, plan.objective, plan.pretrain)
    return fit.timed(lambda: job(Recorder()))


def fitted(widths: Widths) -> DCN:
    """Fit a network of these widths as briefly as can be."""
    dcn = DCN(
        10,
        hidden=widths[1:-1],
        n_components=widths[-1],
        n_init=1,
        pretrain_epochs=1,
        max_epochs=1,
        random_state=0,
    )
    return dcn.fit(noise(2_000, widths[0]))


def matmul(multiply: Product = torch.mm, size: int = 2048) -> Job:
    """Make a job of one large matrix product, the median of five."""
    A, B = torch.randn(size, size), torch.randn(size, size)
    once = seconds(torch.no_grad()(lambda: multiply(A, B)))
    return lambda: float(np.median([once() for _ in range(5)]))


def step_products(widths: Widths, batch: int, n_steps: int) -> Job:
    """Make a job of the matrix products of some steps and nothing else.

    What a step could reach if all else in it took no time.
    """
    widths = (*widths, *widths[-2::-1])
    shapes = list(zip(widths, widths[1:], strict=False))
    W = [torch.randn(n_out, n_in) for n_in, n_out in shapes]
    y, G = ([torch.randn(batch, width) for width in widths] for _ in range(2))

    @torch.no_grad()
    def run() -> None:
        for _ in range(n_steps):
            for depth, w in enumerate(W):
                products.multiply(y[depth], w.mT)
            for depth in reversed(range(len(W))):
                products.multiply_transposed(G[depth + 1], y[depth])
                if depth:
                    products.multiply(G[depth + 1], W[depth])

    return seconds(run)


def python(code: str) -> Job:
    """Make a job of a new interpreter that runs some code.

    It may keep what it compiles, as an installed package has it: else our modules would
    be compiled anew every time, and those of torch would not.
    """
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    words = [sys.executable, "-c", code]
    return seconds(lambda: subprocess.run(words, check=True, env=environment))


_FIT_MEMMAP = """
import resource, sys, threading, time
import numpy as np
from kfriendly import DCN

peak = 0
def watch():
    global peak
    while True:
        for line in open("/proc/self/status"):
            if line.startswith("RssAnon"):
                peak = max(peak, int(line.split()[1]))
        time.sleep(0.02)

path, n_rows = sys.argv[1], int(sys.argv[2])
X = np.memmap(path, np.float32, "r", shape=(n_rows, 100))
threading.Thread(target=watch, daemon=True).start()
once = {"n_init": 1, "pretrain_epochs": 1, "max_epochs": 1}
DCN(10, views=None, hidden=(128, 64), batch_size=4096, **once).fit(X)
print(peak)
"""


def memory(n_rows: int) -> float:
    """Fit a memmap of 100 columns in a new interpreter; return its peak in MiB.

    Pages of the file that the system keeps in memory for us are not counted.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X"
        with path.open("wb") as file:
            for first in range(0, n_rows, 100_000):
                file.write(noise(min(100_000, n_rows - first), 100).tobytes())
        words = [sys.executable, "-c", _FIT_MEMMAP, str(path), str(n_rows)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
    return float(done.stdout) / 1024


def encoder_products(widths: Widths) -> int:
    """Count the products of one sample's way through the encoder."""
    return sum(a * b for a, b in zip(widths, widths[1:], strict=False))


def step_flops(widths: Widths) -> int:
    """Count the additions and multiplications of one step, for one sample.

    Matrix products only, and only those that are run: both ways through the network,
    a gradient for every weight and for every input but the data.
    """
    return 2 * (6 * encoder_products(widths) - widths[0] * widths[1])
