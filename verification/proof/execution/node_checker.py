"""Validity of a node at its opset: no proof speaks of a model that runtimes refuse."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import onnx
import onnx.defs

from ....definitions import definitions_of
from ....definitions.registry import IN_ONNX_DOMAIN
from ....facts.fact import Fact
from ....ir import Operator, normal_domain
from ....ir.subgraph_arity import BODIES
from ....ops.schema_queries import schema_at
from ....reference.bodies import label
from ..terms.budget import OpenError

LEFT_OUT = -1
"""Element type of an absent input."""

Type = int | str
"""Element type of a tensor, 0 if unknown; a sequence or an optional as the specification writes it,
such as "seq(tensor(float))"."""


class InvalidError(OpenError):
    """Signal that a node is invalid at its opset: a checker refuses the model."""


def require_form(
    node: onnx.NodeProto, imports: Mapping[str, int], faults: set[str], is_rewrite: bool
) -> None:
    """Require that an operator exists in its opset, with these inputs, outputs and attributes.

    Args:
        node: a node that calls no function.
        imports: the opsets that it is written for.
        faults: faults in the values of attributes of the original, which runtimes may accept.
        is_rewrite: whether the node is of the rewrite, which may have these faults and no others.

    Raises:
        InvalidError: it is not.
    """
    domain = normal_domain(node.domain)
    if domain not in imports:
        op = Operator(node.op_type, domain=domain)
        if definitions_of(op, imports):
            return  # onnxruntime reads domains of its own without an import
        raise InvalidError(f"{label(node)} is of domain '{domain}', which is not imported")
    version, op_type = imports[domain], node.op_type
    attributes = tuple([attribute.name for attribute in node.attribute])
    if not domain and op_type in IN_ONNX_DOMAIN and schema_at(op_type, version, domain) is None:
        return  # files of onnxruntime have such nodes
    fault = _form_fault(op_type, version, domain, len(node.input), len(node.output), attributes)
    if not fault and not domain:
        fault = "" if _FLAGS.isdisjoint(attributes) else _flag_fault(node)
        value = ""
        if not fault and not _TYPES.keys().isdisjoint(attributes):
            value = _attribute_type_fault(node, version)
        if not (fault or value) and op_type in _RESTRICTED:
            value = _value_fault(node, version)
        if value and op_type in _ACCEPTED and not is_rewrite:
            faults.add(value)
        elif op_type not in _ACCEPTED or value not in faults:
            fault = fault or value
    if fault:
        raise InvalidError(f"{label(node)} {fault} in opset {version}")


@functools.lru_cache(maxsize=1 << 12)
def _form_fault(
    op_type: str, version: int, domain: str, inputs: int, outputs: int, attributes: Sequence[str]
) -> str:
    """Fault of nodes with so many inputs and outputs and attributes of these names."""
    schema = schema_at(op_type, version, domain)
    if schema is None:
        # An operator that no opset of ONNX has is a custom one.
        return "is not" if not domain and onnx.defs.has(op_type) else ""
    if schema.deprecated:
        return "is deprecated"
    if not schema.min_input <= inputs <= schema.max_input:
        return f"has {inputs} inputs"
    if not schema.min_output <= outputs <= schema.max_output:
        return f"has {outputs} outputs"
    unknown = sorted(set(attributes) - set(schema.attributes))
    # Constant has seven attributes for its value, of which exactly one must be set (operator
    # specification); the schema calls each of them optional.
    if op_type == "Constant" and len(attributes) != 1:
        return f"has {len(attributes)} values"
    return f"has no '{unknown[0]}'" if unknown else ""


def _flag_fault(node: onnx.NodeProto) -> str:
    """Fault of an attribute that is 0 or 1: runtimes refuse other numbers, or read them in ways of
    their own."""
    for attribute in node.attribute:
        # What the caller of a function sets is not known here.
        is_flag = attribute.name in _FLAGS and not attribute.ref_attr_name
        if is_flag and attribute.i not in (0, 1):
            return f"has {attribute.name} = {attribute.i}"
    return ""


def _value_fault(node: onnx.NodeProto, version: int) -> str:
    """Fault of the attributes of a node, whose names are known."""
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            continue
        least = _VALUES.get((node.op_type, attribute.name))
        value = None if least is None else onnx.helper.get_attribute_value(attribute)
        if least is not None and version < least.version and not least.takes(value):
            return f"has {attribute.name} = {value!r}"
        words = _WORDS.get((node.op_type, attribute.name))
        word = attribute.s.decode(errors="replace")
        if words is not None and not any(map(_Word(word, version).is_in, words.split())):
            return f"has {attribute.name} = '{word}'"
    numbers = {attribute.name: attribute.i for attribute in node.attribute}
    is_empty = not any(node.input[1:])
    # Up to opset 17 a Split without sizes cuts equal parts; opset 18 requires one of the two.
    if node.op_type == "Split" and version >= 18 and is_empty:
        if "num_outputs" not in numbers:
            return "has neither sizes nor their number"
        if numbers["num_outputs"] != len(node.output):
            return f"has num_outputs = {numbers['num_outputs']}"
    if node.op_type == "Optional" and not any(node.input) and "type" not in numbers:
        return "has neither an input nor a type"
    return ""


_ACCEPTED = frozenset(["ScatterElements", "ScatterND"])
"""Operators of which onnxruntime accepts later values, in both alike: PyTorch writes reduction =
"max" in opset 16, which the specification has from 18 on."""
_FLAGS = frozenset([
    "align_corners", "allowzero", "antialias", "batch_axis", "broadcast", "ceil_mode",
    "center_point_box", "count_include_pad", "detect_negative", "detect_positive",
    "exclude_outside", "exclusive", "fmod", "input_forget", "interleaved", "inverse",
    "is_case_sensitive", "is_causal", "is_test", "keepdims", "largest", "layout",
    "linear_before_reset", "new_axis", "noop_with_empty_axes", "onesided", "output_sequence",
    "periodic", "reverse", "saturate", "select_last_index", "sorted", "spatial",
    "storage_order", "time_axis", "training_mode", "transA", "transB", "upper",
])  # fmt: skip
"""Attributes of operators that are 0 or 1."""


_NEVER = 1 << 31
_FLOATS = (
    *(onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE),
    *(onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16),
)
"""Types of which onnxruntime refuses a Mod without fmod, as the specification has it."""


class _Restriction(NamedTuple):
    """A restriction of an attribute: the version that lifts it, and which values it allows."""

    version: int
    takes: Callable[[Any], bool]


_VALUES = {
    ("Flatten", "axis"): _Restriction(11, lambda axis: axis >= 0),
    ("TopK", "k"): _Restriction(10, lambda k: k > 0),
    ("GridSample", "mode"): _Restriction(20, lambda mode: mode not in (b"linear", b"cubic")),
    ("LpNormalization", "p"): _Restriction(_NEVER, lambda p: p in (1, 2)),
    ("RandomNormal", "shape"): _Restriction(_NEVER, lambda shape: min(shape, default=0) >= 0),
    ("RandomUniform", "shape"): _Restriction(_NEVER, lambda shape: min(shape, default=0) >= 0),
    ("Squeeze", "axes"): _Restriction(11, lambda axes: min(axes, default=0) >= 0),
    ("Transpose", "perm"): _Restriction(_NEVER, lambda perm: sorted(perm) == [*range(len(perm))]),
    ("Unsqueeze", "axes"): _Restriction(11, lambda axes: min(axes, default=0) >= 0),
}
"""Attributes with values that earlier versions lack; runtimes refuse to load these."""


_PADS = "NOTSET SAME_UPPER SAME_LOWER VALID"
_DIRECTIONS = "forward reverse bidirectional"
_WORDS = {
    ("BitShift", "direction"): "LEFT RIGHT",
    ("DepthToSpace", "mode"): "DCR CRD",
    ("Gelu", "approximate"): "none tanh",
    ("GridSample", "padding_mode"): "zeros border reflection",
    ("Pad", "mode"): "constant reflect edge wrap:19",
    ("Resize", "mode"): "nearest linear cubic:11",
    ("Resize", "coordinate_transformation_mode"): (
        "half_pixel half_pixel_symmetric:19 pytorch_half_pixel align_corners asymmetric"
        " tf_half_pixel_for_nn:11-12 tf_crop_and_resize"
    ),
    ("Resize", "nearest_mode"): "round_prefer_floor round_prefer_ceil floor ceil",
    ("ScatterElements", "reduction"): "none add mul min:18 max:18",
    ("ScatterND", "reduction"): "none add mul min:18 max:18",
    ("Upsample", "mode"): "nearest linear:7 bilinear:1-6",
    **{(op, "round_mode"): "up down nearest" for op in ("Cast", "CastLike")},
    **{(op, "direction"): _DIRECTIONS for op in ("GRU", "LSTM", "RNN")},
    **{(op, "auto_pad"): _PADS for op in ("AveragePool", "Conv", "ConvTranspose", "MaxPool")},
}
"""Words that an attribute may be."""


class _Word(NamedTuple):
    """A word at a version."""

    text: str
    version: int

    def is_in(self, rule: str) -> bool:
        """Test against a word with the versions that have it, such as "wrap:19-"."""
        word, _, versions = rule.partition(":")
        first, _, last = versions.partition("-")
        return self.text == word and int(first or 0) <= self.version <= int(last or _NEVER)


_TYPES = {"to": 0, "dtype": 0, "output_dtype": 0, "output_datatype": 0, "stash_type": 1}
"""Attributes that are the element type of an output, and its position."""


def _attribute_type_fault(node: onnx.NodeProto, version: int) -> str:
    """Fault of an attribute that sets an output's type to one that the version lacks.

    Up to opset 5 a Cast has the name of the type.
    """
    for attribute in node.attribute:
        position = _TYPES.get(attribute.name)
        is_number = attribute.type == onnx.AttributeProto.INT and not attribute.ref_attr_name
        if position is None or position >= len(node.output) or not is_number:
            continue
        allowed, default = _types_of_output(node.op_type, version, position, attribute.name)
        if attribute.i not in allowed and attribute.i != default:
            return f"has {attribute.name} = {attribute.i}"
    return ""


@functools.cache
def _types_of_output(
    op_type: str, version: int, position: int, name: str
) -> tuple[frozenset[int], int | None]:
    """Element types that an output may have, and the default of its attribute."""
    schema = schema_at(op_type, version, "")
    if schema is None or position >= len(schema.outputs):
        return frozenset(_ELEM_TYPES.values()), None
    default = schema.attributes[name].default_value
    number = default.i if default.type == onnx.AttributeProto.INT else None
    return _allowed_types(schema, schema.outputs[position].type_str), number


def _allowed_types(schema: Any, variable: str) -> frozenset[int]:
    """Element types of tensors and of elements of sequences that a type variable allows."""
    texts = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    bare = [each.rpartition("(")[2].rstrip(")") for each in texts.get(variable, [variable])]
    return frozenset([_ELEM_TYPES[each] for each in bare if each in _ELEM_TYPES])


_RESTRICTED = {"Split", "Optional", *(op_type for op_type, _ in (*_VALUES, *_WORDS))}


def type_of(fact: Fact) -> Type:
    """Type of a value."""
    return fact.elem_type if fact.other is None else declared_type(fact.other)


def declared_type(message: onnx.TypeProto) -> Type:
    """Type of a message; 0 if the element type is unknown."""
    kind = message.WhichOneof("value")
    if kind == "tensor_type":
        return message.tensor_type.elem_type
    name = {"sequence_type": "seq", "optional_type": "optional"}.get(kind or "")
    if name is None:
        return 0
    element = declared_type(getattr(message, str(kind)).elem_type)
    return f"{name}({_text_of(element)})" if element else 0


def _text_of(value_type: Type) -> str:
    """Type as the specification writes it."""
    if isinstance(value_type, str):
        return value_type
    return f"tensor({onnx.TensorProto.DataType.Name(value_type).lower()})"


def require_valid(node: onnx.NodeProto, version: int, types: tuple[Type, ...]) -> None:
    """Require inputs and types that the operator's version accepts.

    Args:
        node: a node that calls no function.
        version: the version of its domain.
        types: types of its inputs; LEFT_OUT for an absent one, 0 if unknown.

    Raises:
        InvalidError: it has not.
    """
    fault = _type_fault(node.op_type, version, normal_domain(node.domain), types)
    is_of_floats = node.op_type == "Mod" and not node.domain and types and types[0] in _FLOATS
    if is_of_floats and not any(each.i or each.ref_attr_name for each in node.attribute):
        fault = "requires fmod = 1 for floats"
    if not fault and node.op_type in _LIKE and not node.domain and types[0] not in (0, LEFT_OUT):
        allowed, _ = _types_of_output(node.op_type, version, 0, "dtype")
        if types[0] not in allowed and all(each.name != "dtype" for each in node.attribute):
            fault = f"returns no {short_type(types[0])} in opset {version}"
    if fault:
        raise InvalidError(f"{label(node)} {fault}")


def raise_type_conflict(name: str, declared: Type, own: Type) -> NoReturn:
    """Refuse a value of another type than its graph declares.

    Raises:
        InvalidError: always; no runtime loads such a model.
    """
    raise InvalidError(f"'{name}' is declared as {short_type(declared)} and is {short_type(own)}")


def known_type(fact: Fact) -> str:
    """Type of a value as the specification writes it; empty if unknown."""
    return _text_of(type_of(fact)) if type_of(fact) else ""


def short_type(value_type: Type) -> str:
    """Type in a message: that of a tensor by its element type."""
    text = _text_of(value_type)
    return text[len("tensor(") : -1] if text.startswith("tensor(") else text


def output_types(node: onnx.NodeProto, version: int, types: Sequence[Type]) -> Sequence[Type]:
    """Types of a node's outputs; 0 where neither its schema nor an attribute determines one.

    Args:
        node: a node without bodies that calls no function.
        version: the version of its domain.
        types: types of its inputs, as those of `require_valid`.
    """
    domain, op_type = normal_domain(node.domain), node.op_type
    results = list(_output_types(op_type, version, domain, tuple(types), len(node.output)))
    if domain or not results:
        return results
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if op_type == "Constant":
        results[0] = _constant_type(attributes)
    elif op_type == "ConstantOfShape":
        value = attributes.get("value")
        results[0] = onnx.TensorProto.FLOAT if value is None else value.t.data_type
    elif op_type in _TYPED:
        attribute = attributes.get(_TYPED[op_type])
        number = onnx.TensorProto.FLOAT if attribute is None else attribute.i
        results[0] = number if op_type == "Cast" else sequence_of(number)
    return results


_LIKE = ("EyeLike", "RandomNormalLike", "RandomUniformLike")
"""Operators whose output has the type of the input without an attribute for it."""
_TYPED = {"Cast": "to", "SequenceEmpty": "dtype"}
"""Operators whose output has the type of an attribute, or holds elements of it."""
_CONSTANTS = {"value_int": 7, "value_ints": 7, "value_float": 1, "value_floats": 1}
_CONSTANTS |= {"value_string": 8, "value_strings": 8}
_ELEMENTS = ("SequenceAt", "ConcatFromSequence", "OptionalGetElement")
"""Operators whose output is an element of the first input."""
OPTIONAL_READERS = ("OptionalGetElement", "OptionalHasElement")
"""Operators of an optional, whose term is its content's: static types alone tell them apart."""


