"""Certificates forged for different models: all that the rules reach is not enough."""

import copy

import numpy as np
import onnx
import pytest
from forged import accepted
from forged_pairs import DEFINITIONS, PAIRS, REALS, VALUES
from proofs import model
from tables import table


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", PAIRS)
def test_different_models_have_no_certificate(name):
    *texts, opsets = PAIRS[name]
    pair = [model(text, opset) for text, opset in zip(texts, opsets, strict=True)]
    assert not accepted(*pair, {})


@pytest.mark.parametrize("name", VALUES)
def test_signs_of_zeros_that_matter_have_no_certificate(name):
    *texts, opsets = VALUES[name]
    pair = [model(text, opset) for text, opset in zip(texts, opsets, strict=True)]
    assert not accepted(*pair, {}, "values")
    assert not accepted(*pair[::-1], {}, "values")


@pytest.mark.parametrize("name", REALS)
def test_rounded_constants_are_no_real_numbers(name):
    *texts, opsets = REALS[name]
    pair = [model(text, opset) for text, opset in zip(texts, opsets, strict=True)]
    assert not accepted(*pair, {}, "reals")
    assert not accepted(*pair[::-1], {}, "reals")


@pytest.mark.sample(14)
@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("equality", ["bits", "reals"])
def test_functions_for_operators_prove_nothing_else(name, equality):
    header = '<ir_version: 8, opset_import: ["" : 23, "com.microsoft" : 1]>'
    pair = [model(f"{header} {text}") for text in DEFINITIONS[name][:2]]
    assert not accepted(*pair, {}, equality) and not accepted(*pair[::-1], {}, equality)
    assert all(accepted(each, each, {}, equality) for each in pair)


NEG = "g (float[n] x) => (y) { y = Neg (x) }"


def changed(change, text=NEG):
    proto = model(text)
    change(proto)
    return proto


@table(
    lambda proto: proto.graph.output.add().CopyFrom(proto.graph.output[0]),
    lambda proto: proto.graph.input.add().CopyFrom(proto.graph.input[0]),
    lambda proto: proto.opset_import.add(domain="ai.onnx", version=9),
    lambda proto: proto.functions.add(name="Neg", output=["x"], input=["x"]),
)
def test_ambiguous_models_are_refused(change):
    assert accepted(model(NEG), model(NEG), {})
    assert not accepted(model(NEG), changed(change), {})
    assert not accepted(changed(change), changed(change), {})


def test_two_initializers_of_one_name():
    text = "g (float[n] x) => (y) { y = Add (x, k) }"
    values = [onnx.numpy_helper.from_array(np.array([v], np.float32), "k") for v in (1, 2)]
    one = changed(lambda proto: proto.graph.initializer.append(values[0]), text)
    two = changed(lambda proto: proto.graph.initializer.extend(values), text)
    assert accepted(one, one, {}) and not accepted(one, two, {}) and not accepted(two, one, {})


def test_an_attribute_without_a_name_stands_for_no_other():
    text = """<ir_version: 8, opset_import: ["" : 17, "l" : 1]>
        g (float[n] x) => (float[n] y) { y = l.f (x) }
        <domain: "l", opset_import: ["" : 17]> f (a) => (c) { c = LeakyRelu <alpha = 0.5> (a) }"""
    attribute = onnx.helper.make_attribute("alpha", 0.25)
    attribute.name = ""
    odd = changed(lambda proto: proto.graph.node[0].attribute.append(attribute), text)
    plain = "g (float[n] x) => (float[n] y) {{ y = LeakyRelu <alpha = {}> (x) }}"
    assert not accepted(odd, model(plain.format(0.25), 17), {})


@pytest.mark.parametrize("opset", [13, 18])
def test_a_part_without_a_name_is_a_part(opset):
    number = " <num_outputs = {}>" if opset == 18 else ""
    three = model(f"g (float[9] x) => (a, b) {{ a, b, d = Split{number.format(3)} (x) }}", opset)
    unnamed = copy.deepcopy(three)
    unnamed.graph.node[0].output[2] = ""
    two = model(f"g (float[9] x) => (a, b) {{ a, b = Split{number.format(2)} (x) }}", opset)
    assert accepted(three, unnamed, {}) and not accepted(unnamed, two, {})


def test_a_value_that_is_set_is_the_condition_of_the_claim():
    text = "g (float[n] x, float[n] k) => (float[n] y) { y = Add (x, k) }"
    fixed = "g (float[n] x{}) => (float[n] y) <float[2] c = {{3, 4}}> {{ y = Add (x, c) }}"
    values = np.array([3, 4], np.float32)
    for more in ("", ", float[n] k"):
        after = model(fixed.format(more))
        assert accepted(model(text), after, {"k": values})
        assert not accepted(model(text), after, {"k": values[::-1].copy()})
        assert not accepted(model(text), after, {"k": values.astype(np.float64)})
        assert not accepted(model(text), after, {"k": values[None]})
        assert not accepted(model(text), after, {})
