"""What "auto" means: choices that follow from the shape of the data."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from kfriendly.criteria import CRITERIA, Criterion, KMeans
from kfriendly.losses import LOSSES, Loss, kl
from kfriendly.networks import ConvFactory, MLPFactory, NetworkFactory
from kfriendly.networks.layers import WIDE, Activation
from kfriendly.training.alternating import JointRules
from kfriendly.training.descent import Descent
from kfriendly.training.images import find_image_shape
from kfriendly.training.loop import Phase
from kfriendly.training.objective import Objective
from kfriendly.training.plan import Plan
from kfriendly.training.scaling import ScaleRule
from kfriendly.training.words import FEWEST_WORDS, are_words
from kfriendly.views import (
    Alter,
    Altered,
    DropWords,
    MoveImages,
    Neighbors,
    Noise,
    ViewRule,
)

# Up to this many columns several starts cost little; up to this width of its layers a
# network bears large steps.
_SMALL = 256
# More rows than this can teach a larger network where neighbours take part, and are
# not learned by heart; where they do not, a quarter is enough.
_MANY_ROWS = 20_000
_MANY_ALONE = _MANY_ROWS // 4

# The graph takes memory for each row; a fit of more, perhaps mapped from a file, not.
_MOST_ROWS_FOR_NEIGHBORS = 200_000


def make_plan(params: dict[str, Any], X: np.ndarray | sp.csr_array) -> Plan:
    """Resolve the parameters of a `DCN` for data of this shape and kind."""
    n_rows, n_features = X.shape
    K = params["n_clusters"]
    loss = resolve_loss(params["loss"])
    batch = _or(params["batch_size"], default_batch_size(X))
    shape = resolve_shape(params["input_shape"], X)
    views = resolve_views(params["views"], X, K, shape)
    texts = are_texts_alone(X, views, shape)
    noise = resolve_noise(params["noise"], views, shape, texts=texts)
    criterion = resolve_criterion(params["criterion"])
    if noise is not None and noise.restore and params["criterion"] == "kmeans":
        # Centres count the samples of an epoch, no more, to keep up with the network.
        criterion = KMeans(max_count=max(KMeans.prior_count, n_rows / K))
    moved = noise is not None and not noise.restore
    hidden = default_hidden(X.shape, views, texts=texts)
    build = _network(params, hidden, loss, shape, sphere=texts)
    joint = _descent(params["optimizer"], build, n_features)
    before = joint
    if params["pretrain_optimizer"] is not None:
        before = _descent(params["pretrain_optimizer"], build, n_features)
    elif moved and params["optimizer"] == "adam":
        # Copies that are never the same bear larger steps than rows seen many times.
        before = replace(joint, learning_rate=max(joint.learning_rate, 2e-3))
    n_batches = max(1, n_rows // batch)
    init = params["init"]
    if init == "auto":  # neighbours make clusters round; an autoencoder does not
        init = "kmeans" if texts or isinstance(views, Neighbors) else "mixture"
    return Plan(
        build=build,
        n_features=n_features,
        n_components=_or(
            params["n_components"],
            default_components(K, n_features, views, texts=texts),
        ),
        n_clusters=K,
        n_init=_or(params["n_init"], default_starts(build, n_features, views)),
        objective=Objective(loss, criterion),
        init=init,
        lam=None if params["lam"] == "auto" else float(params["lam"]),
        layers=Phase("layers", params["layer_epochs"], batch, before),
        pretrain=Phase(
            "pretrain",
            _or(
                params["pretrain_epochs"],
                default_epochs(n_batches, *pretraining_length(n_rows, noise)),
            ),
            batch,
            before,
        ),
        joint=Phase(
            "joint",
            _or(params["max_epochs"], default_epochs(n_batches, 800, least=15)),
            batch,
            joint,
        ),
        rules=JointRules(
            ramp=0.2,
            hold=0.2 if init == "mixture" else 0.0,
            assignment=params["assignment"],
            refresh_every=params["refresh_every"],
            empty_cluster=params["empty_cluster"],
            clip=joint.clip,
        ),
        views=views,
        noise=noise,
        shape=shape,
        device=resolve_device(params["device"]),
    )


def default_batch_size(X: np.ndarray | sp.csr_array) -> int:
    """Take 256 rows, and of small data a fortieth, so that epochs have many steps.

    Of a wide sparse table take 2,048, and of a small one a tenth: most of a step's
    time goes into the weights there, and is the same for few rows and many.
    """
    n_rows = int(X.shape[0])
    if sp.issparse(X) and X.shape[1] >= WIDE:
        return min(2_048, max(16, n_rows // 10))
    return min(256, max(16, n_rows // 40))


def default_epochs(n_batches: int, n_steps: int, least: int) -> int:
    """Take epochs that make `n_steps` steps: at least `least`, at most 100."""
    return min(100, max(least, -(-n_steps // n_batches)))


def pretraining_length(n_rows: int, noise: Noise | None) -> tuple[int, int]:
    """Tell how many steps pre-training takes, and how many epochs at least.

    Rows that are never seen the same way twice bear more: moved images twice both, and
    rows to be restored, as texts from some of their words, four times the steps, if
    they are many. Few are learned by heart all the same.
    """
    if noise is not None and not noise.restore:
        return 2_800, 40
    return (5_600 if noise is not None and n_rows > _MANY_ALONE else 1_400), 20


def resolve_loss(loss: str | Loss) -> Loss:
    """Look a loss up by name."""
    return LOSSES[loss] if isinstance(loss, str) else loss


def resolve_criterion(criterion: str | Criterion) -> Criterion:
    """Make a criterion by name, with its defaults."""
    return CRITERIA[criterion]() if isinstance(criterion, str) else criterion


def resolve_scale(params: dict[str, Any], X: np.ndarray | sp.csr_array) -> ScaleRule:
    """Give texts length one where nothing but Eq. (4) compares them.

    A divergence knows no negative values: zero is to stay zero.
    """
    scale: ScaleRule = params["scale"]
    if scale != "auto":
        return scale
    shape = resolve_shape(params["input_shape"], X)
    views = resolve_views(params["views"], X, params["n_clusters"], shape)
    if are_texts_alone(X, views, shape):
        return "rows"
    return "nonnegative" if resolve_loss(params["loss"]) is kl else scale


def are_texts_alone(
    X: np.ndarray | sp.csr_array,
    views: ViewRule | None,
    shape: tuple[int, ...] | None,
) -> bool:
    """Tell whether rows are texts that Eq. (4) alone is to part, of some vocabulary."""
    return views is None and X.shape[1] >= FEWEST_WORDS and are_words(X, shape)


def resolve_noise(
    noise: str | Noise | Alter | None,
    views: ViewRule | None,
    shape: tuple[int, ...] | None,
    *,
    texts: bool,
) -> Noise | None:
    """Hide words of `texts`, and train on moved images of this `shape` first.

    Four fifths of the words are hidden in pre-training, which finds the topics, and
    half in joint training, whose clusters are of whole texts. Moved copies teach the
    autoencoder what an image is; the clusters are of the images as they are.
    """
    if noise == "auto":
        if texts:
            return Noise(DropWords(0.8), DropWords(0.5))
        if shape is None or math.prod(shape) <= _SMALL or views is not None:
            return None  # small images are blurred by moves of half a pixel
        moves = MoveImages(shape, shift=shape[-1] / 14)
        return Noise(moves, None, restore=False)
    if noise is not None and views is not None:
        raise ValueError(
            f"noise={noise!r} is for views=None, but views are {views!r}. Alter the "
            "views instead, as in Neighbors(alter=...), or use views=None."
        )
    return Noise(noise, noise) if callable(noise) else noise  # type: ignore[return-value]


def resolve_views(
    views: str | ViewRule | Alter | None,
    X: np.ndarray | sp.csr_array,
    K: int,
    shape: tuple[int, ...] | None = None,
) -> ViewRule | None:
    """Take ten neighbours, of small clusters fewer, and of large data none.

    Texts at the end of a walk lose words, and images are moved if they are few: new
    ones are placed better for it.
    """
    if views is None or isinstance(views, Neighbors | Altered):
        return views
    if callable(views):
        return Altered(views)
    n_rows = int(X.shape[0])
    n_neighbors = default_neighbors(n_rows, K)
    if views == "auto" and (n_neighbors < 3 or n_rows > _MOST_ROWS_FOR_NEIGHBORS):
        return None
    rule = Neighbors(max(1, n_neighbors))
    if are_words(X, shape):
        # Words of a text hardly tell each other: their reconstruction weighs less.
        return replace(rule, contrast=10.0, alter=DropWords())
    if shape is not None and n_rows <= _MANY_ROWS:
        return replace(rule, alter=slight_moves(shape))
    return rule


def slight_moves(shape: tuple[int, ...]) -> MoveImages:
    """Move images by a pixel in 28: few would be learned by heart as they are."""
    return MoveImages(shape, shift=shape[-1] / 28, degrees=5.0, stretch=0.05)


def default_neighbors(n_rows: int, K: int) -> int:
    """Take ten, or a third of an average cluster if that is fewer."""
    return min(Neighbors.n_neighbors, n_rows // (3 * K))


def resolve_device(device: str | torch.device) -> torch.device:
    """Take the GPU if there is one, and never another device than asked for."""
    gpu = torch.cuda.is_available()
    if device == "auto":
        return torch.device("cuda" if gpu else "cpu")
    try:
        found = torch.device(device)
    except RuntimeError as error:
        raise ValueError(
            f"device={device!r} is not a torch device; use 'auto', 'cpu' or 'cuda'."
        ) from error
    if found.type == "cuda" and not gpu:
        raise ValueError(
            f"device={device!r} was asked for, but torch sees no GPU. "
            "Use device='cpu' or 'auto'."
        )
    return found


def resolve_shape(
    input_shape: str | tuple[int, ...] | None, X: np.ndarray | sp.csr_array
) -> tuple[int, ...] | None:
    """Find out whether rows are images; a shape that was given must fit them."""
    if input_shape is None:
        return None
    if isinstance(input_shape, str):
        return None if sp.issparse(X) else find_image_shape(X)
    shape = tuple(input_shape)
    if len(shape) not in (2, 3) or math.prod(shape) != X.shape[1]:
        raise ValueError(
            f"input_shape={shape} is not (height, width) or (channels, height, width) "
            f"of images in rows of {X.shape[1]} columns."
        )
    return shape


def _network(
    params: dict[str, Any],
    default: tuple[int, ...],
    loss: Loss,
    shape: tuple[int, ...] | None,
    *,
    sphere: bool,
) -> NetworkFactory:
    """Build by the user's factory, or by name."""
    network = params["network"]
    output: Activation = "softplus" if loss is kl else "linear"
    conv = network == "conv"
    if params["hidden"] != "auto" and (conv or callable(network)):
        raise ValueError(
            f"hidden={params['hidden']} is for network='mlp' and would have no effect "
            "here; give the widths to the network itself, as in MLPFactory(hidden)."
        )
    if callable(network):
        return network  # type: ignore[no-any-return]
    if conv:
        if shape is None:
            raise ValueError(
                "network='conv' needs input_shape, the (height, width) or "
                "(channels, height, width) of the image in each row."
            )
        return ConvFactory(shape, output=output)
    hidden = _or(params["hidden"], default)
    return MLPFactory(tuple(hidden), output=output, sphere=sphere)


