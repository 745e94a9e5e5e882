import numpy as np
import onnx
import pytest
from harness import assert_equal_outputs, op_types
from straightline import Error, convert_version, ir, prove, reference, transform
from straightline.version_converter import ConversionError
from straightline.version_converter.errors import Failure
from straightline.version_converter.function_copies import copy_for_types

HEAD = '<ir_version: 8, opset_import: ["": 13, "local": 1]> '
SOFTMAX = """<domain: "local", opset_import: ["": 13]> F (x) => (y)
    { y = Softmax <axis = 1> (x) }"""
LESS = """<domain: "local", opset_import: ["": 13]> F (x, z) => (y) { y = LessOrEqual (x, z) }"""
AROUND = """<domain: "local", opset_import: ["": 13, "local": 1]> G (x) => (y)
    { y = local.F (x) }"""
X = np.array([[0.5, -2.0, 3.5], [1.0, 7.0, -4.25]], np.float32)


def converted(text, target, feeds):
    before = onnx.parser.parse_model(HEAD + text)
    after = convert_version(before, target, verify="proof")
    onnx.checker.check_model(after, full_check=True)
    for found, wanted in zip(*(reference.run(p, feeds) for p in (after, before)), strict=True):
        np.testing.assert_allclose(found, wanted, 1e-6)
    return after


def test_a_copy_for_each_type():
    text = f"""g (float[2, 3] x, double[2, 3] u) => (float[2, 3] y, double[2, 3] v)
        {{ y = local.F (x) v = local.F (u) }} {SOFTMAX}"""
    after = converted(text, 9, {"x": X, "u": X.astype(np.float64)})
    assert sorted(function.name for function in after.functions) == ["F", "F_2"]
    assert op_types(after) == ["F", "F_2"]


def test_calls_of_one_type_share_a_copy():
    text = f"""g (float[2, 3] x, int64[2, 3] u) => (bool[2, 3] y, bool[2, 3] v, bool[2, 3] w)
        {{ y = local.F (x, x) v = local.F (u, u) w = local.F (x, x) }} {LESS}"""
    assert op_types(converted(text, 9, {"x": X, "u": X.astype(np.int64)})) == ["F", "F_2", "F"]


def test_functions_around_are_copied():
    text = f"""g (float[2, 3] x, double[2, 3] u) => (float[2, 3] y, double[2, 3] v)
        {{ y = local.G (x) v = local.G (u) }} {AROUND} {SOFTMAX}"""
    assert len(converted(text, 12, {"x": X, "u": X.astype(np.float64)}).functions) == 4


def test_functions_without_a_copy():
    text = f"""g (float[2, 2] x, double[2, 2] u) => (float[2, 2] y, double[2, 2] v)
        {{ y = local.F (x) v = local.F (u) }} {SOFTMAX.replace("Softmax <axis = 1>", "Exp")}"""
    after = converted(text, 9, {"x": X[:, :2], "u": X[:, :2].astype(np.float64)})
    assert [function.name for function in after.functions] == ["F"]
    none = text.replace("Exp", "Det").replace("[2, 2] y", " y").replace("[2, 2] v", " v")
    with pytest.raises(ConversionError, match="Det does not exist in opset 10"):
        convert_version(onnx.parser.parse_model(HEAD + none), 10)


def test_one_type_needs_no_copy():
    model = ir.parse(HEAD + f"g (float[2, 3] x) => (float[2, 3] y) {{ y = local.F (x) }} {SOFTMAX}")
    (function,) = model.functions.values()
    (node,) = function.graph.nodes()
    assert copy_for_types(model, [Failure(node.path, "Softmax", 13, 12, "of a test")]) == []


ATTRIBUTES = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[2, 3, 4] x) => (float[2, 3, 4] y, float[2, 3, 4] z, float[2, 3, 4] v) {
        y = local.Outer <axis = 1> (x)
        z = local.Outer <axis = 2, alpha = 0.5> (x)
        v = local.Outer <axis = 1> (y) }
    <domain: "local", opset_import: ["" : 17, "local" : 1]>
    Outer <axis, alpha: float = 0.25> (a) => (b) {
        c = local.Inner <axis: int = @axis> (a)
        b = LeakyRelu <alpha: float = @alpha> (c) }
    <domain: "local", opset_import: ["" : 17]>
    Inner <axis> (d) => (e) {
        f = Softmax <axis: int = @axis> (d)
        yes = Constant <value = bool {1}> ()
        e = If (yes) <then_branch = t () => (p) { p = Softmax <axis: int = @axis> (f) },
                      else_branch = o () => (q) { q = Neg (f) }> }"""


def test_attributes_of_calls_are_written_into_a_copy_for_each():
    before = onnx.parser.parse_model(ATTRIBUTES)
    outcome = transform(before, (), opset=11, verify=False)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert_equal_outputs(before, outcome.model, {"x": x})
    assert len(outcome.model.functions) == 4
    assert not [a for f in outcome.model.functions for a in (*f.attribute, *f.attribute_proto)]
    texts = [str(remark) for remark in outcome.remarks]
    assert any("became attributes of its calls" in text for text in texts)
    assert prove(before, outcome.model)


def test_attributes_that_no_step_asks_for_stay():
    after = convert_version(onnx.parser.parse_model(ATTRIBUTES), 13)
    assert [function.name for function in after.functions] == ["Outer", "Inner"]


def test_a_call_that_hands_over_a_graph_keeps_its_function():
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[2, 3] x, bool c) => (float[2, 3] y) {
            y = local.Pick <axis = 1, body = t () => (float[2, 3] p) { p = Neg (x) }> (x, c) }
        <domain: "local", opset_import: ["" : 17]>
        Pick <axis, body> (a, c) => (b) {
            s = Softmax <axis: int = @axis> (a)
            b = If (c) <then_branch: graph = @body, else_branch: graph = @body> }"""
    with pytest.raises(Error):
        convert_version(onnx.parser.parse_model(text), 11)


def test_an_input_that_some_calls_omit_has_a_copy_of_its_own():
    text = """g (float[2, 3] x) => (float[2, 3] y, float[2, 3] z) {
            y = local.F (x, x) z = local.F (x) }
        <domain: "local", opset_import: ["": 13]>
        F (a, low) => (b) { b = Clip (a, low) }"""
    before = onnx.parser.parse_model(HEAD + text)
    with pytest.raises(ConversionError, match="left out by some calls"):
        convert_version(before, 11, rewrite=False)
    remarks = copy_for_types(
        model := ir.load(before), [Failure("local::F/b", "Clip", 13, 12, "left out by some calls")]
    )
    assert remarks and len(model.functions) == 2
