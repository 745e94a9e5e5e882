import json

import numpy as np
import pytest
from straightline.display import as_text
from straightline.verification.proof import Proof

PROVED = Proof("proved", "equal for every input", ("Slice",), {"y": 3}, seconds=0.0124)


def test_only_a_proof_is_true():
    assert PROVED and PROVED.proved
    for status in ("refuted", "open"):
        assert not Proof(status, "why")


def test_a_proof_in_a_line():
    assert str(PROVED) == "proved: equal for every input (12 ms)"


def test_assumptions_are_named():
    one, two = "MatMul of some rows gives the same bits as of all rows", "so does Gemm"
    proof = Proof("proved", "equal for every input", assumptions=(one, two), seconds=1.5)
    assert str(proof) == f"proved: equal for every input, if {one} and {two} (1.5 s)"


def test_the_first_terms_that_differ_are_shown():
    proof = Proof(
        "open", "output 'y': Abs is not known to be Neg", first=("t1 = Abs (x)", "t2\nt3")
    )
    assert str(proof).splitlines() == [
        "open: output 'y': Abs is not known to be Neg",
        "  before:",
        "    t1 = Abs (x)",
        "  after:",
        "    t2",
        "    t3",
    ]


def test_the_nodes_and_the_rule_that_is_needed_are_shown():
    proof = Proof(
        "open",
        "output 'y': Abs is not known to be Neg",
        first=("t1 = Abs (x)", "t2 = Neg (x)"),
        paths=("Loop 'l' / body / Abs 'a'", ""),
        needed="a rule that Abs (x) equals Neg (x)",
    )
    assert str(proof).splitlines() == [
        "open: output 'y': Abs is not known to be Neg",
        "  before, Loop 'l' / body / Abs 'a':",
        "    t1 = Abs (x)",
        "  after:",
        "    t2 = Neg (x)",
        "  needed: a rule that Abs (x) equals Neg (x)",
    ]
    found = json.loads(json.dumps(proof.to_dict()))
    assert found["paths"] == ["Loop 'l' / body / Abs 'a'", ""]
    assert found["needed"] == "a rule that Abs (x) equals Neg (x)"


@pytest.mark.parametrize("proof", [PROVED, Proof("refuted", "y", feeds={"x": np.zeros(2)})])
def test_an_answer_in_json(proof):
    found = json.loads(json.dumps(proof.to_dict()))
    assert (found["status"], found["proved"]) == (proof.status, proof.proved)
    assert found["feeds"] == (None if proof.proved else {"x": "float64[2] [0.0, 0.0]"})


def test_answers_with_inputs_can_be_compared():
    one, other = (Proof("refuted", "y", feeds={"x": np.zeros(2)}) for _ in range(2))
    assert one == other


def test_a_proof_in_a_notebook():
    found = Proof(
        "open", "no rule", first=("a = Neg (x)", "b = Abs (x)"), paths=("p", "q"), needed="a rule"
    )
    told = as_text(found.blocks())
    assert [line.strip() for line in told.splitlines()] == [
        line.strip() for line in str(found).splitlines()
    ]
    assert "needed: a rule" in found._repr_html_()
    assert as_text(Proof("proved", "").blocks()) == str(Proof("proved", ""))


def test_many_inputs_are_shortened():
    proof = Proof("refuted", "y", feeds={f"x{k}": np.zeros(1) for k in range(11)})
    lines = str(proof).splitlines()
    assert lines[1] == "  on x0 = float64[1] [0.0]"
    assert lines[-1] == "  and 3 more inputs" and len(lines) == 10
