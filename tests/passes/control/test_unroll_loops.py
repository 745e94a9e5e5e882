import numpy as np
import onnx
import pytest
from harness import HEAD, as_model, assert_equal_outputs, assert_keeps, assert_rewrites, run_passes
from loops import NEGATE, X, assert_unrolls, op_types
from sessions import by_reference, open_session
from straightline import load, reference, transform
from straightline.passes import PassContext, Pipeline, UnrollLoops, UnrollScans, straighten
from tables import table

NEGATE_AND_KEEP = """<body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r, float[2] s) {
    c2 = Identity (c) r = Neg (a) s = Add (a, a)
}>"""


def test_carried_value():
    assert_rewrites(
        UnrollLoops(),
        """g (float[2] x) => (float[2] y) <int64 two = {2}> {
           y = Loop (two, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
              r = Neg (a) }> }""",
        """g (float[2] x) => (float[2] y) <int64 two = {2}> {
           r_0 = Neg (x)
           y = Neg (r_0) }""",
        [{"x": np.array([1, -2], np.float32)}],
    )


def test_scan_output():
    assert_rewrites(
        UnrollLoops(),
        """g (float[2] x) => (float[2] y, float[2,2] s) <int64 two = {2}, bool yes = {1}> {
           y, s = Loop (two, yes, x) <body = b (int64 i, bool c, float[2] a)
                                             => (bool c, float[2] r, float[2] r) {
              r = Neg (a) }> }""",
        """g (float[2] x) => (float[2] y, float[2,2] s) <int64 two = {2}, bool yes = {1},
                                                      int64[1] axes = {0}> {
           r_0 = Neg (x)
           y = Neg (r_0)
           r_0_row = Unsqueeze (r_0, axes)
           r_1_row = Unsqueeze (y, axes)
           s = Concat <axis = 0> (r_0_row, r_1_row) }""",
        [{"x": np.array([1, -2], np.float32)}],
    )


def test_run_time_trip_count_is_kept():
    assert_keeps(
        UnrollLoops(),
        """g (float[2] x, int64 n) => (float[2] y) {
           y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
              r = Neg (a) }> }""",
        "trip count depends on input 'n'; decide it with --set n=...",
    )


@pytest.mark.parametrize("limit", [{"max_trips": 4}, {"max_nodes": 4}])
def test_over_budget_is_kept(limit):
    assert_keeps(
        UnrollLoops(**limit),
        """g (float[2] x) => (float[2] y) <int64 n = {5}> {
           y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
              r = Neg (a) }> }""",
        next(iter(limit)),
    )


@table("int64 n = {-2}", "int64 n = {0}", "int64 n = {3}, bool no = {0}")
def test_no_iterations(decides):
    no = "no" if "no" in decides else ""
    model = assert_unrolls(
        f"""g (float[2] x) => (float[2] y, float[K,2] s) <{decides}> {{
            y, s = Loop (n, {no}, x) {NEGATE_AND_KEEP} }}""",
        X,
    )
    assert list(op_types(model.graph)) == ["Identity"]
    assert [tuple(t.dims) for t in model.graph.initializer] == [(0, 2)]


def test_no_iterations_of_elements_with_a_symbolic_size():
    model = assert_unrolls("""g (float[N] x) => (float[N] y, float[K,M] s) <int64 n = {0}> {
            y, s = Loop (n, , x) <body = b (int64 i, bool c, float[N] a)
                                       => (bool c, float[N] r, float[N] r) { r = Neg (a) }> }""")
    assert [tuple(t.dims) for t in model.graph.initializer] == [(0, 0)]


def test_no_iterations_of_elements_of_unknown_rank_are_kept():
    text = """g (float[2] x) => (float[2] y, float[K,2] s) <int64 n = {0}> {
            y, s = Loop (n, , x) <body = b (int64 i, bool c, float[2] a)
                                       => (bool c2, float[2] r, t) {
                c2 = Identity (c) r = Neg (a) t = com.microsoft.Strange (a) }> }"""
    result = Pipeline([UnrollLoops()]).run(as_model(text))
    assert not result.changed
    assert "the sizes of its scan output 't' are not certain" in result.kept[0].reason


