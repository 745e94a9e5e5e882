import dataclasses

import numpy as np
import pytest
from harness import (
    HEAD,
    as_model,
    assert_equal,
    assert_equal_outputs,
    assert_keeps,
    assert_rewrites,
    run_in_onnxruntime,
    run_passes,
)
from loops import op_types
from straightline import ir, reference
from straightline.analysis.constants.folding import Folder
from straightline.facts.polynomial import Dimension
from straightline.passes import LoopsToScans
from straightline.passes.costs.table import cost_table
from straightline.passes.iteration.loop_view import read
from straightline.passes.iteration.places import Selection
from straightline.passes.loops import loops_to_scans
from straightline.passes.loops.loops_to_scans import ScanSources
from tables import table
from vectorized import numbers

GIVEN = "float[3] s, float[N, 3] x, float[5, 3] w, int64 n"


def loop(body, iterations="m", given=GIVEN, start="yes", number="int64 i", state="float[3] a"):
    """A Loop of one state and one scan output, r and q, of m iterations, one for a row of x."""
    return f"""g ({given}) => (float[3] y, float[?, 3] z) <bool yes = {{1}}, int64 zero = {{0}}> {{
        sh = Shape (x) m = Gather (sh, zero)
        y, z = Loop ({iterations}, {start}, s) <body = b ({number}, bool c, {state})
                => (bool c2, float[3] r, float[3] q) {{ c2 = Identity (c) {body} }}> }}"""


def feed(length, iterations=None):
    return {
        "s": numbers(3),
        "x": numbers(length, 3),
        "w": numbers(5, 3),
        "n": np.array(length if iterations is None else iterations),
    }


READS = "e = Gather (x, i) r = Add (a, e) q = Neg (r)"


def test_a_loop_over_all_rows():
    assert_rewrites(
        LoopsToScans(),
        loop(READS),
        """g (float[3] s, float[N, 3] x, float[5, 3] w, int64 n) => (float[3] y, float[?, 3] z)
            <bool yes = {1}, int64 zero = {0}, int64 none = {0}> {
            sh = Shape (x) m = Gather (sh, zero)
            some = Greater (m, none)
            y, z = If (some) <
                then_branch = some () => (float[3] y_scan, float[?, 3] z_scan) {
                    y_scan, z_scan = Scan (s, x) <num_scan_inputs = 1,
                        body = b (float[3] a, float[3] x_element) => (float[3] r, float[3] q) {
                            r = Add (a, x_element) q = Neg (r) }>
                },
                else_branch = none () => (float[3] a_1, float[?, 3] q_1) <float[0, 3] q_2 = {}> {
                    a_1 = Identity (s) q_1 = Identity (q_2) }> }""",
        [feed(length) for length in (0, 1, 5)],
    )


def test_iterations_that_are_certain_need_no_if():
    assert_rewrites(
        LoopsToScans(),
        """g (float[3] s, float[4, 3] x) => (float[3] y) <bool yes = {1}, int64 four = {4}> {
            y = Loop (four, yes, s) <body = b (int64 i, bool c, float[3] a)
                    => (bool c2, float[3] r) {
                c2 = Identity (c) e = Gather (x, i) r = Add (a, e) }> }""",
        """g (float[3] s, float[4, 3] x) => (float[3] y) <bool yes = {1}, int64 four = {4}> {
            y = Scan (s, x) <num_scan_inputs = 1, body = b (float[3] a, float[3] x_element)
                    => (float[3] r) { r = Add (a, x_element) }> }""",
        [{"s": numbers(3), "x": numbers(4, 3)}],
    )


def converted(text, feeds=()):
    """The model, which holds a Scan and no Loop."""
    result = run_passes(text, LoopsToScans(), feeds=feeds)
    found = list(op_types(result.model.graph))
    assert "Scan" in found and "Loop" not in found, result.remarks
    return result.model


def inside(model):
    """The operators of the body of the Scan."""
    nodes = list(model.graph.node)
    while nodes:
        node = nodes.pop()
        for attribute in node.attribute:
            if node.op_type == "Scan" and attribute.name == "body":
                return [inner.op_type for inner in attribute.g.node]
            nodes += attribute.g.node
    raise AssertionError