def default_hidden(
    shape: tuple[int, ...], views: ViewRule | None = None, *, texts: bool = False
) -> tuple[int, ...]:
    """Take the paper's MNIST widths for many columns, a smaller network for few.

    To bring neighbours together takes a small one, whatever the columns; of many rows
    a larger one learns more. Without neighbours too, unless the rows are so many that
    time counts. Texts have one hidden layer: deeper ones learn few of them by heart.
    """
    n_rows, n_features = shape
    if isinstance(views, Neighbors):
        return (256, 128) if n_rows <= _MANY_ROWS else (256, 256, 512)
    if texts:
        return (256,) if n_rows <= _MANY_ALONE else (1000,)
    if n_features > _SMALL:
        return (500, 500, 2000)
    many = _MANY_ALONE < n_rows <= _MOST_ROWS_FOR_NEIGHBORS
    return (256, 256, 512) if many else (128, 64)


def default_components(
    K: int, n_features: int, views: ViewRule | None, *, texts: bool = False
) -> int:
    """Take as many dimensions as clusters, or as columns if those are fewer.

    Neighbours need room to get past each other: ten dimensions at least, whatever the
    columns. In two, rows that set out on the wrong side stay there. Texts are of more
    topics than clusters: twenty at least.
    """
    if texts:
        return max(20, K)
    return max(10, K) if isinstance(views, Neighbors) else min(K, n_features)


