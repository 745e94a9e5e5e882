"""Cache of onnx's inference of single nodes, one query for equal nodes.

A call of `onnx.shape_inference.infer_node_outputs` takes tens of microseconds, mostly for
conversion of messages. So there is one query of output types for each combination of element types,
and one of shapes for each combination of shapes.
"""

from collections.abc import Hashable, Sequence, Set

import onnx
import onnx.defs
import onnx.shape_inference

from ...facts.fact import FOLLOWED, UNKNOWN, Fact, Symbols
from ...facts.polynomial import Dimension
from ...ir import Function, Model, Node, OnnxError, Operator, Tensor, Value, ask_onnx, normal_domain
from ...ir.onnx_errors import ends_inference
from ...ops import described
from ...ops.schema_queries import VersionOf, version_of_root
from ...records import field, record, replace

_MAX_INPUT_BYTES = 1 << 16
"""The largest constant in bytes for onnx's inference, which may read shapes from it."""

_MOST_NUMBERS = 64
"""The most elements of other constants: scales, limits and depths have one for each axis."""

_MOST_BYTES = 256
"""The most bytes of attributes of an operator whose element types all models share."""

_MOST_SHARED = 1 << 14
_ELEM_TYPES: dict[Hashable, tuple[int, ...]] = {}
"""The element types of outputs of ONNX's own operators, which depend on no model."""

Kind = tuple[Hashable, ...]
"""The key of nodes with equal outputs for equal inputs."""


@record
class Tally:
    """Number of nodes whose facts were computed, in all inferences that share a memory."""

    nodes: int = 0


