"""The page in a real browser: what a reader does with it, on a wide screen and on a phone.

Skipped without Playwright and Chromium; `make browser` installs the one and asks for the other.
SCREENSHOTS names a folder that keeps the pictures.
"""

import functools
import os
import re
import shutil
from pathlib import Path

import onnx
import pytest
import straightline as sl
from reports import DECODER, rewritten
from straightline import report

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
DESKTOP, PHONE = (1280, 900), (390, 844)
SIZES = (PHONE, (768, 1024), (1440, 900))
HOSTILE = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"
TWO_FRAMES = "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"
PARTS = ("Verdict", "Control flow", "Changes", "Graphs")
AXE = os.environ.get("AXE")
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


def part(page, title):
    """Show a part of the page."""
    page.locator("#tabs button", has_text=title).click()


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


def test_pages_show_verdict_and_residual_control_flow(opened):
    page = opened(FOUND)
    assert "proved" in page.inner_text("#verdict")
    assert page.title() == "decoder.onnx → flat.onnx"
    left = page.inner_text("#remarks")
    assert "Loop wait · left" in left
    assert "straightline rewrite decoder.onnx flat.onnx --set n=4" in left
    assert "unroll-loops" in page.inner_text("#numbers")


def test_the_box_of_a_loop_opens_and_the_ifs_inside_open_too(opened, tmp_path):
    page = opened(FOUND)
    part(page, "Control flow")
    loop = page.locator("#boxes-before details", has_text="decode").first
    assert "4 iterations" in loop.inner_text() and "carried" not in loop.inner_text()
    loop.locator("summary").first.click()
    page.evaluate(TWO_FRAMES)  # by then the box has been told that it opened
    assert re.search(r"h\s+h0\s+h1\s+state", loop.inner_text())
    inner = loop.locator("details", has_text="decided by constants")
    inner.locator("summary").click()
    page.evaluate(TWO_FRAMES)  # by then the box has been told that it opened
    assert "then_branch" in inner.inner_text()
    loop.locator(".body .head button").first.click()
    assert drawn(page, "before")[0][:2] == ["Identity same", "MatMul project B: float[4,4]"]
    keep(page, "desktop", tmp_path)


def test_a_node_is_followed_from_before_to_after_and_back(opened):
    page = opened(FOUND)
    page.fill("#search", "project")
    page.locator("#found button", has_text="before").click()
    weight = "B: float[4,4]"
    assert drawn(page, "before")[1] == [f"MatMul project {weight}"]
    assert drawn(page, "after")[1] == [
        f"MatMul project_{iteration} {weight}" for iteration in range(4)
    ]
    page.locator("#details .follow", has_text="project_2").click()
    assert drawn(page, "after")[1] == [f"MatMul project_2 {weight}"]
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
        " views.after.cy.center(n);"
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
    assert spoken(page).startswith("Loop decode, 4 iterations")
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
    assert page.inner_text("#view-before .said").startswith("60 nodes of 200 drawn; 5 parts folded")
    page.locator("#view-before .canvas").focus()
    press(page, "Home", "ArrowDown", "ArrowDown", "ArrowDown")
    assert spoken(page).startswith("Neg v3")
    press(page, "Escape")
    assert spoken(page).startswith("nodes 1 to 30: 30 Neg, folded, ")
    assert "6 parts folded" in page.inner_text("#view-before .said")
    press(page, "Enter", "ArrowDown")
    assert spoken(page).startswith("Neg v2")


def test_the_theme_follows_the_system_and_switches(opened):
    page = opened(FOUND, scheme="dark")
    dark = background(page)
    page.click("#theme")
    assert (dark, background(page)) == ("rgb(20, 23, 26)", "rgb(247, 247, 245)")
    colour = page.evaluate("views.before.cy.nodes()[0].style('background-color')")
    page.click("#theme")
    assert background(page) == dark
    assert page.evaluate("views.before.cy.nodes()[0].style('background-color')") != colour


HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
NET = """g (float[1, 3, 8, 8] x, float[4, 3, 3, 3] w) => (float[1, 4, 1, 1] z)
        <float[4] b = {1, 2, 3, 4}> {
    ["/enc/enc.0/Conv"] c = Conv <kernel_shape = [3, 3]> (x, w, b)
    ["/enc/enc.0/Relu"] r = Relu (c)
    ["/enc/Pad"] q = Neg (r)
    ["/head/Pool"] p = GlobalAveragePool (q)
    ["/head/Out"] z = Identity (p) }"""


@functools.cache
def versions():
    """Two versions of a model."""
    other = NET.replace("[3, 3]>", "[3, 3], pads = [1, 1, 1, 1]>").replace("3, 4}", "3, 5}")
    other = other.replace("q = Neg (r)", "a = Abs (r)\n q = Neg (a)")
    return report.gather(sl.ir.parse(HEAD + NET), sl.ir.parse(HEAD + other), names=("v1", "v2"))


