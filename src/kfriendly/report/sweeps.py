"""The curves of a sweep over numbers of clusters."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kfriendly.report.spaces import COLOURS
from kfriendly.sweep import Sweep

_PANELS = {
    "stability": "stability over starts\n(higher is better)",
    "silhouette": "silhouette, pre-trained space\n(higher is better)",
    "cost": "share of variance within clusters\n(falls with K; look for the bend)",
}


def draw_sweep(sweep: Sweep, path: Path) -> None:
    """Draw stability, silhouette and cost by K, with a line at the suggestion."""
    figure = Figure(figsize=(11.5, 3.6), layout="constrained")
    numbers = [point.n_clusters for point in sweep.points]
    axes = figure.subplots(1, len(_PANELS))
    for ax, (name, title), colour in zip(axes, _PANELS.items(), COLOURS, strict=False):
        values = [getattr(point, name) for point in sweep.points]
        ax.plot(numbers, values, "o-", ms=4, c=colour)
        if sweep.suggestion is not None:
            ax.axvline(sweep.suggestion, c="0.6", ls="--", lw=1, zorder=0)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("number of clusters K")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylim(min(0.0, min(p.stability for p in sweep.points)), 1.02)
    if sweep.suggestion is not None:
        figure.suptitle(f"Suggestion: K = {sweep.suggestion}", fontsize=11)
    else:
        figure.suptitle("No number of clusters stands out", fontsize=11)
    figure.savefig(path, dpi=110)
