"""The models of the benchmark on loops: each is valid, its best form computes the same, and what
does not is noticed when they are measured."""

import dataclasses

import numpy as np
import onnx
import pytest
from harness import run_in_onnxruntime
from straightline.dev.benchmarks.loops import comparison
from straightline.dev.benchmarks.loops.collection import cases
from straightline.dev.benchmarks.loops.comparison import RefusedError, compare
from straightline.dev.benchmarks.loops.report import counts, families, head, line, summary
from straightline.passes import accelerate, parse_pipeline, straighten

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_form_by_hand_gives_what_the_loop_gives(case):
    models = [case.original(case.small), case.by_hand(case.small)]
    for model in models:
        onnx.checker.check_model(model, full_check=True)
    outputs = [run_in_onnxruntime(model, case.inputs(case.small)) for model in models]
    for one, other in zip(*outputs, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if not case.random:
            np.testing.assert_allclose(one, other, rtol=case.tolerance, atol=case.tolerance)


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pipelines_give_what_the_loop_gives(case):
    original, feeds = case.original(case.small), case.inputs(case.small)
    wanted = run_in_onnxruntime(original, feeds)
    for pipeline in (accelerate(), straighten()):
        model = pipeline.run(original).model
        onnx.checker.check_model(model, full_check=True)
        for one, other in zip(run_in_onnxruntime(model, feeds), wanted, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            if not case.random:
                np.testing.assert_allclose(one, other, rtol=case.tolerance, atol=case.tolerance)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_has_a_loop_and_the_sizes_of_it(case):
    assert set(case.sizes) <= set(case.small)
    kinds = {node.op_type for node in case.original(case.small).graph.node}
    assert kinds & {"Loop", "Scan", "SequenceMap"}


STATELESS = [
    case
    for case in CASES
    if not case.true_recurrence and case.best is not None
    # Beyond the end of the signal it averages what is left, and only run time tells the length.
    if case.name != "moving_average"
    # The masked sums round otherwise, so only `accelerate` has them.
    if case.family != "decoders"
]


@pytest.mark.sample(23)
@pytest.mark.parametrize("case", STATELESS, ids=lambda case: case.name)
def test_loops_without_states_are_straight_and_not_unrolled(case):
    original = case.original(case.small)
    result = straighten().run(original)
    assert count_loops(result.model) == 0, result.remarks
    assert not any("unrolled" in remark.reason for remark in result.remarks), result.remarks
    assert not any("copied" in remark.reason for remark in result.remarks), result.remarks
    outputs = [
        run_in_onnxruntime(model, case.inputs(case.small)) for model in (original, result.model)
    ]
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_allclose(one, other, rtol=case.tolerance, atol=case.tolerance)


def count_loops(model):
    kinds = ("Loop", "Scan", "SequenceMap", "If")
    return sum(node.op_type in kinds for node in model.graph.node)


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def small(name):
    (case,) = (case for case in cases(name) if case.name == name)
    return dataclasses.replace(case, sizes=case.small)


def test_a_case_is_measured_and_reported():
    measured = compare(small("gelu_rows"), {"vectorize": parse_pipeline("vectorize-loops")}, 0.0)
    form = measured.forms["vectorize"]
    assert (measured.forms["by hand"].loops, form.loops, form.agrees) == (0, 0, True)
    assert min(form.run, form.load, form.nodes, form.us_a_node) > 0
    text = "\n".join([head(["vectorize"]), line(measured), *summary([measured])])
    assert "gelu_rows" in text
    assert "loops left where no iteration needs another: 0 of 1" in text
    assert "OTHER OUTPUTS" not in text
    assert [row.split(" | ")[:2] for row in families([measured])][2:] == [
        ["| rows", "1"],
        ["| all", "1"],
    ]


def test_an_unchanged_model_is_not_slower():
    measured = compare(small("beam_search"), {"clean": parse_pipeline("inline-ifs")}, 0.0)
    for form in measured.forms.values():
        assert (form.run, form.load, form.nodes, form.loops) == (1, 1, 1, 1)


def test_refusals_of_a_runtime_are_counted(monkeypatch):
    def without_loops(message):
        if count_loops(onnx.load_from_string(message)):
            raise RuntimeError("Loop is not supported")
        return comparison.RUNTIMES["onnxruntime"](message)

    monkeypatch.setattr(comparison, "RUNTIMES", {**comparison.RUNTIMES, "strict": without_loops})
    pipelines = {"vectorize": parse_pipeline("vectorize-loops")}
    with pytest.raises(RefusedError, match=r"gelu_rows +refused: original$") as refusal:
        compare(small("gelu_rows"), pipelines, 0.0, "strict")
    assert list(counts([], [refusal.value])) == [
        "original: 0 of 1 are taken",
        "by hand: 1 of 1 are taken",
        "vectorize: 1 of 1 are taken",
    ]


def test_other_outputs_are_told():
    case = small("gelu_rows")
    measured = compare(dataclasses.replace(case, best=case.best.replace("Erf", "Tanh")), {}, 0.0)
    assert not measured.forms["by hand"].agrees
    assert "gelu_rows!" in line(measured)
    assert "  OTHER OUTPUTS: gelu_rows" in list(summary([measured]))