@functools.cache
def wrong():
    """A rewrite with a fault in the second iteration, and its verdict."""
    before = sl.ir.parse(DECODER)
    proto = sl.ir.to_proto(sl.ir.load(sl.rewrite(before, values={"n": 2})))
    (node,) = [node for node in proto.graph.node if "g_1" in node.output]
    node.op_type = "Sigmoid"
    verdict = sl.verify(before, proto, bound={"n": 2}, runtime="reference")
    return report.gather(before, proto, verdict=verdict)


REPORTS = {"rewrite": lambda: FOUND, "versions": versions, "difference": wrong}


def unfold(page):
    """Open all that folds, and search."""
    for _ in range(4):  # boxes in boxes
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.evaluate(TWO_FRAMES)
    part(page, "Graphs")
    page.fill("#search", "a")
    press(page, "Enter")


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
def test_pages_fit_every_screen_and_have_no_barriers(opened, tmp_path, size, scheme, name):
    page = opened(REPORTS[name](), size, scheme)
    unfold(page)
    squeezed = """[...document.querySelectorAll('main *')].filter((e) => e.textContent.length > 8
        && !e.firstElementChild && e.checkVisibility() && e.getBoundingClientRect().width < 40
        && e.getBoundingClientRect().width > 1).map((e) => e.textContent)"""
    if AXE is not None:
        page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    for title in PARTS:
        part(page, title)
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        assert page.evaluate(squeezed) == []
        keep(page, f"{name}-{title}-{size[0]}-{scheme}", tmp_path)
        if AXE is not None:
            found = page.evaluate("axe.run(document)")["violations"]
            told = [(v["id"], n["target"], n["failureSummary"]) for v in found for n in v["nodes"]]
            assert told == []
    if AXE is None:
        pytest.skip("needs axe-core: make browser fetches it, AXE names the file")


def test_everything_is_reached_by_tab_and_opened_by_enter(opened):
    page = opened(FOUND)
    wanted = page.evaluate(
        "[...document.querySelectorAll('button, input, select, summary, [tabindex=\"0\"]')]"
        ".filter((e) => e.checkVisibility() && !e.hidden).length"
    )
    reached, names = 0, set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(wanted):
        press(page, "Tab")
        outline, tag, label = page.evaluate(
            "[getComputedStyle(document.activeElement).outlineStyle,"
            " document.activeElement.tagName, document.activeElement.textContent]"
        )
        assert outline != "none", (tag, label)
        reached += tag != "BODY"
        names.add(label)
    assert reached == wanted
    part(page, "Control flow")
    page.locator("#boxes-before summary").first.focus()
    press(page, "Enter")
    page.evaluate(TWO_FRAMES)
    assert "carried from iteration to iteration" in page.inner_text("#boxes-before")
    page.locator("#theme").focus()
    press(page, "Enter")
    assert background(page) == "rgb(20, 23, 26)"


def test_groups_fold_and_unfold_by_mouse(opened):
    page = opened(FOUND)
    labels = drawn(page, "after")[0]
    assert {"▾ Loop decode", "▾ iteration 2"} <= set(labels)
    spot = page.evaluate(
        "(() => { const { cy, canvas } = views.after; canvas.scrollIntoView();"
        " const n = cy.nodes().filter((n) => n.data('label') === '▾ iteration 2');"
        " cy.center(n); const { x1, y1 } = n.renderedBoundingBox();"
        " const { x, y } = canvas.getBoundingClientRect(); return [x + x1 + 12, y + y1 + 6]; })()"
    )
    page.evaluate(TWO_FRAMES)
    page.mouse.click(*spot)
    labels = drawn(page, "after")[0]
    assert "▸ iteration 2 MatMul, Add, Sigmoid" in labels and "Add shifted_2" not in labels
    page.click("#view-after .said button:has-text('fold all')")
    assert "▸ Loop decode 4 MatMul, 4 Add, 2 Tanh and 1 more kind" in drawn(page, "after")[0]
    page.click("#view-after .said button:has-text('unfold all')")
    assert "Add shifted_2" in drawn(page, "after")[0]


def test_groups_fold_and_unfold_by_keyboard(opened):
    page = opened(FOUND)
    page.locator("#view-after .canvas").focus()
    press(page, "Home")
    while "iteration 1" not in spoken(page, "after"):
        press(page, "ArrowRight")
    assert "open, " in spoken(page, "after") and spoken(page, "after").endswith("; Enter folds it")
    press(page, "Enter")
    assert "iteration 1: MatMul, Add, Tanh, folded" in spoken(page, "after")
    assert "Add shifted_1" not in drawn(page, "after")[0]
    press(page, "Enter")
    assert "Add shifted_1" in drawn(page, "after")[0]
    press(page, "Escape")
    assert "iteration 1: MatMul, Add, Tanh, folded" in spoken(page, "after")
    press(page, "Escape")
    assert spoken(page, "after").startswith("Loop decode: 4 MatMul")


def test_modules_are_a_way_to_fold(opened):
    page = opened(versions())
    assert "▾ enc.0" in drawn(page, "before")[0]
    page.select_option("#view-before select", "order")
    assert "▾ enc.0" not in drawn(page, "before")[0]