def test_no_iterations_of_elements_whose_sizes_are_in_doubt_are_kept():
    """Inference does not know what is computed, a runtime that folds constants does."""
    text = """g (float[N,3] x) => (y) <int64 n = {0}, int64[1] k = {2}, bool yes = {1}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, s) {
            c2 = Identity (c) z = Shape (x) t = Slice (z, k, k) u = Concat <axis = 0> (k, t)
            f = Cast <to = 1> (i) s = Expand (f, u) }> }"""
    result = Pipeline([UnrollLoops()]).run(as_model(text))
    assert not result.changed
    assert "the sizes of its scan output 's' are not certain" in result.kept[0].reason


def test_no_iterations_of_elements_that_the_model_declares_of_other_sizes_are_kept():
    text = """g (float[N,3] x, int64[2] z) => (float[K,7,3] y) <int64 n = {0}, bool yes = {1}> {
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, s) {
            c2 = Identity (c) s = Reshape (x, z) }> }"""
    assert not Pipeline([UnrollLoops()]).run(as_model(text)).changed


@table(
    ("float[2] a", "float[M] s", (0, 2)),
    ("float[2] a", "s", (0, 2)),
    ("float[N] a", "float[M] s", (0, 0)),
    ("float[N] a", "s", (0, 0)),
    ("a", "float[M] s", (0, 0)),
    ("a", "s", (0,)),
)
def test_no_iterations_of_elements_of_the_sizes_that_the_body_tells(inputs, output, shape):
    """Not those of what is carried into it, in the reference and in onnxruntime."""
    text = f"""g (float[2] x) => (float[2] y, t) <int64 n = {{0}}> {{
        y, t = Loop (n, , x) <body = b (int64 i, bool c, {inputs}) => (bool c2, r, {output}) {{
            c2 = Identity (c) r = Neg (a) s = Add (a, a) }}> }}"""
    result = Pipeline([UnrollLoops()]).run(as_model(text))
    assert [tuple(t.dims) for t in result.model.graph.initializer][1:] == [shape]
    assert open_session(as_model(text)).run(None, X)[1].shape == shape
    if (inputs, output) != ("a", "s"):  # of no type the reference makes none
        assert reference.run(as_model(text), X)[1].shape == shape


@pytest.mark.parametrize("rank", ["", "[1]"])
def test_the_body_sees_number_and_condition_in_the_rank_that_it_declares(rank):
    model = assert_unrolls(
        f"""g (float[2] x) => (float[2] y, int64[K{",1" if rank else ""}] s)
            <int64{rank} n = {{3}}, bool{rank} yes = {{1}}> {{
            y, s = Loop (n, yes, x)
                <body = b (int64{rank} i, bool{rank} c, float[2] a)
                       => (bool{rank} c2, float[2] r, int64{rank} j) {{
                    c2 = Identity (c) r = Neg (a) j = Identity (i) }}> }}""",
        X,
    )
    assert "Concat" not in op_types(model.graph)


def test_an_initializer_that_callers_may_override_decides_nothing():
    text = f"""g (float[2] x, int64 n) => (float[2] y) <int64 n = {{2}}> {{
        y = Loop (n, , x) {NEGATE} }}"""
    assert_keeps(UnrollLoops(), text, "'n', an initializer that callers may override")
    assert_unrolls(text, X, head='<ir_version: 3, opset_import: ["" : 11]>\n')


