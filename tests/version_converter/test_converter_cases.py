"""The models of the tests of `onnx.version_converter`: converted right, or refused with a reason.

`converter_cases.txt` holds them as ONNX text, each with its target and what becomes of it here.
"""

import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from conversions import VERIFIED
from harness import assert_equal
from onnx import helper
from straightline import Error, convert_version, reference

NEWEST = 28
LEAST_COMPARED = 180
"""Of those to the newest opset, so many run at least."""

PATH = Path(__file__).parent / "converter_cases.txt"


class Case(NamedTuple):
    target: int
    refused: bool
    text: str


def read() -> list[Case]:
    lines = PATH.read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t") for line in lines if not line.startswith("#")]
    return [Case(int(target), verdict == "-", text) for target, verdict, text in fields]


CASES = read()
TRUE_REASONS = (
    "does not support|does not exist|at run time|callers may override",
    "lacks its|has 0 (inputs|outputs)|has 1 inputs; the node|nothing defines|must have exactly",
)
"""The older opset lacks it; the model is not well formed."""


def label(case: Case) -> str:
    source = re.search(r'"" ?: ?(\d+)', case.text)
    operators = re.findall(r"= (\w+)", case.text)
    return f"{operators[0] if operators else ''}-{source and source[1]}-{case.target}"


@pytest.mark.sample(25)
@pytest.mark.parametrize("case", [c for c in CASES if c.refused], ids=label)
def test_is_refused_for_a_true_reason(case: Case) -> None:
    model = onnx.parser.parse_model(case.text)
    try:
        converted = convert_version(model, case.target)
    except Error as error:
        assert re.search("|".join(TRUE_REASONS), str(error))
    else:  # a longer form was found since
        assert compare(model, converted), "take it for convertible in converter_cases.txt"


@pytest.mark.sample(10)
@pytest.mark.parametrize("target", sorted({case.target for case in CASES}))
def test_is_converted_right(target: int) -> None:
    compared = 0
    chosen = [case for case in CASES if case.target == target and not case.refused]
    for case in chosen:
        model = onnx.parser.parse_model(case.text)
        converted = convert_version(model, target, **VERIFIED)
        opset = {entry.domain: entry.version for entry in converted.opset_import}
        assert opset.get("", opset.get("ai.onnx")) == target
        fault = fault_of(converted)
        # Some of them declare another shape for what they give out than it has.
        assert not fault or fault_of(model) or "existing shape differ" in fault, case.text
        compared += compare(model, converted)
    assert compared >= (LEAST_COMPARED if target == NEWEST else 0)


def fault_of(model: onnx.ModelProto) -> str:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return str(error)
    return ""


def compare(model: onnx.ModelProto, converted: onnx.ModelProto) -> bool:
    """Compare the outputs; whether the original runs on what was drawn, and the same each time."""
    feeds = drawn(model)
    try:
        wanted, again = run(model, feeds), run(model, feeds)
    except reference.EvaluationError:
        return False
    if any("Random" in n.op_type or n.op_type == "Bernoulli" for n in model.graph.node):
        return False
    found = run(converted, feeds)
    for one, other, repeated in zip(found, wanted, again, strict=True):
        assert_equal(repeated, other)
        if isinstance(other, np.ndarray) and other.dtype.kind in "fc":
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, 1e-5, 1e-6)
        else:
            assert_equal(one, other)
    return True


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return reference.run(model, feeds)


def drawn(model: onnx.ModelProto) -> dict[str, Any]:
    held = {tensor.name for tensor in model.graph.initializer}
    rng = np.random.default_rng(0)
    return {v.name: value_of(v.type, rng) for v in model.graph.input if v.name not in held}


def value_of(type_: onnx.TypeProto, rng: np.random.Generator) -> Any:
    kind = type_.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        inner = value_of(getattr(type_, kind).elem_type, rng)
        return [inner] if kind == "sequence_type" else inner
    shape = [dim.dim_value or 2 for dim in type_.tensor_type.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(type_.tensor_type.elem_type)
    if dtype.kind in "OSU":
        return np.full(shape, "text", object)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
    return np.asarray(rng.random(shape)).astype(dtype)
