"""Schemas of ONNX's own operators: parameters, element types, and faults of nodes against them.

Element types without shapes are cheap enough to ask for at every node of a large graph. A schema
says which inputs share a type with an output ("T"), so the type of a value follows from one input
of its node, and so on up to a declaration. Outputs of If, Loop and Scan follow from their bodies,
and inputs of a body from the node around it.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import onnx
import onnx.defs

from ..ir import Node, Operator, Value, normal_domain

NEGATIVE_AXES = 11
"""From this opset on, axes may be counted from the end."""
MIN_OF_INTEGERS = 12
"""From this opset on, Min and Max take integers."""
ALLOWZERO = 14
"""From this opset on, Reshape can make an axis of size 0."""


def type_obstacle(
    op_types: Iterable[str], elem_type: int | None, opset: int, holder: str
) -> str | None:
    """Why a tensor cannot go through some operators that move tensors; None if it can.

    The answer continues a sentence that begins with the tensor: "'y' is of type int4, which ...".

    Args:
        elem_type: that of the tensor; None (or 0) where it is not known.
        opset: the version to write for.
        holder: an operator that the tensor goes through as it is, so that its types are those that
            the tensor may have.
    """
    for op_type in op_types:
        types = data_types(op_type, opset)
        if not elem_type and not data_types(holder, opset) <= types:
            return (
                f"is of unknown type, and {op_type} does not support all types in opset"
                f" {opset}; declare it"
            )
        if elem_type and tensor_text(elem_type) not in types:
            name = onnx.TensorProto.DataType.Name(elem_type).lower()
            return f"is of type {name}, which {op_type} does not support in opset {opset}"
    return None


@functools.cache
def data_types(op_type: str, opset: int) -> frozenset[str]:
    """The output types of an operator of the default domain.

    An operator that moves tensors takes them, too. Empty where the opset does not have it.
    """
    schema = schema_at(op_type, opset)
    types = () if schema is None else allowed_types(schema, schema.outputs[0].type_str)
    return frozenset(text for text in types if text.startswith("tensor("))


@functools.cache
def formal_inputs(op_type: str, opset: int) -> int | None:
    """The number of formal inputs of an operator; None if the opset does not have it."""
    schema = schema_at(op_type, opset)
    return None if schema is None else len(schema.inputs)


@functools.cache
def later_inputs(op_type: str, opset: int) -> tuple[str, ...]:
    """The names of inputs that newer opsets append: attributes in the opset, if it has them."""
    newest = schema_at(op_type, onnx.defs.onnx_opset_version())
    count = formal_inputs(op_type, opset)
    return () if newest is None or count is None else tuple(p.name for p in newest.inputs[count:])


@functools.cache
def takes(op_type: str, position: int, elem_type: int, opset: int) -> bool:
    """Test that an operator of the default domain takes an element type at an input."""
    schema = schema_at(op_type, opset)
    if schema is None:
        return False
    return tensor_text(elem_type) in allowed_types(schema, schema.inputs[position].type_str)


@functools.cache
def takes_all(op_type: str, opset: int) -> bool:
    """Test that an operator moves tensors of all types of an opset."""
    return data_types("Identity", opset) <= data_types(op_type, opset)


Actual = tuple[str, Sequence[str]]
"""The name of a value, and its types as schemas write them."""
Texts = tuple[tuple[str, ...] | None, ...]
"""The types of some values; None for one that is absent."""

_MOST_REMEMBERED = 10_000
"""Of so many nodes that look alike is remembered whether their types fit."""

Schema = Any  # onnx.defs.OpSchema has no usable type stubs


@functools.cache
def schema_at(op_type: str, version: int, domain: str = "") -> Schema | None:
    """The schema of an operator in an opset of its domain; None where it has none."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None


def is_defined(op_type: str, version: int, domain: str = "") -> bool:
    """Test for an operator that ONNX has in an opset of its domain."""
    schema = schema_at(op_type, version, domain)
    return schema is not None and not schema.deprecated


