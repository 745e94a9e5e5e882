import numpy as np
import onnx
import pytest
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact, content_from
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.verification.proof.arithmetic.trip_counts import not_negative
from straightline.verification.proof.terms.budget import Budget, OpenError
from straightline.verification.proof.terms.term_manager import (
    CANONICAL_FORMS,
    LATE_RULES,
    RULES,
    Terms,
    late_rule,
    rule,
)

FLOAT = onnx.TensorProto.FLOAT
INT64 = onnx.TensorProto.INT64
ADDED = "g (float[2] x) => (float[2] z) <float[2] c = {%s}> { z = Add (x, c) }"


def test_equal_constants_are_equal_however_they_are_written():
    node = "g (float[2] x) => (float[2] z) { c = Constant <value_floats = [0.0, 1.0]> () %s }"
    assert_proved(ADDED % "0, 1", node % "z = Add (x, c)")
    assert_open(ADDED % "0, 1", ADDED % "0, 2")
    assert_open(ADDED % "0, 1", ADDED % "-0.0, 1")


def test_tensors_without_elements_are_equal_where_their_shapes_are():
    empty = "g (float[0, 3] x, float[n, 3] y) => (float[%s] z) { %s }"
    one, other = empty % ("0, 3", "z = Neg (x)"), empty % ("0, 3", "z = Sin (x)")
    assert_proved(one, other)
    assert_open(one, empty % ("3, 0", "z = Transpose (x)"))
    assert_open(empty % ("n, 3", "z = Neg (y)"), empty % ("n, 3", "z = Sin (y)"))


@pytest.fixture
def terms():
    return Terms(Budget())


@pytest.fixture
def x(terms):
    return terms.leaf("input", "x", Fact(FLOAT, (Dimension.constant(2), terms.symbols.named("n"))))


def operator(terms, op_type, **attributes):
    return terms.heads.of(Operator.make(op_type, **attributes), {"": 18})


def test_an_empty_tensor_is_one_term_for_each_shape(terms):
    def empty(*shape):
        return Fact(FLOAT, tuple(map(Dimension.constant, shape)))

    assert terms.leaf("input", "x", empty(0, 2)) is terms.leaf("input", "y", empty(0, 2))
    assert terms.leaf("input", "x", empty(0, 2)) is not terms.leaf("input", "x", empty(2, 0))
    assert terms.tensor(terms.leaf("input", "x", empty(0, 2))).dims == (0, 2)
    n = terms.symbols.named("n")
    void = terms.leaf("input", "x", Fact(FLOAT, (n, Dimension.constant(0))))
    assert void is terms.leaf("input", "y", Fact(FLOAT, (n, Dimension.constant(0))))
    assert void.head.name == "void"


def test_heads_in_a_term(terms, x):
    (inner,) = terms.apply(operator(terms, "Sin"), (x,))
    (outer,) = terms.apply(operator(terms, "Cos"), (inner,))
    assert terms.contains(outer, "Sin") and terms.contains(outer, "Tan", "Cos")
    assert not terms.contains(inner, "Cos") and not terms.contains(outer, "Tan")
    assert terms.contains(terms.op("Add", 17, outer, x), "Sin")


def test_a_repeated_application_is_the_same_term(terms, x):
    neg = operator(terms, "Neg")
    assert terms.apply(neg, (x,))[0] is terms.apply(neg, (x, None))[0]
    assert terms.apply(neg, (x,))[0] is not terms.apply(operator(terms, "Abs"), (x,))[0]
    top, two = operator(terms, "TopK"), terms.constant(np.array([2]))
    (values,) = terms.apply(top, (x, two))
    assert len(terms.apply(top, (x, two), 2)) == 2
    assert terms.apply(top, (x, two), 2)[0] is values


def test_content_is_a_constant_where_all_of_it_is_known(terms):
    n = terms.symbols.named("n")
    known = terms.content(content_from([Dimension.constant(2), Dimension.constant(3)]), INT64)
    assert known is terms.constant(np.array([2, 3])) is terms.sizes([2, 3])
    told = terms.sizes([2, n])
    assert told.head.name == "sizes" and terms.tensor(told) is None
    assert told is terms.content(content_from([Dimension.constant(2), n]), INT64)
    assert told is not terms.sizes([n, 2]) and told is not terms.sizes([2, n], 6)
    assert terms.size(n) is not terms.sizes([n])
    truths = terms.content(np.array([True, False], object), onnx.TensorProto.BOOL)
    assert truths is terms.constant(np.array([True, False]))


def test_content_beyond_its_type_is_open(terms):
    with pytest.raises(OpenError, match="overflows its type"):
        terms.sizes([2**63])


