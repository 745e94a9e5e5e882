"""Evaluation of constructs with constant inputs and captures, by the exact reference."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ...ir import FunctionKey, Model, Node, Operator, Tensor, Value
from ...limits import current, limit
from ...ops import agrees, rules_of
from ...ops.cost_estimates import EACH
from ...ops.randomness import draws_random_numbers, find_random
from ...records import record
from ...reference.errors import EvaluationError
from ...reference.signature import is_static
from ..shapes.single_node_model import reads_of, single_node_model

if TYPE_CHECKING:
    from ...reference.loop import Loop

_CONSTRUCTS = ("If", "Loop", "Scan")

MAX_ITERATIONS = limit("construct_iterations")
"""The limit of iterations of all Loops in one evaluation of a construct."""

STEP = 30_000
"""The steps of the reference for any node of a graph."""

_MOST_ELEMENTS = limit("construct_elements")
"""The limit of elements of a tensor inside a construct."""

MAX_ALL_ITERATIONS = limit("all_construct_iterations")
"""The limit of iterations over all evaluations of a construct, as in a loop around it."""


def construct_evaluator(node: Node, model: Model) -> ConstructEvaluator | None:
    """Make the evaluator of a construct or call. None for another node, one that draws random
    numbers, or one that the reference does not support."""
    if not _may_evaluate(node, model):
        return None
    try:
        return ConstructEvaluator(node, model)
    except EvaluationError:
        return None


def is_call(node: Node, model: Model) -> bool:
    """Test whether a node calls a function of the model."""
    return node.op.function_key in model.functions


def _may_evaluate(node: Node, model: Model) -> bool:
    """Test for a construct or a call without random operators."""
    key = node.op.function_key
    if not (node.is_op(*_CONSTRUCTS) or key in model.functions) or node.op.references:
        return False
    inside = list(node.graphs()) + ([model.functions[key].graph] if key in model.functions else [])
    # A draw made before run time would be the same in every run.
    return not draws_random_numbers(node) and not any(
        find_random(graph, model.functions) for graph in inside
    )


class ConstructEvaluator:
    """A construct as a model of its own, for many evaluations."""

    def __init__(self, node: Node, model: Model) -> None:
        self.node = node
        self.reads = reads_of(node)
        self._of_all = MAX_ALL_ITERATIONS
        self._budget = IterationBudget()
        from ...reference.interpreter.evaluator import Evaluator  # brings onnx's kernels

        proto = single_node_model(node, model)
        watch = _Watch(node, model.functions)
        self._evaluator = Evaluator(proto, operators=[bounded_loop(self._budget)], watch=watch)

    def evaluate(self, constants: Mapping[Value, Tensor]) -> list[Tensor] | None:
        """Compute the outputs. None where one is not a tensor, the construct fails, or a limit is
        exceeded."""
        if not all(constants[value].is_readable for value in self.reads):
            return None
        budget = self._budget.iterations = min(MAX_ITERATIONS, self._of_all)
        feeds = {f"i{i}": constants[value].numpy() for i, value in enumerate(self.reads)}
        try:
            results = self._evaluator.run(feeds)
        except EvaluationError:
            return None
        finally:
            self._of_all -= budget - max(self._budget.iterations, 0)
        if any(result is None or isinstance(result, list) for result in results):
            return None
        return [Tensor(array=result) for result in results]


class _Watch:
    """Counter of the work of nodes inside a construct.

    Args:
        place: the construct.
        functions: the model's own, whose nodes are counted one by one.
    """

    def __init__(self, place: Node, functions: Collection[FunctionKey]) -> None:
        self._place = place
        self._functions = functions
        self._nodes: dict[int, tuple[onnx.NodeProto, Node]] = {}

    def __call__(
        self, proto: onnx.NodeProto, values: Sequence[Any], results: Sequence[Any] | None
    ) -> None:
        """Count a node before it runs, and check its results afterwards.

        Raises:
            EvaluationError: the work exceeds a limit, or runtimes may have other results.
        """
        if id(proto) not in self._nodes:  # keeps the message alive and its id unique
            attributes = {a.name: a for a in proto.attribute}
            op = Operator(proto.op_type, attributes, proto.domain)
            self._nodes[id(proto)] = proto, Node(op, [None] * len(proto.input), proto.output)
        node = self._nodes[id(proto)][1]
        if results is not None:
            if not self._holds(node) and not agrees(node, values, results):
                raise EvaluationError(f"runtimes may have other results of {node.op_type}")
            return
        if not current().may_work(STEP + self._work(node, values), self._place):
            raise EvaluationError("it needs more steps than are computed before run time")

    def _holds(self, node: Node) -> bool:
        """Test whether a node runs other nodes, which are checked one by one."""
        holds = any(a.HasField("g") or a.graphs for a in node.op.attributes.values())
        return holds or node.op.function_key in self._functions

    def _work(self, node: Node, values: Sequence[Any]) -> float:
        """The steps of a node without its bodies, which are counted one by one."""
        arrays = [v for v in values if v is not None]
        if self._holds(node) or not all(isinstance(array, np.ndarray) for array in arrays):
            return EACH * sum(len(v) if isinstance(v, list) else v.size for v in arrays)
        rules = rules_of(node.op)
        if not rules.growth(node, values) <= _MOST_ELEMENTS:
            return math.inf
        return rules.work(node, values)


@record
class IterationBudget:
    """The budget of iterations of all Loops together."""

    iterations: int = MAX_ITERATIONS

    def take(self) -> None:
        """Count one.

        Raises:
            EvaluationError: none is left.
        """
        self.iterations -= 1
        if self.iterations < 0:
            raise EvaluationError("it runs more iterations than are computed before run time")


def counted_loop(budget: IterationBudget) -> type[Loop]:
    """Make a Loop of the reference that counts its iterations."""
    from ...reference.loop import Loop

    class CountedLoop(Loop):
        def _iterate(self, run: Any, *rest: Any) -> Any:
            return super()._iterate(_Counted(run, budget), *rest)  # type: ignore[arg-type]

    # The reference finds the operator by the name of the class.
    CountedLoop.__name__ = "Loop"
    return CountedLoop


def bounded_loop(budget: IterationBudget) -> type[Loop]:
    """Bound a Loop that stands alone: without an iteration, its open sizes are not known."""
    base: Any = counted_loop(budget)

    class BoundedLoop(base):  # type: ignore[misc]
        def _element(self, body: Any, index: int) -> Any:
            if not is_static(body.graph.output[index].type.tensor_type):
                raise EvaluationError("without an iteration its sizes depend on values around it")
            return super()._element(body, index)

    BoundedLoop.__name__ = "Loop"
    return BoundedLoop


class _Counted:
    """A body of a Loop with a budget of runs."""

    def __init__(self, run: Any, budget: IterationBudget) -> None:
        self.run = run
        self.body = run.body
        self.budget = budget

    def __call__(self, inputs: Any) -> Any:
        self.budget.take()
        return self.run(inputs)