CONSTANTS = """k0 = Constant <value_ints = [0]> () k1 = Constant <value_int = 1> ()
    kk = Constant <value_ints = [1]> () k3 = Constant <value_int = 3> ()
    xt = Transpose (x)"""


@table(
    ("a vector of one", "k = Unsqueeze (i, k0) g0 = Gather (x, k) e = Squeeze (g0, k0)"),
    ("a vector of one, kept", """k = Unsqueeze (i, k0) g0 = Gather (x, k)
        e = ReduceSum <keepdims = 0> (g0, k0)"""),
    ("a slice", """j = Add (i, k1) k = Unsqueeze (i, k0) l = Unsqueeze (j, k0)
        g0 = Slice (x, k, l) e = Squeeze (g0, k0)"""),
    ("a slice along an axis", """k = Reshape (i, kk) l = Add (k, kk)
        g0 = Slice (xt, k, l, kk, kk) e = Squeeze (g0, kk)"""),
    ("along the last axis", "e = Gather <axis = -1> (xt, i)"),
    ("backward", "h = Sub (m, k1) k = Sub (h, i) e = Gather (x, k)"),
    ("a constant", "e0 = Gather (x, i) f = Gather (w, k3) e = Mul (e0, f)"),
    ("twice", "e0 = Gather (x, i) e1 = Gather (x, i) e = Mul (e0, e1)"))  # fmt: skip
def test_ways_to_read_an_element(what, nodes):
    text = loop(f"{nodes} r = Add (a, e) q = Neg (r)").replace(
        "sh = Shape", f"{CONSTANTS} sh = Shape"
    )
    model = converted(text, map(feed, (0, 1, 5)))
    assert "Range" not in op_types(model.graph)
    assert not {"Slice", "Squeeze"} & set(inside(model))
    assert ("Gather" in inside(model)) == (what == "a constant")


ADD = "r = Add (a, e) q = Neg (r)"


@table(
    ("fewer iterations than rows", READS, "n", (0, 1, 3, 5)),
    ("from the third row on", f"k = Add (i, k2) e = Gather (x, k) {ADD}", "n", (0, 1, 3)),
    ("the one before", f"k = Sub (i, k1) e = Gather (x, k) {ADD}", "n", (0, 1, 5)),
    ("the number besides", f"g = Gather (x, i) f = Cast <to = 1> (i) e = Add (g, f) {ADD}", "n",
     (0, 1, 5)),
    ("the number alone", "f = Cast <to = 1> (i) r = Add (a, f) q = Neg (r)", "n", (0, 1, 5, 9)),
    ("nothing of the number", "r = Add (a, a) q = Neg (r)", "n", (0, 1, 5, 9)),
    ("as many as a constant", READS, "k3", (0,)),
    ("of a constant", "e = Gather (w, i) r = Add (a, e) q = Neg (r)", "n", (0, 1, 5)),
    ("a slice of a constant",
     f"k = Unsqueeze (i, k0) l = Add (k, kk) f = Slice (w, k, l) e = Squeeze (f, k0) {ADD}", "k3",
     (0,)),
    ("in a branch",
     """p = Greater (i, k2) e = If (p) <then_branch = t () => (float[3] u) { u = Gather (x, i) },
            else_branch = f () => (float[3] v) { v = Neg (a) }> r = Add (a, e) q = Neg (r)""",
     "n", (0, 1, 5)))  # fmt: skip
def test_other_numbers_of_iterations(what, body, iterations, lengths):
    text = loop(body, iterations).replace(
        "sh = Shape", f"{CONSTANTS} k2 = Constant <value_int = 2> () sh = Shape"
    )
    model = converted(text)
    for length in lengths:
        assert_equal_outputs(text, model, feed(5, length))
    assert_equal_outputs(text, model, feed(5, -3))


def test_reading_past_the_end_fails_as_before():
    text = as_model(loop(READS, "n"))
    model = converted(text)
    for given in (text, model):
        for run in (reference.run, run_in_onnxruntime):
            with pytest.raises(Exception, match=r"bounds|out of|indices"):
                run(given, feed(3, 4))


