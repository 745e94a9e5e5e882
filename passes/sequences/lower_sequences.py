"""Replace sequences and optionals of known structure by the tensors in them.

    s = SequenceConstruct (a, b)
    t = SequenceInsert (s, c)
    y = ConcatFromSequence <axis = 0> (t)
    last = SequenceAt (t, minus_one)
->
    y = Concat <axis = 0> (a, b, c)
    (readers of `last` read `c`)

An interpreter visits each graph in topological order. The elements of a sequence are known if it is
built from known parts. A body sees the sequences of the graphs around it; its own inputs (from a
Loop, from the caller of a function) are unknown. A sequence with a reader of the whole stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import onnx

from ...analysis.constants.folding import Folder
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Array, Graph, Model, Node, Template, Tensor, Value, count_nodes
from ...ops.builder import Builder
from ..base import Pass, PassContext
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import caller_attribute, externally_named, random_body
from ..utils.replace_all_uses import replace_value
from .split import Parts, shape_of
from .structure import (
    KnownSequence,
    LazyValue,
    OptionalContent,
    Structure,
    Structures,
    plain,
    position,
)

_UNUSED = Message("unused", "removed, nothing needs it")
_LOWERED = Message("lowered", "lowered, {what}")
_NAMED = Message("sequence-named", "its output is named from outside the data flow")
_GIVEN_OUT = Message("graph-output", "the graph returns its {structure}")
_NEEDED_WHOLE = Message("needed-whole", "{node} needs its {structure} as a whole")
_UNDECIDED = Message("nothing-decided", "nothing in it can be decided")

_EMPTY = Message("sequence-empty", "its sequence is empty, so it fails at run time")
_AXIS_OUTSIDE = Message(
    "concat-axis-outside", "axis {axis} is outside rank {rank}, so it fails at run time"
)
_BODY_DIFFERS = Message(
    "body-signature", "the inputs and outputs of its body are not as many as its own"
)
_INPUT_ABSENT = Message("input-absent", "an input of it is absent")
_UNDECLARED = Message(
    "structure-undeclared", "whether its input '{value}' is a sequence is not declared"
)
_LENGTHS_DIFFER = Message(
    "lengths-differ", "its inputs have {count} and {other} elements, so it fails at run time"
)
_HOLDS_NOTHING = Message("optional-empty", "its optional holds nothing, so it fails at run time")


@dataclasses.dataclass(frozen=True)
class LowerSequences(Pass):
    """Replace sequences and optionals of known structure by plain tensors.

    Options:
        max_nodes: the limit of nodes that the whole rewrite may add.
    """

    name: ClassVar[str] = "lower-sequences"
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = (
        *("SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt"),
        *("SequenceLength", "SplitToSequence", "ConcatFromSequence", "SequenceMap"),
        *("Optional", "OptionalHasElement", "OptionalGetElement"),
    )
    max_nodes: int = DEFAULT_MAX_NODES

    def run(self, model: Model, context: PassContext) -> bool:
        """Lower in every graph, again after bodies were copied into one."""
        changed = False
        while True:
            lowering = _Lowering(self, model, context)
            for root in model.roots():
                lowering.visit(root.graph)
            lowering.sweep()
            changed |= lowering.changed
            if not lowering.expanded:
                break
            context.analyses.invalidate()
        lowering.report()
        return changed


class _Lowering:
    """One walk over a model.

    Attributes:
        changed: true after a change of the model.
        expanded: true after copies of bodies, which may hold more to lower.
    """

    def __init__(self, options: LowerSequences, model: Model, context: PassContext) -> None:
        self.options = options
        self.model = model
        self.context = context
        self.budget = Budget(context.meter, options.max_nodes)
        self.inference = context.inference(model)
        self.folder = Folder(model)
        self.structures = Structures(self.inference)
        self.changed = False
        self.expanded = False
        self._parts: list[Parts] = []
        self._emitters: dict[Graph, Builder] = {}

    def visit(self, graph: Graph) -> None:
        """Interpret a graph, and its nested graphs with the facts before them."""
        for node in graph.nodes():
            rule = _RULES.get(node.op.qualname)
            if rule is not None:
                try:
                    require_none(caller_attribute(node))
                    structure = rule(self, graph, node)
                    if structure is not None:
                        self.structures.contents[node.output()] = structure
                except Obstacle as reason:
                    self.structures.reasons[node] = reason
            # A node that its rule has dissolved holds no graph any more.
            for inner in node.graphs() if node.graph is not None else ():
                self.visit(inner)

    def sweep(self) -> None:
        """Remove sequence operators that nothing needs any more."""
        self.budget.spend(sum(parts.cost for parts in self._parts if parts.is_emitted))
        for graph in reversed(list(self.model.graphs())):
            for node in reversed(graph.nodes_of(*_RULES)):
                stays = node.is_op("Identity") and node.output() not in self.structures.contents
                if not stays and not graph.is_needed(node):
                    path = node.path
                    graph.remove(node)
                    self.changed = True
                    self.context.rewritten(self.options, node, path, _UNUSED())

    def report(self) -> None:
        """Add a remark for each sequence operator that stays."""
        for graph in self.model.graphs():
            for node in graph.nodes_of(*self.options.works_on):
                undecided = self.structures.reasons.get(node)
                reason = undecided.reason if undecided else _reader_of_whole(graph, node)
                self.context.kept(self.options, node, reason)

    # Sequences ----------------------------------------------------------------------------------

    def sequence_empty(self, graph: Graph, node: Node) -> Structure:
        return KnownSequence()

    def sequence_construct(self, graph: Graph, node: Node) -> Structure:
        return KnownSequence(tuple([plain(v) for v in node.inputs if v is not None]))

    def sequence_insert(self, graph: Graph, node: Node) -> Structure:
        old, element = self.structures.sequence(node.input(0)), node.input(1)
        assert element is not None
        at = position(node.input(2), -old.count, old.count, old.count)
        return old.insert(at, plain(element))

    def sequence_erase(self, graph: Graph, node: Node) -> Structure:
        old = self.structures.sequence(node.input(0))
        return old.erase(position(node.input(1), -old.count, old.count - 1, -1))

    def sequence_at(self, graph: Graph, node: Node) -> None:
        sequence = self.structures.sequence(node.input(0))
        at = position(node.input(1), -sequence.count, sequence.count - 1, -1)
        require_none(externally_named(node))
        self._replace(graph, node, sequence.element(at)(), f"it is element {at}")

    def sequence_length(self, graph: Graph, node: Node) -> None:
        count = self.structures.sequence(node.input(0)).count
        self._replace_by_constant(graph, node, np.array(count, np.int64))

    def split_to_sequence(self, graph: Graph, node: Node) -> Structure:
        parts = Parts(node, self._emitter(graph), self.inference)
        require_none(self.budget.refuses(parts.cost, "it"))
        self._parts.append(parts)
        return KnownSequence(parts.elements())

    def concat_from_sequence(self, graph: Graph, node: Node) -> None:
        sequence = self.structures.sequence(node.input(0))
        if not sequence.count:
            raise Obstacle(_EMPTY())
        require_none(externally_named(node))
        emitter, axis = self._emitter(graph), node.attribute("axis")
        values = [element() for element in sequence.all()]
        if node.attribute("new_axis", 0):
            rows = {v: emitter.unsqueeze(v, axis, f"{v.name}_row") for v in dict.fromkeys(values)}
            values = [rows[value] for value in values]
        elif len(values) == 1:
            shape = shape_of(values[0], self.inference)
            if shape is not None and not -len(shape) <= axis < len(shape):
                raise Obstacle(_AXIS_OUTSIDE(axis=axis, rank=len(shape)))
        joined = emitter.concat(values, axis, node.output().name)
        self._replace(graph, node, joined, f"it joins {len(values)} tensors")

    # SequenceMap --------------------------------------------------------------------------------

    def sequence_map(self, graph: Graph, node: Node) -> None:
        count = self.structures.sequence(node.input(0)).count
        columns = [self._column(value, count) for value in node.inputs]
        body = node.body("body")
        if (len(body.inputs), len(body.outputs)) != (len(node.inputs), len(node.outputs)):
            raise Obstacle(_BODY_DIFFERS())
        require_none(externally_named(node))
        require_none(random_body(node, self.model.functions, whose="its body"))
        if not count:
            self._map_empty(graph, node)
            return
        template = Template(body, graph, fold=self.folder.fold, keep_infos=False)
        require_none(self.budget.refuses(template.cost(count), "it", replaced=count_nodes(node)))
        rows = [
            template.instantiate([column[index]() for column in columns], f"_{index}")
            for index in range(count)
        ]
        self.budget.spend(template.added, template.growth(node))
        for index, old in enumerate(node.outputs):
            if old is not None:
                values = [row[index] for row in rows]
                self._emit_sequence(graph, old, "SequenceConstruct", values)
        self._dissolve(graph, node, f"its body is copied for {count} elements")
        self.expanded = True

    def _column(self, value: Value | None, count: int) -> tuple[LazyValue, ...]:
        """The argument of each copy of the body, from one input."""
        if value is None:
            raise Obstacle(_INPUT_ABSENT())
        kinds = self.structures.kinds(value)
        if kinds == {"tensor"}:
            return (plain(value),) * count
        if kinds != {"seq"}:
            raise Obstacle(_UNDECLARED(value=value.name))
        sequence = self.structures.sequence(value)
        if sequence.count != count:
            raise Obstacle(_LENGTHS_DIFFER(count=count, other=sequence.count))
        return sequence.all()

    def _emit_sequence(
        self, graph: Graph, old: Value, op_type: str, values: list[Value], **attributes: Any
    ) -> None:
        sequence = self._emitter(graph).add(op_type, values, old.name, **attributes)
        self.structures.contents[sequence] = KnownSequence(tuple([plain(v) for v in values]))
        replace_value(graph, old, sequence)

    def _map_empty(self, graph: Graph, node: Node) -> None:
        """Replace a SequenceMap over an empty sequence by empty sequences."""
        outputs = zip(node.outputs, node.body("body").outputs, strict=True)
        types = {
            old: _declared(old) or inner.elem_type for old, inner in outputs if old is not None
        }
        if not all(types.values()):
            # No SequenceEmpty has the type, but readers may resolve all the same.
            self.structures.contents.update((value, KnownSequence()) for value in types)
            return
        for old, elem_type in types.items():
            self._emit_sequence(graph, old, "SequenceEmpty", [], dtype=elem_type)
        self._dissolve(graph, node, "its sequence is empty")

    # Optionals ----------------------------------------------------------------------------------

    def optional(self, graph: Graph, node: Node) -> Structure:
        return OptionalContent(node.input(0))

    def optional_has_element(self, graph: Graph, node: Node) -> None:
        self._replace_by_constant(graph, node, np.array(self._held(node) is not None))

    def optional_get_element(self, graph: Graph, node: Node) -> None:
        value = self._held(node)
        if value is None:
            raise Obstacle(_HOLDS_NOTHING())
        require_none(externally_named(node))
        self._replace(graph, node, value, f"it is '{value.name}'")

    def _held(self, node: Node) -> Value | None:
        """The value in an optional.

        From opset 18 on the operators take tensors and sequences, too, which are always there.
        """
        value = node.input(0)
        if value is not None and "optional" in self.structures.kinds(value):
            return self.structures.optional(value).value
        return value

    def identity(self, graph: Graph, node: Node) -> Structure | None:
        return self.structures.contents.get(node.inputs[0]) if node.inputs[0] else None

    # What the rules share -----------------------------------------------------------------------

    def _emitter(self, graph: Graph) -> Builder:
        if graph not in self._emitters:
            self._emitters[graph] = Builder(graph, self.folder.fold)
        return self._emitters[graph]

    def _replace_by_constant(self, graph: Graph, node: Node, array: Array) -> None:
        require_none(externally_named(node))
        constant = graph.add_initializer(node.output().name, Tensor(array=array))
        self._replace(graph, node, constant, f"it is always {array}")

    def _replace(self, graph: Graph, node: Node, value: Value, what: str) -> None:
        replace_value(graph, node.output(), value)
        self._dissolve(graph, node, what)

    def _dissolve(self, graph: Graph, node: Node, what: str) -> None:
        path = node.path
        graph.remove(node)
        self.changed = True
        self.context.rewritten(self.options, node, path, _LOWERED(what=what))


def _declared(sequence: Value) -> int:
    """The declared element type of a sequence's tensors; 0 without one."""
    return (sequence.type or onnx.TypeProto()).sequence_type.elem_type.tensor_type.elem_type


