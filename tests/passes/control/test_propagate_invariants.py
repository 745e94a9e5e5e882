import numpy as np
import onnx
import pytest
from counting import assert_linear
from harness import as_model, assert_equal_outputs, assert_rewrites, op_types, run_passes
from sessions import by_reference
from straightline import ir, reference
from straightline.passes import ForwardInvariants, Pipeline, parse_pipeline, straighten
from tables import table

FEED = {"x": np.array([1, -2], np.float32), "w": np.array([3, 4], np.float32)}


def body_ops(model, attribute=0):
    return [node.op_type for node in model.graph.node[0].attribute[attribute].g.node]


@pytest.mark.parametrize("n", [0, 2])
def test_carried_value_that_never_changes(n):
    text = """g (float[2] x, float[2] w, int64 n) => (float[2] y, float[2] z) {
        y, v = Loop (n, , x, w) <body = b (int64 i, bool c, float[2] a, float[2] k)
                                      => (bool c2, float[2] r, float[2] k2) {
            c2 = Identity (c) r = Add (a, k) k2 = Identity (k) }>
        z = Neg (v) }"""
    result = run_passes(text, ForwardInvariants(), feeds=[{**FEED, "n": np.array(n)}])
    assert list(result.model.graph.node[0].attribute[0].g.node[1].input) == ["a", "w"]
    assert list(result.model.graph.node[1].input) == ["w"]


def test_invariants_decide_inner_constructs():
    text = """g (float[2] x, int64 n) => (float[2] y) <bool yes = {1}> {
        y, f = Loop (n, , x, yes) <body = b (int64 i, bool c, float[2] a, bool flag)
                                        => (bool c2, float[2] r, bool flag2) {
            c2 = Identity (c) flag2 = Identity (flag)
            r = If (flag) <then_branch = t () => (float[2] u) { u = Neg (a) },
                           else_branch = e () => (float[2] v) { v = Relu (a) }> }> }"""
    result = straighten().run(as_model(text))
    assert "If" not in body_ops(result.model)
    assert_equal_outputs(text, result.model, {"x": FEED["x"], "n": np.array(3)})


def test_states_of_a_scan():
    text = """g (float[3,2] x, float[2] w) => (float[2] s, float[3,2] y) {
        s, y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] a2,
            float[2] r) {
            a2 = Identity (a) r = Add (a, e)
        }> (w, x) }"""
    result = run_passes(text, ForwardInvariants())
    body = result.model.graph.node[0].attribute[1].g
    assert [list(n.input) for n in body.node if n.op_type == "Add"] == [["w", "e"]]
    feed = {"x": np.ones((3, 2), np.float32), "w": FEED["w"]}
    assert_equal_outputs(text, result.model, feed)


CONDITION = """g (float[2] x, int64 n) => (float[2] y) <bool yes = {{1}}> {{
    y = Loop (n, {given}, x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
        c2 = Not (c)
        r = If (c) <then_branch = t () => (float[2] u) {{ u = Neg (a) }},
                    else_branch = e () => (float[2] v) {{ v = Add (a, a) }}> }}> }}"""


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_body_runs_only_while_its_condition_holds(n):
    text = CONDITION.format(given="yes")
    result = straighten().run(as_model(text)).model
    assert body_ops(result) == ["Neg"]
    assert_equal_outputs(text, result, {"x": FEED["x"], "n": np.array(n)})


@pytest.mark.parametrize("n", [0, 1, 3])
@table(
    "c2 = Identity (c)", "d = Identity (c) c2 = Identity (d)", "c2 = Constant <value = bool {1}> ()"
)
@pytest.mark.parametrize("given", ["yes", "go"])
def test_a_condition_that_always_holds_is_given_on_as_it_came(condition, n, given):
    text = f"""g (float[2] x, int64 n, bool go) => (float[2] y) <bool yes = {{1}}> {{
        y = Loop (n, {given}, x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {{
            {condition}
            r = Add (a, a) }}> }}"""
    result = straighten().run(as_model(text)).model
    assert body_ops(result) == ["Add"]
    body = result.graph.node[0].attribute[0].g
    assert body.output[0].name == body.input[1].name
    for go in (True, False):
        assert_equal_outputs(text, result, {"x": FEED["x"], "n": np.array(n), "go": np.array(go)})


def test_a_condition_of_another_shape_is_given_on_as_it_came():
    text = """g (float[2] x, int64 n) => (float[2] y) <bool yes = {1}> {
        y = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool[1] c2, float[2] r)
            <bool[1] c2 = {1}> { r = Add (a, a) }> }"""
    result = straighten().run(as_model(text)).model
    onnx.checker.check_model(result, full_check=True)
    assert_equal_outputs(text, result, {"x": FEED["x"], "n": np.array(2)})


