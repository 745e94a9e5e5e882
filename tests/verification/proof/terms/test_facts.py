import numpy as np
import onnx
import pytest
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact, content_from
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.facts import is_empty, largest
from straightline.verification.proof.terms.term_manager import Terms

FLOAT = onnx.TensorProto.FLOAT
INT64 = onnx.TensorProto.INT64
COUNTED = """g (float[3] x, float[3] y) => (int64[2] s, int64[2] t) {
    a = NonZero (x) b = NonZero (%s) s = Shape (a) t = Shape (%s) }"""


def test_sizes_that_the_elements_of_two_inputs_tell_are_two():
    assert_proved(COUNTED % ("y", "b"), COUNTED % ("y", "b"))
    assert_proved(COUNTED % ("x", "b"), COUNTED % ("x", "a"))
    assert_open(COUNTED % ("y", "b"), COUNTED % ("y", "a"))


def test_sizes_that_constants_of_floats_tell_are_read_from_each():
    resized = """g (float[4] x) => (int64[1] s) <float[1] f = {%s}> {
        y = Resize (x, , f) s = Shape (y) }"""
    assert_proved(resized % "2", "g (float[4] x) => (int64[1] s) <int64[1] s = {8}> { }")
    assert_open(resized % "2", resized % "3")


@pytest.fixture
def terms():
    return Terms(Budget())


def constant(*sizes):
    return tuple(map(Dimension.constant, sizes))


def fact_of_sequence():
    return onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(FLOAT, [2]))


def test_equal_facts_are_one_object(terms):
    def two():
        return content_from([Dimension.constant(2), None])

    one = terms.facts.one
    assert one(Fact(FLOAT, constant(2))) is one(Fact(FLOAT, constant(2)))
    assert one(Fact(INT64, constant(2), two())) is one(Fact(INT64, constant(2), two()))
    assert one(Fact(other=fact_of_sequence())) is one(Fact(other=fact_of_sequence()))
    different = [
        Fact(),
        Fact(FLOAT),
        Fact(FLOAT, ()),
        Fact(FLOAT, constant(2)),
        Fact(FLOAT, constant(3)),
        Fact(INT64, constant(2)),
        Fact(INT64, constant(2), two()),
        Fact(INT64, constant(2), content_from([Dimension.constant(3), None])),
        Fact(other=fact_of_sequence()),
        Fact(other=fact_of_sequence(), count=1),
    ]
    assert len({id(one(fact)) for fact in different}) == len(different)


def made(terms, op_type, *args):
    """What is known of the first output of an operator."""
    return terms.facts_of(terms.heads.of(Operator(op_type), {"": 18}), args)[0]


def test_equal_facts_are_inferred_once(terms):
    x, y = (terms.leaf("input", name, Fact(FLOAT, constant(3))) for name in "xy")
    assert x.fact is y.fact
    assert made(terms, "Neg", x) is made(terms, "Neg", y)
    assert made(terms, "NonZero", x).shape[1] != made(terms, "NonZero", y).shape[1]
    n = terms.symbols.named("n")
    rows = terms.leaf("input", "z", Fact(FLOAT, (n, *constant(3))))
    assert made(terms, "Neg", rows).shape == (n, *constant(3))
    assert made(terms, "Shape", rows).content.tolist() == [n, *constant(3)]


def test_a_constant_is_known_by_its_fact(terms):
    numbers = [terms.constant(np.array(n, np.int64)) for n in (1, 2)]
    floats = [terms.constant(np.array(n, np.float32)) for n in (1, 2)]
    assert len({id(term.fact) for term in (*numbers, *floats)}) == 4
    assert terms.constant(np.array(1, np.int64)).fact is numbers[0].fact
    others = [terms.leaf("input", f"i{k}", term.fact) for k, term in enumerate(numbers)]
    assert all(a.fact is not b.fact for a, b in zip(others, numbers, strict=True))


