"""ONNX's full check of a rewrite, asked once for each kind of node.

    t = Add (x, x)   u = Mul (t, x)   v = Add (u, u)      # x float[2]: onnx sees one Add, one Mul

A kind is an operation with the types of its operands, the contents that inference may read, and
the types that the model declares for its outputs. onnx checks a node of each kind in a model of its
own, and the types that it infers lead to the kinds of the next nodes. All nodes at once take onnx
3 us each, and a kind 30 us. Order and single assignment hold of every compiled program, and the
model without its nodes is checked as a whole.
"""

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, ParamSpec

import onnx
import onnx.checker
import onnx.shape_inference
from onnx.external_data_helper import uses_external_data

from ...ir.onnx_errors import OnnxError, ask_onnx
from ...ops import rules_of
from ...runtimes.source import is_large, with_inputs
from .execution.compile_graph import ABSENT, Operation, Program, Step

P = ParamSpec("P")

_NODES_OF_KIND = 32
"""The least nodes of a kind, on average, with which this is faster than to check all nodes."""
_FEW = 64
"""The most bytes of a constant that is compared by its content."""
_NONE, _UNKNOWN = 0, 1
"""Numbers of the types of an absent value, and of one without a known type."""
_GENERATED = "unk__"
"""Prefix of names that inference gives to sizes; it refuses nothing for a name."""


class Kind(NamedTuple):
    """The first node of a kind, with the types of its operands; None for an unknown one, and for
    an absent operand."""

    step: Step
    types: tuple[onnx.TypeProto | None, ...]


def accepted_kinds(program: Program, proto: onnx.ModelProto) -> list[Kind] | None:
    """Kinds of the nodes of a model that ONNX's full check certainly accepts; None where that is
    open, and where there are so many that all nodes are checked as fast.

    Args:
        program: the main graph, compiled for this opset or another one.
    """
    most = len(program.steps) // _NODES_OF_KIND
    kinds = kinds_of(program, proto, most) if len(program.operations) <= most else None
    return None if kinds is None else kinds.first


def kinds_of(program: Program, proto: onnx.ModelProto, most: int) -> "Kinds | None":
    """Ask onnx about each kind of node, and about the model without its nodes.

    Returns:
        the kinds; None where the question stays open, and for more than `most` kinds.
    """
    graph = proto.graph
    # onnx infers each of these by the whole model, so single nodes do not stand for them.
    if proto.functions or proto.training_info or graph.sparse_initializer:
        return None
    if any(map(uses_external_data, graph.initializer)):
        return None
    declared = _declared(program)
    if declared is None:
        return None
    kinds = Kinds(program, proto, declared)
    if not kinds.pass_all(most):
        return None
    weights = [tensor for tensor in graph.initializer if is_large(tensor)]
    frame = with_inputs(proto, weights, {"node", "output"})
    frame.graph.input.extend(graph.output)  # checked alike, and no node has to define them
    return kinds if _accepts(onnx.checker.check_model, frame, full_check=True) else None


def _declared(program: Program) -> dict[int, onnx.TypeProto] | None:
    """Types declared for outputs of nodes, by slot.

    None where a value has two, or another value has one that is not the type of a weight. A type
    declared for no name would be that of absent operands.
    """
    weights = dict(program.constants)
    for at in program.inputs:
        weights.pop(at, None)
    sources = {ABSENT, *program.inputs, *weights}
    declared: dict[int, onnx.TypeProto] = {}
    for at, message, _ in program.infos:
        if at in weights and message == type_of_weight(weights[at]):
            continue
        if at in sources or declared.setdefault(at, message) is not message:
            return None
        if message.WhichOneof("value") is None:
            return None
    return None if any(at not in declared for at in program.outputs) else declared


