import itertools

import numpy as np
import pytest
from onnx import helper
from straightline.reference.interpreter.node_kernels import operator_kernel
from straightline.verification.checker.meaning import head_of
from straightline.verification.checker.terms import (
    _CARRYING,
    _CLEAR,
    Fact,
    Head,
    Terms,
    carries,
    is_clear,
)

SPECIAL = np.array([-0.0, 0.0, 1.5, -2.0, np.inf, -np.inf, 1e-30], np.float32)
UNARY = ("Abs", "Cos", "Elu", "Erf", "Exp", "HardSwish", "Identity", "LeakyRelu", "Log", "Mish")
UNARY += ("Neg", "ReduceMean", "ReduceSum", "Relu", "Sigmoid", "Sin", "Softmax", "Softplus")
UNARY += ("Sqrt", "Tanh")
BINARY = ("Add", "Equal", "Greater", "Less", "Max", "Min", "Mul", "PRelu", "Sub", "Div")


def computed(name, *arrays):
    names = [f"i{k}" for k in range(len(arrays))]
    return operator_kernel(helper.make_node(name, names, ["o"]), {"": 21})(list(arrays))[0]


def applied(name, count):
    terms = Terms()
    args = [terms.add(Head("input", key=k), fact=Fact(1, (7,))) for k in range(count)]
    return terms, terms.add(head_of(name, "", 21, (), 1), tuple(args), Fact(1, (7,))), args


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_carried_values_are_equal_up_to_signs_of_zeros(name):
    count = 1 if name in UNARY else 2
    terms, number, _ = applied(name, count)
    other = np.where(SPECIAL == 0, -SPECIAL, SPECIAL)
    for place, shift in itertools.product(range(count), range(7)):
        second = [np.roll(SPECIAL, shift)] * (count - 1)
        one, two = [SPECIAL, *second], [other, *second]
        if place:
            one, two = one[::-1], two[::-1]
        same = np.array_equal(computed(name, *one), computed(name, *two), equal_nan=True)
        assert same or not carries(terms, terms.nodes[number], place)


@pytest.mark.parametrize("name", sorted(_CLEAR - {"ReduceL2", "ReduceSumSquare"}))
def test_a_clear_operator_has_no_sign_bit(name):
    result = computed(name, SPECIAL)
    assert not np.signbit(result[~np.isnan(result)]).any()
    terms, number, _ = applied(name, 1)
    assert is_clear(terms, number)


def test_division_does_not_carry():
    terms, number, _ = applied("Div", 2)
    assert carries(terms, terms.nodes[number], 0) and not carries(terms, terms.nodes[number], 1)
    assert not {"Reciprocal", "Pow", "Loop", "Scan", "Atan2", "ArgMax", "TopK"} & _CARRYING


@pytest.mark.parametrize("name", ["Sqrt", "Mul", "Add", "Neg", "Relu"])
def test_an_operand_of_any_sign_is_not_clear(name):
    terms, number, _ = applied(name, 1 if name in ("Sqrt", "Neg", "Relu") else 2)
    assert not is_clear(terms, number)


def test_a_square_is_clear():
    terms, _, (x,) = applied("Abs", 1)
    square = terms.add(head_of("Mul", "", 21, (), 1), (x, x), Fact(1, (7,)))
    assert is_clear(terms, square)
    assert is_clear(terms, terms.add(head_of("Sqrt", "", 21, (), 1), (square,), Fact(1, (7,))))
    power = terms.constant(np.array(0.5, np.float32))
    for base, clear in ((square, True), (x, False)):
        term = terms.add(head_of("Pow", "", 21, (), 1), (base, power), Fact(1, (7,)))
        assert is_clear(terms, term) is clear
