"""Hints are tried before they are given: following each one of a corpus of models decides what it
says, and no option is left in a reason that changes nothing."""

import json
import re

import onnx
import pytest
import straightline as sl
from backend import CASES
from commands import succeeded
from depth import examples
from harness import as_model, assert_equal_outputs
from hypothesis import HealthCheck, Phase, given, settings
from straightline import ir
from straightline.cli import parsing
from straightline.cli.commands import app
from straightline.driver.suggestions import left_over
from straightline.passes import InlineIfs, Pipeline, UnrollLoops
from strategies import models
from typer.testing import CliRunner
from undecided import BRANCHES, MODELS


def followed(model, hint, **options):
    """What stays where the options of a hint are given, as the command line reads them."""
    given_ = list(hint.options)
    texts = {name: [] for name in ("--set", "--shape", "--assume-max", "--passes")}
    while given_:
        option = given_.pop(0)
        if option in texts:
            texts[option].append(given_.pop(0))
        else:
            assert option in ("--selects", "--freeze-initializers")
    (passes,) = texts["--passes"] or ["selects" if "--selects" in hint.options else None]
    found = sl.inspect(
        model,
        passes,
        values=parsing.contents(map(parsing.assignment, texts["--set"])),
        shapes=parsing.contents(map(parsing.shape, texts["--shape"])),
        assume_max=parsing.contents(map(parsing.maximum, texts["--assume-max"])),
        freeze_initializers="--freeze-initializers" in hint.options,
        **options,
    )
    return {f"{c.op_type} '{c.path}'" for c in found.constructs if c.outcome == "kept"}


def check_hints(model):
    """Follow every hint; what is only said in a reason must have been given as one."""
    found = sl.inspect(model)
    decided = {name for hint in found.hints for name in hint.decides}
    for hint in found.hints:
        assert followed(model, hint).isdisjoint(hint.decides), hint
    for one in found.constructs:
        if one.outcome == "kept" and re.search(r"decide it with --(set|shape|freeze)", one.reason):
            assert f"{one.op_type} '{one.path}'" in decided, one
    return found


@pytest.mark.parametrize("name", MODELS)
def test_each_hint_decides_what_it_says(name):
    text, wanted = MODELS[name]
    found = check_hints(as_model(text))
    assert [" ".join(hint.options) for hint in found.hints] == wanted


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", MODELS)
def test_each_hint_works_as_it_is_pasted(name, tmp_path, monkeypatch):
    """On the command line, and with another number for what is the user's own."""
    monkeypatch.chdir(tmp_path)
    onnx.save(as_model(MODELS[name][0]), "in.onnx")
    shown = CliRunner().invoke(app, ["inspect", "in.onnx", "--json"])
    for hint in json.loads(shown.stdout)["hints"]:
        called = sl.transform(onnx.load("in.onnx"), **hint["arguments"])
        assert not {f"{r.op_type} '{r.path}'" for r in called.left} & set(hint["decides"])
        texts = [hint["options"], [text.replace("=4", "=6") for text in hint["options"]]]
        for options in texts[: 2 if hint["stand_ins"] else 1]:
            pasted = ["inspect", "in.onnx", "--json", *options]
            result = succeeded(CliRunner().invoke(app, pasted))
            kept = [c for c in json.loads(result.stdout)["constructs"] if c["outcome"] == "kept"]
            assert not {f"{c['op_type']} '{c['path']}'" for c in kept} & set(hint["decides"])
            written = ["rewrite", "in.onnx", "out.onnx", *options, "--force"]
            result = succeeded(CliRunner().invoke(app, written))


def test_no_hint_from_a_single_iteration():
    """With one iteration both readings of an absent condition are the same, with six not."""
    text, (hint,) = MODELS["the same, of as many iterations as an input says"]
    found = sl.inspect(as_model(text))
    assert "n=1" not in hint and all("n=1" not in " ".join(h.options) for h in found.hints)


LEFT = [case for case in CASES if re.match("test_(if|loop|sequence_map|affine_grid_3d)", case.name)]


@pytest.mark.sample(10)
@pytest.mark.parametrize("case", LEFT, ids=lambda case: case.name)
def test_hints_on_the_models_of_the_backend(case):
    check_hints(case.model)


