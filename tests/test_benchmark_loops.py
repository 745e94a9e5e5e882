"""The models of the benchmark on loops: each is valid, and its best form computes the same."""

import numpy as np
import onnx.checker
import pytest
from harness import run_in_onnxruntime
from straightline.benchmarks.loops.collection import cases

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_form_by_hand_gives_what_the_loop_gives(case):
    models = [case.original(case.small), case.by_hand(case.small)]
    for model in models:
        onnx.checker.check_model(model, full_check=True)
    if case.random or case.best is None:
        return
    wanted, got = (run_in_onnxruntime(model, case.inputs(case.small)) for model in models)
    assert len(wanted) == len(got)
    for one, other in zip(wanted, got, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=case.tolerance, atol=case.tolerance)


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