@pytest.mark.parametrize("body", [READS, "f = Cast <to = 1> (i) r = Add (a, f) q = Neg (r)"])
def test_a_maximum_that_is_a_vector_of_one(body):
    text = loop(body, "v").replace(
        "sh = Shape", "k = Constant <value_ints = [1]> () v = Reshape (n, k) sh = Shape"
    )
    converted(text, [feed(5, length) for length in (0, 1, 5)])


@pytest.mark.parametrize("start", [True, False])
def test_a_start_that_run_time_decides(start):
    text = loop(READS, start="go", given=GIVEN + ", bool go")
    assert_equal_outputs(text, converted(text), {**feed(4), "go": np.array(start)})


@pytest.mark.parametrize("rank", [0, 1])
def test_a_number_of_a_declared_rank(rank):
    dims = "[1]" if rank else ""
    body = f"f = Cast <to = 1> (i) g = Gather (x, i) h = Add (g, f) e = Reshape (h, k3) {ADD}"
    text = loop(body, "n", number=f"int64{dims} i").replace(
        "sh = Shape", "k3 = Constant <value_ints = [3]> () sh = Shape"
    )
    converted(text, [feed(5, length) for length in (0, 1, 5)])


def test_a_counter_is_a_number():
    text = """g (float[N, 3] x, float[3] s) => (int64 k, float[3] y)
        <bool yes = {1}, int64 zero = {0}, int64 one = {1}> {
        sh = Shape (x) m = Gather (sh, zero)
        k, y = Loop (m, yes, zero, s) <body = b (int64 i, bool c, int64 t, float[3] a)
                => (bool c2, int64 u, float[3] r) {
            c2 = Identity (c) e = Gather (x, t) r = Sub (a, e) u = Add (t, one) }> }"""
    model = converted(text, [{"x": numbers(length, 3), "s": numbers(3)} for length in (0, 1, 5)])
    assert "Gather" not in inside(model)


@table(("a", "a"), ("a", "e"), ("e", "e"), ("x2", "r"), ("r", "r"))
def test_outputs_that_are_inputs_of_the_body(given, back):
    """onnxruntime mixes these up where a body does not make a value for each output."""
    text = loop("e = Gather (x, i) r = Add (a, e) x2 = Identity (s)", "m").replace(
        "float[3] r, float[3] q", f"float[3] {back}, float[3] {given}"
    )
    model = converted(text)
    for length in (0, 1, 5):
        fed = feed(length)
        got, expected = (
            run(m, fed) for m, run in ((model, run_in_onnxruntime), (as_model(text), reference.run))
        )
        for one, other in zip(got, expected, strict=True):
            assert_equal(one, other)


def test_an_unneeded_value_may_read_the_iteration_number():
    """A Scan has no iteration number, so the value is left out of it."""
    text = """g (float[N, 3] x, float[3] y, int64 n) => (float[3] z, float[M, 3] r)
        <bool yes = {1}> { z, r = Loop (n, yes, y) <body = b (int64 i, bool c, float[3] a)
            => (bool c2, float[3] a2, float[3] q) { c2 = Identity (c) e = Gather (x, i)
            dead = Cast <to = 1> (i) s = Sin (a) a2 = Add (s, e) q = Neg (a2) }> }"""
    after = run_passes(text, LoopsToScans()).model
    assert "Scan" in {node.op_type for node in _all_nodes(after.graph)}
    assert "Cast" not in {node.op_type for node in _all_nodes(after.graph)}


def _all_nodes(graph):
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [*graph.node, *(node for one in inner for node in _all_nodes(one))]


def test_outputs_that_are_omitted():
    """onnxruntime does not load every Scan that omits one."""
    text = """g (float[3] s, float[N, 3] x, int64 n) => (float[?, 3] z) <bool yes = {1}> {
        , , z = Loop (n, yes, s, s) <body = b (int64 i, bool c, float[3] a, float[3] f)
                => (bool c2, float[3] r, float[3] v, float[3] q) {
            c2 = Identity (c) e = Gather (x, i) r = Add (a, e) q = Neg (r) v = Add (f, r) }> }"""
    model = converted(text)
    for length in (0, 1, 5):
        fed = feed(length)
        assert_equal_outputs(text, model, {name: fed[name] for name in ("s", "x", "n")})


