"""What onnx infers of single nodes, asked once for nodes that are alike.

A call of `onnx.shape_inference.infer_node_outputs` takes tens of microseconds, most of it for the
messages that go in and out. So the types that an operator gives out are asked once for each
combination of element types, and shapes once for each combination of shapes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence, Set

import onnx
import onnx.defs
import onnx.shape_inference

from ...facts.fact import FOLLOWED, UNKNOWN, Fact, Symbols
from ...facts.polynomial import Dimension
from ...ir import Function, Model, Node, OnnxError, Operator, Tensor, Value, ask_onnx, normal_domain
from ...ir.onnx_errors import ends_inference
from ...ops import described
from ...ops.versions import VersionOf, version_of_root

_MAX_INPUT_BYTES = 1 << 16
"""Constants up to this size are shown to onnx's inference, which may read shapes from them."""

_MOST_NUMBERS = 64
"""Other constants than integers are scales, limits and depths: one number for each axis at most."""

Kind = tuple[Hashable, ...]
"""What nodes have in common that give out the same, if they are given the same."""


@dataclasses.dataclass(frozen=True)
class Memory:
    """What was found out about nodes and holds wherever one like them is given the same, so that it
    serves all inferences of one rewrite: none of it depends on what a symbol stands for.

    Attributes:
        alike: the first operator that was like an operator.
        first: the same by what operators have in common that are alike.
        elem_types: the element types that nodes give out.
        types: what onnx said of a node's outputs.
        facts: the one fact that stands for all that say the same.
        by_rule: what rules tell of a node, all sizes being made of those of its inputs.
        calls: what calls of functions give out that do not change any more.
        bound: such functions with what a call gives in the place of references to attributes.
        following: of such functions, what follows from which of their inputs.
        asking: such functions of a model, with the operators that ask for sizes, calls of those
            among them that do.
    """

    alike: dict[Operator, Operator] = dataclasses.field(default_factory=dict)
    first: dict[Hashable, Operator] = dataclasses.field(default_factory=dict)
    elem_types: dict[Hashable, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    types: dict[Hashable, list[onnx.TypeProto | None]] = dataclasses.field(default_factory=dict)
    facts: dict[Hashable, Fact] = dataclasses.field(default_factory=dict)
    by_rule: dict[Hashable, list[Fact]] = dataclasses.field(default_factory=dict)
    calls: dict[Hashable, list[Fact]] = dataclasses.field(default_factory=dict)
    bound: dict[Hashable, Function] = dataclasses.field(default_factory=dict)
    following: dict[Hashable, set[Value]] = dataclasses.field(default_factory=dict)
    asking: list[tuple[object, Set[str]]] = dataclasses.field(default_factory=list)

    def without_calls(self) -> Memory:
        """The same for other functions."""
        return dataclasses.replace(self, calls={}, bound={}, following={}, asking=[])


class OnnxFacts:
    """Asks onnx about nodes and remembers what it said.

    Args:
        model: the model of the nodes.
        symbols: the symbols of the facts.
        version_of: the opset version in which a node is written.
        memory: what is known of nodes.

    Attributes:
        times: how often shapes were asked for.
    """

    def __init__(
        self,
        model: Model,
        symbols: Symbols,
        version_of: VersionOf = version_of_root,
        memory: Memory | None = None,
    ) -> None:
        self._ir_version = model.ir_version
        self._symbols = symbols
        self._version_of = version_of
        self._memory = Memory() if memory is None else memory
        self._answers: dict[Hashable, list[_Answer]] = {}
        self.times = 0

    def elem_types(self, node: Node, inputs: Sequence[Fact], kind: Kind) -> tuple[int, ...]:
        """The element types of a node's outputs, for tensors of any shape; 0 where onnx wants to
        know more."""
        given = tuple([fact.elem_type for fact in inputs])
        key = kind, given
        known = self._memory.elem_types.get(key)
        if known is None:
            found = self._ask(node, [Fact(elem_type) for elem_type in given], node.op, {})
            types = found or [None] * len(node.outputs)
            known = tuple([0 if t is None else t.tensor_type.elem_type for t in types])
            self._memory.elem_types[key] = known
        return known

    def of(self, node: Node, inputs: Sequence[Fact], op: Operator) -> list[Fact]:
        """What onnx infers of a node without bodies from its operator, which may be another one
        than its own, its inputs' types, and its constants; nothing of operators unknown to it."""
        self.times += 1
        constants = _small_constants(node, op)
        if any(fact.other is not None for fact in inputs):
            answers = self._read(node, self._ask(node, inputs, op, constants))
        else:
            given = tuple([(f.elem_type, f.shape, constants.get(i)) for i, f in enumerate(inputs)])
            imports = tuple(_imports(node).items())
            key = self.kind(node, op), self._ir_version, imports, given
            if key not in self._answers:
                if key not in self._memory.types:
                    self._memory.types[key] = self._ask(node, inputs, op, constants)
                self._answers[key] = self._read(node, self._memory.types[key])
            answers = self._answers[key]
        return [answer.fact(self._symbols) for answer in answers]

    def kind(self, node: Node, op: Operator) -> Kind:
        """What nodes without bodies have in common that give out the same, if they are given the
        same: the first operator that is like theirs, its version, which outputs are left out."""
        alike = self._memory.alike.get(op) or self._known_by_signature(op)
        given, omitted = node.outputs, None
        if None in given:
            omitted = tuple([value is None for value in given])
        return alike, self._version_of(node), len(given), omitted

    def _known_by_signature(self, op: Operator) -> Operator:
        attributes = [m.SerializeToString(deterministic=True) for m in op.attributes.values()]
        signature = (op.op_type, op.domain, tuple(sorted(attributes)))
        self._memory.alike[op] = self._memory.first.setdefault(signature, op)
        return self._memory.alike[op]

    def _read(self, node: Node, types: list[onnx.TypeProto | None]) -> list[_Answer]:
        return [_Answer(t, self._symbols) for t in types or [None] * len(node.outputs)]

    def _ask(
        self, node: Node, inputs: Sequence[Fact], op: Operator, constants: dict[int, Tensor]
    ) -> list[onnx.TypeProto | None]:
        """The types of a node's outputs; empty for an operator that nobody knows, or a node that
        does not fit its operator."""
        version, domain = self._version_of(node), normal_domain(node.domain)
        if not domain and ends_inference(op.op_type, op.attributes.values()):
            return []
        proto = connected(op, node)
        types = [fact.type_proto() for fact in inputs]
        imports = [
            onnx.helper.make_opsetid(other, version if normal_domain(other) == domain else imported)
            for other, imported in _imports(node).items()
        ]
        try:
            inferred = ask_onnx(
                node,
                onnx.shape_inference.infer_node_outputs,
                onnx.defs.get_schema(op.op_type, version, domain),
                proto,
                {f"i{i}": type_ for i, type_ in enumerate(types) if type_ is not None},
                {f"i{i}": shown_message(tensor) for i, tensor in constants.items()},
                opset_imports=imports,
                ir_version=self._ir_version,
            )
        except (OnnxError, onnx.defs.SchemaError):
            return []
        return [inferred.get(name) for name in proto.output]


def _imports(node: Node) -> Mapping[str, int]:
    assert node.graph is not None
    return node.graph.root.opset_imports


class _Answer:
    """The type of one output: a fact, and the axes whose sizes are another one in each node."""

    __slots__ = ("_fact", "_open")

    def __init__(self, type_: onnx.TypeProto | None, symbols: Symbols) -> None:
        self._fact = UNKNOWN if type_ is None else symbols.fact(type_, inferred=True)
        dims = () if type_ is None else type_.tensor_type.shape.dim
        self._open = {i for i, dim in enumerate(dims) if not _says_something(dim)}

    def fact(self, symbols: Symbols) -> Fact:
        """The fact, with new symbols for what onnx does not know."""
        shape = self._fact.shape
        if not self._open or shape is None:
            return self._fact
        dims: list[Dimension] = [
            symbols.fresh() if i in self._open else dim for i, dim in enumerate(shape)
        ]
        return Fact(self._fact.elem_type, tuple(dims))


def _says_something(dim: onnx.TensorShapeProto.Dimension) -> bool:
    return bool(dim.dim_param) or (dim.HasField("dim_value") and dim.dim_value >= 0)


def connected(op: Operator, node: Node) -> onnx.NodeProto:
    """A message of an operator with a node's inputs i0, i1, ... and outputs o0, o1, ..."""
    proto = op.node_proto()
    proto.input.extend("" if v is None else f"i{i}" for i, v in enumerate(node.inputs))
    proto.output.extend("" if v is None else f"o{i}" for i, v in enumerate(node.outputs))
    return proto


def _small_constants(node: Node, op: Operator) -> dict[int, Tensor]:
    """The constants that a node reads from which onnx may read a shape."""
    constants, rules = {}, described().get(op.qualname)
    for index, value in enumerate(node.inputs):
        tensor = value.constant if value is not None else None
        is_size = rules is None or index in rules.sized_by
        if tensor is not None and _may_tell_a_shape(tensor, is_size):
            constants[index] = tensor
    return constants


def _may_tell_a_shape(tensor: Tensor, is_size: bool) -> bool:
    if tensor.is_sparse or not tensor.is_readable:
        return False
    if tensor.elem_type in FOLLOWED:
        return tensor.size * 8 <= _MAX_INPUT_BYTES
    return is_size and tensor.size <= _MOST_NUMBERS


def shown_message(tensor: Tensor) -> onnx.TensorProto:
    """A constant as onnx is shown it."""
    message = Tensor(array=tensor.numpy()).message() if tensor.is_external else tensor.message()
    assert isinstance(message, onnx.TensorProto)
    return message
