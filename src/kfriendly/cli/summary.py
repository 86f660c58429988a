"""What is shown when a fit is done."""

from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from kfriendly.cli.screen import Screen, in_words

_COLOURS = {"trust": "bold green", "care": "bold yellow", "distrust": "bold red"}
_MOST_CLUSTERS = 20


def show_summary(
    out: Path, story: dict[str, Any], about: dict[str, Any], screen: Screen
) -> None:
    """Tell the verdict, the clusters and where all is written."""
    verdict = story["verdict"]
    lines = [Text(verdict["headline"], style=_COLOURS.get(verdict["level"], "bold"))]
    lines += [Text(f"- {reason}") for reason in verdict["reasons"]]
    lines += [Text(f"- {each['sentence']}") for each in verdict["comparisons"]]
    lines += [Text(f"- {sentence}") for sentence in _known_classes(verdict["scores"])]
    seconds = in_words(about["outcome"]["seconds"])
    shown = Group(
        "",
        *lines,
        "",
        _clusters(story["cards"]),
        "",
        Text(f"Trained in {seconds}. Look at {out / 'report.html'}; all is in {out}."),
    )
    screen.result(
        shown,
        run=str(out),
        report=str(out / "report.html"),
        verdict=verdict,
        outcome=about["outcome"],
        data=about["data"],
    )


def _known_classes(scores: list[dict[str, Any]]) -> list[str]:
    """Say how near the clusters come to known classes, if there are any."""
    dcn, *others = scores
    if dcn.get("nmi") is None:
        return []
    said = [f"{each['method']} {each['nmi']:.2f}" for each in others]
    return [
        f"Known classes, not used in training: NMI {dcn['nmi']:.2f} "
        f"({', '.join(said)}), ARI {dcn['ari']:.2f}, accuracy {dcn['acc']:.2f}."
    ]


def _clusters(cards: list[dict[str, Any]]) -> Table:
    """List the clusters, the largest first."""
    table = Table(box=None, pad_edge=False)
    table.add_column("cluster", justify="right")
    table.add_column("rows", justify="right")
    table.add_column("share", justify="right")
    named = any(card.get("name") for card in cards)  # images have no words
    table.add_column("what sets it apart" if named else "", overflow="fold")
    for card in cards[:_MOST_CLUSTERS]:
        table.add_row(
            str(card["cluster"]),
            f"{card['size']:,}",
            f"{card['share']:.1%}",
            Text(str(card.get("name", ""))),
        )
    if len(cards) > _MOST_CLUSTERS:
        table.add_row("...", "", "", f"{len(cards) - _MOST_CLUSTERS} more")
    return table
