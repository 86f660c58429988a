"""DCN: the scikit-learn face."""

import copy
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from kfriendly.criteria import CRITERIA, Criterion
from kfriendly.criteria.base import distances
from kfriendly.defaults import (
    make_plan,
    resolve_device,
    resolve_scale,
)
from kfriendly.losses import LOSSES, Loss, kl
from kfriendly.model_files import (
    MANIFEST,
    Checkpoints,
    keeper_for,
    load_model,
    save_model,
)
from kfriendly.monitoring import CallbackMonitor
from kfriendly.networks import NetworkFactory
from kfriendly.storage import new_folder
from kfriendly.training.alternating import AssignmentRule, EmptyPolicy
from kfriendly.training.descent import Descent
from kfriendly.training.failures import warn_of_failures
from kfriendly.training.history import Monitor, Recorder
from kfriendly.training.inference import (
    Evaluation,
    assign_rows,
    decode_rows,
    encode_rows,
    evaluate,
    reconstruction_losses,
)
from kfriendly.training.plan import Plan, rebuild_state, take_start
from kfriendly.training.progress import Keeper
from kfriendly.training.run import pass_once, train
from kfriendly.training.scaling import ScaleRule, Scaling, find_scaling
from kfriendly.training.sources import ArraySource, TensorSource
from kfriendly.training.starts import InitRule
from kfriendly.training.state import TrainState
from kfriendly.validation import check_enough_rows, checked_rows
from kfriendly.views import Alter, Altered, Neighbors, Noise, ViewRule

Auto = Literal["auto"]
_AUTO = StrOptions({"auto"})


_Method = TypeVar("_Method", bound=Callable[..., Any])
# scikit-learn's decorator has no types; without one `fit` would return Any.
_told_to_callbacks: Callable[[_Method], _Method] = with_callbacks


def _at_least(low: int) -> Interval:
    return Interval(Integral, low, None, closed="left")


