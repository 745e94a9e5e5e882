import numpy as np
import onnx
import pytest
from conversions import assert_there_and_back, convert_version, model
from harness import as_model
from straightline import ir, reference
from straightline.version_converter import ConversionError
from straightline.version_converter.function_body import function_body, instantiate_function
from straightline.version_converter.types import Types
from tables import cases, table

test_there_and_back = cases(
    assert_there_and_back,
    ("y = HardSwish (x)", "float[2, 3]", 14, (7, 11, 13, 22)),
    ("y = Gelu (x)", "float[2, 3]", 20, (9, 13, 19)),
    ("y = Mish (x)", "float[2, 3]", 18, (9, 13, 17)),
    ("y = Celu (x)", "float[2, 3]", 12, (9, 11, 28)),
    ("a = Cast <to = 7> (x) y = Range (zero, seven, two)", "int64[4]", 13, (9, 10)),
)


@pytest.mark.parametrize(("outputs", "is_needed"), [("y", False), ("y, m, d", True)])
def test_unneeded_outputs_of_a_function_are_left_out(outputs, is_needed):
    """LayerNormalization gives out the inverse of the deviation too."""
    body, signature = f"{outputs} = LayerNormalization (x, w)", "float[2, 3] x, float[3] w"
    loaded = ir.load(model(body, 17, signature, outputs))
    types, (node,) = Types(loaded), loaded.graph.nodes()
    _, added = instantiate_function(function_body(node, 17, types), node, 17, types)
    assert ("Reciprocal" in {new.op_type for new in added}) == is_needed


@pytest.mark.parametrize("iterations", [0, 3])
def test_outputs_of_loops_are_declared(iterations):
    """A Loop that makes no iteration has nothing else to tell the type of a scan output by."""
    before = model("y = Range (a, b, c)", 27, "float16 a, float16 b, float16 c")
    # Not by convert_version, which straightens the Loop.
    loaded = ir.load(before)
    types, (node,) = Types(loaded), loaded.graph.nodes()
    (result,), _ = instantiate_function(function_body(node, 27, types), node, 27, types)
    loaded.graph.replace_uses(node.outputs[0], result)
    loaded.graph.remove(node)
    after = ir.to_proto(loaded)
    (loop,) = [node for node in after.graph.node if node.op_type == "Loop"]
    (body,) = [attribute.g for attribute in loop.attribute]
    assert all(output.type.tensor_type.HasField("shape") for output in body.output)
    feeds = {
        name: np.array(v, np.float16) for name, v in zip("abc", (0, iterations, 1), strict=True)
    }
    (found,), (wanted,) = reference.run(after, feeds), reference.run(before, feeds)
    assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@table(
    ("y = HardSwish (x)", 14, "float[2, 3] x"),
    ("y = LayerNormalization (x, w)", 17, "float[2, 3] x, float[3] w"),
    ("y = Range (x, x, x)", 11, "int64 x"),  # a Loop that captures the step
)
def test_the_new_nodes_are_given_back_and_no_others(body, opset, signature):
    loaded = ir.load(model(f"n = Neg (x) m = Abs (n) {body.replace('(x', '(n')}", opset, signature))
    graph, types = loaded.graph, Types(loaded)
    (node,) = [node for node in graph.nodes() if node.op_type in body]
    before = set(graph.unordered_nodes())
    results, added = instantiate_function(function_body(node, opset, types), node, opset, types)
    assert len(added) == len(set(added)) and len(results) == 1
    assert set(added) == set(graph.unordered_nodes()) - before
    assert all(types.elem_type(value) for new in added for value in new.outputs)
    ir.verify(loaded)


def test_an_operator_without_a_function_has_none():
    loaded = ir.load(model("y = Conv (x, x)", 13, "float[1, 1, 3, 3] x"))
    (node,) = loaded.graph.nodes()
    assert function_body(node, 13, Types(loaded)) is None


def test_a_function_that_reads_an_input_that_is_absent_is_none():
    """The rule of LinearAttention by default takes a decay, which is optional to the schema."""
    text = """<ir_version: 10, opset_import: ["" : 27]>
        g (float[1,4,16] q, float[1,4,16] k, float[1,4,16] v) => (y, s) {{
            y, s = LinearAttention <q_num_heads = 2, kv_num_heads = 2{}> (q, k, v) }}"""
    with pytest.raises(ConversionError, match="LinearAttention does not exist in opset 26"):
        convert_version(as_model(text.format("")), 26)
    linear = as_model(text.format(', update_rule = "linear"'))
    feeds = {name: np.random.default_rng(0).normal(size=(1, 4, 16)) for name in "qkv"}
    feeds = {name: array.astype(np.float32) for name, array in feeds.items()}
    for one, other in zip(
        reference.run(linear, feeds), reference.run(convert_version(linear, 26), feeds), strict=True
    ):
        np.testing.assert_allclose(one, other, 1e-5, 1e-6)


@pytest.mark.parametrize("shape", ["", "[1]", "[2, 0]"])
def test_a_scalar_stays_a_scalar(shape):
    """The function of Celu holds a constant of rank 1."""
    before = as_model(f"""<ir_version: 8, opset_import: ["" : 12]>
        g (float{shape} x) => (float{shape} y) {{ y = Celu <alpha = 2.0> (x) }}""")
    sizes = [int(size) for size in shape.strip("[]").split(",") if size]
    feeds = {"x": np.full(sizes, -1, np.float32)}
    (wanted,) = reference.run(before, feeds)
    for target in (8, 11):
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        (found,) = reference.run(after, feeds)
        assert found.shape == wanted.shape == tuple(sizes)
        np.testing.assert_allclose(found, wanted, 1e-6)


def test_a_function_whose_nodes_do_not_take_the_types_is_refused():
    """Attention has values of another type than keys, which its function multiplies."""
    text = """<ir_version: 10, opset_import: ["" : 23]>
        g (float[1,2,4,8] q, float[1,2,4,8] k, float16[1,2,4,8] v) => (y) {
            y = Attention (q, k, v) }"""
    with pytest.raises(ConversionError, match="MatMul, which does not "):
        convert_version(as_model(text), 22)
