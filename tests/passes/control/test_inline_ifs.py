import numpy as np
import pytest
from harness import as_model, assert_keeps, assert_rewrites, op_types, run_passes
from sessions import by_reference
from straightline import reference
from straightline.passes import InlineIfs

X = {"x": np.array([1, -2], np.float32)}
BRANCHES = """<then_branch = t () => (float[2] u) { u = Neg (x) },
               else_branch = e () => (float[2] v) { v = Relu (x) }>"""


def assert_inlines(text, *feeds, head=""):
    """Check that no If is left and nothing kept, and that outputs are equal; the result."""
    before = as_model(head + text)
    result = run_passes(before, InlineIfs(), feeds=feeds)
    assert result.changed
    assert result.kept == ()
    assert "If" not in op_types(result.model)
    return result.model


@pytest.mark.parametrize(("value", "taken"), [(1, "Neg"), (0, "Relu")])
@pytest.mark.parametrize("shape", ["", "[1]", "[1,1]"])
def test_the_taken_branch_stays(value, taken, shape):
    assert_rewrites(
        InlineIfs(),
        f"g (float[2] x) => (float[2] y) <bool{shape} c = {{{value}}}> {{ y = If (c) {BRANCHES} }}",
        f"g (float[2] x) => (float[2] y) <bool{shape} c = {{{value}}}> {{ y = {taken} (x) }}",
        [X],
    )


@pytest.mark.parametrize("shape", ["bool[2] c = {1, 0}", "bool[0] c = {}"])
def test_a_condition_of_another_size_is_kept(shape):
    text = f"g (float[2] x) => (float[2] y) <{shape}> {{ y = If (c) {BRANCHES} }}"
    assert_keeps(InlineIfs(), text, "If requires one")


def test_a_condition_that_run_time_decides_is_kept():
    text = f"g (float[2] x, bool c) => (float[2] y) {{ y = If (c) {BRANCHES} }}"
    assert_keeps(
        InlineIfs(), text, "its condition depends on input 'c'; decide it with --set c=..."
    )


def test_a_default_that_callers_may_override_is_kept():
    text = f"g (float[2] x, bool c) => (float[2] y) <bool c = {{1}}> {{ y = If (c) {BRANCHES} }}"
    assert_keeps(InlineIfs(), text, "callers may override")
    assert_inlines(text, X, head='<ir_version: 3, opset_import: ["" : 11]>\n')


def test_branches_of_different_shapes():
    model = assert_inlines(
        """g (float[2] x) => (float[K] y) <bool no = {0}> {
            z = If (no) <then_branch = t () => (float[2] u) { u = Neg (x) },
                         else_branch = e () => (float[4] v) { v = Concat <axis = 0> (x, x) }>
            y = Relu (z) }""",
        X,
    )
    assert reference.run(model, X)[0].shape == (4,)


def test_initializers_of_one_name_in_two_branches():
    assert_inlines(
        """g (float[1] x) => (float[1] y, float[1] z) <bool yes = {1}, bool no = {0}> {
            y = If (yes) <then_branch = t () => (float[1] u) <float[1] k = {1}> { u = Add (x, k) },
                          else_branch = e () => (float[1] v) { v = Relu (x) }>
            z = If (no) <then_branch = t () => (float[1] u) { u = Neg (x) },
                         else_branch = e () => (float[1] v) <float[1] k = {5}> { v = Add (x, k) }>
        }""",
        {"x": np.array([1], np.float32)},
    )


def test_repeated_outputs_and_initializers_as_outputs():
    model = assert_inlines(
        """g (float[2] x) => (float[2] y, float[2] z, float[2] w) <bool yes = {1}> {
            y, z, w = If (yes) <
                then_branch = t () => (float[2] u, float[2] u, float[2] k) <float[2] k = {3, 4}> {
                    u = Neg (x)
                },
                else_branch = e () => (float[2] v, float[2] v, float[2] v) { v = Relu (x) }> }"""
    )
    y, z, w = reference.run(model, X)
    np.testing.assert_array_equal(y, [-1, 2])
    np.testing.assert_array_equal(z, y)
    np.testing.assert_array_equal(w, [3, 4])


