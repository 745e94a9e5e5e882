"""Replacement of a Loop or Scan by the nodes of its scratch graph; new bodies."""

from collections.abc import Callable, Iterator, Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...analysis.iterations.zero_iterations import ScanElements, in_doubt
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, decided, is_named, is_settled
from ...facts.obstacle import Obstacle
from ...facts.polynomial import Dimension
from ...ir import Fold, Graph, Node, Template, Value
from ...ops.batching import Unbatchable
from ...ops.builder import Builder
from ...ops.rules import OLDEST_OPSET
from ..utils.legality import is_copied
from .batched_inputs import Feeding
from .loop_view import LoopView, add_choice, declaration


def is_used(graph: Graph, value: Value | None) -> bool:
    """Test for an output that is present and used."""
    return value is not None and graph.is_used(value)


def set_results(scratch: Graph, values: Sequence[Value]) -> None:
    """Set the outputs of a scratch graph."""
    scratch.set_outputs(values, [onnx.ValueInfoProto(name=value.name) for value in values])


def drop_dead_nodes(scratch: Graph) -> None:
    """Remove the nodes that nothing needs."""
    waiting = [node for node in scratch.unordered_nodes() if not scratch.is_needed(node)]
    while waiting:
        node = waiting.pop()
        read = [value.producer for value in reads_of(node)]
        scratch.remove(node)
        for producer in dict.fromkeys(read):
            if (
                producer is not None
                and producer.graph is scratch
                and not scratch.is_needed(producer)
            ):
                waiting.append(producer)


def clean(graph: Graph) -> None:
    """Remove nodes and constants that nothing needs."""
    drop_dead_nodes(graph)
    for value in list(graph.initializers):
        if not graph.is_used(value) and value not in graph.inputs and not value.pinned:
            graph.remove_initializer(value)


def splice(feeding: Feeding, results: Sequence[Value | None], graph: Graph) -> list[Value | None]:
    """Splice results of a scratch graph into the graph around the loop."""
    keep_results(feeding.graph, results)
    return copy_results(feeding, results, graph)


def keep_results(scratch: Graph, results: Sequence[Value | None]) -> None:
    """Set the outputs of a scratch graph, and remove all other nodes.

    Raises:
        Unbatchable: they need the numbers of iterations, of which opset 8 has none.
    """
    set_results(scratch, [value for value in results if value is not None])
    clean(scratch)
    opset = scratch.root.opset()
    if opset < OLDEST_OPSET and any(scratch.nodes_of("Range")):
        raise Unbatchable(f"is of opset {opset}; convert to {OLDEST_OPSET} first")


def copy_results(
    feeding: Feeding, results: Sequence[Value | None], graph: Graph
) -> list[Value | None]:
    """Copy a scratch graph that holds only the results to the graph around the loop."""
    scratch = feeding.graph
    template = Template(scratch, graph, fold=Folder(feeding.inference.model).fold)
    copies = iter(template.instantiate(list(feeding.outside)))
    return [None if value is None else next(copies) for value in results]


def propagate_facts(feeding: Feeding, results: Sequence[Value | None]) -> dict[Value, Fact]:
    """Propagate facts that a body declares to the replaced outputs of its loop.

    Args:
        results: the replacements of its outputs.

    Returns:
        the facts of these values, also those that miss only the trip count.
    """
    inference, iterations = feeding.inference, feeding.iteration_dimension
    facts = {}
    for new, fact in zip(results, _facts(feeding, iterations), strict=False):
        if new is None or fact is None:
            continue
        facts[new] = fact
        if all(is_named(dim) for dim in fact.shape or ()):
            inference.assume(new, fact)
    return facts


def _facts(feeding: Feeding, iterations: Dimension | None) -> Iterator[Fact | None]:
    """Yield the facts of each output from the body; None for unknown sizes besides the iteration
    count."""
    loop_view, inference = feeding.loop_view, feeding.inference
    if loop_view.node.is_op("SequenceMap"):
        return  # its outputs are sequences
    for state in loop_view.states:
        first, fact = inference.fact(state.initial), inference.fact(state.result)
        same = first.elem_type == fact.elem_type and first.shape == fact.shape
        yield Fact(fact.elem_type, fact.shape) if same and is_settled(fact) else None
    for one in loop_view.scan_outputs:
        fact = inference.fact(one.result)
        if loop_view.node.is_op("Loop") and one.output is not None:  # there may be no iterations
            rows = inference.fact(one.output)
            fact = Fact(rows.elem_type, None if rows.shape is None else rows.shape[1:])
        dims = list(fact.shape or ())
        axis = one.axis % (len(dims) + 1)
        dims.insert(axis, iterations or inference.symbols.fresh())
        yield Fact(fact.elem_type, tuple(dims)) if is_settled(fact) else None


def fact_declaration(value: Value, inference: ShapeInference) -> onnx.ValueInfoProto:
    """The facts of a value, as a declaration.

    onnxruntime requires the rank of every output of a Scan's body.
    """
    return declaration(value.name, inference.fact(value).type_proto(private=False))


