import numpy as np
from kernels import assert_equal, assert_kernel, feeds_of, lowered, one_node, run_kernel
from tables import table

X = np.random.default_rng(0).standard_normal((2, 3, 6, 5)).astype(np.float32)


@table(
    ("Affine", {"alpha": 2.0, "beta": 0.5}),
    ("Affine", {}),
    ("Scale", {"scale": 2.5}),
    ("ScaledTanh", {"alpha": 1.5, "beta": 0.7}),
    ("ParametricSoftplus", {"alpha": 1.5, "beta": 0.7}),
    ("ImageScaler", {"scale": 2.0, "bias": [0.1, 0.2, 0.3]}),
    ("Crop", {"border": [1, 2, 0, 1]}),
    ("Crop", {"border": [1, 2, 0, 1], "scale": [3, 2]}),
)
def test_kernels(name, attributes):
    model = one_node(name, [X], opset=9, **attributes)
    assert_equal(*(run_kernel(each, feeds_of([X])) for each in (model, lowered(model))))


def test_bounds_of_run_time():
    bounds = [np.array(numbers, np.int32) for numbers in ([1, 0], [3, -1], [2, 3])]
    assert_kernel("DynamicSlice", [X, *bounds], opset=9)
    assert_kernel("DynamicSlice", [X, *bounds[:2]], opset=9)
