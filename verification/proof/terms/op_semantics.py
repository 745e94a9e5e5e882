"""Meaning of an operator at an opset, apart from its spelling: the newest equivalent version.

Versions of an operator with the same meaning are one head of terms, so that a model and its
conversion to another opset are compared by what they compute.

A step from one version to the next keeps the meaning where the schemas show it: the next version
has the attributes and inputs of the one before, and all that it adds is optional. Allowed types do
not count. Steps whose schemas show more or less than what changed are functions here, after the
operators' changelog (https://github.com/onnx/onnx/blob/main/docs/Changelog.md). Where an attribute
became an input, a rule of `canonicalize/` follows.
"""

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import onnx
import onnx.defs

from ....ir import Operator, attribute_message, normal_domain
from ....ir.subgraph_arity import BODIES
from ....ops.schema_queries import schema_at
from ....records import entry

LATEST = onnx.defs.onnx_opset_version()

FIRST_PLAIN = 7
"""First opset whose operators broadcast without attributes. Where an older form needs terms to be
brought there, see `execution/before_opset_7.py`."""

Step = Callable[[Operator, int], "Operator | None"]
"""Operator in the form of the next version, from the operator and the number of its outputs;
None if the meaning differs there."""

_STEPS: dict[tuple[str, int], Step] = {}

_OTHER_MEANING = {
    ("Clip", 6),  # the limits of 32-bit floats bound other types, too
    ("PRelu", 7),  # slopes of channels
    ("Attention", 24),
    ("GroupNormalization", 21),  # one scale for a channel, not for a group
    ("OneHot", 11),  # a negative index counts from the back; before it was out of range
    ("Resize", 11),  # other pixel positions, see `canonicalize/resize.py`
    ("Split", 18),  # parts may have other lengths where sizes are unknown
}
"""Versions with another meaning than the one before, whatever the schemas show."""


def newest(op: Operator, version: int, outputs: int) -> tuple[Operator, int, int]:
    """Newest equivalent version of an operator of the default domain, defaults written out. Returns
    also that version, and the last opset that has it.

    Args:
        op: the operator, known to onnx.
        version: the opset of the model.
        outputs: number of outputs of its node.
    """
    schemas = versions_of(op.op_type)
    place = max(n for n, schema in enumerate(schemas) if schema.since_version <= version)
    op = with_defaults(op, schemas[place])
    # A construct with bodies keeps its version: what runs inside is compared, not how it is
    # spelled.
    while place + 1 < len(schemas) and op.op_type not in BODIES:
        after = schemas[place + 1]
        if version < FIRST_PLAIN and after.since_version <= FIRST_PLAIN:
            op = with_changes(op, consumed_inputs=None)
        stepped = _step_to(op, schemas[place], after, outputs)
        if stepped is None:
            break
        op, place = with_defaults(stepped, after), place + 1
    behind = schemas[place + 1].since_version - 1 if place + 1 < len(schemas) else LATEST
    return op, schemas[place].since_version, behind


def _step_to(op: Operator, before: Any, after: Any, outputs: int) -> Operator | None:
    key = op.op_type, after.since_version
    step = _STEPS.get(key)
    if step is not None:
        return step(op, outputs)
    keeps = key not in _OTHER_MEANING and not after.deprecated
    return op if keeps and _extends(op.op_type, before.since_version, after.since_version) else None


@functools.cache
def _extends(op_type: str, earlier: int, later: int) -> bool:
    """Test whether a schema keeps all inputs, outputs and attributes of an earlier one."""
    before, after = (onnx.defs.get_schema(op_type, version, "") for version in (earlier, later))
    for name, attribute in before.attributes.items():
        counterpart = after.attributes.get(name)
        # A hint about memory, which changes no result and is gone from opset 6 on.
        if name == "consumed_inputs":
            continue
        if (
            counterpart is None
            or counterpart.type != attribute.type
            or _default(counterpart) != _default(attribute)
        ):
            return False
    # An older node could not have it.
    if any(a.required for name, a in after.attributes.items() if name not in before.attributes):
        return False
    return all(
        _formals_extend(getattr(before, side), getattr(after, side))
        for side in ("inputs", "outputs")
    )


def _formals_extend(before: Any, after: Any) -> bool:
    kinds = onnx.defs.OpSchema.FormalParameterOption
    if len(before) > len(after):
        return False
    for old, new in zip(before, after, strict=False):
        # An operand that became optional is still there in an older node.
        if old.option != new.option and (old.option, new.option) != (kinds.Single, kinds.Optional):
            return False
    return all(new.option == kinds.Optional for new in after[len(before) :])