@functools.cache
def operators() -> tuple[str, ...]:
    """Every operator that the default domain has or had."""
    return tuple(sorted({s.name for s in onnx.defs.get_all_schemas() if not s.domain}))


@functools.cache
def default_of(schema: Schema, name: str) -> Any:
    """The default of an attribute as Python sees it; None where it has none."""
    attribute = schema.attributes.get(name)
    if attribute is None or not attribute.default_value.name:
        return None
    return onnx.helper.get_attribute_value(attribute.default_value)


@functools.cache
def allowed_types(schema: Schema, type_str: str) -> frozenset[str]:
    """The types that a formal parameter takes, such as "tensor(float)".

    `FormalParameter.types` would do from onnx 1.22 on; before, Python cannot read it.
    """
    for constraint in schema.type_constraints:
        if constraint.type_param_str == type_str:
            return frozenset(constraint.allowed_type_strs)
    return frozenset([type_str])


class Formal(NamedTuple):
    """A formal parameter of an operator; asking `onnx.defs` for one takes longer than using it."""

    name: str
    type_str: str
    allowed: frozenset[str]
    is_homogeneous: bool
    is_required: bool
    is_variadic: bool


@functools.cache
def formals(schema: Schema) -> tuple[tuple[Formal, ...], tuple[Formal, ...]]:
    """The formal inputs and outputs of an operator."""
    option = onnx.defs.OpSchema.FormalParameterOption
    inputs, outputs = (
        tuple(
            Formal(
                p.name,
                p.type_str,
                allowed_types(schema, p.type_str),
                p.is_homogeneous,
                p.option == option.Single,
                p.option == option.Variadic,
            )
            for p in parameters
        )
        for parameters in (schema.inputs, schema.outputs)
    )
    return inputs, outputs


def type_text(type_: onnx.TypeProto) -> str:
    """A type as schemas write it; empty where part of it is not known."""
    kind = type_.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        elem_type = getattr(type_, kind).elem_type
        text = tensor_text(elem_type) if elem_type else ""
        return text if kind == "tensor_type" or not text else f"sparse_{text}"
    if kind in ("sequence_type", "optional_type"):
        inner = type_text(getattr(type_, kind).elem_type)
        return f"{'seq' if kind == 'sequence_type' else 'optional'}({inner})" if inner else ""
    return ""


@functools.cache
def tensor_text(elem_type: int) -> str:
    """A tensor's type as schemas write it."""
    return f"tensor({onnx.TensorProto.DataType.Name(elem_type).lower()})"


def each_formal(parameters: Sequence[Formal], count: int) -> Iterator[Formal]:
    """The formal parameter of each actual one: the last is repeated where it is variadic."""
    for index in range(count if parameters else 0):
        yield parameters[min(index, len(parameters) - 1)]


def type_fault(
    op_type: str, version: int, inputs: Sequence[Actual | None], outputs: Sequence[Actual | None]
) -> str | None:
    """The first fault of input and output types in an opset; None if there is none."""
    input_types = tuple([None if actual is None else (*actual[1],) for actual in inputs])
    output_types = tuple([None if actual is None else (*actual[1],) for actual in outputs])
    if _types_fit(op_type, version, input_types, output_types):
        return None
    return next(_type_faults(op_type, version, inputs, outputs), None)


@functools.lru_cache(_MOST_REMEMBERED)
def _types_fit(op_type: str, version: int, inputs: Texts, outputs: Texts) -> bool:
    """Test for the absence of faults, which does not depend on names of values."""
    actual = [[None if types is None else ("", types) for types in t] for t in (inputs, outputs)]
    return next(_type_faults(op_type, version, *actual), None) is None


