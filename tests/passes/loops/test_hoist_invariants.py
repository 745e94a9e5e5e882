import numpy as np
import onnx
from harness import as_model, assert_equal, assert_rewrites, run_in_onnxruntime, run_passes
from loops import op_types
from sessions import by_reference
from straightline import reference
from straightline.passes import HoistInvariants, Pipeline, straighten
from tables import table

FEED = {"x": np.array([1, -2], np.float32), "w": np.array([3, 4], np.float32)}


def hoisted(text, *feeds):
    """The operators around the first node that holds a body, and those in the body."""
    result = run_passes(text, HoistInvariants(), feeds=feeds)
    graph = result.model.graph
    holder = next(node for node in graph.node if node.op_type in ("Loop", "Scan", "If"))
    outside = [node.op_type for node in graph.node]
    return outside, [n for attribute in holder.attribute for n in op_types(attribute.g)], result


def loop(body, declared="", inputs="float[2] x, float[2] w, int64 n"):
    return f"""g ({inputs}) => (float[2] y) {declared} {{
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
            c2 = Identity (c) {body} }}> }}"""


def test_out_of_a_loop():
    before = loop("e = Exp (w) f = Neg (e) r = Mul (a, f)")
    after = """g (float[2] x, float[2] w, int64 n) => (float[2] y) {
        e = Exp (w)
        f = Neg (e)
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c)
            r = Mul (a, f) }> }"""
    feeds = [{**FEED, "n": np.array(n)} for n in (0, 3)]
    assert_rewrites(HoistInvariants(), before, after, feeds)


def test_out_of_a_scan():
    text = """g (float[2] x, float[N, 2] s, float[2] w) => (float[2] y, float[N, 2] z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e)
                => (float[2] r, float[2] t) { k = Exp (w) r = Mul (a, k) t = Add (e, k) }> (x, s)
    }"""
    feeds = [{**FEED, "s": np.ones((n, 2), np.float32)} for n in (0, 3)]
    outside, inside, result = hoisted(text, feeds[1])
    assert (outside, inside) == (["Exp", "Scan"], ["Mul", "Add"])
    # onnxruntime fails on a Scan of length 0.
    for one, other in zip(
        *(by_reference(m, feeds[0]) for m in (as_model(text), result.model)), strict=True
    ):
        assert_equal(one, other)


UNCERTAIN = """g (float[4] w, float[{}] s, int64[1] l) => (float[a, b] z) <int64[1] o = {{0}}> {{
    z = Scan <num_scan_inputs = 1, body = b (float e) => (float[{}] t) {{
        p = Constant <value_ints = [-1, 2]> () c = Slice (w, o, l) k = Neg (c) r = Reshape (k, p)
        v = Reshape (w, p) t = {} }}> (s) }}"""


@table(
    ("3", "m", "Mul (k, e)", True),
    ("N", "m", "Mul (k, e)", False),
    ("N", "b", "Mul (k, e)", False),
    ("N", "m, 2", "Mul (r, e)", False),
    ("N", "m, 2", "Mul (v, e)", True),
)
def test_sizes_of_a_scan_without_an_element_stay(length, declared, element, moves):
    """The reference infers them from the sizes of captured values and from constants inside."""
    text = UNCERTAIN.format(length, declared, element)
    if "," in declared:
        text = text.replace("float[a, b] z", "float[a, b, d] z")
    feeds = {"w": FEED["w"].repeat(2), "l": np.array([2])}
    outside, _, result = hoisted(text)
    assert (len(outside) > 1) is moves
    for count in (0, 3):
        feeds["s"] = np.ones(count, np.float32)
        if length != "3" or count == 3:
            runs = [by_reference(m, feeds) for m in (as_model(text), result.model)]
            assert_equal(*[outputs[0] for outputs in runs])


def test_out_of_all_loops_around():
    inner = """r = Loop (n, , a) <body = bb (int64 j, bool d, float[2] p) => (bool d2, float[2] q) {
        d2 = Identity (d) e = Exp (w) h = Tanh (a) q0 = Mul (p, e) q = Add (q0, h)
    }>"""
    outside, inside, _ = hoisted(loop(inner), *[{**FEED, "n": np.array(n)} for n in (0, 2)])
    assert outside == ["Exp", "Loop"]
    assert inside == ["Identity", "Tanh", "Loop", "Identity", "Mul", "Add"]


DIVIDE = "q = Div (k, m) f = Cast <to = 1> (q) r = Add (a, f)"
DIVIDED = "float[2] x, int64 n, int64[2] k, int64[2] m"


def test_a_failing_invariant_stays_if_there_may_be_no_iteration():
    text = loop(DIVIDE, inputs=DIVIDED)
    feed = {"x": FEED["x"], "k": np.array([7, 8]), "m": np.array([0, 1]), "n": np.array(0)}
    outside, inside, result = hoisted(text, feed)
    assert (outside, inside) == (["Loop"], ["Identity", "Div", "Cast", "Add"])
    (remark,) = result.remarks
    assert remark.action == "noted"
    assert "'y/q' is the same on every iteration but stays inside, since there may be none" in str(
        remark
    )
    assert "'m' may be zero" in str(remark)


