"""The first pass after which a model gives other outputs."""

import numpy as np
import onnx
import pytest
import straightline as sl
from straightline.passes import InlineIfs, Pipeline, UnrollLoops
from straightline.passes.manager.bisection import locate
from straightline.verification.runs.verdict import Verdict
from texts import LOOP_AND_IF
from wrong_passes import Negating

DIFFERENT = Verdict("different", "all of it")


def culprit(pipeline, compare):
    model = sl.load(onnx.parser.parse_model(LOOP_AND_IF))
    model.graph.bind_input(model.graph.inputs[1], sl.ir.Tensor(array=np.array(2)))
    return locate(DIFFERENT, lambda run: pipeline.apply(model, run=run), compare)


def relus(model):
    left = any("Relu" in graph.kinds() for graph in model.graphs())
    return Verdict("equal" if left else "different", "no Relu")


def test_the_first_pass_that_differs_is_named_with_its_remarks():
    error = culprit(Pipeline([UnrollLoops(), Negating(), InlineIfs()]), relus)
    assert error.culprit == "negating"
    assert {remark.pass_name for remark in error.remarks} == {"negating"}
    assert error.verdict.reason == "no Relu"


def test_without_a_single_culprit_the_whole_is_reported():
    error = culprit(Pipeline([UnrollLoops(), InlineIfs()]), relus)
    assert error.culprit == "" and error.verdict is DIFFERENT


def test_a_run_that_contradicts_a_proof_differs():
    error = culprit(
        Pipeline([UnrollLoops(), Negating()]),
        lambda model: Verdict("equal" if relus(model) else "contradictory", "a run"),
    )
    assert error.culprit == "negating"


def test_a_pipeline_withholds_what_a_run_tells_apart_although_it_is_proved(monkeypatch):
    monkeypatch.setattr(
        "straightline.verification.compare", lambda *_, **__: Verdict("contradictory", "a run")
    )
    with pytest.raises(sl.MismatchError, match="a run"):
        Pipeline([UnrollLoops()]).run(onnx.parser.parse_model(LOOP_AND_IF), verify=True)