@settings(
    max_examples=examples(8),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(models())
def test_hints_on_models_drawn_at_random(model):
    check_hints(model)


def test_a_hint_that_changes_nothing_is_taken_back():
    """What selects would need is said instead."""
    text, _ = MODELS["an If on data, of branches that differ in shape"]
    (construct,) = sl.inspect(as_model(text)).constructs
    assert "decided by data; it stays with --selects; its output 'y' " in construct.reason
    assert "decide it with" not in construct.reason


def test_an_option_that_does_not_decide_is_not_offered():
    """The input is given, and the operator behind it is one that nobody knows."""
    text = MODELS["an If on a sample rate"][0].replace("Equal (sr, wide)", "f.Strange (sr)")
    found = sl.inspect(as_model('<ir_version: 8, opset_import: ["" : 17, "f" : 1]>' + text))
    assert [hint.options for hint in found.hints] == [("--selects",)]
    assert "decide it with" not in found.constructs[0].reason


def test_hints_keep_what_was_asked_for():
    """A budget that was given holds for what is tried, too."""
    text, _ = MODELS["a Loop that data may end early"]
    found = sl.inspect(as_model(text), max_trips=3)
    assert not found.hints
    assert "max_trips=3 allows" in found.constructs[0].reason


def test_a_number_that_does_not_fit_is_not_offered():
    """The default of w needs a width of 3, whatever stands in; then 1 is refused, too."""
    text = (
        "g (float[N] x, float[N] w) => (float[] y) <int64 one = {1}, float[3] w = {1, 2, 3}> {"
        f" s = Shape (x) m = Squeeze (s) c = Equal (m, one) y = If (c) {BRANCHES} }}"
    )
    found = sl.inspect(as_model(text))
    assert [hint.options for hint in found.hints] == []


def test_no_selects_beside_passes_of_ones_own():
    text, _ = MODELS["an If on data"]
    assert not sl.inspect(as_model(text), "inline-ifs").hints


def test_the_rewrite_that_a_hint_offers_is_right():
    import numpy as np

    text, _ = MODELS["a Loop that data may end early"]
    flat = sl.rewrite(as_model(text), "selects")
    for top in (0.0, 3.0, 40.0, 1e9, float("nan")):
        feeds = {"x": np.array([1, 2], np.float32), "ends": np.array([0, 1, top], np.float32)}
        assert_equal_outputs(text, flat, feeds)


@pytest.mark.parametrize(("limit", "most"), [("_MOST_TRIALS", 1), ("_MOST_NODES", 0)])
def test_untried_hints_say_so(limit, most, monkeypatch):
    """The first is tried in any case."""
    monkeypatch.setattr(f"straightline.driver.suggestions.{limit}", most)
    text, wanted = MODELS["two constructs that two inputs decide"]
    found = sl.inspect(as_model(text))
    assert [" ".join(hint.options) for hint in found.hints] == wanted[:1]
    branch, loop = found.constructs
    assert "decide it with --set q=... (values= in Python)" in branch.reason
    assert "--set n=... (values= in Python) may decide it, which was not tried" in loop.reason
    assert "decide it with" not in loop.reason


def test_a_shape_that_we_cannot_write_down_was_not_tried():
    text = (
        "g (float[2] x, float[] v) => (float[] y) <int64 one = {1}> {"
        f" s = Shape (v) r = Size (s) c = Equal (r, one) y = If (c) {BRANCHES} }}"
    )
    (construct,) = check_hints(as_model(text)).constructs
    assert "--shape v=... (shapes= in Python) may decide it, which was not" in construct.reason


def test_nothing_is_left_of_a_hint_that_is_taken_back():
    from straightline.driver.suggestions import Advice, Refuted
    from straightline.facts.reason import Reason

    key = ("If", "y")
    advice = Advice(refuted={key: Refuted(("--set", "n=4"), ())})
    for options in (["--set n=..."], ["--set n=...", "--shape x=..."], ["--selects"]):
        reason = Reason.join([Reason("it depends on 'n'", options=options), "more"])
        assert "decide it with" in reason
        assert advice.reason(key, reason) == "it depends on 'n'; more; it stays with --set n=4"


LOOP = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, int64 n) => (float[2] y) {
    y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] r) {
        d = Identity (c) r = Relu (a) }> }"""
CALLED = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
g (float[2] x, bool c) => (float[2] y) { y = local.f (x, c) }
<domain: "local", opset_import: ["" : 18]> f (a, c) => (r) {
    r = If (c) <then_branch = t () => (p) { p = Exp (a) },
                else_branch = e () => (q) { q = Abs (a) }> }"""


def left(text, *passes):
    result = Pipeline(passes).apply(ir.parse(text))
    return left_over(result.model, result.remarks)


def test_the_reason_of_the_last_pass():
    (found,) = left(LOOP, UnrollLoops())
    assert (found.op_type, found.path, found.pass_name) == ("Loop", "y", "unroll-loops")
    assert "--set n=" in found.reason


def test_the_reason_without_a_pass():
    (found,) = left(LOOP, InlineIfs())
    assert found.reason == "no pass of the pipeline rewrites Loop"


def test_constructs_of_a_function_are_reported_with_the_call():
    (found,) = left(CALLED, InlineIfs())
    assert found.op_type == "If" and "'c'" in found.reason


def test_nothing_is_left():
    text = LOOP.replace("x, int64 n) => (float[2] y) {", "x) => (float[2] y) <int64 n = {1}> {")
    assert left(text, UnrollLoops()) == []
