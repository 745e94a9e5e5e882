"""Graphs compiled for symbolic execution: names become slots of a frame.

Names of a body shadow those around it, an absent output defines nothing, and the captured values of
a body are copied into its frame once for all iterations (ONNX IR specification, "Names Within a
Graph").
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import onnx

from ....facts.fact import Fact
from ....ir import FunctionKey, ModelError, Operator, normal_domain
from ....ir.checker.graphs import Row, rows_of
from ....ir.io.protobuf.node_bytes import after_names
from ....ir.lazy import lazy_property
from ....ir.places import key_of
from ....ir.subgraph_arity import BODIES, arity_fault, body_arity, fed_inputs, surplus
from ....ops import rules_of
from ....records import record
from ....reference.bodies import label
from ....reference.functions import specialize
from ....reference.signature import Dim, dims_of
from ..terms.budget import OpenError
from ..terms.exact_operators import COMMUTATIVE
from ..terms.term import Args, Head, Heads
from ..terms.term_manager import TRIGGERS, Results, Settled
from .node_checker import Type, declared_type, raise_type_conflict, require_form

ABSENT = 0
"""Slot of each frame that holds nothing: an absent input reads it."""

_INSIDE = 4
"""Weight of a node in a body."""

MOST_DEPTH = 40
"""Limit of nested bodies and calls."""


@dataclasses.dataclass(eq=False, slots=True)
class Operation:
    """Common part of nodes that differ in the names of values only.

    Attributes:
        op_type: the operator, with the domain where it is not the default one.
        width: number of outputs.
        head: its head; None for a call of a function.
        version: the version of its domain; 0 for a call of a function.
        bodies: its bodies; then it belongs to one node.
        applications: outputs of its head, by arguments.
        is_commutative: whether its two operands may be swapped.
        is_plain: whether it is known to be a function of its inputs alone.
        never_fails: whether it is known to be total.
        valid: element types of inputs that its version is known to accept.
        types: element types of outputs by those of inputs.
        outcomes: facts of its outputs by those of its inputs, with which it cannot fail; empty
            where a rule may apply.
        settled: its outputs by arguments of such facts, where no rule applies.
        is_older: whether later versions of the operator accept operands that this one refuses.
        triggers: heads of operands to which a rule may apply nevertheless.
    """

    op_type: str
    width: int
    head: Head | None = None
    version: int = 0
    bodies: Mapping[str, Program] = dataclasses.field(default_factory=dict)
    function: Program | None = None
    applications: Mapping[Args, Results] = dataclasses.field(default_factory=dict)
    is_commutative: bool = False
    is_plain: bool = False
    is_older: bool = False
    never_fails: bool = False
    valid: set[tuple[Type, ...]] = dataclasses.field(default_factory=set)
    types: dict[tuple[int, ...], tuple[int, ...]] = dataclasses.field(default_factory=dict)
    outcomes: dict[tuple[Fact | None, ...], list[Fact]] = dataclasses.field(default_factory=dict)
    settled: Settled = dataclasses.field(default_factory=dict)
    triggers: frozenset[str] = frozenset()


class _Row(NamedTuple):
    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    node: onnx.NodeProto


class Step(_Row):
    """Node with the slots of its values, equal to no other one.

    Attributes:
        operation: what nodes like it share.
        inputs: slots of its inputs.
        outputs: slots of its outputs; ABSENT for an absent one.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def head(self) -> Head:
        """Head of an operator that is no function call."""
        head = self.operation.head
        assert head is not None
        return head

    @property
    def bodies(self) -> Mapping[str, Program]:
        """Bodies by attribute."""
        return self.operation.bodies

    @property
    def read(self) -> set[int]:
        """Indices of the outputs that are present."""
        return {index for index, place in enumerate(self.outputs) if place != ABSENT}


_OPERATION = attrgetter("operation")


