"""A node that the schema of its opset does not accept is never part of a proof."""

from collections import defaultdict

import onnx
from onnx import TensorProto, helper
from onnx.defs import OpSchema
from proofs import is_proved, model, over_reals
from straightline.ir.subgraph_arity import BODIES
from straightline.verification.proof import prove
from tables import table

_TYPES = {name.lower(): number for name, number in TensorProto.DataType.items() if number}
_KEPT = ("x", TensorProto.FLOAT, [2])


def _schemas():
    """Each schema with the types that other versions name, and the last opset that has it."""
    histories = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain and schema.name not in BODIES:
            histories[schema.name].append(schema)
    for versions in histories.values():
        versions.sort(key=lambda schema: schema.since_version)
        constraints = [each for schema in versions for each in schema.type_constraints]
        named = {text for each in constraints for text in each.allowed_type_strs}
        ends = [schema.since_version - 1 for schema in versions[1:]]
        for schema, last in zip(versions, [*ends, onnx.defs.onnx_opset_version()], strict=True):
            if not schema.deprecated:
                yield schema, named, last


def _allowed(schema, variable):
    texts = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    return texts.get(variable, [variable])


def _element_type(text):
    """Element type of a tensor; None for other types."""
    return _TYPES.get(text.removeprefix("tensor(").rstrip(")"))


def _is_proved(op_type, types, outputs, opset, **attributes):
    """Prove a copy equal to a copy with a node that nobody reads."""
    values = [_KEPT, *[(f"i{n}", elem_type, None) for n, elem_type in enumerate(types)]]
    inputs = [helper.make_tensor_value_info(*value) for value in values]
    names = [info.name for info in inputs[1:]]
    copy = helper.make_node("Identity", ["x"], ["y"])
    extra = helper.make_node(op_type, names, [f"o{n}" for n in range(outputs)], **attributes)
    result = [helper.make_tensor_value_info("y", *_KEPT[1:])]
    imports = [helper.make_opsetid("", opset)]
    pair = [
        helper.make_model(helper.make_graph(nodes, "g", inputs, result), opset_imports=imports)
        for nodes in ([copy], [copy, extra])
    ]
    return is_proved(*pair, brief=True)


def test_no_input_has_a_type_that_only_another_version_accepts():
    count = 0
    single = (OpSchema.FormalParameterOption.Single, OpSchema.FormalParameterOption.Variadic)
    for schema, named, last in _schemas():
        formals = [each for each in schema.inputs if each.option in single]
        if any(attribute.required for attribute in schema.attributes.values()):
            continue
        for variable in {each.type_str for each in formals}:
            for text in sorted(named.difference(_allowed(schema, variable)))[::3]:
                choices = [
                    [text] if each.type_str == variable else _allowed(schema, each.type_str)
                    for each in formals
                ]
                types = [next(filter(None, map(_element_type, each)), None) for each in choices]
                if None not in types:
                    count += 1
                    outputs = max(schema.min_output, 1)
                    assert not _is_proved(schema.name, types, outputs, last), (schema.name, text)
    assert count > 500


@table(
    ("Bernoulli", "dtype", [TensorProto.FLOAT]),
    ("BitCast", "to", [TensorProto.FLOAT]),
    ("Cast", "to", [TensorProto.FLOAT]),
    ("EyeLike", "dtype", [TensorProto.FLOAT]),
    ("HannWindow", "output_datatype", [TensorProto.INT64]),
    ("Multinomial", "dtype", [TensorProto.FLOAT]),
    ("QuantizeLinear", "output_dtype", [TensorProto.FLOAT] * 2),
    ("RandomNormal", "dtype", []),
    ("RandomUniformLike", "dtype", [TensorProto.FLOAT]),
    ("SequenceEmpty", "dtype", []),
)
def test_no_attribute_sets_a_type_that_the_version_lacks(op_type, name, types):
    for schema, _, last in _schemas():
        if schema.name != op_type or name not in schema.attributes or last < 7:
            continue
        texts = _allowed(schema, schema.outputs[0].type_str)
        for text, number in _TYPES.items():
            if not any(f"({text})" in each for each in texts):
                extra = {"shape": [2]} if op_type == "RandomNormal" else {}
                assert not _is_proved(op_type, types, 1, last, **{name: number}, **extra), text


def test_the_type_of_the_input_may_be_no_type_of_the_output():
    assert _is_proved("RandomNormalLike", [TensorProto.FLOAT], 1, 13)
    assert _is_proved("RandomNormalLike", [TensorProto.STRING], 1, 13, dtype=1)
    assert not _is_proved("RandomNormalLike", [TensorProto.STRING], 1, 13)


