"""Bodies in bodies."""

from case import BOOL, INT, Case, body, loop, model
from onnx.helper import make_node


def nest(size, wrap):
    """The innermost node, wrapped so many times; messages copy what they are made of, so the
    bodies are put into place from outside in."""
    whole = model([], [("x", [2]), ("c", [], BOOL), ("n", [], INT)], [("y", [2])])
    graph = whole.graph
    for _ in range(size):
        graph = wrap(graph)
    graph.node.append(make_node("Neg", ["x"], ["y"]))
    return whole


def in_branches(size):
    def wrap(graph):
        graph.node.append(make_node("If", ["c"], ["y"]))
        node = graph.node[-1]
        other = body([make_node("Abs", ["x"], ["z"])], [], [("z", [2])])
        node.attribute.append(make_attribute("else_branch", other))
        return inner(node, "then_branch", body([], [], [("y", [2])]))

    return nest(size, wrap)


def in_loops(size):
    def wrap(graph):
        made = loop("n", [], [("x", "v", "y", [2])])
        made.output[0] = "y"
        graph.node.append(made)
        return graph.node[-1].attribute[0].g

    return nest(size, wrap)


def inner(node, name, graph):
    node.attribute.append(make_attribute(name, graph))
    return node.attribute[-1].g


def make_attribute(name, graph):
    from onnx.helper import make_attribute

    return make_attribute(name, graph)


CASES = [
    Case("nest-of-30", in_branches, 30, 30),
    Case("nest-of-loops-of-30", in_loops, 30, 30),
    Case("nest", in_branches, 2_000, 300),
]
