"""The report as one HTML file: nothing is fetched, nothing of the data is run."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from kfriendly.report.packing import script_json

# The order in which scripts are joined: each uses those before it.
_SCRIPTS = ("points.js", "map.js", "page.js")


def render_page(story: dict[str, Any]) -> str:
    """Draw a story as a page that opens from disk.

    Parameters
    ----------
    story : dict
        As `tell_story` returns it, or read back from JSON.

    Returns
    -------
    page : str
        HTML, to be written as UTF-8.
    """
    script = "\n".join(_read(name) for name in _SCRIPTS)
    page: str = _template().render(
        story=story,
        names=_names(story["cards"]),
        style=Markup(_read("page.css")),
        script=Markup(script),
        policy=_policy(script),
        points=Markup(script_json(_for_script(story))),
    )
    return page


def _for_script(story: dict[str, Any]) -> dict[str, Any]:
    """Keep what the map needs; the rest is in the page already."""
    groups = {card["cluster"]: card["name"] for card in story["cards"]}
    return {
        "map": story["map"],
        "noun": story["noun"],
        "clusters": [groups[k] for k in range(story["n_clusters"])],
        "slots": story["slots"],
        "classes": story["class_names"],
        "file": story["name"],
    }


def _names(cards: list[dict[str, Any]]) -> dict[int, str]:
    return {card["cluster"]: card["name"] for card in cards}


def _policy(script: str) -> str:
    """Allow our own script and no other, and no connection at all."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest())
    return (
        "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest.decode('ascii')}'; base-uri 'none'; "
        "form-action 'none'"
    )


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": _count,
        "score": _score,
        "percent": _percent,
        "duration": _duration,
    }
    return environment.from_string(_read("page.html.j2"))


def _read(name: str) -> str:
    return (files("kfriendly.report") / "template" / name).read_text(encoding="utf-8")


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _score(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def _percent(value: float) -> str:
    return f"{value:.1%}" if 0 < value < 0.1 else f"{value:.0%}"


def _duration(seconds: float) -> str:
    """Write seconds as one would say them.

    Examples
    --------
    >>> _duration(3.21), _duration(200), _duration(7500)
    ('3.2 s', '3 min 20 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
