import numpy as np
import onnx
import pytest
from harness import assert_equal_outputs, assert_keeps, run_passes
from onnx import TensorProto, helper
from sequences import HEAD, LOWER, TWO, lowers, sequence_operators
from straightline.passes import FoldConstants, parse_pipeline
from straightline.passes.sequences.lower_sequences import LowerSequences
from tables import table


def test_a_sequence_that_grows_becomes_one_concat():
    lowers(
        """g (float[2] a, float[2] b) => (float[6] y) <int64 first = {0}> {
           s = SequenceEmpty ()
           t = SequenceInsert (s, a)
           u = SequenceInsert (t, b)
           v = SequenceInsert (u, b, first)
           y = ConcatFromSequence <axis = 0> (v) }""",
        """g (float[2] a, float[2] b) => (float[6] y) {
           y = Concat <axis = 0> (b, a, b) }""",
        [TWO],
    )


def test_a_new_axis_takes_an_unsqueeze_each():
    lowers(
        """g (float[2] a, float[2] b) => (float[2,2] y) {
           s = SequenceConstruct (a, b)
           y = ConcatFromSequence <axis = -1, new_axis = 1> (s) }""",
        """g (float[2] a, float[2] b) => (float[2,2] y) <int64[1] axes = {-1}> {
           a_row = Unsqueeze (a, axes)
           b_row = Unsqueeze (b, axes)
           y = Concat <axis = -1> (a_row, b_row) }""",
        [TWO],
    )


def test_an_element_is_the_very_value():
    lowers(
        """g (float[2] a, float[2] b) => (float[2] y, float[2] z) <int64 last = {-1}> {
           n = Neg (a)
           s = SequenceConstruct (b, n)
           e = SequenceAt (s, last)
           y = Exp (e)
           t = SequenceErase (s)
           z = ConcatFromSequence <axis = 0> (t) }""",
        """g (float[2] a, float[2] b) => (float[2] y, float[2] z) {
           n = Neg (a)
           y = Exp (n)
           z = Identity (b) }""",
        [TWO],
    )


def test_a_length_is_a_constant():
    result = run_passes(
        HEAD
        + """g (float[2] a) => (int64 n) {
           s = SequenceConstruct (a, a)
           n = SequenceLength (s) }""",
        *LOWER,
    )
    assert sequence_operators(result.model) == []
    assert_equal_outputs(result.model, result.model, {"a": TWO["a"]})


@pytest.mark.parametrize("index", [-2, -1, 0, 1, 2])
def test_positions_count_from_either_end(index):
    text = HEAD + (
        f"""g (float[2] a, float[2] b, float[2] c) => (float[6] y) <int64[1] p = {{{index}}}> {{
           p0 = Squeeze (p)
           s = SequenceConstruct (a, b)
           t = SequenceInsert (s, c, p0)
           y = ConcatFromSequence <axis = 0> (t) }}"""
    )
    feeds = {**TWO, "c": np.array([9, 9], np.float32)}
    result = run_passes(text, FoldConstants(), *LOWER, feeds=[feeds])
    assert sequence_operators(result.model) == []


def test_bodies_see_the_sequences_around_them():
    lowers(
        """g (float[2] a, float[2] b, bool c) => (float[2] y) <int64 one = {1}> {
           s = SequenceConstruct (a, b)
           y = If (c) <
              then_branch = t () => (float[2] r) { r = SequenceAt (s, one) },
              else_branch = e () => (float[2] q) { q = Neg (a) } > }""",
        """g (float[2] a, float[2] b, bool c) => (float[2] y) {
           y = If (c) <
              then_branch = t () => (float[2] b_1) { b_1 = Identity (b) },
              else_branch = e () => (float[2] q) { q = Neg (a) } > }""",
        [{**TWO, "c": np.array(c)} for c in (True, False)],
    )


def test_the_body_of_a_sequence_map_is_copied_for_each_element():
    lowers(
        """g (float[2] a, float[2] b) => (float[4] y, float[4] z) {
           s = SequenceConstruct (a, b)
           t = SequenceConstruct (b, b)
           u, v = SequenceMap (s, t, a) <body = m (float[2] p, float[2] q, float[2] r)
                                              => (float[2] w, float[2] x) {
              w = Sub (p, q)
              x = Mul (w, r) }>
           y = ConcatFromSequence <axis = 0> (u)
           z = ConcatFromSequence <axis = 0> (v) }""",
        """g (float[2] a, float[2] b) => (float[4] y, float[4] z) {
           w_0 = Sub (a, b)
           x_0 = Mul (w_0, a)
           w_1 = Sub (b, b)
           x_1 = Mul (w_1, a)
           y = Concat <axis = 0> (w_0, w_1)
           z = Concat <axis = 0> (x_0, x_1) }""",
        [TWO],
    )


def test_sequence_maps_nest():
    text = HEAD + (
        """g (float[2] a, float[2] b) => (float[4] y) <int64 one = {1}> {
           s = SequenceConstruct (a, b)
           u = SequenceMap (s) <body = m (float[2] p) => (float[2] w) {
              i = SequenceMap (s) <body = n (float[2] q) => (float[2] r) { r = Sub (q, p) }>
              w = SequenceAt (i, one) }>
           y = ConcatFromSequence <axis = 0> (u) }"""
    )
    result = run_passes(text, *LOWER, feeds=[TWO])
    assert sequence_operators(result.model) == []


def test_a_sequence_map_over_nothing_gives_nothing():
    text = HEAD + (
        """g (float[2] a) => (seq(float[2]) y, int64 n) {
           s = SequenceEmpty ()
           y = SequenceMap (s) <body = m (float[2] p) => (float[2] w) { w = Neg (p) }>
           n = SequenceLength (y) }"""
    )
    result = run_passes(text, *LOWER, feeds=[{"a": TWO["a"]}])
    assert sequence_operators(result.model) == ["SequenceEmpty"]


