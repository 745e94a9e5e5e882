import random

import onnx
import pytest
import random_loops
from hypothesis import given
from hypothesis import strategies as st
from model_features import walk
from straightline import Error
from straightline.reduction import ReductionError, reduce_model, size_of
from straightline.reduction.reduce import removable

HEAD = '<ir_version: 8, opset_import: ["" : 17%s]>\n'
LOOP = (
    HEAD % ""
    + """g (float[2,3] x, int64 n, bool p) => (float[2,3] y, float[K,2,3] z)
    <float[3] w = {1, 2, 3}, bool yes = {1}> {
    a = Mul (x, w)
    b = Exp (a)
    s, z = Loop (n, yes, b) <body = body (int64 i, bool c, float[2,3] t) =>
            (bool c2, float[2,3] t2, float[2,3] row) {
        c2 = Identity (c)
        u = Add (t, a)
        t2 = If (p) <then_branch = q () => (v) { k = Neg (u) v = Erf (k) },
                     else_branch = r () => (v2) { v2 = Abs (u) }>
        row = Sin (t2) }>
    d = Sub (s, x)
    y = Relu (d) }"""
)


def holds(*op_types):
    return lambda model: set(op_types) <= {node.op_type for node, _ in walk(model)}


def reduced(text, still_fails):
    return reduce_model(onnx.parser.parse_model(text), still_fails).model


def text_of(model):
    return " ".join(onnx.printer.to_text(model.graph).split())


@pytest.mark.parametrize("op_type", ["Mul", "Exp", "Erf", "Sin", "Sub", "Relu", "Abs"])
def test_a_node_at_any_depth_stays_alone(op_type):
    model = reduced(LOOP, holds(op_type))
    assert [node.op_type for node in model.graph.node] == [op_type]
    onnx.checker.check_model(model, full_check=True)


def test_a_loop_keeps_what_a_loop_needs():
    model = reduced(LOOP, holds("Loop"))
    assert [node.op_type for node, _ in walk(model)] == ["Loop", "Identity", "Identity"]
    (loop,) = model.graph.node
    assert len(loop.input) + len(loop.output) <= 4


def test_nodes_of_two_depths():
    model = reduced(LOOP, holds("If", "Mul"))
    assert sorted(node.op_type for node in model.graph.node) == ["If", "Mul"]


def test_the_smallest_model_of_a_chain():
    text = HEAD % "" + "g (float[N] x) => (float[N] y) { a = Neg (x) b = Exp (a) y = Sin (b) }"
    assert text_of(reduced(text, holds("Exp"))) == "g (float[N] a) => (float[N] b) { b = Exp (a) }"


def test_functions_are_inlined():
    text = (
        HEAD
        % ', "local" : 1'
        + 'g (float[2] x) => (float[2] y) { y = local.f (x) }\n<domain: "local",'
        ' opset_import: ["" : 17]> f (a) => (b) { c = Exp (a) b = Neg (c) }'
    )
    model = reduced(text, holds("Neg"))
    assert not model.functions
    assert [node.op_type for node in model.graph.node] == ["Neg"]


def test_attributes_and_large_constants_go():
    values = ", ".join(map(str, range(100)))
    text = (
        HEAD % "" + f"g (float[100] x) => (float[100] y) <float[100] w = {{{values}}}> {{"
        " a = Add (x, w) y = LeakyRelu <alpha = 0.5> (a) }"
    )
    model = reduced(text, holds("LeakyRelu"))
    assert not model.graph.initializer and not model.graph.node[0].attribute
    model = reduced(text, holds("LeakyRelu", "Add"))
    assert not model.graph.initializer and len(model.graph.input) == 2


def test_texts_go():
    model = onnx.parser.parse_model(LOOP)
    model.doc_string = model.graph.doc_string = "long"
    model.graph.node[0].name = "first"
    model = reduce_model(model, holds("Mul")).model
    assert (model.doc_string, model.graph.doc_string, model.graph.node[0].name) == ("", "", "")


def test_each_smaller_model_is_passed_on_and_the_limit_holds():
    smaller = []
    model = onnx.parser.parse_model(LOOP)
    result = reduce_model(model, holds("Erf"), max_tests=4, on_smaller=smaller.append)
    assert not result.complete and result.tests == 4
    assert result.model == smaller[-1]
    sizes = [size_of(each) for each in smaller]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)


def test_a_fault_that_does_not_last_is_said():
    model = onnx.parser.parse_model(LOOP)
    before = model.SerializeToString()
    with pytest.raises(ReductionError, match="as soon as straightline"):
        reduce_model(model, lambda each: False)
    assert model.SerializeToString() == before


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(200))
def test_all_that_is_tried_is_valid(seed):
    """The checker accepts each model that a test runs, and what stays has the operator."""
    model = random_loops.random_loop(random.Random(seed))
    kinds = sorted({node.op_type for node, _ in walk(model)})
    wanted = kinds[seed % len(kinds)]

    def still_fails(tried):
        onnx.checker.check_model(tried, full_check=True)
        return holds(wanted)(tried)

    try:
        result = reduce_model(model, still_fails)
    except Error as error:
        pytest.fail(str(error))
    assert holds(wanted)(result.model)
    assert size_of(result.model).nodes <= 4, onnx.printer.to_text(result.model)


@given(st.integers(0, 40).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, 39)))))
def test_reduction_keeps_the_needed_items_alone(case):
    count, needed = case
    needed = {item for item in needed if item < count}
    removed = removable(count, needed.isdisjoint)
    assert set(removed) == set(range(count)) - needed
    assert removed == sorted(removed)


@given(st.lists(st.sets(st.integers(0, 9), min_size=1), max_size=6))
def test_no_single_item_more_can_go(groups):
    """Items of a group go together or not at all, so the property is not monotone."""

    def holds_without(items):
        return all(group <= set(items) or group.isdisjoint(items) for group in groups)

    removed = set(removable(10, holds_without))
    assert holds_without(removed)
    assert not any(holds_without(removed | {item}) for item in set(range(10)) - removed)


def test_trials_are_few_where_little_is_needed():
    trials = []

    def holds_without(items):
        trials.append(items)
        return 700 not in items

    assert len(removable(1000, holds_without)) == 999
    assert len(trials) < 60
