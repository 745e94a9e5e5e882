import numpy as np
import onnx
from depth import examples
from harness import (
    as_model,
    assert_equal,
    assert_equal_outputs,
    assert_keeps,
    assert_rewrites,
    check_model,
    op_types,
    run_passes,
)
from hypothesis import HealthCheck, given, settings
from local_functions import CHOOSE, HEAD, LOCAL, TIMES, X, control_flow, straightened
from onnx import helper
from sessions import by_reference
from straightline import inspect, ir, reference
from straightline.driver.suggestions import left_over
from straightline.passes import Pipeline, straighten
from straightline.passes.functions.inline_functions import InlineFunctions
from strategies import model_and_feeds


def test_a_constant_argument_decides():
    assert_rewrites(
        InlineFunctions(),
        HEAD
        + """g (float[2] x) => (float[2] y) <bool yes = {1}> {
           y = local.choose (x, yes) }"""
        + CHOOSE,
        HEAD
        + """g (float[2] x) => (float[2] y) <bool yes = {1}> {
           h_y = Neg (x)
           y = Exp (h_y) }""",
        [X],
    )


def test_an_if_that_the_call_decides_has_a_remark_of_its_own():
    calls = "g (float[2] x) => (float[2] z) <bool yes = {1}, bool no = {0}> {"
    calls += " y = local.choose (x, yes) z = local.choose (y, no) }"
    remarks = run_passes(HEAD + calls + CHOOSE, InlineFunctions()).remarks
    assert [(r.op_type, r.action) for r in remarks].count(("If", "rewritten")) == 2
    (found,) = inspect(onnx.parser.parse_model(HEAD + calls + CHOOSE)).constructs
    assert found.outcome == "rewritten"
    assert found.decided_by == "constants"
    assert found.reason == "inlined with the function around it (2 copies)"
    assert {r.path for r in remarks if r.op_type == "If"} == {found.path}


def test_the_text_of_a_kept_function_is_as_before():
    assert_keeps(
        InlineFunctions(),
        HEAD + "g (float[2] x, bool c) => (float[2] y) { y = local.choose (x, c) }" + CHOOSE,
        "inlining it would not resolve If 'r_y' in it: its condition depends on input 'c'; decide"
        " it with --set c=...",
    )


def test_only_an_input_of_the_model_can_be_set():
    text = """g (float[2] x, bool c) => (float[2] y) {
       d = Not (c)
       y = local.choose (x, d) }"""
    (remark,) = run_passes(HEAD + text + CHOOSE, InlineFunctions()).kept
    assert remark.reason.endswith("its condition depends on input 'd'")


def test_each_call_is_judged_by_itself():
    text = HEAD + (
        """g (float[2] x, bool c) => (float[2] y) <bool no = {0}> {
           u = local.choose (x, c)
           v = local.choose (u, no)
           y = local.choose (v, no) }"""
        + CHOOSE
    )
    result = run_passes(
        text, InlineFunctions(), feeds=[{**X, "c": np.array(c)} for c in (True, False)]
    )
    calls = [r for r in result.remarks if r.op_type == "choose"]
    assert [r.path for r in calls if r.action == "rewritten"] == ["v", "y"]
    assert [r.path for r in result.kept] == ["u"]
    assert op_types(result.model) == ["choose", "Neg", "Abs", "Neg", "Abs"]
    assert len(result.model.functions) == 1


NESTED = (
    LOCAL
    + """outer (a, c) => (r) {
       b = Not (c)
       u = local.choose (a, b)
       r = Neg (u) }"""
    + CHOOSE
)


def test_a_function_that_calls_another():
    text = HEAD + "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.outer (x, yes) }"
    text += NESTED
    result = run_passes(text, InlineFunctions(), feeds=[X])
    assert not result.model.functions
    assert op_types(result.model) == ["Neg", "Abs", "Neg"]


def test_a_call_that_decides_inside_a_function():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { y = local.outer (x) }"
        + LOCAL
        + """outer (a) => (r) {
           one = Constant <value_int = 1> ()
           yes = Cast <to = 9> (one)
           u = local.choose (a, yes)
           r = Neg (u) }"""
        + CHOOSE
    )
    model, _ = straightened(text)
    assert [f.name for f in model.functions] == ["outer"]
    assert control_flow(model) == []
    assert_equal_outputs(text, model, X)