def test_outputs_of_a_body_in_any_form():
    """Swapped and repeated inputs, the number, the condition: all are outputs at some time."""
    model = assert_unrolls(
        """g (float[2] x, float[2] y) => (float[2] p, float[2] q, float[K,2] s, float[K,2] t,
                                          int64[K] u, bool[K] v) <int64 n = {3}> {
            p, q, s, t, u, v = Loop (n, , x, y)
                <body = b (int64 i, bool c, float[2] a, float[2] b)
                       => (bool c, float[2] b, float[2] a, float[2] a, float[2] a, int64 i, bool
                           c) {}> }""",
        head=HEAD,
    )
    feed = {"x": np.array([1, 2], np.float32), "y": np.array([3, 4], np.float32)}
    p, q, s, t, u, v = reference.run(model, feed)
    np.testing.assert_array_equal(p, [3, 4])
    np.testing.assert_array_equal(q, [1, 2])
    np.testing.assert_array_equal(s, [[1, 2], [3, 4], [1, 2]])
    np.testing.assert_array_equal(t, s)
    np.testing.assert_array_equal(u, [0, 1, 2])
    np.testing.assert_array_equal(v, [True] * 3)


def test_a_graph_output_twice_and_a_graph_input_as_output():
    model = assert_unrolls(
        f"""g (float[2] x, float[2] w) => (float[2] p, float[2] q, float[2] y) <int64 n = {{0}},
                                                                              int64 m = {{2}}> {{
            p = Loop (n, , x) {NEGATE}
            q = Identity (p)
            y = Loop (m, , w) {NEGATE} }}""",
        {**X, "w": np.array([3, 4], np.float32)},
    )
    assert [o.name for o in model.graph.output] == ["p", "q", "y"]


def test_omitted_and_unused_outputs():
    assert_unrolls(
        f"""g (float[2] x) => (float[K,2] s) <int64 n = {{2}}> {{
            , s = Loop (n, , x) {NEGATE_AND_KEEP} }}""",
        X,
    )


def test_carried_shape_that_changes():
    model = assert_unrolls("""g (float[2] x) => (float[K] y) <int64 n = {3}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[K] a) => (bool c, float[L] r)
                    <float[4] d> {
                d = Concat <axis = 0> (a, x) r = Neg (d) }> }""")
    np.testing.assert_array_equal(reference.run(model, X)[0].shape, [8])


_BRANCHES = """g (float[2, 2] x, bool q) => (float[k, 2] y) <int64 n = {3}, int64[2] z = {0, 1}> {
    h = Loop (n, , x) <body = b (int64 i, bool c, float[p, 2] a) => (bool d, float[m, 2] r) {
        d = Identity (c) r = Concat <axis = 0> (a, a) }>
    y = If (q) <then_branch = t () => (u) { u = %s },
        else_branch = e () => (v) { v = Neg (x) }> }"""


@table(("Abs (h)", 10, True), ("Abs (h)", 11, False), ("Gather (h, z)", 10, False))
def test_sizes_that_one_branch_of_an_if_would_have(branch, opset, kept):
    """If 1 has one shape for both branches, as far as inference knows."""
    text = f'<ir_version: 5, opset_import: ["" : {opset}]> {_BRANCHES % branch}'
    if kept:
        assert_keeps(UnrollLoops(), text, "If 'y' may return sizes that follow from it, and both")
        return
    model = assert_unrolls(text, *[{"x": np.eye(2, dtype=np.float32), "q": np.array(True)}])
    onnx.checker.check_model(model, full_check=True)
    open_session(model)


@pytest.mark.parametrize("step", ("Mul (a, x)", "Tanh (a)", "Concat <axis = 0> (a, x)"))
@pytest.mark.parametrize("passes", (None, "accelerate"))
def test_loops_that_hide_sizes_of_a_branch_stay(step, passes):
    """onnx's inference knows no size of a state: the result of another pass was invalid, too."""
    branches = _BRANCHES.replace("float[p, 2] a", "a").replace("float[m, 2] r", "r")
    text = (
        branches.replace("Concat <axis = 0> (a, a)", step).replace("Neg (x)", "Neg (w)") % "Abs (h)"
    )
    model = as_model(
        '<ir_version: 5, opset_import: ["" : 10]>'
        + text.replace("x, bool", "x, float[5, 2] w, bool")
    )
    rewrite = transform(model, passes=passes, verify=False)
    open_session(rewrite.model)
    assert any("before opset 11" in str(remark) for remark in rewrite.remarks)
    assert "please report" not in str(transform(model, passes=passes).remarks)


