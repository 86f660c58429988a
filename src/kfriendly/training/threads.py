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
    before = torch.get_num_threads()
    n_parameters = sum(p.numel() for p in network.parameters())
    flops = 6 * batch_size * n_parameters  # forth, and twice back
    try:
        torch.set_num_threads(min(before, max(1, flops // _FLOPS)))
        yield
    finally:
        torch.set_num_threads(before)
