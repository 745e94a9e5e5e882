import numpy as np
import onnx.reference
import pytest
from kernels import assert_equal, feeds_of, lowered, one_node, run_kernel
from tables import table

DRAW = np.random.default_rng(0)


@pytest.mark.parametrize(("late", "count"), [(0, 1), (3, 2)])
@table(
    ("Adagrad", 1, {"decay_factor": 0.1, "norm_coefficient": 0.01}),
    ("Adam", 2, {"alpha": 0.8, "norm_coefficient": 0.1, "norm_coefficient_post": 0.05}),
    *(
        ("Momentum", 1, {"alpha": 0.9, "beta": 0.7, "norm_coefficient": 0.01, "mode": mode})
        for mode in ("standard", "nesterov")
    ),
)
def test_a_step_for_each_tensor(name, states, attributes, late, count):
    shapes = [(2, 3), (4,)][:count]
    tensors = [abs(DRAW.standard_normal(s)).astype(np.float32) for s in shapes * (2 + states)]
    inputs = [np.array(0.1, np.float32), np.array(late), *tensors]
    operator = f"ai.onnx.preview.training.{name}"
    model = one_node(operator, inputs, count * (1 + states), 17, **attributes)
    expected = onnx.reference.ReferenceEvaluator(model).run(None, feeds_of(inputs))
    assert_equal(expected, run_kernel(lowered(model), feeds_of(inputs)))
