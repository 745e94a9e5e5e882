"""Branches of Ifs that a caller vouches for, and inputs that take the other one."""

import numpy as np
import onnx
import pytest
import straightline as sl
from commands import succeeded
from harness import as_model, op_types, run_in_onnxruntime
from straightline import ir
from straightline.cli.commands import app
from straightline.driver.assumptions import AssumptionError, Assumptions
from tables import table
from typer.testing import CliRunner

MODEL = """g (float[N, 4] boxes, float[P] scores) => (int64[M] kept)
    <int64 zero = {0}, int64[1] axes = {0}, int64[1] top = {8}, float[1] limit = {0.5}> {
    count = Size (scores)  none = Equal (count, zero)
    kept = If (none) <
        then_branch = empty () => (int64[A] nothing) {
            nothing = Constant <value = int64[0] {}> () },
        else_branch = some () => (int64[B] index) {
            high = ReduceMax <keepdims = 0> (boxes)
            by_class = Mul (boxes, high)
            all_boxes = Unsqueeze (by_class, axes)
            axes2 = Constant <value_ints = [0, 1]> ()
            all_scores = Unsqueeze (scores, axes2)
            selected = NonMaxSuppression (all_boxes, all_scores, top, limit)
            column = Constant <value_int = 2> ()
            index = Gather <axis = 1> (selected, column) }> }"""
SOME = {
    "boxes": np.float32([[0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3]]),
    "scores": np.float32([1, 2, 3]),
}


def test_the_other_branch_is_gone():
    flat = sl.rewrite(as_model(MODEL), assume={"kept": "else"}, verify=False)
    assert "If" not in op_types(flat) and "NonMaxSuppression" in op_types(flat)
    (wanted,), (result,) = (run_in_onnxruntime(m, SOME) for m in (as_model(MODEL), flat))
    np.testing.assert_array_equal(result, wanted)


def test_the_then_branch_alone():
    flat = sl.rewrite(as_model(MODEL), assume={"kept": "then"}, verify=False)
    assert "NonMaxSuppression" not in op_types(flat)


@pytest.mark.parametrize("branch,other", [("else", "then"), ("then", "else")])
def test_inputs_that_take_the_other_branch_withhold_the_result(branch, other):
    feeds = dict(SOME)
    if branch == "else":
        feeds = {"boxes": np.zeros((0, 4), np.float32), "scores": np.zeros(0, np.float32)}
    with pytest.raises(sl.MismatchError) as caught:
        sl.rewrite(
            as_model(MODEL), assume={"kept": branch}, verify={"feeds": feeds, "prove": False}
        )
    message = str(caught.value)
    assert f"an input makes If 'kept' take its {other} branch, against the assumption" in message
    assert caught.value.violation.claim.path == "kept"


def test_a_difference_names_the_assumption():
    """Samples of the comparison are drawn for what it compares, and others for the search."""
    model = as_model("""g (float[N] x) => (int64 y) <float z = {0}, int64 zero = {0}> {
            s = ReduceSum <keepdims = 0> (x)  c = Greater (s, z)
            y = If (c) <
                then_branch = a () => (int64 p) { p = ArgMax <axis = 0, keepdims = 0> (x) },
                else_branch = b () => (int64 q) { q = Identity (zero) }> }""")
    with pytest.raises(sl.MismatchError, match=r"an input makes If 'y' take its then branch"):
        sl.rewrite(model, assume={"y": "else"}, verify=True)


def test_inputs_that_keep_to_it_agree():
    how = {"feeds": SOME, "prove": False}
    outcome = sl.transform(as_model(MODEL), assume={"kept": "else"}, verify=how)
    assert outcome.verdict.equal
    (note,) = outcome.verdict.notes
    assert note.startswith("the else branch of If 'kept' is assumed")


@table(
    ({"kepp": "else"}, r"the model has no If 'kepp'; did you mean 'kept'"),
    ({"kept": "both"}, r"If 'kept': 'both' is not a branch; write 'then' or 'else'"),
)
def test_unfit_assumptions(branches, message):
    with pytest.raises(AssumptionError, match=message):
        Assumptions({}, branches).assume(ir.load(as_model(MODEL)))


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(as_model(MODEL), "in.onnx")
    np.savez("in.npz", **SOME)
    options = ("--assume", "kept=else", "--verify", "--inputs", "in.npz")
    result = succeeded(CliRunner().invoke(app, ("rewrite", "in.onnx", "out.onnx", *options)))
    assert "If" not in op_types(onnx.load("out.onnx"))
    assert "the else branch of If 'kept' is assumed" in " ".join(result.output.split())
    wrong = CliRunner().invoke(app, ("rewrite", "in.onnx", "out.onnx", "--assume", "kept=no"))
    assert wrong.exit_code == 2 and "write then or else" in " ".join(wrong.output.split())
