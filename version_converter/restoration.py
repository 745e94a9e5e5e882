"""Restoration, in a conversion up, of operators whose longer form a conversion down wrote.

    y = Mish (x)                                        (opset 18)
->  s = Softplus (x)  t = Tanh (s)  y = Mul (x, t)      (opset 18 to 13)
->  y = Mish (x)                                        (opset 13 to 18)

The longer form of an operator is the result of its own conversion to the source opset and back to
the target. A sample, with typical attributes, finds nodes of that form, whose constants decide the
attributes. The form of the operator with these attributes, and with the types and shapes of the
actual operands, must then be the same, node by node.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..facts.types import FLOATS
from ..ir import Array, Graph, Model, Node, Operator, Value, load
from ..ir.attributes import value_of
from ..ops.builder import Builder
from ..ops.schema_queries import schema_at
from .engine import inherit
from .errors import ConversionError
from .subgraph_extraction import drop_unread
from .types import Types

_T = onnx.TensorProto
_NUMBERS = (*FLOATS, _T.INT64, _T.INT32)
_GROUPS, _STEP = 7919, 7907
"""Sample values that no form has in another place."""

_OPERAND = "operand_"
"""Prefix of the names of a form's operands."""
_MOST_ROOTS = 4
"""Most nodes that are tried as the end of a form."""

Convert = Callable[[Model, int], object]
"""Conversion of a model in place, without restoration."""


class Sample(NamedTuple):
    """Sample of an operator, for the longer form.

    Attributes:
        path: two nodes of the form, one after the other, the first of a rare operator.
        inputs: the number of inputs that are no constants.
        elem_types: element types of the inputs.
        constants: inputs after these, of one number each.
        rank: the least rank of the first input.
        before: the operators before the first node of the path, nearest first.
    """

    op_type: str
    path: tuple[str, str]
    inputs: int
    attributes: Mapping[str, Any] = MappingProxyType({})
    elem_types: tuple[int, ...] = FLOATS
    constants: tuple[int, ...] = ()
    rank: int = 0
    before: tuple[str, ...] = ()


_ROWS = {"axis": -1, "epsilon": 1e-5}
_VARIANCE = ("Add", "ReduceMean", "Mul")
_CHANNELS = {"num_groups": _GROUPS, "epsilon": 1e-5}

SAMPLES = (
    Sample("LayerNormalization", ("Sqrt", "Reciprocal"), 3, _ROWS, rank=1, before=_VARIANCE),
    Sample("LayerNormalization", ("Sqrt", "Reciprocal"), 2, _ROWS, rank=1, before=_VARIANCE),
    Sample("RMSNormalization", ("Sqrt", "Div"), 2, _ROWS, rank=1, before=_VARIANCE),
    Sample("GroupNormalization", ("Sqrt", "Div"), 3, _CHANNELS, rank=3, before=_VARIANCE),
    Sample("Gelu", ("Erf", "Sum"), 1),
    Sample("Gelu", ("Tanh", "Sum"), 1, {"approximate": "tanh"}),
    Sample("Mish", ("Softplus", "Tanh"), 1),
    Sample("GreaterOrEqual", ("Greater", "Or"), 2, elem_types=_NUMBERS),
    Sample("LessOrEqual", ("Less", "Or"), 2, elem_types=_NUMBERS),
    Sample("Range", ("NonZero", "Reshape"), 2, {}, (_T.INT64, _T.INT32), (_STEP,)),
    Sample("Range", ("NonZero", "Reshape"), 3, {}, (_T.INT64, _T.INT32)),
)
"""Operators with long forms that exporters do not write; the larger form of an operator first."""


class Operand(NamedTuple):
    """Operand of a sample: a type, or a constant."""

    elem_type: int
    shape: tuple[int | None, ...] | None
    constant: bytes | None = None


