import numpy as np
import onnx
import pytest
from harness import as_model, assert_rewrites, op_types, run_passes
from straightline import reference
from straightline.passes import EliminateDeadNodes, FoldConstants, Pipeline
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1, "com.microsoft" : 1]>\n'
X = {"x": np.array([1, -2], np.float32)}


def assert_folds(text, *feeds, head=HEAD, left=()):
    """Check which operators are left, and that outputs are equal; the result."""
    before = as_model(head + text)
    result = run_passes(before, FoldConstants(), EliminateDeadNodes(), feeds=feeds)
    assert op_types(result.model) == list(left)
    return result.model


def assert_left(text, head=HEAD):
    """Check that nothing is folded."""
    assert not Pipeline([FoldConstants()]).run(as_model(head + text)).changed


def test_chain_of_constants():
    assert_rewrites(
        FoldConstants(),
        HEAD
        + """g (float[2] x) => (float[2] y) <float two = {2}> {
            four = Mul (two, two) eight = Add (four, four) y = Mul (x, eight) }""",
        HEAD
        + """g (float[2] x) => (float[2] y) <float two = {2}, float four = {4}, float eight = {8}> {
            y = Mul (x, eight) }""",
        [X],
    )


def test_constants_captured_by_bodies():
    text = """g (float[2] x, int64 n) => (float[2] y) <float two = {2}> {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
            c2 = Identity (c) four = Mul (two, two) r = Mul (a, four) }> }"""
    result = run_passes(HEAD + text, FoldConstants(), feeds=[{**X, "n": np.array(2)}])
    body = result.model.graph.node[0].attribute[0].g
    assert [n.op_type for n in body.node] == ["Identity", "Mul"]


def test_graph_output_that_is_constant():
    model = assert_folds("g (float[2] x) => (float y) <float two = {2}> { y = Mul (two, two) }", X)
    assert [v.name for v in model.graph.output] == ["y"]


@table(
    "r = RandomNormal <shape = [2], seed = 1.0> ()",
    "r = RandomUniformLike (w)",
    "r = Bernoulli (w)",
    "r, mask = Dropout (w, ratio, yes)",
    "r = com.microsoft.Strange (w)",
    "q = QuantizeLinear (w, scale) r = DequantizeLinear (q, scale)",
)
def test_random_foreign_and_quantizing_operators_are_left(node):
    assert_left(
        f"""g (float[2] x) => (float[2] y) <float[2] w = {{0.5, 0.5}}, float ratio = {{0.5}},
                                           bool yes = {{1}}, float scale = {{2}}> {{
            {node} y = Add (x, r) }}"""
    )


@table(
    "r = Div (one, zero)",
    "r = Mod (one, zero)",
    "r = Gather (one, five)",
    "r = Reshape (one, five)",
    "r = Slice (one, zero, five, zero, zero)",
)
def test_a_failing_constant_node_stays(node):
    text = f"""g (bool q) => (int64[K] y)
               <int64[1] one = {{1}}, int64[1] zero = {{0}}, int64[1] five = {{5}}> {{
        y = If (q) <then_branch = t () => (int64[K] r) {{ {node} }},
                    else_branch = e () => (int64[1] v) {{ v = Neg (one) }}> }}"""
    result = Pipeline([FoldConstants()]).run(as_model(HEAD + text))
    assert len(result.model.graph.node[0].attribute[0].g.node) == 1
    np.testing.assert_array_equal(reference.run(result.model, {"q": np.array(False)})[0], [-1])


def test_division_of_integers_is_towards_zero():
    text = """g (float[2] x) => (int64[4] y, int64[4] z, int64[4] w)
              <int64[4] a = {-7, 7, -7, 7}, int64[4] b = {2, -2, -2, 2}> {
        y = Div (a, b) z = Mod (a, b) w = Mod <fmod = 1> (a, b) }"""
    y, z, w = reference.run(assert_folds(text, X), X)
    np.testing.assert_array_equal(y, [-3, -3, 3, 3])
    np.testing.assert_array_equal(z, [1, -1, -1, 1])
    np.testing.assert_array_equal(w, [-1, 1, -1, 1])


