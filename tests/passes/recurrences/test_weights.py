import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.facts.fact import Fact
from straightline.ir import Value
from straightline.ops.batching import Operand
from straightline.ops.builder import Builder
from straightline.passes.recurrences.weights import Matrix, Unfit, Weights
from straightline.reference import run

ARRAY = np.arange(24, dtype=np.float32).reshape(4, 6)


def weights(batched=False):
    model = ir.parse('<ir_version: 8, opset_import: ["" : 17]> g (float[4, 6] w) => () {}')
    emit = Builder(model.graph)

    def same(value):
        return Operand(model.graph.inputs[0], batched, Fact())

    return model, Weights(emit, same, np.dtype(np.float32))


def computed(model, block):
    """The elements of a block."""
    if not isinstance(block, Value):
        return block
    model.graph.set_outputs([block], [onnx.helper.make_tensor_value_info("y", 1, None)])
    return run(ir.to_proto(model), {"w": ARRAY})[0]


@pytest.mark.parametrize("known", [True, False])
def test_a_part_of_a_matrix_as_the_operators_take_it(known):
    model, made = weights()
    value = Value("w", constant=ir.Tensor(array=ARRAY)) if known else Value("w")
    matrix = Matrix(value, (4, 6), 4, 6).columns(1, 5).some_rows(1, 3)
    assert matrix.transpose().transpose() == matrix
    assert isinstance(made.transpose(matrix), Value) is not known
    block = made.scale(made.transpose(matrix.transpose()), 2.0)
    block = made.concat([made.zeros(1, 4), block, made.scale(block, -1.0)], 0)
    part = 2 * ARRAY[1:3, 1:5]
    expected = np.concatenate([np.zeros((1, 4)), part, -part])
    np.testing.assert_array_equal(computed(model, block), expected)


def test_a_varying_matrix_is_no_weight():
    _, made = weights(batched=True)
    with pytest.raises(Unfit, match="differs from iteration to iteration"):
        made.transpose(Matrix(Value("w"), (4, 6), 4, 6))


def test_sums():
    model, made = weights()
    one = np.ones(3, np.float32)
    assert made.add(None, one) is one
    np.testing.assert_array_equal(made.add(one, one), 2 * one)
    total = made.add(one, model.graph.inputs[0])
    assert isinstance(total, Value) and total.producer.op_type == "Add"