def _reader_of_whole(graph: Graph, node: Node) -> str:
    """The reader of a whole sequence or optional of known structure, as a reason."""
    if any(value is not None and value.pinned for value in node.outputs):
        return _NAMED()
    for value in node.outputs:
        for user in graph.users(value) if value is not None else ():
            what = "sequence" if not node.is_op("Optional") else "optional"
            if user is graph:
                return _GIVEN_OUT(structure=what)
            return _NEEDED_WHOLE(node=str(user), structure=what)
    return _UNDECIDED()


_RULES: dict[str, Callable[[_Lowering, Graph, Node], Structure | None]] = {
    "SequenceEmpty": _Lowering.sequence_empty,
    "SequenceConstruct": _Lowering.sequence_construct,
    "SequenceInsert": _Lowering.sequence_insert,
    "SequenceErase": _Lowering.sequence_erase,
    "SequenceAt": _Lowering.sequence_at,
    "SequenceLength": _Lowering.sequence_length,
    "SplitToSequence": _Lowering.split_to_sequence,
    "ConcatFromSequence": _Lowering.concat_from_sequence,
    "SequenceMap": _Lowering.sequence_map,
    "Optional": _Lowering.optional,
    "OptionalHasElement": _Lowering.optional_has_element,
    "OptionalGetElement": _Lowering.optional_get_element,
    "Identity": _Lowering.identity,
}
