import json

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model
from straightline import ir
from straightline.cli.commands import app
from straightline.driver.assumptions import Assumptions
from straightline.runtimes.workers import Workers
from typer.testing import CliRunner

BY_NUMBER = """g (float[2] x, int64 n) => (float[2] y) {
    y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] r) {
        d = Identity (c)  s = Sin (a)  r = Exp (s) }> }"""
BY_SIZE = """g (float[N] x) => (float[] y) <float zero = {0}, int64[1] one = {1}> {
    shape = Shape (x)  half = Mul (shape, one)  steps = Squeeze (half)
    y = Loop (steps, , zero) <body = b (int64 i, bool c, float[] a) => (bool d, float[] r) {
        d = Identity (c)  v = Gather (x, i)  s = Sin (a)  r = Add (s, v) }> }"""
BY_DATA = """g (float[2] x) => (float[2] y) <float limit = {100.0}, bool yes = {1}> {
    y = Loop (, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool go, float[2] r) {
        q = Mul (a, a)  e = Add (a, q)  r = Add (e, a)
        top = ReduceMax <keepdims = 0> (r)  go = Less (top, limit) }> }"""
INSIDE = """g (float[2] x, int64 n, bool c) => (float[2] y) {
    y = If (c) <
        then_branch = t () => (float[2] p) {
            p = Loop (n, , x) <body = b (int64 i, bool k, float[2] a) => (bool d, float[2] r) {
                d = Identity (k)  s = Sin (a)  r = Exp (s) }> },
        else_branch = f () => (float[2] q) { q = Relu (x) }> }"""
# So small a maximum that samples, which are small at first, go beyond; and one that they keep to.
MODELS = {
    "a number": (BY_NUMBER, {"y": 1}, {"y": 20}, "n=21"),
    "a size": (BY_SIZE, {"y": 1}, {"y": 20}, "x of float32[21]"),
    "data": (BY_DATA, {"y": 2}, {"y": 40}, "x="),
    "inside a branch": (INSIDE, {"y/p": 1}, {"y/p": 20}, "n=21"),
}


@pytest.fixture(scope="module")
def run():
    """Rewrites with maxima and compares, in runtimes that are started once."""
    with Workers() as workers:

        def compared(text, maxima, opset=None, **options):
            model = as_model(text)
            made = sl.transform(
                model, selects=True, assume_max=maxima, opset=opset, verify=False, hints=False
            )
            return made.verified(**{"prove": False, "samples": 2, "workers": workers, **options})

        yield compared


@pytest.mark.parametrize("name", MODELS)
def test_a_sample_that_goes_beyond_withholds_the_result(run, name):
    text, maxima, _, _ = MODELS[name]
    ((path, most),) = maxima.items()
    with pytest.raises(sl.MismatchError) as caught:
        run(text, maxima)
    message = str(caught.value)
    assert f"an input makes Loop '{path}' run more than {most} iteration" in message
    assert "which was assumed; raise it, or pass inputs that satisfy it" in message
    feeds, error = caught.value.verdict.feeds, caught.value
    assert feeds is not None and error.culprit == "" and error.verdict.status == "different"
    guarded = ir.load(as_model(text))
    Assumptions(maxima, {}).guard(guarded)
    with pytest.raises(sl.Error):  # it does go beyond
        sl.reference.run(guarded, feeds)
    sl.reference.run(as_model(text), feeds)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MODELS)
def test_larger_inputs_that_go_beyond_are_looked_for_and_noted(run, name):
    text, _, maxima, shown = MODELS[name]
    ((path, most),) = maxima.items()
    outcome = run(text, maxima)
    assert outcome.verdict.equal
    (note,) = [note for note in outcome.verdict.notes if "is assumed" in note]
    assert f"Loop '{path}' run more than {most} iterations, such as" in note and shown in note
    assert "there the result differs" in note


def test_a_search_without_a_violation_is_noted(run):
    (note,) = run(BY_SIZE.replace("float[N] x", "float[6] x"), {"y": 9}).verdict.notes
    assert note.endswith("is assumed; no tried input contradicts it")


def test_inputs_that_are_given_are_all_that_is_tried(run):
    feeds = {"x": np.float32([1, 2]), "n": np.array(3)}
    (note,) = run(BY_NUMBER, {"y": 20}, feeds=feeds).verdict.notes
    assert note.endswith("no tried input contradicts it")
    with pytest.raises(sl.MismatchError, match=r"more than 2 iterations.*n=3"):
        run(BY_NUMBER, {"y": 2}, feeds=feeds)


def test_a_result_that_agrees_by_chance_is_withheld_too(run):
    text = BY_NUMBER.replace("s = Sin (a)  r = Exp (s)", "r = Relu (a)")
    with pytest.raises(sl.MismatchError, match="more than 1 iteration,"):
        run(text, {"y": 1})


def test_a_conversion_behind_it_changes_nothing(run):
    with pytest.raises(sl.MismatchError, match="more than 1 iteration,"):
        run(BY_NUMBER, {"y": 1}, opset=18)
    found = run(BY_NUMBER, {"y": 20}, opset=18)
    assert any("more than 20 iterations, such as" in note for note in found.verdict.notes)


def test_sizes_beyond_any_array_are_not_searched():
    model = ir.load(as_model(BY_NUMBER))
    before = ir.to_text(model)
    assert Assumptions({"y": 10**9}, {}).guard(model) == []
    assert ir.to_text(model) == before


def test_the_command_says_it_in_a_line_and_by_its_exit_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(as_model(BY_NUMBER), "in.onnx")
    given = ("rewrite", "in.onnx", "out.onnx", "--selects", "--assume-max", "y=1", "--json")
    result = CliRunner().invoke(app, given)
    found = json.loads(result.stdout)
    assert (result.exit_code, found["exit"], found["written"]) == (3, 3, None)
    assert found["error"].startswith("an input makes Loop 'y' run more than 1 iteration, which was")
    assert found["error"].count("n=") == 1 and not (tmp_path / "out.onnx").exists()
