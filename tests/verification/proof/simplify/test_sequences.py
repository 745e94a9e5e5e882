import pytest
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact
from straightline.verification.proof.simplify.sequences import (
    append,
    elements_of,
    empty_chain,
    is_chain,
)
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table


def test_elements_are_those_that_were_appended():
    terms = Terms(Budget())
    x, y = terms.leaf("input", "x", Fact(1)), terms.leaf("input", "y", Fact(1))
    chain = empty_chain(terms, 1)
    assert elements_of(terms, chain) == ()
    chain = append(terms, append(terms, chain, x), y)
    assert elements_of(terms, chain) == (x, y)
    assert chain.fact.count == 2
    assert append(terms, append(terms, empty_chain(terms, 1), x), y) is chain
    assert empty_chain(terms, 7) is not empty_chain(terms, 1)


def test_other_terms_are_no_chains():
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(1))
    assert not is_chain(x)
    assert not is_chain(None)
    assert elements_of(terms, x) is None


TEXT = "g (float[2] x, float[2] y, float[2] v) => (float[2] z) { s = SequenceConstruct (x, y) %s }"
X, Y, V = (TEXT % f"z = Identity ({name})" for name in "xyv")


@pytest.mark.parametrize(("at", "result"), [(0, X), (1, Y), (-1, Y), (-2, X)])
def test_an_element_at_a_known_place(at, result):
    assert_proved(TEXT % f"i = Constant <value_int = {at}> () z = SequenceAt (s, i)", result)


@table((0, [V, X, Y]), (1, [X, V, Y]), (-1, [X, V, Y]), (2, [X, Y, V]))
def test_an_element_is_put_in_before_a_place(at, found):
    put = f"i = Constant <value_int = {at}> () t = SequenceInsert (s, v, i) "
    for place, result in enumerate(found):
        read = f"k = Constant <value_int = {place}> () z = SequenceAt (t, k)"
        assert_proved(TEXT % (put + read), result)


def test_without_a_place_the_end_is_meant():
    last = "i = Constant <value_int = -1> () z = SequenceAt (t, i)"
    assert_proved(TEXT % f"t = SequenceInsert (s, v) {last}", V)
    assert_proved(TEXT % f"t = SequenceErase (s) {last}", X)


def test_a_place_that_run_time_tells_stays():
    text = """g (float[2] x, float[2] y, int64 i) => (float[2] z) {
        s = SequenceConstruct (x, y) z = %s }"""
    assert_proved(text % "SequenceAt (s, i)", text % "SequenceAt (s, i)")
    assert_open(text % "SequenceAt (s, i)", text % "Identity (x)")


def test_parts_of_a_split():
    text = """g (float[5, 2] x) => (float[a, b] z) <int64 i = {%d}, int64 k = {2}> {
        s = SplitToSequence %s (x%s) z = SequenceAt (s, i) }"""
    part = """g (float[5, 2] x) => (float[a, b] z) <int64[1] s = {%d}, int64[1] e = {%d}> {
        z = Slice (x, s, e) }"""
    assert_proved(text % (2, "", ", k"), part % (4, 5))
    assert_proved(text % (1, "", ", k"), part % (2, 4))
    assert_open(text % (1, "", ", k"), part % (3, 5))
    assert_proved(text % (1, "", ""), part % (1, 2))
    # The axis stays where a split is given, whatever keepdims says.
    assert_proved(text % (1, "<keepdims = 0>", ", k"), part % (2, 4))


def test_many_rows_of_a_split_are_those_of_the_tensor():
    before = """g (float[300, 2] x, float[2, 2] w) => (float[300, 2] y) <int64 k = {299}> {
        s = SplitToSequence <axis = 0, keepdims = 0> (x)
        t = SequenceMap (s) <body = b (float[2] e) => (float[2] r) { r = %s (e) }>
        y = ConcatFromSequence <axis = 0, new_axis = 1> (t) }"""
    after = "g (float[300, 2] x, float[2, 2] w) => (float[300, 2] y) { y = %s (x) }"
    assert_proved(before % "Neg", after % "Neg")
    assert_open(before % "Neg", after % "Abs")
    last = """g (float[300, 2] x) => (float[2] y) <int64 k = {%d}> {
        s = SplitToSequence <axis = 0, keepdims = 0> (x) t = %s y = SequenceAt (t, k) }"""
    row = "g (float[300, 2] x) => (float[2] y) <int64 k = {%d}> { y = Gather (x, k) }"
    assert_proved(last % (-1, "Identity (s)"), row % 299)
    assert_proved(last % (-1, "SequenceErase (s)"), row % 298)
    assert_open(last % (-1, "SequenceErase (s)"), row % 299)


def test_how_many_elements_there_are():
    text = "g (float[2] x) => (int64 z) { s = SequenceConstruct (x, x, x) z = %s }"
    assert_proved(text % "SequenceLength (s)", text % "Constant <value_int = 3> ()")
    assert_open(text % "SequenceLength (s)", text % "Constant <value_int = 2> ()")


@pytest.mark.parametrize("node", ["SequenceInsert (s, x, {})", "SequenceErase (s, {})"])
def test_a_position_holds_one_number(node):
    """Neither none nor two; such a node fails."""
    text = """g (float[2] x, float[3] z) => (float[a] y) <int64 one = {{1}}, int64[0] none = {{}},
        int64[2] two = {{1, 0}}> {{ s = SequenceConstruct (x, z) t = {}
        last = Constant <value_int = -1> () y = SequenceAt (t, last) }}"""
    good = text.format(node.format("one"))
    assert_proved(good, good)
    for position in ("none", "two"):
        assert_open(good, text.format(node.format(position)))
