"""Single integers without axes and casts."""

import numpy as np
import onnx
from proofs import model
from straightline.verification.proof.integers import bare, is_one_integer, range_of
from term_values import terms_of

T = onnx.TensorProto
TEXT = "g (int32[1, 1] n, int64[2] v, float f) => (int64[1] a, int32 b, float c, int64[2] d) { %s }"


def test_what_a_type_holds():
    assert range_of(T.INT32) == (-(2**31), 2**31 - 1)
    assert range_of(T.INT64) == (np.iinfo(np.int64).min, np.iinfo(np.int64).max)
    assert range_of(T.UINT8) == (0, 255)


def test_axes_and_wider_types_are_left_out():
    terms, (a, b, c, d) = terms_of(
        model(
            TEXT % "u = Cast <to = 7> (n) a = Squeeze (u) "
            " x = Cast <to = 6> (f) b = Identity (x) c = Identity (f) d = Identity (v)"
        )
    )
    assert bare(terms, a).head.name == "view"
    assert bare(terms, a).args[0].head.name == "input"
    assert bare(terms, a).fact.elem_type == T.INT32
    assert bare(terms, b).is_op("Cast")  # of a float
    assert [is_one_integer(term) for term in (a, b, c, d, None)] == [
        True,
        True,
        False,
        False,
        False,
    ]
