"""Choosing between two tensors by a condition that run time tells."""

import itertools

import numpy as np
import onnx
import pytest
from straightline import ir, reference
from straightline.facts.polynomial import Dimension
from straightline.ops.builder import Builder
from straightline.passes.utils.select import broadcasting, select

N = Dimension.symbol("N")


def model_of(kind, condition="bool c"):
    return ir.load(
        onnx.parser.parse_model(
            f'<ir_version: 8, opset_import: ["" : 17]> g ({condition}, {kind}[2] a, {kind}[2] b)'
            " => () { }"
        )
    )


def give_out(model, value, kind):
    info = onnx.helper.make_tensor_value_info(value.name, kind, [2])
    model.graph.set_outputs([value], [info])
    ir.verify(model)
    return ir.to_proto(model)


@pytest.mark.parametrize("holds", [True, False])
def test_numbers(holds):
    model = model_of("float")
    c, a, b = model.graph.inputs
    proto = give_out(model, select(Builder(model.graph), c, a, b, a.elem_type, "y"), 1)
    feeds = {"a": np.array([1, np.nan], np.float32), "b": np.array([3, np.inf], np.float32)}
    (found,) = reference.run(proto, {"c": np.array(holds), **feeds})
    np.testing.assert_array_equal(found, feeds["a" if holds else "b"])


def test_truth_values_without_a_where():
    model = model_of("bool")
    c, a, b = model.graph.inputs
    proto = give_out(model, select(Builder(model.graph), c, a, b, a.elem_type, "y"), 9)
    assert "Where" not in {node.op_type for node in proto.graph.node}
    for holds, one, other in itertools.product([True, False], repeat=3):
        one, other = np.array([one, not one]), np.array([other, other])
        (found,) = reference.run(proto, {"c": np.array(holds), "a": one, "b": other})
        np.testing.assert_array_equal(found, one if holds else other)


def test_nothing_to_choose():
    model = model_of("float")
    c, a, _ = model.graph.inputs
    assert select(Builder(model.graph), c, a, a, 1, "y") is a
    assert len(model.graph) == 0


@pytest.mark.parametrize(
    ("shape", "rank", "as_it_is"),
    [
        ((), 0, True),
        ((1,), 1, True),
        ((1,), 0, False),
        ((1, 1), 1, False),
        ((N,), 1, False),
        (None, 3, False),
    ],
)
def test_a_condition_never_raises_the_rank(shape, rank, as_it_is):
    model = model_of("float")
    condition = model.graph.inputs[0]
    found = broadcasting(Builder(model.graph), condition, shape, rank, "r")
    assert (found is condition) == as_it_is
    assert as_it_is or found.producer.op_type == "Reshape"


def test_a_condition_of_more_elements_fails_as_in_an_if():
    model = model_of("float", "bool[2] c")
    c, a, b = model.graph.inputs
    emitter = Builder(model.graph)
    scalar = broadcasting(emitter, c, None, 1, "r")
    proto = give_out(model, select(emitter, scalar, a, b, 1, "y"), 1)
    with pytest.raises(reference.EvaluationError):
        reference.run(proto, {"c": np.ones(2, bool), **dict.fromkeys("ab", np.ones(2, np.float32))})
