"""A common view of Loops and Scans, with a layout for Scans of all versions."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import onnx

from ...analysis.iterations.block_places import computes_blocks
from ...analysis.iterations.trip_count import always_holds, skip_identities
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_iterations import runs_certainly
from ...facts.fact import Shape, integers
from ...facts.obstacle import Obstacle, require_none
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Graph, Node, Operator, Value, attribute_message, copy_graph, empty_header
from ...ir.subgraph_arity import BRANCHES
from ...ops.builder import Builder
from ...records import record
from ..utils.legality import caller_attribute, externally_named
from ..utils.replace_all_uses import replace_value

_OUTPUT_NAMED = Message("loop-output-named", "an output of it is named from outside the data flow")
_ENDS_ITSELF = Message("body-decides-end", "its body decides when it ends")
_BLOCKS = Message("computes-blocks", "it computes a block of iterations at once, within memory")
_NO_MAXIMUM = Message("no-maximum", "it has no maximum")
_STATE_ABSENT = Message("initial-state-absent", "an initial state is absent")
_SHARDED = Message("sharded", "its device configurations refer to its tensors")
_OLD_SCAN = Message("scan-of-opset-eight", "it is a Scan of opset 8; convert to opset 9 first")


class State(NamedTuple):
    """A loop-carried state.

    Attributes:
        initial: the initial value, outside.
        argument: the body's input.
        result: the body's output.
        final: the final value, outside; None where omitted.
    """

    initial: Value
    argument: Value
    result: Value
    final: Value | None


@record(frozen=True)
class ScanInput:
    """A scan input: an element along an axis for each iteration.

    Attributes:
        source: the value, outside.
        argument: the body's input.
        backward: true if the first iteration reads the last element.
        size: the number of elements per iteration; None for one element without the axis.
    """

    source: Value
    argument: Value
    axis: int
    backward: bool
    size: int | None = None

    def count(self, shape: Shape) -> Dimension:
        """The number of elements in a source of a shape."""
        length = shape[self.axis]
        if length.value is None or self.size is None:
            return length
        return Dimension.constant(length.value // self.size)


@record(frozen=True)
class ScanOutput:
    """A scan output: the stack of an element of each iteration."""

    result: Value
    output: Value | None
    axis: int
    backward: bool


@record(frozen=True)
class LoopView:
    """A Loop whose condition always holds, a Scan from opset 9 on, or a SequenceMap.

    Attributes:
        node: the Loop, Scan or SequenceMap.
        maximum: the maximum trip count of a Loop; None for the others.
        start: the initial condition of a Loop; None if it is true.
        iteration: the body's iteration number; None but for a Loop.
        condition: the body's condition input, which is true; None but for a Loop.
        same: the loop-invariant operands of a SequenceMap, outside and in the body.
    """

    node: Node
    states: tuple[State, ...] = ()
    scan_inputs: tuple[ScanInput, ...] = ()
    scan_outputs: tuple[ScanOutput, ...] = ()
    maximum: Value | None = None
    start: Value | None = None
    iteration: Value | None = None
    condition: Value | None = None
    same: tuple[tuple[Value, Value], ...] = ()

    @property
    def around(self) -> Graph:
        """The graph of the node."""
        assert self.node.graph is not None
        return self.node.graph

    @property
    def body(self) -> Graph:
        """The graph that runs in each iteration."""
        return self.node.body("body")

    def runs_certainly(self, inference: ShapeInference) -> bool:
        """Test for a first iteration for any feeds."""
        facts_of = Speculation(inference, inference.model.functions).outside
        return runs_certainly(self.node, facts_of)


def read(node: Node) -> LoopView:
    """The view of a Loop or Scan.

    Raises:
        Obstacle: it has none.
    """
    check_readable(node)
    return (_read_loop if node.is_op("Loop") else _read_scan)(node)


def read_replaceable(node: Node) -> LoopView:
    """The view of a Loop or Scan that a node of another operator may replace.

    Raises:
        Obstacle: it has none, or something speaks of the node as it is.
    """
    loop_view = read(node)
    require_none(_SHARDED() if node.op.is_sharded else externally_named(node))
    return loop_view


def check_readable(node: Node) -> None:
    """Raise the obstacle to any view of a node."""
    pinned = any(value is not None and value.pinned for value in node.outputs)
    require_none(caller_attribute(node), _OUTPUT_NAMED() if pinned else None)


def _read_loop(node: Node) -> LoopView:
    body, maximum = node.body("body"), node.input(0)
    if not always_holds(body):
        raise Obstacle(_ENDS_ITSELF())
    if computes_blocks(body):
        raise Obstacle(_BLOCKS())
    if maximum is None:
        raise Obstacle(_NO_MAXIMUM())
    count = len(node.inputs) - 2
    states = _states(node, 2, 2, 1, count)
    rest = list(zip(body.outputs[1 + count :], node.outputs[count:], strict=False))
    # A node may have fewer outputs than its body.
    unasked = [(result, None) for result in body.outputs[1 + count + len(rest) :]]
    stacked = [ScanOutput(result, output, 0, False) for result, output in [*rest, *unasked]]
    number, condition = body.inputs[:2]
    return LoopView(node, states, (), tuple(stacked), maximum, node.input(1), number, condition)


def _read_scan(node: Node) -> LoopView:
    assert node.graph is not None
    require_none(_OLD_SCAN() if node.graph.root.opset() < 9 else unreadable(node, 9))
    layout = read_scan(node, 9)
    count = len(layout.states)
    arguments, results = layout.body.inputs[count:], layout.body.outputs[count:]
    scanned = layout.input_axes, layout.input_backward
    stacked = layout.output_axes, layout.output_backward
    return LoopView(
        node,
        _states(node, 0, 0, 0, count),
        tuple(map(ScanInput, layout.scan_inputs, arguments, *scanned)),
        tuple(map(ScanOutput, results, layout.scan_outputs, *stacked)),
    )


def _states(node: Node, outside: int, inside: int, results: int, count: int) -> tuple[State, ...]:
    """The states, from their positions in the node's inputs, the body's inputs and outputs."""
    body = node.body("body")
    states = []
    for index in range(count):
        initial = node.inputs[outside + index]
        if initial is None:
            raise Obstacle(_STATE_ABSENT())
        final = node.outputs[index] if index < len(node.outputs) else None
        argument, result = body.inputs[inside + index], body.outputs[results + index]
        states.append(State(initial, argument, result, final))
    return tuple(states)


@record(frozen=True)
class ScanLayout:
    """The operands and attributes of a Scan (operator specification, Scan 8 and Scan 9).

    Attributes:
        sequence_lens: the length of each row, of shape [batch]; None when absent, and from 9 on.
        states: the initial states; [batch, ...] in version 8.
        scan_inputs: the scan inputs; [batch, length, ...] in version 8.
        input_axes: the axis that each scan input is scanned along, as written; in version 8 that
            of one row, so always 0.
        input_backward: for each scan input, true if scanned from its end.
        output_axes: the axis of each scan output, in its own rank, as written.
        output_backward: for each scan output, true if filled from its end.
    """

    node: Node
    sequence_lens: Value | None
    states: tuple[Value, ...]
    scan_inputs: tuple[Value, ...]
    input_axes: tuple[int, ...]
    input_backward: tuple[bool, ...]
    output_axes: tuple[int, ...]
    output_backward: tuple[bool, ...]

    @property
    def body(self) -> Graph:
        """The graph that runs for each element."""
        return self.node.body("body")

    @property
    def final_states(self) -> tuple[Value | None, ...]:
        """The outputs that are states; None where omitted."""
        return self._outputs[: len(self.states)]

    @property
    def scan_outputs(self) -> tuple[Value | None, ...]:
        """The outputs that collect one element of each iteration; None where omitted."""
        return self._outputs[len(self.states) :]

    @property
    def _outputs(self) -> tuple[Value | None, ...]:
        """One for each output of the body: a node may leave out the last ones."""
        missing = len(self.body.outputs) - len(self.node.outputs)
        return (*self.node.outputs, *[None] * missing)


def read_scan(node: Node, version: int) -> ScanLayout:
    """Read the layout of a Scan that is not `unreadable`."""
    first = 1 if version == 8 else 0
    count = node.attribute("num_scan_inputs", 0)
    inputs = tuple(value for value in node.inputs[first:] if value is not None)
    states = len(inputs) - count
    outputs = len(node.body("body").outputs) - states
    # Scan 8 has `directions` of its inputs alone; from 9 on, outputs have theirs.
    prefix = "" if version == 8 else "scan_input_"
    return ScanLayout(
        node,
        node.inputs[0] if first else None,
        inputs[:states],
        inputs[states:],
        _numbers(node, "scan_input_axes", count),
        tuple(map(bool, _numbers(node, f"{prefix}directions", count))),
        _numbers(node, "scan_output_axes", outputs),
        tuple(map(bool, _numbers(node, "scan_output_directions", outputs))),
    )


def _numbers(node: Node, name: str, count: int) -> tuple[int, ...]:
    return tuple(node.attribute(name) or [0] * count)


def unreadable(node: Node, version: int) -> str | None:
    """The obstacle to reading a Scan's layout; None without one."""
    reason = caller_attribute(node)
    if reason is not None:
        return reason
    if any(value is None for value in node.inputs[1 if version == 8 else 0 :]):
        return "an initial state or a scan input is absent"
    if node.op.is_sharded:
        return "its device configurations refer to its tensors"
    return None