class DCN(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Deep Clustering Network: learn a latent space in which K-means works.

    Minimises reconstruction error plus `lam`/2 times the K-means cost of the latent
    samples, Eq. (4) of [1]_, by alternating stochastic gradient steps (Algorithm 1).

    Parameters
    ----------
    n_clusters : int
        Number of clusters K.
    n_components : int or "auto"
        Size R of the latent space. "auto" is K, and at least 10 with neighbours;
        without them K, or the number of columns if smaller, and for texts at least 20.
    hidden : tuple of int or "auto"
        Widths of the encoder's hidden layers; the decoder mirrors them.
    network : {"auto", "mlp", "conv"} or callable
        "auto" is "mlp"; "conv" is for images, and slow without a GPU. A callable, such
        as `MLPFactory` with its further options, takes (n_features, n_components,
        torch.Generator) and returns an `Autoencoder`.
    input_shape : tuple of int, "auto" or None
        (height, width) or (channels, height, width) of the image in each row. "auto"
        finds square grey images by their columns; None says that rows are no images.
        Images are neighbours if a small shift, turn or stretch brings them together.
    loss : {"squared", "absolute", "kl", "none"} or callable
        Reconstruction loss; "none" is Eq. (3). A callable takes the reconstruction and
        the data and returns one value per row.
    criterion : {"kmeans", "soft_kmeans", "k_subspace"} or Criterion
        Clustering criterion; an object such as `KMeans(prior_count=10)` sets options.
    init : {"auto", "mixture", "kmeans"}
        First clusters. "kmeans" is the paper's: K-means on the bottleneck. "mixture"
        whitens the bottleneck, takes the clusters of a Gaussian mixture, and holds
        rows to them for the first fifth of joint training; it finds clusters of
        unequal size and shape, which K-means would cut. "auto" is "kmeans" for texts
        and where neighbours are views, else "mixture".
    views : {"auto", "neighbors"}, Neighbors, Altered, callable or None
        What else should lie where a sample lies: its nearest neighbours, or copies
        that a callable alters, such as `MoveImages` or `DropWords`. None is Eq. (4);
        see `noise`.
        "auto" is "neighbors" for up to 200,000 rows, if clusters have nine on average.
        Of neighbours that are texts half the words are lost, and images are moved by a
        little if there are at most 20,000: new rows are placed better for it.
    noise : "auto", Noise, callable or None
        For views=None: what the network sees in place of a sample. A callable alters
        rows as in `Altered`, and the sample is reconstructed all the same. "auto" hides
        words of texts, `Noise(DropWords(0.8), DropWords(0.5))`, pre-trains on moved
        images, `Noise(MoveImages(...), None, restore=False)`, if these have more than
        256 pixels, and is None for all else.
    lam : float or "auto"
        Weight of the clustering term. Zero leaves a plain autoencoder. "auto" sets
        it from the two terms after pre-training, so that units do not matter.
    scale : {"auto", "standard", "common", "nonnegative", "rows", "none"}
        Scaling of the columns. "standard" gives each mean zero and deviation one,
        "common" divides all centred columns by one number, "nonnegative" does not
        centre, "rows" gives each row length one and does not centre. "auto" is
        "common" for columns in like units, else "standard"; texts without views have
        "rows".
    n_init : int or "auto"
        Number of starts; the best is kept, chosen without labels. "auto" is two with
        neighbours, else four, or one for more than 256 columns.
    layer_epochs : int
        Epochs of layer-wise pre-training, for each layer.
    pretrain_epochs : int or "auto"
        Epochs of end-to-end pre-training.
    max_epochs : int or "auto"
        Epochs of joint training. Zero gives an autoencoder and K-means, SAE+KM.
    batch_size : int or "auto"
        Rows in a batch. "auto" is 256, or a fortieth of fewer than 10,240 rows; for a
        wide sparse table 2,048, or a tenth of fewer than 20,480.
    optimizer : {"adam", "sgd"} or Descent
        How the network moves in joint training; `Descent` sets rate and schedule.
    pretrain_optimizer : {"adam", "sgd"}, Descent or None
        The same for pre-training; None is `optimizer`.
    assignment : {"current", "stored"}
        Whether the network step uses each row's nearest cluster now, or the one of
        its last visit, as in the authors' code.
    refresh_every : int or None
        Epochs after which K-means is run to convergence on the latent samples.
    empty_cluster : {"reseed", "keep"}
        What happens to a cluster that had no row in an epoch.
    device : str or torch.device
        "auto" is the GPU if there is one.
    checkpoints : str, Path, Checkpoints or None
        Folder to keep the state of training in, each minute and when interrupted.
        `fit` goes on from what is there, to the same result, and refuses it if data or
        parameters are others. A fit that has come to its end leaves none.
    random_state : int, RandomState instance or None
        Seed of weights, batches and starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row: `predict` of the training data.
    sae_km_labels_ : ndarray of shape (n_samples,)
        Clusters of K-means after pre-training, SAE+KM from the same weights: what
        joint training has to beat.
    initial_labels_ : ndarray of shape (n_samples,)
        Clusters that joint training started from: the mixture's, or SAE+KM.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Centres M, in the latent space. `inverse_transform` maps them back to data.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows in each cluster.
    inertia_ : float
        Sum of the clustering costs of all rows.
    reconstruction_error_ : float
        Mean reconstruction loss of a row, in scaled units.
    lam_ : float
        The weight used.
    history_ : list of EpochRecord
        One record an epoch, all phases.
    n_iter_ : int
        Epochs of joint training.
    start_scores_ : ndarray of shape (n_init,)
        Score of each start without labels; the smallest was chosen.
    start_labels_ : list of ndarray
        Labels of each start, to see how stable the clusters are.
    scaling_ : Scaling
        The scaling of the columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if they are all strings.

    References
    ----------
    .. [1] B. Yang, X. Fu, N. D. Sidiropoulos, M. Hong, "Towards K-means-friendly
       spaces: simultaneous deep learning and clustering", ICML 2017.

    Examples
    --------
    >>> from kfriendly import DCN
    >>> from kfriendly.datasets import make_sigmoid_sigmoid
    >>> X, y = make_sigmoid_sigmoid(200, random_state=0)
    >>> labels = DCN(n_clusters=4, random_state=0).fit_predict(X)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [_at_least(1)],
        "n_components": [_at_least(1), _AUTO],
        "hidden": ["array-like", _AUTO],
        "network": [StrOptions({"auto", "mlp", "conv"}), callable],
        "input_shape": ["array-like", _AUTO, None],
        "loss": [StrOptions(set(LOSSES)), callable],
        "criterion": [
            StrOptions(set(CRITERIA)),
            HasMethods(["init", "assign", "cost", "statistics", "update"]),
        ],
        "init": [StrOptions({"auto", "mixture", "kmeans"})],
        "views": [
            StrOptions({"auto", "neighbors"}),
            Neighbors,
            Altered,
            callable,
            None,
        ],
        "noise": [_AUTO, Noise, callable, None],
        "lam": [Interval(Real, 0, None, closed="left"), _AUTO],
        "scale": [StrOptions(set(get_args(ScaleRule)))],
        "n_init": [_at_least(1), _AUTO],
        "layer_epochs": [_at_least(0)],
        "pretrain_epochs": [_at_least(0), _AUTO],
        "max_epochs": [_at_least(0), _AUTO],
        "batch_size": [_at_least(1), _AUTO],
        "optimizer": [StrOptions({"adam", "sgd"}), Descent],
        "pretrain_optimizer": [StrOptions({"adam", "sgd"}), Descent, None],
        "assignment": [StrOptions({"current", "stored"})],
        "refresh_every": [_at_least(1), None],
        "empty_cluster": [StrOptions({"keep", "reseed"})],
        "device": [str, torch.device],
        "checkpoints": [str, Path, Checkpoints, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | Auto = "auto",
        hidden: tuple[int, ...] | Auto = "auto",
        network: str | NetworkFactory = "auto",
        input_shape: tuple[int, ...] | Auto | None = "auto",
        loss: str | Loss = "squared",
        criterion: str | Criterion = "kmeans",
        init: InitRule | Auto = "auto",
        views: str | ViewRule | Alter | None = "auto",
        noise: Noise | Alter | Auto | None = "auto",
        lam: float | Auto = "auto",
        scale: ScaleRule = "auto",
        n_init: int | Auto = "auto",
        layer_epochs: int = 0,
        pretrain_epochs: int | Auto = "auto",
        max_epochs: int | Auto = "auto",
        batch_size: int | Auto = "auto",
        optimizer: str | Descent = "adam",
        pretrain_optimizer: str | Descent | None = None,
        assignment: AssignmentRule = "current",
        refresh_every: int | None = None,
        empty_cluster: EmptyPolicy = "reseed",
        device: str | torch.device = "auto",
        checkpoints: str | Path | Checkpoints | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.hidden = hidden
        self.network = network
        self.input_shape = input_shape
        self.loss = loss
        self.criterion = criterion
        self.init = init
        self.views = views
        self.noise = noise
        self.lam = lam
        self.scale = scale
        self.n_init = n_init
        self.layer_epochs = layer_epochs
        self.pretrain_epochs = pretrain_epochs
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.pretrain_optimizer = pretrain_optimizer
        self.assignment = assignment
        self.refresh_every = refresh_every
        self.empty_cluster = empty_cluster
        self.device = device
        self.checkpoints = checkpoints
        self.random_state = random_state

    @_told_to_callbacks
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the latent space and the clusters of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster. CSR is made dense a batch at a time, never as a whole.
        y : ignored
            Not used: labels play no part.

        Returns
        -------
        self
        """
        self._validate_params()
        rows = checked_rows(self, X, reset=True)
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=self, X=X)
        plan, scaling = self._make_plan(rows), self._find_scaling(rows)
        as_if_fitted = partial(self._as_if_fitted, plan, scaling)
        monitor = CallbackMonitor(self, X, root, as_if_fitted)
        params = self.get_params(deep=False)
        with keeper_for(self.checkpoints, params, rows) as keeper:
            self._begin(rows, plan, scaling, monitor, keeper)
        root.call_on_fit_task_end(estimator=self, X=X)
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from the next chunk of rows; nothing of it is kept.

        The first chunk is fitted as by `fit`: it sets the scaling, the network and the
        clusters, so it should be a fair sample. Each later one is passed over once, in
        order, by the steps of Algorithm 1. Labels, sizes and costs are those of the
        last chunk.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        self._validate_params()
        first = not hasattr(self, "_state")
        rows = checked_rows(self, X, reset=first)
        if first:
            plan, scaling = self._make_plan(rows), self._find_scaling(rows)
            self._begin(rows, plan, scaling, Recorder())
            return self
        source = self._source_of(rows)
        pass_once(self._state, self._plan, source)
        self._describe(source)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Give each row to its nearest cluster in the latent space, Eq. (7).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        source, state = self._source(X), self._state
        criterion = self._plan.objective.criterion
        return assign_rows(state.network, state.cluster, criterion, source)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Map rows to the latent space, f.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        H : ndarray of shape (n_samples, n_components)
        """
        source = self._source(X)
        H = encode_rows(self._state.network, source).cpu().numpy()
        return H.astype(source.dtype, copy=False)

    def inverse_transform(self, H: ArrayLike) -> np.ndarray:
        """Map latent points back to data, g, in the data's own units.

        Parameters
        ----------
        H : array-like of shape (n_samples, n_components)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        points = check_array(H, dtype=[np.float64, np.float32])
        R = self._plan.n_components
        if points.shape[1] != R:
            raise ValueError(
                f"H has {points.shape[1]} columns, but the latent space has {R}."
            )
        source = TensorSource(
            torch.tensor(points, dtype=torch.float32, device=self._plan.device)
        )
        x_hat = decode_rows(self._state.network, source)
        return self.scaling_.undo(x_hat.cpu().numpy().astype(points.dtype))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Compute minus the mean of Eq. (4) over the rows: higher is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
            Not used.
        """
        found = self._evaluate(self._source(X))
        return -float(found.reconstruction + 0.5 * self.lam_ * found.clustering)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Compute minus the reconstruction loss of each row: low means unusual.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        source = self._source(X)
        losses = reconstruction_losses(
            self._state.network, self._plan.objective, source
        )
        return -losses.cpu().numpy().astype(source.dtype)

    def distances(self, X: ArrayLike) -> np.ndarray:
        """Compute the Euclidean distance of each row to each centre, in latent space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
        """
        source, state = self._source(X), self._state
        H = encode_rows(state.network, source)
        D = distances(H, state.cluster.M).cpu().numpy()  # (n, K)
        return D.astype(source.dtype, copy=False)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder: numbers and JSON, never code.

        Parameters
        ----------
        path : str or Path
            The folder to make.
        overwrite : bool
            Whether a model that is there may be replaced. It is removed only when
            the new one stands.
        """
        check_is_fitted(self)
        with new_folder(Path(path), overwrite, marker=MANIFEST) as folder:
            save_model(self, folder)

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = None) -> Self:
        """Read a model that `save` has written; it predicts exactly as it did.

        Safe with a file from a stranger: it is checked, and nothing in it is run.

        Parameters
        ----------
        path : str or Path
            The folder.
        device : str or None
            Where to compute; None is where the model was asked to.

        Returns
        -------
        model : DCN

        Raises
        ------
        ModelFileError
            If the files are damaged, not a model, or of a newer version.
        """
        model: Self = load_model(
            Path(path), cls, lambda asked: resolve_device(device or asked)
        )
        return model

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self._plan.n_components

    def _make_plan(self, X: np.ndarray | sp.csr_array) -> Plan:
        """Check what depends on both parameters and data, and resolve "auto"."""
        check_enough_rows(X.shape[0], self.n_clusters)
        if self.loss in ("kl", kl) and X.min() < 0:
            raise ValueError(
                f"loss='kl' needs values >= 0, but the smallest in X is {X.min():g}. "
                "Shift the data or use loss='squared'."
            )
        return make_plan(self.get_params(deep=False), X)

    def _find_scaling(self, X: np.ndarray | sp.csr_array) -> Scaling:
        return find_scaling(X, resolve_scale(self.get_params(deep=False), X))

    def _begin(
        self,
        X: np.ndarray | sp.csr_array,
        plan: Plan,
        scaling: Scaling,
        monitor: Monitor,
        keeper: Keeper | None = None,
    ) -> None:
        """Train all starts and keep the best; a model fitted before stays till then."""
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31 - 1, size=plan.n_init)
        source = ArraySource(X, scaling, plan.device)
        trained = train(source, plan, seeds.tolist(), monitor, keeper)
        self._plan, self.scaling_ = plan, scaling
        self._state = rebuild_state(plan, 1, trained.kept)
        self.history_ = trained.history
        self.n_iter_ = sum(record.phase == "joint" for record in trained.history)
        self.lam_ = float(self._state.lam)
        self.sae_km_labels_ = trained.start.sae_km.labels
        self.initial_labels_ = trained.start.labels
        self.start_scores_ = np.array(trained.scores)
        self.start_labels_ = trained.labels
        self._describe(source)
        warn_of_failures(trained, self._state)

    def _describe(self, source: ArraySource) -> None:
        """Set the attributes that follow from the model and these rows."""
        found = self._evaluate(source)
        self.labels_ = found.labels
        self.cluster_sizes_ = np.bincount(found.labels, minlength=self.n_clusters)
        self.cluster_centers_ = self._state.cluster.M.cpu().numpy()
        self.inertia_ = float(found.clustering) * source.n_rows
        self.reconstruction_error_ = float(found.reconstruction)

    def _source(self, X: ArrayLike) -> ArraySource:
        """Check rows of a fitted model and make them a source."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return self._source_of(rows)

    def _source_of(self, rows: np.ndarray | sp.csr_array) -> ArraySource:
        source = ArraySource(rows, self.scaling_, self._plan.device)
        return source.suit(self._state.network)

    def _evaluate(self, source: ArraySource) -> Evaluation:
        state = self._state
        return evaluate(state.network, state.cluster, self._plan.objective, source)

    def _as_if_fitted(
        self, plan: Plan, scaling: Scaling, state: TrainState
    ) -> dict[str, Any]:
        """Return what a fitted copy needs, for callbacks that score each epoch."""
        if state.lam.dim():
            best = int(np.argmin(self.history_[-1].objective))
            state = take_start(state, plan, best)
        return {
            "_plan": plan,
            "_state": copy.deepcopy(state),
            "scaling_": scaling,
            "lam_": float(state.lam),
        }