def test_not_so_without_an_initial_condition():
    text = CONDITION.format(given="")
    result = Pipeline([ForwardInvariants()]).run(as_model(text))
    assert not result.changed
    y = reference.run(result.model, {"x": FEED["x"], "n": np.array(3)})[0]
    np.testing.assert_array_equal(y, 2 * FEED["x"])


def test_outputs_on_which_both_branches_agree():
    assert_rewrites(
        ForwardInvariants(),
        """g (float[2] x, bool q) => (float[2] y, float[2] z) {
            y, v = If (q) <
                then_branch = t () => (float[2] u, float[2] p) { u = Neg (x) p = Identity (x) },
                else_branch = e () => (float[2] v, float[2] r) { v = Relu (x) r = Identity (x) }>
            z = Abs (v) }""",
        """g (float[2] x, bool q) => (float[2] y, float[2] z) {
            y, v = If (q) <
                then_branch = t () => (float[2] u, float[2] p) { u = Neg (x) p = Identity (x) },
                else_branch = e () => (float[2] v_1, float[2] r) { v_1 = Relu (x) r = Identity (x)
                    }>
            z = Abs (x) }""",
        [{"x": FEED["x"], "q": np.array(True)}],
    )


@table(("1.0", "1.0", True), ("1.0", "2.0", False), ("0.0", "-0.0", False))
def test_equal_constants_of_both_branches(one, other, forwarded):
    text = f"""g (float x, bool q) => (float y) {{
        v = If (q) <then_branch = t () => (float u) {{ u = Constant <value_float = {one}> () }},
                    else_branch = e () => (float p) {{ p = Constant <value_float = {other}> () }}>
        y = Div (x, v) }}"""
    result = run_passes(text, ForwardInvariants())
    assert result.changed == forwarded
    for q in (False, True):
        feed = {"x": np.array(1, np.float32), "q": np.array(q)}
        with np.errstate(divide="ignore"):
            got, expected = (by_reference(m, feed) for m in (result.model, as_model(text)))
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("opset", [13, 14])
@pytest.mark.parametrize("made", [False, True])
def test_sequences_as_outputs(opset, made):
    """Below opset 14 no Identity could give the sequence out under the output's name."""
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
    inputs = "" if made else ", seq(float[K]) s"
    outputs = ", seq(float[K]) s" if made else ""
    text = f"""{head}g (float[2] x, int64 n{inputs}) => (seq(float[K]) y, float[2] z{outputs}) {{
        {"s = SequenceConstruct (x, x)" if made else ""}
        y, z = Loop (n, , s, x) <body = b (int64 i, bool c, seq(float[K]) a, float[2] w)
                                      => (bool c2, seq(float[K]) a, float[2] w2) {{
            c2 = Identity (c) w2 = Neg (w) }}> }}"""
    model = as_model(text)
    result = straighten().run(model).model
    onnx.checker.check_model(result, full_check=True)
    feed = {"x": FEED["x"], "n": np.array(2)}
    if not made:
        feed["s"] = [FEED["w"]]
    got, expected = (by_reference(m, feed) for m in (result, model))
    assert [len(v) for v in got] == [len(v) for v in expected]


def test_invariants_through_a_function():
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    text = (
        head
        + """g (float[2] x, float[2] w) => (float[2] y, float[2] z) {
            a, b, c, d = local.f (x, w)
            e = Add (a, b) y = Mul (e, c) z = Identity (d) }
        <domain: "local", opset_import: ["" : 17]> f (p, q, r) => (s, t, u, v) {
            s = Identity (q) t = Constant <value_floats = [3.0, 4.0]> () u = Neg (p) v = Identity
                (p) }"""
    )
    result = run_passes(text, ForwardInvariants(), feeds=[FEED])
    nodes = {node.op_type: node for node in result.model.graph.node}
    assert nodes["Add"].input[0] == "w"
    assert nodes["Mul"].input[1] == "c"
    assert list(nodes["Identity"].input) == ["x"]
    assert [t.dims for t in result.model.graph.initializer] == [[2]]


def test_a_constant_that_a_function_gives_out_decides():
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    text = (
        head
        + """g (float[2] x) => (float[2] y) {
            a, n = local.f (x)
            y = Loop (n, , a) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] r) {
                c2 = Identity (c) r = Neg (s) }> }
        <domain: "local", opset_import: ["" : 17]> f (p) => (q, n) {
            q = Abs (p) k = Constant <value_int = 1> () n = Add (k, k) }"""
    )
    result = straighten().run(as_model(text))
    assert op_types(result.model) == ["f", "Neg", "Neg"]
    assert_equal_outputs(text, result.model, {"x": FEED["x"]})