def add_holder(
    graph: Graph,
    like: Operator,
    attributes: Mapping[str, int | list[int]],
    bodies: Sequence[str],
    inputs: Sequence[Value | None],
    outputs: Sequence[str],
    name: str = "",
) -> Node:
    """Add a node whose graphs `Graph.add_body` adds later.

    Args:
        graph, name: the graph and the label of the new node.
        like: the source of operator type, domain, doc string and metadata.
        attributes, bodies: its other attributes, and the names of those that hold graphs.
        inputs, outputs: its operands, and the labels of its outputs.
    """
    kind = onnx.AttributeProto.GRAPH
    messages = [attribute_message(key, value) for key, value in attributes.items()]
    messages += [onnx.AttributeProto(name=body, type=kind) for body in bodies]
    return graph.add_node(like.with_attributes(messages), inputs, outputs, name)


def scan_attributes(
    inputs: Sequence[tuple[int, bool]], outputs: Sequence[tuple[int, bool]]
) -> dict[str, int | list[int]]:
    """The attributes of a Scan, without lists of zeros.

    Args:
        inputs, outputs: the axis of each scan input and output, with true for backward.
    """
    attributes: dict[str, int | list[int]] = {"num_scan_inputs": len(inputs)}
    for kind, pairs in (("input", inputs), ("output", outputs)):
        for index, name in enumerate(("axes", "directions")):
            numbers = [int(pair[index]) for pair in pairs]
            attributes |= {f"scan_{kind}_{name}": numbers} if any(numbers) else {}
    return attributes


