import itertools

import numpy as np
import pytest
import straightline as sl
from depth import examples
from drawn import is_valid
from harness import (
    as_model,
    assert_equal_outputs,
    assert_keeps,
    assert_rewrites,
    op_types,
    run_passes,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sessions import by_reference
from straightline.passes import InlineIfs, Pipeline
from straightline.passes.control.ifs_to_selects import IfsToSelects
from tables import table

X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)


def both(**feeds):
    """Feeds for either outcome of the condition."""
    return [{**feeds, "c": np.array(taken)} for taken in (True, False)]


def kept(pass_text, reason, opset=17):
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    assert_keeps(IfsToSelects(), head + pass_text, reason)


def test_branches_become_a_select():
    assert_rewrites(
        IfsToSelects(),
        """g (float[N,3] x, bool c) => (float[N,3] y) {
           y = If (c) <then_branch = t () => (float[N,3] a) { a = Relu (x) },
                       else_branch = e () => (float[N,3] b) { b = Neg (x) }> }""",
        """g (float[N,3] x, bool c) => (float[N,3] y) {
           a = Relu (x)
           b = Neg (x)
           y = Where (c, a, b) }""",
        both(x=X),
    )


@pytest.mark.parametrize("shape", ["[1]", "[1,1,1]", "[K]"])
def test_condition_becomes_a_scalar(shape):
    text = f"""g (float x, bool{shape} c) => (float y) {{
           y = If (c) <then_branch = t () => (a) {{ a = Exp (x) }},
                       else_branch = e () => (b) {{ b = Neg (x) }}> }}"""
    result = run_passes(text, IfsToSelects())
    assert result.changed
    rank = shape.count(",") + 1
    for taken in (True, False):
        feeds = {"x": np.array(2, np.float32), "c": np.full((1,) * rank, taken)}
        assert_equal_outputs(text, result.model, feeds)


