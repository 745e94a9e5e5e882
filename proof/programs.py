"""Graphs made ready to be run on terms many times: names become places in a frame.

A body's names win over those around it, an absent output defines nothing, and what a body captures
is copied into its frame once for all trips (ONNX IR specification, "Names Within a Graph").
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import onnx

from ..ir import FunctionKey, Operator, normal_domain
from ..ir.arity import fed_inputs
from ..ir.well_formed.places import key_of
from ..reference.bodies import label
from ..reference.functions import specialize
from .budget import OpenError
from .heads import Head, Heads

if TYPE_CHECKING:
    pass

ABSENT = 0
"""The place in each frame that holds nothing: what an absent input reads."""

MOST_DEPTH = 40
"""Bodies and calls stand inside each other so deep at most."""


@dataclasses.dataclass(eq=False, slots=True)
class Step:
    """A node.

    Attributes:
        op_type: the operator, with the domain where it is not the default one.
        head: what it applies; for a call of a function None.
        inputs: where its inputs stand.
        outputs: where its outputs go; ABSENT for one that is left out.
        width: how many outputs it writes.
        bodies: the graphs that it holds.
        node: the node.
        function: what it calls.
        version: the version of its domain; 0 for a call of a function.
        is_checked: whether it was found to be in that version.
        is_plain: whether it was found to be an operator that is a function of its inputs.
    """

    op_type: str
    head: Head | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    width: int
    bodies: Mapping[str, Program]
    node: onnx.NodeProto
    function: Program | None = None
    version: int = 0
    is_checked: bool = False
    is_plain: bool = False

    @property
    def read(self) -> set[int]:
        """Which outputs are not left out."""
        return {index for index, place in enumerate(self.outputs) if place != ABSENT}


@dataclasses.dataclass(eq=False)
class Program:
    """A graph.

    Attributes:
        steps: its nodes.
        inputs: where its inputs stand.
        constants: its initializers by place.
        outputs: where its outputs stand.
        captures: where what it captures stands in the frame around it, and in its own.
        size: how many places a frame has.
        imports: the opsets that it is written for.
        proto: the graph or function.
        names: the names of its inputs.
    """

    proto: onnx.GraphProto | onnx.FunctionProto
    imports: Mapping[str, int]
    steps: list[Step] = dataclasses.field(default_factory=list)
    inputs: list[int] = dataclasses.field(default_factory=list)
    names: list[str] = dataclasses.field(default_factory=list)
    constants: list[tuple[int, onnx.TensorProto | onnx.SparseTensorProto]] = dataclasses.field(
        default_factory=list
    )
    outputs: list[int] = dataclasses.field(default_factory=list)
    captures: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    size: int = 1


class _Scope:
    """The names of a graph while it is compiled."""

    def __init__(self, program: Program, around: _Scope | None) -> None:
        self.program = program
        self.around = around
        self.places: dict[str, int] = {"": ABSENT}

    def new(self) -> int:
        place = self.program.size
        self.program.size += 1
        return place

    def define(self, name: str) -> int:
        if name in self.places:
            raise OpenError(f"'{name}' is defined twice")
        place = self.places[name] = self.new()
        return place

    def find(self, name: str) -> int:
        place = self.places.get(name)
        if place is None:
            if self.around is None:
                raise OpenError(f"'{name}' is not defined before it is used")
            outer = self.around.find(name)
            place = self.define(name)
            self.program.captures.append((outer, place))
        return place


_NO_BODIES: Mapping[str, Program] = {}


class Compiler:
    """Compiles the graphs of one model.

    Args:
        heads: what operators mean.
        model: the model.
    """

    def __init__(self, heads: Heads, model: onnx.ModelProto) -> None:
        self._heads = heads
        self._functions: dict[FunctionKey, onnx.FunctionProto] = {
            key_of(f.domain, f.name, f.overload): f for f in model.functions
        }
        self._called: dict[tuple[FunctionKey, tuple[bytes, ...]], Program] = {}
        self._bare: dict[tuple[str, int, int], Head] = {}
        self.main = self._graph(model.graph, _imports(model.opset_import), None, None, 0)

    def _graph(
        self,
        graph: onnx.GraphProto,
        imports: Mapping[str, int],
        around: _Scope | None,
        fed: int | None,
        depth: int,
    ) -> Program:
        program = Program(graph, imports)
        scope = _Scope(program, around)
        names = [info.name for info in graph.input]
        constants = {t.name: t for t in graph.initializer}
        constants |= {t.values.name: t for t in graph.sparse_initializer}
        fed = len(names) if fed is None or not constants.keys() >= set(names[fed:]) else fed
        program.names = names[:fed]
        program.inputs = [scope.define(name) for name in program.names]
        for name, tensor in constants.items():
            place = scope.places.get(name)
            program.constants.append((scope.define(name) if place is None else place, tensor))
        self._nodes(graph.node, scope, depth)
        program.outputs = [scope.find(info.name) for info in graph.output]
        return program

    def _nodes(self, nodes: Iterable[onnx.NodeProto], scope: _Scope, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise OpenError(f"bodies stand more than {MOST_DEPTH} deep inside each other")
        imports = scope.program.imports
        for node in nodes:
            inputs = tuple([scope.find(name) for name in node.input])
            step = self._step(node, imports, inputs, scope, depth)
            step.outputs = tuple([scope.define(name) if name else ABSENT for name in node.output])
            scope.program.steps.append(step)

    def _step(
        self,
        node: onnx.NodeProto,
        imports: Mapping[str, int],
        inputs: tuple[int, ...],
        scope: _Scope,
        depth: int,
    ) -> Step:
        width = len(node.output)
        if not node.attribute and not node.domain and not self._functions:
            form = node.op_type, width, id(imports)
            head = self._bare.get(form)
            if head is None:
                head = self._bare[form] = self._heads.of(Operator(node.op_type), imports, width)
            version = imports.get("", 0)
            return Step(node.op_type, head, inputs, (), width, _NO_BODIES, node, version=version)
        key = key_of(node.domain, node.op_type, node.overload)
        if key in self._functions:
            program = self._function(key, node, depth)
            return Step(node.op_type, None, inputs, (), width, {}, node, program)
        attributes = {a.name: a for a in node.attribute}
        for attribute in attributes.values():
            if attribute.ref_attr_name:
                raise OpenError(f"{label(node)} refers to an attribute of no function")
        plain = {n: a for n, a in attributes.items() if not subgraphs_of(a)}
        op = Operator(node.op_type, plain, normal_domain(node.domain), node.overload)
        head = self._heads.of(op, imports, width)
        opset = imports.get("", 0)
        fed = None if op.domain else fed_inputs(node.op_type, len(node.input), opset)
        bodies = {
            name: self._graph(attribute.g, imports, scope, fed, depth + 1)
            for name, attribute in attributes.items()
            if attribute.HasField("g")
        }
        if sum(len(subgraphs_of(a)) for a in attributes.values()) > len(bodies):
            raise OpenError(f"{label(node)} holds a list of graphs")
        version = imports.get(op.domain, 0)
        return Step(op.qualname, head, inputs, (), width, bodies, node, version=version)

    def _function(self, key: FunctionKey, node: onnx.NodeProto, depth: int) -> Program:
        given = tuple(sorted(a.SerializeToString(deterministic=True) for a in node.attribute))
        program = self._called.get((key, given))
        if program is None:
            function = specialize(self._functions[key], node.attribute)
            program = Program(function, _imports(function.opset_import))
            scope = _Scope(program, None)
            program.names = list(function.input)
            program.inputs = [scope.define(name) for name in function.input]
            self._nodes(function.node, scope, depth + 1)
            program.outputs = [scope.find(name) for name in function.output]
            self._called[key, given] = program
        return program


def subgraphs_of(attribute: onnx.AttributeProto) -> Sequence[onnx.GraphProto]:
    """The graphs that an attribute holds."""
    return [attribute.g] if attribute.HasField("g") else list(attribute.graphs)


def _imports(entries: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {normal_domain(entry.domain): entry.version for entry in entries}
