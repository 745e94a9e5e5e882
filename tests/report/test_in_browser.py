"""The page in a real browser: what a reader does with it, on a wide screen and on a phone.

Skipped without Playwright and Chromium; `make browser` installs the one and asks for the other.
SCREENSHOTS names a folder that keeps the pictures.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
import straightline as sl
from reports import rewritten
from straightline import report

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
DESKTOP, PHONE = (1280, 900), (390, 844)
HOSTILE = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"
TWO_FRAMES = "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install 'straightline[browser]'"
    )
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium, or name one in CHROMIUM")
    with sync_api.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a report; in the end nothing may have been complained of or asked for."""
    complaints, contexts = [], []

    def opened(found, size=DESKTOP, scheme="light"):
        path = tmp_path / "report.html"
        report.write(path, found, force=True)
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url.startswith(("file:", "data:")) or complaints.append(asked.url),
        )
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def keep(page, name, tmp_path):
    """A screenshot, in the folder that is asked for."""
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    page.screenshot(path=folder / f"{name}.png", full_page=True)
    assert (folder / f"{name}.png").stat().st_size > 20_000


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def drawn(page, side):
    """The labels of what is drawn, and of what is marked."""
    nodes = page.evaluate(
        f"views.{side}.cy.nodes().map((n) => [n.data('label'), n.hasClass('chosen')])"
    )
    labels = [label.replace("\n", " ") for label, _ in nodes]
    return labels, [label.replace("\n", " ") for label, chosen in nodes if chosen]


FOUND = rewritten()


def test_it_tells_the_verdict_and_what_is_left(opened):
    page = opened(FOUND)
    assert "proved" in page.inner_text("#verdict")
    assert page.title() == "decoder.onnx → flat.onnx"
    left = page.inner_text("#remarks")
    assert "Loop wait · left" in left
    assert "straightline rewrite decoder.onnx flat.onnx --set n=4" in left
    assert "unroll-loops" in page.inner_text("#numbers")


def test_the_box_of_a_loop_opens_and_the_ifs_inside_open_too(opened, tmp_path):
    page = opened(FOUND)
    loop = page.locator("#boxes-before details", has_text="decode").first
    assert "4 trips" in loop.inner_text() and "carried" not in loop.inner_text()
    loop.locator("summary").first.click()
    assert re.search(r"h\s+h0\s+h1\s+state", loop.inner_text())
    inner = loop.locator("details", has_text="decided by constants")
    inner.locator("summary").click()
    assert "then_branch" in inner.inner_text()
    loop.locator(".body .head button").first.click()
    assert drawn(page, "before")[0][:2] == ["Identity same", "MatMul project"]
    keep(page, "desktop", tmp_path)


def test_a_node_is_followed_from_before_to_after_and_back(opened):
    page = opened(FOUND)
    page.fill("#search", "project")
    page.locator("#found button", has_text="before").click()
    assert drawn(page, "before")[1] == ["MatMul project"]
    assert drawn(page, "after")[1] == [f"MatMul project_{trip}" for trip in range(4)]
    page.locator("#details .follow", has_text="project_2").click()
    assert drawn(page, "after")[1] == ["MatMul project_2"]
    told = page.inner_text("#details")
    assert "after · main graph" in told and "its name ends in _2" in told
    page.locator("#details .follow").click()
    assert "body of decode" in page.inner_text("#details")


def test_a_node_is_chosen_by_touching_it(opened):
    page = opened(FOUND)
    page.evaluate("views.after.canvas.scrollIntoView()")
    page.evaluate(TWO_FRAMES)  # by then the page has been told that it was scrolled
    spot = page.evaluate(
        "(() => { const n = views.after.cy.nodes().filter((n) => n.data('label').includes('wait'));"
        " const { x, y } = n.renderedPosition();"
        " const box = views.after.canvas.getBoundingClientRect();"
        " return [box.x + x, box.y + y]; })()"
    )
    page.mouse.click(*spot)
    assert "Loop wait" in page.inner_text("#details")


def spoken(page, side="before"):
    """What a screen reader is told of the graph."""
    return page.locator(f"#view-{side} [aria-live]").inner_text()


def press(page, *keys):
    for one in keys:
        page.keyboard.press(one)


