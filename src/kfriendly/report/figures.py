"""The paper's figures, drawn from arrays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from kfriendly.experiments.figures import Arrays, Figure
from kfriendly.report.spaces import COLOURS, Panel, draw_panel

_PANELS_A_LINE = 5


def draw_figure(figure: Figure, parts: dict[str, Arrays], path: Path) -> None:
    """Draw the parts that there are, as the figure's kind asks."""
    draw: dict[str, Callable[[Figure, dict[str, Arrays]], Canvas]] = {
        "spaces": _draw_spaces,
        "curves": _draw_curves,
        "bars": _draw_bars,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    draw[figure.kind](figure, parts).savefig(path, dpi=110)


def _draw_spaces(figure: Figure, parts: dict[str, Arrays]) -> Canvas:
    n_columns = min(_PANELS_A_LINE, len(parts))
    n_lines = -(-len(parts) // n_columns)
    canvas = Canvas(figsize=(3.2 * n_columns, 3.5 * n_lines), layout="constrained")
    axes = canvas.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax, (name, arrays) in zip(axes, parts.items(), strict=False):
        panel = Panel(name, arrays["points"], arrays["labels"])
        draw_panel(ax, panel, arrays["y"])
    for ax in axes[len(parts) :]:
        ax.axis("off")
    return canvas


def _draw_curves(figure: Figure, parts: dict[str, Arrays]) -> Canvas:
    canvas = Canvas(figsize=(6.4, 4.0), layout="constrained")
    ax = canvas.subplots()
    for name, arrays in parts.items():
        for score, colour in zip(("nmi", "ari", "acc"), COLOURS, strict=False):
            label = f"{name}, {score.upper()}"
            ax.plot(arrays["x"], arrays[score], "o-", ms=3, c=colour, label=label)
        _set_scale(ax, arrays["x"])
    ax.set_xlabel(figure.axis)
    ax.legend(frameon=False)
    return canvas


def _set_scale(ax: Any, x: np.ndarray) -> None:
    """Use powers of ten for values that span more than two of them."""
    if x.min() > 0 and x.max() / x.min() > 100:
        ax.set_xscale("log")


def _draw_bars(figure: Figure, parts: dict[str, Arrays]) -> Canvas:
    (arrays,) = parts.values()
    canvas = Canvas(figsize=(8.0, 3.2), layout="constrained")
    ax = canvas.subplots()
    ax.bar(arrays["names"], arrays["sizes"], color=COLOURS[0])
    ax.tick_params("x", rotation=60)
    ax.set_ylabel("documents")
    return canvas
