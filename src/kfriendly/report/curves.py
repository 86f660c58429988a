"""Curves by epoch, as points in a box that the page draws."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kfriendly.training.history import EpochRecord

_WIDTH, _HEIGHT = 300.0, 120.0
_PHASES = {"layers": "layers", "pretrain": "pre-training", "joint": "joint training"}


class _Curve(NamedTuple):
    title: str
    value: Callable[[EpochRecord], Any]
    phases: tuple[str, ...]
    share: bool = False


_CURVES = (
    _Curve("Reconstruction loss", lambda r: r.reconstruction, ("pretrain", "joint")),
    _Curve("Clustering cost", lambda r: r.clustering, ("joint",)),
    _Curve("Labels that changed", lambda r: r.changed, ("joint",), share=True),
)


def make_curves(history: Sequence[EpochRecord]) -> list[dict[str, Any]]:
    """Draw what the history has: each curve with its axis and its phases."""
    curves = [_draw(curve, history) for curve in _CURVES]
    return [curve for curve in curves if curve is not None]


def _draw(curve: _Curve, history: Sequence[EpochRecord]) -> dict[str, Any] | None:
    found = [
        (record.phase, _scalar(curve.value(record)))
        for record in history
        if record.phase in curve.phases
    ]
    points = [(phase, value) for phase, value in found if np.isfinite(value)]
    if len(points) < 2:
        return None
    values = np.array([value for _, value in points])
    low, high = (0.0, float(values.max())) if curve.share else _limits(values)
    x = np.linspace(0.0, _WIDTH, len(values))
    y = _HEIGHT * (1.0 - np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0))
    return {
        "title": curve.title,
        "points": [
            [round(float(a), 1), round(float(b), 1)] for a, b in zip(x, y, strict=True)
        ],
        "phases": _phases([phase for phase, _ in points], x),
        "low": _label(low, curve.share),
        "high": _label(high, curve.share),
        "first": _label(float(values[0]), curve.share),
        "last": _label(float(values[-1]), curve.share),
        "epochs": len(values),
    }


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Leave out the first steep drop: it would press the rest of the curve flat."""
    low, high = float(values.min()), float(values.max())
    usual = float(np.percentile(values, 95))
    steep = high - low > 5 * (usual - low) and usual > low
    return low, (low + 1.5 * (usual - low)) if steep else high


def _phases(names: list[str], x: np.ndarray) -> list[dict[str, Any]]:
    starts = [i for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
    return [
        {"name": _PHASES.get(names[i], names[i]), "x": round(float(x[i]), 1)}
        for i in starts
    ]


def _label(value: float, share: bool) -> str:
    return f"{value:.1%}" if share else f"{value:.3g}"


def _scalar(value: Any) -> float:
    """Read the value of one start; some are only known in the joint phase."""
    return float("nan") if value is None else float(np.ravel(value)[0])
