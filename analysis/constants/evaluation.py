"""Computing a construct whose inputs and captured values are all known, by the exact reference."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ...ir import FunctionKey, Model, Node, Operator, Tensor, Value
from ...limits import current, limit
from ...ops import rules_of
from ...ops.cost_estimates import EACH
from ...ops.randomness import draws_random_numbers, find_random
from ...reference.errors import EvaluationError
from ...reference.signature import is_static
from ..shapes.alone import alone, reads_of

if TYPE_CHECKING:
    from ...reference.loop import Loop

_CONSTRUCTS = ("If", "Loop", "Scan")

MAX_TRIPS = limit("construct_trips")
"""The Loops of a construct make so many trips at most, all together, when it is computed."""

STEP = 30_000
"""Steps that the reference takes to run a node of a graph, whatever it computes."""

_MOST_ELEMENTS = limit("construct_elements")
"""No tensor inside of a construct has more elements when it is computed."""

MAX_ALL_TRIPS = limit("all_construct_trips")
"""The same for all times that one construct is computed, such as on each trip of a loop around."""


def construct_evaluator(node: Node, model: Model) -> ConstructEvaluator | None:
    """What computes a construct or a call of a model function; None where it is neither, it draws
    random numbers, or it holds what the reference does not know."""
    if not _may_evaluate(node, model):
        return None
    try:
        return ConstructEvaluator(node, model)
    except EvaluationError:
        return None


def is_call(node: Node, model: Model) -> bool:
    """Whether a node calls a function of the model."""
    return node.op.function_key in model.functions


def _may_evaluate(node: Node, model: Model) -> bool:
    """Whether a node is a construct or a call of a model function, free of random operators."""
    key = node.op.function_key
    if not (node.is_op(*_CONSTRUCTS) or key in model.functions) or node.op.references:
        return False
    inside = list(node.graphs()) + ([model.functions[key].graph] if key in model.functions else [])
    return not draws_random_numbers(node) and not any(
        find_random(graph, model.functions) for graph in inside
    )


class ConstructEvaluator:
    """One construct as a model of its own, made once and run as often as wanted."""

    def __init__(self, node: Node, model: Model) -> None:
        self.node = node
        self.reads = reads_of(node)
        self._of_all = MAX_ALL_TRIPS
        self._left = TripsLeft()
        from ...reference.interpreter.evaluator import Evaluator  # brings onnx's kernels

        proto = alone(node, model)
        watch = _Watch(node, model.functions)
        self._evaluator = Evaluator(proto, operators=[bounded_loop(self._left)], watch=watch)

    def evaluate(self, known: Mapping[Value, Tensor]) -> list[Tensor] | None:
        """The outputs; None where one is no tensor, it fails, or it might run for too long, this
        time or all times together."""
        if not all(known[value].is_readable for value in self.reads):
            return None
        given = self._left.trips = min(MAX_TRIPS, self._of_all)
        feeds = {f"i{i}": known[value].numpy() for i, value in enumerate(self.reads)}
        try:
            results = self._evaluator.run(feeds)
        except EvaluationError:
            return None
        finally:
            self._of_all -= given - max(self._left.trips, 0)
        if any(result is None or isinstance(result, list) for result in results):
            return None
        return [Tensor(array=result) for result in results]


class _Watch:
    """Counts what the nodes inside of a construct compute.

    Args:
        place: the construct.
        functions: the model's own, whose nodes are counted themselves.
    """

    def __init__(self, place: Node, functions: Collection[FunctionKey]) -> None:
        self._place = place
        self._functions = functions
        self._nodes: dict[int, tuple[onnx.NodeProto, Node]] = {}

    def __call__(
        self, proto: onnx.NodeProto, values: Sequence[Any], results: Sequence[Any] | None
    ) -> None:
        """Count a node before it is run, and look at its results afterwards.

        Raises:
            EvaluationError: it is too much, or runtimes may have other results.
        """
        if id(proto) not in self._nodes:  # the message is kept so that its id stays its own
            attributes = {a.name: a for a in proto.attribute}
            op = Operator(proto.op_type, attributes, proto.domain)
            self._nodes[id(proto)] = proto, Node(op, [None] * len(proto.input), proto.output)
        node = self._nodes[id(proto)][1]
        if results is not None:
            if not self._holds(node) and not rules_of(node.op).is_settled(node, values, results):
                raise EvaluationError(f"runtimes may have other results of {node.op_type}")
            return
        if not current().may_work(STEP + self._work(node, values), self._place):
            raise EvaluationError("it takes more steps than are taken beforehand")

    def _holds(self, node: Node) -> bool:
        """Test whether a node runs other nodes, which are checked one by one."""
        holds = any(a.HasField("g") or a.graphs for a in node.op.attributes.values())
        return holds or node.op.function_key in self._functions

    def _work(self, node: Node, values: Sequence[Any]) -> float:
        """The steps of a node; none where its bodies are counted themselves."""
        arrays = [v for v in values if v is not None]
        if self._holds(node) or not all(isinstance(array, np.ndarray) for array in arrays):
            return EACH * sum(len(v) if isinstance(v, list) else v.size for v in arrays)
        rules = rules_of(node.op)
        if not rules.growth(node, values) <= _MOST_ELEMENTS:
            return math.inf
        return rules.work(node, values)


@dataclasses.dataclass
class TripsLeft:
    """The trips that all Loops together may still make."""

    trips: int = MAX_TRIPS

    def take(self) -> None:
        """Count one.

        Raises:
            EvaluationError: none is left.
        """
        self.trips -= 1
        if self.trips < 0:
            raise EvaluationError("it makes more trips than are computed beforehand")


def counted_loop(left: TripsLeft) -> type[Loop]:
    """The Loop of the reference, which counts its trips."""
    from ...reference.loop import Loop

    class CountedLoop(Loop):
        def _iterate(self, run: Any, *rest: Any) -> Any:
            return super()._iterate(_Counted(run, left), *rest)  # type: ignore[arg-type]

    # The reference finds the operator by the name of the class.
    CountedLoop.__name__ = "Loop"
    return CountedLoop


def bounded_loop(left: TripsLeft) -> type[Loop]:
    """Bound a Loop that stands alone: without an iteration, its open sizes are not known."""
    base: Any = counted_loop(left)

    class BoundedLoop(base):  # type: ignore[misc]
        def _element(self, body: Any, index: int) -> Any:
            if not is_static(body.graph.output[index].type.tensor_type):
                raise EvaluationError("without a trip its sizes depend on what is around it")
            return super()._element(body, index)

    BoundedLoop.__name__ = "Loop"
    return BoundedLoop


class _Counted:
    """A body of a Loop that can be run only so often."""

    def __init__(self, run: Any, left: TripsLeft) -> None:
        self.run = run
        self.body = run.body
        self.left = left

    def __call__(self, inputs: Any) -> Any:
        self.left.take()
        return self.run(inputs)
