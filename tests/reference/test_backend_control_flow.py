"""Every control-flow model among onnx's backend tests through the default pipeline."""

import onnx
import pytest
from backend import CASES, array, holds_control_flow
from reference_oracle import assert_same
from straightline import ir, reference
from straightline.passes import straighten


def rewritten(model):
    """The model after the default pipeline, checked, with what it kept."""
    original = model.SerializeToString(deterministic=True)
    result = straighten().run(model)
    assert model.SerializeToString(deterministic=True) == original
    onnx.checker.check_model(result.model, full_check=True)
    ir.verify(ir.load(result.model))
    assert [v.name for v in result.model.graph.input] == [v.name for v in model.graph.input]
    assert [v.name for v in result.model.graph.output] == [v.name for v in model.graph.output]
    return result


def check(model, case):
    """Compare the rewritten model with the outputs that the test itself expects."""
    result = rewritten(model)
    for inputs, outputs in case.data_sets:
        feeds = dict(zip((i.name for i in model.graph.input), map(array, inputs), strict=True))
        got = reference.run(result.model, feeds)
        assert_same(got, array(list(outputs)), rtol=case.rtol, atol=1e-6)
    return result


def expanded(model):
    """The model with the functions by which operators are defined put in their places; None where
    onnx's inliner does not know the type of an operator and gives up."""
    try:
        return onnx.inliner.inline_selected_functions(
            model, [], exclude=True, inline_schema_functions=True
        )
    except RuntimeError:
        return None


@pytest.mark.sample(22)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_outputs_are_those_of_the_test(case):
    result = check(case.model, case)
    left = holds_control_flow(result.model.graph.node)
    decided_at_run_time = (
        "test_affine_grid_3d_align_corners_expanded",  # an If on an element of an input
        "test_if",  # their condition, and a loop's trip count: inputs
        "test_loop",
        "test_sequence_map",  # the length of a sequence that is an input
    )
    assert left == case.name.startswith(decided_at_run_time)
    if left:
        assert any(remark.op_type in ("If", "Loop", "SequenceMap") for remark in result.kept)


@pytest.mark.sample(20)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_with_functions_put_in_their_places(case):
    if case.model.functions:
        check(onnx.inliner.inline_local_functions(case.model), case)
    flat = expanded(case.model)
    if flat is not None:
        check(flat, case)


def test_functions_that_hold_control_flow_are_expanded():
    operators = {
        n.op_type for case in CASES for n in (expanded(case.model) or case.model).graph.node
    }
    assert "SequenceMap" not in operators
