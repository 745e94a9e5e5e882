"""Verification by the commands: proofs, runs, certificates, and their exit codes."""

import json
import re

import numpy as np
import onnx
import pytest
import straightline as sl
from commands import succeeded
from texts import HEADER, LOOP


@pytest.fixture
def folder(folder):
    halves = "g (float[N] x) => (float[N] y) <float three = {3}> { y = Div (x, three) }"
    half = "g (float[N] x) => (float[N] y) <float third = {0.33333334}> { y = Mul (x, third) }"
    for name, text in (("loop", LOOP), ("halves", halves), ("half", half)):
        onnx.save(onnx.parser.parse_model(HEADER + text), folder / f"{name}.onnx")
    return folder


@pytest.fixture
def no_proof(monkeypatch):
    open_ = sl.Proof("open", "out of steps")
    monkeypatch.setattr("straightline.verification.proof.prove", lambda *_, **__: open_)


def assert_refused(result, code, *words):
    assert result.exit_code == code, result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    for word in words:
        assert word in line


def last(result):
    return result.stdout.splitlines()[-1]


def test_a_proof_is_told_in_a_line(folder, run):
    result = succeeded(run("rewrite", "loop.onnx", "out.onnx"))
    assert last(result).startswith("proved: equal for every input (")
    result = run("verify", "loop.onnx", "out.onnx")
    assert last(result).startswith("proved: equal for every input (")
    result = run("convert", "loop.onnx", "other.onnx", "--opset", "18")
    assert last(result).startswith("proved: equal for every input (")


def test_an_open_proof_is_reported(folder, run):
    result = succeeded(run("verify", "halves.onnx", "half.onnx"))
    words = r"open, equal on 3 samples and 32 edge cases \(equal over the reals, not proved"
    assert re.match(words, last(result))
    found = json.loads(run("verify", "halves.onnx", "half.onnx", "--json").stdout)
    assert (found["status"], found["proved"]) == ("equal", False)
    assert found["proof"]["status"] == "open"


def test_samples_are_run_after_a_proof_too(folder, run):
    run("rewrite", "loop.onnx", "out.onnx")
    result = succeeded(run("verify", "loop.onnx", "out.onnx", "--samples", "1", "--atol", "1e-6"))
    first, second = result.stdout.splitlines()
    assert first.startswith("proved: equal for every input")
    assert second.startswith("equal on 1 sample (")


def test_without_a_proof_samples_decide(folder, run):
    result = succeeded(run("verify", "loop.onnx", "loop.onnx", "--no-prove"))
    assert last(result).startswith("equal on ") and "open" not in result.stdout


def test_a_demanded_proof_has_an_exit_code(folder, run):
    assert run("verify", "loop.onnx", "loop.onnx", "--prove").exit_code == 0
    result = run("verify", "halves.onnx", "half.onnx", "--prove")
    assert result.exit_code == 5
    assert last(result).startswith(
        "not verified: not proved: equal over the reals, not proved bit for bit: output 'y': "
    )


def test_an_unproved_result_is_not_written(folder, run, no_proof):
    for command in (("rewrite",), ("convert", "--opset", "18")):
        result = run(*command, "loop.onnx", "out.onnx", "--prove")
        assert_refused(result, 5, "not proved: out of steps", "nothing was written")
        result = run(*command, "loop.onnx", "out.onnx", "--certificate", "c.json")
        assert_refused(result, 5, "not proved: out of steps")
        assert not (folder / "out.onnx").exists() and not (folder / "c.json").exists()
        assert run(*command, "loop.onnx", "out.onnx").exit_code == 0
        (folder / "out.onnx").unlink()


