import numpy as np
import onnx
import straightline as sl
from straightline import reference


def test_sizes_may_have_32_bits():
    """onnxruntime refuses them: it inlines the function of onnx, which is not valid for them."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 18, "l" : 1]>
    g (float[3, 4] x, int32[2] s) => (float[n, m] y) { y = l.F (x, s) }
    <domain: "l", opset_import: ["" : 18]> F (x, s) => (y) {
        y = CenterCropPad <axes = [1, 0]> (x, s) }""")
    feeds = {"x": np.arange(12, dtype=np.float32).reshape(3, 4), "s": np.array([5, 2], np.int32)}
    result = sl.convert_version(model, 13)
    onnx.checker.check_model(result, full_check=True)
    np.testing.assert_array_equal(*reference.run(model, feeds), *reference.run(result, feeds))