@pytest.mark.parametrize("opset", [9, 11, 13, 17, 21])
@pytest.mark.parametrize("type_", ["float", "double", "int64", "int32", "bool"])
def test_every_type_and_opset(type_, opset):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g ({type_}[2] x, {type_}[2] z, bool c) => ({type_}[2] y) {{
           y = If (c) <then_branch = t () => (a) {{ a = Identity (x) }},
                       else_branch = e () => (b) {{ b = Identity (z) }}> }}"""
    result = run_passes(text, IfsToSelects())
    assert result.changed
    dtype = {"float": "f4", "double": "f8", "bool": "?"}.get(type_, type_)
    for feeds in both(x=np.array([1, 0], dtype), z=np.array([1, 1], dtype)):
        assert_equal_outputs(text, result.model, feeds)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_a_branch_that_gives_nan_is_thrown_away():
    text = """g (float[2] x, bool c) => (float[2] y) {
           y = If (c) <then_branch = t () => (a) { l = Log (x)  a = Div (l, x) },
                       else_branch = e () => (b) { b = Neg (x) }> }"""
    result = run_passes(text, IfsToSelects(), feeds=both(x=np.array([-1, 0], np.float32)))
    assert result.changed


def test_nested_ifs_and_several_outputs():
    text = """g (float[2] x, bool c, bool d) => (float[2] y, int64[1] z) {
           y, z = If (c) <
              then_branch = t () => (a, n) {
                 a, n = If (d) <then_branch = u () => (p, k) {
                                    p = Relu (x)  k = Constant <value = int64[1] {1}> () },
                                else_branch = v () => (q, l) {
                                    q = Neg (x)  l = Constant <value = int64[1] {2}> () }>
              },
              else_branch = e () => (b, m) { b = Exp (x)  m = Shape (x) }> }"""
    result = run_passes(text, IfsToSelects())
    assert not any(node.op_type == "If" for node in result.model.graph.node)
    for feeds in both(x=X[0, :2]):
        for inner in (True, False):
            assert_equal_outputs(text, result.model, {**feeds, "d": np.array(inner)})


def test_an_if_inside_a_loop_that_stays():
    text = """g (float[2] x, int64 n) => (float[2] y) {
           y = Loop (n, , x) <body = b (int64 i, bool k, float[2] a) => (bool k, float[2] r) {
              two = Constant <value = int64 {2}> ()
              rest = Mod (i, two)
              odd = Cast <to = 9> (rest)
              r = If (odd) <then_branch = t () => (p) { p = Neg (a) },
                            else_branch = e () => (q) { q = Add (a, a) }> }> }"""
    result = run_passes(
        text,
        IfsToSelects(),
        feeds=[{"x": X[0, :2], "n": np.array(iterations)} for iterations in range(4)],
    )
    assert result.changed
    (loop,) = result.model.graph.node
    assert "If" not in [node.op_type for node in loop.attribute[0].g.node]


def test_a_function_is_looked_into():
    text = """<ir_version: 8, opset_import: ["" : 17, "m" : 1]>
        g (float[2] x, int64[2] k, bool c) => (float[2] y) {
           y = If (c) <then_branch = t () => (a) { a = m.twice (x) },
                       else_branch = e () => (b) { b = Neg (x) }> }
        <domain: "m", opset_import: ["" : 17]> twice (p) => (q) { q = Add (p, p) }"""
    result = run_passes(text, IfsToSelects(), feeds=both(x=X[0, :2], k=np.array([1, 2])))
    assert result.changed
    failing = text.replace("m.twice (x)", "m.twice (k)").replace("Neg (x)", "Neg (k)")
    failing = failing.replace("float[2] y", "int64[2] y").replace("Add (p, p)", "Div (p, p)")
    assert_keeps(IfsToSelects(), failing, "Div 'm::twice/q' may fail there: 'p' may be zero")


def test_a_false_declaration_in_a_dead_branch_proves_nothing():
    # Where the condition holds the slice has 3 elements, as declared; elsewhere it need not.
    kept(
        """g (float[5] x, int64[1] n, float[3] w, bool c) => (float[3] y) {
           y = If (c) <then_branch = t () => (float[3] a) <float[3] s> {
                          z = Constant <value = int64[1] {0}> ()
                          s = Slice (x, z, n)
                          a = Add (s, w)
                       },
                       else_branch = e () => (float[3] b) { b = Neg (w) }> }""",
        "Add 'y/a' may fail there: sizes that must broadcast may not fit: unknown and 3",
    )


@table(
    ("a = Div (k, n)", "then_branch cannot run when it is not taken: Div 'y/a' may fail"),
    ("a = Mod (k, n)", "'n' may be zero"),
    ("a = Gather (k, n)", "'n' may be out of range for an axis of size 2"),
    ("a = Reshape (k, n)", "'n' is known only at run time"),
    ("a = Unique (k)", "is not among the operators that are known not to fail"),
    ("r = RandomNormal <shape = [2]> ()  a = Cast <to = 7> (r)", "draws random numbers"),
    ("a = Concat <axis = 0> (k, n)", "its output 'y' differs in shape, or may: [4] and [2]"),
    ("a = NonZero (k)", "its output 'y' differs in shape, or may: [1, unknown] and [2]"),
)
def test_branches_that_fail_or_differ_are_kept(operation, reason):
    text = f"""g (int64[2] k, int64[2] n, bool c) => (int64[M] flat) <int64[1] all = {{-1}}> {{
           y = If (c) <then_branch = t () => (a) {{ {operation} }},
                       else_branch = e () => (b) {{ b = Neg (k) }}>
           flat = Reshape (y, all) }}"""
    assert_keeps(IfsToSelects(), text, reason)


def test_an_operator_of_another_domain_is_kept():
    text = """<ir_version: 8, opset_import: ["" : 17, "other" : 1]>
        g (int64[2] k, bool c) => (int64[2] y) {
           y = If (c) <then_branch = t () => (int64[2] a) { a = other.Custom (k) },
                       else_branch = e () => (int64[2] b) { b = Neg (k) }> }"""
    assert_keeps(IfsToSelects(), text, "is of domain 'other', where any operator may fail")


ADDS = """g (float[N, 2] x, bool[N] m, seq(float[2]) s0, int64 n, float[M] y0) => (seq(float[2]) y)
    <bool yes = {1}> {
    y = Loop (n, yes, s0) <body = b (int64 i, bool c, seq(float[2]) s) => (bool c2, seq(float[2]) t)
        { c2 = Identity (c) e = Gather (x, i) p = Gather (m, i)
        %s t = If (p) <then_branch = d () => (seq(float[2]) r) { %s r = SequenceInsert (s, %s) },
            else_branch = o () => (seq(float[2]) q) { q = Identity (s) }> }> }"""


def test_captured_nodes_of_a_branch_are_computed_first():
    pass_ = IfsToSelects()
    rows = "f = Exp (e) h = Neg (f)"
    model = run_passes(ADDS % ("", rows, "h"), pass_).model
    (loop,) = model.graph.node
    (body,) = [attribute.g for attribute in loop.attribute]
    assert [node.op_type for node in body.node][-3:] == ["Exp", "Neg", "If"]
    assert not run_passes(ADDS % (rows, "", "h"), pass_).changed
    fails = "v = Shape (y0) w = Reshape (e, v) h = Exp (w)"
    assert not run_passes(ADDS % ("", fails, "h"), pass_).changed
    feeds = {"x": X[:2, :2], "m": np.array([True, False]), "s0": [X[0, :2]], "n": np.array(2)}
    feeds["y0"] = X[0, :2]
    assert_equal_outputs(ADDS % ("", rows, "h"), model, feeds)


WRITES = """g (float[N, 2] x, int64 n, float[N, 2] y0) => (float[N, 2] y) <bool yes = {1},
    int64 zero = {0}, int64 one = {1}, int64[2] flat = {1, 1}, int64[2] row = {1, 2}> {
    y = Loop (n, yes, y0) <body = b (int64 i, bool c, float[N, 2] s) => (bool c2, float[N, 2] t) {
        c2 = Identity (c) e = Gather (x, i) f = Reshape (e, row) k = Reshape (i, flat)
        p = Equal (i, zero) o = Sub (k, flat) t = If (p) <
            then_branch = d () => (float[N, 2] r) { r = ScatterND (s, k, f) },
            else_branch = u () => (float[N, 2] q) { j = Sub (i, one) w = Gather (s, j)
                v = Add (w, f) q = ScatterND (%s) }> }> }"""


def test_rows_of_both_branches_are_written_after_it():
    text = WRITES % "s, k, v"
    result = run_passes(text, IfsToSelects())
    assert "rows that both branches write to 's'" in result.remarks[0].reason
    (loop,) = result.model.graph.node
    (body,) = [attribute.g for attribute in loop.attribute if attribute.HasField("g")]
    assert body.node[-1].op_type == "ScatterND"
    feeds = {"x": X[:2, :2], "n": np.array(2), "y0": X[:2, :2]}
    assert_equal_outputs(text, result.model, feeds)
    other_place = run_passes(WRITES % "s, o, v", IfsToSelects())
    assert all("both branches write" not in remark.reason for remark in other_place.remarks)


def test_sequences_are_kept():
    kept(
        """g (float[2] x, seq(float[2]) s, seq(float[2]) r, bool c) => (seq(float[2]) y) {
           y = If (c) <then_branch = t () => (seq(float[2]) a) { a = Identity (s) },
                       else_branch = e () => (seq(float[2]) b) { b = Identity (r) }> }""",
        "its output 'y' is a sequence",
    )


def test_a_loop_in_a_branch_is_kept():
    kept(
        """g (float[2] x, int64 n, bool c) => (float[2] y) {
           y = If (c) <then_branch = t () => (a) {
                          a = Loop (n, , x) <body = b (i, k, p) => (k, q) { q = Neg (p) }> },
                       else_branch = e () => (b) { b = Neg (x) }> }""",
        "Loop 'y/a' holds graphs of its own",
    )


def test_below_opset_9_there_is_no_where():
    kept(
        """g (float[2] x, bool c) => (float[2] y) {
           y = If (c) <then_branch = t () => (a) { a = Relu (x) },
                       else_branch = e () => (b) { b = Neg (x) }> }""",
        "opset 8 has no Where; convert to opset 9 first",
        opset=8,
    )


def test_a_constant_condition_is_left_to_inline_ifs():
    text = """g (float[2] x) => (float[2] y) <bool c = {1}> {
           y = If (c) <then_branch = t () => (a) { a = Relu (x) },
                       else_branch = e () => (b) { b = Neg (x) }> }"""
    assert_keeps(IfsToSelects(), text, "its condition is constant; inline-ifs")
    assert run_passes(text, InlineIfs(), IfsToSelects()).kept == ()


POOL = [
    "Add ({0}, {1})",
    "Mul ({0}, three)",
    "Div ({0}, {1})",
    "Div ({0}, three)",
    "Mod ({0}, {1})",
    "Gather ({0}, {1})",
    "Gather ({0}, positions)",
    "Clip ({0}, zero, three)",
    "Neg ({0})",
    "Slice ({0}, begin, end)",
    "Concat <axis = 0> ({0}, {1})",
    "Reshape ({0}, {1})",
    "GatherElements ({0}, {1})",
    "Pow ({0}, {1})",
    "Min ({0}, {1})",
]

CONSTANTS = """<int64 zero = {0}, int64 three = {3}, int64[4] positions = {3, 0, 2, 1},
                int64[1] begin = {1}, int64[1] end = {3}, int64[1] all = {-1}>"""


@st.composite
def branches(draw, result):
    names, lines = ["x", "z"], []
    for index in range(draw(st.integers(1, 4))):
        chosen = [draw(st.sampled_from(names)) for _ in range(2)]
        lines.append(f"{result}{index} = " + draw(st.sampled_from(POOL)).format(*chosen))
        names.append(f"{result}{index}")
    return "\n".join([*lines, f"{result} = Identity ({names[-1]})"])


@settings(max_examples=examples(30), deadline=None)
@given(branches("a"), branches("b"), st.lists(st.integers(-3, 3), min_size=8, max_size=8))
def test_whatever_is_rewritten_never_fails_in_the_branch_not_taken(then, other, numbers):
    text = f"""g (int64[4] x, int64[4] z, bool c) => (int64[M] flat) {CONSTANTS} {{
           y = If (c) <then_branch = t () => (a) {{ {then} }},
                       else_branch = e () => (b) {{ {other} }}>
           flat = Reshape (y, all) }}"""
    assume(is_valid(text))
    result = run_passes(text, IfsToSelects())
    if not result.changed:
        assert result.kept
        return
    for feeds in both(x=np.array(numbers[:4]), z=np.array(numbers[4:])):
        assert_equal_outputs(text, result.model, feeds)


def test_one_that_is_kept_does_not_hide_one_that_went():
    one = "%s = If (c) <then_branch = t%d () => (a%d) { a%d = Relu (x) },"
    one += " else_branch = e%d () => (b%d) { b%d = %s }>"
    goes = one % ("y", 1, 1, 1, 1, 1, 1, "Neg (x)")
    stays = one % ("z", 2, 2, 2, 2, 2, 2, "Concat <axis = 0> (x, x)")
    for nodes in (f"{goes} {stays}", f"{stays} {goes}"):
        text = f" g (float[2,3] x, bool c) => (float[2,3] y, float[N,3] z) {{ {nodes} }}"
        result = Pipeline([IfsToSelects()]).run(as_model(text))
        assert result.changed and len(result.kept) == 1


@table(
    ("size", "Identity (i)", True),
    ("size", "Sub (i, one)", False),  # -1 of no rows
    ("size", "Add (i, one)", False),
    ("n", "Identity (i)", False),
)
def test_a_row_of_the_iteration_is_there(iterations, index, is_safe):
    in_loop = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N, 2] x, float[2] a0, int64 n, bool p) => (float[2] y) <int64 zero = {{0}},
            int64 one = {{1}}, bool yes = {{1}}> {{
        sh = Shape (x) size = Gather (sh, zero)
        y = Loop ({iterations}, yes, a0) <body = b (int64 i, bool c, float[2] a)
                => (bool c2, float[2] r) {{
            c2 = Identity (c) j = {index}
            r = If (p) <then_branch = t () => (float[2] u) {{ e = Gather (x, j) u = Add (a, e) }},
                else_branch = f () => (float[2] v) {{ v = Neg (a) }}> }}> }}"""
    text = in_loop.format(iterations=iterations, index=index)
    result = run_passes(text, IfsToSelects(in_loops=True))
    assert result.changed is is_safe
    for length in (0, 1, 3):
        for flag in (True, False) if is_safe else ():
            x, a0 = np.ones((length, 2), np.float32), np.array([1, 2], np.float32)
            feed = {"x": x, "a0": a0, "n": np.array(0), "p": np.array(flag)}
            assert_equal_outputs(text, result.model, feed)


