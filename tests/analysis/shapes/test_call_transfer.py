import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, op_types
from onnx import helper
from straightline import inspect, ir, rewrite
from straightline.analysis.shapes.inference import ShapeInference
from straightline.limits import Limits, governed

HEAD = '<ir_version: 10, opset_import: ["" : 18, "local" : 1]>\n'


def facts(text):
    model = ir.load(as_model(HEAD + text))
    inference = ShapeInference(model)
    return {v.name: inference.fact(v) for n in model.graph.nodes() for v in n.outputs}


def test_calls_that_are_given_the_same_give_the_same():
    found = facts("""g (float[N,2] x, float[N,2] w, float[M] z) => (a, b, c) {
        a = local.f (x) b = local.f (w) c = local.f (z) }
    <domain: "local", opset_import: ["" : 18]> f (p) => (r) { r = Concat <axis = 0> (p, p) }""")
    assert str(found["a"].shape) == str(found["b"].shape) == "(2*N, 2)"
    assert str(found["c"].shape) == "(2*M,)"


def test_each_call_has_its_own_counts():
    found = facts("""g (float[N] x) => (a, b) { a = local.f (x) b = local.f (x) }
    <domain: "local", opset_import: ["" : 18]> f (p) => (r) {
        q = NonZero (p) r = Concat <axis = 1> (q, q) }""")
    (one, first), (other, second) = found["a"].shape, found["b"].shape
    assert one == other
    assert first.equals(second) is None


@pytest.mark.parametrize("size", ["N", "M"])
def test_a_symbol_that_a_function_declares_is_another_size_in_each_call(size):
    """The declared N is that of one call; it is neither the next one's nor the model's own."""
    model = onnx.parser.parse_model(
        HEAD
        + """g (float[M] a, float[N] b) => (int64 y) <int64 one = {1}, int64 two = {2}> {
            u = local.f (a) v = local.f (b) su = Size (u) sv = Size (v) n = Size (b)
            same = Equal (su, sv) whole = Equal (sv, n) either = Or (same, whole)
            y = If (either) <then_branch = t () => (int64 p) { p = Identity (one) },
                             else_branch = e () => (int64 q) { q = Identity (two) }> }
        <domain: "local", opset_import: ["" : 18]> f (x) => (r) { w = NonZero (x) r = Neg (w) }"""
    )
    info = helper.make_tensor_value_info("w", onnx.TensorProto.INT64, [1, size])
    model.functions[0].value_info.append(info)
    a, b = np.array([1, 0, 0], np.float32), np.array([1, 1, 0, 0], np.float32)
    result = rewrite(model)
    assert_equal_outputs(model, result, {"a": a, "b": b})
    assert_equal_outputs(model, result, {"a": a, "b": a})


def test_functions_that_call_each_other_twice_are_walked_once():
    """2 ** 40 calls, all of one kind."""
    depth = 40
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    relu = helper.make_node("Relu", ["x"], ["y"])
    functions = [helper.make_function("local", "f0", ["x"], ["y"], [relu], opsets)]
    for number in range(1, depth):
        calls = [
            helper.make_node(f"f{number - 1}", [source], [to], domain="local")
            for source, to in (("x", "a"), ("a", "y"))
        ]
        functions.append(helper.make_function("local", f"f{number}", ["x"], ["y"], calls, opsets))
    graph = helper.make_graph(
        [
            helper.make_node(f"f{depth - 1}", ["x"], ["y"], domain="local"),
            helper.make_node("Shape", ["y"], ["z"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("z", onnx.TensorProto.INT64, [2])],
    )
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9)
    assert op_types(rewrite(model, verify=False)) == []
    assert not inspect(model).constructs


def test_calls_that_stand_too_deep_are_not_looked_into():
    """A chain of any length ends with an answer."""
    text = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    g (float[2] x) => (y) { y = local.f499 (x) }"""
    head = '<domain: "local", opset_import: ["" : 18, "local" : 1]>'
    text += f"{head} f0 (a) => (r) {{ r = Neg (a) }}"
    for number in range(1, 500):
        text += f"{head} f{number} (a) => (r) {{ r = local.f{number - 1} (a) }}"
    model = ir.load(onnx.parser.parse_model(text))
    inference = ShapeInference(model)
    with governed() as governor:
        assert inference.fact(model.graph.outputs[0]) is not None
    (why,) = governor.refused
    assert why.endswith("deeper than call_depth=60 allows; inline them first")
    short = model.functions["local", "f40", ""]
    call = model.graph.add_node(ir.Operator("f40", domain="local"), model.graph.inputs, ["z"])
    assert short is not None
    assert [d.value for d in inference.fact(call.outputs[0]).shape] == [2]


def test_calls_that_are_given_other_sizes_each_time_are_counted():
    """Each calls the one before with what is longer each time: kinds without end."""
    head = '<domain: "local", opset_import: ["" : 18, "local" : 1]>'
    growing = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
        g (float[2] x) => (y) {{ y = local.f{last} (x) }}
        {head} f0 (a) => (r) {{ r = Neg (a) }}"""
    text = growing.format(last=30, head=head)
    for number in range(1, 31):
        text += f"""{head} f{number} (a) => (r) {{
            b = local.f{number - 1} (a) c = Concat <axis = 0> (a, b)
            r = local.f{number - 1} (c) }}"""
    model = ir.load(onnx.parser.parse_model(text))
    with governed(Limits(max_work=20_000_000)) as governor:
        fact = ShapeInference(model).fact(model.graph.outputs[0])
    assert fact.shape is None or fact.shape[0].value is None
    ((why, _),) = governor.refused.items()
    assert "inferring its results needs more steps than max_work=20000000" in why
    assert governor.work == 0, "as much is left for computing"
