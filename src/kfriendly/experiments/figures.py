"""The paper's figures: what each shows, as arrays; `report` draws them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from kfriendly.baselines import DEC, make_embedding
from kfriendly.datasets import Dataset, load
from kfriendly.datasets.rcv1_like import CLASS_SIZES
from kfriendly.datasets.synthetic import draw_latent
from kfriendly.estimator import DCN
from kfriendly.experiments.base import some_rows
from kfriendly.metrics import acc, ari, nmi

Arrays = dict[str, np.ndarray]
Part = Callable[[int | None], Arrays]  # takes the number of rows for a quick look

_MOST_POINTS = 3_000  # in a picture
SEED = 1  # of data and training: the first draw, not picked


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Parameters
    ----------
    key : str
        Name on the command line.
    title : str
    kind : {"spaces", "curves", "bars"}
        How it is drawn.
    parts : dict
        What is computed for each panel or curve, one by one, so that a run resumes.
    axis : str
        What the curves run over.
    note : str
        What a reader must know of ours.
    """

    key: str
    title: str
    kind: Literal["spaces", "curves", "bars"]
    parts: dict[str, Part]
    axis: str = ""
    note: str = ""


class ScoreEpochs:
    """A callback of scikit-learn that scores the clusters after each joint epoch."""

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self.scores: list[tuple[float, float, float]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Take no notice of the beginning."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Take no notice of the end."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Take no notice of a task's beginning."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, fitted_estimator: Any = None
    ) -> None:
        """Score the model as it is after an epoch."""
        if fitted_estimator is not None:
            self.add(fitted_estimator.predict(self._data.X))

    def add(self, labels: np.ndarray) -> None:
        """Score these labels."""
        y = self._data.y
        self.scores.append((nmi(y, labels), ari(y, labels), acc(y, labels)))

    def curve(self, x: Any) -> Arrays:
        """Return all scores over `x`."""
        scores = np.array(self.scores)
        names = ("nmi", "ari", "acc")
        return {"x": np.asarray(x)} | {n: scores[:, i] for i, n in enumerate(names)}


def _space(H: np.ndarray, labels: np.ndarray, y: np.ndarray) -> Arrays:
    """Keep some points of a plane, and how well all of them are clustered."""
    some = np.random.RandomState(0).permutation(len(y))[:_MOST_POINTS]
    return {
        "points": np.asarray(H, dtype=np.float32)[some],
        "labels": np.asarray(labels)[some],
        "y": y[some],
        "nmi": np.array(nmi(y, labels)),
    }


def _kmeans(H: np.ndarray, K: int) -> np.ndarray:
    return np.asarray(KMeans(K, n_init=10, random_state=SEED).fit_predict(H))


