import math

import numpy as np
import pytest
from conversions import assert_carried_everywhere, assert_refuses, converted, model
from straightline import convert_version, reference

ODD = np.float32([0.0, -0.0, 1, -1, 4, -4, 1e-45, -1e-30, 3e38, np.inf, -np.inf, np.nan])
X = np.concatenate([np.linspace(-5, 5, 20_001).astype(np.float32), ODD])


def test_below_opset_9_it_is_what_two_fits_say():
    written = converted("y = Erf (x)", 9, 8)
    assert written[:6] == [
        "Abs (x)",
        "Less (y_size, 1.0)",
        "Cast <to = 1> (y_near)",
        "Sub (1.0, y_flag)",
        "Clip <max = 1.0, min = -1.0> (x)",
        "Mul (y_within, y_within)",
    ]
    assert "Exp (y_sum_10)" in written and written[-1].startswith("Div (")
    assert len(written) == 43


def test_it_is_right_to_three_units_in_the_last_place_and_never_above_one():
    (found,) = reference.run(convert_version(model("y = Erf (x)", 13, "float[N] x"), 7), {"x": X})
    wanted = np.array([math.erf(x) for x in X])
    units = np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(np.float32))
    assert np.nanmax(units) < 3 and np.nanmax(np.abs(found)) == 1
    assert (np.diff(found[:20_001]) >= 0).all(), "it grows"
    assert np.isnan(found[-1]) and np.signbit(found[-11]) and not np.signbit(found[-12])


@pytest.mark.parametrize(("elem_type", "rtol"), [("float", 3e-7), ("float16", 1e-3)])
def test_in_every_place(elem_type, rtol):
    x = X[::50].astype({"float": np.float32, "float16": np.float16}[elem_type])
    assert_carried_everywhere("y = Erf (x)", 13, (8, 7), {"x": x}, f"{elem_type}[N] x", rtol=rtol)


def test_gelu_reaches_opset_8():
    x = X[8_000::50]  # next to -5 it is what is left of 1 + erf (x), of which few digits are
    assert_carried_everywhere("y = Gelu (x)", 20, (8,), {"x": x}, "float[N] x", ["graph"], 2e-6)
    assert convert_version(model("y = Gelu (x)", 20, "float[N] x", "float[N] y"), 8, verify=True)


@pytest.mark.parametrize("elem_type", ["double", "int32"])
def test_other_types_are_refused(elem_type):
    reason = "below opset 9 it is supported for floats of at most 32 bits only"
    assert_refuses("y = Erf (x)", 13, 8, reason, f"{elem_type}[2] x")
