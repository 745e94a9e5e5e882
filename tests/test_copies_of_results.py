"""All that the public functions give can be pickled and copied, and says the same then."""

import copy
import pickle

import onnx
import pytest
import straightline as sl
from depth import examples
from hypothesis import given, settings
from strategies import models
from texts import HEADER, LOOP

COPIES = (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value)))


def same(one, other):
    """Whether two results say the same."""
    if isinstance(one, sl.ir.Model):
        return sl.ir.to_proto(one) == sl.ir.to_proto(other)
    return repr(one) == repr(other)


def results(model):
    outcome = sl.transform(model, verify=True, opset=18)
    yield outcome
    yield from (outcome.ir, outcome.verdict, outcome.verdict.proof, *outcome.remarks)
    yield sl.inspect(model)
    yield sl.prove(model, outcome.model)
    yield sl.report.of_outcome(outcome)
    yield sl.ir.load(model)
    yield sl.transform(model, on_progress=lambda *_: None, hints=True, target="onnx2torch")
    yield sl.passes.parse_pipeline("straighten").apply(sl.ir.load(model))
    yield sl.passes.parse_pipeline("straighten")


@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_results_survive_copying(copied):
    for result in results(onnx.parser.parse_model(HEADER + LOOP)):
        found = copied(result)
        assert type(found) is type(result)
        assert same(found, result), type(result)


@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_an_outcome_can_be_used_after_it(copied, tmp_path):
    model = onnx.parser.parse_model(HEADER + LOOP)
    outcome = copied(sl.transform(model))
    assert outcome.model == sl.transform(model).model
    assert outcome.verified().verdict.equal
    assert outcome.to_dict() and str(outcome)
    outcome.save(tmp_path / "out.onnx")
    assert onnx.load(tmp_path / "out.onnx") == outcome.model


def test_an_outcome_of_a_file_object_survives_pickling(tmp_path):
    onnx.save(onnx.parser.parse_model(HEADER + LOOP), tmp_path / "m.onnx")
    with (tmp_path / "m.onnx").open("rb") as stream:
        outcome = sl.transform(stream)
    assert same(pickle.loads(pickle.dumps(outcome)), outcome)
    assert outcome.model == sl.transform(tmp_path / "m.onnx").model


def test_a_model_that_was_changed_after_it_is_another_one():
    model = sl.ir.parse(HEADER + LOOP)
    before = sl.ir.to_proto(model)
    other = copy.deepcopy(model)
    sl.passes.parse_pipeline("straighten").apply(other)
    assert sl.ir.to_proto(model) == before != sl.ir.to_proto(other)


@settings(max_examples=examples(5))
@given(models())
def test_random_models_survive_it(generated):
    model = sl.ir.load(generated if isinstance(generated, onnx.ModelProto) else generated.model)
    for copied in COPIES[1:]:
        found = copied(model)
        sl.ir.verify(found)
        assert sl.ir.to_proto(found) == sl.ir.to_proto(model)