def test_a_loop_that_nothing_reads():
    """An If has an output; without readers there is nothing to choose."""
    text = loop("t = Add (a, a) r = Identity (t) q = Identity (t)").replace(
        "y, z = Loop", "u, v = Loop"
    )
    text = text.replace("}> }", "}> y = Identity (s) z = Identity (x) }")
    result = run_passes(text, LoopsToScans())
    assert result.changed and "If" not in op_types(result.model.graph)
    for length in (0, 2):
        assert_equal_outputs(text, result.model, feed(length))


def test_a_table_of_the_body():
    text = """g (float[3] s, int64 n) => (float[3] y) <bool yes = {1}> {
        y = Loop (n, yes, s) <body = b (int64 i, bool c, float[3] a) => (bool c2, float[3] r)
            <float[2, 3] t = {1, 2, 3, 4, 5, 6}> {
            c2 = Identity (c) e = Gather (t, i) r = Mul (a, e) }> }"""
    model = converted(text, [{"s": numbers(3), "n": np.array(n)} for n in (0, 1, 2)])
    assert inside(model) == ["Mul"]


def test_empty_elements_along_another_axis():
    """onnxruntime's process crashes where it scans such a tensor along that axis."""
    text = """g (float[B, N] x, float[B] s) => (float[B] y) <bool yes = {1}, int64 one = {1}> {
        sh = Shape (x) m = Gather (sh, one)
        y = Loop (m, yes, s) <body = b (int64 i, bool c, float[B] a) => (bool c2, float[B] r) {
            c2 = Identity (c) e = Gather <axis = 1> (x, i) r = Add (a, e) }> }"""
    shapes = ((0, 0), (0, 2), (2, 0), (2, 3))
    converted(text, [{"x": numbers(*shape), "s": numbers(shape[0])} for shape in shapes])


def test_an_inner_loop_goes_before_the_one_around_it():
    text = """g (float[N, M] x, float s) => (float y)
        <bool yes = {1}, int64 zero = {0}, int64 one = {1}> {
        sh = Shape (x) n = Gather (sh, zero) m = Gather (sh, one)
        y = Loop (n, yes, s) <body = b (int64 i, bool c, float a) => (bool c2, float r) {
            c2 = Identity (c) e = Gather (x, i)
            r = Loop (m, yes, a) <body = h (int64 j, bool d, float f) => (bool d2, float u) {
                d2 = Identity (d) v = Gather (e, j) w = Mul (f, v) u = Add (w, v) }> }> }"""
    result = run_passes(
        text,
        LoopsToScans(),
        feeds=[{"x": numbers(*shape), "s": numbers()} for shape in ((0, 2), (2, 0), (3, 4))],
    )
    assert list(op_types(result.model.graph)).count("Scan") == 2


@table(
    ("its body decides when it ends", loop("p = Less (i, n) " + READS).replace(
        "bool c2,", "bool p,"
    )),
    ("it has no maximum", loop(READS, iterations="")),
    ("whose shape may change", """g (float[N] x, int64 n) => (float[?] y) <bool yes = {1}> {
        y = Loop (n, yes, x) <body = b (int64 i, bool c, float[?] a) => (bool c2, float[?] r) {
            c2 = Identity (c) r = Concat <axis = 0> (a, x) }> }"""),
    ("which is not a tensor", """g (int64 n, float[3] x) => (seq(float[3]) y) <bool yes = {1}> {
        q = SequenceEmpty <dtype = 1> ()
        y = Loop (n, yes, q) <body = b (int64 i, bool c, seq(float[3]) a)
                => (bool c2, seq(float[3]) r) {
            c2 = Identity (c) r = SequenceInsert (a, x) }> }"""),
    ("whose rank is not known", """g (int64 n, float[3] x, int64[K] k) => (float[?] y)
        <bool yes = {1}> { y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
            c2 = Identity (c) r = Reshape (x, k) }> }"""))  # fmt: skip
def test_kept_loops_and_their_reasons(reason, case):
    assert_keeps(LoopsToScans(), case, reason)


def test_without_a_guard_what_may_make_no_iterations_is_kept():
    assert_keeps(LoopsToScans(guard=False), loop(READS), "onnxruntime fails on a Scan of none")


