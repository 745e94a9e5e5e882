import re

import onnx
import pytest
from operator_facts import (
    ABSENT,
    BOOL,
    FLOAT,
    INT64,
    STRING,
    UNKNOWN,
    M,
    N,
    between,
    dim,
    make_node,
    numbers,
    tensor,
)
from straightline.facts.bounds import Known
from straightline.facts.fact import Fact, Symbols
from straightline.facts.safety_context import (
    Premises,
    Unproven,
    at_least,
    axis_of,
    broadcast,
    broadcast_to,
    require,
    same,
    same_shape,
    shown,
)


def premises(*inputs, **attributes):
    node = make_node("Foo", list(inputs), **attributes)
    return Premises(node, [Known(Fact()) if one is None else one for one in inputs], 17)


def refused(reason):
    return pytest.raises(Unproven, match=re.escape(reason))


def shape(*sizes):
    return tuple(map(dim, sizes))


def test_inputs_that_are_there():
    given = premises(tensor(2), ABSENT)
    assert given.has(0) and not given.has(1) and not given.has(2)
    assert given.name(0) == "'i0'"
    assert given.name(1) == "input 1, which is absent" and "input 2" in given.name(2)


def test_types():
    typed = [tensor(2, elem_type=t) for t in (FLOAT, INT64, BOOL, onnx.TensorProto.UINT8)]
    given = premises(*typed, Known(Fact()), ABSENT)
    assert [given.elem_type(k) for k in range(3)] == [FLOAT, INT64, BOOL]
    assert [given.is_integer(k) for k in range(5)] == [False, True, True, True, True]
    for index in (4, 5):
        with refused("the element type of"):
            given.elem_type(index)
    assert not premises(tensor(2, elem_type=STRING)).is_integer(0)


def test_shapes():
    given = premises(tensor(2, N), UNKNOWN, ABSENT, tensor(3))
    assert given.shape(0) == (2, N) == given.shape(0, 2)
    with refused("'i0' may not have rank 1"):
        given.shape(0, 1)
    for index in (1, 2):
        with refused("the rank of"):
            given.shape(index)
    assert given.vector(3) == 3
    with refused("the length of 'i0' is not known"):
        premises(tensor(N)).vector(0)


def test_elements():
    given = premises(numbers([N, 2]), numbers([[3]]), numbers([1, None]), between(0, 9, 2), ABSENT)
    assert given.content(0).tolist() == [N, 2]
    assert given.numbers(1).tolist() == [[3]]
    with refused("'i0' is known only at run time"):
        given.numbers(0)
    for index in (2, 3, 4):
        with refused("known only at run time"):
            given.content(index)
        with refused("known only at run time"):
            given.numbers(index)
    assert given.bounds(3) == (0, 9)
    for one in (tensor(2), ABSENT):
        with refused("are not known to be integers"):
            premises(one).bounds(0)


def test_axes():
    assert premises(axis=-1).axis(3, 0) == 2 and premises().axis(3, -3) == 0
    assert premises(axis=3).axis(3, 0, extra=1) == 3
    with refused("axis 3 does not exist for rank 3"):
        premises(axis=3).axis(3, 0)
    assert premises(tensor(2), numbers([0, -1])).axes(1) == [0, -1]
    assert premises(tensor(2), axes=[1]).axes(1) == [1]
    assert premises(tensor(2)).axes(1) is None and premises(tensor(2), ABSENT).axes(1) is None
    with refused("'i1' is known only at run time"):
        premises(tensor(2), between(0, 1, 2)).axes(1)
    assert premises(pads=[1, 2]).listed("pads", 1) == [1, 2]
    assert [axis_of(axis, 2) for axis in (-2, -1, 0, 1)] == [0, 1, 0, 1]
    for axis in (-3, 2):
        with refused(f"axis {axis} does not exist for rank 2"):
            axis_of(axis, 2)


def test_one_element():
    premises(tensor()).one_element(0)
    premises(tensor(1, 1)).one_element(0)
    for one in (tensor(2), tensor(1, N), tensor(0)):
        with refused("'i0' may not hold exactly one element"):
            premises(one).one_element(0)


def test_positions_within_axes():
    premises(between(-3, 2)).within(0, shape(3, 4, N + 3))
    for low, high in ((-4, 0), (0, 3)):
        known = f"size 3; it is known to lie between {low} and {high}"
        with refused(known):
            premises(between(low, high)).within(0, shape(4, 3))
    with pytest.raises(Unproven, match=r"of size N$"):
        premises(between(0, 1 << 31)).within(0, shape(N))


def test_demands():
    require(True, "no")
    with refused("the reason"):
        require(False, "the reason")
    same(N + 1, 1 + N, "sizes")
    same(dim(3), 3, "sizes")
    with refused("sizes may not fit: N and M"):
        same(N, M, "sizes")
    with refused("sizes may not fit: N and 3"):
        same(N, 3, "sizes")
    at_least(N + 1, 1, "an axis")
    with refused("an axis of size N may be less than 1"):
        at_least(N, 1, "an axis")
    assert shown(N + 1) == "N + 1" and shown(Symbols().fresh()) == "unknown"


def test_shapes_that_broadcast():
    broadcast([])
    broadcast([shape(2, 1, N), shape(3, 1), shape()])
    broadcast([None, shape(1, 1)])
    for shapes in ([None, shape(2)], [None, None, shape(1)]):
        with refused("the shape of an operand is not known"):
            broadcast(shapes)
    for other in (shape(M), shape(2)):
        with refused("sizes that must broadcast may not fit"):
            broadcast([shape(3, N), other])


def test_shapes_that_stretch_to_another():
    broadcast_to(shape(1, N), shape(5, 2, N), "it")
    broadcast_to(shape(), shape(2), "it")
    with refused("it has too many axes"):
        broadcast_to(shape(1, 2), shape(2), "it")
    with refused("it may not fit: 2 and 1"):
        broadcast_to(shape(2), shape(1), "it")


def test_shapes_that_are_equal():
    same_shape(shape(2, N), shape(2, N), "it")
    with refused("it may have the wrong rank"):
        same_shape(shape(2), shape(2, 1), "it")
    with refused("the shape of it may not fit: N and M"):
        same_shape(shape(2, N), shape(2, M), "it")
