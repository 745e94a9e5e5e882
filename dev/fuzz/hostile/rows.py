"""Loops over rows: nested, one after the other, with many states, of many iterations."""

import numpy as np
from case import BOOL, INT, Case, body, model, tensor
from onnx.helper import make_attribute, make_node

SIZES = [f"n{k}" for k in range(30)]


def _inner(node, name, graph):
    node.attribute.append(make_attribute(name, graph))
    return node.attribute[-1].g


def nested_loops(depth, known=None):
    """Loops in each other, each over the rows of a row of the one around."""
    shape = [known or size for size in SIZES[:depth]]
    whole = model([], [("x", shape)], [("y0", list(shape))], [tensor("zero", np.array(0))])
    graph = whole.graph
    for level in range(depth):
        x = f"x{level}" if level else "x"
        graph.node.extend(
            [
                make_node("Shape", [x], [f"s{level}"]),
                make_node("Gather", [f"s{level}", "zero"], [f"t{level}"]),
                make_node("Loop", [f"t{level}", ""], [f"y{level}"]),
            ]
        )
        rows = body(
            [],
            [(f"i{level}", [], INT), (f"c{level}", [], BOOL)],
            [(f"c{level}", [], BOOL), (f"y{level + 1}", shape[level + 1 :])],
        )
        rows.output[0].name = f"d{level}"
        graph = _inner(graph.node[-1], "body", rows)
        graph.node.append(make_node("Identity", [f"c{level}"], [f"d{level}"]))
        graph.node.append(make_node("Gather", [x, f"i{level}"], [f"x{level + 1}"]))
    graph.node.append(make_node("Neg", [f"x{depth}"], [f"y{depth}"]))
    return whole


def nested_states(depth):
    """Loops in each other, each over the rows of one value, which carry a sum."""
    whole = model([], [("x", ["n", 2]), ("a0", [2])], [("b0", [2])], [tensor("zero", np.array(0))])
    graph = whole.graph
    graph.node.extend([make_node("Shape", ["x"], ["s"]), make_node("Gather", ["s", "zero"], ["t"])])
    for level in range(depth):
        graph.node.append(make_node("Loop", ["t", "", f"a{level}"], [f"b{level}"]))
        rows = body(
            [],
            [(f"i{level}", [], INT), (f"c{level}", [], BOOL), (f"p{level}", [2])],
            [(f"d{level}", [], BOOL), (f"b{level + 1}", [2])],
        )
        graph = _inner(graph.node[-1], "body", rows)
        graph.node.append(make_node("Identity", [f"c{level}"], [f"d{level}"]))
        graph.node.append(make_node("Gather", ["x", f"i{level}"], [f"r{level}"]))
        graph.node.append(make_node("Add", [f"p{level}", f"r{level}"], [f"a{level + 1}"]))
    graph.node.append(make_node("Tanh", [f"a{depth}"], [f"b{depth}"]))
    return whole


def nested_scans(depth):
    """Scans in each other over the rows of a row."""
    shape = SIZES[:depth]
    whole = model([], [("x0", shape)], [("y0", list(shape))])
    graph = whole.graph
    for level in range(depth):
        graph.node.append(make_node("Scan", [f"x{level}"], [f"y{level}"], num_scan_inputs=1))
        inside = shape[level + 1 :]
        rows = body([], [(f"x{level + 1}", inside)], [(f"y{level + 1}", inside)])
        graph = _inner(graph.node[-1], "body", rows)
    graph.node.append(make_node("Neg", [f"x{depth}"], [f"y{depth}"]))
    return whole


