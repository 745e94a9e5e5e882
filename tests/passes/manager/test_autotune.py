import dataclasses
import random
from collections import Counter

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs, op_types
from loop_forms import loop_of_forms
from random_loops import random_loop
from straightline import ir
from straightline.passes import LowerSequences, Pipeline, accelerate, parse_pipeline
from straightline.passes.costs.table import cost_table
from straightline.passes.manager import autotune
from straightline.passes.manager.autotune import Accelerate, alternatives
from straightline.passes.sequences import lower_sequences
from straightline.passes.utils import budget
from tables import table

ROWS = """g (float[N, 3] x) => (float[N, 3] y) <int64 zero = {0}, bool yes = {1}> {
    sizes = Shape (x) n = Gather (sizes, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {
        c2 = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
RECURRENCE = """g (float[3] x, int64 n) => (float[3] y) <bool yes = {1}, int64 many = {%s}> {
    y = Loop (%s, yes, x) <body = b (int64 i, bool c, float[3] a) => (bool c2, float[3] r) {
        c2 = Identity (c) s = Sin (a) t = Cos (s) u = Mul (s, t) v = Add (u, a) r = Tanh (v) }> }"""
SUM = """g (float[N, 3] x) => (float[3] y) <float[3] zeros = {0, 0, 0}> {
    y = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e) => (float[3] t) {
        t = Add (s, e) }> (zeros, x) }"""


PAIRS = """g (float[N, D] x, float[M, D] w) => (float[N] y) <bool yes = {1}, int64 zero = {0}> {
    s = Shape (x) n = Gather (s, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
        c2 = Identity (c) e = Gather (x, i) d = Sub (w, e) u = Mul (d, d)
        r = ReduceMax <keepdims = 0> (u) }> }"""


def numbers(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("exactness", ["bits", "reals"])
def test_the_result_is_simplified(exactness):
    text = """g (float[N, 2] x) => (float[N, 2] y)
        <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {5, 6}> {
        n = Neg (x) m = Neg (n) t = MatMul (m, w) y = Add (t, b) }"""
    result = sl.rewrite(as_model(text), "accelerate", exactness=exactness)
    assert op_types(result) == (["Gemm"] if exactness == "reals" else ["MatMul", "Add"])


@pytest.mark.parametrize("n", [0, 1, 6])
def test_by_name(n):
    model = as_model(ROWS)
    result = sl.rewrite(model, "accelerate")
    assert op_types(result) == ["Exp"]
    assert_equal_outputs(model, result, {"x": numbers(n, 3)})


def test_among_other_passes():
    pipeline = parse_pipeline("infer-shapes,accelerate")
    assert str(pipeline) == "infer-shapes,accelerate"
    assert op_types(pipeline.run(as_model(ROWS)).model) == ["Exp"]


def test_options_go_to_the_passes_in_it():
    (pass_,) = accelerate(max_trips=3).passes
    limits = {
        getattr(inner, "max_trips", 3)
        for stages in pass_.alternatives
        for stage in stages
        for inner in getattr(stage, "passes", ())
    }
    assert limits == {3}
    with pytest.raises(sl.Error, match="no pass of the pipeline has an option 'max_trip'"):
        parse_pipeline("accelerate", max_trip=3)
    with pytest.raises(sl.Error, match="no pass of the pipeline has an option 'max_trip'"):
        parse_pipeline("accelerate{max_trip=3}")


@pytest.mark.sample(2)
@table(
    ("load", 1, False),
    ("load", 4, True),
    ("balanced", 4, True),
    ("run", 4, False),
    ("run", 2000, True),
)
def test_copies_are_made_where_the_goal_allows_their_load(goal, iterations, kept):
    text = RECURRENCE % (iterations, "many")
    assert (
        "Tanh" not in op_types(sl.rewrite(as_model(text), "accelerate", optimize_for=goal))
    ) == kept
    assert "Tanh" in op_types(sl.rewrite(as_model(text)))


def test_a_loop_of_many_iterations_is_a_scan():
    text = RECURRENCE % (2000, "many")
    assert op_types(sl.rewrite(as_model(text), "accelerate")) == ["Scan"]


def test_a_loop_that_may_make_few_iterations_stays():
    text = RECURRENCE % (100, "n")
    result = Pipeline(accelerate().passes).run(as_model(text))
    assert op_types(result.model) == ["Loop"]
    for n in (0, 1, 7):
        assert_equal_outputs(text, result.model, {"x": numbers(3), "n": np.array(n)})


@pytest.mark.parametrize("n", [0, 1, 6])
def test_a_sum_is_one_node(n):
    result = sl.rewrite(as_model(SUM), "accelerate")
    assert op_types(result) == ["ReduceSum"]
    feed = {"x": numbers(n, 3)}
    if n:  # onnxruntime fails on a Scan of none
        wanted = sl.reference.run(as_model(SUM), feed)[0]
        np.testing.assert_allclose(sl.reference.run(result, feed)[0], wanted, rtol=1e-6)
    else:
        np.testing.assert_array_equal(sl.reference.run(result, feed)[0], np.zeros(3, np.float32))


def test_fast_models_are_left_alone():
    text = "g (float[3] x) => (float[3] y) { a = Exp (x) y = Neg (a) }"
    assert not accelerate().run(as_model(text)).changed


def test_known_sizes_do_not_count_against_a_smaller_form():
    """Sizes after the If are open, and known without it: its prediction is the shorter one."""
    text = """g (float[N, K] x) => (float[N, N, N] z) <bool yes = {1}, int64[1] a = {0}> {
        y = If (yes) <then_branch = t () => (t0) { t0 = Exp (x) },
            else_branch = e () => (e0) { e1 = Unsqueeze (x, a) e0 = Exp (e1) }>
        f = Transpose <perm = [1, 0]> (y) p = MatMul (y, f) u = Unsqueeze (p, a) w = Tanh (u)
        k = Unsqueeze (p, b) z = Sub (w, k) }""".replace("{0}>", "{0}, int64[1] b = {1}>")
    before = as_model(text)
    result = sl.rewrite(before, "accelerate", verify=False)
    assert "If" not in op_types(result)
    assert_equal_outputs(before, result, {"x": numbers(3, 2)})


@pytest.mark.sample(0)
def test_slower_loading_is_logged(caplog):
    """A running maximum takes many steps of doubling distance."""
    caplog.set_level("INFO", "straightline.passes.manager.autotune")
    text = """g (float[1000, 4] x, float[4] low) => (float[1000, 4] y) {
        last, y = Scan <num_scan_inputs = 1, body = b (float[4] s, float[4] e)
            => (float[4] t, float[4] r) { t = Max (s, e) r = Identity (t) }> (low, x) }"""
    result = accelerate(optimize_for="load").run(as_model(text))
    assert op_types(result.model) == ["Scan"]
    assert not any("predicted to take longer" in remark.reason for remark in result.kept)
    (told,) = [remark for remark in result.kept if remark.pass_name == "accelerate"]
    assert "times as long to load; choose --optimize-for run (" in told.reason
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("accelerate: the original, a run takes ")
    assert any("; raise-recurrences; " in line for line in lines)
    assert op_types(accelerate().run(as_model(text)).model) != ["Scan"]


def test_memory_is_the_obstacle_to_a_faster_form():
    text = ROWS.replace(
        "r = Exp (e)", "d = Sub (x, e) u = Abs (d) r = ReduceMax <keepdims=0> (u, k0)"
    )
    text = f'<ir_version: 8, opset_import: ["" : 18]> {text}'.replace(
        "{0},", "{0}, int64[1] k0 = {0},"
    )
    result = accelerate(max_run_memory=1).run(onnx.parser.parse_model(text))
    (loop,) = {remark.path for remark in result.kept}
    reasons = [remark.reason for remark in result.kept if remark.path == loop]
    assert any("allow it with --max-run-memory 0" in reason for reason in reasons)
    assert not any("predicted to take longer" in reason for reason in reasons)


def test_the_obstacle_to_all_iterations_at_once():
    """A loop without states is no recurrence, which says nothing."""
    text = ROWS.replace("{0},", "{0}, int64 one = {1}, int64[1] k0 = {0},").replace(
        "r = Exp (e)",
        "j = Add (i, one) u = Unsqueeze (j, k0) v = Slice (x, k0, u, k0) t = Transpose (v)"
        " r = MatMul (t, v)",
    )
    text = text.replace("N, 3] y", "N, 3, 3] y").replace("3] r", "3, 3] r")
    result = sl.transform(as_model(text), "accelerate", verify=False)
    assert any("it holds Gemm 'y/r'" in remark.reason for remark in result.remarks)


def test_a_second_run_changes_nothing():
    for text in (ROWS, RECURRENCE % (2000, "many"), RECURRENCE % (2, "many"), SUM):
        model = ir.load(as_model(text))
        accelerate().apply(model)
        assert not accelerate().apply(model).changed


def test_the_model_given_is_not_changed():
    model = as_model(ROWS)
    before = model.SerializeToString(deterministic=True)
    sl.rewrite(model, "accelerate")
    assert model.SerializeToString(deterministic=True) == before


def test_every_alternative_is_another_one():
    for goal in ("run", "balanced", "load"):
        made = [str(stages) for stages in alternatives(goal)]
        assert len(set(made)) == len(made)
    assert isinstance(accelerate().passes[0], Accelerate)


def test_inspect_and_verify_know_it():
    found = sl.inspect(as_model(ROWS), "accelerate")
    assert [construct.outcome for construct in found.constructs] == ["rewritten"]
    onnx.checker.check_model(sl.rewrite(as_model(SUM), "accelerate", verify=True), full_check=True)


def tried_in(monkeypatch, text):
    """How many trials and copies there are."""
    counts = Counter()
    for module, name in ((autotune, "try_passes"), (budget, "copy_model")):
        monkeypatch.setattr(module, name, counting(getattr(module, name), counts, name))
    sl.rewrite(as_model(text), "accelerate")
    monkeypatch.undo()
    return counts["try_passes"], counts["copy_model"]


def counting(function, counts, name):
    """A function that counts its calls."""

    def counted(*args, **options):
        counts[name] += 1
        return function(*args, **options)

    return counted


def test_stages_that_differ_by_what_finds_nothing_to_do_are_tried_once(monkeypatch):
    """Without sequences it is the same whether they would be lowered, so less is tried."""
    lists = SUM.replace("t = Add (s, e)", "l = SequenceConstruct (s) m = SequenceAt (l, k)")
    lists = lists.replace("0}>", "0}, int64 k = {0}>").replace("}> (z", "t = Add (m, e) }> (z")
    assert 0 < tried_in(monkeypatch, SUM)[0] < tried_in(monkeypatch, lists)[0]


def test_a_copy_that_a_stage_leaves_as_it_was_serves_the_next_stage(monkeypatch):
    trials, copies = tried_in(monkeypatch, RECURRENCE % (9, "n"))
    assert 0 < 2 * copies < trials


def test_each_operator_of_sequences_is_one_that_is_worked_on():
    assert set(LowerSequences.works_on) == set(lower_sequences._RULES) - {"Identity"}


def test_costs_of_a_calibration_decide(tmp_path):
    """Where nodes cost nothing to load, copies of a loop are as good as the loop."""
    table = cost_table("onnxruntime")
    free = dataclasses.replace(table, load={**table.load, "node": 0.0, "constant": 0.0})
    (tmp_path / "free.toml").write_text(free.to_toml())
    text = as_model(RECURRENCE % (50, "many"))
    for costs, copied in (("onnxruntime", False), (str(tmp_path / "free.toml"), True)):
        result = sl.rewrite(text, "accelerate", optimize_for="load", costs=costs)
        assert ("Tanh" in op_types(result)) == copied
    with pytest.raises(sl.Error, match="there is no table 'other'"):
        sl.rewrite(text, "accelerate", costs="other")


def test_forms_are_compared_where_passes_heed_no_costs():
    assert op_types(sl.rewrite(as_model(ROWS), "accelerate", costs="none")) == ["Exp"]


def test_the_goal_is_an_option_of_accelerate_alone():
    model = as_model(SUM)
    with pytest.raises(sl.Error, match="no pass of the pipeline has an option 'optimize_for'"):
        sl.rewrite(model, optimize_for="run")
    with pytest.raises(sl.Error, match="optimize_for cannot be 'fast'"):
        sl.rewrite(model, "accelerate", optimize_for="fast")


@pytest.mark.parametrize("seed", [70030, 1, 2])
def test_a_smaller_body_is_rewritten_again(seed):
    """States that are one only after rules have made the body smaller."""
    once = sl.rewrite(random_loop(random.Random(seed)), "accelerate")
    assert sl.rewrite(once, "accelerate").SerializeToString() == once.SerializeToString()


@pytest.mark.sample(2)
@table((1077, "load"), (3437, "run"), (3749, "run"), (4392, "run"))
def test_random_forms_of_loops_are_final(seed, goal):
    """Recurrences beside writes, sizes of new values, and nodes that two branches compute."""
    model = loop_of_forms(random.Random(seed))
    once = sl.rewrite(model, "accelerate", optimize_for=goal, verify=False)
    again = sl.rewrite(once, "accelerate", optimize_for=goal, verify=False)
    assert again.SerializeToString() == once.SerializeToString()


@table(
    (PAIRS, {}, True),
    (PAIRS, {"max_run_memory": 0}, False),
    (PAIRS, {"shapes": {"x": (300, 64), "w": (300, 64)}}, True),
    (PAIRS, {"shapes": {"x": (30, 64), "w": (300, 64)}}, False),
    (PAIRS, {"shapes": {"x": (60, 64), "w": (300, 64)}, "max_run_memory": 6 << 20}, True),
    ids=["open", "no limit", "beyond a cache", "small", "limit"],
)
def test_memory_decides(text, options, has_loop):
    model = as_model(text)
    result = sl.rewrite(model, "accelerate", **options)
    assert ("Loop" in op_types(result)) == has_loop
    shapes = options.get("shapes", {"x": (70, 5), "w": (3, 5)})
    assert_equal_outputs(model, result, {name: numbers(*shape) for name, shape in shapes.items()})
    options.pop("shapes", None)
    again = sl.rewrite(result, "accelerate", **options)
    assert again.SerializeToString() == result.SerializeToString()


def test_more_memory_is_logged(caplog):
    caplog.set_level("INFO", "straightline.passes.manager.autotune")
    result = sl.transform(as_model(PAIRS), "accelerate", verify=False)
    (told,) = [remark for remark in result.remarks if remark.code == "form-takes-memory"]
    assert "D*M*N" in told.reason and "--max-run-memory 0 (max_run_memory= in Py" in told.reason
    assert " of memory" in caplog.records[0].getMessage()


def test_few_and_many_iterations_count_where_their_number_is_open():
    """Steps on matrices are slower than a loop for 64 rows, and far faster for 512."""
    text = """g (float[N, 3] x, float[3] s0, float[3] t0) => (float[3] s, float[3] t) {
        s, t = Scan <num_scan_inputs = 1, body = b (float[3] u, float[3] v, float[3] e)
            => (float[3] u2, float[3] v2) { n = Neg (e) p = Add (u, e) q = Add (v, n)
            u2 = Max (p, q) r = Add (u, n) v2 = Max (r, v) }> (s0, t0, x) }"""
    model = as_model(text)
    assert "Scan" not in op_types(sl.rewrite(model, "accelerate", verify=False))
    assert "Scan" in op_types(sl.rewrite(model, "accelerate", shapes={"x": (20, 3)}, verify=False))
