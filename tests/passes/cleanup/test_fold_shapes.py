import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, assert_rewrites, op_types, run_passes
from straightline import reference
from straightline.passes import EliminateDeadNodes, FoldShapes, Pipeline, straighten
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>\n'
GIVEN = (
    "int64 zero = {0}, int64 one = {1}, int64 five = {5}, int64[1] ones = {1}, int64[1] zeros = {0}"
)


def folded(body, signature="float[N,3] x", output="y", initializers=GIVEN, head=HEAD):
    """The operators that are left, and the value of a constant output."""
    text = f"{head}g ({signature}) => ({output}) <{initializers}> {{ {body} }}"
    graph = run_passes(text, FoldShapes(), EliminateDeadNodes()).model.graph
    kinds = [n.op_type for n in graph.node if n.op_type not in ("Identity", "Constant")]
    constants = [onnx.numpy_helper.to_array(t) for t in graph.initializer]
    return kinds, constants[-1].tolist() if constants else None


@table(
    ("y = Shape <start = 1> (x)", "int64[1] y", [3]),
    ("y = Shape <start = -1> (x)", "int64[1] y", [3]),
    ("y = Shape <start = -1, end = 9> (x)", "int64[1] y", [3]),
    ("y = Shape <start = 2, end = 1> (x)", "int64[0] y", []),
    ("y = Shape <end = -9> (x)", "int64[0] y", []),
    ("s = Shape (x) y = Gather (s, one)", "int64 y", 3),
    ("s = Shape (x) y = Equal (s, s)", "bool[2] y", [True, True]),
    ("s = Shape (x) n = Gather (s, zero) m = Add (n, five) y = Equal (m, n)", "bool y", False),
    ("s = Shape (x) n = Gather (s, zero) m = Add (n, five) y = Equal (m, zero)", "bool y", False),
    ("s = Shape (x) n = Gather (s, zero) m = Add (n, five) y = Greater (m, n)", "bool y", True),
    ("s = Shape (x) n = Gather (s, zero) m = Sub (n, n) y = Equal (m, zero)", "bool y", True),
    ("s = Shape (x) n = Gather (s, zero) y = Less (n, zero)", "bool y", False),
    ("a = Concat <axis = 0> (x, x) s = Shape (a) n = Gather (s, zero) y = Mod (n, two)", "int64 y",
     0),
    # Where N is 0 the division fails, so its result is 3 whenever there is one.
    ("n = Size (x) s = Shape (x) m = Gather (s, zero) y = Div (n, m)", "int64 y", 3),
    ("s = Shape (x) n = Gather (s, zero) m = Max (n, zero) y = Equal (m, n)", "bool y",
     True))  # fmt: skip
def test_decided(body, output, value):
    kinds, constant = folded(body, output=output, initializers=GIVEN + ", int64 two = {2}")
    assert kinds == []
    assert constant == value


@table(
    ("y = Shape <end = 1> (x)", "int64[1] y"),
    ("y = Size (x)", "int64 y"),
    ("s = Shape (x) n = Gather (s, zero) y = Equal (n, one)", "bool y"),
    ("s = Shape (x) n = Gather (s, zero) y = Equal (n, zero)", "bool y"),
    ("s = Shape (x) n = Gather (s, zero) y = Min (n, five)", "int64 y"),
    ("s = Shape (x) t = Shape (w) y = Equal (s, t)", "bool[2] y"),
)
def test_not_decided(body, output):
    signature = "float[N,3] x, float[M,3] w"
    text = f"{HEAD}g ({signature}) => ({output}) <{GIVEN}> {{ {body} }}"
    result = Pipeline([FoldShapes()]).run(as_model(text))
    assert op_types(result.model) == op_types(as_model(text))


def test_sizes_are_declared_where_some_are_folded():
    """Else a run after others that changed nothing would still declare what it asks."""
    text = HEAD + "g (float[N,3] x) => (int64[2] y) { r = Relu (x) y = Shape (r) }"
    before = as_model(text)
    result = Pipeline([FoldShapes()]).run(before)
    assert not result.changed
    assert result.model.SerializeToString() == before.SerializeToString()