def test_a_call_in_a_body():
    text = HEAD + (
        """g (float[2] x, bool c) => (float[2] y) <bool yes = {1}> {
           y = If (c) <
              then_branch = t () => (float[2] p) { p = local.choose (x, yes) },
              else_branch = e () => (float[2] q) { q = Neg (x) } > }"""
        + CHOOSE
    )
    result = run_passes(
        text, InlineFunctions(), feeds=[{**X, "c": np.array(c)} for c in (True, False)]
    )
    assert not result.model.functions


def test_a_shape_decides():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { n = Neg (x) y = local.f (n) }"
        + LOCAL
        + """f (a) => (r) {
           s = Size (a)
           two = Constant <value_int = 2> ()
           c = Equal (s, two)
           r = If (c) <
              then_branch = t () => (p) { p = Exp (a) },
              else_branch = e () => (q) { q = Abs (a) } > }"""
    )
    model, _ = straightened(text)
    assert control_flow(model) == []
    assert_equal_outputs(text, model, X)


def test_a_decision_inside_a_function_needs_no_inlining():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { y = local.f (x) }"
        + LOCAL
        + """f (a) => (r) {
           n = Constant <value_int = 2> ()
           r = Loop (n, , a) <body = b (int64 i, bool c, float[N] s) => (bool c, float[N] t) {
              t = Neg (s) }> }"""
    )
    assert_keeps(InlineFunctions(), text, "would resolve no control flow")
    model, _ = straightened(text)
    assert control_flow(model) == []
    assert len(model.functions) == 1


def test_functions_without_control_flow_stay():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { y = local.f (x) }"
        + LOCAL
        + "f (a) => (r) { r = Neg (a) }"
    )
    result = run_passes(text, InlineFunctions(always=True))
    assert not result.changed
    assert not result.remarks


def test_always():
    text = HEAD + "g (float[2] x, bool c) => (float[2] y) { y = local.outer (x, c) }" + NESTED
    result = run_passes(
        text, InlineFunctions(always=True), feeds=[{**X, "c": np.array(c)} for c in (True, False)]
    )
    assert not result.model.functions
    assert control_flow(result.model) == ["If"]


def test_over_budget():
    text = HEAD + "g (float[2] x, bool c) => (float[2] y) { y = local.choose (x, c) }" + CHOOSE
    assert_keeps(InlineFunctions(always=True, max_nodes=3), text, "over max_nodes=3")


def test_overloads():
    model = onnx.parser.parse_model(
        HEAD.replace("9", "10")
        + "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }"
        + CHOOSE
    )
    other = model.functions.add()
    other.CopyFrom(model.functions[0])
    other.overload = "second"
    other.node[0].op_type = "Exp"
    model.graph.node[0].overload = "second"
    result = run_passes(model, InlineFunctions())
    assert [f.overload for f in result.model.functions] == [""]
    assert op_types(result.model) == ["Exp", "Exp"]


def test_a_recursive_function_is_kept():
    text = HEAD + "g (float[2] x, bool c) => (float[2] y) { y = local.choose (x, c) }"
    loaded = ir.load(as_model(text + CHOOSE))
    # Loading refuses such a model, but a pass may be given one that was made otherwise.
    (function,) = loaded.functions.values()
    node = next(n for n in function.graph.nodes() if n.is_op("Neg"))
    function.graph.set_operator(node, ir.Operator("choose", domain="local"))
    result = Pipeline([InlineFunctions(always=True)]).apply(loaded)
    assert not result.changed
    assert "calls itself" in result.kept[0].reason


def test_metadata_of_nodes_is_kept():
    model = onnx.parser.parse_model(
        HEAD
        + "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }"
        + CHOOSE
    )
    node = model.functions[0].node[0]
    node.doc_string = "negates"
    node.metadata_props.add(key="k", value="v")
    inlined = run_passes(model, InlineFunctions()).model.graph.node[0]
    assert inlined.doc_string == "negates"
    assert inlined.metadata_props == node.metadata_props


