"""Replace sequences and optionals of known structure by the tensors in them.

    s = SequenceConstruct (a, b)
    t = SequenceInsert (s, c)
    y = ConcatFromSequence <axis = 0> (t)
    last = SequenceAt (t, minus_one)
->
    y = Concat <axis = 0> (a, b, c)
    (readers of `last` read `c`)

An interpreter visits each graph in topological order. The elements of a sequence are known if it is
built from known parts. A SplitToSequence is one Split, emitted when the first part is read. A body
sees the sequences of the graphs around it; its own inputs (from a Loop, from the caller of a
function) are unknown. A sequence with a reader of the whole stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx

from ...analysis.constants.folding import Folder
from ...analysis.constants.provenance import origins
from ...analysis.iterations.trip_count import whole_number
from ...analysis.shapes.inference import ShapeInference
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Array, Graph, Model, Node, Template, Tensor, Value, count_nodes, normal_domain
from ...ir.lazy import lazy_property
from ...ir.option_names import by
from ...ops.builder import Builder
from ...ops.schema_queries import allowed_types, schema_at
from ...records import record
from ..base import Pass, PassContext
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import caller_attribute, externally_named, require_no_draws
from ..utils.replace_all_uses import replace_value

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


@record(frozen=True)
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
        # Readers go before what they read, so that one walk removes a chain.
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
        old, element = self.structures.sequence(node.input(0)), node.operand(1)
        # The place after the last element is valid, and the default (SequenceInsert 11).
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
            # One tensor needs no Concat, so an axis that it lacks would no longer fail.
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
        require_no_draws(node, self.model.functions, whose="its body")
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


_POSITION_UNKNOWN = Message("position-unknown", "its position depends on {cause}")
_UNKNOWN_FROM = Message("structure-unknown", "its {structure} comes from {node}: {cause}")

LazyValue = Callable[[], Value]
"""An element of a sequence; the first call may emit nodes."""

_ABSENT = Message("structure-absent", "its {structure} is absent, so it fails at run time")
_AT_RUN_TIME = Message(
    "structure-at-run-time", "its {structure} is {source}, known only at run time"
)
_FROM_NODE = Message("structure-of-node", "its {structure} comes from {node}, which stays")
_POSITION_SIZE = Message(
    "position-not-scalar", "its position has {elements} elements; it must be one"
)
_POSITION_TYPE = Message("position-not-integer", "its position '{value}' is not an integer")
_POSITION_OUTSIDE = Message(
    "position-outside",
    "position {position} is outside a sequence of {length}, so it fails at run time",
)


class KnownSequence:
    """A sequence whose elements are known, in order.

    A sequence that differs from another by one edit stores the edit: a list that a loop builds has
    thousands of versions, and copies of each would need quadratic space.

    Args:
        flat: the elements, for a sequence that is not an edit of another.
    """

    __slots__ = ("_at", "_base", "_element", "_flat", "_queried", "count")

    def __init__(self, flat: tuple[LazyValue, ...] = ()) -> None:
        self.count = len(flat)
        self._flat: tuple[LazyValue, ...] | None = flat
        self._base = self
        self._at = 0
        self._element: LazyValue | None = None
        self._queried = False

    def insert(self, at: int, element: LazyValue) -> KnownSequence:
        """A new sequence with one more element, before a position."""
        return self._edit(1, at, element)

    def erase(self, at: int) -> KnownSequence:
        """A new sequence without the element at a position."""
        return self._edit(-1, at, None)

    def _edit(self, more: int, at: int, element: LazyValue | None) -> KnownSequence:
        edited = KnownSequence()
        edited.count = self.count + more
        edited._flat, edited._base, edited._at, edited._element = None, self, at, element
        return edited

    def element(self, index: int) -> LazyValue:
        """One element.

        Most versions of a list are read at most once: a walk back over the edits finds the element,
            and caches nothing. The second read may precede reads of all elements, so it flattens
            the list.
        """
        if self._queried:
            return self.all()[index]
        self._queried = True
        version = self
        while version._flat is None:
            if version._element is None:
                index += index >= version._at
            elif index == version._at:
                return version._element
            else:
                index -= index > version._at
            version = version._base
        return version._flat[index]

    def all(self) -> tuple[LazyValue, ...]:
        """All elements."""
        edits = []
        version = self
        while version._flat is None:
            edits.append(version)
            version = version._base
        elements = list(version._flat)
        for edit in reversed(edits):
            if edit._element is None:
                del elements[edit._at]
            else:
                elements.insert(edit._at, edit._element)
        self._flat = tuple(elements)
        return self._flat


@record(frozen=True)
class OptionalContent:
    """An optional that holds a value, or, with None, nothing."""

    value: Value | None


Structure = KnownSequence | OptionalContent


class Structures:
    """The sequences and optionals of a model whose structure is known.

    Attributes:
        contents: the structure of values.
        reasons: the obstacle of each node with an unknown result.
    """

    def __init__(self, inference: ShapeInference) -> None:
        self.inference = inference
        self.contents: dict[Value, Structure] = {}
        self.reasons: dict[Node, Obstacle] = {}

    def sequence(self, value: Value | None) -> KnownSequence:
        """The elements of a sequence, or the obstacle to them."""
        structure = None if value is None else self.contents.get(value)
        if isinstance(structure, KnownSequence):
            return structure
        raise self._obstacle(value, "sequence")

    def optional(self, value: Value) -> OptionalContent:
        """The content of an optional, or the obstacle to it."""
        structure = self.contents.get(value)
        if isinstance(structure, OptionalContent):
            return structure
        raise self._obstacle(value, "optional")

    def kinds(self, value: Value) -> frozenset[str]:
        """The possible kinds of a value, out of "tensor", "seq" and "optional"."""
        structure = self.contents.get(value)
        if structure is not None:
            return frozenset({"seq" if isinstance(structure, KnownSequence) else "optional"})
        type_ = value.type or self.inference.fact(value).type_proto()
        kind = type_.WhichOneof("value") if type_ is not None else None
        if kind is not None:
            return frozenset({_KINDS.get(kind, kind)})
        return _kinds_by_operator(value)

    def _obstacle(self, value: Value | None, kind: str) -> Obstacle:
        """The reason why a value's structure is unknown."""
        if value is None:
            return Obstacle(_ABSENT(structure=kind))
        node = value.producer
        if node is None:
            return Obstacle(_AT_RUN_TIME(structure=kind, source=_source(value)))
        reason = self.reasons.get(node)
        if reason is None:
            return Obstacle(_FROM_NODE(structure=kind, node=str(node)))
        if reason.node is not None:
            return reason
        return Obstacle(_UNKNOWN_FROM(reason.reason, structure=kind, node=str(node)), node)