@record(eq=False)
class Program:
    """Graph that is ready to run on terms.

    Attributes:
        inputs: slots of its inputs.
        constants: its initializers, by slot.
        outputs: slots of its outputs.
        captures: slots of captured values, in the frame around it and in its own.
        captured_names: the names of these values.
        size: number of slots of a frame.
        declared: sizes that a body declares for its outputs, by output.
        declared_inputs: those of its inputs that its node feeds, by input.
        types: types that a graph declares for its values, by slot, with the name.
        sizes: sizes that a rewrite declares and the original does not, likewise.
        infos: all types that it declares for values other than inputs, by slot, with the name.
        imports: its opsets.
        slots: slots of the names of a graph.
        names: the names of its inputs.
        whole: the main graph of the original, if all nodes of its rewrite are some of these.
    """

    proto: onnx.GraphProto | onnx.FunctionProto
    imports: Mapping[str, int]
    slots: Mapping[str, int] = dataclasses.field(default_factory=dict)
    steps: list[Step] = dataclasses.field(default_factory=list)
    inputs: list[int] = dataclasses.field(default_factory=list)
    names: list[str] = dataclasses.field(default_factory=list)
    constants: list[tuple[int, onnx.TensorProto | onnx.SparseTensorProto]] = dataclasses.field(
        default_factory=list
    )
    outputs: list[int] = dataclasses.field(default_factory=list)
    captures: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    captured_names: list[str] = dataclasses.field(default_factory=list)
    declared: dict[int, list[Dim]] = dataclasses.field(default_factory=dict)
    declared_inputs: dict[int, list[Dim]] = dataclasses.field(default_factory=dict)
    types: list[tuple[int, Type, str]] = dataclasses.field(default_factory=list)
    sizes: list[tuple[int, list[Dim], str]] = dataclasses.field(default_factory=list)
    infos: list[tuple[int, onnx.TypeProto, str]] = dataclasses.field(default_factory=list)
    size: int = 1
    whole: Program | None = None

    @lazy_property
    def inherited(self) -> list[tuple[int, list[Dim], str]]:
        """Declared sizes but those of `sizes`, which the original declares for these names."""
        own = {(at, name) for at, _, name in self.sizes}
        rows = [(at, dims_of(type_.tensor_type), name) for at, type_, name in self.infos]
        return [(a, d, n) for a, d, n in rows if d is not None and (a, n) not in own]

    @lazy_property
    def writers(self) -> list[set[str]]:
        """Operators that may write each output, as in `ops.operand_view.Body`."""
        makers = {at: (step, n) for step in self.steps for n, at in enumerate(step.outputs)}
        return [_writers(makers, at) for at in self.outputs]

    @lazy_property
    def operations(self) -> Mapping[Operation, int]:
        """Operations of its nodes, with the number of nodes of each."""
        return Counter(map(_OPERATION, self.steps))

    @lazy_property
    def weight(self) -> int:
        """Number of nodes, of which those in bodies count several times: a loop inside runs more
        than once."""
        inside = sum(body.weight for each in self.operations for body in each.bodies.values())
        return len(self.steps) + _INSIDE * inside


def _writers(makers: Mapping[int, tuple[Step, int]], at: int) -> set[str]:
    step, place = makers.get(at, (None, 0))
    while step is not None and step.operation.op_type == "Identity":
        step, place = makers.get(step.inputs[0], (None, 0))
    if step is None:
        return set()
    if step.operation.op_type not in ("If", "Scan"):
        return {step.operation.op_type}
    return set().union(*(body.writers[place] for body in step.bodies.values()))


def compile_function(heads: Heads, function: onnx.FunctionProto) -> Program:
    """Compile a function by itself."""
    model = onnx.ModelProto(functions=[function])
    return Compiler(heads, model).function(function)


