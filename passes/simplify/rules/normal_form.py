"""Nodes in one form for all opsets: axes, bounds and sizes are attributes, with their defaults."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import onnx

from ....ir import Node, Operator, Value
from ....ops.schema_queries import Schema, default_of, schema_at
from .uniform_constants import UniformConstants

Item = TypeVar("Item")
_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
LISTS: Mapping[str, Mapping[str, int]] = {
    "Pad": {"pads": 1},
    "Slice": {"starts": 1, "ends": 2, "axes": 3, "steps": 4},
    "Split": {"split": 1},
    "Squeeze": {"axes": 1},
    "Unsqueeze": {"axes": 1},
    **{f"Reduce{name}": {"axes": 1} for name in _REDUCTIONS},
}
"""The lists of integers that older opsets have as attributes, with their places among the inputs of
newer ones."""

FREE_OUTPUTS = ("Dropout", "MaxPool", "LayerNormalization")
"""Operators whose further outputs change nothing about the first one."""


_IDLE = {"BatchNormalization": ("momentum",), "Dropout": ("seed",)}
"""Attributes that change nothing in inference."""


class Unknown:
    """The value of an attribute that no one knows before run time."""


UNKNOWN = Unknown()


class Attributes(NamedTuple):
    """Attributes of an operator.

    Attributes:
        values: by name, those with a default included.
        unusual: the names of those that differ from their default.
    """

    values: Mapping[str, Any]
    unusual: frozenset[str]


class NormalNode(NamedTuple):
    """A node in one form for all opsets.

    Attributes:
        inputs: the operands that are not lists.
        attributes: attributes and lists by name.
        unusual: the names of those that differ from their default.
    """

    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    unusual: frozenset[str]


class NormalForms:
    """The normal forms of nodes; operators are read once.

    Args:
        opset: the version of the operators.

    Attributes:
        uniform: the constants with one number everywhere.
    """

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.uniform = UniformConstants()
        self._read: dict[Operator, Attributes] = {}
        self._explicit: dict[Operator, Any] = {}
        self._last: tuple[Node, Sequence[Value | None], Operator, NormalNode] | None = None

    def of(self, node: Node) -> NormalNode:
        """The normal form of a node; that of the last node is cached for further rules."""
        last, op = self._last, node.op
        if last is not None and last[0] is node and last[1] is node.inputs and last[2] is op:
            return last[3]
        form = self._of(node, op)
        self._last = node, node.inputs, op, form
        return form

    def explicit(self, op: Operator) -> Any:
        """The attributes that an operator has; UNKNOWN where one is that of a function."""
        attributes = self._explicit.get(op.form)
        if attributes is None:
            attributes = self._explicit[op.form] = _explicit(op)
        return attributes

    def attributes(self, op: Operator) -> Mapping[str, Any]:
        """The attributes of an operator, with their defaults; without lists among the inputs."""
        return self._attributes(op).values

    def _attributes(self, op: Operator) -> Attributes:
        attributes = self._read.get(op.form)
        if attributes is None:
            attributes = self._read[op.form] = read_attributes(op, self.opset)
        return attributes

    def _of(self, node: Node, op: Operator) -> NormalNode:
        attributes = self._attributes(op)
        if op.qualname == "Reshape" and "allowzero" in attributes.unusual:
            # It says how a 0 is read: without one the attribute, which torch.onnx always sets,
            # means nothing.
            sizes = integers_of(node.inputs[1]) if node.inputs[1] is not None else UNKNOWN
            if isinstance(sizes, tuple) and 0 not in sizes:
                return NormalNode(
                    node.inputs, attributes.values, attributes.unusual - {"allowzero"}
                )
        lists = LISTS.get(op.qualname)
        if lists is None or not takes_lists(op.op_type, self.opset):
            return NormalNode(node.inputs, *attributes)
        values, unusual = dict(attributes.values), set(attributes.unusual)
        for name, index in lists.items():
            value = node.input(index)
            if value is not None:
                values[name] = integers_of(value)
                unusual.add(name)
        places = lists.values()
        inputs = [value for index, value in enumerate(node.inputs) if index not in places]
        return NormalNode(inputs, values, frozenset(unusual))


def takes_lists(op_type: str, opset: int) -> bool:
    """Test for an operator that has its lists as inputs in an opset."""
    schema = schema_at(op_type, opset)
    return schema is not None and LISTS[op_type].keys().isdisjoint(schema.attributes)


def insert_lists(
    op_type: str,
    opset: int,
    attributes: dict[str, Any],
    inputs: list[Item | None],
    constant: Callable[[str, Any], Item],
) -> None:
    """Move lists from attributes to inputs, where the opset has them there.

    A Slice below opset 10 has no steps: those of 1 are left out.

    Args:
        attributes: attributes and lists by name; lists are taken out.
        inputs: the operands that are not lists; lists are inserted.
        constant: makes an operand of a list, by its name.
    """
    lists = LISTS.get(op_type)
    if not lists:
        return
    if not takes_lists(op_type, opset):
        if set(attributes.get("steps", ())) == {1}:
            del attributes["steps"]
        return
    for name, index in sorted(lists.items(), key=lambda item: item[1]):
        value = attributes.pop(name, None)
        inputs.insert(index, None if value is None else constant(name, value))
    while inputs and inputs[-1] is None:
        inputs.pop()


def integers_of(value: Value) -> Any:
    """The elements of a constant vector of integers; UNKNOWN for another value."""
    tensor = value.constant
    if tensor is None or tensor.is_sparse or not tensor.is_readable or len(tensor.dims) > 1:
        return UNKNOWN
    array = tensor.numpy()
    if array.dtype.kind != "i":
        return UNKNOWN
    return tuple(array.reshape(-1).tolist())


def read_attributes(op: Operator, opset: int) -> Attributes:
    """Read the attributes of an operator of ONNX's own, with their defaults."""
    schema = schema_at(op.op_type, opset) if op.qualname == op.op_type else None
    values = dict(defaults_of(schema)) if schema is not None else {}
    unusual = set()
    for name, message in op.attributes.items():
        value = plain(op.attribute(name)) if not message.ref_attr_name else UNKNOWN
        if name not in values or not equal(values[name], value):
            unusual.add(name)
        values[name] = value
    return Attributes(values, frozenset(unusual.difference(_IDLE.get(op.qualname, ()))))


def _explicit(op: Operator) -> Any:
    if op.references:
        return UNKNOWN
    return {name: plain(op.attribute(name)) for name in op.attributes}


def defaults_of(schema: Schema) -> Mapping[str, Any]:
    """The attributes of a schema that have a default."""
    defaults = {name: default_of(schema, name) for name in schema.attributes}
    return {name: plain(value) for name, value in defaults.items() if value is not None}


def plain(value: Any) -> Any:
    """An attribute's value with lists as tuples and text as `str`."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


def equal(one: Any, other: Any) -> bool:
    """Compare two values of attributes; floats are those of single precision."""
    if isinstance(one, onnx.TensorProto) or isinstance(other, onnx.TensorProto):
        return bool(one == other)
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        # By bytes: two NaN are equal, and 0.0 and -0.0 differ.
        return numbers and np.float32(one).tobytes() == np.float32(other).tobytes()
    return bool(one == other)