def add_choice(
    graph: Graph,
    condition: Value,
    outputs: Sequence[str],
    branches: tuple[str, str],
    name: str = "",
) -> tuple[Node, Graph, Graph]:
    """Add an If with two empty branches, whose names and labels of outputs are passed."""
    choice = add_holder(graph, Operator("If"), {}, BRANCHES, [condition], outputs, name)
    pairs = zip(BRANCHES, branches, strict=True)
    then, other = (graph.add_body(choice, key, empty_header(own)) for key, own in pairs)
    return choice, then, other


def copy_body(scan: Node, target: Node) -> None:
    """Copy the body of a Scan to a new one, unchanged."""
    body = scan.body("body")
    assert target.graph is not None
    copy_graph(body, target.graph.add_body(target, "body", body.header), {})


def map_unique(values: Sequence[Value], make: Callable[[Value], Value]) -> list[Value]:
    """Map values to new ones, with one call for each distinct value."""
    results = {value: make(value) for value in dict.fromkeys(values)}
    return [results[value] for value in values]


def move_axis(rank: int, source: int, target: int) -> list[int]:
    """The permutation that moves an axis to another place."""
    perm = list(range(rank))
    perm.insert(target, perm.pop(source))
    return perm


def output_labels(node: Node, suffix: str) -> list[str]:
    """Labels derived from a node's outputs; empty where one is omitted."""
    return ["" if value is None else value.name + suffix for value in node.outputs]