def test_texts_that_a_scan_would_extend():
    text = """<ir_version: 8, opset_import: ["" : 20]> g (string s, string[N] x, int64 n)
        => (string y) <bool yes = {1}> { y = Loop (n, yes, s) <body = b (int64 i, bool c, string a)
        => (bool c2, string r) { c2 = Identity (c) e = Gather (x, i) r = StringConcat (a, e) }> }"""
    assert_keeps(LoopsToScans(), text, "StringConcat extends the text in memory")


def test_older_opsets():
    head = HEAD.replace('"" : 17', '"" : 8')
    assert_keeps(LoopsToScans(), head + loop(READS, "n"), "convert to opset 9")


def test_numbers_before_range():
    text = HEAD.replace('"" : 17', '"" : 10') + loop(READS, "n")
    model = converted(text, [feed(length, length) for length in (0, 1, 4)])
    assert "NonZero" in op_types(model.graph)


def test_an_initializer_that_callers_may_override_decides_nothing():
    text = """g (float[4, 3] x, float[3] s, int64 four) => (float[3] y)
        <bool yes = {1}, int64 four = {4}> {
        y = Loop (four, yes, s) <body = b (int64 i, bool c, float[3] a) => (bool c2, float[3] r) {
            c2 = Identity (c) e = Gather (x, i) r = Add (a, e) }> }"""
    model = converted(text)
    assert "Range" in op_types(model.graph) and "If" in op_types(model.graph)
    for iterations in (0, 2, 4):
        fed = {"x": numbers(4, 3), "s": numbers(3), "four": np.array(iterations)}
        assert_equal_outputs(text, model, fed)


@pytest.mark.parametrize(("more", "many"), [(-1, False), (0, True), (None, False)])
def test_few_iterations_stay_where_costs_count(monkeypatch, more, many):
    table = cost_table("onnxruntime")
    table = dataclasses.replace(table, run={**table.run, "Scan": table.run["Scan"] + 1})
    monkeypatch.setattr(loops_to_scans, "cost_table", lambda costs: table)
    least = table.least_scanned
    iterations = "N" if more is None else least + more
    text = loop(READS).replace("float[N, 3] x", f"float[{iterations}, 3] x")
    result = run_passes(text, LoopsToScans(costs="onnxruntime"))
    assert result.changed == many
    if not many:
        assert f"it may make less than {least} iterations" in result.kept[0].reason


TEXT = """g (float[N, 3] x, int64 n) => (float[?, 3] y) <bool yes = {1}> {
    y = Loop (n, yes) <body = b (int64[1] i, bool c) => (bool c2, float[3] r) {
        c2 = Identity (c) r = Gather (x, i) }> }"""
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def scanned(add):
    model = ir.load(as_model(TEXT))
    node = next(n for n in model.graph.nodes() if n.is_op("Loop"))
    sources = ScanSources(model.graph, read(node), Folder(model).fold)
    add(sources, model.graph.inputs[0])
    model.graph.set_outputs(sources.values, [ir_info(v) for v in sources.values])
    (got,) = reference.run(ir.to_proto(model), {"x": X, "n": np.array(2)})
    return got, sources.backward


def ir_info(value):
    import onnx

    return onnx.ValueInfoProto(name=value.name)


@table(
    (0, 0, 1, True, X),
    (1, 0, 1, True, X.T),
    (0, 0, 1, False, X[:2]),
    (0, 2, 1, False, X[2:]),
    (0, -1, 1, False, X[[-1, 0]]),
    (1, 1, 1, False, X.T[1:]),
    (0, 3, -1, True, X),
    (0, 1, -1, False, X[:2]),
)
def test_rows(axis, start, step, whole, expected):
    def add(sources, x):
        sources.add(Selection(x, axis, Dimension.constant(start), step), 2, whole)

    got, backward = scanned(add)
    np.testing.assert_array_equal(got, expected)
    assert backward == [step == -1]


def test_numbers_have_the_rank_that_the_body_declares():
    got, backward = scanned(lambda sources, x: sources.add_numbers())
    np.testing.assert_array_equal(got, [[0], [1]])
    assert backward == [False]