def type_of_weight(tensor: onnx.TensorProto | onnx.SparseTensorProto) -> onnx.TypeProto:
    """Type of a weight, which is dense."""
    assert isinstance(tensor, onnx.TensorProto)
    sizes = [{"dim_value": size} for size in tensor.dims]
    return onnx.TypeProto(tensor_type={"elem_type": tensor.data_type, "shape": {"dim": sizes}})


def _accepts(check: Callable[P, object], *arguments: P.args, **options: P.kwargs) -> bool:
    """Test whether a function of onnx raises nothing."""
    try:
        ask_onnx("the rewrite", check, *arguments, **options)
    except OnnxError:
        return False
    return True


@functools.lru_cache(maxsize=1 << 10)
def _types_of(query: bytes) -> Mapping[str, onnx.TypeProto] | None:
    """Types of the outputs of the last node of a model; None where onnx refuses it."""
    proto = onnx.ModelProto.FromString(query)
    context = onnx.checker.C.CheckerContext()
    context.ir_version = proto.ir_version
    context.opset_imports = {each.domain: each.version for each in proto.opset_import}
    if not _accepts(onnx.checker.check_node, proto.graph.node[-1], context):
        return None
    try:
        infer = onnx.shape_inference.infer_shapes
        answer = ask_onnx("the rewrite", infer, proto, check_type=True, strict_mode=True)
    except OnnxError:
        return None
    return {info.name: info.type for info in answer.graph.value_info}


