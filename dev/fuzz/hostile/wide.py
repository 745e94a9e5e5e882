"""Many of one kind: captures, carried values, readers, initializers, bodies in bodies."""

import itertools

import numpy as np
from case import BOOL, INT, Case, body, loop, model, tensor
from onnx.helper import make_node


def captures(size):
    """A Loop whose end run time decides, with a body that captures many values."""
    outer = [make_node("Neg", ["x"], [f"o{k}"]) for k in range(size)]
    inner = [make_node("Sum", ["v", *(f"o{k}" for k in range(size))], ["w"])]
    nodes = [*outer, loop("n", inner, [("x", "v", "w", [2])])]
    return model(nodes, [("x", [2]), ("n", [], INT)], [("w_out", [2])])


def carried(size, iterations="n"):
    """A Loop that carries many values."""
    inner = [make_node("Neg", [f"v{k}"], [f"w{k}"]) for k in range(size)]
    states = [("x", f"v{k}", f"w{k}", [2]) for k in range(size)]
    nodes = [
        loop(iterations, inner, states),
        make_node("Sum", [f"w{k}_out" for k in range(size)], ["y"]),
    ]
    inputs = [("x", [2]), *([("n", [], INT)] if iterations == "n" else [])]
    return model(nodes, inputs, [("y", [2])], [] if iterations == "n" else [tensor(iterations, 3)])


def carried_thrice(size):
    return carried(size, "three")


def readers(size, op_type="Neg"):
    """One value that many nodes read."""
    nodes = [make_node(op_type, ["x"], [f"y{k}"]) for k in range(size)]
    nodes.append(make_node("Sum", [f"y{k}" for k in range(size)], ["y"]))
    return model(nodes, [("x", [2])], [("y", [2])])


def exponentials(size):
    """A sum of as many parts, each of which may begin an activation."""
    return readers(size, "Exp")


def row(size):
    """One node after the other."""
    names = ["x", *(f"y{k}" for k in range(1, size)), "y"]
    nodes = [make_node("Neg", [a], [b]) for a, b in itertools.pairwise(names)]
    return model(nodes, [("x", [2])], [("y", [2])])


def initializers(size):
    """As many initializers, each read once."""
    stored = [tensor(f"k{k}", np.full(2, k, np.float32)) for k in range(size)]
    nodes = [make_node("Sum", ["x", *(f"k{k}" for k in range(size))], ["y"])]
    return model(nodes, [("x", [2])], [("y", [2])], stored)


def branches(size):
    """As many Ifs, one after the other, which run time decides."""
    nodes = []
    for k in range(size):
        inner = [f"x{k}" if k else "x"]
        two = {
            name: body([make_node(op, inner, ["z"])], [], [("z", [2])])
            for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
        }
        nodes.append(make_node("If", ["c"], [f"x{k + 1}"], **two))
    return model(nodes, [("x", [2]), ("c", [], BOOL)], [(f"x{size}", [2])])


CASES = [
    Case("captures", captures, 10_000, 300),
    Case("carried-values", carried, 1_000, 50),
    Case("carried-values-unrolled", carried_thrice, 1_000, 50),
    Case("readers", readers, 100_000, 2_000),
    Case("exponentials", exponentials, 20_000, 1_000),
    Case("row", row, 100_000, 2_000),
    Case("initializers", initializers, 100_000, 2_000),
    Case("branches", branches, 2_000, 50),
]
