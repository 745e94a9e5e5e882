"""Bounds of integer tensors: what each operator makes of them, and what breaks them."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest
from straightline import ir
from straightline.facts.bounds import Bounds, Known, alike, greatest, join, known, least
from straightline.facts.dimension import Dimension
from straightline.facts.fact import Fact, as_content
from straightline.operators.outputs import known_outputs

INT64, INT32, UINT8 = onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.UINT8
BOOL, FLOAT = onnx.TensorProto.BOOL, onnx.TensorProto.FLOAT
N, M = Dimension.symbol("N"), Dimension.symbol("M")
WHOLE = (-(2**63), 2**63 - 1)


def dim(number):
    return number if isinstance(number, Dimension) else Dimension.constant(number)


def between(low, high, elem_type=INT64, shape=None):
    """A tensor whose elements lie between two numbers."""
    dims = None if shape is None else tuple(map(dim, shape))
    return Known(Fact(elem_type, dims), Bounds(dim(low), dim(high)))


def of(op_type, inputs, outputs=1, elem_type=INT64, domain="", **attributes):
    """The bounds of the outputs of a node, as pairs; the whole range of the type is "any"."""
    model = ir.Model(onnx.ModelProto(ir_version=10))
    given = [
        None if one is None else model.graph.add_input(f"i{k}") for k, one in enumerate(inputs)
    ]
    op = ir.Operator.make(op_type, domain, **attributes)
    node = model.graph.add_node(op, given, [f"o{k}" for k in range(outputs)])
    read = [Known(Fact()) if one is None else one for one in inputs]
    found = known_outputs(node, read, [Fact(elem_type)] * outputs)
    return [pair(one.bounds) for one in found]


def pair(bounds):
    if bounds is None:
        return None
    low, high = (b if b.value is None else b.value for b in bounds)
    return "any" if (low, high) == WHOLE else (low, high)


MOVING = (
    "Compress DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Reshape Slice"
    " SpaceToDepth Squeeze Tile Transpose Unsqueeze"
)


@pytest.mark.parametrize("op_type", MOVING.split())
def test_what_moves_elements_keeps_their_bounds(op_type):
    assert of(op_type, [between(2, N), between(0, 5)]) == [(2, N)]
    assert of(op_type, [between(2, N)], domain="ai.onnx") == [(2, N)]
    assert of(op_type, [between(2, N)], domain="own") == ["any"]


def test_every_part_of_a_split_has_the_bounds():
    assert of("Split", [between(2, 9)], outputs=3) == [(2, 9)] * 3


@pytest.mark.parametrize(
    ("op_type", "inputs", "wanted"),
    [
        ("Concat", [between(2, 5), between(-1, 3), between(0, 9)], (-1, 9)),
        ("Concat", [between(2, 5), Known(Fact())], "any"),
        ("Where", [Known(Fact(BOOL)), between(2, 5), between(-1, 3)], (-1, 5)),
        ("Scatter", [between(2, 5), between(0, 99), between(-1, 3)], (-1, 5)),
        ("ScatterElements", [between(2, 5), between(0, 99), between(-1, 3)], (-1, 5)),
        ("ScatterND", [between(2, 5), between(0, 99), between(-1, 3)], (-1, 5)),
        ("Add", [between(2, 5), between(-1, 3)], (1, 8)),
        ("Add", [between(0, N), between(0, M)], (0, N + M)),
        ("Sub", [between(2, 5), between(-1, 3)], (-1, 6)),
        ("Mul", [between(2, 5), between(-1, 3)], (-5, 15)),
        ("Mul", [between(-2, 5), between(-4, 3)], (-20, 15)),
        ("Mul", [between(0, N), between(1, 2)], (0, N * 2)),
        ("Mul", [between(-2, N), between(-3, M)], "any"),
        ("Neg", [between(0, N)], (-N, 0)),
        ("Min", [between(2, 5), between(-1, 3)], (-1, 3)),
        ("Min", [between(2, 3), between(1, 9), between(0, 7)], (0, 3)),
        ("Min", [between(0, N), between(0, M)], (0, N)),
        ("Min", [between(0, N + 1), between(0, N)], (0, N)),
        ("Max", [between(2, 5), between(-1, 3)], (2, 5)),
        ("Max", [between(0, N + 1), between(2, N)], (2, N + 1)),
        ("Max", [between(0, N), between(0, M)], "any"),
        ("Clip", [between(-9, 9), between(0, 1), between(4, 5)], (0, 5)),
        ("Clip", [between(-9, 9), between(0, 1)], (0, 9)),
        ("Clip", [between(-9, 9), None, between(4, 5)], (-9, 5)),
        ("Clip", [between(-9, 9)], (-9, 9)),
        ("Mod", [between(-9, 9), between(2, 5)], (0, 4)),
        ("Mod", [between(-9, 9), between(1, N)], (0, N - 1)),
        ("Mod", [between(-9, 9), between(0, 5)], "any"),
        ("Mod", [between(-9, 9), between(-3, -2)], "any"),
        ("Range", [between(1, 2), between(5, 7), between(1, 3)], (1, 6)),
        ("Range", [between(1, 2), between(5, 7), between(0, 3)], "any"),
        ("Range", [between(1, 2), between(5, 7), between(-1, -1)], "any"),
        ("Cast", [between(2, 5, INT32)], (2, 5)),
        ("Cast", [Known(Fact(BOOL))], (0, 1)),
        ("Cast", [Known(Fact(FLOAT))], "any"),
        ("NonZero", [between(0, 1, shape=[3, 7])], (0, 6)),
        ("NonZero", [between(0, 1, shape=[N])], (0, N - 1)),
        ("NonZero", [between(0, 1)], "any"),
        ("NonZero", [between(0, 1, shape=[N, M])], "any"),
        ("ArgMax", [between(0, 1, shape=[3, 7])], (0, 2)),
        ("ArgMin", [between(0, 1, shape=[3, 7])], (0, 2)),
        ("ArgMax", [between(0, 1)], "any"),
        ("Sin", [between(0, 1)], "any"),
    ],
)
def test_bounds_of_a_result(op_type, inputs, wanted):
    assert of(op_type, inputs) == [wanted]


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Min", "Max", "Mod", "Range", "Where"])
def test_operands_without_bounds_give_none(op_type):
    count = 3 if op_type in ("Range", "Where") else 2
    for unknown in range(1 if op_type == "Where" else 0, count):
        inputs = [Known(Fact()) if k == unknown else between(1, 2) for k in range(count)]
        assert of(op_type, inputs) == ["any"]


def test_products_hold_for_every_pair_of_numbers():
    numbers = [-3, -1, 0, 2]
    ranges = [(a, b) for a in numbers for b in numbers if a <= b]
    for one, other in itertools.product(ranges, repeat=2):
        ((low, high),) = of("Mul", [between(*one), between(*other)])
        products = [a * b for a in range(one[0], one[1] + 1) for b in range(other[0], other[1] + 1)]
        assert (low, high) == (min(products), max(products))


def test_positions_along_an_axis():
    data = between(0, 1, shape=[3, 7, N])
    for axis, size in ((0, 3), (1, 7), (-1, N), (-3, 3), (2, N)):
        for op_type in ("ArgMax", "ArgMin"):
            assert of(op_type, [data], axis=axis) == [(0, size - 1)]
        assert of("TopK", [data], outputs=2, axis=axis) == ["any", (0, size - 1)]
    assert of("TopK", [data], outputs=2) == ["any", (0, N - 1)]
    for axis in (3, -4):
        assert of("ArgMax", [data], axis=axis) == ["any"]


def test_remainders_that_take_the_sign_of_the_dividend():
    assert of("Mod", [between(0, 9), between(2, 5)], fmod=1) == [(0, 4)]
    assert of("Mod", [between(-1, 9), between(2, 5)], fmod=1) == ["any"]


def test_scattered_elements_that_are_combined_have_no_bounds():
    for reduction, wanted in (("none", (0, 2)), ("add", "any")):
        inputs = [between(0, 1), between(0, 1), between(1, 2)]
        assert of("ScatterElements", inputs, reduction=reduction) == [wanted]


def test_a_constant_of_a_shape_is_its_element():
    for array, elem_type, wanted in (
        (np.array([7]), INT64, (7, 7)),
        (np.array([200], np.uint8), UINT8, (200, 200)),
        (np.array([1.5], np.float32), FLOAT, None),
    ):
        value = onnx.numpy_helper.from_array(array)
        assert of("ConstantOfShape", [between(0, 3)], elem_type=elem_type, value=value) == [wanted]
    assert of("ConstantOfShape", [between(0, 3)], elem_type=FLOAT) == [None]


@pytest.mark.parametrize(
    ("elem_type", "bounds", "wanted"),
    [
        (INT64, (0, N), (0, N)),
        (INT64, (0, N * ((1 << 31) - 1)), (0, N * ((1 << 31) - 1))),
        (INT64, (0, N * (1 << 31)), "any"),
        (INT64, (-N * (1 << 31), 0), "any"),
        (INT32, (0, N), (-(2**31), 2**31 - 1)),
        (INT32, (0, 2**31 - 1), (0, 2**31 - 1)),
        (INT32, (0, 2**31), (-(2**31), 2**31 - 1)),
        (INT32, (-(2**31), 0), (-(2**31), 0)),
        (INT32, (-(2**31) - 1, 0), (-(2**31), 2**31 - 1)),
        (UINT8, (0, 256), (0, 255)),
        (FLOAT, (0, 1), None),
        (BOOL, (0, 1), None),
        (onnx.TensorProto.STRING, (0, 1), None),
        (0, (0, 1), None),
    ],
)
def test_bounds_that_the_type_cannot_hold_are_broken_by_overflow(elem_type, bounds, wanted):
    found = known(Fact(elem_type), Bounds(*map(dim, bounds)))
    assert pair(found.bounds) == wanted


def content(*elements):
    made = as_content(np.zeros(len(elements), np.int64))
    made[:] = [None if e is None else dim(e) for e in elements]
    return made


def test_content_gives_the_tightest_bounds():
    for elements, wanted in (
        ((3, -1, 7), (-1, 7)),
        ((N, N + 2), (N, N + 2)),
        ((N, None), (0, 99)),
        ((N, M), (0, 99)),
        ((), (0, 99)),
    ):
        found = known(Fact(INT64, None, content(*elements)), Bounds(dim(0), dim(99)))
        assert pair(found.bounds) == wanted, elements


def test_the_least_and_the_greatest():
    assert least([dim(3), dim(1), dim(2)]) == 1
    assert greatest([dim(3), dim(1), dim(2)]) == 3
    assert least([N + 1, N]) == N and greatest([N, N + 1]) == N + 1
    assert least([N, N]) == N
    assert least([N + 2, M + 1]) == 1, "neither is known to be the smaller, but both are above"
    assert least([M + 1, N + 2]) == 1
    assert greatest([2 - N, 1 - M]) == 2
    assert greatest([N, M]) is None
    assert least([-N, -M]) is None
    assert least([-N, M]) == -N
    assert least([-N, 5 - M, dim(0)]) is None


def test_what_holds_for_both():
    one, other = Bounds(dim(0), dim(5)), Bounds(dim(-2), N)
    assert join(one, Bounds(dim(-2), dim(3))) == Bounds(dim(-2), dim(5))
    assert join(one, other) is None
    assert join(one, None) is None and join(None, one) is None


def test_whether_just_as_much_is_known():
    fact = Fact(INT64, (N,), content(1, N))
    one = Known(fact, Bounds(dim(0), dim(5)))
    assert alike(one, one)
    assert alike(one, Known(Fact(INT64, (N,), content(1, N)), Bounds(dim(0), dim(5))))
    for other in (
        Known(Fact(INT32, (N,), content(1, N)), one.bounds),
        Known(Fact(INT64, (M,), content(1, N)), one.bounds),
        Known(Fact(INT64, (N,), content(1, M)), one.bounds),
        Known(Fact(INT64, (N,), content(1)), one.bounds),
        Known(Fact(INT64, (N,)), one.bounds),
        Known(fact, Bounds(dim(0), dim(6))),
        Known(fact),
    ):
        assert not alike(one, other) and not alike(other, one)
    unknown = Known(Fact(INT64, (N,), content(1, None)))
    assert not alike(unknown, Known(Fact(INT64, (N,), content(1, None))))
    assert alike(Known(Fact(FLOAT)), Known(Fact(FLOAT)))
