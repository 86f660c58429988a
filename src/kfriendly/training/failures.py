"""What went wrong in a training that ended, and what to do about it."""

import warnings

import numpy as np

from kfriendly.errors import CollapseWarning, EmptyClusterWarning
from kfriendly.training.progress import Trained
from kfriendly.training.state import TrainState

# Latent variance below this share of that at the start is no space any more.
_POINT = 1e-8
# A cluster with more than this share of the rows has taken all.
_ALL = 0.999


def warn_of_failures(trained: Trained, state: TrainState) -> None:
    """Warn of empty clusters and of collapse in the chosen start."""
    n_clusters = state.cluster.M.shape[-2]
    empties = [int(r.empty) for r in trained.history if r.empty is not None]
    n_empty = sum(map(bool, empties))
    if n_empty:
        warnings.warn(
            f"{n_empty} of {len(empties)} epochs had clusters without a row, at most "
            f"{max(empties)} of {n_clusters}. Use fewer clusters, or a smaller lam.",
            EmptyClusterWarning,
            stacklevel=4,
        )
    largest = np.bincount(trained.final.labels).max() / trained.final.labels.size
    before, after = trained.start.variance, trained.final.latent_variance
    shrunk = bool(after <= _POINT * before)
    if n_clusters > 1 and (shrunk or largest > _ALL):
        what = (
            "The latent space has shrunk to a point"
            if shrunk
            else f"One cluster has {largest:.1%} of the rows"
        )
        warnings.warn(
            f"{what}: these clusters mean nothing. Use a smaller lam (now "
            f"{float(state.lam):.3g}), a smaller learning rate, more "
            "pretrain_epochs, or a loss other than 'none'.",
            CollapseWarning,
            stacklevel=4,
        )
