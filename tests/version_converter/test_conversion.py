from functools import partial

import conversion_sweep
import numpy as np
import onnx
import pytest
from depth import DEEP
from harness import assert_equal_outputs
from straightline import ir
from straightline.passes import watching
from straightline.version_converter import ConversionError
from straightline.version_converter.conversion import Conversion, Convert

SEQUENCE = """<ir_version: 8, opset_import: ["": 17]>
g (float[2] x, float[2] y) => (float[2] b) <int64 k = {1}> {
    s = SequenceConstruct (x, y)
    b = SequenceAt (s, k) }"""
OPEN = SEQUENCE.replace("float[2] y)", "float[2] y, int64 k)").replace(" <int64 k = {1}>", "")


def conversion(text, **settings):
    """A conversion, and a list of the models that it began with."""
    starts = []

    def start():
        starts.append(ir.load(onnx.parser.parse_model(text)))
        return starts[-1]

    return Conversion(start, **settings), starts


def test_each_attempt_begins_anew_and_what_was_rewritten_is_told():
    whole, starts = conversion(SEQUENCE)
    converted = whole.to(10)
    assert len(starts) == 2 + 1  # a failure, no functions to copy, rewritten
    assert (converted.before, converted.model.opset()) == (17, 10)
    assert [(r.op_type, r.path) for r in converted.remarks] == [
        ("SequenceAt", "b"),
        ("SequenceConstruct", "s"),
    ]
    assert converted.differences.to_dict()["added"] == {"Identity": 1}
    assert converted.timing.pass_name == "convert"
    feeds = {name: np.array([1, 2], np.float32) for name in "xy"}
    assert_equal_outputs(onnx.parser.parse_model(SEQUENCE), ir.to_proto(converted.model), feeds)


def test_nothing_is_rewritten_where_that_is_not_wanted():
    whole, starts = conversion(SEQUENCE, rewrites=False)
    with pytest.raises(ConversionError, match="SequenceAt"):
        whole.to(10)
    assert len(starts) == 1


def test_the_nearest_opset_is_found_by_trying():
    whole, _ = conversion(OPEN)
    with pytest.raises(ConversionError) as caught:
        whole.to(9)
    assert whole.nearest(caught.value) == 11


def test_a_watcher_sees_the_conversion_and_no_attempt_to_find_the_nearest():
    seen = []

    class Watcher:
        def before(self, pass_, model):
            seen.append(str(pass_))

        def after(self, pass_, model, changed):
            seen.append(model.opset())

    with watching(Watcher()):
        conversion(SEQUENCE)[0].to(12)
        assert seen == ["convert to opset 12", 12]
        seen.clear()
        whole, _ = conversion(OPEN)
        with pytest.raises(ConversionError) as caught:
            whole.to(9)
        count = len(seen)
        whole.nearest(caught.value)
    assert len(seen) == count


def test_the_step_names_its_opset():
    assert str(Convert(13)) == "convert to opset 13"
    assert partial(Convert, 13)() == Convert(13)


def test_a_conversion_is_right_or_refused():
    operators = ("Celu", "Range", "TopK", "Einsum", "Clip", "Softsign", "CumSum")
    for op_type in operators:
        case = conversion_sweep.seeds(DEEP)[op_type][0]
        counts, faults = conversion_sweep.swept(case, (7, 9, 11, 13, 18, 28), every=150, offset=0)
        assert not faults, "\n".join(faults)
        assert counts["right"], op_type


def test_a_fault_is_noticed(monkeypatch):
    """A conversion that leaves the opset of the schema behind."""

    def relabelled(model, target, **_):
        model.opset_import[0].version = target
        return model

    monkeypatch.setattr(conversion_sweep.sl, "convert_version", relabelled)
    case = conversion_sweep.seeds(DEEP)["Celu"][0]
    _, faults = conversion_sweep.swept(case, (7, 9), every=10, offset=0)
    assert faults