def test_declared_shapes_of_inner_bodies_do_not_outlive_the_loop():
    text = """g (float[2] x, bool q) => (float[K] y) <int64 n = {3}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[P] a) => (bool c, float[Q] r) {
                d = Concat <axis = 0> (a, x)
                r = If (q) <
                    then_branch = t () => (float[4] u) <float[4] w> { w = Neg (d) u = Relu (w) },
                    else_branch = e () => (float[4] v) { v = Relu (d) }> }> }"""
    result = straighten().run(as_model(text)).model
    onnx.checker.check_model(result, full_check=True)
    assert_equal_outputs(result, result, {**X, "q": np.array(True)})
    assert reference.run(result, {**X, "q": np.array(True)})[0].shape == (8,)


def test_inner_trip_count_from_the_outer_number():
    model = assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {4}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                r = Loop (i, , a) <body = d (int64 j, bool c1, float[2] a1) => (bool c1, float[2]
                    r1) {
                    q = Add (a1, a) r1 = Sub (q, x) }> }> }""",
        X,
    )
    assert list(op_types(model.graph)).count("Sub") == 0 + 1 + 2 + 3


def test_strict_mode_asks_for_what_is_left_at_the_end():
    text = """g (float[2] x) => (float[2] y) <int64 n = {2}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
            r = Loop (i, , a) <body = d (int64 j, bool c1, float[2] a1) => (bool c1, float[2] r1) {
                r1 = Neg (a1) }> }> }"""
    assert Pipeline([UnrollLoops()]).run(as_model(text), strict=True).kept == ()


def test_names_that_are_used_again():
    """Each copy, an inner Loop and what comes after use the same names; all stay apart."""
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {2}> {
            y0 = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                t = Neg (a)
                r = Loop (n, , t) <body = d (int64 i1, bool c1, float[2] a1) => (bool c1, float[2]
                    r1) {
                    r1 = Add (a1, x) }> }>
            y1 = Loop (n, , y0) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                t = Add (a, a) r = Sub (t, x) }>
            y = Neg (y1) }""",
        X,
    )


def test_an_if_that_each_iteration_decides_has_a_remark_of_its_own():
    text = """g (float[2] x) => (float[2] y) <int64 n = {2}, int64 one = {1}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] r) {
            d = Identity (c) f = Less (i, one)
            r = If (f) <then_branch = t () => (float[2] u) { u = Neg (a) },
                        else_branch = e () => (float[2] v) { v = Relu (a) }> }> }"""
    result = run_passes(text, UnrollLoops())
    said = {r.op_type: r.reason for r in result.remarks if r.action == "rewritten"}
    assert said == {"Loop": "unrolled, 2 iterations", "If": "decided on each iteration"}


@pytest.mark.parametrize(("iterations", "pays"), [(1, True), (2, True), (20, False)])
def test_copies_that_load_slower_are_not_made_where_costs_count(iterations, pays):
    text = f"""g (float[2] x) => (float[2] y) <int64 n = {{{iterations}}}, bool yes = {{1}}> {{
        y = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
            c2 = Identity (c) r = Neg (a) }}> }}"""
    result = run_passes(text, UnrollLoops(costs="onnxruntime"))
    assert result.changed == pays
    if not pays:
        assert (
            f"one for each of {iterations} iterations, would load slower" in result.kept[0].reason
        )