@table(
    "r = ConstantOfShape (large)",
    "r = Expand (one, large)",
    "r = Tile (one, large)",
    "r = Range (zero, huge, step)",
    "r = Range (low, high, narrow)",
    "r = Pad (one, pads)",
    "r = HannWindow (huge)",
    "r = Where (row, column, deep)",
    'r = Einsum <equation = "a,bc,def->abcdef"> (a, column2, deep2)',
)
def test_nothing_large_is_made(text):
    model = as_model(
        HEAD
        + f"""g (float[2] x) => (float[2] y) <int64[1] large = {{1000000000}}, float[1] one = {{1}},
            int64 zero = {{0}}, int64 huge = {{9000000000000000000}}, int64 step = {{1}},
            int32 low = {{-2000000000}}, int32 high = {{2000000000}}, int32 narrow = {{1}},
            int64[2] pads = {{1000000000, -999999999}}> {{ {text} y = Identity (x) }}"""
    )
    arrays = {
        "row": np.ones((1000, 1, 1), np.bool_),
        "column": np.ones((1000, 1), np.float32),
        "deep": np.ones(1000, np.float32),
        "a": np.ones(1000, np.float32),
        "column2": np.ones((1000, 1), np.float32),
        "deep2": np.ones((1000, 1, 1), np.float32),
    }
    named = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    model.graph.initializer.extend(named)
    assert not Pipeline([FoldConstants()]).run(model).changed


def test_max_bytes():
    text = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { v = Neg (w) y = Add (x, v) }"
    assert not Pipeline([FoldConstants(max_bytes=7)]).run(as_model(HEAD + text)).changed
    assert Pipeline([FoldConstants(max_bytes=8)]).run(as_model(HEAD + text)).changed


@table(
    ("v = Transpose (w) y = MatMul (x, v)", "MatMul"),
    ("v = Mul (w, w) y = MatMul (x, v)", "MatMul"),
    ("v = Cast <to = 11> (w) u = Cast <to = 1> (v) y = MatMul (x, u)", "Cast Cast MatMul"),
    ("v = Transpose (w) u = MatMul (x, v) y = Add (u, w)", "Transpose MatMul Add"),
    ("v = Transpose (w) u = Neg (v) z = ReduceSum (u, first) y = MatMul (x, w)", "MatMul"),
    ("v = Transpose (w) u = Neg (v) s = MatMul (x, u) y = Add (s, w)", "Transpose Neg MatMul Add"),
    ("v = Tile (w, k) y = MatMul (x, v)", "Tile MatMul"),
    ("v = Concat <axis = 1> (w, w) y = MatMul (x, v)", "Concat MatMul"),
    ("v = Expand (one, n) y = MatMul (x, v)", "Expand MatMul"),
)
def test_large_ones_if_the_model_does_not_grow(text, nodes):
    head = (
        HEAD
        + """g (float[2, 2] x) => (float[2, M] y) <float[2, 2] w = {1, 2, 3, 4},
        int64[2] k = {1, 2}, float[1] one = {1}, int64[2] n = {2, 2}, int64[1] first = {0}>"""
    )
    passes = FoldConstants(max_bytes=15, large=True), EliminateDeadNodes()
    head = head if " z = " not in text else head.replace("M] y)", "M] y, float[1, 2] z)")
    assert " ".join(op_types(run_passes(f"{head} {{ {text} }}", *passes).model)) == nodes
    assert not run_passes(f"{head} {{ {text} }}", FoldConstants(max_bytes=15)).changed


def test_not_a_number_and_negative_zero():
    text = """g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {-0.0, -1.0}> {
        y = Sqrt (w) z = Abs (y) }"""
    y, _ = reference.run(assert_folds(text), X)
    assert np.signbit(y[0])
    assert np.isnan(y[1])


