"""What "auto" has become for this data, and why."""

from typing import Any, NamedTuple

from kfriendly.defaults import pretraining_length
from kfriendly.estimator import DCN
from kfriendly.networks import ConvFactory, MLPFactory
from kfriendly.training.plan import Plan
from kfriendly.training.scaling import Scaling
from kfriendly.views import DropWords, MoveImages, Neighbors


class Choice(NamedTuple):
    """A parameter, what it is here, and why."""

    name: str
    value: str | int | float | list[int]
    why: str


def explain(model: DCN, plan: Plan, scaling: Scaling, n_rows: int) -> list[Choice]:
    """List every choice of a fit to so many rows."""
    narrow = plan.n_features <= 256
    many = "at most 256 columns" if narrow else "more than 256 columns"
    network, why = _network(plan, many)
    batches = "as many as make about {:,} steps, at least {}, at most 100"
    choices = [
        Choice("n_clusters", plan.n_clusters, "given"),
        Choice("scale", scaling.rule, _scale(scaling.rule)),
        Choice("network", network, why),
        Choice(
            "n_components",
            plan.n_components,
            _components(plan),
        ),
        Choice("n_init", plan.n_init, _starts(plan)),
        Choice("input_shape", *_shape(plan)),
        Choice("views", *_views(plan)),
        Choice("noise", *_noise(plan)),
        Choice("init", plan.init, _INIT[plan.init]),
        Choice("criterion", str(model.criterion), "K-means, as in the paper"),
        Choice(
            "lam",
            "auto" if plan.lam is None else plan.lam,
            "set after pre-training so that both terms weigh alike",
        ),
        Choice("batch_size", plan.joint.batch_size, "256, or a fortieth of few rows"),
        Choice(
            "pretrain_epochs",
            plan.pretrain.n_epochs,
            batches.format(*pretraining_length(n_rows, plan.noise)),
        ),
        Choice("max_epochs", plan.joint.n_epochs, batches.format(800, 15)),
        Choice(
            "optimizer",
            f"{plan.joint.descent.method}, rate {plan.joint.descent.learning_rate:g}",
            "larger steps for narrow layers and for texts",
        ),
        Choice("device", str(plan.device), "the GPU if there is one"),
        Choice("random_state", _seed(model.random_state), "same seed, same clusters"),
    ]
    return [_as_given(choice, model) for choice in choices]


def _as_given(choice: Choice, model: DCN) -> Choice:
    """Say so where a parameter was set by hand."""
    default = DCN().get_params()
    said = model.get_params()[choice.name]
    if choice.name == "network":
        hand = model.hidden != "auto" or said != "auto"
    else:
        hand = choice.name != "random_state" and said != default[choice.name]
    return choice._replace(why="given") if hand else choice


def _network(plan: Plan, many: str) -> tuple[str, str]:
    if isinstance(plan.build, ConvFactory):
        return "convolutions", "given"
    if isinstance(plan.build, MLPFactory):
        widths = ", ".join(map(str, plan.build.hidden))
        near = isinstance(plan.views, Neighbors)
        why = "enough to bring neighbours together" if near else f"for {many}"
        if _texts_alone(plan):
            why = "for texts; latent points have one length"
        return f"dense layers of {widths}", why
    return str(plan.build), "given"


def _components(plan: Plan) -> str:
    if isinstance(plan.views, Neighbors):
        return "as many as clusters, and at least 10"
    if _texts_alone(plan):
        return "as many as clusters, and at least 20 topics"
    return "as many as clusters, or as columns if those are fewer"


def _texts_alone(plan: Plan) -> bool:
    return isinstance(plan.build, MLPFactory) and plan.build.sphere


def _starts(plan: Plan) -> str:
    if plan.n_init == 1:
        return "more take as many times as long"
    if isinstance(plan.views, Neighbors):
        return "a second start tells how stable the clusters are"
    return "networks of this size train quickly; the best is kept"


_INIT = {
    "mixture": "finds clusters of unequal size and shape, which K-means would cut",
    "kmeans": "as in the paper; neighbours or one length make clusters round",
}


def _views(plan: Plan) -> tuple[str, str]:
    if not isinstance(plan.views, Neighbors):
        return "none", "too few rows in a cluster, or more than 200,000 rows"
    parts = [f"{plan.views.n_neighbors} neighbours"]
    if plan.views.n_steps is not None:
        parts.append(f"{plan.views.n_steps} steps")
    if isinstance(plan.views.alter, DropWords):
        parts.append(f"less {plan.views.alter.share:.0%} of their words")
        return ", ".join(parts), "texts with like words belong together"
    if isinstance(plan.views.alter, MoveImages):
        parts.append(f"moved by up to {plan.views.alter.shift:.2g} pixels")
        return ", ".join(parts), "images near each other belong together, moved or not"
    return ", ".join(parts), "rows near each other belong together"


def _noise(plan: Plan) -> tuple[str, str]:
    if plan.noise is None:
        return "none", "of use for texts and images without views"
    if isinstance(plan.noise.pretrain, MoveImages):
        pixels = f"{plan.noise.pretrain.shift:.2g} pixels"
        told = "an image is to be told wherever it lies"
        return f"moved by up to {pixels} in pre-training", told
    return "some words hidden", "a text is to be told from some of its words"


def _shape(plan: Plan) -> tuple[str, str]:
    if plan.shape is None:
        return "none", "rows are no images"
    sides = " x ".join(map(str, plan.shape))
    return sides, "images are near if a small move brings them together"


def _scale(rule: str) -> str:
    return {
        "standard": "columns in different units: each gets mean 0 and deviation 1",
        "common": "columns in like units: all are divided by one number",
        "rows": "texts: each gets length 1, as only its direction counts",
    }.get(rule, "given")


def _seed(state: Any) -> int | str:  # Any: scikit-learn's random state
    return state if isinstance(state, int) else "none"