def test_enter_goes_through_what_the_search_finds(opened):
    page = opened(FOUND)
    page.fill("#search", "project")
    assert page.inner_text("#count") == "5 found"
    press(page, "Enter", "Enter")
    assert page.inner_text("#count") == "2 of 5"
    assert "project_0" in page.inner_text("#details .name")
    press(page, "Shift+Enter", "Shift+Enter")
    assert page.inner_text("#count") == "5 of 5"
    assert "project_3" in page.inner_text("#details .name")
    assert page.inner_text("#found [aria-current]").split() == ["after", "MatMul", "project_3"]
    assert page.evaluate("document.activeElement.id") == "search"
    press(page, "Escape")
    assert page.locator("#found li").count() == 0


def test_attributes_are_short_in_a_box_and_whole_in_the_details(opened):
    text = f"g (float[1] x) => (float[1] y) {{ y = Some <a = {list(range(100))}, b = 7> (x) }}"
    model = sl.ir.parse(HEAD.replace("]", ', "local" : 1]') + text.replace("Some", "local.Some"))
    page = opened(report.gather(model, model))
    (label,) = [label for label in drawn(page, "before")[0] if "local" in label]
    assert label.startswith("local::Some y a: [0, 1, 2") and label.endswith("b: 7")
    page.fill("#search", "Some")
    press(page, "Enter")
    page.click("#details .facts summary")
    assert "98, 99]" in page.inner_text("#details")


def test_a_difference_shows_values_of_both_sides(opened):
    page = opened(wrong())
    told = page.inner_text("#difference")
    assert "The first node whose values differ computes g_1: values at [0, " in told
    assert "Softmax g, iteration 1" in told and "float32[1, 4] " in told and " became " in told
    page.locator("#difference .follow", has_text="Sigmoid").click()
    assert "Sigmoid" in page.inner_text("#details .name")


def test_an_open_verdict_has_a_name(opened):
    one, other = (sl.ir.parse(HEAD + NET.replace("Neg", op)) for op in ("Neg", "Abs"))
    page = opened(report.gather(one, other, verdict=sl.verify(one, other, prove="only")))
    assert page.inner_text("#verdict b") == "not proved"
    assert "a rule that " in page.inner_text("#proof")


def test_two_versions_show_what_changed(opened):
    page = opened(versions())
    part(page, "Changes")
    told = page.inner_text("#changes")
    assert "1 added, 0 removed, 2 changed, 3 equal" in told
    assert re.search(r"pads\s+–\s+\[1, 1, 1, 1\]", told)
    assert re.search(r"input B b\s+\[1, 2, 3, 4\]\s+\[1, 2, 3, 5\]", told)
    page.locator("#changes .follow", has_text="Conv").click()
    assert drawn(page, "before")[1][0].startswith("~ Conv")
    assert drawn(page, "after")[1][0].startswith("~ Conv")
    assert any(label.startswith("+ Abs") for label in drawn(page, "after")[0])


def test_a_large_graph_is_folded_and_opens(opened):
    nodes = "\n".join(f"v{i + 1} = Neg (v{i})" for i in range(20_000))
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float v0) => (float v20000) {{ {nodes} }}'
    model = sl.ir.parse(text)
    page = opened(report.gather(model, model))
    said = page.inner_text("#view-before .said")
    assert said.startswith("30 nodes of 20,000 drawn; 51 parts folded")
    page.fill("#search", "v12345")
    page.locator("#found button").first.click()
    labels, marked = drawn(page, "before")
    assert marked == ["Neg v12345"] and len(labels) < 160
    page.locator("#view-before .said button").click()
    assert len(drawn(page, "before")[0]) < 30


def test_no_name_runs_or_becomes_a_part_of_the_page(opened):
    text = '<ir_version: 8, opset_import: ["" : 17]>'
    text += " g (float x) => (float y) { a = Abs (x) y = Neg (a) }"
    proto = sl.ir.to_proto(sl.ir.parse(text))
    proto.graph.node[0].name = proto.graph.node[0].doc_string = HOSTILE
    proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = HOSTILE
    node = proto.graph.node.add(op_type="Mine", domain=HOSTILE, input=[HOSTILE], output=["c"])
    node.attribute.append(onnx.helper.make_attribute("a", HOSTILE))
    node.name = f"{HOSTILE}/one"
    proto.graph.node.add(op_type="Exp", input=["c"], output=["d"], name=f"{HOSTILE}/two")
    proto.graph.node.add(op_type="Exp", input=["d"], output=["e"], name="three")
    proto.opset_import.add(domain=HOSTILE, version=1)
    other = onnx.ModelProto()
    other.CopyFrom(proto)
    other.graph.node[2].attribute[0].s += b"."
    page = opened(report.gather(proto, other, names=(HOSTILE, HOSTILE)))
    unfold(page)
    page.fill("#search", "script")
    page.locator("#found button").first.click()
    assert HOSTILE in page.inner_text("#details") and HOSTILE in page.inner_text("#changes")
    assert any(label.startswith("▾ ") for label in drawn(page, "before")[0])
    assert page.evaluate("window.hurt") is None
    assert page.locator("img").count() == 0
