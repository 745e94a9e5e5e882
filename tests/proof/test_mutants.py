"""Mutants that a run tells apart, or that fail, are never proved; proof_mutants.py makes more."""

import attacked_opsets
import proof_mutants


def test_no_mutant_that_a_run_tells_apart_or_that_fails_is_proved():
    counts, wrong = proof_mutants.counted(proof_mutants.origins(0, 4), 16)
    assert wrong == []
    assert counts["told apart"] >= 60
    assert counts["fails"] >= 10
    assert counts["originals proved"] >= 0.6 * counts["originals"]


def test_no_node_that_two_opsets_run_otherwise_is_proved():
    counts, wrong = attacked_opsets.checked(every=12)
    assert wrong == []
    assert counts["alike"] >= 500
    assert counts["told apart"] >= 1
