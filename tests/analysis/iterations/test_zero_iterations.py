import numpy as np
import onnx
import pytest
from harness import as_model, run_passes
from straightline import ir, reference
from straightline.analysis.iterations.zero_iterations import ScanElement, ScanElements
from straightline.passes import FoldShapes, SimplifySizes
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'


@table(
    ("float[2] a", "s = Neg (a)", "float[2] s", ScanElement(1, (2,))),
    ("float[2] a", "s = Neg (a)", "float[M] s", ScanElement(1, (2,))),
    ("float[2] a", "s = Neg (a)", "s", ScanElement(1, (2,))),
    ("float[N] a", "s = Neg (a)", "float[M] s", ScanElement(1, (0,))),
    ("a", "s = Neg (a)", "s", ScanElement(1, ())),
    ("a", "s = Neg (a)", "float[M] s", ScanElement(1, (0,))),
    ("float[N] a", "s = Add (a, w)", "s", ScanElement(1, (3,))),
    ("a", "s = Neg (w)", "s", ScanElement(1, (3,))),
    ("a", "s = Neg (v)", "s", ScanElement(1, (0,))),
    ("a", "s = Size (a)", "s", ScanElement(7, ())),
    ("a", "s = com.microsoft.Strange (a)", "float[4] s", ScanElement(1, (4,))),
    ("a", "s = com.microsoft.Strange (a)", "float s", ScanElement(1, ())),
    ("a", "s = com.microsoft.Strange (a)", "s", None),
)
def test_facts_without_iterations(state, node, output, element):
    text = f"""{HEAD}g (float[2] x, float[3] w, float[K] v) => (float[2] y, t) <int64 n = {{0}}> {{
        y, t = Loop (n, , x) <body = b (int64 i, bool c, {state}) => (bool c2, r, {output}) {{
            c2 = Identity (c) r = Relu (a) {node} }}> }}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    assert ScanElements(loop, model).of(2) == element
    if element is not None:
        assert element.none().dims == (0, *element.shape)
        assert element.none().elem_type == element.elem_type


def test_all_outputs_of_a_loop_are_asked_of_one():
    text = f"""{HEAD}g (float[2] x, float[K] v) => (t, u) <int64 n = {{0}}, bool yes = {{1}}> {{
        t, u = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2, M] r, s) {{
            c2 = Identity (c) k = Constant <value_ints = [1]> () r = Unsqueeze (x, k) s = Neg (v)
        }}>
    }}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    elements = ScanElements(loop, model)
    for index in (1, 2):
        assert elements.of(index) == ScanElements(loop, model).of(index)
    assert elements.of(1) == ScanElement(1, (2, 1))


SHAPED = """<ir_version: 8, opset_import: ["" : 18]>
g (float[4] x, {}) => (float[m, k] y) <bool yes = {{1}}, int64 two = {{2}}> {{
    _, y = Loop ({}, yes, x) <body = b (int64 i, bool c, float[s] v) =>
        (bool d, float[t] w, float[{}] e) {{
        d = Identity (c) w = Relu (v) sizes = Shape (v) e = {} }}> }}"""
ELEMENTS = ("ConstantOfShape (sizes)", "Reshape (w, sizes)", "Tile (w, sizes)")


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("rewriting", [FoldShapes(), SimplifySizes()])
def test_constants_in_a_body_keep_sizes_without_an_iteration(rewriting, element):
    """Of a state runtimes infer no shape, but of what a constant in the place of its shape sizes.
    Where the sizes are declared, or there is an iteration, the constant does no harm."""
    stays = as_model(SHAPED.format("int64 n", "n", "u", element))
    result = run_passes(stays, rewriting)
    for iterations in (0, 2):
        feeds = {"x": np.ones(4, np.float32), "n": np.array(iterations)}
        runs = [reference.run(each, feeds) for each in (stays, result.model)]
        assert [np.shape(each) for each in runs[0]] == [np.shape(each) for each in runs[1]]
    certain = SHAPED.format("int64 n", "two", "u", element)
    declared = SHAPED.format("int64 n", "n", 16 if "Tile" in element else 4, element)
    for text in (certain, declared):
        assert "sizes = Shape" not in onnx.printer.to_text(run_passes(text, rewriting).model)


@pytest.mark.parametrize("element", [*ELEMENTS, "Slice (x, two, sizes)"])
@pytest.mark.parametrize("rewriting", [FoldShapes(), SimplifySizes()])
def test_constants_in_the_body_of_a_scan_keep_sizes_without_an_element(rewriting, element):
    """The reference infers sizes from constants of the body, too."""
    scanned = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[4] x, float[n] r) => (float[m, k] y) {{
        y = Scan <num_scan_inputs = 1, body = b (float v) => (float[{}] e) {{
            sizes = Shape (x) two = Constant <value_ints = [2]> () e = {} }}> (r) }}"""
    model = as_model(scanned.format("u", element.replace("(w,", "(x,")))
    result = run_passes(model, rewriting)
    for length in (0, 2):
        feeds = {"x": np.ones(4, np.float32), "r": np.zeros(length, np.float32)}
        runs = [reference.run(each, feeds) for each in (model, result.model)]
        assert [np.shape(each) for each in runs[0]] == [np.shape(each) for each in runs[1]]
