"""Where each row stands on the map: the learned space in two dimensions."""

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

MOST_POINTS = 20_000
# t-SNE's seconds for a point and a step on one slow core: a rule of thumb, no timing,
# so that the same command draws the same map on every machine.
_SECONDS_A_STEP = 8.5e-6
# Many points take half of the usual steps: clusters have parted by then.
_MANY_POINTS = 5_000


N_COLOURS = 10


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
    if (
        n > 3
        and n * _steps(n) * _SECONDS_A_STEP <= seconds
        and np.ptp(H, axis=0).max() > 0
    ):
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


def give_slots(points: np.ndarray, labels: np.ndarray, K: int) -> list[int]:
    """Give clusters their looks: slot s has colour s % 10, and a shape for each ten.

    With more clusters than colours, those of one colour are put far from each other.
    """
    if K <= N_COLOURS:
        return list(range(K))
    places = np.full((K, 2), np.inf)
    for k in np.unique(labels):
        places[k] = np.median(points[labels == k], axis=0)
    slots: list[int] = []
    for k in range(K):
        free = [slot for slot in range(K) if slot not in slots]
        away = [_distance_of_colour(places, slots, k, slot) for slot in free]
        slots.append(free[int(np.argmax(away))])
    return slots


def _distance_of_colour(
    places: np.ndarray, slots: list[int], k: int, slot: int
) -> float:
    """Compute how far the nearest cluster of the same colour is."""
    same = [j for j, s in enumerate(slots) if s % N_COLOURS == slot % N_COLOURS]
    with np.errstate(invalid="ignore"):  # clusters without a point are nowhere
        away = np.abs(places[same] - places[k]).max(axis=1)
    return float(np.nan_to_num(away, nan=np.inf).min(initial=np.inf))


def _t_sne(H: np.ndarray) -> np.ndarray:
    scaled = (H - H.mean(axis=0)) / (H.std() or 1.0)
    perplexity = min(30.0, (len(H) - 1) / 3)
    found = TSNE(
        2,
        perplexity=perplexity,
        init="pca",
        max_iter=_steps(len(H)),
        random_state=0,
    )
    points = found.fit_transform(scaled)
    return np.asarray(points) if np.isfinite(points).all() else _principal(H)


def _steps(n_points: int) -> int:
    return 1_000 if n_points <= _MANY_POINTS else 500


def _principal(H: np.ndarray) -> np.ndarray:
    centred = H - H.mean(axis=0)
    if len(H) < 2 or not np.ptp(centred):
        return np.zeros((len(H), 2))
    return np.asarray(PCA(2, random_state=0).fit_transform(centred))
