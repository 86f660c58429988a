"""First clusters: what joint training starts from."""

import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from torch import Tensor

from kfriendly.criteria import Criterion, State
from kfriendly.networks.whitened import Whitened
from kfriendly.training.inference import encode_rows, map_rows
from kfriendly.training.sources import ChosenSource, Source
from kfriendly.training.state import TrainState

InitRule = Literal["mixture", "kmeans"]

# Rows a mixture is fitted to: more change its components by little.
_MIXTURE_ROWS = 5_000
# Mixtures of which the likeliest is taken, of a network that is one of several, and of
# one that has no other start to make up for a poor one.
_FEW, _MANY = 3, 20


def latent_sample(state: TrainState, source: Source, max_rows: int = 100_000) -> Tensor:
    """Encode all rows, or a random choice of `max_rows`, (..., n, R)."""
    if source.n_rows > max_rows:
        # Not state.rng itself: one start's needs must not change the others' batches.
        rng = torch.Generator().manual_seed(state.rng.initial_seed() + state.step)
        chosen = torch.randperm(source.n_rows, generator=rng)[:max_rows]
        source = ChosenSource(source, chosen)
    return encode_rows(state.network, source)


def cluster_latent(
    criterion: Criterion, H: Tensor, n_clusters: int, seeds: Sequence[int]
) -> State:
    """Start the criterion on the bottleneck, for every start: SAE+KM."""
    if H.dim() == 2:
        return criterion.init(H, n_clusters, seeds[0])
    states = [
        criterion.init(h, n_clusters, seed) for h, seed in zip(H, seeds, strict=True)
    ]
    fields = [torch.stack(values) for values in zip(*states, strict=True)]
    return type(states[0])(*fields)


def start_from_mixture(
    state: TrainState,
    criterion: Criterion,
    source: Source,
    seeds: Sequence[int],
    *,
    n_clusters: int,
    alone: bool,
) -> np.ndarray:
    """Whiten the latent space and start clusters of any shape and size.

    K-means wants round clusters of one size, which an autoencoder alone does not give.
    A Gaussian mixture finds long and unequal ones; joint training, held to them at
    first, then makes them round. `alone` tells that there is no other start. Returns
    the labels, (..., n_rows).
    """
    H = latent_sample(state, source)
    state.network = Whitened(state.network, H).to(H.device)
    H = latent_sample(state, source)
    mixtures = [
        _mixture(h, n_clusters, seed, _MANY if alone else _FEW)
        for h, seed in zip(H.reshape(len(seeds), *H.shape[-2:]), seeds, strict=True)
    ]
    labels = map_rows(
        lambda x: _predict(mixtures, state.network.encode(x)).unsqueeze(-1), source
    ).squeeze(-1)
    start = cluster_latent(criterion, H, n_clusters, seeds)
    state.cluster = _cluster_of(criterion, H, _predict(mixtures, H), start)
    return labels.int().cpu().numpy()


def _cluster_of(criterion: Criterion, H: Tensor, labels: Tensor, start: State) -> State:
    """Fit clusters to labelled samples, with the counts of `start`."""
    S = F.one_hot(labels, start.c.shape[-1]).to(H)
    nothing = start._replace(c=torch.zeros_like(start.c))
    found = criterion.update(nothing, criterion.statistics(H, S))
    return found._replace(c=start.c)


def _mixture(H: Tensor, n_clusters: int, seed: int, n_init: int) -> GaussianMixture:
    """Fit a mixture of full covariances to white latent samples, the best of some."""
    rows = H.double().cpu().numpy()
    if len(rows) > _MIXTURE_ROWS:
        chosen = np.random.RandomState(seed).permutation(len(rows))[:_MIXTURE_ROWS]
        rows = rows[chosen]
    mixture = GaussianMixture(
        n_clusters, n_init=n_init, max_iter=50, reg_covar=1e-3, random_state=seed
    )
    with warnings.catch_warnings():
        # Fifty rounds are enough for a start; K-means has spoken of few distinct rows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(rows)


def _predict(mixtures: Sequence[GaussianMixture], H: Tensor) -> Tensor:
    """Label latent samples (..., n, R) with one mixture a start."""
    stacked = H.reshape(len(mixtures), *H.shape[-2:]).double().cpu().numpy()
    labels = [m.predict(h) for m, h in zip(mixtures, stacked, strict=True)]
    return torch.from_numpy(np.stack(labels)).to(H.device).reshape(H.shape[:-1])