def in_branches(depth):
    """Loops over rows in branches in loops."""
    whole = model([], [("x", ["n", 2]), ("a0", [2])], [("b0", [2])], [tensor("zero", np.array(0))])
    graph = whole.graph
    graph.node.extend([make_node("Shape", ["x"], ["s"]), make_node("Gather", ["s", "zero"], ["t"])])
    for level in range(depth):
        graph.node.append(make_node("Loop", ["t", "", f"a{level}"], [f"b{level}"]))
        rows = body(
            [],
            [(f"i{level}", [], INT), (f"c{level}", [], BOOL), (f"p{level}", [2])],
            [(f"d{level}", [], BOOL), (f"e{level}", [2])],
        )
        graph = _inner(graph.node[-1], "body", rows)
        graph.node.extend(
            [
                make_node("Identity", [f"c{level}"], [f"d{level}"]),
                make_node("Gather", ["x", f"i{level}"], [f"r{level}"]),
                make_node("Add", [f"p{level}", f"r{level}"], [f"a{level + 1}"]),
                make_node("ReduceMax", [f"r{level}"], [f"m{level}"], keepdims=0),
                make_node("Cast", [f"m{level}"], [f"q{level}"], to=BOOL),
                make_node("If", [f"q{level}"], [f"e{level}"]),
            ]
        )
        node = graph.node[-1]
        other = body([make_node("Neg", [f"a{level + 1}"], [f"f{level}"])], [], [(f"f{level}", [2])])
        node.attribute.append(make_attribute("else_branch", other))
        graph = _inner(node, "then_branch", body([], [], [(f"b{level + 1}", [2])]))
    graph.node.append(make_node("Tanh", [f"a{depth}"], [f"b{depth}"]))
    return whole


def running(x, out, k, iterations="t"):
    """A Loop that carries a running sum of rows and stacks it."""
    nodes = [
        make_node("Identity", ["c"], ["d"]),
        make_node("Gather", [x, "i"], ["r"]),
        make_node("Add", ["a", "r"], ["b"]),
        make_node("Identity", ["b"], ["e"]),
    ]
    inside = body(
        nodes,
        [("i", [], INT), ("c", [], BOOL), ("a", [2])],
        [("d", [], BOOL), ("b", [2]), ("e", [2])],
    )
    return make_node("Loop", [iterations, "", "a0"], [f"last{k}", out], body=inside)


def mapped(x, out, k, iterations="t"):
    """A Loop that maps rows."""
    nodes = [
        make_node("Identity", ["c"], ["d"]),
        make_node("Gather", [x, "i"], ["r"]),
        make_node("Neg", ["r"], ["e"]),
    ]
    inside = body(nodes, [("i", [], INT), ("c", [], BOOL)], [("d", [], BOOL), ("e", [2])])
    return make_node("Loop", [iterations, ""], [out], body=inside)


def recurrent(x, out, k, iterations="t"):
    """A Loop with a recurrence that no operator has."""
    nodes = [
        make_node("Identity", ["c"], ["d"]),
        make_node("Gather", [x, "i"], ["r"]),
        make_node("Sin", ["a"], ["p"]),
        make_node("Add", ["p", "r"], ["b"]),
        make_node("Identity", ["b"], ["e"]),
    ]
    inside = body(
        nodes,
        [("i", [], INT), ("c", [], BOOL), ("a", [2])],
        [("d", [], BOOL), ("b", [2]), ("e", [2])],
    )
    return make_node("Loop", [iterations, "", "a0"], [f"last{k}", out], body=inside)


def loops(make, chained, size, iterations=None):
    """Loops over the rows of x, or each over those that the one before made."""
    nodes, before = [], "x"
    if not iterations:
        nodes.append(make_node("Shape", ["x"], ["s"]))
        nodes.append(make_node("Gather", ["s", "zero"], ["t"]))
    for k in range(size):
        nodes.append(make(before, f"o{k}", k))
        before = f"o{k}" if chained else "x"
    nodes.append(make_node("Sum", [f"o{k}" for k in range(size)], ["y"]))
    n = iterations or "n"
    stored = [
        tensor("zero", np.array(0)),
        *([tensor("t", np.array(iterations))] if iterations else []),
    ]
    return model(nodes, [("x", [n, 2]), ("a0", [2])], [("y", [n, 2])], stored)


