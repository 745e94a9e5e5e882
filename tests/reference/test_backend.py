"""The reference against the expected outputs of onnx's own backend tests."""

import numpy as np
import onnx
import pytest
from backend import CASES, array
from onnx import inliner
from reference_oracle import assert_same
from straightline import reference


def check(model: onnx.ModelProto, case) -> None:
    for inputs, outputs in case.data_sets:
        feeds = dict(zip((i.name for i in model.graph.input), map(array, inputs), strict=True))
        assert_same(reference.run(model, feeds), array(list(outputs)), rtol=case.rtol, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_control_flow_is_as_expected(case):
    check(case.model, case)


def test_all_control_flow_operators_are_covered():
    names = " ".join(case.name for case in CASES)
    assert all(
        part in names for part in ("if_seq", "loop16_seq", "scan9", "scan_sum", "sequence_map")
    )
    assert all(part in names for part in ("range_float_type", "affine_grid")) and len(CASES) > 40


def test_inlined_functions_give_the_same_outputs():
    for case in CASES:
        if case.model.functions:
            check(inliner.inline_local_functions(case.model), case)


def test_inputs_are_never_changed_in_place():
    case = next(case for case in CASES if case.name == "test_scan_sum")
    for inputs, _ in case.data_sets:
        arrays = [np.array(value) if value is not None else None for value in map(array, inputs)]
        for value in arrays:
            if value is not None:
                value.flags.writeable = False
        feeds = dict(zip((i.name for i in case.model.graph.input), arrays, strict=True))
        reference.run(case.model, feeds)
