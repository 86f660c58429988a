"""No more threads than a step can feed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

# A thread is worth waking for this many additions and multiplications.
_FLOPS = 2**24


@contextmanager
def enough_threads(network: nn.Module, batch_size: int) -> Iterator[None]:
    """Take fewer of torch's threads while small networks train.

    A step of a small network is over before a second thread has begun; waking it for
    every operation costs a quarter of the time on two cores, and more on many.
    """
    n_parameters = sum(p.numel() for p in network.parameters())
    flops = 6 * batch_size * n_parameters  # forth, and twice back
    with at_most_threads(max(1, flops // _FLOPS)):
        yield


@contextmanager
def at_most_threads(n_threads: int) -> Iterator[None]:
    """Take no more of torch's threads than these for a while."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(min(before, n_threads))
        yield
    finally:
        torch.set_num_threads(before)