def test_ifs_outside_of_loops_stay():
    text = """g (float[2] x, bool p) => (float[2] y) { y = If (p) <
        then_branch = t () => (float[2] u) { u = Exp (x) },
        else_branch = f () => (float[2] v) { v = Neg (x) }> }"""
    assert run_passes(text, IfsToSelects()).changed
    assert not run_passes(text, IfsToSelects(in_loops=True)).changed


# A branch that fails exactly where it is taken ---------------------------------------------------

SIZED = """g (float[N, 3] x, bool m) => (float[3] y) <int64 k0 = {{0}}, int64 k1 = {{1}},
    int64 k2 = {{2}}, int64 k3 = {{3}}, int64 k5 = {{5}}, int64[1] rows = {{0}}> {{
    s = Shape (x) n = Gather (s, k0) {}
    y = If (c) <then_branch = t () => (float[3] a) {{ a = {} }},
        else_branch = e () => (float[3] b) {{ b = {} }}> }}"""
SUM = "ReduceSum <keepdims = 0> (x, rows)"
UNTAKEN = [
    ("c = Greater (n, k1)", SUM, "Gather (x, k0)"),
    ("c = Greater (n, k3)", SUM, "Gather (x, k1)"),
    ("c = LessOrEqual (n, k3)", "Gather (x, k2)", SUM),
    ("q = Equal (n, k0) p = Not (q) c = And (p, m)", SUM, "Gather (x, k0)"),
    ("q = GreaterOrEqual (n, k2) c = And (q, m)", SUM, SUM),
]
TAKEN = [
    ("c = Greater (n, k0)", "Gather (x, k0)", SUM),
    ("c = Greater (n, k3)", SUM, "Gather (x, k5)"),
    ("q = GreaterOrEqual (n, k2) c = Or (q, m)", SUM, "Gather (x, k0)"),
    ("c = Identity (m)", SUM, "Gather (x, k0)"),
]