@pytest.mark.parametrize("to", ["FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "INT4", "UINT8", "DOUBLE"])
def test_element_types(to):
    number = getattr(onnx.TensorProto, to)
    text = f"""g (float[2] x) => (float[3] y) <float[3] w = {{1.5, 2.5, 3}}> {{
        a = Cast <to = {number}> (w) y = Cast <to = 1> (a) }}"""
    before = as_model(HEAD + text)
    expected = reference.run(before, X)[0]
    result = run_passes(before, FoldConstants(), EliminateDeadNodes())
    np.testing.assert_array_equal(reference.run(result.model, X)[0], expected)


def test_strings():
    text = """g (float[2] x) => (bool[2] y) <string[2] w = {"p", "q"}, string[1] v = {"q"}> {
        y = Equal (w, v) }"""
    np.testing.assert_array_equal(reference.run(assert_folds(text, X), X)[0], [False, True])


@pytest.mark.parametrize("opset", [7, 8, 9])
def test_older_forms_of_operators(opset):
    head = f'<ir_version: 4, opset_import: ["" : {opset}]>\n'
    text = """g (float[2] x) => (float[2] y) <float[1,4] w = {1, 2, 3, 4}> {
        a = Slice <starts = [1], ends = [3], axes = [1]> (w)
        b = Squeeze <axes = [0]> (a) c = Unsqueeze <axes = [0]> (b) d = Squeeze <axes = [0]> (c)
        y = Add (x, d) }"""
    assert_folds(text, X, head=head, left=["Add"])


def test_attributes_of_the_function_around_are_not_known():
    text = """g (float[2] x) => (float[2] y) { y = local.f <k = 0> (x) }
    <domain: "local", opset_import: ["" : 21]> f <k> (x) => (y) {
        a = Constant <value_floats = [1.0, 2.0]> ()
        b = Softmax <axis : int = @k> (a)
        c = Constant <value_int : int = @k> ()
        d = Neg (a)
        e = Add (b, d)
        f = CastLike (c, e)
        g = Add (e, f)
        y = Add (x, g) }"""
    result = run_passes(HEAD + text, FoldConstants(), feeds=[X])
    kinds = [n.op_type for n in result.model.functions[0].node]
    assert kinds.count("Softmax") == 1
    assert "Neg" not in kinds


def test_overridable_defaults_are_not_constant():
    assert_left(
        "g (float[2] x, float w) => (float[2] y) <float w = {2}> { v = Neg (w) y = Mul (x, v) }"
    )


def test_annotated_constants_are_left():
    model = as_model(
        HEAD + "g (float x) => (float y) <float w = {2}> { v = Neg (w) y = Add (x, v) }"
    )
    annotation = model.graph.quantization_annotation.add(tensor_name="v")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    assert not Pipeline([FoldConstants()]).run(model).changed


@pytest.mark.parametrize("attributes", ["", "<saturate : int = @k> "])
def test_cast_like_of_a_constant(attributes):
    text = f"""g (float[2] x) => (float[2] y) {{ y = local.f <k = 1> (x) }}
    <domain: "local", opset_import: ["" : 21]> f <k> (x) => (y) {{
        c = Constant <value_int = 3> () h = Cast <to = 10> (x)
        d = CastLike {attributes}(c, h) e = Mul (h, d) y = Cast <to = 1> (e) }}"""
    result = run_passes(HEAD + text, FoldConstants(), feeds=[X])
    assert ("CastLike" in [n.op_type for n in result.model.functions[0].node]) == bool(attributes)


def test_a_change_that_folds_nothing_is_told():
    text = """g (float16[2] x) => (float16[2] y) <float[2] w = {1, 2}> {
        c = CastLike (w, x) y = Add (x, c) }"""
    result = Pipeline([FoldConstants(max_bytes=0)]).run(as_model(HEAD + text))
    assert op_types(result.model) == ["Cast", "Add"]
    assert result.changed


FUNCTION = """
<domain: "local", opset_import: ["" : 21]> f <k: int = 3> (a, b) => (r, s) {
    n = Constant <value_int: int = @k> ()
    m = Cast <to = 1> (n)
    c = Mul (a, m)
    r = Add (c, b)
    s = Neg (c)
}"""


def test_calls_of_functions_with_constants_are_computed():
    text = f"""g (float[2] x) => (float[2] y, float[2] z)
        <float[2] p = {{1, 2}}, float[2] q = {{5, 7}}> {{
        u, v = local.f (p, q)  w, t = local.f <k = 2> (p, q)
        y = Add (x, u)  z = Sum (x, v, w, t)
    }} {FUNCTION}"""
    model = assert_folds(text, X, left=["Add", "Sum"])
    held = [onnx.numpy_helper.to_array(t).tolist() for t in model.graph.initializer]
    assert all(numbers in held for numbers in ([8, 13], [-3, -6], [7, 11], [-2, -4]))


@table("u, v = local.f (x, q)", "u = local.f (p, q)  v = Neg (p)", "u, v = local.g (p, q)")
def test_calls_that_are_not_computed(call):
    """Of what is not constant, with outputs left out, and of what draws random numbers."""
    random = FUNCTION.replace(" f <", " g <").replace("s = Neg (c)", "s = RandomNormalLike (c)")
    text = f"""g (float[2] x) => (float[2] y) <float[2] p = {{1, 2}}, float[2] q = {{5, 7}}> {{
        {call} y = Sum (x, u, v)
    }} {FUNCTION} {random}"""
    proto = as_model(HEAD + text)
    if "u = " in call:
        proto.graph.node[0].output.append("")
    result = Pipeline([FoldConstants()]).run(proto)
    assert any(node.domain == "local" for node in result.model.graph.node)


def test_calls_of_what_is_large_are_not_computed():
    text = f"""g (float[2] x) => (float[2] y) <float[2] p = {{1, 2}}, float[2] q = {{5, 7}}> {{
        u, v = local.f (p, q)  y = Sum (x, u, v)
    }} {FUNCTION}"""
    for most, folded in ((8, True), (7, False)):
        model = as_model(HEAD + text)
        assert Pipeline([FoldConstants(max_bytes=most)]).run(model).changed == folded


def test_a_cast_that_was_a_cast_like_keeps_the_name_of_its_node():
    text = """g (float[2] x) => (float[2] y) <int64[2] p = {1, 2}> {
        [like] c = CastLike (p, x) y = Add (x, c) }"""
    model = assert_folds(text, X, left=["Add"])
    assert [t.data_type for t in model.graph.initializer] == [1]


@pytest.mark.parametrize("saturate", [0, 1])
def test_a_cast_like_keeps_what_it_says_of_overflow(saturate):
    text = f"""g (float8e4m3fn[1] x) => (float[1] y) <float[1] w = {{1000}}> {{
        c = CastLike <saturate = {saturate}> (w, x) y = Cast <to = 1> (c) }}"""
    model = as_model(HEAD + text)
    result = Pipeline([FoldConstants()]).run(model)
    assert result.changed
    (held,) = [t for t in result.model.graph.initializer if t.name == "y"]
    wanted = 448 if saturate else np.nan
    np.testing.assert_equal(onnx.numpy_helper.to_array(held).tolist(), [wanted])


@table("MatMul (a, b)", "Gemm <transA = 1> (b, b)", "ReduceMax <keepdims = 0> (e)")
def test_products_of_many_numbers_with_few_results(product):
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    result = run_passes(
        f"""{head} g (float[8, 8] x) => (float[8, 8] y) <int64[2] wide = {{8, 600}},
        int64[2] high = {{600, 8}}> {{ a = ConstantOfShape (wide) b = ConstantOfShape (high)
        e = Add (a, a)
        c = {product} d = Sub (x, c) y = Neg (d) }}""",
        FoldConstants(),
    )
    assert op_types(result.model) == ["Sub", "Neg"]


def test_an_empty_tensor_that_a_loop_starts_with_stays_a_node():
    """OpenVINO loses the shape of an initializer without elements."""
    text = (
        HEAD
        + """g (float[N, 2] x, int64 n) => (float[M, 2] y, int64[2] z)
        <int64[2] none = {0, 2}, bool yes = {1}> {
        empty = ConstantOfShape (none) other = ConstantOfShape (none) z = Shape (other)
        y = Loop (n, yes, empty) <body = b (int64 i, bool c, float[K, 2] s)
            => (bool d, float[L, 2] t) { d = Identity (c) t = Concat <axis = 0> (s, x) }> }"""
    )
    assert op_types(run_passes(text, FoldConstants()).model) == ["ConstantOfShape", "Loop"]
