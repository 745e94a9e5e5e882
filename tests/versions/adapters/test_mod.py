"""Mod: remainders by division below opset 10, floored floats from opset 28 on."""

import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_there_and_back,
    assert_writes,
    known_model,
)
from straightline import convert_version
from straightline.versions import ConversionError


def test_the_rest_of_a_division_gets_the_sign_of_the_divisor():
    assert_becomes(
        "y = Mod (x, z)",
        10,
        9,
        """
        quotient = Div (x, z)
        whole = Mul (quotient, z)
        rest = Sub (x, whole)
        below = Less (rest, 0)
        negative = Less (z, 0)
        none = Equal (rest, 0)
        other = Xor (below, negative)
        some = Not (none)
        wrong = And (other, some)
        mended = Add (rest, z)
        y = Where (wrong, mended, rest)
        """,
        "int32[2] x, int32[2] z",
    )


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_remainders_have_the_sign_of_the_divisor(dtype):
    pairs = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -2, 2, 3)]
    a, b = (np.array(numbers, dtype) for numbers in zip(*pairs, strict=True))
    signature = f"{a.dtype}[28] x, {a.dtype}[28] z"
    assert_carried("y = Mod (x, z)", 10, (9,), {"x": a, "z": b}, signature)


def test_remainders_that_opset_9_cannot_say():
    reason = "only that of 32 and 64-bit integers with fmod = 0"
    for type_, how in (
        ("int8", ""),
        ("uint32", ""),
        ("int32", "<fmod = 1>"),
        ("float", "<fmod = 1>"),
    ):
        assert_refuses(f"y = Mod {how} (x, x)", 10, 9, reason, f"{type_}[2] x")


def test_remainders_of_floats_are_refused_before_opset_28():
    assert_refuses("y = Mod (x, x)", 28, 27, "fmod = 0 takes integers only")
    assert_writes("y = Mod <fmod = 1> (x, x)", 28, 27, ["Mod <fmod = 1> (x, x)"])
    for type_ in ("int8", "uint8", "int64"):
        assert_writes("y = Mod (x, x)", 28, 27, ["Mod (x, x)"], f"{type_}[2] x")


def test_remainders_are_those_of_the_data():
    signature = "float[2] x, int8[2] z"
    assert_refuses("y = Mod (x, z)", 28, 27, "fmod = 0 takes integers only", signature)


@pytest.mark.parametrize(
    ("body", "output", "opset", "targets"),
    [
        (
            "a = Cast <to = 7> (x) t = Constant <value_int = 3> () y = Mod (a, t)",
            "int64[2, 3]",
            13,
            (9,),
        ),
    ],
)
def test_there_and_back(body, output, opset, targets):
    assert_there_and_back(body, output, opset, targets)


def test_remainders_towards_zero_are_refused_in_opset_9():
    with pytest.raises(ConversionError, match="fmod"):
        convert_version(known_model("y = Mod <fmod = 1> (x, n)", "float[2, 3]", 13), 9)
