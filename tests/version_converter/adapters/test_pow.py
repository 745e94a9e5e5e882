import numpy as np
from conversions import X, assert_becomes, assert_carried, assert_refuses, converted
from tables import table


def test_exponents_are_written_in_the_type_of_the_base():
    assert_becomes("""12 to 11: e = Constant <value = int32 {3}> () y = Pow (x, e) =>
        y = Pow (x, 3.0)""")
    assert_becomes("""12 to 11, float[2] x, float[2] e: y = Pow (x, e) =>
        y = Pow (x, e)""")


def test_exponents_get_the_type_of_the_base():
    for value, exact in (("int32 {3}", True), ("double {0.5}", True), ("double {0.1}", False)):
        body = f"e = Constant <value = {value}> () y = Pow (x, e)"
        if exact:
            assert_carried(body, 13, (11,), {"x": np.abs(X)}, rtol=1e-6)
        else:
            assert_refuses(body, 13, 11, "exponents are not exact", "float[2, 3] x")
    assert converted("y = Pow (x, x)", 12, 11) == ["Pow (x, x)"]
    reason = "the exponent .of another type than the base"
    assert_refuses("y = Pow (x, e)", 12, 11, reason, "float[2] x, int32[2] e")


@table(
    ("float", "int16", True),
    ("double", "int32", True),
    ("double", "float", True),
    ("float", "int32", False),
    ("double", "int64", False),
    ("float", "double", False),
)
def test_exponents_from_run_time_that_the_base_can_hold(base, exponent, held):
    signature = f"{base}[3] x, {exponent}[3] e"
    if held:
        assert converted("y = Pow (x, e)", 12, 11, signature)[-1] == "Pow (x, y_exponent)"
    else:
        reason = "the exponent .* computed at run time.*depends on input 'e'; decide"
        assert_refuses("y = Pow (x, e)", 12, 11, reason, signature)


def test_numbers_of_exponents_from_run_time():
    feeds = {"x": np.array([2.0, -3, 0.5]), "e": np.array([2, 3, -1], np.int32)}
    assert_carried("y = Pow (x, e)", 13, (11, 8), feeds, "double[3] x, int32[3] e")
