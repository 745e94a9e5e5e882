import numpy as np
import onnx
import pytest
from harness import assert_keeps, assert_rewrites, op_types, run_passes
from straightline.passes import EliminateDeadNodes, LowerSequences, Pipeline, UnrollLoops
from tables import table

GROWING = """<ir_version: 8, opset_import: ["" : 18]>
g (float[%s] x) => (float[K] y) <bool yes = {1}, int64 ten = {10}> {
   y = Loop (%s, yes, x) <body = b (int64 i, bool c, float[P] a) => (bool c2, float[Q] o) {
      o = Concat <axis = 0> (a, a)
      s = Size (o)
      c2 = Less (s, ten) }> }"""

FLAT = """<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[K] y) {
   o_0 = Concat <axis = 0> (x, x)
   o_1 = Concat <axis = 0> (o_0, o_0)
   y = Concat <axis = 0> (o_1, o_1) }"""


def test_a_loop_until_a_size_is_reached():
    x = np.array([1, 2], np.float32)
    assert_rewrites([UnrollLoops(), EliminateDeadNodes()], GROWING % (2, ""), FLAT, [{"x": x}])


def test_an_unknown_size_is_named_as_what_decides():
    assert_keeps(UnrollLoops(), GROWING % ("N", ""), "depends on the shape of input 'x'")


def test_a_size_that_never_ends_it_is_given_up():
    text = GROWING.replace("Concat <axis = 0> (a, a)", "Neg (a)") % (2, "")
    assert_keeps(UnrollLoops(), text, "depends on")


@pytest.mark.parametrize("maximum", ["float[1] m = {3}", "int64[2] m = {3, 4}"])
def test_a_maximum_that_is_none_decides_nothing(maximum):
    text = (GROWING % (2, "m")).replace("int64 ten", f"{maximum}, int64 ten")
    model = onnx.parser.parse_model(text.replace("Less (s, ten)", "Identity (c)"))
    (remark,) = Pipeline([UnrollLoops()]).run(model).kept
    assert "its maximum 'm'" in remark.reason


LIST = """<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x, %s) => (float[K] y) <bool yes = {1}, int64 five = {5}> {
   %s
   t = Loop (%s, yes, s) <body = b (int64 i, bool c, seq(float[2]) a)
         => (bool c2, seq(float[2]) o) {
      o = SequenceInsert (a, x)
      n = SequenceLength (o)
      c2 = Less (n, five) }>
   y = ConcatFromSequence <axis = 0> (t) }"""
X = np.array([1, 2], np.float32)


@table(
    ("s = SequenceEmpty <dtype = 1> ()", "x, x, x, x, x"),
    ("s = SequenceConstruct (w, w)", "w, w, x, x, x"),
    ("r = SequenceConstruct (w, w, w) s = SequenceErase (r)", "w, w, x, x, x"),
    ("s = SequenceConstruct (w, w, w, w, w, w)", "w, w, w, w, w, w, x"),
    ("d = Concat <axis = 0> (w, x) s = SplitToSequence (d, two)", "d_0, d_1, x, x, x"),
)
def test_a_loop_until_a_sequence_has_its_length(start, joined):
    text = LIST % ("float[2] w", start, "")
    text = text.replace("int64 five", "int64 two = {2}, int64 five")
    feeds = {"x": X, "w": X * 2}
    result = run_passes(text, UnrollLoops(), LowerSequences(), EliminateDeadNodes(), feeds=[feeds])
    (last,) = [node for node in result.model.graph.node if node.output[0] == "y"]
    assert not any(node.op_type == "Loop" for node in result.model.graph.node)
    assert last.op_type == "Concat" and len(last.input) == len(joined.split(","))