def _constant_type(attributes: Mapping[str, onnx.AttributeProto]) -> Type:
    for name, attribute in attributes.items():
        if name == "value":
            return attribute.t.data_type
        if name == "sparse_value":
            return attribute.sparse_tensor.values.data_type
        return _CONSTANTS.get(name, 0)
    return 0


@functools.lru_cache(maxsize=1 << 12)
def _output_types(
    op_type: str, version: int, domain: str, types: tuple[Type, ...], width: int
) -> tuple[Type, ...]:
    """Types of outputs by the schema: a type that it names, or the type of an input with the same
    type variable."""
    schema = schema_at(op_type, version, domain)
    if schema is None or not schema.outputs:
        return (0,) * width
    first = types[0] if types else 0
    if not domain and op_type in _ELEMENTS:
        is_content = op_type == "OptionalGetElement" and not is_optional(first)
        return (first if is_content else element_type(first),)
    if not domain and op_type in ("SequenceConstruct", "SplitToSequence"):
        return (sequence_of(first) if isinstance(first, int) else 0,)
    if not domain and op_type == "Optional":
        return (f"optional({_text_of(first)})" if first not in (LEFT_OUT, 0) else 0,)
    formals = _formals_of_inputs(op_type, version, domain, len(types))
    pairs = [(f.variable, t) for t, f in zip(types, formals, strict=False) if f.is_bound]
    # In reverse, so that the first input of known type decides.
    bound = {variable: own for variable, own in reversed(pairs) if own not in (0, LEFT_OUT)}
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    variables = [schema.outputs[min(n, len(schema.outputs) - 1)].type_str for n in range(width)]
    choices = [allowed.get(variable, [variable]) for variable in variables]
    only = [_named_type(kinds[0]) if len(kinds) == 1 else 0 for kinds in choices]
    return tuple([bound.get(each) or own for each, own in zip(variables, only, strict=True)])


