"""What tests of verification share: models that are written in a line."""

import onnx.parser

SCALE = "(float[N,3] x) => (float[N,3] y) <float[3] w = {%s}> { y = Mul(x, w) }"


def model(body, opset=18, ir_version=10):
    header = f'<ir_version: {ir_version}, opset_import: ["": {opset}, "other": 1]>'
    return onnx.parser.parse_model(f"{header} g {body}")
