import numpy as np
import onnx
import pytest
from reference_oracle import assert_as_onnxruntime, assert_same, parse
from straightline import reference, rewrite
from straightline.ir import ModelError
from straightline.reference import EvaluationError

X = np.arange(4, dtype=np.float32)


def test_a_loop_in_a_function_that_reads_its_attributes_is_as_in_onnxruntime():
    functions = """
    <domain: "local", opset_import: ["": 18, "local": 1]>
    Twice <iterations, step: float = 3.0> (x) => (y) {
      y = local.Steps <iterations = @iterations, by: float = @step> (x) }
    <domain: "local", opset_import: ["": 18]>
    Steps <iterations, by> (x) => (y) {
      m = Constant <value_int: int = @iterations> ()
      y = Loop (m, , x) <body = b (int64 i, bool c, float[n] v) => (bool c, float[n] w) {
        one = Constant <value_int = 1> ()
        odd = Equal (i, one)
        d = If (odd) <
          then_branch = t () => (float r) { r = Constant <value_float: float = @by> () },
          else_branch = e () => (float r) { r = Constant <value_float = 1.0> () }>
        w = Add (v, d) }>
    }"""
    model = parse(
        """agraph (float[n] x) => (float[n] y, float[n] z) {
          y = local.Twice <iterations = 2> (x)
          z = local.Twice <iterations = 3, step = 7.0> (x) }""",
        functions=functions,
    )
    assert_as_onnxruntime(model, {"x": X})


def test_an_attribute_without_a_value_leaves_the_default_of_the_operator():
    model = parse(
        "agraph (float[2, 2] x) => (float[2, 2] y) { y = local.Soft (x) }",
        functions="""<domain: "local", opset_import: ["": 18]>
        Soft <axis> (x) => (y) { y = Softmax <axis: int = @axis> (x) }""",
    )
    (y,) = reference.run(model, {"x": X.reshape(2, 2)})
    np.testing.assert_allclose(y.sum(axis=-1), 1, rtol=1e-6)


def test_a_function_has_its_own_opset_imports():
    # Scan 8, with its batch axis, inside a function of a newer model.
    model = parse(
        """agraph (float[b, t] x) => (float[b, t] y, float[b, t] z) {
          y = local.Old (x)
          z = Scan <num_scan_inputs = 1, body = g (float[t] e) => (float[t] r)
            { r = Neg (e) }> (x) }""",
        functions="""<domain: "local", opset_import: ["": 8]>
        Old (x) => (y) { y = Scan <num_scan_inputs = 1, directions = [1],
          body = g (float e) => (float r) { r = Neg (e) }> (, x) }""",
    )
    x = X.reshape(2, 2)
    assert_same(reference.run(model, {"x": x}), [-x[:, ::-1], -x])


def test_missing_inputs_are_absent_and_outer_values_are_not_seen():
    model = parse(
        "agraph (float[n] x) => (float[n] y) { low = Neg (x)  y = local.Bound (x) }",
        functions="""<domain: "local", opset_import: ["": 18]>
        Bound (x, low) => (y) { y = Clip (x, low) }""",
    )
    assert_same(reference.run(model, {"x": X}), [X])


def test_a_function_that_calls_itself_is_an_error():
    model = parse(
        "agraph (float[n] x) => (float[n] y) { y = local.F (x) }",
        functions="""<domain: "local", opset_import: ["": 18, "local": 1]>
        F (x) => (y) { y = local.F (x) }""",
    )
    with pytest.raises(ModelError, match="function 'local::F' calls itself"):
        reference.run(model, {"x": X})


def test_an_error_names_the_way_to_the_node():
    model = parse(
        "agraph (float[n] x, float[m] z) => (float[n] y) { y = local.F (x, z) }",
        functions="""<domain: "local", opset_import: ["": 18]>
        F (x, z) => (y) { t = Constant <value_int = 1> ()
          y = Loop (t, , x) <body = b (int64 i, bool c, float[n] v) => (bool c, float[n] w)
            { w = Add (v, z) }> }""",
    )
    with pytest.raises(EvaluationError, match="F 'y': Loop 'y': Add 'w': "):
        reference.run(model, {"x": X, "z": X[:3]})


def chain(count, *, bodies=True):
    """So many functions that call each other, each in a branch of an If in a Loop."""
    text = '<ir_version: 8, opset_import: ["": 18, "local": 1]>'
    text += f"g (float[1] x) => (float[1] y) {{ y = local.f{count - 1} (x) }}"
    head = '<domain: "local", opset_import: ["": 18, "local": 1]>'
    text += f"{head} f0 (x) => (y) {{ y = Neg (x) }}"
    for n in range(1, count):
        if not bodies:
            text += f"{head} f{n} (x) => (y) {{ y = local.f{n - 1} (x) }}"
            continue
        text += f"""{head} f{n} (x) => (y) {{
            once = Constant <value = int64 {{1}}> () yes = Constant <value = bool {{1}}> ()
            y = Loop (once, , x) <body = b (int64 i, bool c, float[1] v) => (bool d, float[1] w) {{
              d = Identity (c)
              w = If (yes) <then_branch = t () => (float[1] p) {{ p = local.f{n - 1} (v) }},
                            else_branch = e () => (float[1] q) {{ q = Abs (v) }}> }}> }}"""
    return onnx.parser.parse_model(text)


def test_calls_within_calls_are_run():
    (y,) = reference.run(chain(300, bodies=False), {"x": np.float32([1])})
    assert y.tolist() == [-1]


def test_calls_in_bodies_of_calls_are_run_or_an_error():
    with pytest.raises(EvaluationError, match="deeper than they can run; inline them first"):
        reference.run(chain(300), {"x": np.float32([1])})


def test_a_constant_that_deep_calls_in_bodies_compute_is_found_when_they_are_inlined():
    model = chain(200)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([1]), "k"))
    model.graph.node[0].input[0] = "k"
    del model.graph.input[:]
    assert reference.run(rewrite(model, verify=False), {})[0].tolist() == [-1]
