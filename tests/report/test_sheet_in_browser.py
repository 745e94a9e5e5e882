"""A summary in a real browser: sorted and filtered by keyboard alone, on a wide screen and a phone.

Skipped without Playwright and Chromium, as the page of a report is.
"""

import dataclasses
import os
import shutil

import pytest
from straightline.report.sheet import Column, Sheet

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
HOSTILE = "</td><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>.onnx"
COLUMNS = (
    Column("name", "model", "name"),
    Column("status", "status", "status"),
    *(Column(f"n{n}", ("before", "after")[n % 2], "count", f"group {n // 2}") for n in range(8)),
    Column("why", "remaining control flow, with reasons, and what to do about each of them"),
)
NUMBERS = {"m10.onnx": 7, "m9.onnx": 12, HOSTILE: 100, "none.onnx": None}
ROWS = [(name, "proved", *[number] * 8, f"why {name}") for name, number in NUMBERS.items()]
SHEET = Sheet("4 models", COLUMNS, ROWS, ("4 models", None, *[119] * 8, None), [("models", "4")])


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    with sync_api.sync_playwright() as started:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync"]
        flags += ["--disable-background-networking", "--disable-component-update"]
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page; in the end nothing may have been complained of or asked for."""
    complaints = []

    def opened(width, scheme="light", sheet=SHEET):
        sheet.write(tmp_path / "s.html")
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda one: one.url[:5] in ("file:", "data:") or complaints.append(one))
        page.goto((tmp_path / "s.html").as_uri())
        return page

    yield opened
    assert complaints == []


def names(page):
    return page.evaluate("[...document.querySelectorAll('tbody th')].map((th) => th.innerText)")


def test_columns_sort_by_keyboard(opened):
    page = opened(1440)
    assert names(page) == list(NUMBERS)
    page.get_by_label("sort by group 0 after").focus()
    page.keyboard.press("Enter")
    assert names(page) == [HOSTILE, "m9.onnx", "m10.onnx", "none.onnx"]
    assert "sorted by group 0 after, largest first" in page.inner_text("#said")
    page.keyboard.press("Space")
    assert names(page) == ["m10.onnx", "m9.onnx", HOSTILE, "none.onnx"], "an empty cell is last"
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("after")
    page.get_by_label("sort by model", exact=True).press("Enter")
    assert names(page)[1:3] == ["m9.onnx", "m10.onnx"], "numbers within names count"
    page.get_by_label("Filter").fill("M9")
    assert names(page) == ["m9.onnx"] and "1 of 4 rows" in page.inner_text("#said")
    assert page.evaluate("window.hurt") is None


def test_many_rows_are_laid_out_when_asked_for(opened):
    page = opened(1440, sheet=dataclasses.replace(SHEET, rows=ROWS * 200))
    assert len(names(page)) == 500
    assert "800 of 800 rows, the first 500 shown" in page.inner_text("#said")
    page.get_by_label("Filter").fill("m9")
    assert len(names(page)) == 200 and not page.locator("#all").is_visible()
    page.get_by_label("Filter").fill("")
    page.get_by_role("button", name="show all 800 rows").press("Enter")
    assert len(names(page)) == 800


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(width, scheme, opened):
    page = opened(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width < 1240:
        page.locator("#column").select_option("3")
        assert names(page)[0] == HOSTILE
        page.get_by_role("button", name="other way round").press("Enter")
        assert names(page)[0] == "m10.onnx"