@table(
    ("straightline_iteration", 501, None, True),
    ("straightline_iteration_1", 501, lambda *_: True, True),
    ("straightline_iteration", 500, None, False),
    ("straightline_iteration", 501, lambda op_type, _: op_type != "Loop", False),
    ("b", 501, None, False),
)
def test_a_loop_that_expresses_an_operator_has_a_limit_of_its_own(body, iterations, supports, kept):
    """Unless the client lacks Loop; a second rewrite knows the loop by its body."""
    text = f"""g (float[2] x) => (float[2] y) <int64 n = {{{iterations}}}> {{
        y = Loop (n, , x) <body = {body} (int64 i, bool c, float[2] a) => (bool d, float[2] r) {{
            d = Identity (c)  r = Neg (a) }}> }}"""
    model = load(as_model(text))
    context = PassContext(supports=supports)
    assert UnrollLoops().run(model, context) != kept
    reasons = [str(remark.reason) for remark in context.remarks if remark.action == "kept"]
    assert reasons == (
        [
            f"it expresses an operator, and its {iterations} iterations would add"
            f" {2 * iterations} nodes, over written_loop_nodes=1000"
        ]
        if kept
        else []
    )


def test_many_copies_are_remarked():
    """Also of a Scan; not where costs were compared, or few nodes are added."""
    body = "b = Relu (a) d = Neg (b) e = Sin (d)"
    text = """g (float[N] x, float[900, 2] z) => (float[N] y, float[2] w) {
        iterations = Constant <value_int = %d> ()
        y = Loop (iterations, , x) <body = b (int64 i, bool c, float[N] a) => (bool c2, float[N] e)
            { c2 = Identity (c) %s }>
        zero = Constant <value_floats = [0.0, 0.0]> ()
        w = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] r) => (float[2] e)
            { %s }> (zero, z) }"""
    passes = UnrollLoops(), UnrollScans()
    reasons = [r.reason for r in run_passes(text % (700, body, body), *passes).remarks]
    assert all("of the loop's speed" in reason and "accelerate" in reason for reason in reasons)
    assert len(reasons) == 2
    few = run_passes(text % (3, body, body), UnrollLoops()).remarks
    assert [remark.reason for remark in few] == ["unrolled, 3 iterations"]
    compared = UnrollLoops(costs="onnxruntime", copies="run")
    for remark in run_passes(text % (700, body, body), compared).remarks:
        assert "of the loop's speed" not in remark.reason


CONDITIONS = {
    "always false": "c2 = Constant <value = bool {0}> ()",
    "false after three iterations": "c2 = Less (i, two)",
    "from outside": "c2 = Not (q)",
}


def without_condition(kind):
    return f"""g (float[2] x, bool q) => (float[2] y, bool[K] s) <int64 n = {{5}}, int64 two =
        {{2}}> {{
        y, s = Loop (n, , x) <body = b (int64 i, bool c, float[2] a)
                                   => (bool c2, float[2] r, bool d) {{
            {CONDITIONS[kind]} r = Neg (a) d = Identity (c) }}> }}"""


@pytest.mark.parametrize("kind", CONDITIONS)
@pytest.mark.parametrize("q", [False, True])
def test_without_an_initial_condition_the_specification_ignores_the_bodys(kind, q):
    text = without_condition(kind)
    assert_keeps(UnrollLoops(), text, "choose with --passes 'straighten{absent_cond=ignore}'")
    assert_unrolls(text, {**X, "q": np.array(q)}, absent_cond="ignore")


@pytest.mark.parametrize("kind", list(CONDITIONS)[:2])
def test_without_an_initial_condition_onnxruntime_honours_the_bodys(kind):
    feed = {**X, "q": np.array(True)}
    assert_unrolls(without_condition(kind), feed, absent_cond="honour", break_without_cond=True)


