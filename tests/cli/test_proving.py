import json
import shlex

import numpy as np
import pytest
import straightline as sl
from commands import assert_refused, succeeded, write
from tables import table

NUMBERS = "<int64 zero={0}, int64 one={1}, int64 six={6}, bool t = {1}>"
SQUARES = f"""g (float[n, 2] x) => (int64 y) {NUMBERS} {{
    s = Shape <start = 0, end = 1> (x) k = Squeeze (s)"""
SUM = """y = Loop <body = b (int64 i, bool c, int64 s) => (bool c2, int64 s2) {
    c2 = Identity (c) q = Mul (i, i) s2 = Add (s, q) }> (k, t, zero) }"""
CLOSED = "a = Sub (k, one) b = Add (k, a) p = Mul (k, a) q = Mul (p, b) y = Div (q, six) }"


@pytest.fixture
def folder(folder, models):
    write(folder / "sum.onnx", SQUARES + SUM)
    write(folder / "closed.onnx", SQUARES + CLOSED)
    text = SUM.replace("Add (s, q)", "Sub (s, m)").replace("(i, i)", "(i, i) m = Neg (q)")
    write(folder / "difference.onnx", SQUARES + text)
    return folder


@table(
    ("relu", "again", 0, "proved: equal for every input ("),
    ("relu", "abs", 3, "refuted: y: different in values at "),
    ("sum", "closed", 5, "open: output 'y': the last state of a loop and, "),
    ("sum", "difference", 6, "proved, not replayed: equal for every input ("),
    ("thirds", "third", 5, "open: equal over the reals, not bit for bit: y: different in "),
)
def test_an_answer_has_an_exit_code(before, after, code, first, folder, run):
    result = run("prove", f"{before}.onnx", f"{after}.onnx")
    assert result.exit_code == code, result.output
    assert result.stdout.startswith(first) and not result.stderr
    hint = "--counterexample FOLDER writes this input as files"
    assert (hint in result.stdout.splitlines()) == ("on x = " in result.stdout)
    document = json.loads(run("prove", f"{before}.onnx", f"{after}.onnx", "--json").stdout)
    assert document["exit"] == code
    assert document["status"] == first.partition(":")[0].removesuffix(", not replayed")
    assert (document["error"] is None) == (code == 0)


def test_an_open_answer_ends_with_commands_that_decide_it(folder, run):
    for names in (("sum.onnx", "closed.onnx"), ("thirds.onnx", "third.onnx")):
        lines = run("prove", *names).stdout.splitlines()
        assert any(line.startswith("needed: ") for line in lines)
        place = next(k for k, line in enumerate(lines) if line.startswith("proved if "))
        succeeded(run(*shlex.split(lines[place + 1])[1:]))


def test_over_the_reals_on_request(folder, run):
    result = succeeded(run("prove", "thirds.onnx", "third.onnx", "--equality", "reals"))
    assert result.stdout.startswith("proved: equal over the reals for every input")


def test_values_and_sizes_that_are_fixed(folder, run):
    assert run("prove", "scaled.onnx", "double.onnx").exit_code == 5
    result = succeeded(run("prove", "scaled.onnx", "double.onnx", "--set", "k=2.0"))
    for option in ("--dim=n=3", "--shape=x=3,?"):
        result = succeeded(run("prove", "sum.onnx", "closed.onnx", option))
        assert "if input 'x' is float[3,2]" in result.stdout


def test_a_least_size_is_an_assumption_of_a_certificate(folder, run):
    signature = "g (float[n] x) => (float[m] y)"
    guarded = """{ z = Constant <value_int = 0> () s = Size (x) c = Greater (s, z) y = If (c) <
        then_branch = t () => (float[a] u) { u = Relu (x) },
        else_branch = e () => (float[1] w) { w = Constant <value_floats = [7.0]> () }> }"""
    write(folder / "guarded.onnx", signature + guarded)
    write(folder / "sure.onnx", signature + "{ y = Relu (x) }")
    words = ("prove", "guarded.onnx", "sure.onnx", "--dim", "n>=1", "--certificate", "n.json")
    assert "if n >= 1" in run(*words).stdout
    assert json.loads((folder / "n.json").read_text())["minima"] == {"n": 1}
    result = run("verify", "guarded.onnx", "sure.onnx", "--certificate", "n.json")
    assert result.exit_code == 6 and "if n >= 1" in result.stdout, result.output
    checked = run("check-certificate", "n.json", "guarded.onnx", "sure.onnx")
    assert_refused(checked, 1, "no derivation")