def test_the_shape_of_a_term_is_its_sizes(terms, x):
    (shape,) = terms.apply(operator(terms, "Shape"), (x,))
    assert shape is terms.sizes(x.fact.shape)


def test_views_of_the_same_shape_are_none(terms, x):
    assert terms.view(x, x.fact.shape) is x
    flat = (terms.symbols.named("n") * 2,)
    assert terms.view(x, flat).head.name == "view"
    assert terms.view(terms.view(x, flat), x.fact.shape) is x


def test_sizes_that_run_time_tells_have_one_name_for_each_term(terms):
    m, k = (terms.leaf("input", name, Fact(INT64, ())) for name in "mk")
    assert not_negative(terms, m) == not_negative(terms, m) != not_negative(terms, k)
    assert not_negative(terms, terms.size(3)).value == 3
    n = terms.symbols.named("n")
    assert not_negative(terms, terms.size(n)) == n
    assert not_negative(terms, terms.size(n - 5)) != n - 5  # it may be below 0
    condition = terms.leaf("input", "c", Fact(onnx.TensorProto.BOOL, ()))
    assert terms.iterations_if(terms.constant(np.array(True)), n) == n
    assert terms.iterations_if(terms.constant(np.array(False)), n).value == 0
    assert terms.iterations_if(condition, n) not in (n, Dimension.constant(0))
    assert terms.iterations_if(condition, n) == terms.iterations_if(condition, n)
    assert terms.iterations_if(condition, n) != terms.iterations_if(condition, n + 1)


def test_facts_of_a_choice_are_joined(terms, x):
    n, two = terms.symbols.named("n"), Dimension.constant(2)
    found = terms.either(x.fact, Fact(FLOAT, (two, two)))
    assert found.elem_type == FLOAT and found.shape[0] == two
    assert found.shape[1] not in (n, two)
    assert terms.either(x.fact, Fact(INT64, (two,))).shape is None
    assert terms.either(x.fact, Fact(INT64, x.fact.shape)).elem_type == 0


def test_ends_of_the_pieces_of_a_concat(terms, x):
    joined = terms.op("Concat", operator(terms, "Neg"), x, x, axis=0)
    assert terms.ends_of(joined, 0) == [2, 4]
    assert terms.ends_of(joined, 1) is None


def opaque_facts(terms, head, *args):
    """The facts by which a head stands as it is, once it was applied."""
    terms.apply(head, args)
    return terms.opaque_facts(head, args, 1)


def test_a_head_stands_for_all_arguments_of_the_same_facts(terms, x):
    y = terms.leaf("input", "y", x.fact)
    floor = operator(terms, "Floor")
    facts = opaque_facts(terms, floor, x)
    assert facts == [terms.facts.one(x.fact)]
    (made,) = terms.opaque(floor, (y,), facts)
    assert made is terms.apply(floor, (y,))[0] and made.fact is facts[0]
    assert terms.opaque(floor, (x,), facts) == terms.apply(floor, (x,))


def test_a_head_that_says_more_than_facts_tell_does_not_stand(terms, x):
    one = terms.constant(np.array([1], np.float32))
    assert opaque_facts(terms, operator(terms, "Add"), x, one)
    assert not opaque_facts(terms, operator(terms, "Floor"), one)  # it is computed
    assert not opaque_facts(terms, operator(terms, "Identity"), x)  # a rule
    assert not opaque_facts(terms, operator(terms, "NonZero"), x)  # its size is a new one each time
    empty = terms.leaf("input", "e", Fact(FLOAT, (Dimension.constant(0),)))
    assert not opaque_facts(terms, operator(terms, "Add"), empty, one)  # no elements
    assert not opaque_facts(terms, operator(terms, "Add"), terms.size(2), terms.size(3))
    size = terms.size(terms.symbols.named("n"))
    assert not opaque_facts(terms, operator(terms, "Add"), size, terms.size(3))  # a size


def test_they_are_found_by_the_head():
    assert {"Concat", "Max", "ReduceSum", "Transpose", "view"} <= RULES.keys()
    assert {"Add", "MatMul", "ReduceSum", "Softmax"} <= LATE_RULES.keys()


def test_a_head_has_one():
    with pytest.raises(AssertionError):
        rule("Max")(RULES["Max"])
    with pytest.raises(AssertionError):
        late_rule("Softmax")(LATE_RULES["Softmax"])


def test_a_function_may_be_the_rule_of_many():
    assert RULES["ReduceSum"] is RULES["ReduceMax"]
    assert LATE_RULES["Add"] is not LATE_RULES["MatMul"]


def test_they_are_found_by_the_operator():
    assert {"Clip", "Pad", "ReduceSum", "Softmax", "Upsample"} <= CANONICAL_FORMS.keys()