def test_a_computed_condition_that_never_fails_is_not_ambiguous():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {3}, int64 nine = {9}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
                c2 = Less (i, nine) r = Neg (a) }> }""",
        X,
    )


@pytest.mark.parametrize("given", ["", "yes"])
def test_one_iteration_whatever_the_body_says(given):
    assert_unrolls(
        f"""g (float[2] x, bool q) => (float[2] y) <int64 n = {{1}}, bool yes = {{1}}> {{
            y = Loop (n, {given}, x) <body = b (int64 i, bool c, float[2] a)
                                           => (bool c2, float[2] r) {{ c2 = Not (q) r = Neg (a) }}>
        }}""",
        {**X, "q": np.array(True)},
    )


@pytest.mark.parametrize("most", ["", "most"])
def test_while_loop(most):
    assert_unrolls(
        f"""g (float[2] x) => (float[2] y, int64 k) <int64 most = {{9223372036854775807}},
              int64 zero = {{0}}, int64 one = {{1}}, int64 five = {{5}}, bool yes = {{1}}> {{
            y, k = Loop ({most}, yes, x, zero)
                <body = b (int64 i, bool c, float[2] a, int64 k0)
                       => (bool c2, float[2] r, int64 k1) {{
                    k1 = Add (k0, one) c2 = Less (k1, five) r = Neg (a) }}> }}""",
        X,
    )


def test_an_unknown_maximum_may_end_a_while_loop_at_once():
    assert_keeps(
        UnrollLoops(),
        """g (float[2] x, int64 m) => (float[2] y) <bool yes = {1}, bool no = {0}> {
            y = Loop (m, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
                c2 = Identity (no) r = Neg (a) }> }""",
        "trip count depends on input 'm'",
    )


@pytest.mark.parametrize("inputs", ["", "yes"])
def test_a_loop_that_never_ends_is_kept(inputs):
    text = (
        f"g (float[2] x) => (float[2] y) <bool yes = {{1}}> {{ y = Loop (, {inputs}, x) {NEGATE} }}"
    )
    assert_keeps(UnrollLoops(), text, "it never ends")


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_condition_that_a_call_gives_beside_what_run_time_decides(size):
    text = f"""<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[{size}] x) => (float[{size}] y, float k)
    <float zero = {{0}}, float e = {{0.75}}, bool yes = {{1}}> {{
        y, k = Loop (, yes, x, zero) <
            body = b (int64 i, bool c, float[{size}] a, float t)
                => (bool d, float[{size}] a2, float t2) {{ a2, t2, d = local.step (a, t, e) }}> }}
    <domain: "local", opset_import: ["" : 17]> step (s, t, e) => (r, u, d) {{
        r = Tanh (s)
        n = Size (r)
        most = Cast <to = 1> (n)
        u = Add (t, e)
        d = Less (u, most) }}"""
    result = straighten().run(as_model(text))
    kinds = [node.op_type for node in result.model.graph.node if node.op_type != "Identity"]
    assert kinds == ["step"] * max(1, -(-size * 4 // 3))
    assert_equal_outputs(text, result.model, {"x": np.ones(size, np.float32)})


RANDOM = "z = RandomNormal <shape = [2], seed = 1.0> () r = Add (a, z)"
IN_BRANCH = """r = If (yes) <then_branch = t () => (float[2] u) { z = RandomUniformLike (a)
    u = Add (a, z) }, else_branch = e () => (float[2] v) { v = Neg (a) }>"""


@table(
    (RANDOM, ""),
    (IN_BRANCH, ""),
    ("r, mask = Dropout (a, ratio, yes)", ""),
    ("p = Sigmoid (a) r = Bernoulli (p)", ""),
    ("r = local.f (a)", RANDOM),
    ("r = com.microsoft.BiasDropout (a, x, , ratio, yes)", ""),
)
def test_random_operators_keep_the_loop(body, function):
    text = f"""g (float[2] x) => (float[2] y) <int64 n = {{2}}, bool yes = {{1}}, float ratio =
        {{0.5}}> {{
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
            c2 = Identity (c) {body} }}> }}"""
    if function:
        text += f'<domain: "local", opset_import: ["" : 17]> f (a) => (r) {{ {function} }}'
    assert_keeps(UnrollLoops(), text, "it draws random numbers")


def test_dropout_that_does_not_train_is_not_random():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {2}, bool no = {0}, float ratio = {0.5}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                r, mask = Dropout (a, ratio, no) }> }""",
        X,
    )