@record(frozen=True)
class Memory:
    """Results for nodes that hold for equal nodes with equal inputs. They serve all inferences of
    one rewrite, as none depends on the meaning of a symbol.

    Attributes:
        alike: the first operator equal to an operator.
        first: the first operator by the key of equal ones.
        elem_types: the element types of outputs.
        types: the types of outputs from onnx.
        facts: the interned facts.
        by_rule: the facts of rules, where all sizes derive from those of inputs.
        calls: the outputs of calls of functions that do not change.
        bound: such functions with references replaced by attributes of a call.
        following: for such functions, the values that follow from each set of inputs.
        asking: such functions of a model, with the operators that read sizes, including calls of
            such functions.
        tally: the work of the inferences.
    """

    alike: dict[Operator, Operator] = field(default_factory=dict)
    first: dict[Hashable, Operator] = field(default_factory=dict)
    elem_types: dict[Hashable, tuple[int, ...]] = field(default_factory=dict)
    types: dict[Hashable, list[onnx.TypeProto | None]] = field(default_factory=dict)
    facts: dict[Hashable, Fact] = field(default_factory=dict)
    by_rule: dict[Hashable, list[Fact]] = field(default_factory=dict)
    calls: dict[Hashable, list[Fact]] = field(default_factory=dict)
    bound: dict[Hashable, Function] = field(default_factory=dict)
    following: dict[Hashable, set[Value]] = field(default_factory=dict)
    asking: list[tuple[object, Set[str]]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    def without_calls(self) -> "Memory":
        """The results for other functions."""
        return replace(self, calls={}, bound={}, following={}, asking=[])


class OnnxFacts:
    """Queries of onnx's inference, cached.

    Args:
        version_of: returns the opset version of a node.

    Attributes:
        times: the number of queries for shapes.
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
        """The element types of a node's outputs for any shapes; 0 where onnx needs them."""
        input_types = tuple([fact.elem_type for fact in inputs])
        key = kind, input_types
        output_types = self._memory.elem_types.get(key)
        if output_types is None:
            output_types = self._elem_types(node, input_types, kind)
            self._memory.elem_types[key] = output_types
        return output_types

    def _elem_types(self, node: Node, input_types: tuple[int, ...], kind: Kind) -> tuple[int, ...]:
        """Element types of a node unlike the earlier ones, shared by all models."""
        attributes = tuple([m.SerializeToString() for m in node.op.attributes.values()])
        absent = tuple([value is None for value in node.inputs])
        key = (node.op.function_key, attributes, kind[1:], input_types, absent, self._ir_version)
        output_types = _ELEM_TYPES.get(key)
        if output_types is None:
            answers = self._ask(node, [Fact(elem_type) for elem_type in input_types], node.op, {})
            types = answers or [None] * len(node.outputs)
            output_types = tuple([0 if t is None else t.tensor_type.elem_type for t in types])
            if sum(map(len, attributes)) <= _MOST_BYTES and not normal_domain(node.domain):
                if len(_ELEM_TYPES) >= _MOST_SHARED:
                    _ELEM_TYPES.clear()
                _ELEM_TYPES[key] = output_types
        return output_types

    def of(self, node: Node, inputs: Sequence[Fact], op: Operator) -> list[Fact]:
        """Infer a node without bodies by onnx. It uses the types and constants of inputs, and an
        operator that may differ from the node's own."""
        self.times += 1
        constants = _small_constants(node, op)
        # The type of a sequence is a message, which cannot be part of a key.
        if any(fact.other is not None for fact in inputs):
            answers = self._read(node, self._ask(node, inputs, op, constants))
        else:
            types = tuple([(f.elem_type, f.shape, constants.get(i)) for i, f in enumerate(inputs)])
            imports = tuple(node.root.opset_imports.items())
            key = self.kind(node, op), self._ir_version, imports, types
            # Types outlive this inference; answers have its symbols.
            if key not in self._answers:
                if key not in self._memory.types:
                    self._memory.types[key] = self._ask(node, inputs, op, constants)
                self._answers[key] = self._read(node, self._memory.types[key])
            answers = self._answers[key]
        return [answer.fact(self._symbols) for answer in answers]

    def kind(self, node: Node, op: Operator) -> Kind:
        """The key of nodes with equal outputs for equal inputs, none with bodies. It has the first
        equal operator, its version and the omitted outputs."""
        op = op.form
        alike = self._memory.alike.get(op) or self._first_equal(op)
        outputs, omitted = node.outputs, None
        if None in outputs:
            omitted = tuple([value is None for value in outputs])
        return alike, self._version_of(node), len(outputs), omitted

    def _first_equal(self, op: Operator) -> Operator:
        attributes = [m.SerializeToString(deterministic=True) for m in op.attributes.values()]
        signature = (op.op_type, op.domain, tuple(sorted(attributes)))
        self._memory.alike[op] = self._memory.first.setdefault(signature, op)
        return self._memory.alike[op]

    def _read(self, node: Node, types: list[onnx.TypeProto | None]) -> "list[_Answer]":
        return [_Answer(t, self._symbols) for t in types or [None] * len(node.outputs)]

    def _ask(
        self, node: Node, inputs: Sequence[Fact], op: Operator, constants: dict[int, Tensor]
    ) -> list[onnx.TypeProto | None]:
        """Query the types of a node's outputs; empty for an unknown operator or an invalid node."""
        version, domain = self._version_of(node), normal_domain(node.domain)
        if not domain and ends_inference(op.op_type, op.attributes.values()):
            return []
        proto = connected_message(op, node)
        types = [fact.type_proto() for fact in inputs]
        imports = [
            onnx.helper.make_opsetid(other, version if normal_domain(other) == domain else imported)
            for other, imported in node.root.opset_imports.items()
        ]
        try:
            inferred = ask_onnx(
                node,
                onnx.shape_inference.infer_node_outputs,
                onnx.defs.get_schema(op.op_type, version, domain),
                proto,
                {f"i{i}": type_ for i, type_ in enumerate(types) if type_ is not None},
                {f"i{i}": message_for_onnx(tensor) for i, tensor in constants.items()},
                opset_imports=imports,
                ir_version=self._ir_version,
            )
        except (OnnxError, onnx.defs.SchemaError):
            return []
        return [inferred.get(name) for name in proto.output]


class _Answer:
    """The type of one output: a fact, and the axes whose sizes differ in each node."""

    __slots__ = ("_fact", "_open")

    def __init__(self, type_: onnx.TypeProto | None, symbols: Symbols) -> None:
        self._fact = UNKNOWN if type_ is None else symbols.fact(type_, inferred=True)
        dims = () if type_ is None else type_.tensor_type.shape.dim
        self._open = {i for i, dim in enumerate(dims) if not _is_informative(dim)}

    def fact(self, symbols: Symbols) -> Fact:
        """The fact, with new symbols for unknown sizes."""
        shape = self._fact.shape
        if not self._open or shape is None:
            return self._fact
        dims: list[Dimension] = [
            symbols.fresh() if i in self._open else dim for i, dim in enumerate(shape)
        ]
        return Fact(self._fact.elem_type, tuple(dims))


def _is_informative(dim: onnx.TensorShapeProto.Dimension) -> bool:
    # A negative size is no size, so it counts as unknown.
    return bool(dim.dim_param) or (dim.HasField("dim_value") and dim.dim_value >= 0)


def connected_message(op: Operator, node: Node) -> onnx.NodeProto:
    """A message of an operator with a node's inputs i0, i1, ... and outputs o0, o1, ..."""
    proto = op.node_proto()
    proto.input.extend("" if v is None else f"i{i}" for i, v in enumerate(node.inputs))
    proto.output.extend("" if v is None else f"o{i}" for i, v in enumerate(node.outputs))
    return proto


def _small_constants(node: Node, op: Operator) -> dict[int, Tensor]:
    """The constant inputs of a node from which onnx may read a shape."""
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


def message_for_onnx(tensor: Tensor) -> onnx.TensorProto:
    """The message of a constant for onnx."""
    # onnx does not know the model's folder, so the elements must be in the message.
    message = Tensor(array=tensor.numpy()).message() if tensor.is_external else tensor.message()
    assert isinstance(message, onnx.TensorProto)
    return message