def _type_faults(
    op_type: str, version: int, inputs: Sequence[Actual | None], outputs: Sequence[Actual | None]
) -> Iterator[str]:
    of_variables: dict[str, tuple[str, Sequence[str]]] = {}
    schema = schema_at(op_type, version)
    if schema is None:
        return
    for actual, parameters in zip((inputs, outputs), formals(schema), strict=True):
        for value, parameter in zip(actual, each_formal(parameters, len(actual)), strict=False):
            if value is None:
                continue
            name, types = value
            for text in types:
                if text not in parameter.allowed:
                    misfit = f"{op_type} does not support in opset {version}"
                    yield f"'{name}' is a {text}, which {misfit}"
            if types and parameter.is_homogeneous:
                other, others = of_variables.setdefault(parameter.type_str, (parameter.name, types))
                # What a schema gives one type variable has one type (in each call, of several).
                if set(others) != set(types):
                    yield (
                        f"{other} is a {' or '.join(others)} and {parameter.name} a"
                        f" {' or '.join(types)}, which opset {version} requires to be of one type"
                    )


_BODIES = {"If": ("then_branch", 0), "Loop": ("body", 1), "Scan": ("body", 0)}
"""A body of each operator whose outputs are those of the node, but for so many at the front."""

_TYPED_BY_ATTRIBUTES = ("Cast", "ConstantOfShape")

_NEWEST = 2**31 - 1
_HANDED_BY_LOOP = (onnx.TensorProto.INT64, onnx.TensorProto.BOOL)
"""The types of the iteration number and the condition."""


VersionOf = Callable[[Node], int]
"""The version of its own domain in which a node is written; on the way to another one not all are
in the same."""


def version_of_root(node: Node) -> int:
    """The version that a node's model or function imports."""
    assert node.graph is not None
    domain, root = node.op.domain, node.graph.root
    return (not domain and root.opset_imports.get("")) or root.opset(domain)


class ElementTypes:
    """Element types of values, remembered once found.

    Args:
        version_of: the opset version in which a node is written.
    """

    def __init__(self, version_of: VersionOf = version_of_root) -> None:
        self._version_of = version_of
        self._known: dict[Value, int | None] = {}
        # Many nodes share an operator, and most operators say the same of all their nodes.
        self._output_types: dict[Operator, OutputType | None] = {}

    def of(self, value: Value) -> int | None:
        """The element type as `onnx.TensorProto.DataType`; None where it does not follow."""
        cache, path = self._known, []
        current: int | Value | None = value
        while isinstance(current, Value):
            if current in cache:
                current = cache[current]
            else:
                path.append(current)
                cache[current] = None
                current = self._nearer(current)
        for passed in path:
            cache[passed] = current
        return current

    def of_each(self, values: Iterable[Value | None]) -> tuple[int | None, ...]:
        """The element types of several values; 0 for one that does not follow, and None for one
        that is absent."""
        cache, of = self._known, self.of
        return tuple(
            [None if v is None else (cache[v] if v in cache else of(v)) or 0 for v in values]
        )

    def _nearer(self, value: Value) -> int | Value | None:
        """The result of `_look`, with the types of plain operators cached."""
        node = value.producer
        if node is not None and value.constant is None and value.info is None:
            op, types = node.op, self._output_types
            if op not in types:
                plain = not op.holds_graphs and op.qualname not in _TYPED_BY_ATTRIBUTES
                types[op] = _lasting_output_type(op.op_type, op.domain, 0) if plain else None
            output_type = types[op]
            if output_type is not None and node.graph is not None and len(node.outputs) == 1:
                elem_type, index = output_type
                return elem_type if elem_type is not None or index is None else node.input(index)
        return _look(value, self._version_of)


