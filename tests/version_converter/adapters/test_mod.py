import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
)


def test_the_rest_of_a_division_gets_the_sign_of_the_divisor():
    assert_becomes("""10 to 9, int32[2] x, int32[2] z: y = Mod (x, z) =>
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
        y = Where (wrong, mended, rest)""")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_remainders_have_the_sign_of_the_divisor(dtype):
    pairs = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -2, 2, 3)]
    a, b = (np.array(numbers, dtype) for numbers in zip(*pairs, strict=True))
    signature = f"{a.dtype}[28] x, {a.dtype}[28] z"
    assert_carried("y = Mod (x, z)", 10, (9,), {"x": a, "z": b}, signature)


@pytest.mark.sample(4)
@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize(
    "type_", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_remainders_of_all_integers(fmod, type_):
    info = np.iinfo(type_)
    some = {info.min, info.min + 1, -7, -1, 0, 1, 6, 7, info.max // 2 + 1, info.max - 1, info.max}
    x = np.array(sorted(n for n in some if n >= info.min), type_)
    # The least number divided by -1 is beyond the largest, and stops onnxruntime.
    z = np.array([n for n in (info.min, -3, 2, 3, info.max) if n >= info.min and n != 0], type_)
    feeds, signature = {"x": x[:, None], "z": z}, f"{type_}[M, 1] x, {type_}[N] z"
    body = f"y = Mod <fmod = {fmod}> (x, z)"
    # onnxruntime takes the fmod of doubles, which do not hold long integers.
    exact = not fmod or "64" not in type_
    assert_carried_everywhere(
        body, 13, (11, 9, 8, 7), feeds, signature, ("graph", "body"), in_onnxruntime=exact
    )


def test_a_remainder_towards_zero_is_what_a_division_leaves():
    for type_, how in (("int64", "<fmod = 1>"), ("uint64", "")):
        wanted = ["Div (x, z)", "Mul (y_Div, z)", "Sub (x, y_Mul)"]
        assert_writes(f"y = Mod {how} (x, z)", 10, 9, wanted, f"{type_}[2] x, {type_}[2] z")
    assert_becomes("""10 to 9, int8[2] x, int8[2] z: y = Mod <fmod = 1> (x, z) =>
        long_x = Cast <to = 7> (x)
        long_z = Cast <to = 7> (z)
        quotient = Div (long_x, long_z)
        whole = Mul (quotient, long_z)
        rest = Sub (long_x, whole)
        y = Cast <to = 3> (rest)""")


def test_remainders_of_floats_are_refused_in_opset_9():
    reason = "float.* has no exact sum of products"
    for type_ in ("float16", "float", "double"):
        assert_refuses("y = Mod <fmod = 1> (x, x)", 10, 9, reason, f"{type_}[2] x")


def test_remainders_of_floats_are_refused_before_opset_28():
    assert_refuses("y = Mod (x, x)", 28, 27, "fmod = 0 supports only integers")
    assert_writes("y = Mod <fmod = 1> (x, x)", 28, 27, ["Mod <fmod = 1> (x, x)"])
    for type_ in ("int8", "uint8", "int64"):
        assert_writes("y = Mod (x, x)", 28, 27, ["Mod (x, x)"], f"{type_}[2] x")