class _Scope:
    """Names of a graph during compilation.

    Attributes:
        slots: slots of the names so far.
    """

    def __init__(self, program: Program, around: _Scope | None) -> None:
        self.slots = {"": ABSENT}
        self.program = program
        self.around = around
        self._reserved: Mapping[str, int] = {}
        if program.whole is not None:  # a name has one slot in both
            self._reserved, program.size = program.whole.slots, program.whole.size

    def define(self, name: str) -> int:
        """Assign a slot to a new name; none to an absent one."""
        if not name:
            return ABSENT
        # Slots are numbers in a list: a frame of an iteration is one copy of a list, where a dict
        # by name would hash every name in each iteration.
        if name in self.slots:
            raise OpenError(f"'{name}' is defined twice")
        place = self.slots[name] = self._reserved.get(name, self.program.size)
        self.program.size = max(self.program.size, place + 1)
        return place

    def find(self, name: str) -> int:
        """Slot of a name, which may be a captured one."""
        place = self.slots.get(name)
        if place is not None:
            return place
        if self.around is None:
            raise OpenError(f"'{name}' is not defined before it is used")
        # A body lists no captures (ONNX IR, "Nested Subgraphs"): a name that it does not define is
        # one of the graphs around it, and each graph between them hands it on.
        outer = self.around.find(name)
        place = self.define(name)
        self.program.captures.append((outer, place))
        self.program.captured_names.append(name)
        return place


_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)

_SHORT = 256
"""Limit of attribute bytes up to which nodes share an operation."""