def add_states(
    loop_view: LoopView,
    initial: Sequence[Value],
    results: Sequence[Value],
    infos: Sequence[onnx.ValueInfoProto],
    labels: Sequence[str],
) -> list[Value]:
    """Add states to a Loop whose body has inputs for them.

    New states stand behind the others and before the scan outputs, as Loop orders them.

    Returns:
        their last values.
    """
    node, body, graph = loop_view.node, loop_view.body, loop_view.around
    states, count = len(loop_view.states), len(node.inputs)
    all_results, all_infos = list(body.outputs), list(body.output_infos)
    all_results[1 + states : 1 + states] = results
    all_infos[1 + states : 1 + states] = infos
    body.set_outputs(all_results, all_infos)
    graph.resize_inputs(node, count + len(initial))
    for index, value in enumerate(initial, count):
        graph.set_input(node, index, value)
    outputs: list[Value | str | None] = [*node.outputs]
    outputs += [None] * (states - len(outputs))
    outputs[states:states] = labels
    graph.set_node_outputs(node, outputs)
    return [node.output(index) for index in range(states, states + len(initial))]


def declaration(name: str, type_: onnx.TypeProto | None) -> onnx.ValueInfoProto:
    """A declaration of a body's input or output, with a type where it is known."""
    info = onnx.ValueInfoProto(name=name)
    if type_ is not None:
        info.type.CopyFrom(type_)
    return info


def scalar_declaration(name: str, elem_type: int) -> onnx.ValueInfoProto:
    """The declaration of a scalar."""
    return onnx.helper.make_tensor_value_info(name, elem_type, ())


def row_type(value: Value | None) -> onnx.TypeProto | None:
    """The type of one row of a batch; None without a declared element type."""
    if value is None or value.elem_type is None:
        return None
    return onnx.helper.make_tensor_type_proto(
        value.elem_type, None if value.shape is None else value.shape[1:]
    )


_SHAPES_DIFFER = Message(
    "element-shapes-differ", "the elements of its sequence '{sequence}' may differ in shape"
)


def read_map(node: Node, inference: ShapeInference) -> LoopView:
    """The loop view of a SequenceMap.

    Raises:
        Obstacle: it has none.
    """
    check_readable(node)
    body = node.body("body")
    if (len(body.inputs), len(body.outputs)) != (len(node.inputs), len(node.outputs)):
        raise Obstacle("the inputs and outputs of its body are not as many as its own")
    scanned, same = [], []
    for value, argument in zip(node.inputs, body.inputs, strict=True):
        if value is None:
            raise Obstacle("an input of it is absent")
        if inference.fact(value).elem_type:
            same.append((value, argument))
            continue
        parts = _parts(value, inference)
        if parts is None:
            raise Obstacle(_SHAPES_DIFFER(sequence=value.name))
        scanned.append(ScanInput(parts.source, argument, parts.axis, False, parts.size))
    if not scanned or len({_count(one, inference) for one in scanned}) > 1:
        raise Obstacle("its sequences may be of other lengths")
    stacked = [
        ScanOutput(result, output, 0, False)
        for result, output in zip(body.outputs, node.outputs, strict=True)
    ]
    return LoopView(node, (), tuple(scanned), tuple(stacked), same=tuple(same))


def _count(one: ScanInput, inference: ShapeInference) -> Dimension:
    shape = inference.fact(one.source).shape
    assert shape is not None
    return one.count(shape)


