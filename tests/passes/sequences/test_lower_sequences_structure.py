"""What is decided about sequences before run time."""

import numpy as np
import pytest
from harness import as_model
from hypothesis import given
from hypothesis import strategies as st
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.obstacle import Obstacle
from straightline.passes.sequences.lower_sequences import (
    KnownSequence,
    OptionalContent,
    Structures,
    plain,
    position,
)
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 18, "other" : 1]>\n'


def value(name):
    return ir.Value(name)


@given(
    st.integers(0, 3),
    st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=8),
    st.lists(st.integers(0, 9), max_size=3),
)
def test_edits_are_those_of_a_list(start, edits, questions):
    plain_list = [value(f"s{k}") for k in range(start)]
    elements = KnownSequence(tuple(map(plain, plain_list)))
    versions = [(elements, list(plain_list))]
    for number, (insert, at) in enumerate(edits):
        if insert:
            new = value(f"e{number}")
            place = at % (len(plain_list) + 1)
            plain_list.insert(place, new)
            elements = elements.insert(place, plain(new))
        elif plain_list:
            place = at % len(plain_list)
            del plain_list[place]
            elements = elements.erase(place)
        versions.append((elements, list(plain_list)))
    for version, expected in versions:
        assert version.count == len(expected)
        for question in questions:
            if expected:
                place = question % len(expected)
                assert version.element(place)() is expected[place]
        assert [element() for element in version.all()] == expected
        assert [version.element(k)() for k in range(len(expected))] == expected


def test_the_first_question_puts_nothing_in_order():
    first, second, third = (value(name) for name in "abc")
    base = KnownSequence((plain(first), plain(second)))
    edited = base.insert(1, plain(third)).erase(0)
    assert edited.element(0)() is third
    assert edited.insert(0, plain(first)).element(2)() is second


@table(
    (None, -3, 2, -1, 2),
    (None, -3, 3, 3, 3),
    (0, -3, 2, -1, 0),
    (2, -3, 2, -1, 2),
    (-3, -3, 2, -1, 0),
    (-1, -3, 3, 3, 2),
)
def test_positions_are_counted_from_the_front(given_, low, high, default, found):
    held = None
    if given_ is not None:
        held = ir.Value("i", constant=ir.Tensor(array=np.array([given_])))
    assert position(held, low, high, default) == found


def test_positions_that_are_not_decided():
    for array, reason in (
        (np.array(3), "position 3 is outside a sequence of 3, so it fails at run time"),
        (np.array(-4), "position -4 is outside a sequence of 3"),
        (np.array([0, 1]), "its position has 2 elements; it must be one"),
        (np.zeros(0, np.int64), "its position has 0 elements"),
    ):
        with pytest.raises(Obstacle, match=reason):
            position(ir.Value("i", constant=ir.Tensor(array=array)), -3, 2, -1)
    model = ir.load(as_model(HEAD + "g (int64 n) => (y) { y = Neg (n) }"))
    with pytest.raises(Obstacle, match="its position depends on input 'n'"):
        position(model.graph.outputs[0], -3, 2, -1)


TEXT = """g (float[2] x, seq(float[2]) given, optional(float[2]) maybe, untyped, int64 n, bool c)
    => (y) {
    s = SequenceConstruct (x, x)
    o = Optional (x)
    t = Neg (x)
    a = SequenceAt (untyped, n)
    b = other.Strange (x)
    l = If (c) <then_branch = t1 () => (p) { p = Identity (untyped) },
                else_branch = e1 () => (q) { q = Identity (untyped) }>
    h = OptionalHasElement (untyped)
    y = Neg (x) }"""


@pytest.fixture
def structures():
    model = ir.load(as_model(HEAD + TEXT))
    names = {v.name: v for v in model.graph.inputs}
    names.update({v.name: v for n in model.graph.nodes() for v in n.outputs})
    return Structures(ShapeInference(model)), names