def _source(value: Value) -> str:
    """The description of a value without a producer."""
    graph = value.owner
    if graph is not None and graph.holder is not None:
        return f"'{value.name}' of the body of {graph.holder}"
    root = graph.root if graph is not None else None
    return f"input '{value.name}'" + (f" of {root}" if getattr(root, "name", "") else "")


_KINDS = {"tensor_type": "tensor", "sequence_type": "seq", "optional_type": "optional"}
_ALL_KINDS = frozenset(_KINDS.values())


def _kinds_by_operator(value: Value) -> frozenset[str]:
    """The kinds that the operator's specification allows for an undeclared value."""
    node = value.producer
    if node is None or node.graph is None:
        return _ALL_KINDS
    domain = normal_domain(node.domain)
    schema = schema_at(node.op_type, node.graph.root.opset(domain) or 0, domain)
    if schema is None:
        return _ALL_KINDS
    output = schema.outputs[min(node.outputs.index(value), len(schema.outputs) - 1)]
    return frozenset(text.partition("(")[0] for text in allowed_types(schema, output.type_str))


def plain(value: Value) -> LazyValue:
    """An element that exists already."""
    return lambda: value


def position(value: Value | None, low: int, high: int, default: int) -> int:
    """A decided position in a sequence, counted from the front.

    Args:
        value: the input that holds it; negative positions count from the back.
        low, high: the range that the operator allows, both ends included; -low is the length.
        default: the position where the input is absent.

    Raises:
        Obstacle: it is not constant, or outside the range.
    """
    if value is None:
        index = default
    elif value.constant is None:
        raise Obstacle(_POSITION_UNKNOWN(origins(value)))
    elif value.constant.size != 1:
        raise Obstacle(_POSITION_SIZE(elements=value.constant.size))
    else:
        number = whole_number(value)
        if number is None:
            raise Obstacle(_POSITION_TYPE(value=value.name))
        index = number
    if not low <= index <= high:
        raise Obstacle(_POSITION_OUTSIDE(position=index, length=-low))
    return index - low if index < 0 else index


_SPLIT_UNKNOWN = Message("split-unknown", "its split depends on {cause}")
_SPLIT_NOT_CONSTANT = Message(
    "split-not-constant",
    f"{_SPLIT_UNKNOWN.template}, and Split of opset {{opset}} requires constant sizes; convert to"
    " opset {oldest} first",
)
_SIZES_AS_INPUT = 13
"""The opset in which Split takes its sizes as an input."""

_NO_SUCH_AXIS = Message(
    "split-axis-outside", "axis {axis} is outside rank {rank}, so it fails at run time"
)
_PARTS_OF = Message("parts-of-no-size", "it splits into parts of {size}, so it fails at run time")
_LENGTH_UNKNOWN = Message(
    "split-length-unknown",
    "the length of axis {axis} of '{value}' is not known; fix the shapes of the inputs with"
    " {option}",
)
_PARTS_DIFFER = Message(
    "parts-do-not-fit",
    "parts of {sizes} do not make up an axis of {length}, so it fails at run time",
)
_NO_PARTS = Message("no-parts", "it makes no parts of an axis whose length is not known")