def states(size, iterations=None):
    """A Loop whose states each read the two before."""
    nodes = [make_node("Identity", ["c"], ["d"])]
    nodes += [make_node("Add", [f"a{k}", f"a{(k + 1) % size}"], [f"b{k}"]) for k in range(size)]
    inside = body(
        nodes,
        [("i", [], INT), ("c", [], BOOL), *((f"a{k}", [2]) for k in range(size))],
        [("d", [], BOOL), *((f"b{k}", [2]) for k in range(size))],
    )
    loop_ = make_node("Loop", ["t", "", *["x"] * size], [f"o{k}" for k in range(size)], body=inside)
    total = make_node("Sum", [f"o{k}" for k in range(size)], ["y"])
    if iterations:
        return model(
            [loop_, total], [("x", [2])], [("y", [2])], [tensor("t", np.array(iterations))]
        )
    return model([loop_, total], [("x", [2]), ("t", [], INT)], [("y", [2])])


def long_body(size):
    """A Loop with a long recurrence."""
    nodes = [make_node("Identity", ["c"], ["d"])]
    names = ["a", *(f"v{k}" for k in range(size - 1)), "b"]
    for k in range(size):
        nodes.append(make_node(("Sin", "Tanh", "Neg", "Exp")[k % 4], [names[k]], [names[k + 1]]))
    inputs = [("i", [], INT), ("c", [], BOOL), ("a", [2])]
    inside = body(nodes, inputs, [("d", [], BOOL), ("b", [2])])
    node = make_node("Loop", ["t", "", "x"], ["y"], body=inside)
    return model([node], [("x", [2]), ("t", [], INT)], [("y", [2])])


def long_iterations(size):
    """A Loop of many iterations over a recurrence."""
    return loops(recurrent, False, 1, iterations=size)


def captured(depth):
    """Loops in each other whose innermost node reads what each level gives."""
    whole = model([], [("x0", [2]), ("t", [], INT)], [("y0", [2])])
    graph = whole.graph
    for level in range(depth):
        graph.node.append(make_node("Loop", ["t", "", f"x{level}"], [f"y{level}"]))
        rows = body(
            [],
            [(f"i{level}", [], INT), (f"c{level}", [], BOOL), (f"x{level + 1}", [2])],
            [(f"d{level}", [], BOOL), (f"y{level + 1}", [2])],
        )
        graph = _inner(graph.node[-1], "body", rows)
        graph.node.append(make_node("Identity", [f"c{level}"], [f"d{level}"]))
    graph.node.append(make_node("Sum", [f"x{k}" for k in range(depth + 1)], [f"y{depth}"]))
    return whole


CASES = [
    Case("rows-nested", nested_loops, 24, 5),
    Case("rows-nested-known", lambda depth: nested_loops(depth, 3), 24, 5),
    Case("sums-nested", nested_states, 24, 5),
    Case("scans-nested", nested_scans, 24, 5),
    Case("branches-nested", in_branches, 12, 4),
    Case("captures-nested", captured, 24, 5),
    Case("maps", lambda size: loops(mapped, False, size), 200, 20),
    Case("maps-chained", lambda size: loops(mapped, True, size), 200, 20),
    Case("sums", lambda size: loops(running, False, size), 200, 20),
    Case("sums-chained", lambda size: loops(running, True, size), 200, 20),
    Case("recurrences", lambda size: loops(recurrent, False, size), 200, 20),
    Case("recurrences-chained", lambda size: loops(recurrent, True, size), 200, 20),
    Case("states", states, 1_000, 50),
    Case("states-known", lambda size: states(size, 5), 500, 50),
    Case("long-body", long_body, 2_000, 100),
    Case("long-iterations", long_iterations, 10_000, 100),
]
