import numpy as np
import onnx
import pytest
from harness import run_in_onnxruntime
from straightline.facts.polynomial import Dimension
from straightline.ir import Model, to_proto
from straightline.ops.batching import Unbatchable
from straightline.ops.builder import Builder
from straightline.passes.utils.stacked_rows import concat_rows
from tables import table


def _joined(axis, shape, opset):
    model = Model(onnx.ModelProto(ir_version=8))
    model.opset_imports = {"": opset}
    info = onnx.helper.make_tensor_value_info("x", 1, [None] * (len(shape) + 1))
    rows = model.graph.add_input("x", info)
    known = tuple(
        Dimension.symbol(size) if isinstance(size, str) else Dimension.constant(size)
        for size in shape
    )
    result = concat_rows(rows, axis, known, Builder(model.graph))
    model.graph.set_outputs(
        [result], [onnx.helper.make_tensor_value_info("y", 1, [None] * len(shape))]
    )
    return to_proto(model)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(2, 3, 4), ("a", "b", "c"), (2, "b", 4), (1, 1, 1)])
@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("empty", [False, True])
def test_rows_joined_along_an_axis(axis, shape, count, empty):
    sizes = [size if isinstance(size, int) else (0 if empty else 5) for size in shape]
    rows = np.arange(count * np.prod(sizes), dtype=np.float32).reshape(count, *sizes)
    (found,) = run_in_onnxruntime(_joined(axis, shape, 17), {"x": rows})
    nothing = np.zeros((*sizes[:axis], 0, *sizes[axis + 1 :]), np.float32)
    np.testing.assert_array_equal(found, np.concatenate([nothing, *rows], axis))


def test_an_older_reshape_cannot_be_told_a_size_of_0():
    with pytest.raises(Unbatchable, match="convert to opset 14"):
        _joined(0, (2, "b"), 13)


@table((("a",), 0, [-1]), ((2, "b", 4), 1, [2, -1, 4]))
def test_an_open_joined_length_has_a_constant_target(shape, axis, wanted):
    """In any opset: no other length can be zero."""
    graph = _joined(axis, shape, 11).graph
    assert [node.op_type for node in graph.node][-1] == "Reshape"
    (target,) = graph.initializer
    assert onnx.numpy_helper.to_array(target).tolist() == wanted
