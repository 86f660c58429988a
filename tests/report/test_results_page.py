"""The page of results, as Markdown and as HTML."""

from html.parser import HTMLParser
from pathlib import Path

from kfriendly.experiments import TABLES
from kfriendly.experiments.results import Row
from kfriendly.report.results import as_html, as_markdown
from kfriendly.report.tables import HEAD, Section, table_section

LINE = ("all", "DCN", "kfriendly", ".8 ± .1", ".7", ".9", "3", "12", "", ".81/.75/.83")


def _sections(folder: Path) -> list[Section]:
    picture = folder / "figures" / "fig1.png"
    picture.parent.mkdir()
    picture.write_bytes(b"\x89PNG not really")
    return [
        Section("table3", "Table 3: <MNIST>", HEAD, (LINE,), notes=("Run `it`.",)),
        Section("fig1", "Figure 1", picture=picture),
    ]


def test_markdown_has_tables_and_links_pictures(tmp_path: Path) -> None:
    page = as_markdown(_sections(tmp_path), tmp_path)
    assert "| all | DCN | kfriendly | .8 ± .1 |" in page
    assert "![Figure 1](figures/fig1.png)" in page


def test_html_stands_alone_and_escapes(tmp_path: Path) -> None:
    page = as_html(_sections(tmp_path))
    assert "Table 3: &lt;MNIST&gt;" in page and "<code>it</code>" in page
    assert "data:image/png;base64," in page
    addresses = _addresses(page)
    assert all(a.startswith(("#", "data:")) for a in addresses) and len(addresses) == 3
    assert page.count('class="ours"') == 1


def test_columns_that_nothing_fills_are_left_out() -> None:
    row = Row(
        experiment="beyond",
        case="digits",
        method="KM",
        setting="",
        seed=0,
        rows=None,
        nmi=0.7,
        ari=0.6,
        acc=0.8,
        seconds=1.0,
        commit="abc",
        versions={},
    )
    section = table_section(TABLES["beyond"], [row])
    assert section.head == HEAD[:-2]  # neither memory nor the paper's scores
    assert section.lines == (("digits", "KM", "", "0.700", "0.600", "0.800", "1", "1"),)
    weighed = table_section(TABLES["beyond"], [row, row._replace(megabytes=9)])
    assert weighed.head == HEAD[:-1] and weighed.lines[0][-1] == "9"


def _addresses(page: str) -> list[str]:
    """List everything the page points to."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(
            self, tag: str, attrs: list[tuple[str, str | None]]
        ) -> None:
            found.extend(v for k, v in attrs if k in ("href", "src") and v)

    Reader().feed(page)
    return found