@functools.cache
def versions_of(op_type: str) -> list[Any]:
    """Schemas of an operator of the default domain, oldest first."""
    return sorted(_histories().get(op_type, []), key=lambda schema: int(schema.since_version))


@functools.cache
def _histories() -> dict[str, list[Any]]:
    histories: dict[str, list[Any]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            histories.setdefault(schema.name, []).append(schema)
    return histories


def with_defaults(op: Operator, schema: Any) -> Operator:
    """Operator with the default attributes of a version written out."""
    missing = [m for name, m in defaults_of(schema).items() if name not in op.attributes]
    return op.with_attributes([*op.attributes.values(), *missing]) if missing else op


def defaults_of(schema: Any) -> dict[str, onnx.AttributeProto]:
    """Default attributes of a schema."""
    return _defaults(schema.name, schema.domain, schema.since_version)


@functools.cache
def _defaults(name: str, domain: str, version: int) -> dict[str, onnx.AttributeProto]:
    schema = onnx.defs.get_schema(name, version, domain)
    defaults = {}
    for key, attribute in schema.attributes.items():
        message = attribute.default_value
        if message.type != onnx.AttributeProto.UNDEFINED:
            copy = onnx.AttributeProto()
            copy.CopyFrom(message)
            copy.name = key
            defaults[key] = copy
    return defaults


def _default(attribute: Any) -> bytes | None:
    message = attribute.default_value
    if message.type == onnx.AttributeProto.UNDEFINED:
        return None
    content: bytes = message.SerializeToString(deterministic=True)
    return content


def step(version: int, *op_types: str) -> Callable[[Step], Step]:
    """Register a function as the step of operators to a version."""
    return entry(_STEPS, *[(op_type, version) for op_type in op_types])


def with_changes(op: Operator, **attributes: Any) -> Operator:
    """Operator with some attributes set, or removed where the value is None."""
    others = [m for m in op.attributes.values() if m.name not in attributes]
    new = [attribute_message(n, v) for n, v in attributes.items() if v is not None]
    return op.with_attributes([*others, *new])


@step(6, "Cast")
def type_number(op: Operator, outputs: int) -> Operator | None:
    """Map the name of a type to its number."""
    name = op.attribute("to", b"").decode().upper()
    number = dict(onnx.TensorProto.DataType.items()).get(name)
    return None if number is None else with_changes(op, to=number)


@step(7, "BatchNormalization", "Dropout")
def test_mode(op: Operator, outputs: int) -> Operator | None:
    """Map inference, the only mode of Dropout, and of BatchNormalization with one output."""
    infers = op.attribute("is_test") and (outputs == 1 or op.op_type == "Dropout")
    return with_changes(op, is_test=None) if infers else None


@step(7, "Upsample")
def scales(op: Operator, outputs: int) -> Operator | None:
    """Map the scales of height and width."""
    height, width = (op.attribute(name) for name in ("height_scale", "width_scale"))
    mode = "linear" if op.attribute("mode") == b"bilinear" else op.attribute("mode")
    sizes = {"height_scale": None, "width_scale": None, "scales": [1.0, 1.0, height, width]}
    return with_changes(op, mode=mode, **sizes)


@step(22, "AveragePool", "LpPool", "MaxPool")
@step(19, "AveragePool")
@step(18, "LpPool")
def windows(op: Operator, outputs: int) -> Operator | None:
    """Refuse a last window that may start in the padding, on which versions differ."""
    return None if op.attribute("ceil_mode", 0) and not _starts_inside(op) else op


def _starts_inside(op: Operator) -> bool:
    """Test whether each window of a pooling starts before the padding at the end."""
    sizes = op.attribute("kernel_shape", ())
    if op.attribute("auto_pad", b"NOTSET") != b"NOTSET" or op.attribute("count_include_pad", 0):
        return False
    ones = [1] * len(sizes)
    strides, dilations = op.attribute("strides", ones), op.attribute("dilations", ones)
    ends = op.attribute("pads", [0] * 2 * len(sizes))[len(sizes) :]
    axes = zip(sizes, strides, dilations, ends, strict=True)
    return all(stride + end <= (size - 1) * gap + 1 for size, stride, gap, end in axes)


@step(20, "GridSample")
def modes(op: Operator, outputs: int) -> Operator | None:
    """Map modes that were named for two dimensions."""
    mode = op.attribute("mode", "bilinear")
    mode = mode.decode() if isinstance(mode, bytes) else mode
    return with_changes(op, mode={"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode))


_STEPS |= {
    # The default axis of opset 1.
    ("Concat", 4): lambda op, outputs: with_changes(op, axis=op.attribute("axis", 1)),
    ("Pad", 2): lambda op, outputs: with_changes(op, pads=op.attribute("paddings"), paddings=None),
    # The same numbers, whose defaults changed.
    ("Selu", 6): lambda op, outputs: op,
    # The default direction was misspelled.
    ("GRU", 3): lambda op, outputs: (
        with_changes(op, direction="forward") if op.attribute("direction") == b"foward" else op
    ),
    # Every output is optional since.
    **dict.fromkeys(
        [(op_type, 7) for op_type in ("RNN", "GRU", "LSTM")],
        lambda op, outputs: with_changes(op, output_sequence=None),
    ),
    # Every bias may broadcast since.
    ("Gemm", 7): lambda op, outputs: with_changes(op, broadcast=None),
    # spatial = 0 normalizes each element apart, and has no newer form.
    ("BatchNormalization", 9): lambda op, outputs: (
        with_changes(op, spatial=None) if op.attribute("spatial", 1) else None
    ),
    # With one output it was in inference mode, which became an attribute.
    ("BatchNormalization", 14): lambda op, outputs: (
        with_changes(op, training_mode=0) if outputs == 1 else None
    ),
    # The pixel positions had no name.
    ("RoiAlign", 16): lambda op, outputs: with_changes(
        op, coordinate_transformation_mode="output_half_pixel"
    ),
}


def serialize(attributes: Mapping[str, onnx.AttributeProto]) -> tuple[bytes, ...]:
    """Bytes of attributes in any order, without their documentation."""
    if not attributes:
        return ()
    return tuple(sorted([_bytes(message) for message in attributes.values()]))


def _bytes(message: onnx.AttributeProto) -> bytes:
    if message.doc_string:
        bare = onnx.AttributeProto()
        bare.CopyFrom(message)
        bare.ClearField("doc_string")
        message = bare
    content: bytes = message.SerializeToString(deterministic=True)
    return content


class Meaning(NamedTuple):
    """Newest equivalent version of an operator.

    Attributes:
        op: the operator with all defaults written out.
        since: version of the operator.
        opset: the last opset that has this version.
        elem_types: element types of its outputs, as onnx infers them, by those of its inputs.
        kernels: kernels of the reference, by the number of outputs and the inputs that are absent.
        key: name, version and attributes, which only this meaning has.
    """

    op: Operator
    since: int
    opset: int
    elem_types: dict[Hashable, tuple[int, ...]]
    kernels: dict[Hashable, Callable[[Sequence[Any]], list[Any]]]
    key: Hashable

    @classmethod
    def of(cls, op: Operator, since: int, opset: int) -> "Meaning":
        """Meaning of an operator in its newest version."""
        key = op.qualname, op.overload, since, serialize(op.attributes)
        return cls(op, since, opset, {}, {}, key)


def meaning_of(op: Operator, version: int, outputs: int) -> Meaning:
    """Meaning of an operator at a version of its domain.

    Args:
        version: the version of its domain.
        outputs: number of outputs of its node; 0 if unknown.
    """
    domain = normal_domain(op.domain)
    schema = schema_at(op.op_type, version, domain)
    if schema is None:
        return Meaning.of(op, version, version)
    if domain:
        return Meaning.of(with_defaults(op, schema), schema.since_version, version)
    return Meaning.of(*newest(op, version, outputs))


@functools.lru_cache(maxsize=1 << 12)
def meaning_of_serialized(
    op_type: str, domain: str, overload: str, version: int, outputs: int, *attributes: bytes
) -> Meaning:
    """Meaning of an operator, cached for all proofs. It holds copies of the attributes, so that no
    model stays in memory."""
    messages = map(onnx.AttributeProto.FromString, attributes)
    op = Operator(op_type, {m.name: m for m in messages}, domain, overload)
    return meaning_of(op, version, outputs)


def is_known(op: Operator, version: int) -> bool:
    """Test whether ONNX defines an operator."""
    return schema_at(op.op_type, version, normal_domain(op.domain)) is not None


def has_any_outputs(op: Operator, version: int) -> bool:
    """Test whether the number of outputs is free, as for Split."""
    return _has_any_outputs(op.op_type, version, normal_domain(op.domain))


@functools.cache
def _has_any_outputs(op_type: str, version: int, domain: str) -> bool:
    schema = schema_at(op_type, version, domain)
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return schema is None or any(p.option == variadic for p in schema.outputs[-1:])
