import numpy as np
import onnx
from straightline.ir import Tensor
from straightline.passes.simplify.rules.uniform_constants import UniformConstants
from tables import table


@table(
    (np.float32(2), 2, True),
    (np.full((2, 3), 2, np.float32), 2.0, True),
    (np.array([2, 2, 3], np.float32), 2, False),
    (np.array([2, 3, 2], np.float32), 2, False),
    (np.array([2, 3, 2], np.float32), 3, False),
    (np.zeros(3, np.float32), 0.0, True),
    (np.zeros(3, np.float32), -0.0, False),
    (np.array([0.0, -0.0], np.float32), 0.0, False),
    (np.full(2, 3, np.int64), 3, True),
    (np.full(2, 3, np.int64), 3.5, False),
    (np.full(2, 255, np.uint8), 256, False),
    (np.zeros((0, 3), np.float32), 0, False),
    (np.ones(2, bool), 1, True),
    (np.array(["1"], object), 1, False),
)
def test_a_number_everywhere(elements, number, holds):
    tensor = Tensor(onnx.numpy_helper.from_array(np.asarray(elements)))
    constants = UniformConstants()
    assert constants.holds(tensor, number) is holds
    assert constants.holds(tensor, number) is holds  # as remembered
    assert not constants.holds(tensor, 7)
