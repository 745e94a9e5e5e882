"""Checks of passes that raise: the operators afterwards, a proof over the reals, and numbers."""

import numpy as np
import sessions
from harness import as_model, op_types, run_passes
from straightline import prove

RANDOM = np.random.default_rng(5)


def text(nodes, signature, constants, opset):
    return f'<ir_version: 10, opset_import: ["" : {opset}]> g {signature} {constants} {{ {nodes} }}'


def assert_raises(pass_, source, operators, is_proved=True):
    """Check the operators that remain, that they are proved, and return the model."""
    result = run_passes(source, pass_)
    assert op_types(result.model) == operators
    proof = prove(as_model(source), result.model, equality="reals")
    assert proof.proved or not is_proved, str(proof)
    return result.model


def assert_stays(pass_, source):
    """Check that a pass leaves a model alone."""
    result = run_passes(source, pass_)
    assert not result.changed, op_types(result.model)


def assert_near(source, model, feeds, tolerance=2e-5):
    """Check numbers under the reference and onnxruntime: near where the original is finite."""
    before = as_model(source)
    for execute in (sessions.by_reference, lambda m, f: sessions.outputs(m, f, optimized=False)):
        for one, other in zip(execute(before, feeds), execute(model, feeds), strict=True):
            finite = np.isfinite(one)
            assert np.isfinite(other[finite]).all()
            np.testing.assert_allclose(other[finite], one[finite], tolerance, tolerance)


def numbers(*shape, dtype=np.float32, scale=1.0, shift=0.0):
    return (RANDOM.standard_normal(shape) * scale + shift).astype(dtype)
