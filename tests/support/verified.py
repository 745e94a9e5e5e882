"""What tests of verification share: models that are written in a line."""

import onnx

SCALE = "(float[N,3] x) => (float[N,3] y) <float[3] w = {%s}> { y = Mul(x, w) }"

LOOP = """(float[2] x) => (float[2] y, float[K,2] all) {
  iterations = Constant <value_int = 3> ()
  y, all = Loop (iterations, "", x) <body = b (int64 i, bool c, float[2] a)
    => (bool d, float[2] e, float[2] scan) { d = Identity (c) e = Add (a, a) scan = Identity (a) }>
}"""
UNROLLED = """(float[2] x) => (float[2] y, float[K,2] all) <int64[1] z = {0}> {
  a = Add (x, x) b = Add (a, a) y = Add (b, b)
  x0 = Unsqueeze (x, z) a0 = Unsqueeze (a, z) b0 = Unsqueeze (b, z)
  all = Concat <axis = 0> (x0, a0, b0)
}"""


def model(body, opset=18, ir_version=10):
    header = f'<ir_version: {ir_version}, opset_import: ["": {opset}, "other": 1]>'
    return onnx.parser.parse_model(f"{header} g {body}")