def test_a_carried_value_that_is_read_and_given_back_behind_identities():
    """The nodes read around the body; what the body gives back is what it was given."""
    text = """g (float[2] x, float[2] w, int64 n) => (float[2] y) {
        y, v, u = Loop (n, , x, w, w) <body = b (int64 i, bool c, float[2] a, float[2] k,
            float[2] l) => (bool c2, float[2] r, float[2] k3, float[2] l2) {
            c2 = Identity (c) k2 = Identity (k) k3 = Identity (k2)
            s = Add (a, k) l2 = Neg (l) r = Add (s, l) }> }"""
    result = run_passes(
        text, ForwardInvariants(), feeds=[{**FEED, "n": np.array(n)} for n in (0, 1, 3)]
    )
    body = result.model.graph.node[0].attribute[0].g
    reads = {n.output[0]: list(n.input) for n in body.node if n.op_type == "Add"}
    assert (reads["s"], reads["r"]) == (["a", "w"], ["s", "l"])
    assert body.output[2].name == "k", "the Identities between are not needed"
    assert body.output[3].name == "l2"


BRANCHES = """g (bool q%s) => (%s y) {
    y = If (q) <then_branch = t () => (u) { u = Constant <%s> () },
                else_branch = e () => (v) { v = Constant <%s> () }> }"""


@table(
    ('value_string = "a"', 'value_string = "a"', "string", True),
    ('value_string = "a"', 'value_string = "b"', "string", False),
    ('value_strings = ["a", "b"]', 'value_strings = ["a", "b"]', "string[2]", True),
    ('value_strings = ["a", "b"]', 'value_strings = ["a", "c"]', "string[2]", False),
    ("value_ints = [1, 2]", "value_ints = [1, 2]", "int64[2]", True),
    ("value_ints = [1, 2]", "value_ints = [1, 3]", "int64[2]", False),
    ("value = int32[1] {1}", "value = int32 {1}", "int32[K]", False),
    ("value = float {0.0}", "value = float {-0.0}", "float", False),
)
def test_constants_that_are_the_same_in_both_branches(one, other, type_, same):
    proto = as_model(BRANCHES % ("", type_, one, other))
    assert Pipeline([ForwardInvariants()]).run(proto).changed == same


def test_constants_that_are_too_large_to_compare():
    for size, same in ((1 << 16, True), ((1 << 16) + 1, False)):
        proto = as_model(BRANCHES % ("", "float[K]", "value_int = 1", "value_int = 1"))
        for attribute in proto.graph.node[0].attribute:
            held = onnx.numpy_helper.from_array(np.zeros(size, np.float32))
            del attribute.g.node[0].attribute[:]
            attribute.g.node[0].attribute.append(onnx.helper.make_attribute("value", held))
        assert Pipeline([ForwardInvariants()]).run(proto).changed == same


def test_a_sequence_that_is_passed_on_keeps_its_identity():
    """onnxruntime empties the initial one where a body gives it out as it came."""
    text = """g (float[2] x, int64 n) => (seq(float[2]) s, float[2] y) <int64 one = {1}> {
        s = SequenceConstruct (x, x)
        y, t = Loop (n, , x, s) <body = b (int64 i, bool c, float[2] a, seq(float[2]) q)
                => (bool c2, float[2] r, seq(float[2]) q2) {
            c2 = Identity (c) e = SequenceAt (q, one) r = Add (a, e) q2 = Identity (q) }> }"""
    body = run_passes(text, ForwardInvariants()).model.graph.node[1].attribute[0].g
    read = next(node for node in body.node if node.op_type == "SequenceAt")
    assert list(read.input) == ["s", "one"]
    for pipeline in (Pipeline([ForwardInvariants()]), straighten()):
        rewritten = pipeline.run(as_model(text)).model
        for n in (0, 2):
            assert_equal_outputs(text, rewritten, {"x": FEED["x"], "n": np.array(n)})


def test_many_values_that_are_only_passed_on_take_linear_work():
    def work(count):
        def listed(letter):
            return ", ".join(f"{letter}{k}" for k in range(count))

        text = f"""g (float[2] s, {listed("float[2] a")}, int64 n)
            => ({listed("float[2] y")}, float[2] z) {{
            {listed("y")}, z = Loop (n, , {listed("a")}, s) <
                body = b (int64 i, bool c, {listed("float[2] b")}, float[2] t)
                    => (bool c, {listed("float[2] b")}, float[2] u) {{ u = Sum (t, {listed("b")}) }}
            > }}"""
        models = [ir.load(as_model(text)) for _ in range(2)]

        def run():
            model = models.pop()
            result = parse_pipeline("forward-invariants").apply(model)
            (loop,) = model.graph.nodes_of("Loop")
            assert result.changed and len(loop.body("body").captures()) == count
            assert len(model.graph.nodes_of("Identity")) == count

        return run

    assert_linear(work, 300, 4)
