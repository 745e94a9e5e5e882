import numpy as np
import pytest
import straightline as sl
from conversions import converted, model
from sessions import outputs
from straightline import ir, reference
from straightline.version_converter.kept_signs import lossy_selects
from tables import table

from targets import fitted, lacking, one_node, operators

X = np.array([[-0.0, -0.0], [1, -0.0]], np.float32)
AXES = np.array([1])


@table(
    ("w = Trilu (x)", 14, 13, ""),
    ("w = ThresholdedRelu <alpha = -1.0> (x)", 10, 9, ""),
    ("w = ReduceMax <keepdims = 0> (x, axes)", 18, 17, ", int64[1] axes"),
    ("w = ReduceProd <keepdims = 0> (x, axes)", 18, 17, ", int64[1] axes"),
    ("w = ReduceMin <keepdims = 1> (x, axes)", 18, 11, ", int64[1] axes"),
)
def test_a_reader_that_divides_sees_the_signs(nodes, opset, target, others):
    before = model(f"{nodes} y = Reciprocal (w)", opset, f"float[2, 2] x{others}", "float[a, b] y")
    if "keepdims = 0" in nodes:
        before.graph.output[0].type.tensor_type.shape.dim.pop()
    after = sl.convert_version(before, target)
    assert not list(lossy_selects(ir.load(after)))
    feeds = {"x": X, "axes": AXES} if others else {"x": X}
    for run in (reference.run, outputs):
        np.testing.assert_array_equal(run(after, feeds)[0], run(before, feeds)[0])
    assert np.isneginf(outputs(after, feeds)[0]).any()


@table(
    ("y = Exp (w)", ["Where ([[True, True], [False, True]], x, 0.0)", "Exp (w)"]),
    ("y = Reciprocal (w)", ["Where ([[False, False], [True, False]], 0.0, x)", "Reciprocal (w)"]),
)
def test_the_form_depends_on_the_readers(reader, nodes):
    """A constant that nothing reads any more goes."""
    assert converted(f"w = Trilu (x) {reader}", 14, 13, "float[2, 2] x") == nodes


def test_two_values_that_may_hold_negative_zeros():
    signature = "float[2, 2] x, int64[1] axes"
    found = converted("w = ReduceMax (x, axes) y = Reciprocal (w)", 18, 17, signature)
    assert sum(line.startswith("Max") for line in found) == 2
    assert not any(
        line.startswith("Max") for line in converted("y = ReduceMax (x, axes)", 18, 17, signature)
    )


def test_a_where_of_the_model_stays():
    """A Where of the original departs before the conversion, too, and is no assumption."""
    body = "w = Where (c, x, z) y = Reciprocal (w)"
    found = converted(body, 17, 9, "bool[2] c, float[2] x, float[2] z")
    assert found == ["Where (c, x, z)", "Reciprocal (w)"]


def test_in_functions_and_bodies():
    inner = "w = Trilu (x) y = Reciprocal (w)"
    text = (
        '<ir_version: 8, opset_import: ["" : 14, "local" : 1]>'
        " g (float[2, 2] x, bool c) => (float[2, 2] y) {"
        " y = If (c) <then_branch = t () => (float[2, 2] p) { p = local.F (x) },"
        " else_branch = e () => (float[2, 2] q) { w = Trilu (x) q = Reciprocal (w) }> }"
        f' <domain: "local", opset_import: ["" : 14]> F (x) => (y) {{ {inner} }}'
    )
    before = ir.to_proto(ir.parse(text))
    after = sl.convert_version(before, 13)
    for flag in (True, False):
        feeds = {"x": X, "c": np.array(flag)}
        np.testing.assert_array_equal(outputs(after, feeds)[0], outputs(before, feeds)[0])


def test_a_decomposition_for_a_target():
    """Without the operators of the form, the Where stays: the conditions of passes notice."""
    before = one_node("w = ThresholdedRelu <alpha = -1.0> (x) y = Reciprocal (w)", "float[2, 2] x")
    outcome = fitted(before, lacking("ThresholdedRelu"), {"x": X})
    assert not list(lossy_selects(ir.load(outcome.model)))
    assert operators(outcome) == ["Less", "Reciprocal", "Where", "Xor"]
    with pytest.raises(AssertionError, match="fit-target may lose signs of zeros"):
        fitted(before, lacking("ThresholdedRelu", "Xor"), {"x": X})