class Compiler:
    """Compiler of the graphs of one model.

    Args:
        operations: operations of models over the same heads; a model without functions adds its
            own to them.
        rows: nodes of the main graph, if the caller has read them.
        original: compiler of the original, if the model is its rewrite.

    Attributes:
        declarations: the types that an original declares, by name.
    """

    def __init__(
        self,
        heads: Heads,
        model: onnx.ModelProto,
        operations: dict[Hashable, Operation] | None = None,
        rows: Callable[[], Iterable[Row]] | None = None,
        original: Compiler | None = None,
    ) -> None:
        self.declarations: dict[str, list[onnx.TypeProto]] = {}
        self._original = original
        self._heads = heads
        self._functions: dict[FunctionKey, onnx.FunctionProto] = {
            key_of(f.domain, f.name, f.overload): f for f in model.functions
        }
        self._types: dict[bytes, tuple[Type, list[Dim] | None]] = {}
        self._called: dict[tuple[FunctionKey, tuple[bytes, ...]], Program] = {}
        self._operations: dict[Hashable, Operation] = {}
        # The same key means another call where a model defines functions of its own.
        if operations is not None and not self._functions:
            self._operations = operations
        self.main = self._graph(model.graph, _imports(model.opset_import), None, None, 0, rows)

    def _graph(
        self,
        graph: onnx.GraphProto,
        imports: Mapping[str, int],
        around: _Scope | None,
        input_count: int | None,
        depth: int,
        rows: Callable[[], Iterable[Row]] | None = None,
    ) -> Program:
        program = Program(graph, imports)
        if around is None and self._original is not None:
            self._take_nodes(program, self._original)
        scope = _Scope(program, around)
        program.slots = scope.slots
        names = [info.name for info in graph.input]
        constants = {t.name: t for t in graph.initializer}
        constants |= {t.values.name: t for t in graph.sparse_initializer}
        # Below IR version 4 a body lists its initializers as inputs, which its node does not feed.
        unfed = surplus(names, constants, input_count)
        program.names = [name for name in names if name not in unfed]
        program.inputs = [scope.define(name) for name in program.names]
        for name, tensor in constants.items():
            place = scope.slots.get(name)
            # An initializer with the name of an input is its default: both have one slot.
            program.constants.append((scope.define(name) if place is None else place, tensor))
        if program.whole is None:
            self._nodes(rows_of(graph.node) if rows is None else rows(), scope, depth)
        else:
            _define_values(program, program.whole, scope)
        program.outputs = [scope.find(info.name) for info in graph.output]
        if ABSENT in program.outputs:  # the name "" omits an operand; an output has a name
            raise OpenError(f"an output of graph '{graph.name}' has no name")
        _require_types_of_defaults(graph, constants)
        fixed = {*program.inputs, *[at for at, _ in program.constants]}
        fixed.update([own for _, own in program.captures])
        constant = [step for step in program.steps if step.operation.op_type == "Constant"]
        fixed.update([at for step in constant for at in step.outputs])
        types: dict[int, set[Type]] = {}
        for info in (*graph.value_info, *graph.output):
            self._declaration(info, program, scope, types)
        # onnxruntime 1.32 checks outputs of nodes only, and one of several declarations.
        once = {at for at, kinds in types.items() if len(kinds) == 1} - fixed
        program.types = [row for row in program.types if row[0] in once]
        # onnxruntime makes room for outputs of a Loop by the sizes that its body declares, before
        # the first iteration ran.
        if around is not None:
            shapes = [dims_of(info.type.tensor_type) for info in graph.output]
            program.declared = {k: dims for k, dims in enumerate(shapes) if dims is not None}
            infos = [info for info in graph.input if info.name not in unfed]
            shapes = [dims_of(info.type.tensor_type) for info in infos]
            program.declared_inputs = {k: dims for k, dims in enumerate(shapes) if dims is not None}
        return program

    def _declaration(
        self,
        info: onnx.ValueInfoProto,
        program: Program,
        scope: _Scope,
        types: dict[int, set[Type]],
    ) -> None:
        name, type_ = info.name, info.type
        place = scope.slots.get(name)
        if place is None:
            return
        program.infos.append((place, type_, name))
        content = type_.SerializeToString()
        if content not in self._types:
            self._types[content] = _type_and_sizes(type_)
        declared, dims = self._types[content]
        if declared:
            program.types.append((place, declared, name))
            types.setdefault(place, set()).add(declared)
        if self._original is None:
            self.declarations.setdefault(name, []).append(type_)
        elif dims is not None and type_ not in self._original.declarations.get(name, ()):
            program.sizes.append((place, dims, name))

    def _take_nodes(self, program: Program, original: Compiler) -> None:
        """Take the nodes of the original, in their order, if the rewrite has no others."""
        whole = original.main
        if program.imports != whole.imports or self._functions or original._functions:
            return
        steps, own = iter(whole.steps), []
        for node in program.proto.node:
            # Equal messages may hold 0.0 and -0.0.
            content = node.SerializeToString()
            step = next((s for s in steps if s.node.SerializeToString() == content), None)
            if step is None or step.operation.bodies:
                return
            own.append(step)
        program.steps, program.whole = own, whole

    def _nodes(self, rows: Iterable[Row], scope: _Scope, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise OpenError(f"bodies are nested more than {MOST_DEPTH} deep")
        program, slots, operations = scope.program, scope.slots, self._operations
        columns: tuple[list[Any], ...] = [], [], [], []
        add_operation, add_places, add_results, add_node = [column.append for column in columns]
        results = tuple[int, ...]()
        version, calls = program.imports.get("", 0), bool(self._functions)
        versions = tuple(program.imports.items())  # nodes with a domain differ by its version
        slot_of = slots.__getitem__
        for node, op_type, is_bare, inputs, outputs in rows:
            try:
                places = tuple(map(slot_of, inputs))
            except KeyError:  # captured
                places = tuple(map(scope.find, inputs))
            if calls:
                operation = self._look_up(node, places, scope, depth)
            else:
                content = b"" if is_bare else _content(node, op_type, inputs, outputs)
                kind = (op_type, version) if is_bare else (content, versions)
                form = *kind, _present(places), len(outputs)
                operation = operations.get(form) or self._first(form, node, places, scope, depth)
            if len(outputs) == 1 and outputs[0] not in slots:  # the common case
                slots[outputs[0]] = at = program.size
                program.size, results = at + 1, (at,)
            else:
                results = tuple(map(scope.define, outputs))
            add_operation(operation)
            add_places(places)
            add_results(results)
            add_node(node)
        # A tuple is made in a third of the time that an initializer takes.
        program.steps += map(tuple.__new__, repeat(Step), zip(*columns, strict=True))

    def _first(
        self,
        form: tuple[Hashable, ...],
        node: onnx.NodeProto,
        places: tuple[int, ...],
        scope: _Scope,
        depth: int,
    ) -> Operation:
        """Operation of the first node of a form; of each, if the form is empty."""
        operation = self._look_up(node, places, scope, depth)
        if form[0] and not (operation.bodies or node.metadata_props):
            self._operations[form] = operation
        return operation

    def _look_up(
        self, node: onnx.NodeProto, places: tuple[int, ...], scope: _Scope, depth: int
    ) -> Operation:
        """Operation of a node, shared by nodes like it."""
        attributes = list(node.attribute)
        serialized = [b"" if a.type in _GRAPHS else a.SerializeToString() for a in attributes]
        if sum(map(len, serialized)) > _SHORT or b"" in serialized:
            return self._operation(node, attributes, scope, depth)
        version = scope.program.imports.get(normal_domain(node.domain), 0)
        kind = node.op_type, node.domain, node.overload, version  # "ai.onnx" may not be imported
        form = *kind, _present(places), len(node.output), *serialized
        operation = self._operations.get(form)
        if operation is None:
            operation = self._operation(node, attributes, scope, depth)
            if not operation.bodies:
                self._operations[form] = operation
        return operation

    def _operation(
        self,
        node: onnx.NodeProto,
        attribute_list: Sequence[onnx.AttributeProto],
        scope: _Scope,
        depth: int,
    ) -> Operation:
        width, imports = len(node.output), scope.program.imports
        key = key_of(node.domain, node.op_type, node.overload)
        if key in self._functions:
            return Operation(node.op_type, width, function=self._function(key, node, depth))
        require_form(node, imports, self._heads.faults, self._original is not None)
        attributes = {a.name: a for a in attribute_list}
        for attribute in attributes.values():
            if attribute.ref_attr_name:
                raise OpenError(f"{label(node)} refers to an attribute of no function")
        plain = {n: a for n, a in attributes.items() if not subgraphs_of(a)}
        domain = normal_domain(node.domain)
        op = Operator(node.op_type, plain, domain, node.overload if domain else "")
        head = self._heads.of(op, imports, width)
        opset = imports.get("", 0)
        input_count = None if op.domain else fed_inputs(node.op_type, len(node.input), opset)
        bodies = {
            name: self._graph(attribute.g, imports, scope, input_count, depth + 1)
            for name, attribute in attributes.items()
            if attribute.HasField("g")
        }
        if sum(len(subgraphs_of(a)) for a in attributes.values()) > len(bodies):
            raise OpenError(f"{label(node)} holds a list of graphs")
        if not op.domain and op.op_type in BODIES:
            _require_arity(node, bodies, opset, head.attribute("num_scan_inputs", 0))
        version, is_commutative = imports.get(op.domain, 0), head.name in COMMUTATIVE
        is_commutative = is_commutative and not head.attribute("broadcast")
        operation = Operation(op.qualname, width, head, version, bodies)
        operation.applications, operation.is_commutative = head.applications, is_commutative
        operation.triggers = TRIGGERS.get(head.name, operation.triggers)
        operation.is_older = not domain and version < rules_of(op).accepts_more_from
        return operation

    def function(self, function: onnx.FunctionProto) -> Program:
        """Compile one of the model's functions, without attributes."""
        key = key_of(function.domain, function.name, function.overload)
        return self._function(key, onnx.NodeProto(), 0)

    def _function(self, key: FunctionKey, node: onnx.NodeProto, depth: int) -> Program:
        attributes = tuple(sorted(a.SerializeToString(deterministic=True) for a in node.attribute))
        program = self._called.get((key, attributes))
        if program is None:
            function = specialize(self._functions[key], node.attribute)
            program = Program(function, _imports(function.opset_import))
            # A function sees its inputs only, and captures nothing.
            scope = _Scope(program, None)
            program.names = list(function.input)
            program.inputs = [scope.define(name) for name in function.input]
            self._nodes(rows_of(function.node), scope, depth + 1)
            program.outputs = [scope.find(name) for name in function.output]
            self._called[key, attributes] = program
        return program


def _type_and_sizes(message: onnx.TypeProto) -> tuple[Type, list[Dim] | None]:
    """Declared type, unknown for an optional, and sizes; None where it is no tensor of a rank."""
    if message.HasField("optional_type"):
        return 0, None
    is_tensor = message.HasField("tensor_type")
    return declared_type(message), dims_of(message.tensor_type) if is_tensor else None


def _define_values(program: Program, whole: Program, scope: _Scope) -> None:
    """Define the values of nodes of another program."""
    names = {at: name for name, at in whole.slots.items()}
    places = {*scope.slots.values()}
    for step in program.steps:
        if not places.issuperset(step.inputs):
            for at in step.inputs:
                scope.find(names[at])
        places.update(step.outputs)
        for at in step.outputs:
            scope.define(names[at])


def _require_types_of_defaults(
    graph: onnx.GraphProto, constants: Mapping[str, onnx.TensorProto | onnx.SparseTensorProto]
) -> None:
    """Require initializers of the types that a graph declares for its inputs of these names."""
    for info in graph.input if constants else ():
        tensor, declared = constants.get(info.name), declared_type(info.type)
        if tensor is not None and declared not in (0, elem_type_of(tensor)):
            raise_type_conflict(info.name, declared, elem_type_of(tensor))


def elem_type_of(tensor: onnx.TensorProto | onnx.SparseTensorProto) -> int:
    """Element type of an initializer."""
    dense = tensor if isinstance(tensor, onnx.TensorProto) else tensor.values
    return int(dense.data_type)


def _require_arity(
    node: onnx.NodeProto, bodies: Mapping[str, Program], opset: int, scan_count: int
) -> None:
    """Require bodies that fit their node; those in functions are not checked at load."""
    sizes = len(node.input), len(node.output)
    try:
        inputs, outputs = body_arity(node.op_type, *sizes, opset, scan_count)
    except ModelError as error:
        raise OpenError(f"{label(node)} {error}") from error
    for name in BODIES[node.op_type]:
        if name not in bodies:
            raise OpenError(f"{label(node)} lacks its graph attribute '{name}'")
        body = bodies[name]
        fault = arity_fault(len(body.inputs), len(body.outputs), inputs, outputs)
        if fault:
            raise OpenError(f"{label(node)}: {fault}")


def _present(places: tuple[int, ...]) -> Hashable:
    """Return which inputs a node has, or their number where none is absent; a Split is valid or
    not by that."""
    return len(places) if ABSENT not in places else tuple(map(bool, places))


def _content(
    node: onnx.NodeProto, op_type: str, inputs: Sequence[str], outputs: Sequence[str]
) -> bytes:
    """Return the bytes of a node without its names, which tell its operation; empty for one that
    may hold much."""
    if op_type in BODIES or (op_type == "Constant" and node.ByteSize() > _SHORT):
        return b""
    content = after_names(node.SerializePartialToString(), inputs, outputs, node.name)
    return content if len(content) <= _SHORT else b""


def subgraphs_of(attribute: onnx.AttributeProto) -> Sequence[onnx.GraphProto]:
    """Graphs in an attribute."""
    return [attribute.g] if attribute.HasField("g") else list(attribute.graphs)


def _imports(entries: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {normal_domain(entry.domain): entry.version for entry in entries}
