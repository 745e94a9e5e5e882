"""Obligations of calls."""

import onnx
from straightline.verification.proof.execution.obligations import Guard, Obligation, relocate
from straightline.verification.proof.terms.term import Head


def test_a_call_has_what_is_around_it_and_what_is_in_it():
    outer, inner, other = Guard("outer"), Guard("inner"), Guard("other")
    node, head = onnx.NodeProto(op_type="Gather"), Head("Gather")
    log = [Obligation(head, (), 1, guards, node) for guards in ((), (outer,), (outer, inner))]
    assert [each.guards for each in relocate(log, 1, 1, (other,))] == [(other,), (other, inner)]


def test_a_loop_has_a_level():
    assert Guard("trip", 0).is_loop
    assert not Guard("if").is_loop