def test_sizes_with_one_name_in_two_calls_may_differ():
    text = HEAD + (
        """g (float[2] x, float[3] z) => (float[2] y, float[3] w) {
           y = local.times <k = 2> (x)
           w = local.times <k = 2> (z) }"""
        + TIMES
    )
    result = run_passes(text, InlineFunctions())
    assert control_flow(result.model) == ["Loop", "Loop"]
    feeds = {**X, "z": np.array([1, 2, 3], np.float32)}
    assert_equal_outputs(text, result.model, feeds)


@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(model_and_feeds(static_only=True, functions=True))
def test_random_models(drawn):
    model, feeds = drawn
    loaded = ir.load(model)
    Pipeline([InlineFunctions(always=True)]).apply(loaded)
    ir.verify(loaded)
    rewritten = ir.to_proto(loaded)
    check_model(rewritten)
    for function in loaded.functions.values():
        assert not any(node.bodies for node in function.graph.nodes())
    for one, other in zip(by_reference(rewritten, feeds), by_reference(model, feeds), strict=True):
        assert_equal(one, other)


def test_calls_that_would_double_too_often_stay_whole():
    """Inlined one by one they would be copies of half of them when the budget is spent."""
    loop = "r = Loop (n, , a) <body = b (int64 i, bool c, p) => (bool c, q) { q = Neg (p) }>"
    text = f'<domain: "local", opset_import: ["" : 18, "local" : 1]> f0 (a, n) => (r) {{ {loop} }}'
    for level in range(1, 60):
        call = f"local.f{level - 1}"
        text += f"""<domain: "local", opset_import: ["" : 18, "local" : 1]>
            f{level} (a, n) => (r) {{ u = {call} (a, n) r = {call} (u, n) }}"""
    main = HEAD + "g (float[2] x) => (float[2] y) <int64 n = {{2}}> {{ y = local.f{} (x, n) }}"
    few = onnx.parser.parse_model(main.format(3) + text)
    for always in (False, True):
        result = Pipeline([InlineFunctions(always=always)]).run(few)
        assert control_flow(result.model) == ["Loop"] * 8
    result = Pipeline([InlineFunctions()]).run(onnx.parser.parse_model(main.format(59) + text))
    assert not result.changed
    reasons = [r.reason for r in result.kept if r.path == "y"]
    assert len(reasons) == 1 and "over max_nodes=20000; raise it" in reasons[0]


def test_attributes_decide():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { u = local.times <k = 3> (x) y = local.times <k = 2> (u) }"
        + TIMES
    )
    model, _ = straightened(text)
    assert control_flow(model) == []
    assert op_types(model) == ["Neg"] * 5
    assert not model.functions
    assert_equal_outputs(text, model, X)


def test_defaults_of_attributes_and_absent_ones():
    text = HEAD + (
        """g (float[2,2] x) => (float[1,2] y) <bool yes = {1}> { y = local.f (x, yes) }"""
        + LOCAL
        + """f <keepdims, noop, steps: int = 2> (a, c) => (r) {
           r = If (c) <
              then_branch = t () => (p) {
                 axes = Constant <value_ints = [0]> ()
                 s = Constant <value_int: int = @steps> ()
                 f = Cast <to = 1> (s)
                 q = Mul (a, f)
                 p = ReduceSum <keepdims: int = @keepdims,
                                noop_with_empty_axes: int = @noop> (q, axes)
              },
              else_branch = e () => (p2) { p2 = Identity (a) } >
        }"""
    )
    feeds = {"x": np.array([[1, 2], [3, 4]], np.float32)}
    result = run_passes(text, InlineFunctions(), feeds=[feeds])
    assert not result.model.functions
    assert control_flow(result.model) == []
    assert_equal(reference.run(result.model, feeds)[0], np.array([[8, 12]], np.float32))


def test_inputs_left_out_are_absent_inside_too():
    text = HEAD + (
        """g (float[2] x) => (float[2] y) <float low = {0.0}> { y = local.f (x, low) }"""
        + LOCAL
        + """f (a, low, high) => (r) {
           yes = Constant <value_int = 1> ()
           c = Cast <to = 9> (yes)
           l = Loop (yes, , a) <body = b (int64 i, bool d, float[2] s) => (bool d, float[2] t) {
              t = Clip (s, low, high) }>
           r = If (c) <
              then_branch = t () => (p) { p = Clip (l, low, high) },
              else_branch = e () => (q) { q = Neg (l) } > }"""
    )
    result = run_passes(text, InlineFunctions(always=True))
    assert not result.model.functions
    model, _ = straightened(text)
    assert control_flow(model) == []
    for rewritten in (result.model, model):
        assert_equal_outputs(rewritten, rewritten, X)
        assert_equal(by_reference(rewritten, X)[0], np.array([1, 0], np.float32))