def _named_type(text: str) -> Type:
    """Type that a schema names; 0 for a variable."""
    if text.startswith("tensor("):
        return _ELEM_TYPES.get(text[len("tensor(") : -1], 0)
    return text if text.startswith(("seq(tensor(", "optional(")) else 0


def sequence_of(elem_type: int) -> Type:
    """Type of sequences of tensors; 0 if their element type is unknown."""
    return f"seq({_text_of(elem_type)})" if elem_type > 0 else 0


def is_optional(value_type: Type) -> bool:
    """Test for the type of an optional."""
    return isinstance(value_type, str) and value_type.startswith("optional(")


def element_type(value_type: Type) -> Type:
    """Type of the elements of a sequence, or of the content of an optional."""
    for prefix in ("seq(", "optional("):
        if isinstance(value_type, str) and value_type.startswith(prefix):
            return _named_type(value_type[len(prefix) : -1])
    return 0


_ELEM_TYPES: Mapping[str, int] = {
    name.lower(): number for name, number in onnx.TensorProto.DataType.items()
}


@functools.lru_cache(maxsize=1 << 12)
def _type_fault(op_type: str, version: int, domain: str, types: Sequence[Type]) -> str:
    """Fault of absent inputs and of types; equal ones are required for one type variable. A
    function's body may lack some inputs."""
    formals = _formals_of_inputs(op_type, version, domain, len(types))
    for position, (value_type, formal) in enumerate(zip(types, formals, strict=False)):
        if value_type == LEFT_OUT and not formal.is_optional:
            return f"lacks input {position}"
    bound: dict[str, Type] = {}
    for value_type, formal in zip(types, formals, strict=False):
        if value_type in (LEFT_OUT, 0):
            continue
        if _text_of(value_type) not in formal.allowed:
            return f"does not accept {short_type(value_type)} in opset {version}"
        if formal.is_bound and bound.setdefault(formal.variable, value_type) != value_type:
            return "has inputs of different types"
    # Its schema has one variable for sequences and one for tensors, and does not relate them.
    inserts = op_type == "SequenceInsert" and formals and 0 not in types[:2]
    if inserts and types[0] != f"seq({_text_of(types[1])})":
        return f"does not insert {short_type(types[1])} into {types[0]}"
    return ""


