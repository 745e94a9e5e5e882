"""Branches of Ifs whose results another node refuses, so that the model fails.

    q = If (single) <then: Squeeze (x, two), else: Identity (x)>     # x: rank 3
    y = LSTM (Unsqueeze (q, zero), w, r)                             # refuses rank 4

Inputs on which a model fails are no concern of a rewrite, so such an If takes its other branch.
"""

from collections.abc import Mapping

from ...facts.fact import UNKNOWN, Fact
from ...ir import Graph, Node, Value
from ...ir.subgraph_arity import BRANCHES
from ...ops import rules_of
from ..shapes.inference import ShapeInference

_MOST_NODES = 64
"""Limit of nodes after an If that are inferred anew."""


def refused_branch(node: Node, inference: ShapeInference) -> tuple[str, Node] | None:
    """The branch in which, or whose results, a node certainly refuses, and that node.

    None if there is none, or if both are refused.
    """
    graph, bodies = node.graph, [node.body(name) for name in BRANCHES]
    # A known condition decides by itself, also where all fails after it.
    condition = node.inputs[0]
    if graph is None or condition is None or inference.fact(condition).truth is not None:
        return None
    results = [[inference.fact(value) for value in body.outputs] for body in bodies]
    refusing = [_failing(body, inference) for body in bodies]
    if any(map(_differ, *results)):
        after = [_refusing(graph, node, facts, inference) for facts in results]
        refusing = [one or other for one, other in zip(refusing, after, strict=True)]
    pairs = [(name, one) for name, one in zip(BRANCHES, refusing, strict=True) if one is not None]
    return pairs[0] if len(pairs) == 1 else None


def _differ(one: Fact, other: Fact) -> bool:
    """Test for different ranks."""
    return one.shape is not None and other.shape is not None and len(one.shape) != len(other.shape)


def _failing(body: Graph, inference: ShapeInference) -> Node | None:
    """The first node of a branch that refuses what it reads there."""
    nodes = (node for node in body.nodes() if _refuses(node, {}, inference))
    return next((node for node in nodes if body in body.dependents([node])), None)


def _refusing(
    graph: Graph, node: Node, results: list[Fact], inference: ShapeInference
) -> Node | None:
    """The first node of use that refuses the results of a branch."""
    facts: dict[Value, Fact] = {}
    for value, fact in zip(node.outputs, results, strict=False):
        if value is not None:
            facts[value] = fact
    after, visited = graph.dependents([node]), 0
    for user in graph.nodes():
        if user is node or user not in after:
            continue
        visited += 1
        if visited > _MOST_NODES:
            break
        if _refuses(user, facts, inference) and graph in graph.dependents([user]):
            return user
        outputs = [] if user.op.references else inference.supposing(user, facts)
        for index, value in enumerate(user.outputs):
            if value is not None:
                facts[value] = outputs[index] if index < len(outputs) else UNKNOWN
    return None


def _refuses(node: Node, facts: Mapping[Value, Fact], inference: ShapeInference) -> bool:
    if node.op.references or node.op.function_key in inference.model.functions:
        return False
    shapes = [None if v is None else (facts.get(v) or inference.fact(v)).shape for v in node.inputs]
    return rules_of(node.op).refuses(node.op, [None if s is None else len(s) for s in shapes])
