"""Where each row stands on the map: the learned space in two dimensions."""

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

MOST_POINTS = 20_000
# t-SNE's seconds a point on one core of 2020; a rule of thumb and not a timing, so that
# the same command draws the same map on every machine.
_SECONDS_A_POINT = 0.006


class Plane(NamedTuple):
    """Points on the map, and in words how they came there."""

    points: np.ndarray  # (n, 2)
    method: str
    sentence: str


def choose_rows(n_rows: int, most: int = MOST_POINTS) -> np.ndarray:
    """Return the rows that are shown: all, or an even sample in their order."""
    if n_rows <= most:
        return np.arange(n_rows)
    chosen = np.random.RandomState(0).choice(n_rows, most, replace=False)
    return np.asarray(np.sort(chosen))


def make_plane(H: np.ndarray, seconds: float) -> Plane:
    """Lay latent points out in two dimensions, within about so many seconds."""
    n, R = H.shape
    H = np.asarray(H, dtype=np.float32)
    if R == 1:
        height = np.random.RandomState(0).uniform(-1, 1, n) * 0.15 * (np.ptp(H) or 1.0)
        return Plane(
            np.column_stack([H[:, 0], height]),
            "as it is",
            "The learned space has one dimension, left to right. Height means nothing: "
            "it only keeps points from covering each other.",
        )
    if R == 2:
        return Plane(H, "as it is", "The learned space has two dimensions: as it is.")
    if n > 3 and n * _SECONDS_A_POINT <= seconds and np.ptp(H, axis=0).max() > 0:
        return Plane(
            _t_sne(H),
            "t-SNE",
            f"The learned space has {R} dimensions, drawn in two by t-SNE. Rows side "
            "by side are alike; sizes of gaps and of groups mean little.",
        )
    return Plane(
        _principal(H),
        "PCA",
        f"The learned space has {R} dimensions; the map shows its two widest "
        "directions (PCA). Groups that overlap here may be apart in the others.",
    )


def _t_sne(H: np.ndarray) -> np.ndarray:
    scaled = (H - H.mean(axis=0)) / (H.std() or 1.0)
    perplexity = min(30.0, (len(H) - 1) / 3)
    found = TSNE(2, perplexity=perplexity, init="pca", random_state=0)
    points = found.fit_transform(scaled)
    return np.asarray(points) if np.isfinite(points).all() else _principal(H)


def _principal(H: np.ndarray) -> np.ndarray:
    centred = H - H.mean(axis=0)
    if len(H) < 2 or not np.ptp(centred):
        return np.zeros((len(H), 2))
    return np.asarray(PCA(2, random_state=0).fit_transform(centred))
