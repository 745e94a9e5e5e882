import itertools

import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model
from sessions import outputs
from straightline import ir, reference
from straightline.facts.polynomial import Dimension
from straightline.ops.builder import Builder
from straightline.passes.utils.select import as_select, broadcasting, select
from tables import table

N = Dimension.symbol("N")


def model_of(kind, condition="bool c"):
    return ir.load(
        as_model(
            f'<ir_version: 8, opset_import: ["" : 17]> g ({condition}, {kind}[2] a, {kind}[2] b)'
            " => () { }"
        )
    )


def give_out(model, value, kind):
    model.graph.set_outputs([value], [onnx.helper.make_tensor_value_info(value.name, kind, [2])])
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


@table(
    ((), 0, True),
    ((1,), 1, True),
    ((1,), 0, False),
    ((1, 1), 1, False),
    ((N,), 1, False),
    (None, 3, False),
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


@table(
    (("Exp", "Neg"), "Reciprocal", ["Exp", "Neg", "Where"]),
    (("Neg", "Exp"), "Reciprocal", ["Exp", "Neg", "Where", "Xor"]),
    (("Neg", "Sin"), "Reciprocal", ["Max", "Neg", "Sin", "Where", "Where", "Xor"]),
    (("Neg", "Sin"), "Exp", ["Neg", "Sin", "Where"]),
    (("Neg", "Sin"), "Neg", ["Neg", "Sin", "Where"]),
)
def test_signs_of_zeros_that_readers_tell_stay(branches, reader, left):
    """onnxruntime's Where loses them of the first value."""
    choice = """g (float[2] x, bool c) => (float[2] y) {{
        w = If (c) <then_branch = t () => (float[2] a) {{ a = {} (x) }},
                    else_branch = e () => (float[2] b) {{ b = {} (x) }}>
        y = {} (w) }}"""
    text = choice.format(*branches, reader)
    outcome = sl.transform(as_model(text), "ifs-to-selects")
    assert sorted(node.op_type for node in outcome.model.graph.node) == sorted([*left, reader])
    assert outcome.verdict.proof.proved
    for holds in (True, False):
        for x in ([0.0, -0.0], [1.0, -1.0]):
            fed = {"x": np.array(x, np.float32), "c": np.array(holds)}
            one, other = (outputs(m, fed) for m in (as_model(text), outcome.model))
            np.testing.assert_array_equal(one, other)


def test_special_numbers_are_chosen_as_they_are():
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5], np.float32)
    for kind, dtype in (("float", np.float32), ("double", np.float64), ("float16", np.float16)):
        numbers = np.resize(special, 40).astype(dtype)
        model = ir.load(as_model(f" g (bool c, {kind}[40] a, {kind}[40] b) => () {{ }}"))
        c, a, b = model.graph.inputs
        chosen = select(Builder(model.graph), c, a, b, a.elem_type, "y")
        info = onnx.helper.make_tensor_value_info(chosen.name, a.elem_type, [40])
        model.graph.set_outputs([chosen], [info])
        for holds in (True, False):
            fed = {"c": np.array(holds), "a": numbers, "b": numbers[::-1].copy()}
            expected = fed["a" if holds else "b"]
            for run in (outputs, reference.run):
                (found,) = run(ir.to_proto(model), fed)
                np.testing.assert_array_equal(found, expected)
                np.testing.assert_array_equal(np.signbit(found[3::6]), np.signbit(expected[3::6]))


@pytest.mark.parametrize("kind", ["float", "bool", "int32"])
def test_each_form_is_read_back(kind):
    """Both forms that keep the signs of zeros, and the plain one."""
    model = model_of(kind)
    condition, one, other = model.graph.inputs
    builder = Builder(model.graph, opset=17)
    value = select(builder, condition, one, other, one.elem_type, "y")
    assert as_select(value.producer) == (condition, one, other)


@table(
    "n = Not (c) p = Where (n, least, a) q = Where (n, least, b) y = Max (p, q)",
    "n = Not (c) p = Where (n, nil, a) q = Where (c, nil, b) y = Max (p, q)",
    "y = Max (a, b)",
)
def test_other_maxima_are_no_selects(nodes):
    head = '<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[2] a, float[2] b)'
    constants = "<float nil = {0}, float least = {-inf}>"
    model = ir.parse(f"{head} => (float[2] y) {constants} {{ {nodes} }}")
    assert as_select(model.graph.outputs[0].producer) is None