@table("n = Constant <value_int = 3> ()", "n = Constant <value = int64 {1}> ()")
def test_a_failing_invariant_leaves_if_there_is_an_iteration(certain):
    text = loop(DIVIDE, inputs="float[2] x, int64[2] k, int64[2] m").replace(
        "y = Loop", f"{certain} y = Loop"
    )
    outside, _, _ = hoisted(text, {"x": FEED["x"], "k": np.array([7, 8]), "m": np.array([2, 1])})
    assert outside == ["Constant", "Div", "Cast", "Loop"]


def test_an_initializer_that_callers_override_makes_no_iteration_certain():
    text = loop(DIVIDE, inputs="float[2] x, int64 n = {3}, int64[2] k, int64[2] m")
    outside, _, _ = hoisted(text)
    assert outside == ["Loop"]


def test_a_scan_of_a_known_length_makes_an_iteration():
    text = """g (float[LENGTH, 2] s, int64[2] k, int64[2] m) => (float[?, 2] z) {
        z = Scan <num_scan_inputs = 1, body = b (float[2] e) => (float[2] t) {
            q = Div (k, m) f = Cast <to = 1> (q) t = Add (e, f)
        }> (s) }"""
    assert hoisted(text.replace("LENGTH", "4"))[0] == ["Div", "Cast", "Scan"]
    assert hoisted(text.replace("LENGTH", "N"))[0] == ["Scan"]
    assert hoisted(text.replace("LENGTH", "0"))[0] == ["Scan"]


@table(
    "e = RandomNormalLike (w) r = Mul (a, e)",
    "e = com.microsoft.Strange (w) r = Mul (a, e)",
    "e = Constant <value_floats = [1.0, 2.0]> () r = Mul (a, e)",
    "e = Identity (w) r = Mul (a, e)",
    "e = Exp (a) r = Mul (a, e)",
    "f = Cast <to = 1> (i) e = Exp (f) r = Mul (a, e)",
)
def test_nodes_that_stay_in_the_body(body):
    outside, _, result = hoisted(loop(body))
    assert outside == ["Loop"]
    assert not result.changed


def test_constants_and_copies_move_with_what_reads_them():
    body = (
        "k = Constant <value_floats = [1.0, 2.0]> () v = Identity (w) e = Mul (v, k) r = Mul (a, e)"
    )
    outside, inside, _ = hoisted(loop(body), {**FEED, "n": np.array(2)})
    assert sorted(outside) == ["Constant", "Identity", "Loop", "Mul"]
    assert inside == ["Identity", "Mul"]


def test_invariant_outputs_of_the_body():
    text = """g (float[2] x, float[2] w, int64 n) => (float[2] y, float[?, 2] z) {
        y, z = Loop (n, , x) <body = b (int64 i, bool c, float[2] a)
                => (bool c2, float[2] r, float[2] s) {
            c2 = Identity (c) s = Exp (w) r = Add (a, s) }> }"""
    outside, inside, _ = hoisted(text, *[{**FEED, "n": np.array(n)} for n in (0, 1, 3)])
    assert outside == ["Exp", "Loop"]
    assert sorted(inside) == ["Add", "Identity", "Identity"]


def test_an_if_leaves_with_its_branches_where_there_is_an_iteration():
    choose = """e = If (yes) <then_branch = t () => (float[2] p) { p = Exp (w) },
        else_branch = f () => (float[2] q) { q = Neg (w) }> r = Mul (a, e)"""
    inputs = "float[2] x, float[2] w, bool yes"
    text = loop(choose, inputs=inputs).replace(
        "y = Loop", "n = Constant <value_int = 2> () y = Loop"
    )
    result = run_passes(
        text, HoistInvariants(), feeds=[{**FEED, "yes": np.array(yes)} for yes in (True, False)]
    )
    assert [node.op_type for node in result.model.graph.node] == ["Constant", "If", "Loop"]
    (stays,) = run_passes(loop(choose, inputs=f"{inputs}, int64 n"), HoistInvariants()).remarks
    assert "holds graphs of its own" in stays.reason


def test_sizes_that_scan_outputs_have_without_iterations():
    """They follow from the body alone, so what leaves it must not take them along."""
    text = """g (float[2] x, float[2, 3] w, int64 n) => (float[2] y, float[?, ?, ?] z) {
        y, z = Loop (n, , x) <body = b (int64 i, bool c, float[2] a)
                => (bool c2, float[2] r, float s) {
            c2 = Identity (c) e = Exp (w) r = Neg (a) s = Neg (e) }> }"""
    model = as_model(text)
    model.graph.node[0].attribute[0].g.output[2].type.tensor_type.ClearField("shape")
    feeds = {"x": FEED["x"], "w": np.ones((2, 3), np.float32)}
    result = run_passes(model, HoistInvariants())
    for n in (0, 2):
        for run in (reference.run, run_in_onnxruntime):  # they differ from each other
            one, other = (run(m, {**feeds, "n": np.array(n)}) for m in (model, result.model))
            assert [array.shape for array in one] == [array.shape for array in other]


def test_hoisting_is_part_of_the_default_pipeline():
    result = straighten().run(as_model(loop("e = Exp (w) r = Mul (a, e)")))
    assert [node.op_type for node in result.model.graph.node] == ["Exp", "Loop"]
    assert isinstance(result.model, onnx.ModelProto)
    assert not Pipeline([HoistInvariants()]).run(result.model).changed
