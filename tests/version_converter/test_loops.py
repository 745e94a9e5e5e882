import numpy as np
import onnx
from conversions import model
from straightline import convert_version, reference

BODY = 'y = ScatterElements <reduction = "add"> (x, i, x)'


def test_a_loop_carries_one_tensor_and_declares_it():
    loop = convert_version(model(BODY, 16, "float[A, 3] x, int64[A, 3] i"), 15).graph.node[-1]
    (body,) = [attribute.g for attribute in loop.attribute]
    assert (loop.op_type, len(loop.input), len(loop.output)) == ("Loop", 3, 1)
    kinds = [value.type.tensor_type.elem_type for value in (*body.input, *body.output)]
    assert kinds == [7, 9, 1, 9, 1]
    ranks = [len(value.type.tensor_type.shape.dim) for value in (*body.input, *body.output)]
    assert ranks == [0, 0, 2, 0, 2]


def test_each_iteration_sees_what_the_one_before_left():
    x, i = np.ones((3, 3), np.float32), np.zeros((3, 3), np.int64)
    after = convert_version(model(BODY, 16, "float[A, 3] x, int64[A, 3] i"), 15)
    assert isinstance(after, onnx.ModelProto)
    assert reference.run(after, {"x": x, "i": i})[0].tolist() == [[4] * 3, [1] * 3, [1] * 3]