def _look(value: Value, version_of: VersionOf) -> int | Value | None:
    """Element type of a value, or a value that determines it."""
    if value.constant is not None:
        return value.constant.elem_type
    if value.info is not None and value.elem_type is not None:
        return value.elem_type
    node = value.producer
    if node is None:
        return _handed(value, version_of)
    op = node.op
    qualname = op.qualname
    if qualname == "Cast":
        to = op.attributes.get("to")
        if to is not None and not to.ref_attr_name:
            return to.i
    elif qualname == "ConstantOfShape" and not op.references:
        filling = op.attributes.get("value")
        return onnx.TensorProto.FLOAT if filling is None else filling.t.data_type
    elif node.bodies and qualname in _BODIES:
        return _given_by_body(node, value)
    if node.graph is None:
        return None
    # Of a node with very many outputs the schema has one, and their positions need not be found.
    many = len(node.outputs) > 1 and _gives_several(op.op_type, op.domain)
    position = _position(node, value) if many else 0
    output_type = _lasting_output_type(op.op_type, op.domain, position)
    if output_type is None:
        output_type = _output_type(op.op_type, op.domain, version_of(node), position)
    elem_type, index = output_type
    if elem_type is not None or node.bodies or index is None:
        return elem_type
    return node.input(index)


def _given_by_body(node: Node, value: Value) -> int | Value | None:
    """The declared element type of an output of a body, or that output."""
    name, shift = _BODIES[node.op_type]
    if name not in node.bodies:  # the caller of the function gives it
        return None
    body, index = node.body(name), _position(node, value) + shift
    if index >= len(body.outputs):
        return None
    return body.output_infos[index].type.tensor_type.elem_type or body.outputs[index]


def _handed(value: Value, version_of: VersionOf) -> int | Value | None:
    """The type of an input of a body, or the operand behind it."""
    graph = value.owner
    holder = None if graph is None else graph.holder
    if graph is None or holder is None or not holder.is_op("Loop", "Scan"):
        return None
    index = graph.inputs.index(value)
    if holder.is_op("Loop"):
        return _HANDED_BY_LOOP[index] if index < len(_HANDED_BY_LOOP) else holder.input(index)
    # Version 8 has the lengths of the sequences in front (ONNX operators, Scan-8).
    return holder.input(index + (version_of(holder) == 8))


def _position(node: Node, value: Value) -> int:
    return next(index for index, output in enumerate(node.outputs) if output is value)


OutputType = tuple[int | None, int | None]
"""Element type of an output that has one alone, and position of an input of the same type."""


@functools.cache
def _gives_several(op_type: str, domain: str) -> bool:
    """Test for several formal outputs in some version of an operator."""
    return any(len(schema.outputs) > 1 for schema in _versions(op_type, domain))


@functools.cache
def _lasting_output_type(op_type: str, domain: str, position: int) -> OutputType | None:
    """The type of an output in all opsets; None where that depends on the opset."""
    versions = _versions(op_type, domain)
    # An operator that appears later has no type in the opsets before it.
    if normal_domain(domain) or not versions or versions[-1].since_version > 1:
        return None
    types = {_type_by_schema(schema, position) for schema in versions}
    return types.pop() if len(types) == 1 else None


@functools.cache
def _output_type(op_type: str, domain: str, version: int, position: int) -> OutputType:
    """The type of an output in one version of an operator."""
    schema = schema_at(op_type, version, normal_domain(domain))
    return (None, None) if schema is None else _type_by_schema(schema, position)


def _type_by_schema(schema: Any, position: int) -> OutputType:
    if not schema.outputs:
        return None, None
    # The last formal output may be variadic and stand for all further ones.
    output = schema.outputs[min(position, len(schema.outputs) - 1)]
    same = (f.type_str == output.type_str and f.is_homogeneous for f in schema.inputs)
    return _only_type(schema, output), next(
        (index for index, is_same in enumerate(same) if is_same), None
    )


def _only_type(schema: Any, output: Any) -> int | None:
    text, *others = allowed_types(schema, output.type_str)
    if others or not text.startswith("tensor("):
        return None
    return int(onnx.TensorProto.DataType.Value(text[len("tensor(") : -1].upper()))


@functools.cache
def _versions(op_type: str, domain: str) -> list[Any]:
    """All versions of an operator, the newest first."""
    schemas: list[Any] = []
    domain, schema = normal_domain(domain), schema_at(op_type, _NEWEST, normal_domain(domain))
    while schema is not None:
        schemas.append(schema)
        schema = schema_at(op_type, schema.since_version - 1, domain)
    return schemas
