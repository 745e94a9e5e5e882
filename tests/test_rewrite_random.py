"""Models drawn at random through the default pipeline: valid, equal, nothing left that constants
decide. A longer run: PYTHONPATH=tests/support python dev/fuzz/fuzz.py --models 1000."""

import random

import fuzz_loops
import numpy as np
import onnx
import pytest
import straightline as sl
from depth import examples
from edge_loops import edge_loop
from fuzz import assert_equal
from harness import check_model, op_types
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_flat import Flat
from random_loops import feeds as feeds_of_loop
from random_loops import random_loop
from sessions import open_session
from straightline import ir, reference
from straightline.passes import (
    EliminateDeadNodes,
    ForwardInvariants,
    HoistInvariants,
    LoopsToScans,
    Pipeline,
    ScansToLoops,
    VectorizeLoops,
    straighten,
)
from strategies import model_and_feeds, scan_8_model_and_feeds
from vectorized import assert_same

quick = settings(
    max_examples=examples(15),
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def constructs(graph):
    """Every Loop and If in a graph and in the graphs inside it."""
    for node in graph.node:
        if node.op_type in ("Loop", "If"):
            yield node
        for attribute in node.attribute:
            yield from constructs(attribute.g)


def check(model, feeds, pipeline=None):
    """Rewrite a model and compare; the result."""
    original = model.SerializeToString(deterministic=True)
    expected = reference.run(model, feeds)
    result = (pipeline or straighten(max_nodes=200_000)).run(model)
    assert model.SerializeToString(deterministic=True) == original
    ir.verify(ir.load(result.model))
    check_model(result.model)
    assert [(v.name, v.type) for v in result.model.graph.input] == [
        (v.name, v.type) for v in model.graph.input
    ]
    got = reference.run(result.model, feeds)
    for output, one, other in zip(model.graph.output, got, expected, strict=True):
        assert_equal(one, other, output.name)
    return result


@quick
@given(model_and_feeds(static_only=True))
def test_decided_constructs_go(drawn):
    model, feeds = drawn
    result = check(model, feeds)
    assert not list(constructs(result.model.graph)), [str(remark) for remark in result.kept]


@quick
@given(model_and_feeds())
def test_partly_decided_constructs(drawn):
    result = check(*drawn)
    left = [n for graph in graphs_of(result.model) for n in constructs(graph)]
    assert bool(left) <= bool(result.kept), "what stays has a reason"


@quick
@given(scan_8_model_and_feeds())
def test_around_a_scan_of_opset_8(drawn):
    check(*drawn)


def test_all_iterations_at_once():
    """Of the loops drawn, many can be: they give what they gave iteration by iteration."""
    rewritten = []

    @settings(quick, max_examples=examples(20))
    @given(model_and_feeds(opset=18))
    def vectorize(drawn):
        result = check(*drawn, Pipeline([ForwardInvariants(), HoistInvariants(), VectorizeLoops()]))
        rewritten.extend(r.pass_name for r in result.remarks if r.action == "rewritten")

    vectorize()
    assert rewritten.count("vectorize-loops") > 10 and "hoist-invariants" in rewritten


def test_loops_as_scans_and_scans_as_loops():
    rewritten = []

    @settings(quick, max_examples=examples(10))
    @given(model_and_feeds(opset=18))
    def convert(drawn):
        for pass_ in (LoopsToScans(), ScansToLoops()):
            result = check(*drawn, Pipeline([pass_]))
            rewritten.extend(r.pass_name for r in result.remarks if r.action == "rewritten")

    convert()
    assert min(map(rewritten.count, ("loops-to-scans", "scans-to-loops"))) > 2


def test_recurrences_mixed_with_what_is_none():
    """Some loops go, of some a part is left: what they give is the same for any length."""
    said = []

    @settings(quick, max_examples=examples(15))
    @given(st.integers(0, 1 << 32))
    def divide(number):
        model = random_loop(random.Random(number))
        passes = [ForwardInvariants(), HoistInvariants(), VectorizeLoops(), EliminateDeadNodes()]
        result = Pipeline(passes).run(model)
        onnx.checker.check_model(result.model, full_check=True)
        said.extend(r.reason for r in result.remarks if r.pass_name == "vectorize-loops")
        for length in (0, 1, 5):
            if length or model.graph.node[0].op_type == "Loop":  # Scans of no length fail
                given = feeds_of_loop(length, bool(number % 2))
                read = {value.name: given[value.name] for value in model.graph.input}
                assert_same(model, result.model, read)

    divide()
    assert said.count("all iterations are computed at once") > 5
    assert sum("once, for all iterations" in reason for reason in said) > 2


@settings(quick, max_examples=examples(4))
@given(st.integers(0, 1 << 32))
def test_loops_as_people_write_them(number):
    """The forms of accelerate and of the default compute the same up to rounding, and are final."""
    assert fuzz_loops.check(number) == []


@settings(quick, max_examples=examples(4))
@given(model_and_feeds(shadowing=True))
def test_inner_names_that_hide_outer_ones(drawn):
    """The checker refuses such models, yet they exist; the result is valid."""
    model, feeds = drawn
    result = straighten(max_nodes=200_000).run(model).model
    for one, other in zip(reference.run(result, feeds), reference.run(model, feeds), strict=True):
        assert_equal(one, other, "output")


def graphs_of(model):
    return [model.graph, *model.functions]


def test_a_run_after_a_run_changes_nothing():
    @settings(quick, max_examples=examples(5))
    @given(model_and_feeds(opset=18))
    def rerun(drawn):
        first = straighten().run(drawn[0])
        second = straighten().run(first.model)
        assert not second.changed
        assert len(second.model.graph.node) == len(first.model.graph.node)

    rerun()


def test_feeds_are_exact():
    """The drawn tensors hold small integers, so that results can be compared bit by bit."""

    @settings(quick, max_examples=5)
    @given(model_and_feeds())
    def draw(drawn):
        for array in drawn[1].values():
            assert np.array_equal(array, np.round(array))

    draw()


PIPELINES = ("straighten", "selects", "simplify", "accelerate")
DRAWERS = (lambda dice: Flat(dice.randrange(1000)).model, random_loop, edge_loop)


def refusals(model):
    """Who does not accept a model: strict inference, with sizes or without, and onnxruntime."""
    for data_prop in (False, True):
        try:
            onnx.shape_inference.infer_shapes(model, True, True, data_prop)
        except onnx.shape_inference.InferenceError:
            yield f"inference {data_prop}"
    try:
        open_session(model, optimized=False)
    except Exception:  # noqa: BLE001 - whatever a runtime raises is its answer
        yield "onnxruntime"


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(120))
def test_a_runtime_that_accepts_the_original_accepts_the_rewrite(seed):
    dice = random.Random(seed)
    before = DRAWERS[seed % 3](dice)
    refused = {*refusals(before)}
    for pipeline in (dice.choice(PIPELINES), "straighten"):
        after = sl.rewrite(before, pipeline, verify=False)
        assert {*refusals(after)} <= refused, (pipeline, op_types(after))
