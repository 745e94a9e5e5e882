import itertools

import numpy as np
import onnx
import pytest
from proofs import assert_open, assert_proved, is_proved, model
from straightline.reference import run
from tables import table

TEXT = """g ({kind}[n, 5] x, int64[1] k) => (int64[n, m] i) <double low = {{-1e300}},
    float zero = {{0}}, double below = {{-inf}}, float least = {{-inf}}, float one = {{1}}>
    {{ {nodes} }}"""
TOP_K = "v, i = TopK <largest = {}> ({}, k)"
KEY = """d = Cast <to = 11> (x) e = Neg (d) g = Less (low, e) f = Where (g, e, low) h = IsNaN (x)
    key = Where (h, below, f)"""


def text(nodes, largest, key, kind="float"):
    return TEXT.format(kind=kind, nodes=f"{nodes} {TOP_K.format(largest, key)}")


FULL = "w = IsNaN (x) most = Neg (least) z = Where (w, most, x)"
SAME = {
    "a key with NaN below all": (text("", 0, "x"), text(KEY, 1, "key")),
    "both negated": (text("d = Cast <to = 6> (x) y = Neg (d)", 0, "y", "int8"),
     text("", 1, "x", "int8")),
    "a wide type": (text("", 1, "x"), text("y = Cast <to = 11> (x)", 1, "y")),
    "the half that is negative": (text("", 1, "x"),
     text("c = Less (x, zero) y = Where (c, x, x)", 1, "y")),
    "integers as negative floats": (text("", 0, "x", "uint8"),
     text("d = Cast <to = 1> (x) y = Neg (d)", 1, "y", "uint8")),
    "a key of a key that is not strict": (text(FULL, 0, "z"),
     text(f"{FULL} {KEY.replace('(x)', '(z)')}", 1, "key")),
    "integers in a signed type": (text("", 1, "x", "uint8"),
     text("d = Cast <to = 6> (x) y = Neg (d)", 0, "y", "uint8"))}  # fmt: skip


KEEPS_SIGNS = "onnxruntime's Where kept the sign of -0.0"


@pytest.mark.parametrize("name", SAME)
def test_the_same_places(name):
    before, after = SAME[name]
    assert {*assert_proved(before, after).assumptions} <= {KEEPS_SIGNS}
    assert_open(before, after.replace("TopK <", "TopK <axis = 0, "))
    assert_open(before, after.replace(", k)", ", l)").replace("] k)", "] k, int64[1] l)"))


@table(
    ("a key of another key", (text(FULL, 0, "z"), text(KEY, 1, "key"))),
    ("a key that is not strict, of a key", (text(FULL, 1, "z"),
     text(f"{FULL} c = Less (z, zero) y = Where (c, zero, z)", 1, "y"))),
    ("NaN stays above", (text("", 0, "x"), text("y = Neg (x)", 1, "y"))),
    ("NaN as the lowest of rising keys", (text("", 1, "x"),
     text("h = IsNaN (x) y = Where (h, least, x)", 1, "y"))),
    ("infinity and NaN alike", (text("", 0, "x"),
     text("e = Neg (x) h = IsNaN (x) y = Where (h, least, e)", 1, "y"))),
    ("doubles above the lowest key", (text("", 0, "x", "double"), text(KEY, 1, "key", "double"))),
    ("a part that is turned", (text("", 1, "x"),
     text("c = Less (x, zero) e = Neg (x) y = Where (c, e, x)", 1, "y"))),
    ("a part turned in its place", (text("", 1, "x"),
     text("m = Neg (one) a = Less (m, x) b = Less (x, one) e = Neg (x) p = Where (b, e, x)"
     " y = Where (a, p, x)", 1, "y"))),
    ("a part that is one number", (text("", 1, "x"),
     text("a = Less (zero, x) b = Less (x, one) p = Where (b, zero, x) y = Where (a, p, x)", 1,
     "y"))),
    ("a jump", (text("", 1, "x"), text("c = Equal (x, zero) y = Where (c, one, x)", 1, "y"))),
    ("a narrow type", (text("", 1, "x"), text("y = Cast <to = 10> (x)", 1, "y"))),
    ("the largest", (text("", 0, "x"), text(KEY, 0, "key"))),
    ("bytes that wrap", (text("", 0, "x", "int8"), text("y = Neg (x)", 1, "y", "int8"))),
    ("two numbers", (text("", 1, "x"),
     text("z = Cast <to = 1> (k) c = Less (z, one) y = Where (c, x, one)", 1, "y"))))  # fmt: skip
def test_other_places(name, case):
    assert_open(*case)


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3.4e38, -3.4e38, 0.5]


KEEPS_SIGNS = "onnxruntime's Where kept the sign of -0.0"


@pytest.mark.parametrize("name", SAME)
def test_the_reference_finds_the_same_places(name):
    before, after = map(model, SAME[name])
    dtype = onnx.helper.tensor_dtype_to_np_dtype(before.graph.input[0].type.tensor_type.elem_type)
    numbers = SPECIAL if dtype.kind == "f" else [0, 1, 2, np.iinfo(dtype).max, np.iinfo(dtype).min]
    rows = np.array(list(itertools.product(numbers, repeat=3)), dtype)
    feeds = {"x": np.concatenate([rows, rows[:, ::-1][:, :2]], axis=1), "k": np.array([5])}
    np.testing.assert_array_equal(run(before, feeds)[0], run(after, feeds)[0])


def test_unsorted_places_have_no_order():
    before, after = (each.replace("largest", "sorted = 0, largest") for each in SAME["a wide type"])
    assert not is_proved(before, after)
