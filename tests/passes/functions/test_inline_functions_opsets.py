"""Functions of another opset than the model that calls them."""

import onnx
from harness import op_types, run_passes
from local_functions import CHOOSE, HEAD
from onnx import helper
from straightline import inspect, ir
from straightline.driver.suggestions import left_over
from straightline.passes import Pipeline, straighten
from straightline.passes.functions.inline_functions import InlineFunctions


def older(text, opset):
    model = onnx.parser.parse_model(text)
    model.functions[0].opset_import[0].version = opset
    return model


def test_another_opset_with_the_same_operators():
    text = "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }" + CHOOSE
    assert op_types(run_passes(older(HEAD + text, 17), InlineFunctions()).model) == ["Neg", "Exp"]


def test_another_opset_where_an_operator_changed_is_kept():
    text = "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }" + CHOOSE
    # onnx's checker refuses such a model, yet there are some.
    result = Pipeline([InlineFunctions()]).apply(ir.load(older(HEAD + text, 15)))
    assert not result.changed
    (remark,) = result.kept
    assert "opset 15 and its caller for 18, between which If changed" in remark.reason
    assert "straightline convert" in remark.reason


def test_inspect_names_the_opsets_that_keep_a_call_from_being_inlined():
    text = "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }" + CHOOSE
    (found,) = inspect(older(HEAD + text, 11)).constructs
    assert found.outcome == "kept"
    assert "opset 11 and its caller for 18" in found.reason
    assert "straightline convert" in found.reason
    result = straighten().apply(ir.load(older(HEAD + text, 11)))
    (left,) = left_over(result.model, result.remarks)
    assert left.op_type == "If"
    assert "choose 'y': kept, function 'local::choose' is written for opset 11" in left.reason


def test_imports_that_only_the_function_has_are_added():
    model = onnx.parser.parse_model(
        HEAD
        + "g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.choose (x, yes) }"
        + CHOOSE.replace("h = Neg (a)", "h = com.example.Frob (a)")
    )
    model.functions[0].opset_import.append(helper.make_opsetid("com.example", 7))
    loaded = ir.load(model)
    Pipeline([InlineFunctions()]).apply(loaded)
    assert loaded.opset("com.example") == 7
    assert [n.op_type for n in loaded.graph.nodes()] == ["Frob", "Exp"]
