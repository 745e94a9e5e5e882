import numpy as np
from straightline.ir import Tensor
from straightline.verification.proof.terms.evaluations import is_evident
from tables import table

INTS, FLOATS = Tensor(array=np.arange(2)), Tensor(array=np.ones(2, np.float32))
DIVISOR, NEGATIVE = Tensor(array=np.arange(1, 3)), Tensor(array=np.array([-1, 1]))
WIDE, TRUTHS = Tensor(array=np.array([2**53 + 1, 1])), Tensor(array=np.array([False, True]))


def floats(*numbers, kind=np.float32):
    return Tensor(array=np.array(numbers, kind))


@table(
    ("Add", [INTS, INTS], INTS, True),
    ("Add", [FLOATS, FLOATS], FLOATS, True),
    ("Add", [FLOATS, floats(np.inf)], floats(np.inf), False),
    ("Mul", [floats(1e30), floats(1e30)], floats(np.inf), False),
    ("Mul", [floats(1e-12), floats(1e-30)], floats(1e-42), False),
    ("Neg", [floats(0.0)], floats(-0.0), False),
    ("Sqrt", [floats(-1.0)], floats(np.nan), False),
    ("Add", [floats(1, kind=np.float16)], floats(2, kind=np.float16), False),
    ("Less", [FLOATS, FLOATS], TRUTHS, True),
    ("Concat", [FLOATS, None], FLOATS, True),
    ("Transpose", [FLOATS], FLOATS, True),
    ("Div", [INTS, DIVISOR], INTS, True),
    ("Div", [INTS, NEGATIVE], INTS, False),
    ("Mod", [INTS, DIVISOR], INTS, True),
    ("Mod", [NEGATIVE, DIVISOR], INTS, False),
    ("Cast", [FLOATS], DIVISOR, False),
    ("Cast", [INTS], floats(0, 1), True),
    ("Cast", [floats(0, 1)], INTS, True),
    ("Cast", [INTS], TRUTHS, True),
    ("Cast", [DIVISOR], Tensor(array=np.array([True, True])), False),
    ("Cast", [WIDE], floats(2.0**53, 1, kind=np.float64), False),
    ("Cast", [floats(np.nan)], floats(np.nan, kind=np.float64), False),
    ("Cast", [floats(1)], floats(1, kind=np.float16), False),
    ("Range", [INTS], INTS, False),
    ("Exp", [FLOATS], floats(np.e, np.e), True),
    ("Exp", [floats(-100.0)], floats(3.8e-44), False),
    ("Tanh", [FLOATS], FLOATS, False),
    ("com.example::Add", [INTS], INTS, False),
)
def test_evident_evaluations(name, operands, result, evident):
    assert is_evident(name, operands, [result]) == evident
