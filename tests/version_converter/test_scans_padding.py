"""What fills the scan outputs of a Scan 8 behind the end of a row: zeros of their type."""

import numpy as np
import pytest
from conversions import convert_version
from harness import as_model, assert_equal
from straightline import reference
from tables import table

HEAD = '<ir_version: 4, opset_import: ["" : 8]>\n'


def assert_padded(body, feeds, wanted, type_="float[2]", signature="", result="float[B,L,A]"):
    """Check a Scan 8 over rows of 1 and 3 of 3 elements against the elements and numbers given."""
    kind, _, dims = type_.partition("[")
    rows = f"{kind}[2,3,{dims}" if dims else f"{kind}[2,3]"
    text = f"""{HEAD} g (int64[2] n, {rows} x {signature}) => ({result} y) {{
        y = Scan <num_scan_inputs = 1, body = b ({type_} e) => (r) {{ {body} }}> (n, x)
    }}"""
    fed = {"n": np.array([1, 3], np.int64), **feeds}
    rewritten = convert_version(as_model(text), 9)
    for model in (as_model(text), rewritten):
        assert_equal(reference.run(model, fed)[0], wanted)


X = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2)


def test_elements_whose_size_only_the_body_tells():
    """The number of repeats is known at run time only, and is not a size of any value."""
    wanted = np.tile(X, (1, 1, 3))
    wanted[0, 1:] = 0
    feeds = {"x": X, "k": np.array([3], np.int64)}
    assert_padded("r = Tile (e, k)", feeds, wanted, signature=", int64[1] k")


@table(
    ("float", np.float32, "float"),
    ("double", np.float64, "double"),
    ("int64", np.int64, "int64"),
    ("bool", np.bool_, "bool"),
    ("complex64", np.complex64, "complex64"),
    ("complex128", np.complex128, "complex128"),
    ("string", object, "string"),
)
@pytest.mark.parametrize("size", ["", "[2]"])
def test_zeros_of_every_type(type_, dtype, kind, size):
    shape = (2, 3, 2) if size else (2, 3)
    numbers = np.arange(1, 1 + np.prod(shape)).reshape(shape)
    x = numbers.astype(str).astype(object) if type_ == "string" else numbers.astype(dtype)
    wanted = x.copy()
    wanted[0, 1:] = "" if type_ == "string" else 0
    result = f"{kind}[B,L{',A' if size else ''}]"
    assert_padded("r = Identity (e)", {"x": x}, wanted, f"{type_}{size}", result=result)


@pytest.mark.parametrize("outputs", ["f, , z", ", y, z", "f, y, z", ", , z"])
@pytest.mark.parametrize("lengths", [[1, 3], [0, 2], [3, 3]])
@pytest.mark.parametrize("given", [True, False])
def test_outputs_that_are_left_out(outputs, lengths, given):
    named = [name.strip() for name in outputs.split(",") if name.strip()]
    kinds = {"f": "float[2,2]", "y": "float[2,3,2]", "z": "float[2,3]"}
    text = f"""{HEAD} g (int64[2] n, float[2,2] s, float[2,3,2] x)
            => ({", ".join(f"{kinds[name]} {name}" for name in named)}) {{
        {outputs} = Scan <num_scan_inputs = 1,
            body = b (float[2] a, float[2] e) => (float[2] c, float[2] r, float m) {{
                c = Add (a, e) r = Neg (c) m = ReduceSum <axes = [0], keepdims = 0> (c) }}>
            ({"n" if given else ""}, s, x) }}"""
    rewritten = convert_version(as_model(text), 9)
    fed = {"n": np.array(lengths, np.int64), "s": X[:, 0] * 10, "x": X}
    wanted = reference.run(as_model(text), fed)
    for one, other in zip(reference.run(rewritten, fed), wanted, strict=True):
        assert_equal(one, other)
