import numpy as np
import onnx
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_refuses,
    assert_writes,
    converted,
    model,
)
from harness import as_model
from sessions import open_session
from straightline import convert_version, reference
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y, i = TopK <k = 2> (x)", 9, 10, ["TopK (x, [2])"], "float[2, 3] x"),
    ("k = Constant <value = int64[1] {2}> () y, i = TopK (x, k)", 10, 9, ["TopK <k = 2> (x)"],
     "float[2, 3] x"),
    ("y, i = TopK <sorted = 0> (x, k)", 11, 10, ["TopK (x, k)"],
     "float[2, 3] x, int64[1] k"))  # fmt: skip


def test_the_smallest_numbers_are_the_largest_of_the_negated():
    assert_becomes("""11 to 10, int64[3] x, int64[1] k:
        f = Cast <to = 1> (x) y, i = TopK <largest = 0> (f, k) =>
        f = Cast <to = 1> (x)
        negated = Neg (f)
        values, i = TopK (negated, k)
        y = Neg (values)""")
    assert_becomes("""11 to 10, int8[3] x, int64[1] k: y, i = TopK (x, k) =>
        doubles = Cast <to = 11> (x)
        values, i = TopK (doubles, k)
        y = Cast <to = 3> (values)""")


def test_nan_is_the_lowest_of_the_negated():
    found = converted("y, i = TopK <largest = 0> (x, k)", 11, 10, "float[3] x, int64[1] k")
    assert found[:6] == [
        "Cast <to = 11> (x)",
        "Neg (y_cast)",
        "Greater (y_negated, -1e+300)",
        "Where (y_Greater, y_negated, -1e+300)",
        "IsNaN (x)",
        "Where (y_is_nan, -inf, y_Where)",
    ]


NAN, INF = np.nan, np.inf
DRAWN = {
    "float": [NAN, INF, -INF, 0.0, -0.0, 1, 1, NAN, 3.4e38, -3.4e38, 1e-45, -1e-45],
    "double": [NAN, INF, -INF, 0.0, -0.0, 1, 1, NAN, 1.7e308, -1.7e308, 5e-324, -5e-324],
    "float16": [NAN, INF, -INF, 0.0, -0.0, 1, 1, NAN, 65504, -65504, 6e-8, -6e-8],
    "int64": [0, 1, -1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1, -(2**53) - 1, 2**32, -(2**32), 1,
     -1],
    "uint64": [0, 1, 2**64 - 1, 2**63, 2**63 + 1, 2**53, 2**53 + 1, 2**32, 2**32 - 1, 1, 0, 7],
    "int32": [0, 1, -1, 2**31 - 1, -(2**31), 5, 5, -5, 7, 3, 1, -1]}  # fmt: skip
"""Elements that another order could mistake for each other."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("elem_type", DRAWN)
def test_order_of_every_type(elem_type, largest):
    dtype = np.dtype({"float": np.float32, "double": np.float64}.get(elem_type, elem_type))
    elements = np.array(DRAWN[elem_type], dtype)
    x = np.stack([elements, elements[::-1], np.roll(elements, 5)]).reshape(3, 12)
    attributes = f"largest = {largest}, axis ="
    for output, axis, shape, target in [("i, y", 1, "3, 12", 7), ("y, i", 0, "A, B", 10)]:
        body = f"{output} = TopK <{attributes} {axis}> (x, k)"
        fed = {"x": x, "k": np.array([x.shape[axis] - 1])}
        assert_carried(body, 11, (target,), fed, f"{elem_type}[{shape}] x, int64[1] k")


def test_onnxruntime_takes_the_other_order():
    x = np.array([DRAWN["float"], DRAWN["float"][::-1]], np.float32)
    body = "k = Constant <value = int64[1] {7}> () y, i = TopK <largest = 0> (x, k)"
    proto = model(body, 11, "float[2, 12] x", "float[2, 7] y, int64[2, 7] i")
    wanted = reference.run(proto, {"x": x})
    for target in (10, 9, 8, 7):
        session = open_session(convert_version(proto, target))
        for found, expected in zip(session.run(None, {"x": x}), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_only_outputs_that_hold_data_are_cast_back():
    body = "y, i = TopK <largest = 0> (x, k) j = Identity (i)"
    found = converted(body, 11, 10, "int32[3] x, int64[1] k")
    assert found[:2] == ["Cast <to = 11> (x)", "Neg (y_cast)"]
    assert sum(line.startswith("Cast") for line in found) == 2


def test_the_smallest_in_any_order():
    body = "y, i = TopK <largest = 0, sorted = 0> (x, k)"
    assert converted(body, 11, 10, "int8[3] x, int64[1] k") == [
        "Cast <to = 11> (x)",
        "Neg (y_cast)",
        "TopK (y_in_0_negated, k)",
        "Neg (y_in_0_values)",
        "Cast <to = 3> (y_in_0)",
    ]


@pytest.mark.parametrize("how", ["", "<axis = 0>", "<largest = 0>"])
def test_a_count_from_run_time_keeps_the_first_of_all(how):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    body = f"v, i = TopK {how} (x, k) f = Cast <to = 1> (i) y = Add (v, f)"
    assert_carried(body, 11, (10, 9), {"x": x, "k": np.array([2])}, "float[3, 4] x, int64[1] k")


@pytest.mark.parametrize("signature", ["float x", "float[3] x", "double[3] x"])
def test_an_axis_that_is_not_there(signature):
    body = "y, i = TopK <largest = 0, axis = 4> (x, k)"
    assert_refuses(body, 11, 10, "input 0 has no axis 4", f"{signature}, int64[1] k")


@pytest.mark.parametrize("target", [7, 8, 9])
@pytest.mark.parametrize("shape", [(3, 5), (0, 5), (3, 1)])
def test_none_of_all(shape, target):
    """Below opset 10 `k` is at least 1."""
    before = as_model(
        f"""g (float[{shape[0]}, {shape[1]}] x) => (float[A, B] y, int64[A, B] i)
        <int64[1] k = {{0}}> {{ y, i = TopK (x, k) }}""",
        11,
    )
    after = convert_version(before, target)
    onnx.checker.check_model(after, full_check=True)
    values, indices = reference.run(after, {"x": np.ones(shape, np.float32)})
    assert values.shape == indices.shape == (shape[0], 0)
    assert (values.dtype, indices.dtype) == (np.float32, np.int64)