def _formals_of_inputs(op_type: str, version: int, domain: str, count: int) -> "list[_Formal]":
    """Formal input of each input; none without a schema."""
    schema = schema_at(op_type, version, domain)
    if schema is None:
        return []
    formals = _formals(schema.name, schema.domain, schema.since_version)
    return [formals[min(n, len(formals) - 1)] for n in range(count)]


_ANY = frozenset(["tensor(float)", "tensor(string)", "seq(tensor(float))"])
"""Types of which an operator accepts all only if it accepts every type."""


class OpenTypes(NamedTuple):
    """Types that a node accepts for its inputs of unknown type.

    Attributes:
        places: positions of these inputs.
        allowed: types that each of them may have.
        variables: type variable of each; equal ones have one type.
    """

    places: tuple[int, ...]
    allowed: tuple[frozenset[str], ...]
    variables: tuple[str, ...]


@functools.lru_cache(maxsize=1 << 12)
def open_types(op_type: str, version: int, domain: str, types: Sequence[Type]) -> OpenTypes:
    """Types that a node accepts for its inputs of unknown type."""
    formals = _formals_of_inputs(op_type, version, domain, len(types))
    pairs = list(zip(types, formals, strict=False))
    bound = {f.variable: _text_of(t) for t, f in pairs if t not in (LEFT_OUT, 0) and f.is_bound}
    places = tuple([n for n, (t, f) in enumerate(pairs) if t == 0 and not f.allowed >= _ANY])
    variables = tuple([formals[n].variable for n in places])
    allowed = [
        frozenset([bound[formals[n].variable]])
        if formals[n].variable in bound
        else formals[n].allowed
        for n in places
    ]
    return OpenTypes(places, tuple(allowed), variables)


