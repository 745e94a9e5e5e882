"""A second run of any command on its own result changes nothing, whatever its steps bring in."""

import onnx
import pytest
import straightline as sl
from depth import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from straightline.dev.benchmarks.loops.collection import cases
from strategies import model_and_feeds

CASES = cases()
STEPS = {
    "passes": {},
    "simplify": {"passes": "simplify"},
    "convert": {"passes": (), "opset": 15},
    "down": {"opset": 11},
    "up": {"passes": "simplify", "opset": 21},
    "fit": {"target": "onnx2torch"},
    "fit, control flow": {"target": "openvino"},
    "fit, opset": {"target": "tvm", "opset": 16},
}


def content(outcome):
    model = outcome.model
    message = model if isinstance(model, onnx.ModelProto) else sl.ir.to_proto(model)
    return message.SerializeToString(deterministic=True)


def assert_settled(model, **options):
    """The result of a call is the result of the same call on it; what is refused is left out."""
    try:
        first = content(sl.transform(model, **options, verify=False, hints=False))
    except sl.versions.ConversionError:
        return
    assert content(sl.transform(first, **options, verify=False, hints=False)) == first


@pytest.mark.sample(6)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_loop(case, steps):
    assert_settled(case.original(case.small), **STEPS[steps])


@settings(max_examples=examples(2), deadline=None, suppress_health_check=list(HealthCheck))
@given(model_and_feeds(), st.sampled_from(sorted(STEPS)))
def test_a_random_model(drawn, steps):
    assert_settled(drawn[0], **STEPS[steps])


def test_forms_of_a_target_are_simplified():
    """Both forms hold the same constants, which the passes merge."""
    fitted = """<ir_version: 8, opset_import: ["" : 14]>
    g (float[2, 3] x) => (float[2, 3] y, float[2, 3] z) {
        y = HardSwish (x)
        z = HardSwish (y) }"""
    model = onnx.parser.parse_model(fitted)
    outcome = sl.transform(model, "simplify", target="tinygrad", opset=14, verify=False)
    assert_settled(outcome.model, passes="simplify", target="tinygrad", opset=14)
