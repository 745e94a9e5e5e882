"""The public functions, as scripts call them, and what one transformation tells on its way."""

import gc
import inspect
import logging
import multiprocessing
import re
import subprocess
import sys
import warnings

import numpy as np
import onnx
import onnx_ir
import pytest
import straightline as sl
from harness import as_model
from straightline.ir.io import model_source
from straightline.options.table import KEYWORDS
from straightline.passes import InlineIfs, UnrollLoops
from tables import table
from texts import LOOP_AND_IF
from wrong_passes import Invalidating, Negating

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float[N] x, int64 n, bool c) => (float[N] y) {
    h = Loop (n, , x) <body = b (int64 i, bool g, float[N] a) => (bool d, float[N] e) {
        d = Identity (g)
        e = Add (a, a) }>
    y = If (c) <
        then_branch = t () => (float[N] r) { r = Relu (h) },
        else_branch = f () => (float[N] s) { s = Neg (h) } > }"""
VALUES = {"n": 2, "c": True}


@pytest.fixture
def model():
    return onnx.parser.parse_model(TEXT)


def kinds(proto):
    return [node.op_type for node in sl.ir.to_proto(proto).graph.node]


def test_every_public_name_is_there():
    for name in sl.__all__:
        assert getattr(sl, name) is not None
    assert dir(sl) == sorted(sl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sl.nothing


def test_importing_loads_what_is_asked_for_only():
    program = "import sys, straightline; assert 'onnx' not in sys.modules; straightline.rewrite"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_answer_is_of_the_kind_that_was_given(model, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    for source, kind in (
        (model, onnx.ModelProto),
        (model.SerializeToString(), onnx.ModelProto),
        (path, onnx.ModelProto),
        (str(path), onnx.ModelProto),
        (sl.ir.load(model), sl.ir.Model),
        (onnx_ir.from_proto(model), onnx_ir.Model),
    ):
        found = sl.rewrite(source, values=VALUES)
        assert isinstance(found, kind)
        assert kinds(found) == ["Add", "Add", "Relu"]


def test_the_callers_objects_are_not_changed(model):
    before = model.SerializeToString(deterministic=True)
    values, shapes = dict(VALUES), {"x": [3]}
    loaded = sl.ir.load(model)
    for source in (model, loaded):
        sl.rewrite(source, values=values, shapes=shapes, verify=True)
    assert model.SerializeToString(deterministic=True) == before
    assert sl.ir.to_proto(loaded).SerializeToString(deterministic=True) == before
    assert (values, shapes) == (VALUES, {"x": [3]})


def test_passes_come_as_text_or_objects(model):
    for passes in (
        "unroll-loops,inline-ifs",
        UnrollLoops(),
        [UnrollLoops(max_trips=64), InlineIfs()],
        iter([UnrollLoops()]),
    ):
        assert "Loop" not in kinds(sl.rewrite(model, passes, values=VALUES))
    assert "Loop" in kinds(sl.rewrite(model, UnrollLoops(max_trips=1), values=VALUES))
    assert "Loop" in kinds(sl.rewrite(model, values=VALUES, max_trips=1))
    assert sl.Pipeline([InlineIfs()]).run(model).changed is False


def test_unknown_passes_and_options_are_errors(model):
    for arguments in (("no-such-pass",), ("unroll-loops{depth=1}",), ("",), ("a b",)):
        with pytest.raises(sl.Error):
            sl.rewrite(model, *arguments)
    with pytest.raises(sl.Error, match="'depth'"):
        sl.rewrite(model, depth=3)


def test_shapes_are_written_into_the_signature(model):
    found = sl.rewrite(model, shapes={"x": (3,)})
    assert found.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3
    assert found.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 3


def test_a_verified_rewrite_gives_the_same_numbers(model):
    found = sl.rewrite(model, values=VALUES, verify=True, strict=True)
    (y,) = sl.reference.run(found, {"x": np.float32([1, -1])})
    np.testing.assert_array_equal(y, [4, 0])
    assert sl.verify(model, found, bound={"n": np.int64(2), "c": np.bool_(True)}).equal


def test_strict_raises_for_what_stays(model):
    with pytest.raises(sl.Error, match=r"Loop 'h': kept, .* --set n="):
        sl.rewrite(model, strict=True)


def test_frozen_initializers_are_constants():
    text = TEXT.replace("(float[N] y) {", "(float[N] y) <int64 n = {2}, bool c = {1}> {", 1)
    model = onnx.parser.parse_model(text)
    assert "Loop" in kinds(sl.rewrite(model))
    found = sl.rewrite(model, freeze_initializers=True, verify=True, strict=True)
    assert kinds(found) == ["Add", "Add", "Relu"]
    assert kinds(sl.rewrite(model, values={"n": 1}, freeze_initializers=True)) == ["Add", "Relu"]


def test_a_broken_pass_is_located(model):
    passes = [UnrollLoops(), InlineIfs(), Negating()]
    with pytest.raises(sl.MismatchError, match="the pass negating changed the outputs") as caught:
        sl.rewrite(model, passes, values=VALUES, verify=True)
    assert caught.value.culprit == "negating"
    assert caught.value.verdict.status == "different"
    assert kinds(sl.rewrite(model, passes, values=VALUES, unproved="allow"))[-1] == "Neg"


def test_a_result_without_comparison_says_so():
    text = '<ir_version: 8, opset_import: ["" : 17]> g () => (float[2] y)'
    random = onnx.parser.parse_model(text + " { y = RandomNormal <shape = [2]> () }")
    with pytest.warns(sl.NotVerifiedWarning, match="not verified"):
        sl.rewrite(random, verify={"prove": False})
    with pytest.raises(sl.NotVerifiedError, match="not verified"):
        sl.rewrite(random, verify={"prove": False}, strict=True)
    sl.rewrite(random, verify=True, strict=True)  # the same draws: that is proved


def test_the_verification_takes_options(model):
    with pytest.raises(sl.Error, match="no runtime 'cuda'"):
        sl.rewrite(model, verify={"runtime": "cuda"})
    feeds = {"x": np.float32([1, 2]), "n": np.int64(1), "c": np.bool_(True)}
    sl.rewrite(model, verify={"feeds": feeds, "runtime": "reference"})


@table(
    ({"shapes": {"x": 5}}, r"shapes: 'x' .*\(1, None, 512\), not 5"),
    ({"shapes": {"x": "N"}}, "shapes: 'x' .*, not 'N'"),
    ({"shapes": 5}, "shapes .*, not 5"),
    ({"values": 5}, "values .*, not 5"),
    ({"values": [("n", 2)]}, "values .*, not "),
    ({"passes": 5}, "passes .*, not 5"),
    ({"passes": [5]}, "passes .*, not 5"),
    ({"passes": ["inline-ifs"]}, "passes: .*, not 'inline-ifs'; write"),
    ({"passes": [InlineIfs]}, "passes .*, not <class"),
    ({"passes": InlineIfs(), "max_trips": 3}, "'max_trips'.* on the pass itself"),
)
def test_arguments_of_the_wrong_kind_are_named(arguments, words, model):
    for function in (sl.rewrite, sl.inspect):
        with pytest.raises(sl.Error, match=words):
            function(model, **arguments)


@table(
    ({"bogus": 1}, "verify has no option 'bogus'; its options: 'prove', 'feeds', .*'timeout'"),
    (5, "verify must be 'proof', True, False or .*, not 5"),
    ({"samples": "many"}, "samples is 'many'"),
)
def test_options_of_the_verification_are_checked(verify, words, model):
    for function, further in ((sl.rewrite, {}), (sl.convert_version, {"target_opset": 18})):
        with pytest.raises(sl.Error, match=words):
            function(model, verify=verify, **further)


@pytest.mark.parametrize("source", ["none.onnx", b"no model", 5, None])
def test_bad_input_is_an_error_of_ours(source):
    with pytest.raises(sl.Error):
        sl.rewrite(source)
    with pytest.raises(sl.Error):
        sl.inspect(source)


def test_a_model_without_a_graph_is_refused_by_all(model):
    empty, words = onnx.ModelProto(), "not an ONNX model: it holds no graph"
    for call in (
        lambda: sl.rewrite(empty),
        lambda: sl.inspect(empty),
        lambda: sl.verify(empty, empty),
        lambda: sl.verify(model, empty),
        lambda: sl.reference.run(empty, {}),
    ):
        with pytest.raises(sl.Error, match=words):
            call()


NAMED_SIZES = """g (float[N,T] x, float[T] w) => (float[N,T] y) <int64 axis = {1}, int64 no = {0}> {
    shape = Shape (x) steps = Gather (shape, axis) iterations = Squeeze (steps)
    y = Loop (iterations, , x) <body = b (int64 i, bool c, float[N,T] a) => (bool d, float[N,T] r) {
        d = Identity (c)  s = Sin (a)  r = Add (s, w) }> }"""
WITH_DIMS = {
    "rewrite": sl.rewrite,
    "convert_version": lambda m, **given: sl.convert_version(m, 18, **given),
    "transform": lambda m, **given: sl.transform(m, verify=False, **given).model,
    "a pass of onnx_ir": lambda m, **given: onnx_ir.to_proto(
        sl.interop.as_onnx_ir_pass(**given)(onnx_ir.from_proto(m)).model
    ),
}


@pytest.mark.parametrize("call", WITH_DIMS)
def test_named_dimensions_are_fixed_by_every_call(call):
    model = as_model(NAMED_SIZES)
    made = WITH_DIMS[call](model, dims={"T": 3}, shapes={"x": (2, None)})
    sizes = [[d.dim_value for d in i.type.tensor_type.shape.dim] for i in made.graph.input]
    assert sizes == [[2, 3], [3]]
    assert "Loop" not in {n.op_type for n in made.graph.node} or call == "convert_version"
    for wrong, words in (
        ({"S": 3}, "no input has a dimension named 'S'; there are 'N', 'T'"),
        ({"t": 3}, "did you mean 'T'?"),
    ):
        with pytest.raises(sl.BindingError, match=re.escape(words)):
            WITH_DIMS[call](model, dims=wrong)


def test_inspection_and_samples_use_named_dimensions():
    model = as_model(NAMED_SIZES)
    assert sl.inspect(model, dims={"T": 3}).straight_line
    wrong = as_model(NAMED_SIZES.replace("Sin", "Cos"))
    verdict = sl.verify(model, wrong, dims={"T": 5}, sample_shapes={"x": (2, None)})
    assert verdict.feeds["x"].shape == (2, 5) and verdict.feeds["w"].shape == (5,)
    for call in (sl.inspect, lambda m, **given: sl.verify(m, m, **given)):
        with pytest.raises(sl.BindingError, match="no input has a dimension named 'S'"):
            call(model, dims={"S": 3})


@pytest.mark.parametrize(("wrong", "meant"), [("dim", "dims"), ("shape", "shapes")])
def test_a_keyword_that_is_mistyped_is_told_with_the_one_that_was_meant(wrong, meant):
    model = as_model(NAMED_SIZES)
    for call in (sl.rewrite, sl.transform, sl.inspect, sl.interop.as_onnx_ir_pass):
        given = (model,) if call is not sl.interop.as_onnx_ir_pass else ()
        with pytest.raises(
            sl.PassOptionError, match=f"no keyword '{wrong}'; did you mean '{meant}"
        ):
            call(*given, **{wrong: {}})
    own = inspect.signature(sl.transform).parameters.values()
    assert {one.name for one in own if one.kind is one.KEYWORD_ONLY} == set(KEYWORDS)


@table(
    ({"q": (1,)}, "no input 'q' is drawn; those that are: 'x', 'w'"),
    ({"x": (1,)}, "input 'x' has rank 2, not 1"),
    ({"w": (2.5,)}, "input 'w': 2.5 is not a dimension"),
)
def test_shapes_of_samples_that_do_not_fit_are_told_before_anything_is_done(
    shapes, words, monkeypatch
):
    model = as_model(NAMED_SIZES)
    with pytest.raises(sl.SampleShapeError, match=words):
        sl.verify(model, model, sample_shapes=shapes)  # which a proof would decide
    monkeypatch.setattr("straightline.driver.calls.run", lambda *_, **__: pytest.fail("ran"))
    for call in (sl.rewrite, sl.transform, lambda m, **given: sl.convert_version(m, 18, **given)):
        with pytest.raises(sl.SampleShapeError, match=words):
            call(model, verify={"sample_shapes": shapes})


def test_bound_inputs_are_not_drawn():
    model = as_model(NAMED_SIZES)
    with pytest.raises(sl.SampleShapeError, match="input 'w' is set; no values are drawn for it"):
        sl.verify(model, model, sample_shapes={"w": (2,)}, bound={"w": np.zeros(2, np.float32)})
    feeds = {"x": np.zeros((1, 2), np.float32), "w": np.zeros(2, np.float32)}
    for drawn in ({"sample_shapes": {"x": (1, 2)}}, {"dims": {"T": 2}}):
        with pytest.raises(sl.SampleShapeError, match="inputs were passed, so none is drawn"):
            sl.verify(model, model, feeds=feeds, **drawn)


# The proof by default

RANDOM_MAP = """g (float[N] x) => (float[N] y) { r = Relu (x)  y = Softplus (r) }"""


@pytest.fixture
def never_run(monkeypatch):
    """Fails where a runtime is asked to run a model."""
    from straightline.runtimes.workers import Worker

    monkeypatch.setattr(Worker, "run", lambda *_, **__: pytest.fail("a sample was run"))


WAYS = pytest.mark.parametrize(
    "made",
    [lambda m, passes, **how: sl.transform(m, passes, values=VALUES, **how).model, lambda m, passes,
     **how: sl.rewrite(m, passes, values=VALUES, **how), lambda m, passes,
     **how: (sl.Pipeline(passes).run(sl.rewrite(m, (), values=VALUES), **how).model)],
)  # fmt: skip


@WAYS
def test_an_invalid_rewrite_is_withheld_and_the_pass_is_named(model, made, never_run):
    passes = [UnrollLoops(), Invalidating(unknown=False)]
    words = r"the pass invalidating .* when it rewrote Relu .* not a valid model: .*perm"
    with pytest.raises(sl.MismatchError, match=words):
        made(model, passes)
    assert "perm" in str(made(model, passes, verify=False))


@WAYS
@pytest.mark.parametrize("verify", ["proof", True, False])
def test_a_node_that_its_opset_lacks_is_never_given_back(model, made, verify):
    passes = [UnrollLoops(), Invalidating()]
    with pytest.raises(sl.EmissionError, match=r"emitted Upsample '.*r', which is not an operator"):
        made(model, passes, verify=verify)


def test_a_rewrite_without_a_proof_is_returned_where_that_is_allowed(never_run):
    model = as_model(RANDOM_MAP)
    for outcome in (
        sl.transform(model, [Negating()], unproved="allow"),
        sl.Pipeline([Negating()]).run(model, unproved="allow"),
    ):
        assert kinds(outcome.model) == ["Neg", "Softplus"]
        assert outcome.verdict.status == "open" and not outcome.verdict
        assert outcome.verdict.reason.startswith("not proved, and no sample was run: output 'y'")


def test_samples_refute_by_default_and_where_they_are_asked_for():
    model = as_model(RANDOM_MAP)
    for verify in ("proof", True, {"samples": 1}):
        with pytest.raises(sl.MismatchError, match="the pass negating"):
            sl.Pipeline([Negating()]).run(model, verify=verify)


def test_a_rewrite_is_proved_by_default(model, never_run):
    assert sl.transform(model, values=VALUES).verdict.proved
    assert sl.transform(model, values=VALUES, opset=13).verdict.proved
    assert sl.passes.straighten().run(model).verdict.proved
    assert sl.passes.straighten().run(model, verify=False).verdict is None
    assert sl.transform(model, values=VALUES, verify=False).verdict is None


def test_values_and_shapes_that_the_caller_fixed_are_conditions_of_the_claim(model):
    known = {"shapes": {"x": (3,)}, "values": VALUES}
    fixed = tuple([f"input '{name}' is {value}" for name, value in sorted(VALUES.items())])
    verdict = sl.transform(model, **known).verdict
    assert verdict.proof.assumptions == (*fixed, "input 'x' is float[3]")
    assert verdict.reason == f"proved for every input, if {' and '.join(verdict.proof.assumptions)}"
    flat = sl.rewrite(model, **known)
    proof = sl.prove(model, flat, bound=VALUES, shapes={"x": (3,)})
    assert proof.assumptions == verdict.proof.assumptions
    proof = sl.prove(model, flat, bound=VALUES)
    assert proof.assumptions == (*fixed, "input 'x' is float[3], as the rewrite declares it")


def test_an_original_that_the_checker_refuses_is_no_fault_of_the_rewrite(never_run):
    text = TEXT.replace("(float[N] y) {", "(float[N, N] y) {")  # a declaration that is false
    outcome = sl.transform(onnx.parser.parse_model(text), values=VALUES)
    assert outcome.verdict.status in ("equal", "open")


# One transformation: what is demanded, what is told on the way, and how it is broken off

RANDOM = """g () => (float[2] y) {
    y = RandomNormal <shape = [2]> () }"""
WITH_RUNS = {"runtime": "reference", "samples": 1}


@pytest.fixture
def loop_and_if():
    return onnx.parser.parse_model(LOOP_AND_IF)


def test_selects_stand_for_their_pipeline(loop_and_if):
    outcome = sl.transform(loop_and_if, selects=True, values={"n": 2})
    assert not outcome.left
    assert outcome.model == sl.rewrite(loop_and_if, "selects", values={"n": 2})
    with pytest.raises(sl.PassOptionError, match="use it alone"):
        sl.transform(loop_and_if, "inline-ifs", selects=True)


def test_short_forms_give_the_same(loop_and_if):
    known = {"values": {"n": 2}, "shapes": {"x": (2,)}}
    assert sl.rewrite(loop_and_if, **known) == sl.transform(loop_and_if, **known).model
    converted = sl.transform(loop_and_if, (), opset=13, **known).model
    assert sl.convert_version(loop_and_if, 13, **known) == converted


def test_options_of_passes_are_taken(loop_and_if):
    outcome = sl.transform(loop_and_if, "unroll-loops", max_trips=1, values={"n": 2}, hints=False)
    assert [remark.op_type for remark in outcome.left] == ["Loop", "If"]
    assert outcome.hints == ()
    assert not outcome.changed


def test_a_maximum_that_is_vouched_for(loop_and_if):
    assert not sl.transform(loop_and_if, selects=True, assume_max={"h": 3}, verify=False).left


def test_the_passes_say_why_a_loop_that_the_conversion_made_stays():
    loop_and_if = onnx.parser.parse_model("""<ir_version: 3, opset_import: ["" : 8]>
    g (float[1,T,2] x, float[1,2] s) => (float[1,2] l) {
        l = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r) {
            q = Sin (a) r = Add (q, e) }> (, s, x) }""")
    outcome = sl.transform(loop_and_if, opset=13, verify=False)
    (kept,) = outcome.left
    assert kept.reason.startswith("its length depends on the shape of input 'x'")
    (hint,) = outcome.hints
    assert hint.options == ("--shape", "x=1,4,2")
    assert not sl.transform(loop_and_if, opset=13, verify=False, **hint.arguments).left


def test_strict_raises_before_anything_is_compared(loop_and_if, monkeypatch):
    monkeypatch.setattr("straightline.verification.compare", lambda *_, **__: pytest.fail("ran"))
    with pytest.raises(sl.StrictError):
        sl.transform(loop_and_if, strict=True)


def test_a_wrong_pass_is_named(loop_and_if):
    for opset in (None, 13):
        with pytest.raises(sl.MismatchError, match="the pass negating"):
            passes = [UnrollLoops(), Negating()]
            sl.transform(loop_and_if, passes, values={"n": 2}, opset=opset, verify=True)


def test_a_result_without_comparison_warns_the_caller():
    loop_and_if = as_model(RANDOM)
    calls = (
        lambda: sl.transform(loop_and_if, verify={"prove": False}),
        lambda: sl.rewrite(loop_and_if, verify={"prove": False}),
        lambda: sl.convert_version(loop_and_if, 13, verify={"prove": False}),
    )
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        (warning,) = [w for w in caught if w.category is sl.NotVerifiedWarning]
        assert warning.filename == __file__
    with pytest.raises(sl.NotVerifiedError, match=r"^the result was not verified"):
        sl.transform(loop_and_if, verify={"prove": False}, strict=True)


# Progress


def told(loop_and_if, **options):
    found = []
    sl.transform(loop_and_if, on_progress=lambda *words: found.append(words), **options)
    return found


def test_long_work_tells_what_it_does(loop_and_if):
    found = told(loop_and_if, opset=13, verify=WITH_RUNS)
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
def test_an_error_of_the_callback_ends_the_work(loop_and_if, kind, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(loop_and_if, path)
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
    assert onnx.load(path) == loop_and_if


# Logging


def test_passes_are_logged_a_line_each(loop_and_if, caplog):
    with caplog.at_level(logging.INFO, "straightline"):
        sl.transform(loop_and_if, [UnrollLoops(), InlineIfs()], values={"n": 2}, opset=13)
    lines = [record.getMessage() for record in caplog.records]
    assert all(record.name.startswith("straightline.") for record in caplog.records)
    assert [line for line in lines if line.startswith("unroll-loops changed the model in ")]
    assert [line for line in lines if line.startswith("inline-ifs changed nothing in ")]
    runs = [line for line in lines if line.startswith("unroll-loops")]
    assert len(runs) == 2 and "changed nothing" in runs[1]  # before and after the conversion
    assert "converting model 'g' from opset 17 to 13" in lines
    assert any(line.startswith("the proof is proved") for line in lines)


def test_trials_are_logged_in_detail(loop_and_if, caplog):
    with caplog.at_level(logging.DEBUG, "straightline"):
        sl.transform(loop_and_if, verify=WITH_RUNS)
    lines = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert (logging.DEBUG, "trying --set n=4 for the remaining control flow") in lines
    assert any(level == logging.DEBUG and "reference: " in line for level, line in lines)
    tried = lines.index((logging.DEBUG, "trying --set n=4 for the remaining control flow"))
    rounds = [level for level, line in lines[tried:] if line.startswith("unroll-loops")]
    assert rounds and {*rounds} == {logging.DEBUG}


def test_silence_by_default(loop_and_if, capfd):
    sl.transform(loop_and_if, values={"n": 2})
    assert capfd.readouterr() == ("", "")


def test_the_message_that_is_compared_is_returned(model, monkeypatch):
    """One message serves the proof and the caller, as in a rewrite without a proof."""
    messages = []
    original = model_source.serialize

    def recorded(*args):
        messages.append(original(*args))
        return messages[-1]

    monkeypatch.setattr(model_source, "serialize", recorded)
    result = sl.rewrite(model, values=VALUES)
    assert [message is result for message in messages] == [True]
    assert result == sl.rewrite(model, values=VALUES, verify=False)
    messages.clear()
    converted = sl.convert_version(result, 18)
    assert not messages  # it copies the graph, of which no node changes
    assert converted == sl.convert_version(result, 18, verify=False)
