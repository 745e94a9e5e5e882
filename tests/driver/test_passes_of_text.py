"""One transformation: what is demanded, what is told on the way, and how it is broken off."""

import gc
import logging
import multiprocessing
import warnings

import onnx
import pytest
import straightline as sl
from straightline.passes import InlineIfs, UnrollLoops
from texts import LOOP_AND_IF
from wrong_passes import Negating

RANDOM = """<ir_version: 8, opset_import: ["" : 17]> g () => (float[2] y) {
    y = RandomNormal <shape = [2]> ()
}"""
WITH_RUNS = {"runtime": "reference", "samples": 1}


@pytest.fixture
def model():
    return onnx.parser.parse_model(LOOP_AND_IF)


def test_selects_stand_for_their_pipeline(model):
    outcome = sl.transform(model, selects=True, values={"n": 2})
    assert not outcome.left
    assert outcome.model == sl.rewrite(model, "selects", values={"n": 2})
    with pytest.raises(sl.PassOptionError, match="give it alone"):
        sl.transform(model, "inline-ifs", selects=True)


def test_short_forms_give_the_same(model):
    known = {"values": {"n": 2}, "shapes": {"x": (2,)}}
    assert sl.rewrite(model, **known) == sl.transform(model, **known).model
    converted = sl.transform(model, (), opset=13, **known).model
    assert sl.convert_version(model, 13, **known) == converted


def test_options_of_passes_are_taken(model):
    outcome = sl.transform(model, "unroll-loops", max_trips=1, values={"n": 2}, hints=False)
    assert [remark.op_type for remark in outcome.left] == ["Loop", "If"]
    assert outcome.hints == ()
    assert not outcome.changed


def test_a_maximum_that_is_vouched_for(model):
    outcome = sl.transform(model, selects=True, assume_max={"h": 3}, verify=False)
    assert not outcome.left


def test_what_a_conversion_makes_of_what_is_left_says_so():
    model = onnx.parser.parse_model("""<ir_version: 3, opset_import: ["" : 8]>
    g (float[1,T,2] x, float[1,2] s) => (float[1,2] l) {
        l = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r) {
            q = Sin (a) r = Add (q, e) }> (, s, x) }""")
    outcome = sl.transform(model, opset=13, verify=False)
    assert [remark.reason for remark in outcome.left] == [
        "the conversion made it of what the passes had left"
    ]
    (hint,) = outcome.hints
    assert hint.options == ("--shape", "x=1,4,2")
    assert not sl.transform(model, opset=13, verify=False, **hint.arguments).left


def test_strict_raises_before_anything_is_compared(model, monkeypatch):
    monkeypatch.setattr("straightline.verification.compare", lambda *_, **__: pytest.fail("ran"))
    with pytest.raises(sl.StrictError):
        sl.transform(model, strict=True)


def test_a_wrong_pass_is_named(model):
    for opset in (None, 13):
        with pytest.raises(sl.MismatchError, match="the pass negating"):
            passes = [UnrollLoops(), Negating()]
            sl.transform(model, passes, values={"n": 2}, opset=opset, verify=True)


def test_what_cannot_be_compared_warns_the_caller():
    model = onnx.parser.parse_model(RANDOM)
    calls = (
        lambda: sl.transform(model, verify={"prove": False}),
        lambda: sl.rewrite(model, verify={"prove": False}),
        lambda: sl.convert_version(model, 13, verify={"prove": False}),
    )
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        (warning,) = [w for w in caught if w.category is sl.NotVerifiedWarning]
        assert warning.filename == __file__
    with pytest.raises(sl.NotVerifiedError, match=r"^the result was not verified"):
        sl.transform(model, verify={"prove": False}, strict=True)


# Progress


def told(model, **options):
    found = []
    sl.transform(model, on_progress=lambda *words: found.append(words), **options)
    return found


def test_long_work_tells_what_it_does(model):
    found = told(model, opset=13, verify=WITH_RUNS)
    stages = list(dict.fromkeys(stage for stage, *_ in found))
    assert stages == ["rewriting", "converting", "trying", "verifying"]
    assert ("rewriting", "unroll-loops", 8, 16) in found or any(
        words[1] == "unroll-loops" for words in found
    )
    assert any(what.startswith("reference: ") for stage, what, *_ in found if stage == "verifying")
    assert any("opset 17 to 16" in what for stage, what, *_ in found if stage == "converting")
    assert any(what == "--set n=4" for stage, what, *_ in found if stage == "trying")
    assert all(done >= 0 and (done <= total or not total) for *_, done, total in found)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError, sl.Error])
def test_what_the_callback_raises_ends_the_work(model, kind, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    count = len(told(path, opset=13, verify=WITH_RUNS))
    assert count > 10
    before = set(multiprocessing.active_children())
    for stop in (0, 1, count // 3, count // 2, count - 2, count - 1):
        seen = []

        def tell(*words, seen=seen, stop=stop):
            seen.append(words)
            if len(seen) > stop:
                raise kind("enough")

        with pytest.raises(kind, match="enough"):
            sl.transform(path, opset=13, verify=WITH_RUNS, on_progress=tell)
        assert len(seen) == stop + 1
        assert gc.isenabled()
        assert set(multiprocessing.active_children()) <= before
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]
    assert onnx.load(path) == model


# Logging


def test_passes_are_logged_a_line_each(model, caplog):
    with caplog.at_level(logging.INFO, "straightline"):
        sl.transform(model, [UnrollLoops(), InlineIfs()], values={"n": 2}, opset=13)
    lines = [record.getMessage() for record in caplog.records]
    assert all(record.name.startswith("straightline.") for record in caplog.records)
    assert [line for line in lines if line.startswith("unroll-loops changed the model in ")]
    assert [line for line in lines if line.startswith("inline-ifs changed nothing in ")]
    assert len([line for line in lines if line.startswith("unroll-loops")]) == 1
    assert "converting model 'g' from opset 17 to 13" in lines
    assert any(line.startswith("the proof is proved") for line in lines)


def test_what_is_tried_is_logged_in_detail(model, caplog):
    with caplog.at_level(logging.DEBUG, "straightline"):
        sl.transform(model, verify=WITH_RUNS)
    lines = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert (logging.DEBUG, "trying --set n=4 for what is left") in lines
    assert any(level == logging.DEBUG and "reference: " in line for level, line in lines)
    tried = lines.index((logging.DEBUG, "trying --set n=4 for what is left"))
    rounds = [level for level, line in lines[tried:] if line.startswith("unroll-loops")]
    assert rounds and {*rounds} == {logging.DEBUG}


def test_silence_by_default(model, capfd):
    sl.transform(model, values={"n": 2})
    assert capfd.readouterr() == ("", "")
