import straightline as sl
from straightline.report.matching import Matching
from straightline.report.model_data import describe


def matched(before, after):
    head = '<ir_version: 10, opset_import: ["" : 21]>\n'
    models = [describe(sl.ir.parse(head + text)) for text in (before, after)]
    pairs = Matching(*models, (0, 0)).before_of
    nodes = [model.graphs[0].nodes for model in models]
    return {nodes[1][n].outputs[0]: nodes[0][m].outputs[0] for n, m in pairs.items()}


def test_names_win_over_structure():
    one = "g (float x) => (float y) { a = Neg (x) b = Neg (x) y = Add (a, b) }"
    other = "g (float x) => (float y) { b = Neg (x) a = Neg (x) y = Add (a, b) }"
    assert matched(one, other) == {"a": "a", "b": "b", "y": "y"}


def test_without_names_operands_match_and_then_readers():
    one = "g (float x) => (float y) { a = Neg (x) b = Exp (a) y = Abs (b) }"
    other = "g (float x) => (float z) { k = Neg (x) n = Tanh (k) l = Exp (n) z = Abs (l) }"
    assert matched(one, other) == {"k": "a", "l": "b", "z": "y"}


def test_alike_nodes_match_in_order_and_each_once():
    one = "g (float x) => (float y) { a = Neg (x) b = Neg (x) y = Add (a, b) }"
    other = "g (float x) => (float y) { k = Neg (x) l = Neg (x) m = Neg (x) y = Add (k, l) }"
    assert matched(one, other) == {"k": "a", "l": "b", "y": "y"}


def test_nothing_matches_where_nothing_is_alike():
    one = "g (float x) => (float y) { y = Neg (x) }"
    assert matched(one, "g (float v) => (float w) { a = Exp (v) w = Abs (a) }") == {}