def test_a_branch_that_gives_out_what_it_captures():
    model = assert_inlines(
        """g (float[2] x) => (float[2] y) <bool yes = {1}> {
            y = If (yes) <then_branch = t () => (float[2] u) { u = Identity (x) },
                          else_branch = e () => (float[2] v) { v = Relu (x) }> }""",
        X,
    )
    assert [v.name for v in model.graph.input] == ["x"]
    assert [v.name for v in model.graph.output] == ["y"]


def test_ifs_inside_each_other_and_inside_loops():
    text = """g (float[2] x, int64 n) => (float[2] y) <bool yes = {1}, bool no = {0}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c)
            r = If (yes) <
                then_branch = t () => (float[2] u) {
                    u = If (no) <then_branch = t2 () => (float[2] p) { p = Neg (a) },
                                 else_branch = e2 () => (float[2] q) { q = Add (a, x) }>
                },
                else_branch = e () => (float[2] v) { v = Relu (a) }> }> }"""
    result = run_passes(text, InlineIfs(), feeds=[{**X, "n": np.array(2)}])
    loop = result.model.graph.node[0]
    assert [n.op_type for n in loop.attribute[0].g.node] == ["Identity", "Add"]


def test_in_functions():
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    text = (
        head
        + """g (float[2] x) => (float[2] y) { y = local.f (x) }
        <domain: "local", opset_import: ["" : 17]> f (x) => (y) {
            c = Constant <value = bool {0}> ()
            y = If (c) <then_branch = t () => (u) { u = Neg (x) },
                        else_branch = e () => (v) { v = Relu (x) }> }"""
    )
    result = run_passes(text, InlineIfs(), feeds=[X])
    assert [n.op_type for n in result.model.functions[0].node] == ["Constant", "Relu"]


def test_a_branch_that_is_not_taken_may_hold_what_would_fail():
    assert_inlines(
        """g (float[2] x) => (float[1] y) <bool no = {0}, float[1] w = {1}, int64[1] five = {5}> {
            y = If (no) <then_branch = t () => (float[1] u) { u = Gather (w, five) },
                         else_branch = e () => (float[1] v) { v = Neg (w) }> }""",
        X,
    )


def test_random_operators_of_the_taken_branch_are_moved_not_repeated():
    text = """g (float[2] x) => (float[2] y) <bool yes = {1}> {
        y = If (yes) <
            then_branch = t () => (float[2] u) { z = RandomUniformLike (x) u = Add (x, z) },
            else_branch = e () => (float[2] v) { v = Relu (x) }> }"""
    assert op_types(run_passes(text, InlineIfs()).model) == ["RandomUniformLike", "Add"]


@pytest.mark.parametrize("opset", [13, 14])
def test_sequences_need_an_identity_that_takes_them(opset):
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    text = """g (float[2] x) => (seq(float[K]) y, seq(float[K]) z) <bool yes = {1}> {
        y, z = If (yes) <
            then_branch = t () => (seq(float[K]) s, seq(float[K]) s) { s = SequenceConstruct (x,
                x) },
            else_branch = e () => (seq(float[K]) v, seq(float[K]) v) { v = SequenceEmpty () }> }"""
    if opset == 13:
        assert_keeps(InlineIfs(), head + text, "no Identity can name in opset 13")
    else:
        assert [len(s) for s in by_reference(assert_inlines(text, head=head), X)] == [2, 2]


def test_quantization_annotations_stay():
    model = as_model(
        f"g (float[2] x) => (float[2] y) <bool c = {{1}}> {{ z = If (c) {BRANCHES} y = Neg (z) }}"
    )
    annotation = model.graph.quantization_annotation.add(tensor_name="z")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
    assert_keeps(InlineIfs(), model, "named from outside the data flow")


@pytest.mark.parametrize("value", [0, 1])
def test_the_remark_says_which_branch_was_taken(value):
    text = f"""g (float[2] x) => (float[2] y) <bool c = {{{value}}}> {{
        y = If (c) <then_branch = t () => (p) {{ p = Exp (x) }},
                    else_branch = e () => (q) {{ q = Abs (x) }}> }}"""
    (remark,) = run_passes(text, InlineIfs()).remarks
    assert remark.reason == f"inlined, its condition is always {'true' if value else 'false'}"
