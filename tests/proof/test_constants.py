"""What operators make of constants, and which constants are the same."""

import numpy as np
import onnx
import pytest
from proofs import assert_open, assert_proved, model
from straightline import ir
from straightline.proof.algebra import Terms
from straightline.proof.budget import Budget
from straightline.proof.constants import MOST_ELEMENTS, evaluated, key_of
from term_values import terms_of

ADDED = "g (float[2] x) => (float[2] z) <float[2] a = {1, 2}, float[2] b = {3, 4}> { %s }"


def test_operators_on_constants_are_what_they_give():
    assert_proved(
        ADDED % "c = Add (a, b) d = Exp (c) z = Mul (x, d)",
        ADDED % "c = Add (b, a) d = Exp (c) z = Mul (x, d)",
    )
    assert_open(
        ADDED % "c = Add (a, b) z = Mul (x, c)",
        ADDED % "c = Add (a, a) z = Mul (x, c)",
    )


def test_a_constant_that_is_computed_is_one_that_is_written():
    terms, (output,) = terms_of(model(ADDED % "z = Pow (a, b)"))
    assert terms.tensor(output).numpy().tolist() == [1, 16]
    assert output is terms.constant(np.float32([1, 16]))


def filled(*shape):
    sizes = ", ".join(map(str, shape))
    _, (output,) = terms_of(
        model(
            f"""g () => (float[n, m] z) <int64[2] s = {{{sizes}}}> {{
            z = ConstantOfShape <value = float[1] {{7}}> (s) }}"""
        )
    )
    return output.head.name


def test_large_constants_are_not_computed():
    assert filled(MOST_ELEMENTS, 1) == "constant"
    assert filled(MOST_ELEMENTS + 1, 1) == "Expand"
    assert filled(MOST_ELEMENTS, MOST_ELEMENTS) == "Expand"


def test_nothing_is_computed_of_large_constants():
    terms = Terms(Budget())
    large = terms.constant(np.zeros(MOST_ELEMENTS + 1, np.float32))
    like = terms.heads.of(ir.Operator("Neg"), {"": 18})
    assert terms.op("Neg", like, large).head.name == "Neg"
    assert terms.op("Neg", like, terms.constant(np.zeros(3))).head.name == "constant"


FAILING = [
    "z = Div (a, b)",
    "z = Gather (a, one)",
    "z = Mod (a, b)",
]


@pytest.mark.parametrize("node", FAILING)
def test_what_fails_stays(node):
    text = """g () => (int64[1] z) <int64[1] a = {5}, int64[1] b = {0}, int64[1] one = {1}> {
        %s }"""
    _, (output,) = terms_of(model(text % node))
    assert output.head.name == node.split()[2]
    assert_open(text % node, text % "z = Identity (a)")


def evaluated_node(text, tensors):
    """What a node makes of constants."""
    terms = Terms(Budget())
    (node,) = onnx.parser.parse_graph(f"g () => (float[n] z) {{ {text} }}").node
    operator = ir.Operator(node.op_type, {a.name: a for a in node.attribute})
    head = terms.heads.of(operator, {"": 18})
    args = tuple(terms.constant(np.asarray(t)) for t in tensors)
    given = [terms.tensor(arg) for arg in args]
    made = terms.facts.node(head, args, dict(enumerate(given)), 1)
    return evaluated(head, made, given)


def test_what_is_drawn_or_is_no_tensor_is_not_computed():
    (kept,) = evaluated_node("z = Dropout (x)", [np.float32([1, 2])])
    assert kept.numpy().tolist() == [1, 2]
    drawing = [np.float32([1, 2]), np.float32(0.5), np.array(True)]
    assert evaluated_node("z = Dropout (x, r, t)", drawing) is None
    assert evaluated_node("z = RandomNormalLike (x)", drawing[:1]) is None
    assert evaluated_node("z = SplitToSequence (x)", drawing[:1]) is None


@pytest.mark.parametrize("size", [1, 100, MOST_ELEMENTS + 1])
def test_constants_are_the_same_where_all_bytes_are(size):
    zeros = np.zeros(size, np.float32)
    last = zeros.copy()
    last[-1] = -0.0
    keys = [key_of(ir.Tensor(array=a)) for a in (zeros, zeros.copy(), last, zeros.view(np.int32))]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert key_of(ir.Tensor(array=zeros.reshape(1, size))) != keys[0]
    assert key_of(ir.Tensor(onnx.numpy_helper.from_array(zeros))) == keys[0]


def test_nan_is_the_same_as_itself():
    one, other = (np.array([np.nan, 1], np.float32) for _ in range(2))
    assert key_of(ir.Tensor(array=one)) == key_of(ir.Tensor(array=other))
