"""Steps of a reduction: each takes apart one kind of parts, numbered in each model."""

import abc
from collections.abc import Sequence

import onnx

from ..ir import Graph, Model, Node, Value, instantiate
from ..passes.cleanup.eliminate_dead_nodes import sweep
from ..records import record
from .draft import Draft, UncuttableError
from .loop_slots import remove_slots, slots

_SMALL = 64
"""Elements of a constant that stays in the model."""


class Step(abc.ABC):
    """A kind of parts."""

    @abc.abstractmethod
    def count(self, draft: Draft) -> int:
        """The number of parts."""

    @abc.abstractmethod
    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Remove some parts in place.

        Raises:
            UncuttableError: they cannot be removed.
        """


class Outputs(Step):
    """Outputs of the main graph, with the nodes that only they need."""

    def count(self, draft: Draft) -> int:
        """The number of outputs."""
        return len(draft.model.graph.outputs)

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Remove outputs but for the last one."""
        main, removed = draft.model.graph, set(chosen)
        rest = [value for index, value in enumerate(main.outputs) if index not in removed]
        if not rest:
            raise UncuttableError("no output remains")
        draft.set_outputs(rest)
        sweep(main)


class Inputs(Step):
    """Inputs of the main graph that nothing reads."""

    def _inputs(self, draft: Draft) -> list[Value]:
        main = draft.model.graph
        return [value for value in main.inputs if not main.is_used(value) and not value.pinned]

    def count(self, draft: Draft) -> int:
        """The number of unread inputs."""
        return len(self._inputs(draft))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Remove inputs."""
        inputs = self._inputs(draft)
        for index in chosen:
            draft.model.graph.remove_input(inputs[index])


@record
class Nodes(Step):
    """Nodes at one depth of nesting: hierarchical delta debugging.

    Misherghi and Su, "HDD: Hierarchical Delta Debugging", ICSE 2006.
    """

    depth: int

    def _nodes(self, draft: Draft) -> list[Node]:
        return [node for graph in draft.graphs(self.depth) for node in graph.nodes()]

    def count(self, draft: Draft) -> int:
        """The number of nodes."""
        return len(self._nodes(draft))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Cut the nodes."""
        nodes = self._nodes(draft)
        draft.cut([nodes[index] for index in chosen])


class Bypasses(Step):
    """Nodes whose result has the type of an operand, which takes its place."""

    def _bypasses(self, draft: Draft) -> list[tuple[Node, Value, Value]]:
        bypasses = []
        for graph in draft.graphs():
            for node in graph.nodes():
                read = [v for v in node.outputs if v is not None and graph.is_used(v)]
                if len(read) == 1 and not read[0].pinned:
                    like = _operand_like(draft, node, read[0])
                    bypasses += [] if like is None else [(node, read[0], like)]
        return bypasses

    def count(self, draft: Draft) -> int:
        """The number of such nodes."""
        return len(self._bypasses(draft))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Replace the results, and remove the nodes."""
        bypasses = self._bypasses(draft)
        operands: dict[Value, Value] = {}
        for index in chosen:  # in order: operands first
            node, result, operand = bypasses[index]
            operands[result] = operands.get(operand, operand)
            node.parent.replace_all_uses({result: operands[result]})
            node.parent.remove(node)


def _operand_like(draft: Draft, node: Node, result: Value) -> Value | None:
    try:
        type_ = draft.type_of(result)
        for operand in node.inputs:
            if operand is not None and draft.type_of(operand) == type_:
                return operand
    except UncuttableError:
        pass
    return None


@record
class Constructs(Step):
    """Constructs of control flow that one run of a body replaces.

    Args:
        branch: the number of the body, for an If.
    """

    branch: int = 0

    def _constructs(self, draft: Draft) -> list[Node]:
        nodes = [node for graph in draft.graphs() for node in graph.holders()]
        return [node for node in nodes if node.is_op("If") or slots(node) is not None]

    def count(self, draft: Draft) -> int:
        """The number of constructs."""
        return len(self._constructs(draft))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Run bodies once in the place of their nodes."""
        nodes = self._constructs(draft)
        for index in chosen:
            node = nodes[index]
            # It may have stood in the body of an earlier one, and be gone with it.
            if node.stands:
                _run_once(draft, node, self.branch)