def _synthetic(equation: int, rows: int | None) -> Dataset:
    n_per_cluster = 2_500 if rows is None else max(1, rows // 4)
    name = f"synthetic-{equation}"
    return load(name, n_per_cluster=n_per_cluster, random_state=SEED)


def _true_space(equation: int, rows: int | None) -> Arrays:
    data = _synthetic(equation, rows)
    H, y = draw_latent(len(data.y) // 4, check_random_state(SEED))
    return _space(H, _kmeans(H, 4), y)


def _embedded(method: str, equation: int, rows: int | None) -> Arrays:
    data = _synthetic(equation, rows)
    params = {} if method == "LLE" else {"random_state": SEED}
    H = make_embedding(method, 2, **params).fit_transform(data.X)
    return _space(H, _kmeans(H, 4), data.y)


def _learned(kind: str, equation: int, rows: int | None) -> Arrays:
    """Learn a plane: SAE, DEC, DCN with or without reconstruction."""
    data = _synthetic(equation, rows)
    if kind == "DEC":
        dec = DEC(4, n_components=2, random_state=SEED).fit(data.X)
        return _space(dec.transform(data.X), dec.labels_, data.y)
    further: dict[str, dict[str, Any]] = {
        "SAE": {"max_epochs": 0},
        "DCN w/o reconstruction": {"loss": "none"},
        "DCN": {},
    }
    params = {"n_components": 2, "n_init": 16, **further[kind]}
    dcn = DCN(4, views=None, random_state=SEED, **params).fit(data.X)
    return _space(dcn.transform(data.X), dcn.labels_, data.y)


def _spaces(equation: int) -> dict[str, Part]:
    embedded = ("NMF", "LLE", "LapEig", "PCA")
    learned = ("DEC", "DCN w/o reconstruction", "SAE", "DCN")
    parts: dict[str, Part] = {"true latent": partial(_true_space, equation)}
    parts |= {name: partial(_embedded, name, equation) for name in embedded}
    return parts | {name: partial(_learned, name, equation) for name in learned}


def _rcv1_4(rows: int | None) -> Dataset:
    return some_rows(load("rcv1-sample", n_clusters=4), rows)


def _class_sizes(rows: int | None) -> Arrays:
    return {
        "sizes": np.array(list(CLASS_SIZES.values())),
        "names": np.array([*CLASS_SIZES]),
    }


def _by_epoch(params: dict[str, Any], rows: int | None) -> Arrays:
    """Score DCN on four classes of RCV1's sample after every joint epoch."""
    data = _rcv1_4(rows)
    scores = ScoreEpochs(data)
    dcn = DCN(4, n_init=1, views=None, random_state=SEED, **params).set_callbacks(
        scores
    )
    dcn.fit(data.X)
    return scores.curve(1 + np.arange(len(scores.scores)))


def _tsne(kind: str, rows: int | None) -> Arrays:
    """Lay out RCV1-4 by t-SNE: the data, or what was learned from it."""
    data = _rcv1_4(rows)
    if kind == "raw data":
        H = data.X.toarray()
        labels = _kmeans(H, 4)
    elif kind == "DEC":
        dec = DEC(4, random_state=SEED).fit(data.X)
        H, labels = dec.transform(data.X), dec.labels_
    else:
        params: dict[str, Any] = {"max_epochs": 0} if kind == "DCN, start" else {}
        dcn = DCN(4, n_init=1, views=None, random_state=SEED, **params).fit(data.X)
        H, labels = dcn.transform(data.X), dcn.labels_
    plane = make_embedding("t-SNE", 2, random_state=SEED).fit_transform(H)
    return _space(plane, labels, data.y)


def _by_lambda(rows: int | None) -> Arrays:
    """Score DCN on MNIST for values of lambda around the default."""
    data = some_rows(load("mnist", part="test"), rows)
    factors = np.array([0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0])
    scores = ScoreEpochs(data)
    auto = DCN(10, max_epochs=0, views=None, random_state=SEED).fit(data.X).lam_
    for factor in factors:
        dcn = DCN(10, lam=auto * factor, views=None, random_state=SEED)
        scores.add(dcn.fit_predict(data.X))
    return scores.curve(factors)


_SAMPLE = "On the real sample of 487 documents of these classes, not on all 178,603."

FIGURES = {
    figure.key: figure
    for figure in (
        Figure("fig1", "Figure 1: planes recovered from Eq. (9)", "spaces", _spaces(9)),
        Figure(
            "supp-fig1",
            "Supplementary Figure 1: planes recovered from Eq. (10)",
            "spaces",
            _spaces(10),
        ),
        Figure(
            "supp-fig2",
            "Supplementary Figure 2: planes recovered from Eq. (11)",
            "spaces",
            _spaces(11),
        ),
        Figure(
            "fig4",
            "Figure 4: sizes of the 20 classes of RCV1-v2",
            "bars",
            {"sizes": _class_sizes},
        ),
        Figure(
            "fig5a",
            "Figure 5a: scores by epoch of joint training, RCV1-4",
            "curves",
            {"DCN": partial(_by_epoch, {"init": "kmeans"})},
            "epoch",
            _SAMPLE,
        ),
        Figure(
            "fig5b",
            "Figure 5b: t-SNE of RCV1-4",
            "spaces",
            {
                kind: partial(_tsne, kind)
                for kind in ("raw data", "DEC", "DCN, start", "DCN")
            },
            note=_SAMPLE,
        ),
        Figure(
            "fig6",
            "Figure 6: scores by lambda, MNIST's test images",
            "curves",
            {"DCN": _by_lambda},
            "lambda over its default",
            "10,000 images, where the paper has 70,000.",
        ),
        Figure(
            "supp-fig3",
            "Supplementary Figure 3: the autoencoder alone, by epoch, RCV1-4",
            "curves",
            {
                "SAE": partial(
                    _by_epoch, {"init": "kmeans", "lam": 0.0, "refresh_every": 1}
                )
            },
            "epoch",
            _SAMPLE,
        ),
    )
}
