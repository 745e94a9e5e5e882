import math

import numpy as np
from onnx import parser
from straightline import ir
from straightline.ops.operand_view import (
    ArrayOperand,
    ValueOperand,
    magnitude,
    may_be_negative,
    may_hold_negative_zero,
)
from straightline.ops.schema_queries import ElementTypes
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


def operand(body: str, inputs: str = "float[n] x, int64[n] i, bool[n] b") -> ValueOperand:
    text = body[: body.rindex("}")] + "w = Shape (y) }"
    model = ir.load(parser.parse_model(f"{HEAD} ({inputs}) => (int64[r] w) {text}"))
    return ValueOperand(model.graph.nodes()[-2].output(), ElementTypes())


@table(
    ("{ y = Cast <to = 7> (b) }", 1),
    ("<int64[2] k = {-3, 2}> { y = Identity (k) }", 3),
    ("<int64 k = {5}> { c = Cast <to = 7> (b) y = Mul (c, k) }", 5),
    ("<int64 k = {5}> { c = Cast <to = 7> (b) y = Sub (c, k) }", 6),
    ("{ y = Shape (x) }", 2**47 - 1),
    ("{ y = Identity (i) }", 2**64),
    ("{ y = Cast <to = 7> (x) }", 2**64),
    ("{ y = Cast <to = 2> (i) }", 2**8),
    ("<int64 k = {9}> { c = Cast <to = 7> (b) y = Where (b, c, k) }", 9),
)
def test_magnitudes(body, most):
    assert magnitude(operand(body)) == most


@table(
    ("{ y = Identity (i) }", True),
    ("{ y = Shape (x) }", False),
    ("{ s = Shape (x) y = Slice (s, s, s) }", False),
    ("{ s = Shape (x) y = Cast <to = 1> (s) }", False),
    ("{ s = Shape (x) y = Cast <to = 3> (s) }", True),
    ("{ y = Cast <to = 6> (b) }", False),
    ("{ y = Cast <to = 6> (i) }", True),
    ("{ y = Cast <to = 6> (x) }", True),
    ("{ y = Cast <to = 13> (x) }", False),
    ("{ y = Abs (i) }", True),
    ("<int64[2] k = {0, 3}> { y = Identity (k) }", False),
    ("<int64[2] k = {0, -3}> { y = Identity (k) }", True),
)
def test_numbers_below_zero(body, may):
    assert may_be_negative(operand(body)) == may


@table(
    ("{ y = Neg (x) }", True),
    ("{ y = Exp (x) }", False),
    ("{ a = Abs (x) y = Identity (a) }", False),
    ("{ y = Identity (x) }", True),
    ("<float k = {1}> { y = Add (x, k) }", False),
    ("<float k = {0}> { y = Add (x, k) }", False),
    ("<float k = {-0.0}> { y = Add (x, k) }", True),
    ("<float k = {1}> { y = Sub (x, k) }", False),
    ("<float k = {0}> { y = Sub (x, k) }", True),
    ("{ y = Mul (x, x) }", False),
    ("<float k = {2}> { y = Mul (x, k) }", True),
    ("{ y = Cast <to = 1> (i) }", False),
    ("{ y = Cast <to = 10> (x) }", True),
    ("<float k = {1}> { y = Max (x, k) }", False),
    ("{ e = Exp (x) y = Where (b, e, x) }", True),
    ("{ e = Exp (x) a = Abs (x) y = Where (b, e, a) }", False),
    ("{ e = Exp (x) y = Concat <axis = 0> (e, x) }", True),
    ("{ y = Identity (i) }", False),
    ("{ y = Tanh (x) }", True),
)
def test_negative_zeros(body, may):
    assert may_hold_negative_zero(operand(body)) == may


@table(
    "{ y = Sqrt (x) }",
    "{ y = Relu (x) }",
    "{ y = Floor (x) }",
    "<int64 k = {0}> { y = CumSum (x, k) }",
    "<int64[1] k = {0}> { y = ReduceSum (x, k) }",
)
def test_only_a_negative_zero_makes_one(body):
    from sessions import outputs

    model = parser.parse_model(f"{HEAD} (float[n] x) => (float[m] y) {body}")
    for x in ([0, 0], [-1, 1], [0, -0.5], [1, -1], [-0.3, 0.3]):
        y = outputs(model, {"x": np.array(x, np.float32)}, optimized=False)[0]
        assert not np.signbit(y[y == 0]).any()
    assert may_hold_negative_zero(operand(body))


def test_elements_decide():
    assert may_hold_negative_zero(ArrayOperand(np.array([1, -0.0])))
    assert not may_hold_negative_zero(ArrayOperand(np.array([1, 0.0])))
    assert magnitude(ArrayOperand(np.array([-7, 3]))) == 7
    assert magnitude(None) == math.inf