def test_a_random_sequence_map_is_kept():
    text = """g (float[2] a) => (seq(float[2]) y) {
           s = SequenceConstruct (a, a)
           y = SequenceMap (s) <body = m (float[2] p) => (float[2] w) {
              w = RandomNormalLike <seed = 1.0> (p) }> }"""
    assert_keeps(LowerSequences(), HEAD + text, "random numbers")


def test_a_sequence_map_over_budget_is_kept():
    text = """g (float[2] a) => (seq(float[2]) y) {
           s = SequenceConstruct (a, a)
           y = SequenceMap (s) <body = m (float[2] p) => (float[2] w) { w = Neg (p) }> }"""
    assert_keeps(LowerSequences(max_nodes=1), HEAD + text, "max_nodes=1")


def test_optionals():
    lowers(
        """g (float[2] a) => (float[2] y, bool h) {
           o = Optional (a)
           i = Identity (o)
           e = OptionalGetElement (i)
           y = Neg (e)
           h = OptionalHasElement (o) }""",
        """g (float[2] a) => (float[2] y, bool h) <bool h = {1}> {
           y = Neg (a) }""",
        [{"a": TWO["a"]}],
    )


@table(
    ("h = OptionalHasElement ()", False),
    ("h = OptionalHasElement (a)", True),
    ("s = SequenceConstruct (a)\n h = OptionalHasElement (s)", True),
    ("o = Optional <type = float[2]> ()\n h = OptionalHasElement (o)", False),
)
def test_decided_optionals(make, expected):
    text = HEAD + f"g (float[2] a) => (bool h) {{ {make} }}"
    model = onnx.parser.parse_model(text.replace("Optional <type = float[2]> ()", "Optional ()"))
    for node in model.graph.node:
        if node.op_type == "Optional":
            type_ = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
            node.attribute.append(helper.make_attribute("type", type_))
    result = run_passes(model, *LOWER)
    assert sequence_operators(result.model) == []
    (initializer,) = result.model.graph.initializer
    assert bool(onnx.numpy_helper.to_array(initializer)) is expected


def test_an_optional_sequence():
    lowers(
        """g (float[2] a, float[2] b) => (float[4] y) {
           s = SequenceConstruct (a, b)
           o = Optional (s)
           t = OptionalGetElement (o)
           y = ConcatFromSequence <axis = 0> (t) }""",
        """g (float[2] a, float[2] b) => (float[4] y) {
           y = Concat <axis = 0> (a, b) }""",
        [TWO],
    )


@table(
    ("e = SequenceAt (s, p) y = Neg (e)", "position depends on input 'p'"),
    ("e = SequenceAt (s, two) y = Neg (e)", "position 2 is outside a sequence of 2"),
    ("e = SequenceAt (q, two) y = Neg (e)", "its sequence is input 'q'"),
    (
        "t = SequenceInsert (s, a, p) u = SequenceErase (t) e = SequenceAt (u, two) y = Neg(e)",
        "its sequence comes from SequenceInsert 't': its position depends on input 'p'",
    ),
    ("o = Optional (a) e = OptionalGetElement (r) y = Neg (e)", "its optional is input 'r'"),
)
def test_undecided_structure_is_kept(nodes, reason):
    text = f"""g (float[2] a, float[2] b, int64 p, seq(float[2]) q, optional(float[2]) r)
               => (float[2] y) <int64 two = {{2}}> {{
           s = SequenceConstruct (a, b)
           {nodes} }}"""
    result = run_passes(HEAD + text, LowerSequences())
    assert any(reason in remark.reason for remark in result.kept), result.kept
    left = [remark.op_type for remark in result.kept]
    assert sorted(left) == sorted(sequence_operators(result.model))


def test_a_sequence_that_is_an_output_stays():
    text = """g (float[2] a) => (seq(float[2]) t) {
           s = SequenceConstruct (a)
           t = SequenceInsert (s, a) }"""
    assert_keeps(LowerSequences(), HEAD + text, "the graph returns its sequence")
    assert_keeps(LowerSequences(), HEAD + text, "SequenceInsert 't' needs its sequence as a whole")


def test_a_sequence_that_a_loop_carries_stays():
    text = """g (float[2] a, int64 n) => (float[N] y) {
           s = SequenceConstruct (a)
           t = Loop (n, , s) <body = b (int64 i, bool c, seq(float[2]) u)
                                     => (bool c, seq(float[2]) v) {
              v = SequenceInsert (u, a) }>
           y = ConcatFromSequence <axis = 0> (t) }"""
    result = run_passes(HEAD + text, LowerSequences())
    assert not result.changed
    reasons = [remark.reason for remark in result.kept]
    assert "its sequence comes from Loop 't', which stays" in reasons
    assert "its sequence is 'u' of the body of Loop 't', known only at run time" in reasons


def test_an_unrolled_loop_over_a_sequence_becomes_straight_line():
    text = HEAD + (
        """g (float[2] a) => (float[N] y) <int64 three = {3}> {
           s = SequenceEmpty ()
           t = Loop (three, , s) <body = b (int64 i, bool c, seq(float[2]) u)
                                         => (bool c, seq(float[2]) v) {
              f = Cast <to = 1> (i)
              e = Add (a, f)
              v = SequenceInsert (u, e) }>
           y = ConcatFromSequence <axis = 0> (t) }"""
    )
    result = run_passes(
        text, *parse_pipeline("unroll-loops").passes, *LOWER, feeds=[{"a": TWO["a"]}]
    )
    assert sequence_operators(result.model) == []
