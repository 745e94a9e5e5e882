"""`verify`, `inspect` and `passes`: what they tell, and the exit codes of a comparison."""

import json

import numpy as np
from commands import assert_refused, succeeded, write
from straightline.passes import PASSES
from texts import DECIDED_BY_INPUTS


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
    result = succeeded(run("inspect", "in.onnx", "--set", "n=2"))
    assert "unrolled, 2 iterations" in result.output
    assert "input 'c'" in result.output
    found = json.loads(run("inspect", "in.onnx", "--json").stdout)
    assert [c["op_type"] for c in found["constructs"]] == ["Loop", "If"]
    assert [c["outcome"] for c in found["constructs"]] == ["kept", "kept"]
    assert list(folder.iterdir()) == [folder / "in.onnx"]


def test_inspect_of_a_straight_line_model(folder, run):
    write(folder / "in.onnx", "g (float[2] x) => (float[2] y) { y = Abs (x) }")
    assert run("inspect", "in.onnx").output.strip() == "no control flow"


def test_every_pass_is_listed_with_its_options(monkeypatch, run):
    monkeypatch.setattr("straightline.passes.manager.plugins._loaded", {})  # by other tests
    found = json.loads(run("passes", "--json").stdout)
    assert [item["name"] for item in found] == [kind.name for kind in PASSES]
    unroll = next(item for item in found if item["name"] == "unroll-loops")
    assert {"name": "max_trips", "default": None} in unroll["options"]
    shown = run("passes").output
    assert all(kind.name in shown for kind in PASSES) and "max_trips=" in shown
