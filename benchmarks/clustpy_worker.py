"""One epoch of ClustPy's DCN at each line of input; prints the seconds it took.

Runs in the peers' own environment (see peers.py), which has no kfriendly.
"""

import json
import sys
import time

import numpy as np
import torch
from clustpy.deep._data_utils import get_dataloader
from clustpy.deep.dcn import _DCN_Module
from clustpy.deep.neural_networks import FeedforwardAutoencoder


def main() -> None:
    """Build ClustPy's network, loader and DCN module, then obey."""
    order = json.loads(sys.argv[1])
    rng = np.random.RandomState(0)
    X = rng.randn(order["n_rows"], order["widths"][0]).astype(np.float32)
    K, R = 10, order["widths"][-1]
    device = torch.device("cpu")
    network = FeedforwardAutoencoder(order["widths"]).to(device)
    labels = rng.randint(0, K, len(X)).astype(np.int32)
    module = _DCN_Module(labels, rng.randn(K, R).astype(np.float32))
    module.to_device(device)
    loader = get_dataloader(X, order["batch_size"], True)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    loss = torch.nn.MSELoss()
    for _ in sys.stdin:
        began = time.perf_counter()
        module.fit(network, loader, None, 1, device, optimizer, loss, 0.1, 1.0)
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