def test_values_of_a_gradient_are_kept():
    outside = f"""g (float[2] x) => (float[2] y, float[2] d) <int64 n = {{2}}> {{
        y = Loop (n, , x) {NEGATE}
        d = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x) }}"""
    inside = """g (float[2] x) => (float[2] y) <int64 n = {2}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c) q = Mul (a, a)
            r = ai.onnx.preview.training.Gradient <xs = ["a"], y = "q"> (a) }> }"""
    training = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>\n'
    for text, reason in ((outside, "named from outside"), (inside, "names tensors")):
        result = Pipeline([UnrollLoops()]).run(as_model(training + text))
        assert not result.changed
        assert reason in result.kept[0].reason


@pytest.mark.parametrize("opset", [13, 14])
def test_sequences(opset):
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    carried = """g (float[2] x) => (seq(float[K]) y) <int64 n = {{{n}}}> {{
        s = SequenceConstruct (x)
        y = Loop (n, , s) <body = b (int64 i, bool c, seq(float[K]) a) => (bool c2, seq(float[K])
            r) {{
            c2 = Identity (c) r = SequenceInsert (a, x) }}> }}"""
    assert_unrolls(carried.format(n=2), X, head=head)
    assert_unrolls(carried.format(n=0), X, head=head)
    given = carried.replace("float[2] x)", "float[2] x, seq(float[K]) s)").replace(
        "s = SequenceConstruct (x)", ""
    )
    feed = {**X, "s": [np.array([5], np.float32)]}
    assert_unrolls(given.format(n=2), feed, head=head)
    if opset == 13:
        assert_keeps(UnrollLoops(), head + given.format(n=0), "no Identity can name in opset 13")
    else:
        assert_unrolls(given.format(n=0), feed, head=head)


@pytest.mark.parametrize("opset", [13, 14])
def test_one_sequence_as_two_outputs(opset):
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    text = """g (float[2] x) => (seq(float[K]) y, seq(float[K]) z) <int64 n = {2}> {
        s = SequenceConstruct (x)
        y, z = Loop (n, , s, s) <body = b (int64 i, bool c, seq(float[K]) a, seq(float[K]) b)
                                     => (bool c2, seq(float[K]) r, seq(float[K]) r) {
            c2 = Identity (c) r = SequenceInsert (a, x) }> }"""
    if opset == 13:
        assert_keeps(UnrollLoops(), head + text, "no Identity can name in opset 13")
    else:
        model = assert_unrolls(text, head=head)
        assert [len(s) for s in by_reference(model, X)] == [3, 3]


