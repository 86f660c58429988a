"""DEC: deep embedded clustering, by sharpening soft assignments."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from kfriendly.criteria.base import squared_distances
from kfriendly.errors import TrainingDiverged
from kfriendly.estimator import DCN
from kfriendly.networks import Autoencoder
from kfriendly.training.descent import Descent, Optimizer
from kfriendly.training.inference import encode_rows
from kfriendly.training.sources import ArraySource, batches
from kfriendly.training.threads import enough_threads
from kfriendly.validation import checked_rows

_AUTO = StrOptions({"auto"})


def soft_assignments(H: Tensor, M: Tensor) -> Tensor:
    """Compute q, Student's t kernel about each centre, rows of sum one: (n, K)."""
    return F.normalize(1.0 / (1.0 + squared_distances(H, M)), p=1.0, dim=-1)


def sharpened(Q: Tensor) -> Tensor:
    """Compute the target p: q squared, over the size of each cluster, normalised."""
    return F.normalize(Q.square() / Q.sum(0).clamp_min(1e-12), p=1.0, dim=-1)


def divergence(P: Tensor, Q: Tensor) -> Tensor:
    """Compute KL(P || Q), mean over rows."""
    return (torch.xlogy(P, P) - P * Q.clamp_min(1e-12).log()).sum(-1).mean()


class DEC(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Deep embedded clustering (Xie, Girshick & Farhadi, 2016).

    Starts as SAE+KM, with the weights that `DCN` has after pre-training from the same
    seed. Then moves the encoder and the centres to minimise

        KL(P || Q) = sum_ik p_ik log(p_ik / q_ik),

    q_ik = (1 + ||h_i - m_k||^2)^-1, normalised over k, and p its sharpened copy, held
    fixed for an epoch. The decoder is not used: nothing stops the latent space from
    losing what is not needed for the clusters.

    The authors step by SGD with momentum 0.9 and rate 0.01, until fewer than 0.1 % of
    the rows change; so does this. Their networks are larger, their pre-training is
    longer and denoises; momentum here is Nesterov's.

    Parameters
    ----------
    n_clusters : int
    hidden, n_components, pretrain_epochs, batch_size : as in `DCN`
    learning_rate : float
    max_epochs : int
        Most epochs of joint training.
    tol : float
        Share of rows that change cluster in an epoch below which training ends.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
    objective_ : list of float
        KL(P || Q) at the start of each epoch. It need not fall: P moves.
    sae_km_labels_ : ndarray of shape (n_samples,)
        Clusters before joint training.
    n_iter_ : int
        Epochs.
    n_features_in_ : int

    Examples
    --------
    >>> from kfriendly.baselines import DEC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, random_state=0)
    >>> labels = DEC(3, pretrain_epochs=5, random_state=0).fit_predict(X)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "hidden": ["array-like", _AUTO],
        "n_components": [Interval(Integral, 1, None, closed="left"), _AUTO],
        "pretrain_epochs": [Interval(Integral, 0, None, closed="left"), _AUTO],
        "batch_size": [Interval(Integral, 1, None, closed="left"), _AUTO],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_epochs": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hidden: tuple[int, ...] | Literal["auto"] = "auto",
        n_components: int | Literal["auto"] = "auto",
        pretrain_epochs: int | Literal["auto"] = "auto",
        batch_size: int | Literal["auto"] = "auto",
        learning_rate: float = 0.01,
        max_epochs: int = 100,
        tol: float = 0.001,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.hidden = hidden
        self.n_components = n_components
        self.pretrain_epochs = pretrain_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the latent space and the clusters of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        rows = checked_rows(self, X, reset=True)
        rng = check_random_state(self.random_state)
        self._sae = DCN(
            self.n_clusters,
            views=None,
            hidden=self.hidden,
            n_components=self.n_components,
            pretrain_epochs=self.pretrain_epochs,
            batch_size=self.batch_size,
            n_init=1,
            max_epochs=0,
            random_state=rng,
        ).fit(rows)
        self.sae_km_labels_ = self._sae.labels_
        # The SAE's own parts, not copies: from here on it is DEC's network.
        source = self._sae._source_of(rows)
        network, plan = self._sae._state.network, self._sae._plan
        M = nn.Parameter(self._sae._state.cluster.M.float())
        descent = Descent("sgd", self.learning_rate)
        parameters = [*network.parameters(), M]
        order = torch.Generator().manual_seed(rng.randint(2**31 - 1))
        with enough_threads(network, plan.joint.batch_size):
            self._train(network, M, descent.optimizer(parameters), source, order)
        self.cluster_centers_ = M.detach().cpu().numpy()
        self.labels_ = self._assign(source).argmax(-1).cpu().numpy()
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Give each row the cluster with the largest soft assignment.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return np.asarray(self._assign(self._sae._source_of(rows)).argmax(-1).cpu())

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Map rows to the latent space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        H : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        source = self._sae._source_of(checked_rows(self, X, reset=False))
        H = encode_rows(self._sae._state.network, source).cpu().numpy()
        return H.astype(source.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[1])

    def _assign(self, source: ArraySource) -> Tensor:
        H = encode_rows(self._sae._state.network, source)
        return soft_assignments(H, torch.from_numpy(self.cluster_centers_).to(H.device))

    @torch.no_grad()
    def _train(
        self,
        network: Autoencoder,
        M: nn.Parameter,
        optimizer: Optimizer,
        source: ArraySource,
        order: torch.Generator,
    ) -> None:
        """Run epochs, each with the target as it is at its start."""
        self.objective_, self.n_iter_ = [], 0
        batch_size = self._sae._plan.joint.batch_size
        before: Tensor | None = None
        for _ in range(self.max_epochs):
            Q = soft_assignments(encode_rows(network, source), M)
            P, labels = sharpened(Q), Q.argmax(-1)
            self.objective_.append(float(divergence(P, Q)))
            if not np.isfinite(self.objective_[-1]):
                raise TrainingDiverged(
                    f"DEC's objective is not finite after {self.n_iter_} epochs with "
                    f"learning_rate={self.learning_rate}; use a smaller one."
                )
            if before is not None and (labels != before).float().mean() < self.tol:
                break
            before = labels
            network.train()
            shuffled = torch.randperm(source.n_rows, generator=order)
            for index in batches(shuffled, batch_size):
                optimizer.clear()
                H, pull = network.trace_encode(source.rows(index))
                G, M.grad = _gradients(H, M, P[index.to(P.device)])
                pull(G)
                optimizer.step(clip=None, stacked=False)
            self.n_iter_ += 1

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _gradients(H: Tensor, M: Tensor, P: Tensor) -> tuple[Tensor, Tensor]:
    """Differentiate KL(P || Q) by the latent samples and by the centres."""
    H, M = H.detach().requires_grad_(), M.detach().requires_grad_()
    with torch.enable_grad():
        loss = divergence(P, soft_assignments(H, M))
        G_H, G_M = torch.autograd.grad(loss, (H, M))
    return G_H, G_M