def _parts(sequence: Value, inference: ShapeInference) -> ScanInput | None:
    """The tensor that a sequence splits into parts of one size."""
    split = sequence.producer
    if split is None or not split.is_op("SplitToSequence") or split.op.references:
        return None
    source, axis = split.input(0), split.attribute("axis", 0)
    shape = None if source is None else inference.fact(source).shape
    if source is None or shape is None or not -len(shape) <= axis < len(shape):
        return None
    size = _size(split, shape[axis], inference)
    return None if size == 0 else ScanInput(source, sequence, axis, False, size)


def _block(sequence: Value, index: Value, emit: Builder, inference: ShapeInference) -> Value | None:
    """Emit the part of a tensor split by run-time sizes; None for other sequences."""
    split = sequence.producer
    if split is None or not split.is_op("SplitToSequence") or split.op.references:
        return None
    graph, source, sizes = split.graph, split.input(0), split.input(1)
    shapes = [None if value is None else inference.fact(value).shape for value in (source, sizes)]
    if (
        graph is None
        or source is None
        or sizes is None
        or not shapes[0]
        or len(shapes[1] or ()) != 1
    ):
        return None
    outer = Builder(graph)
    if outer.opset < _RUNNING_SUMS:
        return None
    sizes = outer.add("Cast", [sizes], "sizes", to=onnx.TensorProto.INT64)
    starts = outer.running_sum(sizes, "starts", exclusive=1)
    place = emit.add("Reshape", [index, emit.vector((1,), "one")], index.name)
    start, size = (emit.add("Gather", [each, place], "bound") for each in (starts, sizes))
    end, axis = emit.add("Add", [start, size], "end"), split.attribute("axis", 0) % len(shapes[0])
    return emit.cut(source, start, end, axis, sequence.name)


_RUNNING_SUMS = 11
"""The first opset with CumSum."""


def _size(split: Node, length: Dimension, inference: ShapeInference) -> int | None:
    """The size of each part along the axis; None without the axis, 0 for different sizes."""
    split_sizes = split.input(1)
    if split_sizes is None:
        return 1 if split.attribute("keepdims", 1) else None
    sizes = integers(inference.fact(split_sizes))
    if sizes is None and _are_ones(split_sizes):
        return 1
    if sizes is None or not sizes.size or bool((sizes != sizes.reshape(-1)[0]).any()):
        return 0
    size = int(sizes.reshape(-1)[0])
    if size == 1:
        return 1
    # A remainder would be a part of another size.
    return size if size > 0 and length.value is not None and length.value % size == 0 else 0


def _are_ones(sizes: Value) -> bool:
    """Test for sizes of 1, as many as run time decides."""
    node = skip_identities(sizes).producer
    if node is None or not node.is_op("ConstantOfShape") or node.op.references:
        return False
    tensor = node.attribute("value")
    return tensor is not None and onnx.numpy_helper.to_array(tensor).reshape(-1).tolist() == [1]


def read_tensors(graph: Graph, inference: ShapeInference) -> bool:
    """Read rows at run-time indices from a tensor instead of its sequence of parts.

    Returns:
        true after a change.
    """
    emit, changed = Builder(graph), False
    for node in graph.nodes():
        sequence, index = (
            (node.input(0), node.input(1)) if node.is_op("SequenceAt") else (None,) * 2
        )
        if sequence is None or index is None or index.constant is not None:
            continue
        parts = _parts(sequence, inference)
        if parts is None and not node.output().pinned:
            block = _block(sequence, index, emit, inference)
            if block is not None:
                replace_value(graph, node.output(), block)
                graph.remove(node)
                changed = True
        if parts is None or parts.size not in (None, 1) or node.output().pinned:
            continue
        # A sequence takes an index of any rank.
        number = emit.scalar(index, index.name) if inference.fact(index).shape != () else index
        if parts.size == 1:  # a vector keeps the axis
            number = emit.unsqueeze(number, 0, index.name)
        inputs, label = [parts.source, number], node.output().name
        row = emit.add("Gather", inputs, label, axis=parts.axis)
        replace_value(graph, node.output(), row)
        graph.remove(node)
        changed = True
    return changed
