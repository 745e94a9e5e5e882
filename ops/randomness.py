"""Random operators: passes never fold, merge, hoist or repeat their nodes."""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from ..facts.safety_context import Premises, require
from ..ir import Function, Graph, Node
from .axis_map import PassesAxes
from .rules import KeepsShape, OperatorRules, Total, describes, rules_of


@describes(
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
    # Of onnxruntime's own operators.
    "com.microsoft::BiasDropout",
    "com.microsoft::BitmaskBiasDropout",
    "com.microsoft::BitmaskDropout",
    "com.microsoft::Sampling",
)
class Draw(OperatorRules):
    """Operators that draw on every run, whether they have a seed or not."""

    def draws_random_numbers(self, node: Node) -> bool:
        return True


@describes("Dropout")
class Dropout(KeepsShape, PassesAxes):
    """Dropout draws where it trains: unless is_test says otherwise before opset 7, never from 7 to
    11, and by an input from opset 12 on. Its ratio is at least 0 and below 1: onnxruntime 1.32
    refuses others, also in inference."""

    steps: ClassVar[int] = Total.steps

    def prove_safe(self, premises: Premises) -> None:
        """Require a valid ratio."""
        ratio = premises.node.input(1)
        if ratio is not None:
            number = np.array(-1) if ratio.array is None else ratio.array
            require(bool(np.all((number >= 0) & (number < 1))), "its ratio may be out of range")

    def draws_random_numbers(self, node: Node) -> bool:
        """Test for a node that may be in training mode."""
        opset = node.root.opset()
        if opset < 7:
            return node.op.references or not node.attribute("is_test", 0)
        if opset < 12:
            return False
        training = node.input(2)
        return training is not None and (training.array is None or bool(training.array.any()))


def draws_random_numbers(node: Node) -> bool:
    """Test for a random node, regardless of its bodies."""
    return rules_of(node.op).draws_random_numbers(node)


Functions = dict[tuple[str, str, str], Function]


def find_random(graph: Graph, functions: Functions) -> Node | None:
    """The first random node in a graph, its bodies and called model functions, or None."""
    return _find(graph.unordered_nodes(), functions, set())


def find_random_in(node: Node, functions: Functions) -> Node | None:
    """The same for one node: itself, or one inside it or a function that it calls."""
    return _find([node], functions, set())


def _find(nodes: Iterable[Node], functions: Functions, visited: set[Function]) -> Node | None:
    waiting = [iter(nodes)]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            continue
        if draws_random_numbers(node):
            return node
        inside = list(node.graphs())
        function = functions.get(node.op.function_key) if functions else None
        if function is not None and function not in visited:
            visited.add(function)
            inside.append(function.graph)
        waiting += [iter(body.unordered_nodes()) for body in reversed(inside)]
    return None