@table(
    ("Max", 8, 7, "(float[2,3] x, float[3] w) => (y) { y = Max (x, w) }"),
    ("Sum", 13, 7, "(float[2,3] x, float[1,3] w, float[2,3] v) => (y) { y = Sum (x, v, w) }"),
    ("Mean", 8, 7, "(float[n] x, float[m] w) => (y) { y = Mean (x, w) }"),
    ("Add", 7, 6, "(float[2,3] x, float[3] w) => (y) { y = Add (x, w) }"),
    ("scales", 13, 10, "(float[2,3] x, float[3] s) => (y) { y = QuantizeLinear (x, s) }"),
    ("back", 13, 10, "(uint8[2,3] x, float[3] s) => (y) { y = DequantizeLinear (x, s) }"),
    ("5-D", 20, 16, "(float[1,1,2,2,2] x, float[1,2,2,2,3] s) => (y) { y = GridSample (x, s) }"),
    ("wrap", 19, 18, "(float[4] x, int64[2] p) => (y) { y = Pad <mode = 'wrap'> (x, p) }"),
    ("largest", 18, 16,
     "(float[4] x, int64[2] i) => (y) { y = ScatterElements <reduction = 'max'> (x, i, x) }"),
    ("symmetric", 19, 18, "(float[1,1,4,4] x, float[4] s) => (y) { y = "
     "Resize <coordinate_transformation_mode = 'half_pixel_symmetric'> (x, , s) }"),
    ("TensorFlow", 11, 13, "(float[1,1,4,4] x, float[4] s) => (y) { y = "
     "Resize <coordinate_transformation_mode = 'tf_half_pixel_for_nn'> (x, s, s) }"),
    ("axes", 11, 9, "(float[2,3] x) => (y) { y = Unsqueeze <axes = [-1]> (x) }"),
)  # fmt: skip
def test_operands_of_one_version_alone_are_not_proved_in_another(what, opset, other, text):
    before, after = (model(f"g {text}".replace("'", '"'), each) for each in (opset, other))
    assert is_proved(before, before)
    assert not is_proved(before, after), what


@table(
    (7, "(float[2,3] x, float[2,3] w)", "Max (x, w)", "Max (w, x)"),
    (7, "(float[n,3] x, float[n,3] w)", "Sum (x, w)", "Add (x, w)"),
    (7, "(float[n] x, float[m] w)", "Max (x, w)", "Max (x, w)"),
    (6, "(float[2,3] x, float[3] w)", "Add <broadcast = 1> (x, w)", "Add <broadcast = 1> (x, w)"),
    (10, "(float[2,3] x, float s)", "QuantizeLinear (x, s)", "QuantizeLinear (x, s)"),
)
def test_operands_that_the_older_version_accepts_are_proved(opset, inputs, one, other):
    pair = [model(f"g {inputs} => (y) {{ y = {each} }}", opset) for each in (one, other)]
    assert over_reals(*pair)


@table(
    "g = GlobalMaxPool (x)",
    "g = LpNormalization <p = 3> (x)",
    "g = RandomNormal <shape = [2, -1]> ()",
    "g = Split <num_outputs = 2, axis = 0> (x)",
    "g = Optional ()",
    "g, m = LayerNormalization <stash_type = 7> (x, v)",
)
def test_a_node_that_always_fails_is_not_added(node):
    text = "g (float[2,3] x, float[3] v) => (float[2,3] y) {{ y = Neg (x) {} }}"
    before, after = (model(text.format(each), 18) for each in ("", node))
    assert not is_proved(before, after, brief=True)


def test_a_reduction_that_the_original_has_early_is_no_fault_of_either_model():
    """PyTorch writes reduction = "max" in opset 16, where onnxruntime accepts it."""
    header = '<ir_version: 8, opset_import: ["" : 16]> g (float[3] x, int64[2] i, float[2] u)'
    early = 's = ScatterElements <reduction = "max"> (x, i, u)'
    pair = [
        onnx.parser.parse_model(f"{header} => (float[3] y) {{ {early} {rest} }}")
        for rest in ("t = Neg (s) y = Neg (t)", "y = Identity (s)")
    ]
    assert is_proved(*pair)
    one = "int64[1] k = {1}"
    by_tuples = onnx.parser.parse_model(
        f"{header} => (float[3] y) <{one}> {{ j = Unsqueeze (i, k)"
        ' s = ScatterND <reduction = "max"> (x, j, u) y = Identity (s) }'
    )
    assert prove(pair[0], by_tuples, equality="reals").status != "refuted"
    plain = early.replace(' <reduction = "max">', "")
    without = onnx.parser.parse_model(f"{header} => (float[3] y) {{ {plain} y = Neg (s) }}")
    other = onnx.parser.parse_model(f"{header} => (float[3] y) {{ {early} y = Neg (s) }}")
    assert prove(without, other).status == "refuted"
