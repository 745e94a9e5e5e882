import itertools

import onnx
from straightline.verification.proof.execution.obligations import (
    Guard,
    Obligation,
    guards_by_demand,
    in_both_branches,
    relocate,
)
from straightline.verification.proof.terms.term import Head
from tables import table


def test_a_call_has_what_is_around_it_and_what_is_in_it():
    outer, inner, other = Guard("outer"), Guard("inner"), Guard("other")
    node, head = onnx.NodeProto(op_type="Gather"), Head("Gather")
    log = [Obligation(head, (), 1, guards, node) for guards in ((), (outer,), (outer, inner))]
    assert [each.guards for each in relocate(log, 1, 1, (other,))] == [(other,), (other, inner)]


def test_nodes_are_found_by_operator_and_operands():
    node, heads, outer = onnx.NodeProto(), (Head("Gather"), Head("Mul")), Guard("outer")
    uses = [(heads[0], ()), (heads[0], (outer,)), (heads[1], ())]
    log = [Obligation(head, (), 1, guards, node) for head, guards in uses]
    assert guards_by_demand(log) == {(heads[0], ()): [(), (outer,)], (heads[1], ()): [()]}


def test_a_loop_has_a_level():
    assert Guard("iteration", 0).is_loop
    assert not Guard("if").is_loop


def guards(text):
    """Guards from letters: a lower-case one holds, an upper-case one does not, l is a loop."""
    return tuple(
        Guard("loop", 0) if x == "l" else Guard.of_branch(x.lower(), x.islower()) for x in text
    )


@table(
    (["a"], []),
    (["a", "b"], []),
    (["a", "A"], [""]),
    (["la", "lA"], ["l"]),
    (["la", "A"], []),
    (["pa", "pA", "P"], ["p", ""]),
    (["ab", "aB", "Ab", "AB"], ["a", "b", "A", "B", ""]),
    (["ab", "aB", "A"], ["a", ""]),
    (["ab", "AB"], []),
)
def test_a_demand_of_both_branches_is_one_of_the_if(premises, found):
    results = list(in_both_branches([guards(one) for one in premises]))
    assert {frozenset(g.key for g in one) for one in results} == {
        frozenset(g.key for g in guards(one)) for one in found
    }


def test_obligations_hold_in_every_case():
    kinds = ["".join(x) for x in itertools.product(("", "a", "A"), ("", "b", "B"), ("", "c", "C"))]
    cases = [frozenset(x) for x in itertools.product("aA", "bB", "cC")]
    for premises in itertools.combinations(kinds, 3):
        for one in in_both_branches([guards(text) for text in premises]):
            letters = {g.condition if g.holds else g.condition.upper() for g in one}
            for case in cases:
                if letters <= case:
                    assert any(set(text) <= case for text in premises), (premises, letters)
