"""Functions that define operators, as ONNX text of the specification or as onnx's own.

A function holds for one application of an operator: its axes and types are written out. Where
onnx's function computes anything else than the specification's formula, such as a variance as a
difference of squares, the text stands here.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import onnx

from ....ir import OnnxError, Tensor, ask_onnx
from ....ops.schema_queries import schema_at
from ....records import entry
from ....reference.functions import specialize
from ..terms.term import Args, Head, Term

_T = onnx.TensorProto
FLOAT, DOUBLE = _T.FLOAT, _T.DOUBLE
NARROW_FLOATS = frozenset([_T.FLOAT16, _T.BFLOAT16])
FLOATS = NARROW_FLOATS | {FLOAT, DOUBLE}
LONG_INTEGERS = frozenset([_T.INT32, _T.INT64, _T.UINT32, _T.UINT64])
OVER_REALS_ONLY: frozenset[int] = frozenset()


class Application(NamedTuple):
    """Operator on arguments that is to be defined.

    Attributes:
        head: the operator, with the defaults of its attributes written out.
        over_reals: whether only real numbers count, not how they round.
        constant: function that returns the value of a constant, or None for any other term.
    """

    head: Head
    args: Args
    output: int = 0
    over_reals: bool = False
    constant: Callable[[Term | None], Tensor | None] = lambda term: None

    def tensor(self, index: int) -> Tensor | None:
        """Value of an input that is a constant; None for any other."""
        tensor = self.constant(self.args[index]) if self.has(index) else None
        return tensor if tensor is not None and tensor.is_readable else None

    def has(self, index: int) -> bool:
        """Test whether an input is present."""
        return index < len(self.args) and self.args[index] is not None

    def elem_type(self, index: int = 0) -> int:
        """Element type of an input; 0 if unknown or absent."""
        arg = self.args[index] if self.has(index) else None
        return 0 if arg is None else arg.fact.elem_type

    def rank(self, index: int = 0) -> int | None:
        """Rank of an input; None if unknown or absent."""
        arg = self.args[index] if self.has(index) else None
        return None if arg is None or arg.fact.shape is None else len(arg.fact.shape)

    def attribute(self, name: str, default: Any = None) -> Any:
        """Attribute of the operator."""
        return self.head.attribute(name, default)


Formula = Callable[[Application], "str | None"]
"""Function of an application. It returns the inputs, outputs and nodes of its definition as ONNX
text, without the head of a function, or None if the definition does not hold for it."""


class Definition(NamedTuple):
    """Definition of an operator.

    Attributes:
        elem_types: element types of the first input with which kernels treat NaN, infinities, signs
            of zero and empty tensors as the definition does; with others it holds over the reals
            only. None for all types.
        formula: its text; None for onnx's own function.
        opset: opset of the operators of the text.
        is_exact: whether every kernel gives the bits of the definition, since it moves elements or
            rounds once.
        where: condition within which onnx's function does so.
        attributes: attributes that the formula reads; with others it does not hold.
        fails_alike: whether the operator fails wherever a node of the definition does.
        broadcasts: whether operands of one type broadcast in the operator as in the definition.
    """

    elem_types: frozenset[int] | None
    formula: Formula | None = None
    opset: int = 17
    is_exact: bool = False
    where: Callable[[Application], bool] = lambda application: True
    attributes: frozenset[str] = frozenset()
    fails_alike: bool = False
    broadcasts: bool = False

    def holds(self, application: Application) -> bool:
        """Test whether kernels follow the definition, but for rounding."""
        elem_type, types = application.elem_type(), self.elem_types
        return (types is None or elem_type in types) and self.where(application)


DEFINITIONS: dict[str, Definition] = {}
"""Definitions of operators of the default domain."""


def defined(
    *names: str, types: Iterable[int] | None, attributes: Iterable[str], **fields: Any
) -> Callable[[Formula], Formula]:
    """Register a function as the definition of operators; fields as of `Definition`."""

    def register(formula: Formula) -> Formula:
        _register(names, types, formula=formula, attributes=frozenset(attributes), **fields)
        return formula

    return register


def defined_by_onnx(*names: str, types: Iterable[int] | None, **fields: Any) -> None:
    """Register onnx's function as the definition of operators; a test compares both."""
    _register(names, types, **fields)