class Restoration:
    """Restoration of operators in the graphs of one opset after a conversion up.

    Args:
        model: the model, converted.
        source: the opset before the conversion.
        target: the opset after it.
        convert: converts models of one node.
    """

    def __init__(self, model: Model, source: int, target: int, convert: Convert) -> None:
        self.source = source
        self.target = target
        self._convert = convert
        self._types = Types(model)
        self._forms: dict[tuple[object, ...], Graph | None] = {}

    def run(self, graph: Graph) -> None:
        """Restore operators in one graph."""
        for sample in SAMPLES:
            before, now = (schema_at(sample.op_type, v) for v in (self.source, self.target))
            # An operator of both opsets needed no longer form, so nodes like it are
            # the exporter's own.
            if now is None or (before is not None and before.since_version == now.since_version):
                continue
            for seed in graph.nodes_of(sample.path[0]):
                if seed.graph is graph and _may_match(graph, sample, seed):
                    self._restore(graph, sample, seed)

    def _restore(self, graph: Graph, sample: Sample, seed: Node) -> None:
        for form in self._sample_forms(graph, sample, seed):
            for root in _roots(graph, seed, form, sample.path[0]):
                match = _Match(graph, form, _placeholders(sample))
                # A sample has typical attributes and open shapes: it finds nodes
                # and their attributes cheaply, and proves nothing. The form for
                # the actual operands decides.
                if not match.matches(root) or not match.is_closed(root):
                    continue
                operands = self._operands(match, sample.inputs + len(sample.constants))
                for op in self._operators(sample, match):
                    if operands is not None and self._is_same(graph, op, operands, root):
                        _replace(graph, op, operands, root, self._types)
                        return

    def _sample_forms(self, graph: Graph, sample: Sample, seed: Node) -> Iterator[Graph]:
        """The longer forms of a sample for the possible element types."""
        own, rank = self._types.elem_type(seed.inputs[0]), None
        if sample.rank:
            rank = self._types.rank(seed.inputs[0])
            if rank is None or rank < sample.rank:
                return
            # Its longer form reshapes groups of channels: the seed has another rank
            # than the operand.
            rank = 4 if sample.op_type == "GroupNormalization" else rank
        others = [each for each in sample.elem_types if each != own]
        # Operands of another type are cast, and the form with these Casts is the larger one.
        for elem_type in (*(others if graph.nodes_of("Cast") else ()), own):
            if elem_type not in sample.elem_types:
                continue
            shape = None if rank is None else (None,) * rank
            operands = [Operand(elem_type, shape)]
            operands += [Operand(elem_type, None)] * (sample.inputs - 1)
            dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
            operands += [_constant(np.array(number, dtype)) for number in sample.constants]
            form = self._form(Operator.make(sample.op_type, **sample.attributes), operands)
            if form is not None:
                yield form

    def _operators(self, sample: Sample, match: "_Match") -> Iterator[Operator]:
        """The operators that a match may stand for."""
        # A longer form counts axes from either end; both spellings are tried where the
        # rank is known.
        attributes = {n: match.numbers.get(n, own) for n, own in sample.attributes.items()}
        yield Operator.make(sample.op_type, **attributes)
        first = match.values.get(f"{_OPERAND}0")
        rank = None if first is None else self._types.rank(first)
        if "axis" in attributes and rank is not None:
            attributes["axis"] += rank if attributes["axis"] < 0 else -rank
            yield Operator.make(sample.op_type, **attributes)

    def _operands(self, match: "_Match", count: int) -> list[Value | Array] | None:
        """The operands of a match, or the numbers that constants hold of them; None where nothing
        of the form reads one."""
        values = [match.values.get(f"{_OPERAND}{index}") for index in range(count)]
        elem_type = self._types.elem_type(next((v for v in values if v is not None), None))
        operands: list[Value | Array] = []
        for index, value in enumerate(values):
            number = match.numbers.get(f"{_OPERAND}{index}")
            if value is None and (number is None or elem_type is None):
                return None
            dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type or _T.FLOAT)
            operands.append(np.array(number, dtype) if value is None else value)
        return operands

    def _is_same(
        self, graph: Graph, op: Operator, values: Sequence[Value | Array], root: Node
    ) -> bool:
        """Test that the longer form of an operator on some values is exactly the root's."""
        operands = [each for each in map(self._operand, values) if each is not None]
        form = self._form(op, operands) if len(operands) == len(values) else None
        if form is None:
            return False
        match = _Match(graph, form, {})
        reads = [match.values.get(f"{_OPERAND}{index}") for index in range(len(values))]
        return match.matches(root) and all(map(_agrees, reads, values))

    def _operand(self, value: Value | Array) -> Operand | None:
        if not isinstance(value, Value):
            return _constant(value)
        elem_type, shape = self._types.elem_type(value), self._types.shape(value)
        if elem_type is None:
            return None
        # The longer form may depend on a number, such as the step of a Range.
        if value.constant is not None and not value.constant.is_sparse and shape == []:
            return _constant(value.constant.numpy())
        return Operand(elem_type, None if shape is None else tuple(shape))

    def _form(self, op: Operator, operands: Sequence[Operand]) -> Graph | None:
        """The longer form of an operator; None where it has none."""
        key = (op.op_type, *sorted((n, m.SerializeToString()) for n, m in op.attributes.items()))
        key = (*key, *operands)
        if key not in self._forms:
            self._forms[key] = self._converted(op, operands)
        return self._forms[key]

    def _converted(self, op: Operator, operands: Sequence[Operand]) -> Graph | None:
        names = [f"{_OPERAND}{index}" for index in range(len(operands))]
        node = onnx.NodeProto(op_type=op.op_type, input=names, output=["y"])
        node.attribute.extend(op.attributes.values())
        proto = onnx.GraphProto(name="form", node=[node], output=[onnx.ValueInfoProto(name="y")])
        for name, operand in zip(names, operands, strict=True):
            if operand.constant is not None:
                tensor = onnx.TensorProto(data_type=operand.elem_type, raw_data=operand.constant)
                tensor.name = name
                proto.initializer.append(tensor)
            else:
                info = onnx.helper.make_tensor_value_info(name, operand.elem_type, operand.shape)
                proto.input.append(info)
        imports = [onnx.helper.make_opsetid("", self.target)]
        form = load(onnx.ModelProto(ir_version=10, graph=proto, opset_import=imports))
        try:
            self._convert(form, self.source)
            self._convert(form, self.target)
        # The operator on these operands has no longer form, so the nodes cannot be one.
        except ConversionError:
            return None
        return form.graph