def default_starts(
    build: NetworkFactory, n_features: int, views: ViewRule | None
) -> int:
    """Take four starts of small networks, and one of large ones.

    With neighbours any start is as good as the best, and a second one tells how stable
    the clusters are.
    """
    if isinstance(views, Neighbors):
        return 1 if isinstance(build, ConvFactory) else 2
    return 4 if n_features <= _SMALL else 1


def _descent(
    optimizer: str | Descent, build: NetworkFactory, n_features: int
) -> Descent:
    """Give a named optimiser the rate and schedule that go with it.

    Losses are sums over columns, so the rate of plain SGD falls with their number.
    Adam's steps do not depend on the size of the loss, but wide networks bear less.
    """
    if isinstance(optimizer, Descent):
        return optimizer
    if optimizer == "sgd":
        return Descent("sgd", 0.1 / n_features, schedule="diminishing", clip=10.0)
    rate = 1e-3
    if isinstance(build, MLPFactory):
        narrow = max(build.hidden, default=0) <= _SMALL
        if build.sphere:  # few texts, which have narrow layers, are soon known by heart
            rate = 1e-3 if narrow else 3e-3
        elif narrow:
            rate = 5e-3
    return Descent("adam", rate, schedule="one_cycle")


def _or(value: Any, default: Any) -> Any:
    return default if isinstance(value, str) else value
