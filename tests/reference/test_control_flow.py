import subprocess
import sys

import numpy as np
import pytest
from harness import as_model
from straightline.reference import EvaluationError, run


def test_a_body_captures_what_is_around_it_and_errors_name_the_node():
    text = """g (float[N] x, bool c) => (float[N] y) {
        outer = If (c) <
            then_branch = t () => (float[N] r) { two = Constant <value_floats = [1.0, 2.0]> ()
                                                 r = Add (x, two) },
            else_branch = f () => (float[N] s) { s = Neg (x) } >
        y = Identity (outer) }"""
    model = as_model(text)
    (y,) = run(model, {"x": np.float32([1, 2]), "c": np.array(True)})
    np.testing.assert_array_equal(y, [2, 4])
    with pytest.raises(EvaluationError, match="If 'outer': "):
        run(model, {"x": np.float32([1, 2, 3]), "c": np.array(True)})


def test_facts_of_bodies_import_no_kernels():
    program = "import sys, straightline.reference.bodies; print('onnx.reference' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert found.stdout.strip() == b"False"
