"""Expansions: the graph of a definition for one case, as a function of ONNX.

    (x, b?) => (y) { t = Add (x, b?)  y = Mul (t, 0.5) }
->
    (x, b) => (y) { t = Add (x, b)  half = Constant <value = float16 {0.5}> ()  y = Mul (t, half) }

Numbers become constants of the type of the operands beside them, lists operands where the opset
has them there. A sum or product with an absent operand is the other one.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ..ir import MAX_OPSET, Signal, attribute_message
from .case import Case, Unfit
from .definition import Definition
from .pattern import Operand, Pattern, PatternNode, RuleError, ShapePattern, Variable

_ELIDED = frozenset(("Add", "And", "Div", "Mul", "Sub", "Where"))
"""Operators that return their first operand where another one is absent."""

_OF_ANY = frozenset(("Concat", "Max", "Min", "Sum"))
"""Operators of any number of operands, which skip absent ones."""

_ZEROS = 14
"""The first opset whose Reshape can make an empty axis."""

_LISTS = {
    "Clip": ("min", "max"),
    "DFT": ("dft_length", "axis"),
    "Pad": ("pads", "constant_value", "axes"),
    "Slice": ("starts", "ends", "axes", "steps"),
    "Split": ("split",),
    "Squeeze": ("axes",),
    "Unsqueeze": ("axes",),
    "TopK": ("k",),
    "Tile": ("repeats",),
    "Expand": ("shape",),
    "Reshape": ("shape",),
}
"""Operands after the first that a text may write as attributes."""


class TooOld(Signal):
    """An operator of a graph came with a later opset.

    Attributes:
        since: that opset.
    """

    def __init__(self, since: int) -> None:
        super().__init__(f"opset {since} is the first one with an operator")
        self.since = since


def expand(
    definition: Definition, case: Case, opset: int, halves: Sequence[int] = ()
) -> onnx.FunctionProto:
    """Write the graph of a definition for a case as a function.

    Its inputs and outputs have the order of the operator's.

    Args:
        opset: the version of the operators, at least the definition's first one.
        halves: the places of operands of half precision, which the case has as floats; then
            results that are floats are halves, too.

    Raises:
        Unfit: the definition does not hold for the case.
        TooOld: the opset lacks an operator.
        RuleError: its text is unreadable.
    """
    pattern, pairs = definition.graph(case)
    writer = _Writer(pattern, definition, case, opset)
    domain, _, name = definition.name.rpartition(".")
    # Trailing outputs that the node lacks are dropped; one in the middle must keep its place.
    count = max((p for p, n in enumerate(definition.node.outputs) if n in case.outputs), default=-1)
    outputs = [pairs.get(name, name) for name in definition.node.outputs[: count + 1]]
    nodes = list(writer.nodes(pattern))
    computed = {name for node in nodes for name in node.output} | writer.types.keys()
    for place, (output, own) in enumerate(zip(definition.node.outputs, outputs, strict=False)):
        if own in computed:
            continue
        if output in case.outputs:
            raise Unfit(f"its definition has no output '{output}' in this form")
        # A function has no gaps among its outputs; nothing reads this one.
        nodes.append(helper.make_node("Identity", [outputs[-1]], [f"gap_{place}"]))
        outputs[place] = f"gap_{place}"
    inputs = [operand.name for operand in definition.node.inputs]
    if halves:
        _narrow(nodes, inputs, halves, outputs, writer.types)
    function = onnx.FunctionProto(
        name=name,
        domain=domain or "local",
        input=inputs,
        output=outputs,
        node=_reached(nodes, outputs),
    )
    function.opset_import.add(domain="", version=opset)
    return function


def _narrow(
    nodes: list[onnx.NodeProto],
    inputs: list[str],
    halves: Sequence[int],
    outputs: list[str],
    types: Mapping[str, int],
) -> None:
    """Cast operands of half precision to floats, and results that are floats back, in place."""
    wide, narrow = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16
    for place in halves:
        name, inputs[place] = inputs[place], f"{inputs[place]}_half"
        nodes.insert(0, helper.make_node("Cast", [inputs[place]], [name], to=wide))
    for place, name in enumerate(outputs):
        if types.get(name) == wide:
            outputs[place] = f"{name}_half"
            nodes.append(helper.make_node("Cast", [name], [outputs[place]], to=narrow))


def _reached(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]) -> list[onnx.NodeProto]:
    """The nodes that some outputs need, in order."""
    needed, chosen = set(outputs), []
    for node in reversed(nodes):
        # A body reads names of the graph around it without listing them as inputs of its node.
        if needed.intersection(node.output):
            chosen.append(node)
            needed.update(node.input)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    needed.update(name for inner in attribute.g.node for name in inner.input)
                    needed.update(value.name for value in attribute.g.output)
    return chosen[::-1]


class _Writer:
    """Writer of the nodes of a pattern.

    Args:
        pattern: the graph after.
        opset: the version of the operators.
        around: the writer of the graph around, whose names a body sees.

    Attributes:
        types: the element types of the values so far, 0 for an unknown one.
    """

    def __init__(
        self,
        pattern: Pattern,
        definition: Definition,
        case: Case,
        opset: int,
        around: "_Writer | None" = None,
    ) -> None:
        self.definition = definition
        self.case = case
        self.opset = opset
        self.types: dict[str, int] = {} if around is None else dict(around.types)
        self._absent: set[str] = set() if around is None else around._absent
        # One counter for all graphs: a name in a body must not shadow one outside, which ONNX
        # forbids.
        self._names: Iterator[int] = itertools.count(1) if around is None else around._names
        if around is not None:
            return
        own = definition.pattern.parameters
        for name in pattern.parameters:
            if name not in own:
                raise RuleError(f"'{pattern.text}': '{name}' is not an operand of the operator")
        for name in own:
            if case.has(name):
                self.types[name] = case.signature.elem_types[definition.places[name]] or 0
            else:
                self._absent.add(name)

    def nodes(self, pattern: Pattern) -> Iterator[onnx.NodeProto]:
        """Write the nodes of a graph."""
        for node in pattern.nodes:
            yield from self._node(node)

    def _node(self, node: PatternNode) -> Iterator[onnx.NodeProto]:
        operands = list(node.inputs)
        is_absent = [o.kind in ("value", "optional") and o.name in self._absent for o in operands]
        if any(is_absent) and node.op_type in _ELIDED | _OF_ANY:
            rest = [o for o, absent in zip(operands, is_absent, strict=True) if not absent]
            if not rest:
                self._absent.add(node.outputs[0])
                return
            if node.op_type in _ELIDED or len(rest) == 1:
                node = PatternNode("Identity", (rest[0],), node.outputs, {})
            else:
                node = PatternNode(node.op_type, tuple(rest), node.outputs, node.attributes)
            operands, is_absent = list(node.inputs), [False] * len(node.inputs)
        elif is_absent and is_absent[0]:
            self._absent.update(node.outputs)  # nothing is computed of an absent operand
            return
        attributes = self._attributes(node)
        sources: list[Operand | None] = [
            None if absent or o.kind == "absent" else o
            for o, absent in zip(operands, is_absent, strict=True)
        ]
        formals = _formals(node.op_type, self.opset)
        sources = with_lists(node.op_type, self.opset, attributes, sources)
        bound = self._bound(sources, formals)
        inputs = []
        for place, operand in enumerate(sources):
            if operand is None:
                inputs.append("")
            elif operand.kind in ("value", "optional"):
                inputs.append(operand.name)
            else:
                array = self._array(operand, _at(formals[0], place), bound)
                name = f"constant_{next(self._names)}"
                yield _constant(name, array)
                inputs.append(name)
        # An empty name in the middle means absent; at the end some runtimes count it as an operand.
        while inputs and not inputs[-1]:
            inputs.pop()
        messages = [
            attribute_message(name, value)
            for name, value in attributes.items()
            if value is not None
        ]
        yield onnx.NodeProto(
            op_type=node.op_type, input=inputs, output=node.outputs, attribute=messages
        )
        self._set_types(node, attributes, formals, bound)

    def _attributes(self, node: PatternNode) -> dict[str, Any]:
        """The attributes of a node, with the values of variables; a graph as a message."""
        attributes: dict[str, Any] = {}
        for name, value in node.attributes.items():
            if isinstance(value, Variable):
                value = self._value(value.name)
            elif isinstance(value, Pattern):
                value = self._graph(value, name)
            attributes[name] = list(value) if isinstance(value, tuple) else value
        if "allowzero" in attributes and self.opset < _ZEROS:
            del attributes["allowzero"]  # an empty axis is a copy there
        return attributes

    def _value(self, variable: str) -> Any:
        if variable not in self.case.attributes:
            raise RuleError(f"definition of {self.definition.name}: there is no '@{variable}'")
        return self.case.attributes[variable]

    def _graph(self, pattern: Pattern, name: str) -> onnx.GraphProto:
        """A body, which sees the names around it."""
        inner = _Writer(pattern, self.definition, self.case, self.opset, self)
        for parameter in pattern.parameters.values():
            elem_type = onnx.TensorProto.DataType.Value((parameter.elem_type or "").upper())
            inner.types[parameter.name] = elem_type
        nodes = list(inner.nodes(pattern))
        inputs = [
            helper.make_tensor_value_info(name, inner.types[name], _dims(parameter.shape))
            for name, parameter in pattern.parameters.items()
        ]
        outputs = [_info(name, inner.types.get(name, 0)) for name in pattern.outputs]
        return helper.make_graph(nodes, name, inputs, outputs)

    def _bound(
        self, sources: Sequence[Operand | None], formals: tuple[Sequence[str], Sequence[str]]
    ) -> dict[str, int]:
        """The element types of the type parameters of a node."""
        bound: dict[str, int] = {}
        for place, operand in enumerate(sources):
            if operand is not None and operand.kind in ("value", "optional"):
                elem_type = self.types.get(operand.name)
                if elem_type is None:
                    raise RuleError(
                        f"definition of {self.definition.name}: '{operand.name}' is not defined"
                    )
                if elem_type:
                    bound.setdefault(_at(formals[0], place), elem_type)
        return bound

    def _array(self, operand: Operand, type_str: str, bound: Mapping[str, int]) -> Any:
        """The elements of a constant operand."""
        value = operand.value if operand.kind != "attribute" else self._value(operand.name)
        if isinstance(value, onnx.TensorProto):
            return value
        if isinstance(value, tuple | list) and all(isinstance(one, int) for one in value):
            elem_type = bound.get(type_str, onnx.TensorProto.INT64)
            return np.array(value, helper.tensor_dtype_to_np_dtype(elem_type))
        if isinstance(value, str) or value is None:
            raise RuleError(f"definition of {self.definition.name}: {value!r} is not an operand")
        whole = onnx.TensorProto.INT64 if isinstance(value, int) else onnx.TensorProto.FLOAT
        elem_type = bound.get(type_str) or _type_of(type_str) or whole
        return np.array(value, helper.tensor_dtype_to_np_dtype(elem_type))

    def _set_types(
        self,
        node: PatternNode,
        attributes: Mapping[str, Any],
        formals: tuple[Sequence[str], Sequence[str]],
        bound: Mapping[str, int],
    ) -> None:
        for place, name in enumerate(node.outputs):
            type_str = _at(formals[1], place)
            elem_type = bound.get(type_str) or _type_of(type_str) or 0
            if node.op_type == "Cast":
                elem_type = attributes["to"]
            elif node.op_type == "ConstantOfShape":
                value = attributes.get("value")
                elem_type = onnx.TensorProto.FLOAT if value is None else value.data_type
            elif node.op_type in ("DequantizeLinear", "CastLike"):
                elem_type = self.types.get(node.inputs[1].name, 0)
            elif node.op_type == "QuantizeLinear":
                elem_type = self.types.get(node.inputs[2].name, 0) if len(node.inputs) > 2 else 0
            if node.outputs[place]:
                self.types[name] = elem_type


def _dims(shape: ShapePattern | None) -> list[int | None] | None:
    """The sizes of a declaration; None for an open rank."""
    if shape is None or shape.star is not None:
        return None
    return [dim if isinstance(dim, int) else None for dim in shape.dims]


def _info(name: str, elem_type: int) -> onnx.ValueInfoProto:
    # A type that is not known stays open: a wrong one would refuse the function.
    if not elem_type:
        return onnx.ValueInfoProto(name=name)
    return helper.make_tensor_value_info(name, elem_type, None)


def _constant(name: str, array: Any) -> onnx.NodeProto:
    is_tensor = isinstance(array, onnx.TensorProto)
    tensor = array if is_tensor else onnx.numpy_helper.from_array(array)
    return helper.make_node("Constant", [], [name], value=tensor)


def with_lists(
    op_type: str, opset: int, attributes: dict[str, Any], sources: list[Operand | None]
) -> list[Operand | None]:
    """The operands of a node, with lists that the opset has there; removed from the attributes."""
    names = _LISTS.get(op_type) or (("axes",) if op_type.startswith("Reduce") else ())
    if not names or not set(names).intersection(attributes):
        return sources
    schema = onnx.defs.get_schema(op_type, opset, "")
    # This opset still has them as attributes (Clip before 11, axes of Squeeze before 13).
    if not set(names).isdisjoint(schema.attributes):
        return sources
    rest = sources[1:]
    result = sources[:1]
    for name in names:
        if name in attributes:
            value = attributes.pop(name)
            if value is None:
                result.append(None)
            elif isinstance(value, list | tuple):
                result.append(Operand("integers", value=tuple(value)))
            else:
                result.append(Operand("number", value=value))
        else:
            result.append(rest.pop(0) if rest else None)
    result += rest
    while result and result[-1] is None:
        result.pop()
    return result


@functools.lru_cache(maxsize=1 << 10)
def _formals(op_type: str, opset: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The type parameters of the inputs and outputs of an operator."""
    if not onnx.defs.has(op_type, opset, ""):
        versions = [v for v in range(opset, MAX_OPSET + 1) if onnx.defs.has(op_type, v, "")]
        if not versions:
            raise RuleError(f"ONNX has no operator {op_type}")
        raise TooOld(versions[0])
    schema = onnx.defs.get_schema(op_type, opset, "")
    single = {
        constraint.type_param_str: constraint.allowed_type_strs[0]
        for constraint in schema.type_constraints
        if len(constraint.allowed_type_strs) == 1
    }
    return tuple(
        tuple(single.get(formal.type_str, formal.type_str) for formal in side)
        for side in (schema.inputs, schema.outputs)
    )  # type: ignore[return-value]


def _at(types: Sequence[str], place: int) -> str:
    """The type parameter of a place; the last one goes on."""
    return types[min(place, len(types) - 1)] if types else ""


def _type_of(type_str: str) -> int | None:
    """The element type of a parameter that takes one type only."""
    if not type_str.startswith("tensor("):
        return None
    name = type_str[len("tensor(") : -1].upper()
    return dict(onnx.TensorProto.DataType.items()).get(name)
