"""The README's Python runs as it stands there."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS)
def test_readme_python_runs(code: str) -> None:
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102
    assert {"DCN", "load"} & set(names)


def test_readme_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    local = [link for link in links if "://" not in link]
    assert local
    assert [link for link in local if not (README.parent / link).exists()] == []