def test_an_input_left_out_but_given_out_is_kept():
    text = HEAD + (
        "g (float[2] x, bool c) => (float[2] y) { y, z = local.f (c, x) }"
        + LOCAL
        + """f (c, a, b) => (r, b) {
           r = If (c) <
              then_branch = t () => (p) { p = Exp (a) },
              else_branch = e () => (q) { q = Abs (a) } > }"""
    )
    loaded = ir.load(as_model(text))
    result = Pipeline([InlineFunctions(always=True)]).apply(loaded)
    assert not result.changed
    assert "returns its input 'b'" in result.kept[0].reason


def test_omitted_outputs_and_inputs_given_out():
    text = HEAD + (
        """g (float[2] x) => (float[2] y, float[2] z) <bool yes = {1}> {
           u, , y = local.f (x, yes)
           z = Neg (u) }"""
        + LOCAL
        + """f (a, c) => (a, k, r) {
           k = Abs (a)
           r = If (c) <
              then_branch = t () => (p) { p = Exp (k) },
              else_branch = e () => (q) { q = Abs (k) } > }"""
    )
    result = run_passes(text, InlineFunctions())
    assert not result.model.functions
    assert_equal(reference.run(result.model, X)[1], -X["x"])
    assert_equal(reference.run(result.model, X)[0], np.exp(np.abs(X["x"])))


def test_an_attribute_passed_on_that_may_be_absent():
    text = HEAD + (
        "g (float[2] x) => (float[2] y) { y = local.outer (x) }"
        + LOCAL
        + "outer <n> (a) => (r) { r = local.times <k: int = @n> (a) }"
        + TIMES.replace("<k>", "<k: int = 2>")
    )
    loaded = ir.load(as_model(text))
    result = Pipeline([InlineFunctions(always=True)]).apply(loaded)
    inside = [r for r in result.remarks if r.path.startswith("local::outer")]
    assert not inside  # The call inside went away with its function.
    assert not loaded.functions
    model, _ = straightened(text)
    assert op_types(model) == ["Neg", "Neg"]
    assert_equal_outputs(text, model, X)


def older(text, opset):
    model = onnx.parser.parse_model(text)
    model.functions[0].opset_import[0].version = opset
    return model


def test_another_opset_with_the_same_operators():
    text = "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }" + CHOOSE
    assert op_types(run_passes(older(HEAD + text, 17), InlineFunctions()).model) == ["Neg", "Exp"]


def test_another_opset_where_an_operator_changed_is_kept():
    text = "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }" + CHOOSE
    # onnx's checker refuses such a model, yet there are some.
    result = Pipeline([InlineFunctions()]).apply(ir.load(older(HEAD + text, 15)))
    assert not result.changed
    (remark,) = result.kept
    assert "opset 15 and its caller for 18, between which If changed" in remark.reason
    assert "straightline convert" in remark.reason


def test_inspect_names_the_opsets_that_keep_a_call_from_being_inlined():
    text = "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }" + CHOOSE
    (found,) = inspect(older(HEAD + text, 11)).constructs
    assert found.outcome == "kept"
    assert "opset 11 and its caller for 18" in found.reason
    assert "straightline convert" in found.reason
    result = straighten().apply(ir.load(older(HEAD + text, 11)))
    (left,) = left_over(result.model, result.remarks)
    assert left.op_type == "If"
    assert "choose 'y': kept, function 'local::choose' is written for opset 11" in left.reason


def test_imports_that_only_the_function_has_are_added():
    model = onnx.parser.parse_model(
        HEAD
        + "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }"
        + CHOOSE.replace("h = Neg (a)", "h = com.example.Frob (a)")
    )
    model.functions[0].opset_import.append(helper.make_opsetid("com.example", 7))
    loaded = ir.load(model)
    Pipeline([InlineFunctions()]).apply(loaded)
    assert loaded.opset("com.example") == 7
    assert [n.op_type for n in loaded.graph.nodes()] == ["Frob", "Exp"]
