"""Models of one node, drawn by the definition of its operator.

    (floats x, floats b) => (y) { y = com.acme.Swish <beta = @beta ? 1.0> (x, b?) }
->
    (float[2, 3] x) => (y) { y = com.acme.Swish <beta = 0.5> (x) }
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ...definitions import Definition
from ...definitions.element_types import UNIVERSE, types_named
from ...definitions.pattern import Operand, Parameter, Variable
from ...ir import Array, attribute_message
from ...records import record
from ...runtimes.kernel_schemas import KernelSchema

_Type = onnx.TensorProto
_PREFIXES: tuple[tuple[int, ...], ...] = ((2, 3), (2,), (1, 4), (), (2, 3, 4))
"""Shapes of operands without a pattern, before the last axis, and of `*S`."""


@record(frozen=True)
class DrawnNode:
    """A model of one node with a feed.

    Attributes:
        model: the model; its outputs have no types.
        feeds: its inputs by name.
    """

    model: onnx.ModelProto
    feeds: dict[str, Array]

    def __str__(self) -> str:
        """The node with its attributes and the types of its inputs."""
        (node,) = self.model.graph.node
        settings = [f"{a.name} = {helper.get_attribute_value(a)!r}" for a in node.attribute]
        tensors = {t.name: onnx.numpy_helper.to_array(t) for t in self.model.graph.initializer}
        words = []
        for name in node.input:
            array = {**self.feeds, **tensors}.get(name)
            if array is not None:
                words.append(f"{name} {array.dtype}{list(array.shape)}")
        return ", ".join([*words, *settings])


def drawn_nodes(definition: Definition, opset: int, schema: KernelSchema) -> Iterator[DrawnNode]:
    """Draw nodes of the form of a definition without end; kernels may refuse some.

    Args:
        opset: the version of ONNX's own operators.
    """
    draw = np.random.default_rng(0)
    while True:
        yield _Drawing(definition, opset, schema, draw).node()


class _Drawing:
    def __init__(
        self, definition: Definition, opset: int, schema: KernelSchema, draw: np.random.Generator
    ) -> None:
        self.definition = definition
        self.opset = opset
        self._schema = schema
        self._draw = draw
        self._sizes: dict[str, int] = {}
        self._types: dict[str, int] = {}
        self._prefix = _PREFIXES[draw.integers(len(_PREFIXES))]
        self._last = int(draw.choice((4, 8, 16)))
        if draw.random() < 0.3 and self._prefix:  # matrices that are square can be multiplied
            self._prefix = (*self._prefix[:-1], self._last)
        self._is_positive = draw.random() < 0.5
        self._profile = draw.choice(("whole", "row", "scalar", "mixed"))

    def node(self) -> DrawnNode:
        """A model of one node."""
        node = self.definition.node
        domain, _, op_type = self.definition.name.rpartition(".")
        arrays = [self._operand(operand, place) for place, operand in enumerate(node.inputs)]
        names = [operand.name for operand in node.inputs]
        inputs = [name if a is not None else "" for name, a in zip(names, arrays, strict=True)]
        while inputs and not inputs[-1]:
            inputs.pop()
        attributes = [
            attribute_message(name, value)
            for name, expected in node.attributes.items()
            if (value := self._attribute(name, expected)) is not None
        ]
        count = len(node.outputs) if self._draw.random() < 0.3 else 1
        proto = onnx.NodeProto(
            op_type=op_type,
            domain=domain,
            input=inputs,
            output=node.outputs[:count],
            attribute=attributes,
        )
        feeds = {name: a for name, a in zip(names, arrays, strict=True) if a is not None}
        return DrawnNode(self._model(proto, feeds), feeds)

    def _model(self, node: onnx.NodeProto, feeds: dict[str, Array]) -> onnx.ModelProto:
        """A model of a node; constants leave the feeds."""
        parameters, tensors, infos = self.definition.pattern.parameters, [], []
        for name, array in list(feeds.items()):
            if parameters[name].is_constant:
                tensors.append(onnx.numpy_helper.from_array(feeds.pop(name), name))
            else:
                elem_type = helper.np_dtype_to_tensor_dtype(array.dtype)
                infos.append(helper.make_tensor_value_info(name, elem_type, array.shape))
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
        graph = helper.make_graph([node], "drawn", infos, outputs, tensors)
        imports = [helper.make_opsetid("", self.opset)]
        if node.domain:
            imports.append(helper.make_opsetid(node.domain, 1))
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    def _attribute(self, name: str, expected: Any) -> Any:
        """A value of an attribute; None for an absent one."""
        draw = self._draw
        if not isinstance(expected, Variable):
            return list(expected) if isinstance(expected, tuple) else expected
        if expected.is_optional and (expected.default is None or draw.random() < 0.5):
            return None
        default = expected.default
        if isinstance(default, str | tuple):
            return list(default) if isinstance(default, tuple) else default
        if isinstance(default, float):
            return default + float(draw.choice((0.0, 0.5, -0.25)))
        kind = self._schema.attributes.get(name, "INT")
        if default is None and kind != "INT":
            return {"INTS": [2, 2], "FLOAT": 0.5}.get(kind)
        return int(draw.choice((0, 1) if default in (0, 1) else (1, 2, 4)))

    def _operand(self, operand: Operand, place: int) -> Array | None:
        """The elements of an operand; None for an absent one."""
        if operand.kind == "optional" and self._draw.random() < 0.5:
            return None
        parameter = self.definition.pattern.parameters[operand.name]
        return self._elements(self._elem_type(parameter, place), self._shape(parameter, place))

    def _elem_type(self, parameter: Parameter, place: int) -> int:
        """A type that the definition and the kernel have; operands of one parameter share it."""
        inputs = self._schema.inputs
        group, types = inputs[min(place, len(inputs) - 1)] if inputs else ("", ())
        own = types_named(parameter.elem_type or "")
        both = [each for each in own or types if own is None or not types or each in types]
        types_of_both = [each for each in both if each in UNIVERSE] or [_Type.FLOAT]
        if group not in self._types:
            is_first = self._draw.random() < 0.5
            first = _Type.FLOAT if _Type.FLOAT in types_of_both else types_of_both[0]
            self._types[group] = (
                first if is_first else types_of_both[self._draw.integers(len(types_of_both))]
            )
        return self._types[group]

    def _shape(self, parameter: Parameter, place: int) -> tuple[int, ...]:
        pattern = parameter.shape
        if pattern is None:
            whole = (*self._prefix, self._last)
            starts = {"whole": 0, "row": len(whole) - 1, "scalar": len(whole)}
            start = starts.get(self._profile, int(self._draw.integers(len(whole) + 1)))
            return whole[start if place else 0 :]
        sizes = [
            dim if isinstance(dim, int) else self._sizes.setdefault(dim, self._size())
            for dim in pattern.dims
        ]
        return (*(self._prefix if pattern.star else ()), *sizes)

    def _size(self) -> int:
        return int(self._draw.choice((1, 2, 3, 4, 8)))

    def _elements(self, elem_type: int, shape: tuple[int, ...]) -> Array:
        draw, dtype = self._draw, helper.tensor_dtype_to_np_dtype(elem_type)
        if dtype == np.bool_:
            return draw.random(shape) < 0.5
        if dtype.kind == "f":
            numbers = draw.standard_normal(shape)
            return np.asarray(np.abs(numbers) + 0.1 if self._is_positive else numbers, dtype)
        if dtype.itemsize == 1:
            ends = np.iinfo(dtype)
            return draw.integers(ends.min, ends.max + 1, shape).astype(dtype)
        return draw.integers(0, 3, shape).astype(dtype)
