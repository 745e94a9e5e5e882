import numpy as np
import pytest
from conversions import assert_becomes, converted, model
from straightline import convert_version, reference


def test_squares_of_deviations():
    assert_becomes("""9 to 8: y = MeanVarianceNormalization <axes = [1]> (x) =>
        mean = ReduceMean <axes = [1]> (x)
        deviations = Sub (x, mean)
        squares = Mul (deviations, deviations)
        variance = ReduceMean <axes = [1]> (squares)
        size = Sqrt (variance)
        divisor = Add (size, 9.999999717180685e-10)
        y = Div (deviations, divisor)""")


@pytest.mark.parametrize("offset", [0, 3000])
def test_numbers_on_a_large_mean(offset):
    before = model("y = MeanVarianceNormalization (x)", 13, "float[2, 3, 4, 5] x")
    x = (np.random.default_rng(1).normal(size=(2, 3, 4, 5)) + offset).astype(np.float32)
    wide = x.astype(np.float64)
    deviations = wide - wide.mean((0, 2, 3), keepdims=True)
    size = np.sqrt((deviations**2).mean((0, 2, 3), keepdims=True))
    (found,) = reference.run(convert_version(before, 8), {"x": x})
    np.testing.assert_allclose(found, deviations / size, 1e-2, 1e-3)


def test_default_axes_are_written_out():
    """The inference of onnx fails without axes from opset 13 on."""
    found = converted("y = MeanVarianceNormalization (x)", 9, 13, "float[2, 3, 4, 5] x")
    assert found == ["MeanVarianceNormalization <axes = [0, 2, 3]> (x)"]
