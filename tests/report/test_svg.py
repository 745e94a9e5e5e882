import xml.etree.ElementTree as ET

import pytest
import straightline as sl
from reports import DECODER
from straightline import report

MODEL = sl.ir.parse(DECODER)
SPACE = "{http://www.w3.org/2000/svg}"


def drawn(model):
    """The lines of text, and the boxes as (class, x, y, right, bottom)."""
    root = ET.fromstring(report.control_flow_svg(model))
    texts = [element.text for element in root.iter(f"{SPACE}text")]
    boxes = []
    for rect in root.iter(f"{SPACE}rect"):
        if rect.get("rx"):
            x, y, width, height = (int(rect.get(name)) for name in ("x", "y", "width", "height"))
            boxes.append((rect.get("class"), x, y, x + width, y + height))
    return texts, boxes, root


def test_every_construct_tells_how_often_it_runs_and_what_it_carries():
    texts, _, _ = drawn(MODEL)
    start = texts.index("Loop decode")
    assert texts[start : start + 4] == [
        "Loop decode",
        "4 iterations",
        "carries h0 (h first)",
        "body",
    ]
    assert "decided by input 'n'" in texts and "stacks rows" in texts
    assert texts[-2:] == ["function local::gate", "2 nodes: Erf, Mul"]


def test_boxes_lie_within_each_other_and_within_the_picture():
    _, boxes, root = drawn(MODEL)
    kinds = [kind for kind, *_ in boxes]
    assert kinds.count("loop") == 2 and kinds.count("if") == 2 and kinds.count("call") == 1
    for one in boxes:
        assert one[3] <= int(root.get("width")) and one[4] <= int(root.get("height"))
        for other in boxes:
            inside = one[1] <= other[1] and other[3] <= one[3]
            apart = other[2] >= one[4] or other[4] <= one[2]
            within = one[2] <= other[2] and other[4] <= one[4]
            around = other[2] <= one[2] and one[4] <= other[4]
            assert apart or around or (inside and within)


def test_pictures_are_readable_in_light_and_dark():
    assert "prefers-color-scheme:dark" in report.control_flow_svg(MODEL)


def test_a_model_without_control_flow_is_one_box():
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y) { y = Abs (x) }'
    texts, boxes, _ = drawn(sl.ir.parse(text))
    assert texts == ["main graph", "1 node: Abs"] and len(boxes) == 1


@pytest.mark.parametrize("name", ["</text><script>", "a&b\x07\ud800 ]]>", "名前" * 40])
def test_names_are_text(name):
    model = sl.ir.parse(DECODER)
    next(node for node in model.graph.nodes() if node.name == "decode").name = name
    texts, _, _ = drawn(model)
    assert sum(line.startswith("Loop") for line in texts) == 2


def test_drawings_have_a_limit_and_say_so():
    ifs = "\n".join(
        f"y{i} = If (c) <then_branch = t{i} () => (float a{i}) {{ a{i} = Abs (x) }},"
        f" else_branch = e{i} () => (float b{i}) {{ b{i} = Neg (x) }}>"
        for i in range(400)
    )
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float x, bool c) => (float y9) {{ {ifs} }}'
    texts, boxes, _ = drawn(sl.ir.parse(text))
    assert "more than 300 boxes; the rest is not drawn" in texts
    assert sum(kind == "if" for kind, *_ in boxes) == 300


def test_a_picture_is_written_and_replaces_only_a_picture(tmp_path):
    path = tmp_path / "flow.svg"
    report.write_svg(path, MODEL)
    report.write_svg(path, MODEL)
    path.write_text("<svg>mine</svg>")
    with pytest.raises(sl.ir.SaveError, match="not a picture of control flow"):
        report.write_svg(path, MODEL)
    report.write_svg(path, MODEL, force=True)
    assert path.read_text(encoding="utf-8").startswith("<svg xmlns")