@pytest.mark.parametrize("case", UNTAKEN)
def test_a_branch_that_fails_only_where_it_is_taken_runs(case):
    before = as_model(SIZED.format(*case))
    result = run_passes(before, IfsToSelects())
    assert not result.kept and "If" not in op_types(result.model)
    assert sl.prove(before, result.model, search=False).proved
    rng = np.random.default_rng(0)
    feeds = [
        {"x": rng.random((n, 3), np.float32), "m": np.array(m)}
        for n, m in itertools.product((1, 2, 3, 4, 6), (True, False))
    ]
    for each in feeds:
        try:
            by_reference(before, each)
        except sl.Error:  # the branch fails where it is taken
            with pytest.raises(sl.Error):
                by_reference(result.model, each)
        else:
            assert_equal_outputs(before, result.model, each)


@pytest.mark.parametrize("case", TAKEN)
def test_a_branch_that_may_fail_where_the_other_is_taken_stays(case):
    kept(SIZED.format(*case), "may be out of range for an axis")


def test_the_conditions_around_an_if_count():
    inner = """b = If (m) <then_branch = o () => (float[3] u) { u = Gather (x, k2) },
        else_branch = p () => (float[3] v) { v = Gather (x, k0) }>"""
    case = ("c = Greater (n, k5)", SUM, "Gather (x, k0)")
    text = SIZED.format(*case).replace("{ a = " + SUM, "{ " + inner.replace("b =", "a ="))
    (left,) = run_passes(as_model(text), IfsToSelects()).model.graph.node[-1:]
    assert left.op_type == "If" and "If" not in str(left.attribute)