def _register(names: Iterable[str], types: Iterable[int] | None, **fields: Any) -> None:
    definition = Definition(None if types is None else frozenset(types), **fields)
    entry(DEFINITIONS, *names)(definition)


def function_of(application: Application) -> onnx.FunctionProto | None:
    """Function that defines an application; None if there is none."""
    definition = DEFINITIONS.get(application.head.name)
    if definition is None or not (application.over_reals or definition.holds(application)):
        return None
    if definition.formula is None:
        return _onnx_function(application)
    op = application.head.op
    if op is None or not op.attributes.keys() <= definition.attributes:
        return None
    text = definition.formula(application)
    if text is None:
        return None
    return specialize(_parsed(op.op_type, text, definition.opset), op.attributes.values())


@functools.lru_cache(maxsize=1 << 10)
def _parsed(name: str, text: str, opset: int) -> onnx.FunctionProto:
    signature, _, nodes = text.partition("{")
    header = f'<domain: "local", opset_import: ["": {opset}]>'
    return onnx.parser.parse_function(f"{header} {name} {signature} {{ {nodes} }}")


def _onnx_function(application: Application) -> onnx.FunctionProto | None:
    """Function of onnx, in the newest opset that the operator has one for."""
    head, op = application.head, application.head.op
    schema = schema_at(head.name, head.opset, "")
    if schema is None or op is None:
        return None
    if schema.has_function:
        body = _body(head.name, head.opset)
        return None if body is None else specialize(body, op.attributes.values())
    versions = [n for n in schema.context_dependent_function_opset_versions if n <= head.opset]
    types = [_type_of(application, index) for index in range(len(application.args))]
    if not versions or None in types:
        return None
    names = [f"i{index}" if application.has(index) else "" for index in range(len(types))]
    results = [f"o{index}" for index in range(application.output + 1)]
    node = onnx.NodeProto(
        op_type=op.op_type, input=names, output=results, attribute=op.attributes.values()
    )
    return _body_for(head.name, head.opset, max(versions), node.SerializeToString(), *types)


@functools.cache
def _body(name: str, opset: int) -> onnx.FunctionProto | None:
    schema: Any = schema_at(name, opset)
    versions = [n for n in schema.function_opset_versions if n <= opset]
    if not versions:
        return None
    return onnx.FunctionProto.FromString(schema.get_function_with_opset_version(max(versions)))


@functools.lru_cache(maxsize=1 << 10)
def _body_for(
    name: str, opset: int, version: int, node: bytes, *types: bytes
) -> onnx.FunctionProto | None:
    """Function of onnx that depends on types; None if there is none for these."""
    schema: Any = schema_at(name, opset)
    build = schema.get_context_dependent_function_with_opset_version
    try:
        content = ask_onnx(name, build, version, node, list(types))
    except OnnxError:
        return None
    if not content:
        return None
    attributes = onnx.NodeProto.FromString(node).attribute
    return specialize(onnx.FunctionProto.FromString(content), attributes)


def _type_of(application: Application, index: int) -> bytes | None:
    """Type of an input as a message; None if its element type or rank is unknown."""
    if not application.has(index):
        return b""
    arg = application.args[index]
    if arg is None or not arg.fact.elem_type or arg.fact.shape is None:
        return None
    sizes = [dim.value for dim in arg.fact.shape]
    kind = onnx.helper.make_tensor_type_proto(arg.fact.elem_type, sizes)
    message: bytes = kind.SerializeToString()
    return message