def _constant(array: Array) -> Operand:
    return Operand(onnx.helper.np_dtype_to_tensor_dtype(array.dtype), (), array.tobytes())


def _agrees(operand: Value | None, value: Value | Array) -> bool:
    """Test that an operand of a form is this value, or absent."""
    return operand is None or operand is value


def _placeholders(sample: Sample) -> dict[float, str]:
    """The attributes of a sample that are numbers, by their value."""
    numbers = {n: v for n, v in sample.attributes.items() if isinstance(v, int | float)}
    return {float(np.float32(value)): name for name, value in numbers.items()} | {
        float(number): f"{_OPERAND}{sample.inputs + index}"
        for index, number in enumerate(sample.constants)
    }


def _may_match(graph: Graph, sample: Sample, seed: Node) -> bool:
    """Test the nodes before and after a seed."""
    node: Node | None = seed
    for op_type in sample.before:
        value = None if node is None else node.input(0)
        node = None if value is None else value.producer
        if node is None or not node.is_op(op_type):
            return False
    return bool(_step(graph, seed, sample.path[1]))


def _step(graph: Graph, node: Node, op_type: str) -> list[Node]:
    """The readers of a node with an operator, in the same graph."""
    users = [user for value in node.outputs if value is not None for user in graph.users(value)]
    return [u for u in users if isinstance(u, Node) and u.graph is graph and u.is_op(op_type)]


def _roots(graph: Graph, seed: Node, form: Graph, op_type: str) -> list[Node]:
    """The nodes of a graph that may end a form around a seed."""
    roots = dict[Node, None]()
    for start in form.nodes_of(op_type):
        nodes, current = [seed], start
        while current is not form.outputs[0].producer:
            current = next(u for u in form.users(current.output()) if isinstance(u, Node))
            nodes = [after for node in nodes for after in _step(graph, node, current.op_type)]
            nodes = list(dict.fromkeys(nodes))[:_MOST_ROOTS]
        roots.update(dict.fromkeys(nodes))
    return list(roots)