@functools.lru_cache(maxsize=1 << 12)
def inputs_of_type(
    op_type: str, version: int, domain: str, count: int, index: int
) -> tuple[int, ...]:
    """Positions of the inputs that have the type of an output, whatever it is."""
    schema = schema_at(op_type, version, domain)
    if schema is None or not schema.outputs:
        return ()
    variable = schema.outputs[min(index, len(schema.outputs) - 1)].type_str
    formals = _formals_of_inputs(op_type, version, domain, count)
    return tuple([n for n, f in enumerate(formals) if f.is_bound and f.variable == variable])


class _Formal(NamedTuple):
    """Formal input: its type variable, allowed types, and whether it is bound or optional."""

    variable: str
    allowed: frozenset[str]
    is_bound: bool
    is_optional: bool


@functools.cache
def _formals(name: str, domain: str, since: int) -> tuple[_Formal, ...]:
    schema, option = (
        onnx.defs.get_schema(name, since, domain),
        onnx.defs.OpSchema.FormalParameterOption,
    )
    allowed = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}
    return tuple(
        _Formal(
            formal.type_str,
            allowed.get(formal.type_str, frozenset([formal.type_str])),
            formal.type_str in allowed and formal.is_homogeneous,
            formal.option == option.Optional
            or (formal.option == option.Variadic and name in BODIES),
        )
        for formal in schema.inputs
    )
