"""Label-free measures of DCN's clusters beside those of K-means and SAE+KM."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.cluster import KMeans

from kfriendly.defaults import default_neighbors
from kfriendly.estimator import DCN
from kfriendly.metrics import (
    acc,
    ari,
    davies_bouldin,
    nmi,
    silhouette,
    stability,
)
from kfriendly.training.neighbors import nearest_neighbors, share_cut
from kfriendly.views import Neighbors

# A row whose nearest two centres are this near to equally far is between clusters.
BORDERLINE = 0.1
_MEASURED_ROWS = 5_000
_MEASURED_VALUES = 2**25
_K_MEANS_STARTS = 4
# Clusters that part fewer neighbours than this among noise part none.
_LEAST_CUT = 0.001


class Scores(NamedTuple):
    """One method. Each measure is taken in the data as scaled, and as learned."""

    method: str
    silhouette_data: float
    silhouette_learned: float
    davies_bouldin_data: float
    davies_bouldin_learned: float
    stability: float | None
    agreement: float
    nmi: float | None = None
    ari: float | None = None
    acc: float | None = None


class Evidence(NamedTuple):
    """All that the verdict is based on."""

    scores: list[Scores]  # DCN first
    n_measured: int
    n_starts: int
    largest_share: float
    n_empty: int
    n_clusters: int
    kept: float | None
    borderline: float
    parted: float | None
    together: float | None = None


class Rows(NamedTuple):
    """The rows that are measured: as given, learned, and the cluster of each."""

    X: Any  # ndarray or csr_array
    H: np.ndarray
    labels: np.ndarray
    classes: np.ndarray | None


def gather(
    model: DCN, rows: Rows, chosen: np.ndarray, confidence: np.ndarray
) -> Evidence:
    """Measure DCN, K-means and SAE+KM on the chosen rows.

    Parameters
    ----------
    model : DCN
        Fitted.
    rows : Rows
        The chosen rows.
    chosen : ndarray
        Their numbers in the data.
    confidence : ndarray
        Of every row of the data.
    """
    K = model.n_clusters
    starts = getattr(model, "start_labels_", None) or []
    mean_stability = stability(list(starts)) if len(starts) > 1 else None
    scaled = scale_rows(model, rows.X)
    k_means, k_means_stability = _k_means(scaled, K)
    labelings: list[tuple[str, np.ndarray, float | None]] = [
        ("DCN", rows.labels, mean_stability),
        ("K-means", k_means, k_means_stability),
    ]
    sae_km = getattr(model, "sae_km_labels_", None)
    if sae_km is not None and len(sae_km) > chosen.max(initial=-1):
        labelings.append(("SAE+KM", np.asarray(sae_km)[chosen], None))
    some = measured_rows(scaled.shape)
    dense = _dense(scaled[some])
    sizes = model.cluster_sizes_
    return Evidence(
        scores=[_score(line, rows, some, dense) for line in labelings],
        n_measured=len(some),
        n_starts=max(1, len(starts)),
        largest_share=float(sizes.max() / max(1, sizes.sum())),
        n_empty=int((sizes == 0).sum()),
        n_clusters=K,
        kept=_kept(model),
        borderline=float(np.mean(confidence < BORDERLINE)) if K > 1 else 0.0,
        parted=_parted(model, rows.X[some], rows.labels[some]),
        together=_together(model),
    )


def scale_rows(model: DCN, X: Any) -> Any:
    """Divide columns by their size, as training did; a shift changes no distance."""
    if sp.issparse(X):
        return sp.csr_array(X.multiply(1.0 / model.scaling_.size[None, :]))
    return np.asarray((X - model.scaling_.mean) / model.scaling_.size, dtype=np.float32)


def measured_rows(shape: tuple[int, ...]) -> np.ndarray:
    """Choose the rows that silhouettes are taken on: they need all pairs."""
    n_rows, n_columns = shape
    most = min(_MEASURED_ROWS, max(200, _MEASURED_VALUES // max(1, n_columns)))
    if n_rows <= most:
        return np.arange(n_rows)
    chosen = np.random.RandomState(1).choice(n_rows, most, replace=False)
    return np.asarray(np.sort(chosen))


def _score(
    labeling: tuple[str, np.ndarray, float | None],
    rows: Rows,
    some: np.ndarray,
    dense: np.ndarray,
) -> Scores:
    method, labels, mean_stability = labeling
    H, given = rows.H[some], labels[some]
    known = rows.classes
    return Scores(
        method,
        silhouette(dense, given),
        silhouette(H, given),
        davies_bouldin(dense, given),
        davies_bouldin(H, given),
        mean_stability,
        ari(rows.labels, labels),
        None if known is None else nmi(known, labels),
        None if known is None else ari(known, labels),
        None if known is None else acc(known, labels),
    )


def _k_means(scaled: Any, K: int) -> tuple[np.ndarray, float | None]:
    """Run K-means from several starts: the best one's labels, and their stability."""
    K = min(K, scaled.shape[0])
    found = [
        KMeans(K, n_init=1, random_state=seed).fit(scaled)
        for seed in range(_K_MEANS_STARTS)
    ]
    best = min(found, key=lambda fitted: float(fitted.inertia_))
    labels = [fitted.labels_ for fitted in found]
    return np.asarray(best.labels_), stability(labels) if K > 1 else None


def _kept(model: DCN) -> float | None:
    """Compute the share of the data's variance that the decoder gives back."""
    variance = float(model.scaling_.variance)
    if model.loss != "squared" or variance <= 0 or _together(model) is not None:
        return None
    return 1.0 - model.reconstruction_error_ / variance


def _together(model: DCN) -> float | None:
    """Compute the share of neighbours in one cluster; None if none took part.

    Where neighbours shape the space, it keeps who is near whom, not every value.
    """
    if not isinstance(model._plan.views, Neighbors):
        return None
    return 1.0 - float(np.min(model.start_scores_))


def _parted(model: DCN, X: Any, labels: np.ndarray) -> float | None:
    """Compare the neighbours that clusters part with those parted among noise.

    Noise is the data with each column shuffled by itself: its values stay, what goes
    with what is lost; K-means finds clusters there. One column has no such noise.
    """
    n_rows, n_columns = X.shape
    K = model.n_clusters
    n_neighbors = default_neighbors(n_rows, K)
    if n_columns < 2 or K < 2 or n_neighbors < 1:
        return None
    noise = np.random.default_rng(0).permuted(_dense(X), axis=0)
    shuffled = sp.csr_array(noise) if sp.issparse(X) else noise
    found = KMeans(K, n_init=1, random_state=0).fit_predict(scale_rows(model, shuffled))

    def cut(rows: Any, labels: np.ndarray) -> float:
        near = nearest_neighbors(rows, model.scaling_, n_neighbors)
        return float(share_cut(near, torch.from_numpy(labels), K))

    return cut(X, labels) / max(cut(shuffled, found), _LEAST_CUT)


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)