def test_optionals():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {2}> {
            o = Optional (x)
            p = Loop (n, , o)
                <body = b (int64 i, bool c, optional(float[2]) a) => (bool c2, optional(float[2])
                    r) {
                    c2 = Identity (c) v = OptionalGetElement (a) w = Neg (v) r = Optional (w) }>
            y = OptionalGetElement (p) }""",
        X,
    )


def test_a_node_that_would_fail_is_not_run_by_a_loop_without_iterations():
    assert_unrolls(
        """g (float[2] x) => (float[2] y) <int64 n = {0}, float[1] w = {1}, int64[1] five = {5}> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
                k = Gather (w, five) r = Add (a, k) }> }""",
        X,
    )


def test_a_budget_is_counted_over_all_loops_and_before_anything_is_copied():
    loops = "".join(f"y{k} = Loop (n, , x) {NEGATE} " for k in range(3))
    text = f"""{HEAD}g (float[2] x) => (float[2] y) <int64 n = {{4}}> {{
        {loops} z = Add (y0, y1) y = Add (z, y2) }}"""
    result = Pipeline([UnrollLoops(max_nodes=12)]).run(as_model(text))
    assert len(result.kept) == 1
    assert "over max_nodes=12" in result.kept[0].reason
    assert list(op_types(result.model.graph)).count("Loop") == 1
    assert_keeps(UnrollLoops(max_nodes=3), text, "over max_nodes=3")


def test_a_weight_is_shared_by_all_copies():
    weight = np.ones((256, 256), np.float32)
    model = as_model(
        """g (float[1,256] x) => (float[1,256] y) <int64 n = {40}, float[256,256] w> {
            y = Loop (n, , x) <body = b (int64 i, bool c, float[1,256] a) => (bool c, float[1,256]
                r) {
                r = MatMul (a, w) }> }"""
    )
    del model.graph.initializer[:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(40, np.int64), "n"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    del model.graph.value_info[:]
    assert run_passes(model, UnrollLoops()).model.ByteSize() < weight.nbytes + 40 * 100


# Limits, each at its edge

COUNTED = f"""g (float[2] x) => (float[2] y) <int64 n = {{5}}> {{ y = Loop (n, , x) {NEGATE} }}"""
WHILE = """g (float[2] x) => (float[2] y, int64 last)
    <int64 zero = {0}, int64 one = {1}, int64 four = {5}, bool yes = {1}> {
    y, last = Loop (, yes, x, zero) <body = b (int64 i, bool c, float[2] a, int64 k)
                                     => (bool c2, float[2] r, int64 k2) {
        k2 = Add (k, one) r = Neg (a) c2 = Less (k2, four) }> }"""
BY_SHAPE = """g (float[2] x) => (float[2] y, float[N] last) <bool yes = {1}, int64[1] five = {6}> {
    y, last = Loop (, yes, x, x) <body = b (int64 i, bool c, float[2] a, float[N] k)
                                  => (bool c2, float[2] r, float[M] k2) {
        e = Sigmoid (x) f = Slice (e, zero, one) k2 = Concat <axis = 0> (k, f)
        r = Neg (a) s = Shape (k2) d = Less (s, five) c2 = Squeeze (d) }>
}""".replace("bool yes", "int64[1] zero = {0}, int64[1] one = {1}, bool yes")


@pytest.mark.parametrize(("text", "iterations"), [(COUNTED, 5), (WHILE, 5), (BY_SHAPE, 4)])
def test_as_many_iterations_as_are_allowed_and_not_one_more(text, iterations):
    def unrolled(most):
        return Pipeline([UnrollLoops(max_trips=most)]).run(as_model(text))

    for most in (iterations, iterations + 1):
        result = unrolled(most)
        assert result.changed, most
        assert result.remarks[0].reason == f"unrolled, {iterations} iterations"
        assert list(op_types(result.model.graph)).count("Neg") == iterations
    for most in (iterations - 1, 0):
        result = unrolled(most)
        assert not result.changed
        assert f"max_trips={most} allows" in result.kept[0].reason


def test_a_condition_is_not_computed_for_more_iterations_than_one_too_many():
    result = Pipeline([UnrollLoops(max_trips=3)]).run(as_model(WHILE))
    assert (
        "its condition still holds after 4 iterations, more than max_trips=3"
        in result.kept[0].reason
    )
    result = Pipeline([UnrollLoops(max_nodes=9)]).run(as_model(WHILE))
    assert (
        "its condition still holds after 4 iterations, more than max_nodes=9"
        in result.kept[0].reason
    )


ROWS = """g (float[2] x) => (float[K,2] y) <int64 n = {3}, bool yes = {1}> {
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[2] r) {
        d = Identity (c) r = Neg (x) }> }"""


@table(
    (COUNTED, 5 * 2),  # with a condition that is copied
    (WHILE, 5 * 3),  # what folds is counted before it is known to
    (
        ROWS,
        3 * 1 + 1 + 3 + 1,
    ),  # what is the same on each iteration once; an Unsqueeze each, a Concat
)
def test_as_many_nodes_as_are_allowed_and_not_one_fewer(text, cost):
    def result(most):
        return Pipeline([UnrollLoops(max_nodes=most)]).run(as_model(text))

    assert result(cost).changed
    assert not result(cost - 1).changed
    assert f"max_nodes={cost - 1}" in result(cost - 1).kept[0].reason