def test_equal_names_are_equal_sizes():
    body = "s = Shape (x) t = Shape (w) y = Equal (s, t)"
    kinds, constant = folded(body, "float[N,3] x, float[N,3] w", "bool[2] y")
    assert (kinds, constant) == ([], [True, True])


@pytest.mark.parametrize("size", ['"?"', "-1"])
def test_a_size_declared_as_unknown_is_not_trusted(size):
    text = f"""{HEAD}g (float[{size},{size}] x) => (bool y) <{GIVEN}> {{
        s = Shape (x) a = Gather (s, zero) b = Gather (s, one) y = Equal (a, b) }}"""
    assert not Pipeline([FoldShapes()]).run(as_model(text)).changed


def test_rank_alone_decides_the_length_of_a_shape():
    text = """g (float[N,M,K] x) => (int64 y) { s = Shape (x) y = Size (s) }"""
    assert_rewrites(
        [FoldShapes(), EliminateDeadNodes()],
        HEAD + text,
        HEAD + "g (float[N,M,K] x) => (int64 y) <int64 y = {3}> { }",
    )


def test_unknown_rank_decides_nothing():
    text = HEAD + "g (float[N] x, int64[K] t) => (int64[R] y) { r = Reshape (x, t) y = Shape (r) }"
    assert not Pipeline([FoldShapes()]).run(as_model(text)).changed


def test_sizes_of_zero():
    kinds, constant = folded("n = Size (x) y = Equal (n, zero)", "float[0,N] x", "bool y")
    assert (kinds, constant) == ([], True)


def test_the_exporters_squeeze():
    text = """g (float[{d},N,3] x) => (float[{out}] y) <int64 zero = {{0}}, int64 one = {{1}},
                                                        int64[1] axes = {{0}}> {{
        s = Shape (x) d = Gather (s, zero) c = Equal (d, one)
        y = If (c) <then_branch = t () => (float[N,3] u) {{ u = Squeeze (x, axes) }},
                    else_branch = e () => (float[{d},N,3] v) {{ v = Identity (x) }}> }}"""
    for size, out, kind in ((1, "N,3", "Squeeze"), (2, "2,N,3", "Identity")):
        before = HEAD + text.format(d=size, out=out)
        result = straighten().run(as_model(before)).model
        onnx.checker.check_model(result, full_check=True)
        assert op_types(result) == [kind]
        assert_equal_outputs(before, result, {"x": np.ones((size, 4, 3), np.float32)})


def test_declarations_do_not_overrule_what_follows_from_the_inputs():
    """A declared size is believed where nothing else is known, else what was inferred."""
    text = HEAD + "g (float[N,3] x) => (int64[2] y) <float[7,3] r> { r = Relu (x) y = Shape (r) }"
    result = Pipeline([FoldShapes()]).run(as_model(text)).model
    assert op_types(result) == ["Relu", "Shape"]


def loop(body, state="float[Z] a", result="float[Z2] b"):
    return (
        HEAD
        + f"""g (float[2] x, int64 n) => (int64[1] y, int64[1] after) <int64[1] none = {{0}}> {{
        y, w = Loop (n, , none, x)
            <body = l (int64 i, bool c, int64[1] s0, {state}) => (bool c2, int64[1] s, {result}) {{
                c2 = Identity (c) s = Shape (a) {body} }}>
        after = Shape (w) }}"""
    )


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("body", ["b = Concat <axis = 0> (a, x)", "b = Concat <axis = 0> (x, x)"])
def test_a_carried_shape_that_varies_is_not_folded(body, n):
    text = loop(body)
    result = run_passes(text, FoldShapes())
    assert not result.changed or "Shape" in str(result.model)
    feed = {"x": np.ones(2, np.float32), "n": np.array(n)}
    assert_equal_outputs(text, result.model, feed)


@pytest.mark.parametrize("n", [0, 2])
def test_a_carried_shape_that_stays_is_folded(n):
    text = loop("b = Neg (a)", "float[2] a", "float[2] b")
    result = run_passes(text, FoldShapes(), feeds=[{"x": np.ones(2, np.float32), "n": np.array(n)}])
    assert op_types(result.model) == ["Loop"]


