import numpy as np
import onnx
import pytest
from conversions import model as model_of
from harness import assert_equal_outputs, op_types
from onnx import helper
from straightline import convert_version, reference
from straightline.version_converter import ConversionError
from straightline.version_converter.constants import is_small
from tables import table


def summed(start, links, opset=13):
    """Sums x along axes that hang on `start` by these nodes; the last of them gives "axes"."""
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])
    given = helper.make_tensor_value_info("given", onnx.TensorProto.INT64, [1])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    zero = helper.make_tensor("zero", onnx.TensorProto.INT64, [1], [0])
    head = helper.make_node("Identity", [start], ["a0"])
    last = helper.make_node("ReduceSum", ["x", links[-1].output[0]], ["y"], keepdims=0)
    graph = helper.make_graph([head, *links, last], "g", [x, given], [y], [zero])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def ladder(steps):
    """Each step reads the one before twice: 2 ** steps ways lead back to the start."""
    return [helper.make_node("Add", [f"a{i}", f"a{i}"], [f"a{i + 1}"]) for i in range(steps)]


def ladder_of_joins(steps):
    """The same with two nodes between that join again."""
    nodes = []
    for i in range(steps):
        nodes.append(helper.make_node("Neg", [f"a{i}"], [f"b{i}"]))
        nodes.append(helper.make_node("Abs", [f"a{i}"], [f"c{i}"]))
        nodes.append(helper.make_node("Add", [f"b{i}", f"c{i}"], [f"a{i + 1}"]))
    return nodes


def chain(steps):
    return [helper.make_node("Neg", [f"a{i}"], [f"a{i + 1}"]) for i in range(steps)]


@pytest.mark.parametrize("links", [ladder(60), ladder_of_joins(30), chain(600)])
def test_a_shared_value_is_visited_once(links):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    down = convert_version(summed("zero", links), 12)
    assert "ReduceSum" in op_types(down)
    (y,) = reference.run(down, {"x": x, "given": np.array([1])})
    np.testing.assert_array_equal(y, x.sum(0))


@pytest.mark.sample(1)
@pytest.mark.parametrize("links", [ladder(200), ladder_of_joins(100), chain(3000)])
def test_dependence_on_an_input_is_found_early(links):
    model = summed("given", links)
    feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "given": np.array([1])}
    (found,), (wanted,) = (
        reference.run(proto, feeds) for proto in (convert_version(model, 8), model)
    )
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("first", ["ReduceSum", "Squeeze"])
def test_nodes_on_the_way_are_computed_in_the_version_in_which_they_stand(first):
    """The step carries nodes in no order that it owes anyone; each is what its own version says."""
    text = f"""<ir_version: 8, opset_import: ["" : 13]>
    g (float[2,3] x) => (float[] y) <int64[1,1] c = {{1}}, int64[1] zero = {{0}}> {{
        axes = {first} {"<keepdims = 0>" if first == "ReduceSum" else ""} (c, zero)
        y = ReduceSum <keepdims = 0> (x, axes) }}"""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for model in (
        text,
        text.replace("axes", "b_axes").replace("y =", "a_y =").replace("y)", "a_y)"),
    ):
        down = convert_version(onnx.parser.parse_model(model), 12)
        np.testing.assert_array_equal(reference.run(down, {"x": x})[0], x.sum(1))


def test_a_default_that_callers_may_override_is_constant_once_it_is_frozen():
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]>'
        " g (float16[2, 3] x, int64[1] a = {1}) => (float16[2, 1] y) { y = ReduceMean (x, a) }"
    )
    with pytest.raises(ConversionError) as caught:
        convert_version(proto, 17)
    (failure,) = caught.value.failures
    assert failure.reason.startswith(
        "input 'axes' of it may be overridden by callers, and opset 17 requires it constant; it"
        " depends on 'a', an initializer that callers may override; decide it with"
        " --freeze-initializers"
    )
    after = convert_version(proto, 17, freeze_initializers=True)
    assert_equal_outputs(proto, after, {"x": np.arange(6, dtype=np.float16).reshape(2, 3)})


@pytest.mark.sample(2)
@table(
    ("y = Trilu (x)", 14, "float[2000, 3000] x"),
    ("y = Trilu <upper = 0> (x, k)", 14, "float[7, 2000, 3000] x, int64 k"),
    ("y = EyeLike (x)", 9, "float[2000, 3000] x"),
    ("y = Where (c, x, x)", 9, "bool[2000, 3000] c, float[2000, 3000] x"),
    ("y = GatherElements <axis = 1> (x, i)", 11, "float[9, 9000] x, int64[9, 8000] i"),
    ("y = ScatterElements <axis = 1> (x, i, u)", 11,
     "float[9, 9000] x, int64[9, 8000] i, float[9, 8000] u"),
    ('y = ScatterElements <axis = 1, reduction = "add"> (x, i, u)', 16,
     "float[9, 9000] x, int64[9, 8000] i, float[9, 8000] u"),
    ("l = Constant <value_ints = [900, 800, 700]> ()"
     " y = ReverseSequence <time_axis = 0, batch_axis = 1> (x, l)", 12,
     "float[9000, 3] x"))  # fmt: skip
def test_a_constant_does_not_grow_with_the_data(body, opset, signature):
    for target in (opset - 1, 9, 8):
        after = convert_version(model_of(body, opset, signature), target, verify=False)
        assert after.ByteSize() < 100_000, target


def test_small_constants_are_stored():
    assert is_small([64, 128]) and not is_small([64, 129]) and not is_small([None])
    (mask,) = convert_version(model_of("y = Trilu (x)", 14), 13).graph.initializer[:1]
    assert list(mask.dims) == [2, 3]