def test_a_worklist_is_worked_off():
    """Every iteration takes one element from the list and, in the first one only, adds one."""
    text = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[2] x) => (float[2] y) <bool yes = {1}, int64 zero = {0}, int64 last = {-1}> {
       s = SequenceConstruct (x, x, x)
       t, y = Loop (, yes, s, x) <body = b (int64 i, bool c, seq(float[2]) a, float[2] sum)
             => (bool c2, seq(float[2]) o, float[2] next) {
          first = SequenceAt (a, last)
          next = Add (sum, first)
          o = SequenceErase (a)
          n = SequenceLength (o)
          c2 = Greater (n, zero) }> }"""
    result = run_passes(
        text, UnrollLoops(), LowerSequences(), EliminateDeadNodes(), feeds=[{"x": X}]
    )
    assert op_types(result.model) == ["Add", "Add", "Add"]


def test_a_sequence_made_in_each_iteration():
    """The constants of the body alone decide, yet no tensor folds."""
    text = GROWING.replace(
        "s = Size (o)", "q = SequenceConstruct (o, o) s = SequenceLength (q)"
    ).replace("ten = {10}", "ten = {2}") % (2, "")
    result = run_passes(
        text, UnrollLoops(), LowerSequences(), EliminateDeadNodes(), feeds=[{"x": X}]
    )
    assert op_types(result.model) == ["Concat"]


def test_a_length_and_a_counter_together():
    text = (LIST % ("float[2] w", "s = SequenceConstruct (w)", "")).replace(
        "c2 = Less (n, five)", "m = Add (n, i) c2 = Less (m, five)"
    )
    result = run_passes(
        text, UnrollLoops(), LowerSequences(), EliminateDeadNodes(), feeds=[{"x": X, "w": X * 2}]
    )
    (last,) = result.model.graph.node
    assert list(last.input) == ["w", "x", "x", "x"]


@table(
    (LIST % ("seq(float[2]) s", "", ""), "", ""),
    (LIST % ("bool grows", "s = SequenceEmpty <dtype = 1> ()", ""), "o = SequenceInsert (a, x)",
     "o = If (grows) <then_branch = p () => (seq(float[2]) g) { g = SequenceInsert (a, x) },"
     " else_branch = q () => (seq(float[2]) h) { h = Identity (a) }>"),
    (LIST % ("int64 k", "s = SplitToSequence (x, k)", ""), "", ""),
    ids=["input", "sometimes", "split"])  # fmt: skip
def test_a_length_that_run_time_decides(text, old, new):
    assert_keeps(UnrollLoops(), text.replace(old, new) if old else text, "its condition depends on")


def test_a_list_that_never_gets_there_is_given_up():
    text = LIST % ("float[2] w", "s = SequenceConstruct (w)", "")
    assert_keeps(UnrollLoops(), text.replace("SequenceInsert (a, x)", "Identity (a)"), "depends on")
    assert_keeps(
        UnrollLoops(max_trips=3), text, "its 4 iterations are more than max_trips=3 allows"
    )


def test_a_maximum_stops_it_before():
    text = LIST % ("float[2] w", "s = SequenceConstruct (w)", "three")
    text = text.replace("int64 five", "int64 three = {3}, int64 five")
    result = run_passes(
        text, UnrollLoops(), LowerSequences(), EliminateDeadNodes(), feeds=[{"x": X, "w": X * 2}]
    )
    (last,) = result.model.graph.node
    assert list(last.input) == ["w", "x", "x", "x"]


def test_a_length_compared_as_a_float():
    """Facts follow no floats, but what is computed from a length alone is."""
    text = (LIST % ("float[2] w", "s = SequenceConstruct (w)", "")).replace(
        "c2 = Less (n, five)",
        "f = Cast <to = 1> (n) h = Mul (f, half) limit = Constant <value_float = 2.0> ()"
        " c2 = Less (h, limit)",
    )
    text = text.replace("int64 five = {5}", "float half = {0.5}")
    result = run_passes(
        text, UnrollLoops(), LowerSequences(), EliminateDeadNodes(), feeds=[{"x": X, "w": X * 2}]
    )
    (last,) = result.model.graph.node
    assert list(last.input) == ["w", "x", "x", "x"]
