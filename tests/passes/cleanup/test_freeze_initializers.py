import numpy as np
from harness import as_model, op_types
from straightline import reference
from straightline.passes import FreezeInitializers, Pipeline, straighten

TEXT = """g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Mul (x, w) }"""


def run(version, opset, text=TEXT, pipeline=None):
    head = f'<ir_version: {version}, opset_import: ["" : {opset}]>\n'
    return (pipeline or Pipeline([FreezeInitializers()])).run(as_model(head + text))


def test_the_input_leaves_the_signature():
    result = run(8, 17)
    assert result.changed
    assert [v.name for v in result.model.graph.input] == ["x"]
    assert [t.name for t in result.model.graph.initializer] == ["w"]
    y = reference.run(result.model, {"x": np.array([3, 4], np.float32)})[0]
    np.testing.assert_array_equal(y, [3, 8])


def test_before_ir_version_4_every_initializer_is_an_input_and_no_default():
    result = run(3, 8)
    assert not result.changed
    assert [v.name for v in result.model.graph.input] == ["x", "w"]


def test_a_frozen_default_decides():
    text = """g (float[2] x, bool c) => (float[2] y) <bool c = {0}> {
        y = If (c) <then_branch = t () => (float[2] u) { u = Neg (x) },
                    else_branch = e () => (float[2] v) { v = Relu (x) }> }"""
    result = run(8, 17, text, Pipeline([FreezeInitializers(), *straighten().passes], repeat=True))
    assert op_types(result.model) == ["Relu"]
    assert [v.name for v in result.model.graph.input] == ["x"]


def test_without_defaults_nothing_changes():
    assert not run(
        8, 17, "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul (x, w) }"
    ).changed
