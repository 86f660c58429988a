"""The page of results: once as Markdown, once as HTML in a single file."""

import base64
import html
import re
from collections.abc import Sequence
from pathlib import Path

from kfriendly.report.tables import Section

TITLE = "The paper's tables and figures, and ours"
ABOUT = (
    "NMI, ARI and ACC: mean and deviation over seeds. SAE+KM and DCN of one seed share "
    "their pre-trained weights. The settings: `paper` is as printed, `authors` and "
    "`authors-2018` as the two released codes ran, `kfriendly` our defaults with the "
    "paper's objective, Eq. (4), `views` our defaults as they are, with neighbours. "
    "What each stands for: docs/paper-to-code.md."
)


def as_markdown(sections: Sequence[Section], folder: Path) -> str:
    """Write the page for a file in `folder`; pictures are linked."""
    parts = [f"# {TITLE}", ABOUT]
    for section in sections:
        parts.append(f"## {section.title}")
        if section.lines:
            rule = tuple("---" for _ in section.head)
            lines = (section.head, rule, *section.lines)
            parts.append("\n".join("| " + " | ".join(cells) + " |" for cells in lines))
        if section.picture:
            address = section.picture.relative_to(folder).as_posix()
            parts.append(f"![{section.title}]({address})")
        parts += section.notes
    return "\n\n".join(parts) + "\n"


def as_html(sections: Sequence[Section]) -> str:
    """Write the page as one file that needs nothing else; pictures lie within."""
    contents = "".join(
        f'<li><a href="#{s.key}">{html.escape(s.title)}</a></li>' for s in sections
    )
    body = "".join(map(_section, sections))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>{TITLE}</h1><p>{_prose(ABOUT)}</p><nav><ul>{contents}</ul></nav>{body}"
        "</main></body></html>\n"
    )


def _section(section: Section) -> str:
    parts = [f'<section id="{section.key}"><h2>{html.escape(section.title)}</h2>']
    if section.lines:
        rows = "".join(_row(line, section.head) for line in section.lines)
        head = "".join(f'<th scope="col">{cell}</th>' for cell in section.head)
        parts.append(
            '<div class="wide" tabindex="0"><table><thead><tr>'
            f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    if section.picture:
        data = base64.b64encode(section.picture.read_bytes()).decode()
        parts.append(
            f'<img alt="{html.escape(section.title)}" '
            f'src="data:image/png;base64,{data}">'
        )
    parts += [f"<p>{_prose(note)}</p>" for note in section.notes]
    return "".join([*parts, "</section>"])


def _row(line: Sequence[str], head: Sequence[str]) -> str:
    """Write a line of a table; that of DCN under our settings stands out."""
    stands_out = line[1] == "DCN" and line[2] in ("kfriendly", "views")
    ours = ' class="ours"' if stands_out else ""
    cells = "".join(
        f'<td class="{"text" if name in ("data", "method", "setting") else "number"}">'
        f"{html.escape(cell)}</td>"
        for name, cell in zip(head, line, strict=True)
    )
    return f"<tr{ours}>{cells}</tr>"


def _prose(text: str) -> str:
    """Escape a sentence; what stands between backticks becomes code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #667;
  --line: #dde; --mark: #eef4ff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ea; --paper: #15181c;
  --soft: #9aa; --line: #333a44; --mark: #1d2a3d; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
nav ul { columns: 2; padding-left: 1.2rem; } a { color: inherit; }
p { color: var(--soft); max-width: 46rem; } code { font-size: .9em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th { text-align: left; border-bottom: 2px solid var(--line); }
td, th { padding: .25rem .6rem; white-space: nowrap; }
td { border-bottom: 1px solid var(--line); }
td.number { font-variant-numeric: tabular-nums; }
tr.ours td { background: var(--mark); font-weight: 600; }
img { max-width: 100%; background: #fff; border-radius: 6px; }
@media (max-width: 40rem) { nav ul { columns: 1; } main { padding: 1rem; } }
@media print { nav { display: none; } section { break-inside: avoid; } }
"""
