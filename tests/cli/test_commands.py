"""The command line: what it prints, what it writes, and the exit codes that scripts rely on."""

import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
import straightline as sl
from straightline.cli.commands import app
from straightline.passes import PASSES, Pass
from texts import HEADER, LOOP
from typer.testing import CliRunner

DECIDED_BY_INPUTS = """g (float[N, 4] x, int64 n, bool c, float[N] z) => (float[N, 4] y) {
    y = Loop (n, , x) <body = b (int64 i, bool g, float[N, 4] a) => (bool h, float[N, 4] e) {
        h = Identity (g)
        e = If (c) <
            then_branch = t () => (float[N, 4] r) { r = Relu (a) },
            else_branch = f () => (float[N, 4] s) { s = Neg (a) }
        >
    }>
}"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def write(path, text):
    onnx.save(onnx.parser.parse_model(HEADER + text), path)
    return path


def assert_refused(result, code, *words):
    assert result.exit_code == code, result.output
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("error: ")
    for word in words:
        assert word in result.stderr


# rewrite


def test_rewrite_writes_a_straight_line_model_and_says_what_it_did(folder, run):
    result = run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx")
    assert result.exit_code == 0
    assert "unrolled, 3 trips" in result.output
    assert "equal" in result.output
    written = onnx.load("out.onnx")
    onnx.checker.check_model(written, full_check=True)
    assert [node.op_type for node in written.graph.node] == ["Add"] * 3


def test_rewrite_prints_json_for_scripts(folder, run):
    result = run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx", "--json")
    found = json.loads(result.stdout)
    assert found["written"] == "out.onnx"
    assert found["nodes"] == {"before": 4, "after": 3}
    assert found["left"] == []
    assert found["verification"]["status"] == "equal"
    assert found["seconds"] > 0 and found["verification"]["seconds"] > 0
    assert [r["action"] for r in found["remarks"]] == ["rewritten"]


def test_inputs_can_be_set_and_shapes_fixed(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    fixed = ("--set", "n=2", "--set", "c=false", "--shape", "x=3,?")
    result = run("rewrite", "in.onnx", "out.onnx", *fixed, "--require-straight-line")
    assert result.exit_code == 0, result.output
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


def test_what_stays_is_written_and_told_without_that_option(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    result = run("rewrite", "in.onnx", "out.onnx", "--no-verify")
    assert result.exit_code == 0
    assert "control flow left: 2" in result.output
    assert (folder / "out.onnx").exists()


def test_strict_refuses_what_stays(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    assert_refused(run("rewrite", "in.onnx", "out.onnx", "--strict"), 1, "Loop 'y'", "--set n=")
    assert not (folder / "out.onnx").exists()


def test_passes_and_budgets_can_be_chosen(folder, run):
    write(folder / "in.onnx", LOOP)
    for options in (("--max-trips", 2), ("--max-nodes", 2), ("--passes", "inline-ifs")):
        assert run("rewrite", "in.onnx", "out.onnx", *options, "--no-verify").exit_code == 0
        kinds = [node.op_type for node in onnx.load("out.onnx").graph.node]
        assert "Loop" in kinds, options


SUM = """g (float[N, 3] x) => (float[3] y) <float[3] zeros = {0, 0, 0}> {
    y = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e) => (float[3] t) {
        t = Add (s, e) }> (zeros, x) }"""


@pytest.mark.parametrize("option", [("--target", "onnxruntime"), ("--passes", "accelerate")])
def test_a_model_can_be_made_fast(folder, run, option):
    source = write(folder / "in.onnx", SUM)
    result = run("rewrite", source, "out.onnx", *option)
    assert result.exit_code == 0, result.output
    assert [node.op_type for node in onnx.load("out.onnx").graph.node] == ["ReduceSum"]
    assert "ReduceSum" in run("inspect", source, *option, "--json").output


def test_a_target_that_is_none_is_refused_with_those_there_are(folder, run):
    source = write(folder / "in.onnx", SUM)
    result = run("rewrite", source, "out.onnx", "--target", "tensorr")
    assert_refused(result, 2, "'tensorr'; did you mean 'tensorrt'?", "'onnxruntime'")
    assert not (folder / "out.onnx").exists()


def test_overridable_initializers_are_frozen_on_request(folder, run):
    text = LOOP.replace("(float[2] x)", "(float[2] x, int64 trips)", 1)
    text = text.replace("trips = Constant <value_int = 3> ()", "")
    text = text.replace("(float[2] y) {", "(float[2] y) <int64 trips = {3}> {", 1)
    write(folder / "in.onnx", text)
    result = run("rewrite", "in.onnx", "out.onnx", "--require-straight-line")
    assert result.exit_code == 4
    assert "freeze-initializers" in result.stdout
    options = ("--freeze-initializers", "--require-straight-line")
    assert run("rewrite", "in.onnx", "out.onnx", *options).exit_code == 0


class Breaking(Pass):
    """Turns every Add into a Mul, which is wrong."""

    name = "breaking"

    def run(self, model, run):
        found = [n for graph in model.graphs() for n in graph.nodes() if n.is_op("Add")]
        for node in found:
            run.rewritten(self, node, node.path, "spoiled")
            node.graph.set_operator(node, sl.ir.Operator("Mul"))
        return bool(found)


@pytest.fixture
def broken_pass(monkeypatch):
    kinds = (*PASSES, Breaking)
    monkeypatch.setattr("straightline.passes.registry.PASSES", kinds)
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


def test_an_existing_file_survives_a_refused_rewrite(folder, run, broken_pass):
    write(folder / "in.onnx", LOOP)
    mine = write(folder / "out.onnx", X % "y = Abs (x)").read_bytes()
    assert run("rewrite", "in.onnx", "out.onnx", "--passes", broken_pass).exit_code == 3
    assert (folder / "out.onnx").read_bytes() == mine


def test_a_rewrite_that_cannot_be_verified_is_written_with_a_warning(folder, run):
    write(folder / "in.onnx", "g () => (float[2] y) { y = RandomNormal <shape = [2]> () }")
    result = run("rewrite", "in.onnx", "out.onnx", "--no-prove")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: not verified: ")
    assert (folder / "out.onnx").exists()
    strict = ("rewrite", "in.onnx", "new.onnx", "--no-prove", "--strict")
    assert_refused(run(*strict), 1, "not verified")
    assert not (folder / "new.onnx").exists()


ENDLESS = """g (float[2] x, bool c) => (float[2] y) {
    go = Identity (c)
    y = Loop (, go, x) <body = b (int64 i, bool g, float[2] a) => (bool h, float[2] e) {
        h = Identity (g)
        e = Neg (a)
    }>
}"""


def test_a_timeout_is_told_once_with_the_option_that_allows_more(folder, run):
    write(folder / "in.onnx", ENDLESS.replace("Identity (c)", "Not (c)"))
    options = ("--set", "c=false", "--timeout", "0.5", "--no-prove")
    result = run("rewrite", "in.onnx", "out.onnx", *options)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: not verified: ")
    assert "--timeout" in result.stderr
    result = run("verify", "in.onnx", "in.onnx", "--timeout", "0", "--runtime", "reference")
    assert_refused(result, 2, "--timeout 0: write a number, more than 0")
    converted = run("convert", "in.onnx", "new.onnx", "--opset", "18", "--timeout", "30")
    assert converted.exit_code == 0


# convert

SEQUENCE = """g (float[2] x, float[2] y, int64 k) => (float[2] b) {
    s = SequenceConstruct (x, y)
    b = SequenceAt (s, k)
}"""


def test_convert_rewrites_what_stands_in_the_way_and_says_so(folder, run):
    write(folder / "in.onnx", SEQUENCE)
    arguments = ["convert", "in.onnx", "out.onnx", "--opset", "10", "--set", "k=1"]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    told = "lowered, it is element 1, because SequenceAt does not exist in opset 10"
    assert told in result.output
    assert "opset 17 became 10" in result.output
    assert [value.name for value in onnx.load("out.onnx").graph.input] == ["x", "y"]
    arguments = ("--opset", "10", "--set", "k=1", "--json")
    found = json.loads(run("convert", "in.onnx", "out.onnx", *arguments).stdout)
    assert found["opset"] == {"before": 17, "after": 10}
    assert [remark["op_type"] for remark in found["remarks"]] == ["SequenceAt", "SequenceConstruct"]
    assert found["verification"]["status"] == "equal"


def test_convert_names_the_opset_that_is_reached(folder, run):
    write(folder / "in.onnx", SEQUENCE)
    result = run("convert", "in.onnx", "out.onnx", "--opset", "10")
    assert result.exit_code == 1 and not (folder / "out.onnx").exists()
    first, *others = result.stderr.splitlines()
    assert first == (
        "error: 2 nodes cannot be converted from opset 17 to 10; the model was not changed; the"
        " lowest opset that it reaches is 11; in the way of the next: SequenceAt, SequenceConstruct"
    )
    assert "decide it with --set k=..." in others[0]
    result = run("convert", "in.onnx", "out.onnx", "--opset", "10", "--set", "k=1", "--no-rewrite")
    assert result.exit_code == 1 and "SequenceAt does not exist" in result.stderr


def test_convert_takes_shapes_and_defaults(folder, run):
    write(
        folder / "in.onnx",
        """g (float[N, 2] x, float[2] p, int64 k) => (float[2] y) <int64 k = {2}> {
            size = Shape <end = 1> (x)
            length = Squeeze (size)
            position = Sub (length, k)
            q = Neg (p)
            s = SequenceConstruct (p, q)
            y = SequenceAt (s, position)
        }""",
    )
    given = ["--opset", "10", "--shape", "x=3,?", "--freeze-initializers"]
    result = run("convert", "in.onnx", "out.onnx", *given)
    assert result.exit_code == 0, result.output
    for left_out in (given[:4], [*given[:2], given[4]]):
        assert run("convert", "in.onnx", "no.onnx", *left_out).exit_code == 1
    result = run("convert", "in.onnx", "out.onnx", "--opset", "11", "--set", "q=1")
    assert_refused(result, 1, "has no input 'q'")
    assert_refused(run("convert", "in.onnx", "o.onnx", "--opset", "11", "--set", "q"), 2, "--set")


# verify, inspect, passes


def test_verify_tells_equal_from_different(folder, run):
    write(folder / "a.onnx", "g (float[2] x) => (float[2] y) { y = Abs (x) }")
    write(folder / "b.onnx", "g (float[2] x) => (float[2] y) { y = Identity (x) }")
    assert run("verify", "a.onnx", "a.onnx").exit_code == 0
    result = run("verify", "a.onnx", "b.onnx")
    assert result.exit_code == 3
    assert "different" in result.output
    found = json.loads(run("verify", "a.onnx", "b.onnx", "--json").stdout)
    assert (found["status"], found["outputs"][0]["name"]) == ("different", "y")


def test_verify_takes_inputs_and_tolerances(folder, run):
    write(folder / "a.onnx", "g (float[2] x) => (float[2] y) { y = Abs (x) }")
    write(folder / "b.onnx", "g (float[2] x) => (float[2] y) { y = Identity (x) }")
    np.savez(folder / "in.npz", x=np.float32([1, 2]))
    options = ("--inputs", "in.npz", "--runtime", "reference")
    assert run("verify", "a.onnx", "b.onnx", *options).exit_code == 0
    assert run("verify", "a.onnx", "b.onnx", "--atol", "100").exit_code == 0
    assert_refused(run("verify", "a.onnx", "b.onnx", "--inputs", "none.npz"), 1, "none.npz")


def test_verify_without_a_comparison_has_an_exit_code_of_its_own(folder, run):
    write(folder / "in.onnx", "g () => (float[2] y) { y = RandomNormal <shape = [2]> () }")
    assert run("verify", "in.onnx", "in.onnx", "--no-prove").exit_code == 5


def test_inspect_shows_what_decides_and_what_would_happen(folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    result = run("inspect", "in.onnx", "--set", "n=2")
    assert result.exit_code == 0
    assert "unrolled, 2 trips" in result.output
    assert "input 'c'" in result.output
    found = json.loads(run("inspect", "in.onnx", "--json").stdout)
    assert [c["op_type"] for c in found["constructs"]] == ["Loop", "If"]
    assert [c["outcome"] for c in found["constructs"]] == ["kept", "kept"]
    assert list(folder.iterdir()) == [folder / "in.onnx"]


def test_inspect_of_a_straight_line_model(folder, run):
    write(folder / "in.onnx", "g (float[2] x) => (float[2] y) { y = Abs (x) }")
    assert run("inspect", "in.onnx").output.strip() == "no control flow"


def test_every_pass_is_listed_with_its_options(monkeypatch, run):
    monkeypatch.setattr("straightline.passes.plugins._loaded", {})  # by other tests
    found = json.loads(run("passes", "--json").stdout)
    assert [item["name"] for item in found] == [kind.name for kind in PASSES]
    unroll = next(item for item in found if item["name"] == "unroll-loops")
    assert {"name": "max_trips", "default": None} in unroll["options"]
    shown = run("passes").output
    assert all(kind.name in shown for kind in PASSES)


ENDS = {
    "rewrite in.onnx out.onnx": 0,
    "rewrite in.onnx out.onnx --require-straight-line": 4,
    "rewrite random.onnx out.onnx --prove --no-verify": 2,
    "rewrite in.onnx out.onnx --strict": 1,
    "convert norm.onnx out.onnx --opset 16 --prove": 5,
    "convert in.onnx out.onnx --opset 99": 1,
    "verify abs.onnx random.onnx --runtime reference": 3,
    "verify random.onnx random.onnx --no-prove": 5,
    "inspect in.onnx": 0,
    "diff in.onnx abs.onnx": 0,
}


@pytest.mark.parametrize("command", ENDS)
def test_each_json_document_says_the_exit_code(folder, run, command):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    write(folder / "abs.onnx", X % "y = Abs (x)")
    write(folder / "norm.onnx", X % "y = LayerNormalization (x, x)")
    write(folder / "random.onnx", X % "y = RandomNormalLike (x)")
    result = run(*command.split(), "--json")
    found = json.loads(result.stdout)
    assert found["exit"] == result.exit_code == ENDS[command], result.output
    assert bool(found["error"]) == bool(result.exit_code)
    if result.exit_code and not command.startswith("verify"):
        assert result.stderr.splitlines()[0] == f"error: {found['error']}"


# Bad input

X = "g (float[2] x) => (float[2] y) { %s }"
BAD_MODELS = {
    "an undefined name": (X % "y = Add (x, nowhere)", "nowhere"),
    "a name defined twice": (X % "y = Abs (x) y = Neg (x)", "y"),
    "a cycle": (X % "y = Add (x, z) z = Neg (y)", "cycle"),
    "a body of another arity": (LOOP.replace("(bool d, float[2] e)", "(bool d)"), "Loop"),
    "an unknown opset": (None, "opset"),
}


@pytest.mark.parametrize("fault", BAD_MODELS)
def test_a_bad_model_is_refused_in_one_line(folder, run, fault):
    text, word = BAD_MODELS[fault]
    write(folder / "in.onnx", text or LOOP)
    if text is None:
        model = onnx.load("in.onnx")
        model.opset_import[0].version = 9999
        onnx.save(model, "in.onnx")
    for arguments in (("rewrite", "in.onnx", "out.onnx"), ("inspect", "in.onnx")):
        assert_refused(run(*arguments), 1, word)
    assert list(folder.iterdir()) == [folder / "in.onnx"]
    with pytest.raises(sl.Error, match=word):
        sl.rewrite("in.onnx")


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x08\x07", bytes(range(64))])
def test_bytes_that_are_no_model_are_refused(folder, run, content):
    (folder / "in.onnx").write_bytes(content)
    assert_refused(run("rewrite", "in.onnx", "out.onnx"), 1, "in.onnx")
    assert_refused(run("verify", "in.onnx", "in.onnx"), 1, "in.onnx")
    assert not (folder / "out.onnx").exists()


def test_missing_files_and_folders_are_refused(folder, run):
    write(folder / "in.onnx", LOOP)
    assert_refused(run("rewrite", "none.onnx", "out.onnx"), 1, "none.onnx")
    assert_refused(run("rewrite", "in.onnx", "none/out.onnx"), 1, "make the folder 'none' first")
    assert_refused(run("rewrite", folder, "out.onnx"), 1)
    assert_refused(run("rewrite", "in.onnx", folder), 1, "is a folder")
    assert_refused(run("inspect", "none.onnx"), 1, "none.onnx")
    assert list(folder.iterdir()) == [folder / "in.onnx"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--set", "q=1"], 1, ["no input 'q'"]),
        (["--set", "n=1.5"], 1, ["input 'n' is int64", "1.5"]),
        (["--set", "n=[1, 2]"], 1, ["input 'n'"]),
        (["--shape", "x=1,5"], 1, ["dimension 1 is 4, not 5"]),
        (["--shape", "x=1"], 1, ["rank 2"]),
        (["--shape", "x=1,4", "--shape", "z=2"], 1, ["'N'", "input 'x'"]),
        (["--set", "n"], 2, ["--set n: write it as in n=3"]),
        (["--set", "n=1", "--set", "n=2"], 2, ["'n' is given twice"]),
        (["--shape", "x=1,a"], 2, ["--shape x=1,a: write"]),
        (["--passes", "no-such-pass"], 2, ["no pass 'no-such-pass'", "unroll-loops"]),
        (["--passes", "unroll-loops{depth=3}"], 2, ["no option 'depth'", "max_trips"]),
        (["--passes", "unroll-loops{max_trips=many}"], 2, ["max_trips", "many"]),
        (["--max-trips", "-1"], 2, ["--max-trips"]),
        (["--runtime", "cuda"], 2, ["--runtime", "cuda"]),
        (["--no-such-option"], 2, ["--no-such-option"]),
    ],
)
def test_options_that_do_not_fit_are_refused(folder, run, options, code, words):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    assert_refused(run("rewrite", "in.onnx", "out.onnx", *options), code, *words)
    assert list(folder.iterdir()) == [folder / "in.onnx"]


def test_usage_errors(run):
    assert_refused(run("rewrite", "in.onnx"), 2, "OUT")
    assert_refused(run("frobnicate"), 2, "frobnicate")
    bare = run()
    assert (bare.exit_code, bare.stderr) == (2, "")
    assert "rewrite" in bare.stdout


def test_a_fault_of_our_own_is_one_line_too(folder, run, monkeypatch):
    def fail(*_, **__):
        raise TypeError("oops")

    monkeypatch.setattr("straightline.rewriting.Rewriting.run", fail)
    assert_refused(run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx"), 70, "oops")


def test_an_interrupt_has_the_shells_exit_code(folder, run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("straightline.rewriting.Rewriting.run", interrupt)
    assert_refused(run("rewrite", write(folder / "in.onnx", LOOP), "out.onnx"), 130, "interrupted")
    assert list(folder.iterdir()) == [folder / "in.onnx"]


def test_a_rewrite_and_a_conversion_in_one_go(folder, run):
    source = write(folder / "in.onnx", LOOP.replace("Add (a, a)", "Sin (a)"))
    result = run("rewrite", source, "out.onnx", "--opset", "13")
    assert result.exit_code == 0, result.output
    written = onnx.load("out.onnx")
    onnx.checker.check_model(written, full_check=True)
    assert written.opset_import[0].version == 13
    assert [node.op_type for node in written.graph.node] == ["Sin"] * 3
    assert "opset 17 became 13; no node changed" in result.output and "proved" in result.output
    assert run("verify", source, "out.onnx").exit_code == 0
    (folder / "out.onnx").unlink()
    refused = run("rewrite", source, "out.onnx", "--opset", "6")
    assert_refused(refused, 1, "models are converted to 7 to")
    write(folder / "sequence.onnx", SEQUENCE)
    result = run("rewrite", "sequence.onnx", "out.onnx", "--opset", "10")
    assert result.exit_code == 1 and "the lowest opset that it reaches is 11" in result.stderr
    assert not (folder / "out.onnx").exists()


TIMES = """g (float[T, 2] x) => (float[T, 2] y) {
    shape = Shape <end = 1> (x)
    y = Loop (shape, , x) <body = b (int64 i, bool c, float[T, 2] a) => (bool d, float[T, 2] e) {
        d = Identity (c)  e = Sin (a) }> }"""


@pytest.mark.parametrize("command", [["rewrite"], ["convert", "--opset", "18"], ["inspect"]])
def test_a_named_dimension_is_fixed(folder, run, command):
    source = write(folder / "in.onnx", TIMES)
    name, *options = command
    places = [source] if name == "inspect" else [source, "out.onnx"]
    assert run(name, *places, *options, "--dim", "T=3").exit_code == 0
    if name != "inspect":
        shape = onnx.load("out.onnx").graph.input[0].type.tensor_type.shape
        assert shape.dim[0].dim_value == 3
    refused = run(name, *places, *options, "--dim", "t=3")
    assert_refused(refused, 1, "no input has a dimension named 't'; did you mean 'T'?")


# As a process


def test_python_m_straightline_works(folder):
    write(folder / "in.onnx", LOOP)
    command = [sys.executable, "-m", "straightline", "rewrite", "in.onnx", "out.onnx"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert "unrolled, 3 trips" in found.stdout


def test_help_does_not_wait_for_onnx():
    program = (
        "import sys\nfrom straightline.cli.commands import app\n"
        "try: app(['--help'])\nfinally: assert 'onnx' not in sys.modules"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
