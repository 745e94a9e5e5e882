import numpy as np
import onnx
import pytest
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.verification.proof.execution.safety import Safety
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms

N = Dimension.symbol("n")
INT64, FLOAT = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT


@pytest.fixture
def terms():
    return Terms(Budget())


def head_of(terms, op_type, **attributes):
    return terms.heads.of(Operator.make(op_type, **attributes), {"": 18})


def leaf(terms, name, elem_type, *shape):
    return terms.leaf("input", name, terms.facts.one(Fact(elem_type, shape)))


def test_the_number_of_an_iteration_is_below_the_number_of_iterations(terms):
    index = terms.symbols.iteration("?iteration0:n", 0)
    terms.limits["?iteration0:n"] = N
    x, gather = leaf(terms, "x", FLOAT, N), head_of(terms, "Gather", axis=0)
    inside = (index, N - 1 - index, -index, -index - 1)
    for place in (*inside, index + 1, -index - 2):
        args = x, terms.size(place)
        assert (Safety(terms).fault(gather, args, 1) == "") is (place in inside), place
    assert not Safety(terms).is_size(terms.size(index - 1))
    assert Safety(terms).is_size(terms.size(N - 1 - index))


def test_bounds_go_through_operators(terms):
    x, i = leaf(terms, "x", FLOAT, N), leaf(terms, "i", INT64)
    gather, size = head_of(terms, "Gather", axis=0), terms.size(N)
    rest = terms.op("Mod", gather, i, terms.constant(np.array(4)))
    four = leaf(terms, "four", FLOAT, Dimension.constant(4))
    assert Safety(terms).fault(gather, (four, rest), 1) == ""
    assert Safety(terms).fault(gather, (four, i), 1)
    assert Safety(terms).fault(gather, (x, rest), 1)
    assert Safety(terms).fault(gather, (x, size), 1)


def test_elementwise_operators_fit_by_their_sizes(terms):
    four, five = (leaf(terms, f"v{n}", FLOAT, Dimension.constant(n)) for n in (4, 5))
    mul, safety = head_of(terms, "Mul"), Safety(terms)
    row = leaf(terms, "r", FLOAT, Dimension.constant(1))
    for args, fit in (((four, four), True), ((four, row), True), ((four, five), False)):
        assert safety.fits(mul, args, 1) is fit
        assert safety.holds_by_facts(mul, args, 1) is fit
    position = leaf(terms, "p", INT64, Dimension.constant(4))
    assert not safety.fits(head_of(terms, "Gather", axis=0), (four, position), 1)


def test_no_element_is_out_of_range(terms):
    x = leaf(terms, "x", FLOAT, N)
    none = leaf(terms, "p", INT64, Dimension.constant(0))
    assert Safety(terms).fault(head_of(terms, "Gather", axis=0), (x, none), 1) == ""


def test_a_range_ends_if_it_moves(terms):
    start, limit = leaf(terms, "a", INT64), leaf(terms, "b", INT64)
    head = head_of(terms, "Range")
    for step, safe in ((1, True), (-2, True), (0, False)):
        args = start, limit, terms.constant(np.array(step))
        assert (Safety(terms).fault(head, args, 1) == "") is safe
    assert Safety(terms).fault(head, (start, limit, leaf(terms, "c", INT64)), 1)


def test_random_operators_never_fail(terms):
    assert Safety(terms).fault(head_of(terms, "RandomNormal", shape=[2]), (), 1) == ""


def test_operators_of_others_may_fail(terms):
    head = terms.heads.of(Operator("Strange", {}, "mine"), {"mine": 1, "": 18})
    assert "failures are unknown" in Safety(terms).fault(head, (leaf(terms, "x", FLOAT),), 1)


def test_elementwise_operators_fail_for_their_sizes_only(terms):
    m = Dimension.symbol("m")
    x, row, other = (
        leaf(terms, name, FLOAT, *shape)
        for name, shape in [("x", (N, m)), ("r", (m,)), ("o", (N,))]
    )
    add, safety = head_of(terms, "Add"), Safety(terms)
    assert safety.holds_by_facts(add, (x, row), 1) and safety.holds_by_facts(add, (x, x), 1)
    assert not safety.holds_by_facts(add, (x, other), 1)
    k = leaf(terms, "k", INT64, N)
    assert not safety.holds_by_facts(head_of(terms, "Div"), (k, k), 1)
    assert not safety.holds_by_facts(head_of(terms, "Mod"), (k, k), 1)
    assert not safety.holds_by_facts(terms.heads.of(Operator.make("Add"), {"": 6}), (x, row), 1)