def shape_of(value: Value, inference: ShapeInference) -> tuple[int | None, ...] | None:
    """The dimensions of a value as far as they are decided; None for an unknown rank."""
    shape = inference.fact(value).shape
    return None if shape is None else tuple([dim.value for dim in shape])


class Parts:
    """The elements of a SplitToSequence whose number is known (operator specification, 11).

    Attributes:
        sizes: the length of each part along the axis; None if known only at run time.
        count: the number of parts.
        is_emitted: true after a part has been read.

    Raises:
        Obstacle: the parts are not known, or the split fails at run time.
    """

    def __init__(self, node: Node, emitter: Builder, inference: ShapeInference) -> None:
        self.node = node
        self.source = source = node.operand(0)
        self.emitter = emitter
        self.axis: int = node.attribute("axis", 0)
        split = node.input(1)
        # Where sizes are given, keepdims has no meaning.
        self.squeezed = split is None and not node.attribute("keepdims", 1)
        length = _length(shape_of(source, inference), self.axis)
        self.sizes: Sequence[int] | None = None
        if split is not None and split.constant is None:
            self.split = split
            self.split_is_int64 = inference.fact(split).elem_type == onnx.TensorProto.INT64
            self.count = _count_at_run_time(split, inference, emitter.opset)
        else:
            self.sizes = _sizes(split, length, source, self.axis)
            self.count = len(self.sizes)
        self._is_whole = self.sizes is not None and self.count == 1 and length is not None
        self.is_emitted = False

    @property
    def cost(self) -> int:
        """The maximum number of nodes and outputs of the parts."""
        return self.count * (2 if self.squeezed else 1) + (self.sizes is None)

    def elements(self) -> tuple[LazyValue, ...]:
        """The parts, emitted on first use."""
        return tuple([lambda index=index: self._parts[index] for index in range(self.count)])

    @lazy_property
    def _parts(self) -> list[Value]:
        self.is_emitted = True
        label = self.node.output().name
        labels = [f"{label}_{index}" for index in range(self.count)]
        if self._is_whole:
            parts = [self.source]
        elif self.sizes is None:
            parts = self.emitter.split_by(self.source, self._lengths(), self.axis, labels)
        else:
            parts = self.emitter.split(self.source, self.sizes, self.axis, labels)
        if not self.squeezed:
            return parts
        return [
            self.emitter.squeeze(part, self.axis, f"{label}_squeezed")
            for part, label in zip(parts, labels, strict=True)
        ]

    def _lengths(self) -> Value:
        """The run-time sizes, in the type that Split requires."""
        if self.split_is_int64:
            return self.split
        label = f"{self.split.name}_int64"
        return self.emitter.add("Cast", [self.split], label, to=onnx.TensorProto.INT64)


def _length(shape: tuple[int | None, ...] | None, axis: int) -> int | None:
    """The number of elements along the axis; None if unknown."""
    if shape is None:
        return None
    if not -len(shape) <= axis < len(shape):
        raise Obstacle(_NO_SUCH_AXIS(axis=axis, rank=len(shape)))
    return shape[axis]


def _count_at_run_time(split: Value, inference: ShapeInference, opset: int) -> int:
    """The number of sizes in a split that run time computes."""
    shape = shape_of(split, inference)
    if not shape or shape[0] is None:
        raise Obstacle(_SPLIT_UNKNOWN(origins(split)))
    if opset < _SIZES_AS_INPUT:
        raise Obstacle(_SPLIT_NOT_CONSTANT(origins(split), opset=opset, oldest=_SIZES_AS_INPUT))
    return shape[0]


def _sizes(split: Value | None, length: int | None, source: Value, axis: int) -> Sequence[int]:
    numbers = None if split is None or split.constant is None else split.constant.numpy()
    if numbers is not None and numbers.ndim:
        return _check_sizes([int(size) for size in numbers.reshape(-1)], length)
    size = 1 if numbers is None else int(numbers)
    if size < 1:
        raise Obstacle(_PARTS_OF(size=size))
    if length is None:
        raise Obstacle(_LENGTH_UNKNOWN(axis=axis, value=source.name, option=by("--shape")))
    # A scalar is the size of each part; the last one has the rest (SplitToSequence 11).
    whole, rest = divmod(length, size)
    return [size] * whole + ([rest] if rest else [])


def _check_sizes(sizes: list[int], length: int | None) -> list[int]:
    if any(size < 0 for size in sizes) or (length is not None and sum(sizes) != length):
        raise Obstacle(_PARTS_DIFFER(sizes=list(sizes), length=length))
    if not sizes and length is None:
        raise Obstacle(_NO_PARTS())
    return sizes