@pytest.mark.parametrize("command", [("rewrite",), ("convert", "--opset", "18")])
def test_a_certificate_is_kept_and_checked(folder, run, command):
    result = succeeded(run(*command, "loop.onnx", "out.onnx", "--certificate", "c.json", "--json"))
    assert json.loads(result.stdout)["verification"]["proof"]["replayed"] is True
    result = succeeded(run("verify", "loop.onnx", "out.onnx", "--certificate", "c.json"))
    assert last(result).startswith("proved: equal for every input")
    result = run("verify", "loop.onnx", "half.onnx", "--certificate", "c.json")
    assert_refused(result, 1, "for another rewrite")
    result = run("verify", "half.onnx", "out.onnx", "--certificate", "c.json")
    assert_refused(result, 1, "for another original")


def test_a_certificate_holds_the_values_that_were_set(folder, run):
    text = LOOP.replace("iterations = Constant <value_int = 3> ()", "")
    text = text.replace("(float[2] x)", "(float[2] x, int64 iterations)", 1)
    onnx.save(onnx.parser.parse_model(HEADER + text), folder / "in.onnx")
    kept = ("--certificate", "c.json")
    result = succeeded(run("rewrite", "in.onnx", "out.onnx", "--set", "iterations=2", *kept))
    assert run("verify", "in.onnx", "out.onnx", *kept).exit_code == 0
    result = run("verify", "in.onnx", "out.onnx", *kept, "--set", "iterations=2")
    assert_refused(result, 2, "leave out --set")


def test_a_certificate_that_cannot_be_proved_again(folder, run, monkeypatch):
    assert run("rewrite", "loop.onnx", "out.onnx", "--certificate", "c.json").exit_code == 0
    open_ = sl.Proof("open", "out of steps")
    monkeypatch.setattr("straightline.verification.proof.prove", lambda *_, **__: open_)
    result = run("verify", "loop.onnx", "out.onnx", "--certificate", "c.json")
    assert_refused(result, 1, "cannot be made again: out of steps")


@pytest.mark.parametrize("name", ["loop.onnx", "out.onnx", "in.npz", "none/c.json", "mine.txt"])
def test_a_certificate_overwrites_no_other_file(folder, run, name):
    np.savez(folder / "in.npz", x=np.zeros(2, np.float32))
    (folder / "mine.txt").write_text("mine")
    options = ("--inputs", "in.npz", "--certificate", name)
    before = {p: p.read_bytes() for p in folder.iterdir()}
    assert_refused(run("rewrite", "loop.onnx", "out.onnx", *options), 1, "cannot write")
    assert {p: p.read_bytes() for p in folder.iterdir()} == before


@pytest.mark.parametrize(
    "options",
    [
        ("--no-prove", "--certificate", "c.json"),
        ("--no-verify", "--prove"),
        ("--no-verify", "--certificate", "c.json"),
    ],
)
def test_a_proof_that_is_asked_for_and_left_out_is_wrong_usage(folder, run, options):
    assert_refused(run("rewrite", "loop.onnx", "out.onnx", *options), 2, "leave out")


def test_a_proof_without_replay_has_an_exit_code_of_its_own(folder, run):
    words = ("rewrite", "loop.onnx", "out.onnx", "--prove", "--json", "--force")
    document = json.loads(run(*words).stdout)
    assert document["exit"] == 0 and document["verification"]["proof"]["replayed"] is True
    (folder / "out.onnx").unlink()
    scan = """g (float[n, 2] x, float[2] h) => (float[n, 2] y) { a, y = Scan <num_scan_inputs = 1,
        body = b (float[2] s, float[2] r) => (float[2] t, float[2] u) { q = Mul (s, h)
        t = Add (q, r) u = Identity (t) }> (h, x) }"""
    onnx.save(onnx.parser.parse_model(HEADER + scan), folder / "loop.onnx")
    result = run(*words, "--passes", "accelerate")
    document = json.loads(result.stdout)
    assert (document["exit"], result.exit_code) == (6, 6)
    assert document["error"].startswith("proved, not replayed: the checker has no rule by which ")
    words = ("verify", "loop.onnx", "out.onnx", "--equality", "reals")
    assert run(*words).stdout.startswith("proved: ")
    result = run(*words, "--prove")
    assert result.exit_code == 6 and result.stdout.startswith("proved, not replayed: ")
