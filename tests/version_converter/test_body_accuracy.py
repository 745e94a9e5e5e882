"""No operator is replaced by a function that is less accurate; dev/tools/body_accuracy.py tells
all."""

import importlib.util
import sys
from pathlib import Path

import onnx
import pytest
from straightline.version_converter.registry import INEXACT_BODIES

PATH = Path(__file__).parents[2] / "dev" / "tools" / "body_accuracy.py"
SPEC = importlib.util.spec_from_file_location("body_accuracy", PATH)
assert SPEC is not None and SPEC.loader is not None
TOOL = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = TOOL
SPEC.loader.exec_module(TOOL)

DOUBLES_AS_FLOATS = {"RMSNormalization"}
"""Functions that lose digits of doubles only, in which the others are measured."""


@pytest.mark.sample(12)
@pytest.mark.parametrize("case", TOOL.CASES, ids=lambda case: f"{case.op_type}-{case.opset}")
def test_a_function_that_is_used_is_as_accurate_as_its_operator(case) -> None:
    measured = TOOL.rows(case)
    inaccurate = [row for row in measured if not row.is_accurate]
    # Of a function that is written for another opset nothing is measured here.
    inexact = INEXACT_BODIES - DOUBLES_AS_FLOATS
    assert not measured or bool(inaccurate) == (case.op_type in inexact), inaccurate


def test_operators_are_measured_on_every_kind_of_numbers() -> None:
    (case,) = [case for case in TOOL.CASES if case.op_type == "Gelu"]
    kinds = {(row.name, row.kind) for row in TOOL.rows(case)}
    assert kinds == {
        (name, kind)
        for name in ("float", "float16")
        for kind in ("plain", "offset", "large", "wide", "tiny", "odd")
    }


def test_every_operator_with_a_function_is_measured_or_said_why_not() -> None:
    with_function = {
        schema.name
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain == "" and (schema.has_function or schema.has_context_dependent_function)
    }
    told = {*(case.op_type for case in TOOL.CASES), *TOOL.NOTHING_ROUNDS, *TOOL.NO_SAMPLES}
    assert told == with_function
