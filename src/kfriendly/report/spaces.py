"""A picture of spaces side by side: how clusters lie in each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA
from sklearn.metrics.cluster import contingency_matrix

from kfriendly.metrics import nmi

# Okabe and Ito's colours, told apart with every kind of colour vision; two greys more.
COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"),
    *("#D55E00", "#F0E442", "#7A5195", "#999999", "#5D4037"),
)
_MOST_POINTS = 4_000


class Panel(NamedTuple):
    """One space: where the samples lie in it and which cluster each was given."""

    title: str
    space: np.ndarray  # (n, any)
    labels: np.ndarray  # (n,)


def draw_spaces(rows: Sequence[tuple[Sequence[Panel], np.ndarray]], path: Path) -> None:
    """Draw rows of panels, one row a data set, with its known classes.

    A sample has the colour of the class its cluster stands for; one that is in the
    wrong cluster is a black cross. Spaces of more than two dimensions are shown by
    their first two principal components.
    """
    n_columns = max(len(panels) for panels, _ in rows)
    figure = Figure(figsize=(4.6 * n_columns, 4.6 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), n_columns, squeeze=False)
    for line, (panels, classes) in zip(axes, rows, strict=True):
        for ax, panel in zip(line, panels, strict=False):
            draw_panel(ax, panel, classes)
    figure.savefig(path, dpi=110)


def draw_panel(ax: Any, panel: Panel, classes: np.ndarray) -> None:
    """Draw one space on the axes `ax`."""
    stands_for = _class_of_each_cluster(classes, panel.labels)
    given = np.array([stands_for[label] for label in panel.labels])
    wrong = given != classes
    points = _plane(panel.space)
    some = np.random.RandomState(0).permutation(len(points))[:_MOST_POINTS]
    for part, style in (
        (some[~wrong[some]], {"s": 7, "linewidths": 0}),
        (some[wrong[some]], {"s": 11, "marker": "x", "c": "black", "linewidths": 0.7}),
    ):
        colours = {} if "c" in style else {"c": [COLOURS[g % 10] for g in given[part]]}
        ax.scatter(*points[part].T, alpha=0.75, **style, **colours)
    score = nmi(classes, panel.labels)
    ax.set_title(f"{panel.title}\nNMI {score:.2f}, {wrong.mean():.1%} misplaced")
    ax.set_xticks([])
    ax.set_yticks([])


def _class_of_each_cluster(classes: np.ndarray, labels: np.ndarray) -> dict[int, int]:
    """Map clusters to classes one to one; a surplus cluster stands for none, -1."""
    counts = contingency_matrix(classes, labels)
    matched = dict(zip(*linear_sum_assignment(-counts.T), strict=True))
    names = np.unique(classes)
    return {
        int(label): int(names[matched[i]]) if i in matched else -1
        for i, label in enumerate(np.unique(labels))
    }


def _plane(space: np.ndarray) -> np.ndarray:
    if space.shape[1] == 2:
        return space
    return np.asarray(PCA(2, random_state=0).fit_transform(space))
