import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from stories import EVIL, image_story, table_story, tell, text_story

from kfriendly.inputs import Batch
from kfriendly.report.packing import script_json
from kfriendly.report.page import _read, render_page

STORIES = [image_story, text_story, table_story]
# How colours look to people who lack one kind of cone: Machado and others, 2009.
VISIONS = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue cones": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


class Tags(HTMLParser):
    """Collects tags, their attributes, and what scripts hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("story", STORIES)
def test_page_text_of_the_data_stays_text(story: Any) -> None:
    tags = Tags(render_page(story())).tags
    assert [tag for tag, _ in tags].count("script") == 2
    assert not [tag for tag, _ in tags if tag in ("img", "iframe")]
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]


@pytest.mark.parametrize("story", STORIES)
def test_page_fetches_nothing(story: Any) -> None:
    tags = Tags(render_page(story())).tags
    for tag, attrs in tags:
        for name in ("src", "href"):
            assert (attrs.get(name) or "#").startswith(("#", "data:")), (tag, attrs)
    assert not re.search(r"@import|url\((?!\"data:)", render_page(story()))


def test_page_policy_allows_only_its_own_script() -> None:
    tags = Tags(render_page(text_story())).tags
    policy = next(a["content"] for t, a in tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("script-src")[1]


def test_page_is_the_same_for_a_story_read_back() -> None:
    told = table_story()
    assert render_page(json.loads(json.dumps(told))) == render_page(told)


def test_page_says_verdict_first() -> None:
    page = render_page(table_story())
    assert page.index('id="verdict"') < page.index('id="map"') < page.index('id="clus')


def test_script_json_cannot_end_its_script() -> None:
    text = script_json([EVIL, "<!--", "\u2028", "]]>"])
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == [EVIL, "<!--", "\u2028", "]]>"]


@pytest.mark.slow
def test_page_of_twenty_thousand_images_is_below_three_megabytes() -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (300, 28, 28)).astype(np.uint8)[
        rng.integers(300, size=20_500)
    ]
    X = rng.normal(size=(20_500, 4)).astype(np.float32)
    ids = [f"folder/image-{i:06d}.png" for i in range(20_500)]
    told = tell(X, Batch(images, ids, None), list("abcd"), 3, map_seconds=0.0)
    page = render_page(told)
    assert len(page.encode()) < 3_000_000
    assert "20,000 of 20,500 images" in page
    assert told["map"]["sheet"]["size"] >= 8


@pytest.mark.slow
def test_page_of_twenty_thousand_texts_is_below_three_megabytes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4)).astype(np.float32)
    texts = ["<é>" * 200] * 20_000
    batch = Batch(texts, [f"document {i}" for i in range(20_000)], None)
    told = tell(X, batch, list("abcd"), 3, map_seconds=0.0)
    assert len(render_page(told).encode()) < 3_000_000


def laboratory(colours: np.ndarray, vision: np.ndarray) -> np.ndarray:
    """Bring sRGB colours, as someone sees them, to CIELAB."""
    linear = np.where(
        colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4
    )
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.0721750],
            [0.0193339, 0.1191920, 0.9503041],
        ]
    )
    seen = np.clip(linear @ vision.T, 0, 1) @ to_xyz.T / [0.95047, 1.0, 1.08883]
    f = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    parts = 116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])
    return np.column_stack(parts)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", [0, 1])
def test_palette_is_told_apart_with_every_kind_of_vision(
    theme: int, vision: str
) -> None:
    found = re.findall(r"--c\d: #(\w{6})", _read("page.css"))
    assert len(found) == 20
    ten = found[10 * theme : 10 * theme + 10]
    rgb = np.array([[int(c[i : i + 2], 16) for i in (0, 2, 4)] for c in ten]) / 255
    lab = laboratory(rgb, VISIONS[vision])
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=-1) + 1e9 * np.eye(10)
    assert apart.min() > 18  # a difference of 2 to 3 can just be seen
