"""The page in Debian's chromium, as a reader would use it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stories import image_story, table_story, text_story

from kfriendly.report.page import render_page

CHROMIUM = Path("/usr/bin/chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs chromium")

STORIES = {"images": image_story, "text": text_story, "table": table_story}


class Reader:
    """A page in the browser, with what went wrong while it was used."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        settings = {"viewport": {"width": 1280, "height": 900}, **options}
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._note_request)
        self.page.goto(path.as_uri())
        self.own = path.as_uri()

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith(("data:", "blob:", "file:")):
            self.wrong.append(request.url)

    def place(self, point: int) -> tuple[float, float]:
        """Return where a point is on the screen."""
        self.page.locator("#canvas").scroll_into_view_if_needed()
        box = self.page.locator("#canvas").bounding_box()
        x, y = self.page.evaluate(f"[screenX({point}), screenY({point})]")
        return box["x"] + x, box["y"] + y

    def alone(self) -> int:
        """Find a point with no other near, so that hovering is unambiguous."""
        return int(
            self.page.evaluate(
                """() => {
                  let best = 0, most = -1;
                  for (let i = 0; i < points.n; i++) {
                    let least = 1e9;
                    for (let j = 0; j < points.n; j++) {
                      const x = screenX(i) - screenX(j), y = screenY(i) - screenY(j);
                      if (j !== i) least = Math.min(least, Math.hypot(x, y));
                    }
                    if (least > most) { most = least; best = i; }
                  }
                  return best;
                }"""
            )
        )

    def status(self) -> str:
        return str(self.page.inner_text("#status"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        # Tests run as root in a container, where chromium's sandbox cannot.
        browser = driver.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, story in STORIES.items():
        text = render_page(story())
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in STORIES}


@pytest.fixture(params=STORIES)
def reader(
    request: pytest.FixtureRequest, browser: Any, pages: dict[str, Path]
) -> Iterator[Reader]:
    """Open each kind of page; nothing may go wrong in any test."""
    opened = Reader(browser, pages[request.param])
    yield opened
    opened.context.close()
    assert opened.wrong == []


@pytest.fixture
def table(browser: Any, pages: dict[str, Path]) -> Iterator[Reader]:
    opened = Reader(browser, pages["table"])
    yield opened
    opened.context.close()
    assert opened.wrong == []


def test_page_opens_without_running_what_the_data_says(reader: Reader) -> None:
    reader.page.mouse.move(*reader.place(0))
    reader.page.fill("#search", "hacked")
    reader.page.wait_for_timeout(250)
    assert reader.page.evaluate("typeof window.hacked") == "undefined"
    assert reader.page.locator("img").count() == 0


def test_hover_shows_the_row(reader: Reader) -> None:
    i = reader.alone()
    assert reader.page.locator("#tip").is_hidden()
    reader.page.mouse.move(*reader.place(i))
    tip = reader.page.locator("#tip")
    assert tip.is_visible()
    assert reader.page.evaluate(f"points.id({i})") in tip.inner_text()
    assert "confidence" in tip.inner_text()
    reader.page.mouse.move(2, 2)
    assert tip.is_hidden()


def test_hover_shows_the_picture(browser: Any, pages: dict[str, Path]) -> None:
    opened = Reader(browser, pages["images"])
    opened.page.mouse.move(*opened.place(opened.alone()))
    opened.page.wait_for_timeout(200)
    bright = opened.page.evaluate(
        """() => {
          const c = document.querySelector("#tip canvas");
          const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          return Math.max(...d.filter((_, i) => i % 4 === 0));
        }"""
    )
    assert bright > 100
    opened.context.close()


def test_hover_shows_text_and_values(browser: Any, pages: dict[str, Path]) -> None:
    # Twelve columns have room, the most telling first: flavanoids lead among wines.
    for name, part in {"text": "moon", "table": "flavanoids"}.items():
        opened = Reader(browser, pages[name])
        text = opened.page.evaluate(
            "[...Array(9).keys()].flatMap(describe).map(e => e.textContent).join(' ')"
        )
        assert part in text
        opened.context.close()


def test_click_on_a_point_isolates_its_cluster_and_escape_shows_all(
    reader: Reader,
) -> None:
    i = reader.alone()
    reader.page.mouse.click(*reader.place(i))
    cluster = reader.page.evaluate(f"points.cluster[{i}]")
    assert reader.page.evaluate("[...shown.isolated]") == [cluster]
    assert "of one group shown" in reader.status()
    pressed = reader.page.locator('#legend button[aria-pressed="true"]')
    assert pressed.locator("b").inner_text() == str(cluster)
    reader.page.keyboard.press("Escape")
    assert reader.status().startswith("All ")


def test_click_in_the_legend_isolates_and_control_adds(table: Reader) -> None:
    buttons = table.page.locator("#legend button")
    buttons.nth(1).click()
    buttons.nth(2).click(modifiers=["Control"])
    assert table.page.evaluate("[...shown.isolated]") == [1, 2]
    assert "2 groups" in table.status()
    buttons.nth(2).click(modifiers=["Control"])
    buttons.nth(1).click()
    assert table.page.evaluate("shown.isolated.size") == 0


def test_card_button_isolates_on_the_map(table: Reader) -> None:
    table.page.locator("#cluster-2 .isolate").click()
    assert table.page.evaluate("[...shown.isolated]") == [2]
    assert table.page.evaluate("document.activeElement.id") == "canvas"


def test_search_finds_ids_and_leads_to_the_row(table: Reader) -> None:
    table.page.fill("#search", 'QUOTED", 17')
    table.page.wait_for_selector("#status:has-text('match')")
    assert table.status() == "9 of 178 rows match."  # 17 and 170 to 177
    table.page.locator("#results button").first.click()
    assert '"quoted", 17' in table.page.inner_text("#tip")
    table.page.fill("#search", "no such row")
    table.page.wait_for_selector("#status:has-text('0 of 178')")
    assert table.page.locator("#save").is_disabled()


def test_search_finds_values_and_stays_text(table: Reader) -> None:
    table.page.fill("#search", "<script>window.hacked")
    table.page.wait_for_selector("#status:has-text('match')")
    assert table.status() == "36 of 178 rows match."


def draw_round_all(reader: Reader) -> None:
    reader.page.locator("#canvas").scroll_into_view_if_needed()
    box = reader.page.locator("#canvas").bounding_box()
    x, y, w, h = (box[k] for k in ("x", "y", "width", "height"))
    corners = [(3, 3), (w - 3, 3), (w - 3, h - 3), (3, h - 3)]
    reader.page.mouse.move(x + 3, y + 3)
    reader.page.mouse.down()
    for a, b in corners[1:]:
        reader.page.mouse.move(x + a, y + b, steps=4)
    reader.page.mouse.up()


def saved(reader: Reader) -> list[str]:
    with reader.page.expect_download() as waiting:
        reader.page.click("#save")
    assert waiting.value.suggested_filename.endswith("-ids.csv")
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    return text.splitlines()


def test_lasso_selects_and_saves_ids(reader: Reader) -> None:
    reader.page.click("#lasso")
    draw_round_all(reader)
    n = reader.page.evaluate("points.n")
    assert reader.status().startswith(f"{n} ")
    assert "selected" in reader.status()
    lines = saved(reader)
    assert lines[0] == "id,row,cluster,confidence"
    assert len(lines) == n + 1


def test_lasso_respects_isolation_and_csv_quotes_ids(table: Reader) -> None:
    table.page.locator("#legend button").nth(0).click()
    table.page.click("#lasso")
    draw_round_all(table)
    lines = saved(table)
    assert len(lines) - 1 == table.page.evaluate("groupings.cluster.groups[0].count")
    assert lines[1].startswith('"""quoted"", ')
    assert {line.split(",")[-2] for line in lines[1:]} == {"0"}


def test_copy_gives_ids_a_line_each(browser: Any, pages: dict[str, Path]) -> None:
    allowed = ["clipboard-read", "clipboard-write"]
    opened = Reader(browser, pages["text"], permissions=allowed)
    opened.page.locator("#legend button").first.click()
    opened.page.click("#copy")
    opened.page.wait_for_timeout(200)
    assert opened.page.inner_text("#copy") in ("Copied", "Not allowed here")
    opened.context.close()


def test_keys_walk_isolate_select_and_zoom(table: Reader) -> None:
    table.page.focus("#canvas")
    table.page.keyboard.press("ArrowRight")
    table.page.keyboard.press("ArrowRight")
    at = table.page.evaluate("shown.at")
    assert at >= 0
    assert table.page.evaluate(f"points.id({at})") in table.page.inner_text("#tip")
    assert table.page.inner_text("#spoken")
    table.page.keyboard.press("Space")
    assert table.status() == "1 rows selected."
    table.page.keyboard.press("Enter")
    assert table.page.evaluate("shown.isolated.size") == 1
    before = table.page.evaluate("view.scale")
    table.page.keyboard.press("+")
    assert table.page.evaluate("view.scale") > before
    table.page.keyboard.press("/")
    assert table.page.evaluate("document.activeElement.id") == "search"


def test_every_tool_can_be_reached_with_the_tab_key(table: Reader) -> None:
    reached = set()
    for _ in range(30):
        table.page.keyboard.press("Tab")
        reached.add(table.page.evaluate("document.activeElement.id"))
    assert {"search", "colour", "lasso", "in", "canvas", "save", "copy"} <= reached


def test_colour_by_confidence_and_label(table: Reader) -> None:
    table.page.select_option("#colour", "confidence")
    assert table.page.locator("#legend button").count() == 5
    table.page.select_option("#colour", "class")
    assert table.page.locator("#legend button").count() == 3


def test_drag_moves_the_map_and_fit_brings_it_back(table: Reader) -> None:
    x, y = table.place(0)
    before = table.page.evaluate("[view.left, view.top]")
    table.page.mouse.move(x, y)
    table.page.mouse.down()
    table.page.mouse.move(x + 40, y + 30, steps=3)
    table.page.mouse.up()
    moved = table.page.evaluate("[view.left, view.top]")
    shift = [b - a for a, b in zip(before, moved, strict=True)]
    assert shift == pytest.approx([40, 30], abs=0.01)
    assert table.page.evaluate("shown.isolated.size") == 0
    table.page.click("#fit")
    assert table.page.evaluate("[view.left, view.top]") == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_and_the_button_turns_it(
    scheme: Any, browser: Any, pages: dict[str, Path]
) -> None:
    opened = Reader(browser, pages["text"], color_scheme=scheme)
    wear = "document.documentElement.dataset.theme"
    assert opened.page.evaluate(wear) == scheme
    opened.page.click("#theme")
    assert opened.page.evaluate(wear) == ("light" if scheme == "dark" else "dark")
    assert opened.wrong == []
    opened.context.close()


@pytest.mark.parametrize("width", [360, 700, 1280])
def test_nothing_sticks_out_of_the_screen(
    width: int, browser: Any, pages: dict[str, Path]
) -> None:
    for path in pages.values():
        opened = Reader(browser, path, viewport={"width": width, "height": 800})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        opened.context.close()


def test_prints_light_with_rules_open(browser: Any, pages: dict[str, Path]) -> None:
    opened = Reader(browser, pages["table"], color_scheme="dark")
    opened.page.evaluate(
        "window.addEventListener('beforeprint', () => {"
        " window.printed = document.documentElement.dataset.theme; })"
    )
    assert len(opened.page.pdf()) > 10_000
    assert opened.page.evaluate("window.printed") == "light"
    assert opened.page.evaluate("document.querySelector('details').open")
    opened.context.close()


def test_policy_refuses_other_scripts(browser: Any, pages: dict[str, Path]) -> None:
    opened = Reader(browser, pages["text"])
    opened.page.evaluate(
        "() => { const s = document.createElement('script');"
        " s.textContent = 'window.hacked = 1'; document.body.append(s); }"
    )
    assert opened.page.evaluate("typeof window.hacked") == "undefined"
    assert any("Content Security Policy" in said for said in opened.wrong)
    opened.context.close()


def test_page_without_scripts_still_says_the_verdict(
    browser: Any, pages: dict[str, Path]
) -> None:
    opened = Reader(browser, pages["table"], java_script_enabled=False)
    assert opened.page.locator("#verdict-title").inner_text()
    assert opened.page.locator(".card").count() == 3
    opened.context.close()