def test_a_certificate_is_checked_by_verify(folder, run):
    result = succeeded(run("prove", "relu.onnx", "again.onnx", "--certificate", "c.json"))
    result = succeeded(run("verify", "relu.onnx", "again.onnx", "--certificate", "c.json"))
    assert run("prove", "relu.onnx", "abs.onnx", "--certificate", "d.json").exit_code == 3
    assert not (folder / "d.json").exists()
    result = run("prove", "relu.onnx", "again.onnx", "--certificate", "relu.onnx")
    assert_refused(result, 1, "cannot write 'relu.onnx'")


@table(
    (("relu.onnx",), 2, "Missing argument 'B'"),
    (("relu.onnx", "none.onnx"), 1, "none.onnx"),
    (("-", "-"), 2, "cannot both come from standard input"),
    (("relu.onnx", "abs.onnx", "--equality", "bit"), 2, "did you mean 'bits'"),
    (("relu.onnx", "abs.onnx", "--dim", "m=3"), 1, "no input has a dimension named 'm'"),
    (("relu.onnx", "abs.onnx", "--shape", "x=3"), 1, "rank 2"),
    (("relu.onnx", "abs.onnx", "--set", "z=3"), 1, "'z'"),
    (("relu.onnx", "abs.onnx", "--timeout", "0"), 2, "more than 0"),
    (("relu.onnx", "abs.onnx", "--dim=n=3", "--certificate=c.json"), 2, "leave out --dim"),
)
def test_wrong_usage_is_one_line(words, code, message, folder, run):
    assert_refused(run("prove", *words), code, message)
    assert json.loads(run("prove", *words, "--json").stdout)["exit"] == code


def test_a_model_may_come_from_a_pipe(folder, run):
    content = (folder / "again.onnx").read_bytes()
    assert run("prove", "relu.onnx", "-", given=content).exit_code == 0
    assert run("prove", "-", "abs.onnx", "--counterexample", "ex", given=content).exit_code == 3
    assert "straightline verify A abs.onnx" in (folder / "ex" / "README.md").read_text()


def test_without_a_search_nothing_runs(folder, run, monkeypatch):
    monkeypatch.setattr("straightline.verification.runs.verify.run", lambda *_, **__: 1 / 0)
    result = run("prove", "relu.onnx", "abs.onnx", "--no-search")
    assert result.exit_code == 5 and "proved if" not in result.stdout


def test_quiet_prints_nothing(folder, run):
    result = run("prove", "relu.onnx", "abs.onnx", "-q")
    assert (result.exit_code, result.stdout) == (3, "")


def test_the_same_in_python(folder):
    proof = sl.prove("relu.onnx", "abs.onnx")
    sl.Counterexample.of("relu.onnx", proof.feeds, proof.reason).write(folder / "ex")
    assert np.argwhere(proof.feeds["x"]).shape == (1, 2)
    assert not sl.verify("relu.onnx", "abs.onnx", prove=False, feeds=folder / "ex")


def test_names_that_differ(folder, run):
    text = "g (float[k, 3] input) => (float[k, 3] output) { output = %s (input) }"
    for name, operator in (("other", "Relu"), ("wrong", "Abs")):
        write(folder / f"{name}.onnx", text % operator)
    assert run("prove", "relu.onnx", "other.onnx").exit_code == 5
    for command in ("prove", "verify"):
        assert run(command, "relu.onnx", "other.onnx", "--by-position").exit_code == 0
        options = ("--by-position", "--counterexample", f"ex_{command}")
        assert run(command, "relu.onnx", "wrong.onnx", *options).exit_code == 3
        text = (folder / f"ex_{command}" / "README.md").read_text()
        again = text.split("```sh\n")[1].split("\n")[0]
        assert again.endswith("--by-position") and run(*shlex.split(again)[1:]).exit_code == 3
    options = ("--by-position", "--certificate", "c.json")
    assert_refused(run("prove", "relu.onnx", "other.onnx", *options), 2, "leave out")


def test_a_proof_that_no_checker_replays_says_so(folder, run):
    words = ("prove", "sum.onnx", "difference.onnx", "--json")
    for more in ((), ("--certificate", "c.json")):
        result = run(*words[:3], *more)
        assert "the checker replays no derivation: the checker has no rule" in result.stdout
        document = json.loads(run(*words, *more).stdout)
        assert (document["replayed"], document["exit"]) == (False, 6)
    again = ("prove", "relu.onnx", "again.onnx", "--json")
    assert json.loads(run(*again).stdout)["replayed"] is True
