"""Operators on constants that are computed a second time, and those that are evident."""

import numpy as np
from straightline.ir import Tensor
from straightline.verification.proof.terms.evaluations import is_evident
from tables import table

INTS, FLOATS = Tensor(array=np.arange(2)), Tensor(array=np.ones(2, np.float32))


@table(
    ("Add", [INTS, INTS], True),
    ("Add", [FLOATS, FLOATS], False),
    ("Less", [FLOATS, FLOATS], True),
    ("Concat", [FLOATS, None], True),
    ("Transpose", [FLOATS], True),
    ("Div", [INTS, INTS], False),
    ("Mod", [INTS, INTS], False),
    ("Cast", [FLOATS, INTS], False),
    ("Range", [INTS], False),
    ("Exp", [FLOATS], False),
    ("com.example::Add", [INTS], False),
)
def test_evident_evaluations(name, tensors, evident):
    assert is_evident(name, tensors) == evident
