"""What trips add to lists and tensors, however many there are."""

import onnx
import pytest
from straightline.verification.proof import prove

HEADER = '<ir_version: 8, opset_import: ["" : 17]> '
LISTED = """g (float[N, 3] x) => (float[a, 3] y) <bool t = {1}, int64[1] z = {0}> {
    s = Shape <end = 1> (x) n = Squeeze (s, z) e = SequenceEmpty ()
    all = Loop (n, t, e) <body = b (int64 i, bool c, seq(float[3]) l) => (bool d, seq(float[3]) m) {
        d = Identity (c) r = Gather (x, i) k = %s (r) m = SequenceInsert (l, k) }>
    y = ConcatFromSequence <axis = 0, new_axis = 1> (all) }"""
GROWN = """g (float[N, 3] x, float[P, 3] p) => (float[a, 3] y) <bool t = {1}, int64[1] z = {0}> {
    s = Shape <end = 1> (x) n = Squeeze (s, z)
    y = Loop (n, t, p) <body = b (int64 i, bool c, float[a, 3] l) => (bool d, float[b, 3] m) {
        d = Identity (c) r = Gather (x, i) k = Tanh (r) o = Unsqueeze (k, z)
        m = Concat <axis = 0> (%s) }> }"""


def models(*texts):
    return [onnx.parser.parse_model(HEADER + text) for text in texts]


@pytest.mark.parametrize(("op_type", "proved"), [("Tanh", True), ("Neg", False)])
def test_a_list_of_results_is_the_results_of_all_rows(op_type, proved):
    flat = "g (float[N, 3] x) => (float[a, 3] y) { y = Tanh (x) }"
    assert prove(*models(LISTED % op_type, flat)).proved is proved


@pytest.mark.parametrize(("order", "proved"), [("l, o", True), ("o, l", False)])
def test_a_tensor_that_grows_at_its_end_is_what_there_was_and_all_rows(order, proved):
    flat = """g (float[N, 3] x, float[P, 3] p) => (float[a, 3] y) {
        r = Tanh (x) y = Concat <axis = 0> (p, r) }"""
    assert prove(*models(GROWN % order, flat)).proved is proved


def test_a_list_that_is_read_inside_stays_a_state():
    """What is added depends on how many there are already."""
    reads = LISTED.replace("r = Gather (x, i)", "q = SequenceLength (l) r = Gather (x, q)")
    flat = "g (float[N, 3] x) => (float[a, 3] y) { y = Tanh (x) }"
    assert not prove(*models(reads % "Tanh", flat)).proved


HELD = """g (int64 n, float[3] x, float[%s] p) => (seq(float[3]) y) <bool t = {1}> {
    e = SequenceConstruct (%s)
    y = Loop (n, t, e) <body = b (int64 i, bool c, seq(float[3]) l) => (bool d, seq(float[3]) m) {
        d = Identity (c) k = Tanh (x) m = SequenceInsert (l, k) }> }"""
SPLIT = """g (int64 n, float[3] x, float[3] p) => (seq(float[3]) y)
    <int64[1] z = {0}, int64[1] three = {3}, int64 none = {0}> {
    k = Tanh (x) c = Max (n, none) v = Unsqueeze (c, z) s = Concat <axis = 0> (v, three)
    r = Expand (k, s) a = Unsqueeze (p, z) b = Unsqueeze (x, z)
    j = Concat <axis = 0> (%s) y = SplitToSequence <axis = 0, keepdims = 0> (j) }"""


@pytest.mark.parametrize(
    ("held", "rows", "proved"),
    [
        ("p", "a, r", True),
        ("p, x", "a, b, r", True),
        ("x, p", "a, b, r", False),
        ("p", "r, a", False),
        ("p", "a, a, r", False),
    ],
)
def test_a_list_goes_on_from_what_it_held(held, rows, proved):
    assert prove(*models(HELD % ("3", held), SPLIT % rows)).proved is proved


def test_a_list_of_other_sizes_at_first_stays_a_state():
    assert prove(*models(HELD % ("4", "p"), HELD % ("4", "p"))).proved
    assert not prove(*models(HELD % ("4", "p"), HELD % ("4", "x"))).proved