def test_kinds_by_structure_type_and_operator(structures):
    found, names = structures
    every = {"tensor", "seq", "optional"}
    wanted = {
        "x": {"tensor"},
        "given": {"seq"},
        "maybe": {"optional"},
        "untyped": every,
        "s": {"seq"},
        "o": {"optional"},
        "t": {"tensor"},
        "a": {"tensor"},
        "b": every,
        "l": every,
        "h": {"tensor"},
    }
    assert {name: set(found.kinds(names[name])) for name in wanted} == wanted
    found.contents[names["untyped"]] = KnownSequence()
    found.contents[names["b"]] = OptionalContent(None)
    assert found.kinds(names["untyped"]) == {"seq"}
    assert found.kinds(names["b"]) == {"optional"}


def test_kinds_of_operators_that_came_later_or_by_the_other_name(structures):
    found, names = structures
    node = names["a"].producer
    node.graph.set_operator(node, ir.Operator("SequenceAt", domain="ai.onnx"))
    assert found.kinds(names["a"]) == {"tensor"}
    node.graph.set_operator(node, ir.Operator("SequenceInsert"))
    assert found.kinds(names["a"]) == {"seq"}
    found.inference.model.opset_imports[""] = 10
    assert found.kinds(names["a"]) == {"tensor", "seq", "optional"}


def test_structures_that_are_known(structures):
    found, names = structures
    elements, held = KnownSequence((plain(names["x"]),)), OptionalContent(names["x"])
    found.contents.update({names["s"]: elements, names["o"]: held})
    assert found.sequence(names["s"]) is elements
    assert found.optional(names["o"]) is held
    with pytest.raises(Obstacle, match="its sequence comes from Optional 'o', which stays"):
        found.sequence(names["o"])
    with pytest.raises(Obstacle, match="its optional comes from SequenceConstruct 's', which"):
        found.optional(names["s"])


def test_why_a_structure_is_not_known(structures):
    found, names = structures

    def reason(name):
        with pytest.raises(Obstacle) as caught:
            found.sequence(names.get(name))
        return str(caught.value), caught.value.node is not None

    assert reason("nothing") == ("its sequence is absent, so it fails at run time", False)
    assert reason("given") == ("its sequence is input 'given', known only at run time", False)
    assert reason("s") == ("its sequence comes from SequenceConstruct 's', which stays", False)
    found.reasons[names["s"].producer] = Obstacle("nobody knows")
    told = "its sequence comes from SequenceConstruct 's': nobody knows"
    assert reason("s") == (told, True)
    found.reasons[names["s"].producer] = Obstacle(told, names["s"].producer)
    assert reason("s") == (told, True), "the first reason is handed on as it is"


def test_inputs_of_bodies_and_functions_are_named_with_their_holder():
    model = ir.load(
        as_model(
            HEAD.replace('"other" : 1', '"local" : 1')
            + """g (seq(float[2]) s, int64 n) => (y) {
                y = Loop (n, , s) <body = b (int64 i, bool c, seq(float[2]) p) =>
                    (bool d, seq(float[2]) q) { d = Identity (c) q = Identity (p) }> }
            <domain: "local", opset_import: ["" : 18]> f (a) => (r) { r = Identity (a) }"""
        )
    )
    found = Structures(ShapeInference(model))
    (loop,) = model.graph.nodes()
    (function,) = model.functions.values()
    for given_, told in (
        (loop.body("body").inputs[2], "'p' of the body of Loop 'y'"),
        (function.graph.inputs[0], "input 'a' of function 'local::f'"),
        (model.graph.inputs[0], "input 's'"),
    ):
        with pytest.raises(Obstacle) as caught:
            found.sequence(given_)
        assert str(caught.value) == f"its sequence is {told}, known only at run time"


def test_declared_types_come_before_inferred_ones(structures):
    found, names = structures
    declared = names["given"].type
    names["b"].type = declared
    assert found.kinds(names["b"]) == {"seq"}, "nothing can be inferred of it"
