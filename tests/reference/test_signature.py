from functools import partial

import onnx
import pytest
from straightline.reference.signature import (
    Signature,
    mismatches,
    output_mismatches,
    random_operators,
    type_text,
)
from tables import table


def model(signature, body="y = Identity(x)", ir_version=10):
    return onnx.parser.parse_model(
        f'<ir_version: {ir_version}, opset_import: ["": 18]> g {signature} {{ {body} }}'
    )


BASE = "(float[N,3] x, int64 n) => (float[N,3] y)"


def found(after, before=BASE, bound=()):
    return "; ".join(mismatches(*[Signature.of(model(text)) for text in (before, after)], bound))


def test_initializers_that_are_inputs_are_defaults_from_ir_version_4_on():
    text = "(float[1] w, float[1] x) => (float[1] y) <float[1] w = {1}>"
    new, old = (Signature.of(model(text, ir_version=version)) for version in (4, 3))
    assert list(new.inputs) == list(old.inputs) == ["x"]
    assert list(new.defaults) == ["w"]
    assert old.defaults == {}


@table(
    ("(float[1,3] x, int64 n) => (float[1,3] y)", ""),
    ("(float[N,3] x) => (float[N,3] y)", "input 'n' is missing"),
    ("(float[N,3] x, int64 n, bool b) => (float[N,3] y)", "input 'b' is new"),
    ("(int64 n, float[N,3] x) => (float[N,3] y)", "another order: 'n', 'x'"),
    ("(float[N,4] x, int64 n) => (float[N,4] y)", "input 'x' was float[N,3], now float[N,4]"),
    ("(double[N,3] x, int64 n) => (double[N,3] y)", "input 'x' was float"),
    ("(seq(float[N,3]) x, int64 n) => (seq(float) y)", "input 'x' was float"),
)
def test_each_kind_of_mismatch_is_named(after, words):
    text = found(after)
    assert words in text
    assert bool(text) == bool(words)


def test_outputs_must_keep_name_and_order():
    one = model("(float x) => (float y)")
    other = model("(float x) => (float z)", "z = Identity(x)")
    text = mismatches(Signature.of(one), Signature.of(other), ())
    assert text == ["the outputs were 'y', now 'z'"]


def test_a_bound_input_may_be_gone():
    assert found("(float[N,3] x) => (float[N,3] y)", bound={"n": 1}) == ""


def test_a_new_default_is_no_new_input():
    assert found("(float[N,3] x, int64 n, float w) => (float[N,3] y) <float w = {1}>") == ""


def test_random_operators_are_found_in_bodies():
    assert not random_operators(model(BASE))
    branch = "b () => (float r) { r = RandomNormal<shape=[1]>() }"
    nested = "c = Constant<value_int=1>() d = Cast<to=9>(c) y = If(d)"
    body = f"{nested} <then_branch = {branch}, else_branch = {branch}>"
    assert random_operators(model("(float x) => (float y)", body))


def test_dropout_draws_only_with_a_training_mode():
    dropout = "y = Dropout(x{})"
    text = "(float x, float r, bool t) => (float y)"
    assert not random_operators(model(text, dropout.format("")))
    assert random_operators(model(text, dropout.format(", r, t")))


def _opaque(domain, name):
    proto = onnx.TypeProto()
    proto.opaque_type.domain, proto.opaque_type.name = domain, name
    return proto


def _map(key, value):
    proto = onnx.TypeProto()
    proto.map_type.key_type = key
    proto.map_type.value_type.CopyFrom(value)
    return proto


def _unlike():
    """Types of which no value is of two, with their texts."""
    sequence = onnx.helper.make_sequence_type_proto
    optional = onnx.helper.make_optional_type_proto
    sparse = onnx.helper.make_sparse_tensor_type_proto
    one, other, third = (onnx.helper.make_tensor_type_proto(e, [2]) for e in (1, 7, 8))
    plain = [one, other, _opaque("A", ""), _opaque("", "A"), _opaque("A", "B"), _opaque("", "A, B")]
    plain += [_map(7, one), _map(8, one), _map(7, third), _map(7, sequence(one))]
    plain += [sparse(1, [2]), sparse(7, [2])]
    wrapped = [wrap(inner) for inner in plain for wrap in (sequence, optional)]
    return plain + wrapped + [sequence(sequence(one)), optional(sequence(one))]


def _signatures_of_types(place):
    for type_ in _unlike():
        one = model("(float x) => (float y)", "y = Neg (x)")
        getattr(one.graph, place).add(name="o").type.CopyFrom(type_)
        yield Signature.of(one)


@pytest.mark.parametrize("place", ["input", "output"])
def test_types_of_each_kind_are_compared(place):
    signatures = list(_signatures_of_types(place))
    for i, one in enumerate(signatures):
        for j, other in enumerate(signatures):
            compare = output_mismatches if place == "output" else partial(mismatches, bound=())
            text = compare(one, other)
            assert bool(text) == (i != j)
            assert not text or text[0].startswith(f"{place} 'o' was ")


def test_a_type_that_is_left_open_agrees_with_any():
    open_ = model("(float x) => (float y)", "y = Neg (x)")
    for place in (open_.graph.input, open_.graph.output):
        place.add(name="o").type.sequence_type.elem_type.SetInParent()
    other = onnx.ModelProto()
    other.CopyFrom(open_)
    for info in (other.graph.input[1], other.graph.output[1]):
        info.type.sequence_type.elem_type.CopyFrom(onnx.helper.make_tensor_type_proto(1, [2]))
    models = Signature.of(open_), Signature.of(other)
    for pair in (models, models[::-1]):
        assert mismatches(*pair, ()) == output_mismatches(*pair) == []


def test_sizes_of_outputs_are_not_compared():
    models = [
        Signature.of(model(f"(float[N,3] x) => (float[{sizes}] y)")) for sizes in ("4", "N,3")
    ]
    assert output_mismatches(*models) == []


def test_types_as_text():
    proto = onnx.TypeProto()
    assert type_text(proto) == "undefined"
    proto.opaque_type.domain, proto.opaque_type.name = "acme", "Thing"
    assert type_text(proto) == "opaque(acme, Thing)"
    sparse = onnx.helper.make_sparse_tensor_type_proto(1, ["N", 2])
    assert type_text(sparse) == "sparse_tensor(float[N,2])"
    assert type_text(onnx.helper.make_sequence_type_proto(proto)) == "seq(opaque(acme, Thing))"