def add_input(body: Graph, like: Value, inference: ShapeInference) -> Value:
    """Add an input like one of the original body."""
    return body.add_input(like.name, fact_declaration(like, inference))


def all_labels(node: Node, results: Sequence[Value], suffix: str = "") -> list[str]:
    """Labels for all outputs of a new Loop or Scan, from the original's.

    Also for outputs that the original omits: onnxruntime rejects some nodes that omit one.
    """
    outputs = [*node.outputs, *[None] * (len(results) - len(node.outputs))]
    return [
        result.name if output is None else output.name + suffix
        for output, result in zip(outputs, results, strict=True)
    ]


def own_output(value: Value, others: Sequence[Value], emit: Builder) -> Value:
    """An output of a body for a value: produced in the body, distinct from others.

    onnxruntime returns zeros for one of two outputs that are one value.
    """
    own = value.graph is emit.graph and value not in others
    # Opset 13 has sequences as states, but no Identity of them.
    if own and (value.producer is not None or not is_copied(value.type, emit.opset)):
        return value
    return emit.add("Identity", [value], value.name)


def set_own_outputs(
    body: Graph, results: Sequence[Value], infos: Sequence[onnx.ValueInfoProto], first: int = 0
) -> None:
    """Set the outputs of a body, each from position `first` on its `own_output`."""
    emit, own = Builder(body), list[Value]()
    for value in results[first:]:
        own.append(own_output(value, own, emit))
    body.set_outputs([*results[:first], *own], infos)
    clean(body)


def emit_choice(
    graph: Graph,
    node: Node,
    inference: ShapeInference,
    names: tuple[str, str],
    condition: Callable[[], Value],
    branches: Sequence[Callable[[Graph], Sequence[Value | None]]],
) -> list[Value | None]:
    """Emit an If for the outputs of a node, and return them; None for those that nothing reads.

    Args:
        branches: emit the outputs in a branch.
    """
    outputs = enumerate(node.outputs)
    present = {i: v for i, v in outputs if v is not None and graph.is_used(v)}
    if not present:  # an If has an output
        return [None] * len(node.outputs)
    labels = [value.name for value in present.values()]
    choice, *bodies = add_choice(graph, condition(), labels, names, node.name)
    infos = [fact_declaration(value, inference) for value in present.values()]
    for emit, body in zip(branches, bodies, strict=True):
        results = emit(body)
        body.set_outputs([v for i in present if (v := results[i]) is not None], infos)
        clean(body)
    emitted = dict(zip(present, choice.outputs, strict=True))
    return [emitted.get(index) for index in range(len(node.outputs))]


class TripCountGuard:
    """An If around what may only run where a Loop has an iteration.

    Its other branch has the outputs of the Loop without iterations.

    Raises:
        Obstacle: a scan output whose sizes without iterations are in doubt.
    """

    def __init__(self, loop_view: LoopView, inference: ShapeInference) -> None:
        self._loop_view, self._inference = loop_view, inference
        elements = ScanElements(loop_view.node, inference.model, inference)
        first, count = len(loop_view.states), len(loop_view.node.outputs)
        self._empty = [(i, elements.of(1 + i)) for i in range(first, count)]
        for index, row in self._empty:
            if row is None:
                raise Obstacle(in_doubt(loop_view.scan_outputs[index - first].result))

    def emit(
        self, graph: Graph, emit_some: Callable[[Graph], Sequence[Value | None]], fold: Fold
    ) -> list[Value | None]:
        """Emit the If, and return the outputs of the Loop.

        Args:
            graph: the graph around the Loop.
            emit_some: emits these outputs in a branch, where there is an iteration.
            fold: computes nodes whose inputs are all known.
        """
        return emit_choice(
            *(graph, self._loop_view.node, self._inference),
            ("some", "none"),
            lambda: self._runs(Builder(graph, fold)),
            (emit_some, lambda other: self._without(Builder(other))),
        )

    def _runs(self, emit: Builder) -> Value:
        """Emit the test for a first iteration."""
        maximum, start = self._loop_view.maximum, self._loop_view.start
        assert maximum is not None
        some = emit.add("Greater", [maximum, emit.integer(0, "none")], "some")
        array = None if start is None else decided(self._inference.fact(start))
        if start is None or (array is not None and array.all()):
            return some
        return emit.add("And", [start, some], "some")

    def _without(self, emit: Builder) -> list[Value]:
        """Emit the outputs without iterations."""
        states, rows = self._loop_view.states, self._loop_view.scan_outputs
        outputs = [emit.add("Identity", [s.initial], s.argument.name) for s in states]
        for one, (_, row) in zip(rows, self._empty, strict=False):
            assert row is not None
            nothing = emit.graph.add_initializer(one.result.name, row.none())
            outputs.append(emit.add("Identity", [nothing], one.result.name))
        return outputs