def test_numbers_that_overflow_are_left_to_run_time():
    largest = "int64[1] largest = {9223372036854775807}, int64[1] wide = {4294967296}"
    for body in (
        "s = Shape (x) y = Add (s, largest)",
        "s = Shape (x) t = Mul (s, wide) y = Cast <to = 6> (t)",
    ):
        text = f"{HEAD}g (float[4] x) => (y) <{largest}> {{ {body} }}"
        model = Pipeline([FoldShapes()]).run(as_model(text)).model
        feed = {"x": np.zeros(4, np.float32)}
        expected = reference.run(as_model(text), feed)[0]
        np.testing.assert_array_equal(reference.run(model, feed)[0], expected)
        assert model.graph.node[-1].op_type in ("Add", "Cast")


def test_random_values_have_shapes():
    kinds, constant = folded(
        "r = RandomUniformLike (x) y = Shape <start = 1> (r)", output="int64[1] y"
    )
    assert (kinds, constant) == ([], [3])


def test_attributes_of_the_function_around_are_not_known():
    text = """g (float[2] x) => (int64[K] y) { y = local.f <k = 0> (x) }
    <domain: "local", opset_import: ["" : 21]> f <k> (x) => (y) {
        a = Constant <value_floats = [1.0, 2.0]> ()
        b = Concat <axis : int = @k> (a, a)
        y = Shape <start : int = @k> (b) }"""
    result = Pipeline([FoldShapes()]).run(as_model(HEAD + text)).model
    assert [n.op_type for n in result.functions[0].node] == ["Constant", "Concat", "Shape"]
    np.testing.assert_array_equal(reference.run(result, {"x": np.zeros(2, np.float32)})[0], [4])


@table("s = Shape (x) y = Reshape (s, five1)", "s = Shape (x) y = Gather (s, five)")
def test_shapes_that_cannot_be_computed_are_left(body):
    text = f"""{HEAD}g (float[4] x, bool q) => (int64[K] out) <{GIVEN}, int64[1] five1 = {{5}}> {{
        out = If (q) <then_branch = t () => (int64[K] y) {{ {body} }},
                      else_branch = e () => (int64[1] v) {{ v = Neg (ones) }}> }}"""
    result = Pipeline([FoldShapes()]).run(as_model(text)).model
    feed = {"x": np.zeros(4, np.float32), "q": np.array(False)}
    np.testing.assert_array_equal(reference.run(result, feed)[0], [-1])


def test_a_value_that_is_named_from_outside_is_left():
    model = as_model(f"{HEAD}g (float[2] x) => (int64[1] y) {{ s = Shape (x) y = Neg (s) }}")
    annotation = model.graph.quantization_annotation.add(tensor_name="s")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
    assert Pipeline([FoldShapes()]).run(model).model.graph.node[0].op_type == "Shape"


def test_sizes_that_calls_give_out():
    """Of two sizes that a call gives the one that is known decides a Loop; the other stays."""
    text = """g (float[N,3] x) => (float[N,3] y, int64[1] m)
        <int64[1] one = {1}, int64[1] zero = {0}> {
        r, s = local.sized (x, one)
        n = Gather (s, one)
        m = Gather (s, zero)
        y = Loop (n, , r) <body = b (int64 i, bool c, float[N,3] v) => (bool d, float[N,3] w) {
            d = Identity (c) w = Exp (v) }> }
    <domain: "local", opset_import: ["" : 21, "local" : 1]> sized (a, b) => (r, t) {
        r, t = local.longer (a, b) }
    <domain: "local", opset_import: ["" : 21, "local" : 1]> longer (a, b) => (r, t) {
        r = Neg (a)
        s = Shape (r)
        t = Sub (s, b) }"""
    result = straighten().run(as_model(HEAD + text))
    assert op_types(result.model) == ["sized", "Gather", "Exp", "Exp"]
    for rows in (0, 1, 4):
        feeds = {"x": np.ones((rows, 3), np.float32)}
        assert_equal_outputs(HEAD + text, result.model, feeds)
