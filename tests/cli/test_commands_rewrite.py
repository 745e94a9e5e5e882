"""`rewrite`: what it writes and tells, and what it does where outputs change or stay unchecked."""

import json

import onnx
import pytest
import straightline as sl
from commands import assert_refused, succeeded, write
from straightline.passes import PASSES, UnrollLoops
from tables import table
from texts import DECIDED_BY_INPUTS, LOOP, NODE, SEQUENCE
from wrong_passes import Breaking, Selecting


def test_rewrite_writes_a_straight_line_model_and_says_what_it_did(folder, run):
    result = succeeded(run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx"))
    assert "unrolled, 3 iterations" in result.output
    assert "equal" in result.output
    written = onnx.load("out.onnx")
    onnx.checker.check_model(written, full_check=True)
    assert [node.op_type for node in written.graph.node] == ["Add"] * 3


def test_rewrite_prints_json_for_scripts(folder, run):
    found = json.loads(run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx", "--json").stdout)
    assert found["written"] == "out.onnx"
    assert found["nodes"] == {"before": 4, "after": 3}
    assert found["left"] == []
    assert found["verification"]["status"] == "equal"
    assert found["seconds"] > 0 and found["verification"]["seconds"] > 0
    assert [r["action"] for r in found["remarks"]] == ["rewritten"]


def test_inputs_can_be_set_and_shapes_fixed(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    fixed = ("--set", "n=2", "--set", "c=false", "--shape", "x=3,?")
    succeeded(run("rewrite", "in.onnx", "out.onnx", *fixed, "--require-straight-line"))
    written = sl.ir.load("out.onnx")
    assert [value.name for value in written.graph.inputs] == ["x", "z"]
    assert [value.shape for value in written.graph.inputs] == [(3, 4), (3,)]
    assert [node.op_type for node in written.graph.nodes()] == ["Neg", "Neg"]
    assert run("verify", "in.onnx", "out.onnx", *fixed[:4]).exit_code == 0


def test_control_flow_left_is_named_and_nothing_written(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    result = run("rewrite", "in.onnx", "out.onnx", "--require-straight-line")
    assert_refused(result, 4, "2 places")
    assert "--set n=" in result.stdout and "--set c=" in result.stdout
    assert not (folder / "out.onnx").exists()


def test_control_flow_left_is_written_and_reported(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    result = succeeded(run("rewrite", "in.onnx", "out.onnx", "--no-verify"))
    assert "control flow left: 2" in result.output
    assert (folder / "out.onnx").exists()


def test_strict_refuses_what_stays(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    assert_refused(run("rewrite", "in.onnx", "out.onnx", "--strict"), 1, "Loop 'y'", "--set n=")
    assert not (folder / "out.onnx").exists()


def test_inspect_shows_what_decides_alone_unless_asked(folder, run):
    recurrence = """g (float[2] x, int64 n) => (float[2] y) {
        yes = Constant <value = bool {1}> ()
        [l] y = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
            d = Identity (c) r = Relu (s) t = Add (r, r) }> }"""
    source = write(folder / "in.onnx", recurrence)
    short, full, document = (
        " ".join(run("inspect", source, *more).output.split())  # tables break lines anywhere
        for more in ((), ("-v",), ("--json",))
    )
    for output in (short, full, document):
        assert "trip count depends on input 'n'" in output
    assert "it carries" not in short and "it carries" in full and "it carries" in document


def test_passes_and_budgets_can_be_chosen(folder, run):
    write(folder / "in.onnx", LOOP)
    for options in (("--max-trips", 2), ("--max-nodes", 2), ("--passes", "inline-ifs")):
        assert run("rewrite", "in.onnx", "out.onnx", *options, "--no-verify").exit_code == 0
        assert "Loop" in [node.op_type for node in onnx.load("out.onnx").graph.node], options


SUM = """g (float[N, 3] x) => (float[3] y) <float[3] zeros = {0, 0, 0}> {
    y = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e) => (float[3] t) {
        t = Add (s, e) }> (zeros, x) }"""


@pytest.mark.parametrize("option", [("--target", "onnxruntime"), ("--passes", "accelerate")])
def test_a_model_can_be_made_fast(folder, run, option):
    source = write(folder / "in.onnx", SUM)
    succeeded(run("rewrite", source, "out.onnx", *option))
    assert [node.op_type for node in onnx.load("out.onnx").graph.node] == ["ReduceSum"]
    assert "ReduceSum" in run("inspect", source, *option, "--json").output


def test_a_target_that_is_none_is_refused_with_those_there_are(folder, run):
    result = run("rewrite", write(folder / "in.onnx", SUM), "out.onnx", "--target", "tensorr")
    assert_refused(result, 2, "'tensorr'; did you mean 'tensorrt'?", "'onnxruntime'")
    assert not (folder / "out.onnx").exists()


def test_overridable_initializers_are_frozen_on_request(folder, run):
    text = LOOP.replace("(float[2] x)", "(float[2] x, int64 iterations)", 1)
    text = text.replace("iterations = Constant <value_int = 3> ()", "")
    text = text.replace("(float[2] y) {", "(float[2] y) <int64 iterations = {3}> {", 1)
    write(folder / "in.onnx", text)
    result = run("rewrite", "in.onnx", "out.onnx", "--require-straight-line")
    assert result.exit_code == 4
    assert "freeze-initializers" in result.stdout
    options = ("--freeze-initializers", "--require-straight-line")
    assert run("rewrite", "in.onnx", "out.onnx", *options).exit_code == 0


@pytest.fixture
def broken_pass(monkeypatch):
    kinds = (*PASSES, Breaking)
    monkeypatch.setattr("straightline.passes.manager.registry.PASSES", kinds)
    return "unroll-loops,breaking,eliminate-dead-nodes"


def test_a_pass_that_breaks_the_outputs_is_named_and_nothing_written(folder, run, broken_pass):
    write(folder / "in.onnx", LOOP)
    result = run("rewrite", "in.onnx", "out.onnx", "--passes", broken_pass)
    assert_refused(
        result, 3, "the pass breaking changed the outputs", "Add 'e_0'", "differs in 'y'"
    )
    assert list(folder.iterdir()) == [folder / "in.onnx"]
    result = run("rewrite", "in.onnx", "out.onnx", "--passes", broken_pass, "--json")
    found = json.loads(result.stdout)
    assert (found["culprit"], found["written"], found["exit"]) == ("breaking", None, 3)
    assert result.stderr == f"error: {found['error']}\n"
    assert found["verification"]["status"] == "different"


def test_a_broken_pass_is_undone_and_the_rest_written(folder, run, broken_pass, monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    write(folder / "in.onnx", LOOP)
    result = run("rewrite", "in.onnx", "out.onnx", "--passes", broken_pass)
    assert result.exit_code == 0, result.stderr
    warned = result.stderr.splitlines()
    assert len(warned) == 3
    assert all(line.startswith("warning: breaking changed the outputs when") for line in warned)
    assert ", for x=[" in warned[0] and "straightline reduce in.onnx smallest.onnx" in warned[0]
    assert [node.op_type for node in onnx.load("out.onnx").graph.node] == ["Add"] * 3
    found = json.loads(run("rewrite", "in.onnx", "o", "--passes", broken_pass, "--json").stdout)
    assert found["verification"]["proved"] and found["exit"] == 0
    assert [remark["code"] for remark in found["remarks"]].count("refuted-rewrite") == 3
    result = run("rewrite", "in.onnx", "o", "--passes", broken_pass, "--strict", "--force")
    assert_refused(result, 3, "the pass breaking changed the outputs")


def test_a_pass_that_raises_costs_a_warning(folder, run, monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    monkeypatch.setattr(UnrollLoops, "run", lambda *_: {}["y"])
    write(folder / "in.onnx", LOOP)
    result = succeeded(run("rewrite", "in.onnx", "out.onnx"))
    assert result.stderr.startswith(
        "warning: internal error in unroll-loops; the pass is left out; please report (KeyError:"
    )
    assert "Loop" in [node.op_type for node in onnx.load("out.onnx").graph.node]
    result = run("rewrite", "in.onnx", "other.onnx", "--strict")
    assert_refused(result, 1, "internal error in unroll-loops; please report")
    result = run("convert", "in.onnx", "other.onnx", "--opset", "18")
    assert result.exit_code == 0 and result.stderr == ""


@table(
    ("samples", "open, equal on 3 samples and 32 edge cases (output 'y': "),
    ("allow", "open: not proved, and no sample was run: output 'y': "),
    ("keep", "proved: equal for every input"),
)
def test_an_open_proof_is_treated_as_asked(choice, words, folder, run, monkeypatch):
    kinds = (*PASSES, Selecting)
    monkeypatch.setattr("straightline.passes.manager.registry.PASSES", kinds)
    write(folder / "in.onnx", "g (float[3] x) => (float[3] y) { y = Relu (x) }")
    result = run("rewrite", "in.onnx", "out.onnx", "--passes", "selecting", "--unproved", choice)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].startswith(words)
    kinds = [node.op_type for node in onnx.load("out.onnx").graph.node]
    assert kinds == (["Relu"] if choice == "keep" else ["Less", "Where"])
    for option in ("--no-prove", "--no-verify"):
        result = run("rewrite", "in.onnx", "o.onnx", "--unproved", "keep", option)
        assert_refused(result, 2, f"leave out {option}")


def test_an_existing_file_survives_a_refused_rewrite(folder, run, broken_pass):
    write(folder / "in.onnx", LOOP)
    mine = write(folder / "out.onnx", NODE % "y = Abs (x)").read_bytes()
    assert run("rewrite", "in.onnx", "out.onnx", "--passes", broken_pass).exit_code == 3
    assert (folder / "out.onnx").read_bytes() == mine


def test_a_rewrite_that_cannot_be_verified_is_written_with_a_warning(folder, run):
    write(folder / "in.onnx", "g () => (float[2] y) { y = RandomNormal <shape = [2]> () }")
    result = succeeded(run("rewrite", "in.onnx", "out.onnx", "--no-prove"))
    assert result.stderr.startswith("warning: not verified: ")
    assert (folder / "out.onnx").exists()
    strict = ("rewrite", "in.onnx", "new.onnx", "--no-prove", "--strict")
    assert_refused(run(*strict), 1, "not verified")
    assert not (folder / "new.onnx").exists()


def test_a_timeout_is_told_once_with_the_option_that_allows_more(folder, run):
    endless = """g (float[2] x, bool c) => (float[2] y) {
        go = Identity (c)
        y = Loop (, go, x) <body = b (int64 i, bool g, float[2] a) => (bool h, float[2] e) {
            h = Identity (g)
            e = Neg (a) }> }"""
    write(folder / "in.onnx", endless.replace("Identity (c)", "Not (c)"))
    options = ("--set", "c=false", "--timeout", "0.1", "--no-prove")
    result = succeeded(run("rewrite", "in.onnx", "out.onnx", *options))
    assert result.stderr.startswith("warning: not verified: ")
    assert "--timeout" in result.stderr
    result = run("verify", "in.onnx", "in.onnx", "--timeout", "0", "--runtime", "reference")
    assert_refused(result, 2, "--timeout 0: write a number, more than 0")
    assert run("convert", "in.onnx", "new.onnx", "--opset", "18", "--timeout", "30").exit_code == 0


def test_a_rewrite_and_a_conversion_in_one_go(folder, run):
    source = write(folder / "in.onnx", LOOP.replace("Add (a, a)", "Sin (a)"))
    result = succeeded(run("rewrite", source, "out.onnx", "--opset", "13"))
    written = onnx.load("out.onnx")
    onnx.checker.check_model(written, full_check=True)
    assert written.opset_import[0].version == 13
    assert [node.op_type for node in written.graph.node] == ["Sin"] * 3
    assert "opset 17 became 13; no node changed" in result.output and "proved" in result.output
    assert run("verify", source, "out.onnx").exit_code == 0
    (folder / "out.onnx").unlink()
    refused = run("rewrite", source, "out.onnx", "--opset", "6")
    assert_refused(refused, 2, "--opset 6: write a whole number, 7 or more")
    refused = run("rewrite", source, "out.onnx", "--opset", "99")
    assert_refused(refused, 2, "--opset 99: write a number from 7 to")
    write(folder / "sequence.onnx", SEQUENCE)
    result = run("rewrite", "sequence.onnx", "out.onnx", "--opset", "10")
    assert result.exit_code == 1 and "the lowest opset that it reaches is 11" in result.stderr
    assert not (folder / "out.onnx").exists()


RECURRENT = """g (float[T, 2, 4] x, float[2, 4] h0, float[4, 4] u, float[4] b) => (float[2, 4] h1) {
    h1 = Scan <num_scan_inputs = 1, body = f (float[2, 4] h, float[2, 4] e) => (float[2, 4] h2) {
        p = MatMul (e, u) q = MatMul (h, u) s = Add (p, q) t = Add (s, b) z = Sigmoid (t)
        r = Sigmoid (s) k = Mul (r, h) l = MatMul (k, u) m = Add (l, p) n = Tanh (m)
        d = Sub (h, n) v = Mul (z, d) h2 = Add (n, v) }> (h0, x) }"""


def test_cells_stay_where_nan_is_to_be_kept(folder, run):
    write(folder / "in.onnx", RECURRENT)
    told = run("rewrite", "in.onnx", "out.onnx", "--passes", "raise-recurrences").output
    assert "which onnxruntime may compute as a number where it is a NaN" in " ".join(told.split())
    assert [n.op_type for n in sl.ir.load("out.onnx").graph.nodes() if n.op_type == "GRU"]
    for more in (("--passes", "raise-recurrences"), ("--target", "onnxruntime"), ()):
        assert run("rewrite", "in.onnx", "kept.onnx", "--keep-nan", *more).exit_code == 0
        assert "GRU" not in {n.op_type for n in sl.ir.load("kept.onnx").graph.nodes()}
    assert run("inspect", "in.onnx", "--keep-nan").exit_code == 0
    assert run("rewrite", "in.onnx", "-o", "many", "--keep-nan").exit_code == 0


def test_simplify_is_rewrite_with_that_pipeline(folder, run):
    write(folder / "in.onnx", LOOP)
    succeeded(run("simplify", "in.onnx", "out.onnx", "--exactness", "bits"))
    assert len(onnx.load("out.onnx").graph.node) == 3
    assert_refused(
        run("simplify", "in.onnx", "o.onnx", "--exactness", "bit"), 2, "did you mean 'bits'?"
    )