def _run_once(draft: Draft, node: Node, branch: int) -> None:
    graph = node.parent
    bodies = node.graphs()
    body = bodies[min(branch, len(bodies) - 1)]
    layout = slots(node)
    results: dict[int, int] = dict(enumerate(range(len(body.outputs))))
    arguments: list[Value] = []
    if layout is not None:
        results = layout.states()
        arguments = [
            draft.new_input(value.name, draft.type_of(value)) if operand is None else operand
            for value, operand in zip(body.inputs, layout.arguments(), strict=True)
        ]
    values = instantiate(body, graph, arguments)
    for index, output in enumerate(node.outputs):
        if output is not None and graph.is_used(output):
            if index in results:
                output.info = None
                graph.replace_all_uses({output: values[results[index]]})
            else:
                draft.free(output)
    graph.remove(node)
    if graph is draft.model.graph:
        draft.add_outputs(dict.fromkeys(values))


class LoopSlots(Step):
    """Loop-carried states and scan outputs of Loops and Scans."""

    def _places(self, draft: Draft) -> list[tuple[Node, int]]:
        nodes = [node for graph in draft.graphs() for node in graph.holders()]
        return [
            (node, k) for node in nodes if slots(node) is not None for k in range(len(node.outputs))
        ]

    def count(self, draft: Draft) -> int:
        """The number of outputs of Loops and Scans."""
        return len(self._places(draft))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Remove the slots; a state keeps its initial value for who reads it."""
        places = self._places(draft)
        of_node: dict[Node, list[int]] = {}
        for index in chosen:
            node, k = places[index]
            of_node.setdefault(node, []).append(k)
        for node, numbers in of_node.items():
            remove_slots(draft, node, numbers)


class Constants(Step):
    """Large constants of the main graph, which become inputs."""

    def _constants(self, model: Model) -> list[Value]:
        main = model.graph
        large = [v for v, tensor in main.initializers.items() if tensor.size > _SMALL]
        nodes = [node.output() for node in main.nodes_of("Constant")]
        return large + [v for v in nodes if v.constant is not None and v.constant.size > _SMALL]

    def count(self, draft: Draft) -> int:
        """The number of large constants."""
        return len(self._constants(draft.model))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Let callers feed the constants."""
        constants, main = self._constants(draft.model), draft.model.graph
        for index in chosen:
            value = constants[index]
            if value.pinned:
                raise UncuttableError(f"{value} is named outside of the data flow")
            # An input with a default becomes one without.
            if value in main.inputs:
                del main.initializers[value]
                continue
            draft.free(value)
            if value.producer is None:
                main.remove_initializer(value)
            else:
                main.remove(value.producer)


class Attributes(Step):
    """Attributes of nodes but for graphs."""

    def _attributes(self, model: Model) -> list[tuple[Graph, Node, str]]:
        return [
            (graph, node, name)
            for graph in model.graphs()
            for node in graph.nodes()
            for name in node.op.attributes
            if name not in node.bodies and not node.is_op("Constant")
        ]

    def count(self, draft: Draft) -> int:
        """The number of attributes."""
        return len(self._attributes(draft.model))

    def remove(self, draft: Draft, chosen: Sequence[int]) -> None:
        """Remove the attributes."""
        attributes = self._attributes(draft.model)
        for index in chosen:
            graph, node, name = attributes[index]
            rest: list[onnx.AttributeProto] = [
                message for key, message in node.op.attributes.items() if key != name
            ]
            graph.set_operator(node, node.op.with_attributes(rest))