class Kinds:
    """Types of the values of a program, and the kinds of its nodes.

    Args:
        program: the main graph.
        declared: types that it declares for outputs of nodes, by slot.

    Attributes:
        first: the kinds so far.
    """

    def __init__(
        self, program: Program, proto: onnx.ModelProto, declared: dict[int, onnx.TypeProto]
    ) -> None:
        self.first: list[Kind] = []
        self._program, self._declared = program, declared
        self._types: list[onnx.TypeProto | None] = [None, None]
        self._numbers: dict[bytes, int] = {}
        self._of_declared = {at: self._number(message) for at, message in declared.items()}
        self._constants: dict[int, onnx.TensorProto | onnx.NodeProto] = {}
        self._contents: dict[int, Hashable] = {}
        self._by_types = set(filter(_ignores_contents, program.operations))
        self._query = onnx.ModelProto(
            ir_version=proto.ir_version, opset_import=proto.opset_import, graph={"name": "kind"}
        )
        self._frame = [_UNKNOWN] * program.size
        self._frame[ABSENT] = _NONE
        self._enter_sources(proto.graph)

    def _enter_sources(self, graph: onnx.GraphProto) -> None:
        """Enter the types of inputs and initializers; the type of an input precedes."""
        for at, tensor in self._program.constants:
            self._frame[at] = self._number(type_of_weight(tensor))
            if isinstance(tensor, onnx.TensorProto) and not is_large(tensor):
                self._constants[at] = tensor
        by_name = {info.name: info.type for info in graph.input}
        for name, at in zip(self._program.names, self._program.inputs, strict=True):
            self._frame[at] = self._number(by_name[name])

    def number_of(self, at: int) -> int:
        """Number of the type of a value, by slot."""
        return self._frame[at]

    def type_of(self, at: int) -> onnx.TypeProto | None:
        """Type of a value, by slot; None for an unknown one."""
        return self._types[self._frame[at]]

    def pass_all(self, most: int) -> bool:
        """Test whether onnx accepts all kinds; false if there are more than so many."""
        frame, by_types, declared = self._frame, self._by_types, self._declared
        kinds: dict[Hashable, Sequence[int] | None] = {}
        type_at = frame.__getitem__
        for step in self._program.steps:
            operation, outputs = step.operation, step.outputs
            kind: Hashable = (operation, *map(type_at, step.inputs))
            is_common = len(outputs) == 1 and outputs[0] != ABSENT and outputs[0] not in declared
            if not (is_common and operation in by_types):
                kind = self._in_full(kind, step)
            types = kinds.get(kind)
            if types is None:
                if operation.bodies or operation.function or len(kinds) == most:
                    return False
                types = kinds[kind] = self._infer(step)
                if types is None:
                    return False
            if is_common:
                frame[outputs[0]] = types[0]
                continue
            for at, number in zip(outputs, types, strict=True):
                frame[at] = number
            # Absent outputs and absent operands have one slot.
            frame[ABSENT] = _NONE
        return True

    def _in_full(self, kind: Hashable, step: Step) -> Hashable:
        """Kind of a node with contents of operands, absent outputs and declared types."""
        operation = step.operation
        is_open = operation not in self._by_types
        contents = tuple(map(self._content, step.inputs)) if is_open else ()
        if operation.op_type == "Constant":
            self._constants[step.outputs[0]] = step.node
        outputs = [at and self._of_declared.get(at, _UNKNOWN) for at in step.outputs]
        return kind, contents, tuple(outputs)

    def _content(self, at: int) -> Hashable:
        """Content of a constant: bytes, or its slot for a long one; None for another value."""
        message = self._constants.get(at)
        if message is None or at in self._contents:
            return self._contents.get(at)
        bare = type(message)()
        bare.CopyFrom(message)
        # Equal constants of several names make one kind.
        bare.ClearField("name")
        if isinstance(bare, onnx.NodeProto):
            bare.ClearField("output")
        is_short = bare.ByteSize() <= _FEW
        content = self._contents[at] = bare.SerializeToString() if is_short else at
        return content

    def _infer(self, step: Step) -> list[int] | None:
        """Types of the outputs of a node; None where onnx refuses it."""
        node = onnx.NodeProto()
        node.CopyFrom(step.node)
        names = [f"i{k}" if at != ABSENT else "" for k, at in enumerate(step.inputs)]
        results = [f"o{k}" if at != ABSENT else "" for k, at in enumerate(step.outputs)]
        node.input[:], node.output[:] = names, results
        query = onnx.ModelProto()
        query.CopyFrom(self._query)
        graph = query.graph
        for name, at in zip(names, step.inputs, strict=True):
            self._enter(graph, name, at)
        graph.node.append(node)
        for name, at in zip(results, step.outputs, strict=True):
            # A declared type of an output is merged by inference, which may refuse it.
            if at in self._declared:
                graph.value_info.add(name=name, type=self._declared[at])
        by_name = _types_of(query.SerializeToString(deterministic=True))
        if by_name is None:
            return None
        operands = [self._types[self._frame[at]] for at in step.inputs]
        self.first.append(Kind(step, tuple(operands)))
        types = [by_name.get(name) for name in results]
        return [_UNKNOWN if each is None else self._number(each) for each in types]

    def _enter(self, graph: onnx.GraphProto, name: str, at: int) -> None:
        """Enter an operand into the model of a node."""
        constant, message = self._constants.get(at), self._types[self._frame[at]]
        if isinstance(constant, onnx.NodeProto):
            node = graph.node.add()
            node.CopyFrom(constant)
            node.output[:] = [name]
            return
        if name:
            graph.input.add(name=name, type=message)
        if constant is not None:
            graph.initializer.add().CopyFrom(constant)
            graph.initializer[-1].name = name

    def _number(self, message: onnx.TypeProto) -> int:
        """Number of a type, in which names that inference chose do not count."""
        own = onnx.TypeProto()
        own.CopyFrom(message)
        for dim in own.tensor_type.shape.dim if own.HasField("tensor_type") else ():
            if dim.dim_param.startswith(_GENERATED):
                dim.ClearField("dim_param")
        number = self._numbers.setdefault(own.SerializeToString(), len(self._types))
        if number == len(self._types):
            self._types.append(own)
        return number


def _ignores_contents(operation: Operation) -> bool:
    """Test for an operator of whose operands inference reads types and sizes only."""
    op = None if operation.head is None else operation.head.op
    rules = None if op is None else rules_of(op)
    return rules is not None and (rules.elementwise or rules.inferred_from_types)
