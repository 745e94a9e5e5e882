import ml_dtypes
import numpy as np
import onnx
import pytest
from conversions import assert_becomes, convert_version
from straightline import reference

IMAGE = np.random.default_rng(0).normal(size=(1, 2, 4, 4)).astype(ml_dtypes.bfloat16)
ROW = np.array([[0.5, -0.25, 0.75], [1.0, -1.0, 0.0]], ml_dtypes.bfloat16)
CASES = [
    *[
        (22, f"y = {op_type} (x)", {"x": ROW})
        for op_type in ("Acos", "Asinh", "Cosh", "Elu", "Mish", "Round", "Selu", "Softplus", "Tan")
    ],
    (22, "y = Conv (x, w)", {"x": IMAGE, "w": IMAGE[:, :, :2, :2]}),
    (22, "y = MaxPool <kernel_shape = [2, 2]> (x)", {"x": IMAGE}),
    (22, "y = GlobalAveragePool (x)", {"x": IMAGE}),
    (22, "y = InstanceNormalization (x, s, b)", {"x": IMAGE, "s": ROW[0, :2], "b": ROW[1, :2]}),
    (28, 'y = Einsum <equation = "ab,cb"> (x, z)', {"x": ROW, "z": ROW}),
]


def test_casts_around():
    assert_becomes("""22 to 21, bfloat16[1, 2, 4, 4] x, bfloat16[3, 2, 2, 2] w: y = Conv (x, w) =>
        image = Cast <to = 1> (x)
        kernel = Cast <to = 1> (w)
        wide = Conv (image, kernel)
        y = Cast <to = 16> (wide)""")


@pytest.mark.parametrize(("opset", "body", "feeds"), CASES)
def test_numbers(opset, body, feeds):
    signature = ", ".join(f"bfloat16[{', '.join(map(str, v.shape))}] {n}" for n, v in feeds.items())
    rank = feeds["x"].ndim
    before = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": {opset}]>
        g ({signature}) => (bfloat16[{", ".join("abcd"[:rank])}] y) {{ {body} }}""")
    after = convert_version(before, opset - 1)
    onnx.checker.check_model(after, full_check=True)
    (found,), (wanted,) = (reference.run(proto, feeds) for proto in (after, before))
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(*(v.astype(np.float32) for v in (found, wanted)), 0.02, 0.02)