def test_a_node_for_questions_has_the_constants_and_opsets_of_its_head(terms):
    x = terms.leaf("input", "x", Fact(FLOAT, constant(3)))
    head = terms.heads.of(Operator("Reshape"), {"": 13})
    shape = terms.tensor(terms.constant(np.array([3, 1])))
    node = terms.facts.node(head, (x, None, x), {0: shape}, 2)
    assert [None if v is None else v.constant for v in node.inputs] == [shape, None, None]
    assert node.inputs[1] is None and len(node.outputs) == 2
    softmax, neg = (terms.heads.of(Operator(name), {"": 11}) for name in ("Softmax", "Neg"))
    assert softmax.imports != neg.imports
    graphs = [terms.facts.node(h, (x,), {}, 1).graph for h in (neg, softmax, neg)]
    assert graphs[0] is graphs[2] is not graphs[1]


def test_tensors_are_empty_where_a_size_is_certainly_0(terms):
    n = terms.symbols.named("n")
    assert is_empty(Fact(FLOAT, (n, *constant(0))))
    assert not is_empty(Fact(FLOAT, (n,)))
    assert not is_empty(Fact(FLOAT, ()))
    assert not is_empty(Fact(FLOAT))
    assert not is_empty(Fact(0, constant(0)))
    assert id(terms.facts.one(Fact(FLOAT, constant(0)))) in terms.facts.empty
    assert id(terms.facts.one(Fact(FLOAT, constant(1)))) not in terms.facts.empty


def test_elements_of_a_sequence_may_have_other_sizes_though_their_names_are_one():
    text = """g (seq(float[h, w]) s) => (int64[2] y) <int64 a = {0}, int64 b = {1}> {
        x = SequenceAt (s, %s) y = Shape (x) }"""
    assert_open(text % "a", text % "b")
    assert_proved(text % "a", text % "a")


def test_a_name_that_a_tensor_has_is_one_size():
    text = """g (seq(float[h]) s, float[h] t) => (int64[1] y) <int64 a = {0}, int64 b = {1}> {
        v = SequenceAt (s, a) w = SequenceAt (s, b) x = SequenceAt (s, %s) y = Shape (x) }"""
    assert_proved(text % "a", text % "b")


ALIKE = [
    ("Add", ("n", 3), (3,)),
    ("Add", ("n", 3), ("n", 1)),
    ("Mul", (), (2, "n")),
    ("Relu", ("n",)),
    ("PRelu", ("n", 3), (3,)),
    ("Max", ("n",), (), ("n",)),
    ("Pow", (1, 1), (1,)),
]
OTHERS = [
    ("Add", ("n",), ("m",)),
    ("Add", (1, "n"), (3, 1)),
    ("Add", (2,), (3,)),
    ("Sub", (2,), None),
]


@pytest.mark.parametrize(
    ("op_type", "shapes"), [(name, shapes) for name, *shapes in ALIKE + OTHERS]
)
def test_an_elementwise_operator_has_the_shape_of_its_largest_operand(terms, op_type, shapes):
    dims = [
        s and tuple(terms.symbols.named(d) if d in ("n", "m") else Dimension.constant(d) for d in s)
        for s in shapes
    ]
    args = tuple(
        terms.leaf("input", k, terms.facts.one(Fact(FLOAT, shape))) for k, shape in enumerate(dims)
    )
    head = terms.heads.of(Operator.make(op_type), {"": 18})
    (inferred,) = terms.facts._infer(head, [arg.fact for arg in args], args, {}, 1)
    direct = terms.facts._of_elements_alike(head, args, 1)
    assert (direct is not None) is ((op_type, *shapes) in ALIKE)
    if direct is not None:
        assert (direct.elem_type, direct.shape) == (inferred.elem_type, inferred.shape)
        assert (direct.content, direct.other, direct.count) == (None, None, None)


def test_integers_whose_content_is_followed_are_inferred(terms):
    args = terms.sizes([Dimension.symbol("n")]), terms.sizes([Dimension.constant(2)])
    head = terms.heads.of(Operator.make("Add"), {"": 18})
    for _ in range(2):
        assert terms.facts._of_elements_alike(head, args, 1) is None
        assert terms.facts_of(head, args)[0].content[0] == Dimension.symbol("n") + 2


def test_a_shape_among_others_that_broadcast_to_it():
    n, m = Dimension.symbol("n"), Dimension.symbol("m")
    one, three = Dimension.constant(1), Dimension.constant(3)
    assert largest([(three,), (n, three), (), (one, three)]) == (n, three)
    for shapes in (
        [(n,), (m,)],
        [(one,), (n,)],
        [(three, one), (one, three)],
        [(n,), None],
        [None],
    ):
        assert largest(shapes) is None
