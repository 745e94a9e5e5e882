"""Every control-flow model among onnx's backend tests through the default pipeline."""

import numpy as np
import onnx
import onnx.checker
import onnx.inliner
import pytest
from reference_oracle import assert_same
from straightline import ir, reference
from straightline.passes import straighten
from test_reference_backend import CASES, array, holds_control_flow

DECIDED_AT_RUN_TIME = {
    "test_sequence_map_identity_1_sequence": "the length of its input, a sequence",
}


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
        assert_same(got, array(list(outputs)), rtol=max(case.rtol, 1e-5), atol=1e-6)
    return result


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_outputs_are_those_of_the_test(case):
    result = check(case.model, case)
    left = holds_control_flow(result.model.graph.node)
    assert left == bool(result.kept), "what stays has a reason"
    for remark in result.kept:
        assert remark.reason
