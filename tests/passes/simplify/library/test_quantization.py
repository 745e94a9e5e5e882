"""Equal quantization steps in a row.

a = QuantizeLinear (x, s, z)   b = DequantizeLinear (a, s, z)   c = QuantizeLinear (b, s, z)
->
a = QuantizeLinear (x, s, z)   the readers of c read a
"""

import numpy as np
import onnx
import onnxruntime as ort
from simplified import operators
from tables import table

STEPS = """a = QuantizeLinear {0} (x, s{1}) b = DequantizeLinear {0} (a, s{1})
    c = QuantizeLinear {0} (b, {2}) y = DequantizeLinear {0} (c, {2})"""


@table(
    ("float s = {0.05}", "", ", z", "s, z", 2),
    ("float s = {0.05}", "", "", "s", 2),
    ("float[3] s = {0.05, 0.1, 7}", "<axis = 0>", "", "s", 2),
    ("float s = {0.05}, float t = {0.06}", "", ", z", "t, z", 4),  # another scale
    ("float s = {0.05}", "", ", z", "s, v", 4),  # another zero point
    ("float s = {1e-42}", "", "", "s", 4),  # products lose digits
    ("float s = {3e38}", "", "", "s", 4),  # products overflow
)
def test_a_value_quantized_twice(scales, axis, first, second, left):
    zeros = "uint8 z = {10}, uint8 v = {11}"
    text = f"<{scales}, {zeros}> {{ {STEPS.format(axis, first, second)} }}"
    assert len(operators(text, "(float[3, N] x) => (float[3, N] y)")) == left


@table(("uint8", "float"), ("int8", "float"), ("uint16", "float"), ("uint8", "float16"))
def test_every_quantized_value_comes_back_in_onnxruntime(whole, kind):
    """The law that the rule states, in the kernels, for all values and many scales."""
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
        g ({whole}[N] x, {kind} s) => ({whole}[N] y) {{
            b = DequantizeLinear (x, s, z)  y = QuantizeLinear (b, s, z) }}"""
    model = onnx.parser.parse_model(text)
    values = np.arange(np.iinfo(whole).min, np.iinfo(whole).max + 1).astype(whole)
    zero = onnx.numpy_helper.from_array(np.array(values[len(values) // 3]), "z")
    model.graph.initializer.append(zero)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    exponents = (-8, 3) if kind == "float16" else (-30, 20)
    scales = np.exp2(np.random.default_rng(0).uniform(*exponents, 200))
    for scale in scales.astype("float32" if kind == "float" else kind):
        (result,) = session.run(None, {"x": values, "s": np.array(scale)})
        np.testing.assert_array_equal(result, values)
