import onnx
import straightline as sl
from tables import table

HEADER = '<ir_version: 10, opset_import: ["" : 21]> '


@table(
    ("uint8", "float s = {0.05}", "", "", True),
    ("int8", "float16 s = {10854}", "", "", True),  # 0.05
    ("uint16", "float16 s = {10854}", "", "", False),  # 16 bits are more than its digits
    ("int8", "float s = {0}", "", "", False),
    ("int8", "float s = {1e-40}", "", "", False),
    ("int8", "float[3] s = {0.05, 1, 2}", "<axis = 0>", "<axis = 0>", True),
    ("int8", "float[3] s = {0.05, 1, 2}", "<axis = 0>", "<axis = 1>", False),
)
def test_quantized_again(whole, scale, one, other, is_proved):
    signature = f"({whole}[3, 3] x, {whole} w) => ({whole}[3, 3] y)"
    zero = "z" if "[3]" in scale else "w"
    more = f", {whole}[3] z = {{1, 2, 3}}"
    before, after = (
        onnx.parser.parse_model(f"{HEADER} g {signature} <{scale}{more}> {{ {nodes} }}")
        for nodes in (
            f"b = DequantizeLinear {one} (x, s, {zero}) y = QuantizeLinear {other} (b, s, {zero})",
            "y = Identity (x)",
        )
    )
    assert sl.prove(before, after, search=False).proved is is_proved


@table(("s, z", "s, v"), ("s, z", "t, z"), ("s, z", "s"))
def test_other_parameters_quantize_otherwise(one, other):
    text = "g (uint8[3] x, float s, float t, uint8 z, uint8 v) => (uint8[3] y)"
    before, after = (
        onnx.parser.parse_model(f"{HEADER} {text} {{ {nodes} }}")
        for nodes in (
            f"b = DequantizeLinear (x, {one}) y = QuantizeLinear (b, {other})",
            "y = Identity (x)",
        )
    )
    assert not sl.prove(before, after, search=False).proved
