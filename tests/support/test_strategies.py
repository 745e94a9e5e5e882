"""The strategies draw what they promise: valid models that run, each construct in each form."""

from functools import cache

import numpy as np
import pytest
import strategies
from depth import examples
from fuzz import Case, assert_equal, check_valid, run_onnxruntime
from hypothesis import HealthCheck, Phase, given, settings
from input_decisions import decisions
from model_features import bodies, features, walk
from onnx import ModelProto

DRAWN = settings(
    max_examples=examples(30),
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SAMPLE = settings(DRAWN, phases=[Phase.generate])


@DRAWN
@given(strategies.model_and_feeds())
def test_models_are_valid_and_run(drawn):
    model, feeds = drawn
    check_valid(Case(model, feeds))
    first = run_onnxruntime(model, feeds)
    assert len(first) == len(model.graph.output) > 0
    for output, once, again in zip(
        model.graph.output, first, run_onnxruntime(model, feeds), strict=True
    ):
        assert_equal(again, once, output.name)
        assert all(np.isfinite(t).all() and np.abs(t).max(initial=0) <= 1000 for t in flat(once))


@settings(DRAWN, max_examples=examples(15))
@given(strategies.scan_8_model_and_feeds())
def test_scan_8_models_are_valid_and_run(drawn):
    model, feeds = drawn
    check_valid(Case(model, feeds))
    run_onnxruntime(model, feeds)
    assert model.opset_import[0].version == 8
    assert any(node.op_type == "Scan" for node in model.graph.node)


@settings(DRAWN, max_examples=examples(15))
@given(strategies.model_and_feeds(static_only=True))
def test_static_models_take_no_decision_from_an_input(drawn):
    assert not decisions(drawn[0])


def test_run_time_decisions_are_drawn():
    assert sum(bool(decisions(model)) for model in sample()) >= 12


@settings(DRAWN, max_examples=examples(15))
@given(strategies.model_and_feeds(shadowing=True))
def test_shadowing_models_run(drawn):
    run_onnxruntime(*drawn)


def test_shadowing_is_drawn_on_request_only():
    assert sum(map(hides, sample(shadowing=True))) >= 7
    assert not any(map(hides, sample()))


@pytest.mark.parametrize("opset", strategies.OPSETS)
def test_an_opset_can_be_asked_for(opset):
    @settings(DRAWN, max_examples=examples(3))
    @given(strategies.model_and_feeds(opset=opset))
    def check(drawn):
        assert drawn[0].opset_import[0].version == opset
        check_valid(Case(*drawn))
        run_onnxruntime(*drawn)

    check()


def test_switches_leave_constructs_out():
    chosen = {"scans": False, "sequences": False, "functions": False, "overridable": False}
    for model in sample(**chosen):
        ops = {node.op_type for node, _ in walk(model)}
        assert not {op for op in ops if "Sequence" in op or op == "Scan"}
        assert not model.functions


FEATURES = {
    *("Loop", "If", "Scan", "Loop in Loop", "Loop in Scan", "Loop in If", "Scan in Loop"),
    *("Scan in Scan", "Scan in If", "If in Loop", "If in Scan", "If in If", "M absent"),
    *("M of rank 1", "M the largest", "M not positive", "cond absent", "cond of rank 1"),
    *("carried sequence", "scan output", "scalar scan output", "repeated body output"),
    *("body input as output", "body initializer", "branches of other shapes"),
    *("sibling initializers of one name", "name reused after a body", "capture through two levels"),
    *("axis not 0", "negative axis", "reversed input", "reversed output", "no state"),
    *("no scan output", "function with control flow", "attribute reference"),
    *("overridable initializer", "constant listed by a body", "symbolic dimension"),
    *("value_info in a body", "ConcatFromSequence", "SequenceAt", "Shape", "Size", "Where"),
    *("Gather", "Slice", "Concat", "ReduceMax", "Mod"),
}


def test_features_are_drawn():
    """Each is in some model of a fixed sample."""
    present = {feature for model in sample() for feature in features(model)}
    assert present >= FEATURES, FEATURES - present


@cache
def sample(**chosen: bool) -> tuple[ModelProto, ...]:
    models: list[ModelProto] = []

    @settings(SAMPLE, max_examples=examples(30 if chosen else 120))
    @given(strategies.models(**chosen))
    def collect(model):
        models.append(model)

    collect()
    return tuple(models)


def flat(value) -> list[np.ndarray]:
    return value if isinstance(value, list) else [value]


def hides(model: ModelProto) -> bool:
    """Whether an input or initializer of a body has a name that is visible outside."""
    todo = [(model.graph, set[str]())]
    while todo:
        graph, visible = todo.pop()
        own = {v.name for v in graph.input} | {i.name for i in graph.initializer}
        if own & visible:
            return True
        visible = visible | own
        for node in graph.node:
            todo += [(body, visible) for body in bodies(node)]
            visible = visible | set(node.output)
    return False
