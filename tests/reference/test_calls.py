import numpy as np
import pytest
from harness import as_model
from straightline import reference
from straightline.reference import EvaluationError
from tables import table

X = np.array([1, -2], np.float32)
DEEP = 500


def chain(first, size=DEEP):
    """Each function calls the one before, and adds one to what that gives."""
    functions = ["f0 (a) => (r) { " + first + " }"] + [
        f"f{i} <k> (a) => (r) {{ b = own.f{i - 1} (a) c = Constant <value_float = 1.0> ()"
        " r = Add (b, c) }"
        for i in range(1, size)
    ]
    head = '\n<domain: "own", opset_import: ["" : 17, "own" : 1]> '
    return as_model(
        f"""<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float[2] x) => (float[2] y) {{ y = own.f{size - 1} (x) }}"""
        + "".join(head + function for function in functions)
    )


def test_a_chain_is_run_however_long():
    np.testing.assert_array_equal(reference.run(chain("r = Neg (a)"), {"x": X})[0], -X + (DEEP - 1))


def test_operators_that_nobody_knows_are_found_before_anything_is_run():
    with pytest.raises(EvaluationError, match="Unheard"):
        reference.Evaluator(chain("r = Unheard (a)"))


@table(
    (2, r"^f1 'y': f0 'b': Loop 'r': "),
    (DEEP, r"^f499 'y': f498 'b': .*: f493 'b': 492 calls further in: f0 'b': Loop 'r': "),
)
def test_an_error_names_the_outermost_calls_and_the_innermost(size, told):
    fails = """t = Constant <value_int = 1> ()
        r = Loop (t, , a) <body = b (int64 i, bool c, float[n] v) => (bool d, float[n] w)
            { d = Identity (c) s = Shape (v) z = Add (s, s) w = Reshape (v, z) }>"""
    with pytest.raises(EvaluationError, match=told):
        reference.run(chain(fails, size), {"x": X})