class _Match:
    """Comparison of nodes of a graph with a form.

    Args:
        placeholders: attributes by their sample value; a constant may hold another one instead.

    Attributes:
        values: the values in the places of the form's operands, by name.
        numbers: attributes, and operands, that constants decide.
    """

    def __init__(self, graph: Graph, form: Graph, placeholders: dict[float, str]) -> None:
        self.graph = graph
        self.form = form
        self.values: dict[str, Value] = {}
        self.numbers: dict[str, Any] = {}
        self._placeholders = placeholders
        self._nodes: dict[Node, Node] = {}

    def matches(self, root: Node) -> bool:
        """Test that a node ends the form."""
        result = self.form.outputs[0].producer
        return result is not None and self._is_node(result, root)

    def is_closed(self, root: Node) -> bool:
        """Test that nothing else needs a value inside."""
        nodes = set(self._nodes.values())
        # Another reader of an inner value would keep these nodes alive beside the
        # restored operator.
        inner = [v for node in nodes - {root} for v in node.outputs if v is not None]
        return not any(v.pinned or not nodes.issuperset(self.graph.users(v)) for v in inner)

    def _is_node(self, ours: Node, theirs: Node) -> bool:
        if ours in self._nodes:
            return self._nodes[ours] is theirs
        self._nodes[ours] = theirs
        return (
            theirs.graph is self.graph
            and ours.op.qualname == theirs.op.qualname
            and not theirs.bodies
            and len(ours.inputs) == len(theirs.inputs)
            and len(ours.outputs) == len(theirs.outputs)
            and self._has_attributes(ours.op, theirs.op)
            and all(map(self._is_value, ours.inputs, theirs.inputs))
        )

    def _has_attributes(self, ours: Operator, theirs: Operator) -> bool:
        if ours.attributes.keys() != theirs.attributes.keys():
            return False
        return all(
            message == theirs.attributes[name]
            or (name == "axes" and self._holds(*map(_axes, (message, theirs.attributes[name]))))
            for name, message in ours.attributes.items()
        )

    def _is_value(self, ours: Value | None, theirs: Value | None) -> bool:
        if ours is None or theirs is None:
            return ours is theirs
        if ours.producer is None and ours.name.startswith(_OPERAND):
            if ours.constant is not None and theirs.constant is None:
                return False
            return self.values.setdefault(ours.name, theirs) is theirs
        if ours.constant is not None:
            both = (ours.constant, theirs.constant)
            return both[1] is not None and self._holds(*[each.numpy() for each in both if each])
        if ours.producer is None or theirs.producer is None:
            return False
        index = ours.producer.outputs.index(ours)
        is_same_place = theirs.producer.outputs.index(theirs) == index
        return is_same_place and self._is_node(ours.producer, theirs.producer)

    def _holds(self, ours: Array, theirs: Array) -> bool:
        """Test that a constant is that of the form, but for the attributes in it."""
        if ours.dtype != theirs.dtype:
            return False
        if ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes():
            return True
        if ours.dtype.kind == "i" and ours.ndim == 1 and "axis" in self._placeholders.values():
            return theirs.ndim == 1 and theirs.size > 0 and self._is_number("axis", theirs[0])
        if ours.shape != theirs.shape:
            return False
        return all(
            a == b or (float(a) in self._placeholders and self._is_number(self._placeholders[a], b))
            for a, b in zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True)
        )

    def _is_number(self, name: str, number: Any) -> bool:
        number = number.item() if isinstance(number, np.generic) else number
        return bool(self.numbers.setdefault(name, number) == number)


def _axes(message: onnx.AttributeProto) -> Array:
    return np.array(value_of(message), np.int64)


def _replace(
    graph: Graph, op: Operator, operands: Sequence[Value | Array], root: Node, types: Types
) -> None:
    """Replace the longer form of an operator."""
    inputs, old, emit = list(root.inputs), root.output(), Builder(graph)
    values = [v if isinstance(v, Value) else emit.constant(v, "number") for v in operands]
    new = emit.apply(op, values, old.name, root.name)
    types.transfer(old, new)
    graph.supersede(old, new)
    graph.remove(root)
    drop_unread([value for value in inputs if value is not None])
    if new.producer is not None:
        inherit(new.producer, root)