def test_the_graph_is_walked_by_keyboard(opened, tmp_path):
    page = opened(FOUND)
    canvas = page.locator("#view-before .canvas")
    for _ in range(60):  # by Tab alone, as one without a mouse comes there
        press(page, "Tab")
        if canvas.evaluate("(c) => c === document.activeElement"):
            break
    assert canvas.evaluate("(c) => getComputedStyle(c).outlineStyle") == "solid"
    assert "main graph" in spoken(page) and "input h, 1 of 10" in spoken(page)
    press(page, "ArrowDown")
    assert spoken(page).startswith("Loop decode, 4 trips")
    assert "Enter opens it" in spoken(page)
    press(page, "ArrowUp")
    assert spoken(page).startswith("input ")
    heard = set()
    press(page, "Home")
    for _ in range(10):  # the right arrow alone comes to everything
        heard.add(spoken(page).partition(",")[0])
        press(page, "ArrowRight")
    assert len(heard) == 10 and {"Loop wait", "output y", "If y"} <= heard
    press(page, "End", "ArrowDown")
    assert spoken(page).startswith("nothing reads output ")
    press(page, "Home", "ArrowDown", "Space")
    assert "Loop decode" in page.inner_text("#details")
    page.evaluate(TWO_FRAMES)
    keep(page, "keyboard", tmp_path)
    press(page, "Enter")
    assert page.inner_text("#view-before .crumbs") == "main graph › body of decode"
    assert spoken(page).startswith("body of decode, ")
    press(page, "Home", "ArrowDown", "Enter")
    assert "body of decode" in page.inner_text("#details")
    press(page, "Escape")
    assert page.inner_text("#view-before .crumbs") == "main graph"
    assert spoken(page).startswith("Loop decode")
    press(page, "Tab")
    assert page.evaluate("views.before.cy.nodes('.at').length") == 0


def test_folded_parts_open_and_close_by_keyboard(opened):
    nodes = "\n".join(f"v{i + 1} = Neg (v{i})" for i in range(200))
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float v0) => (float v200) {{ {nodes} }}'
    page = opened(report.gather(sl.ir.parse(text), sl.ir.parse(text)))
    page.locator("#view-before .canvas").focus()
    press(page, "Home", "ArrowDown")
    assert spoken(page).startswith("nodes 1 to 30: 30 Neg, folded, ")
    press(page, "Enter", "ArrowDown", "ArrowDown")
    assert spoken(page).startswith("Neg v3")
    press(page, "Escape")
    assert spoken(page).startswith("nodes 1 to 30: 30 Neg, folded, ")
    assert "7 parts folded" in page.inner_text("#view-before .said")


def test_the_theme_follows_the_system_and_switches(opened):
    page = opened(FOUND, scheme="dark")
    dark = background(page)
    page.click("#theme")
    light = background(page)
    assert (dark, light) == ("rgb(20, 23, 26)", "rgb(247, 247, 245)")
    colour = page.evaluate("views.before.cy.nodes()[0].style('background-color')")
    page.click("#theme")
    assert background(page) == dark
    assert page.evaluate("views.before.cy.nodes()[0].style('background-color')") != colour


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_down_only(opened, tmp_path, scheme):
    page = opened(FOUND, PHONE, scheme)
    for box in page.locator("#boxes-before details > summary").all():
        box.click()
    page.fill("#search", "project")
    page.locator("#found button").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    keep(page, f"phone-{scheme}", tmp_path)


def test_a_large_graph_is_folded_and_opens(opened):
    nodes = "\n".join(f"v{i + 1} = Neg (v{i})" for i in range(20_000))
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float v0) => (float v20000) {{ {nodes} }}'
    model = sl.ir.parse(text)
    page = opened(report.gather(model, model))
    said = page.inner_text("#view-before .said")
    assert said.startswith("0 nodes of 20,000 drawn; 23 parts folded")
    page.fill("#search", "v12345")
    page.locator("#found button").first.click()
    labels, marked = drawn(page, "before")
    assert marked == ["Neg v12345"] and len(labels) < 100
    page.locator("#view-before .said button").click()
    assert len(drawn(page, "before")[0]) < 30


def test_no_name_runs_or_becomes_a_part_of_the_page(opened):
    text = '<ir_version: 8, opset_import: ["" : 17]>'
    text += " g (float x) => (float y) { a = Abs (x) y = Neg (a) }"
    proto = sl.ir.to_proto(sl.ir.parse(text))
    proto.graph.node[0].name = proto.graph.node[0].doc_string = HOSTILE
    proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = HOSTILE
    page = opened(report.gather(proto, proto, names=(HOSTILE, HOSTILE)))
    page.fill("#search", "script")
    page.locator("#found button").first.click()
    assert HOSTILE in page.inner_text("#details")
    assert page.evaluate("window.hurt") is None
    assert page.locator("img").count() == 0
