"""Constants that grow, or are many, where each is computed before run time."""

import itertools

import numpy as np
from case import INT, STRING, Case, loop, model, tensor
from onnx.helper import make_node

KIND = 100_000


def iterations(size):
    """400 KB on each of so many iterations, each another content."""
    inner = [make_node("Add", ["v", "one"], ["w"])]
    nodes = [loop("n", inner, [("k", "v", "w", [KIND])]), make_node("Add", ["x", "w_out"], ["y"])]
    stored = [
        tensor("k", np.zeros(KIND, np.float32)),
        tensor("one", np.ones(1, np.float32)),
        tensor("n", size),
    ]
    return model(nodes, [("x", [KIND])], [("y", [KIND])], stored)


def read_iterations(size):
    """The same, and each of them is read by a node that stays."""
    inner = [make_node("Add", ["v", "one"], ["w"]), make_node("Mul", ["s", "w"], ["t"])]
    states = [("k", "v", "w", [KIND]), ("x", "s", "t", [KIND])]
    stored = [
        tensor("k", np.zeros(KIND, np.float32)),
        tensor("one", np.ones(1, np.float32)),
        tensor("n", size),
    ]
    return model([loop("n", inner, states)], [("x", [KIND])], [("t_out", [KIND])], stored)


def same(size):
    """Iterations that each compute the same constant, of something that changes."""
    inner = [
        make_node("Mul", ["i", "zero"], ["z"]),
        make_node("Add", ["z", "k"], ["a"]),
        make_node("Cast", ["a"], ["f"], to=1),
        make_node("Mul", ["s", "f"], ["t"]),
    ]
    stored = [tensor("k", np.arange(KIND)), tensor("zero", 0), tensor("n", size)]
    return model(
        [loop("n", inner, [("x", "s", "t", [KIND])])], [("x", [KIND])], [("t_out", [KIND])], stored
    )


def strings(size):
    """A string that doubles on each iteration."""
    inner = [make_node("StringConcat", ["v", "v"], ["w"])]
    nodes = [
        loop("n", inner, [("k", "v", "w", [1], STRING)]),
        make_node("StringConcat", ["x", "w_out"], ["y"]),
    ]
    stored = [tensor("k", np.array(["ab"], object)), tensor("n", size)]
    return model(nodes, [("x", [1], STRING)], [("y", [1], STRING)], stored, opset=20)


def strings_in_row(size):
    """The same in a row of nodes."""
    names = ["k", *(f"k{k}" for k in range(size))]
    nodes = [make_node("StringConcat", [a, a], [b]) for a, b in itertools.pairwise(names)]
    nodes.append(make_node("StringConcat", ["x", names[-1]], ["y"]))
    stored = [tensor("k", np.array(["ab"], object))]
    return model(nodes, [("x", [1], STRING)], [("y", [1], STRING)], stored, opset=20)


def turns(size):
    """A Loop in a Loop in a Loop, on constants only."""
    deepest = [make_node("Add", ["v3", "one"], ["w3"])]
    inner = loop("n", deepest, [("v2", "v3", "w3", [], INT)])
    middle = loop("n", [inner], [("v1", "v2", "w3_out", [], INT)])
    outer = loop("n", [middle], [("k", "v1", "w3_out_out", [], INT)])
    outer.output[0] = "r"
    nodes = [outer, make_node("Add", ["x", "r"], ["y"])]
    stored = [tensor("k", 0), tensor("one", 1), tensor("n", size)]
    return model(nodes, [("x", [], INT)], [("y", [], INT)], stored)


CASES = [
    Case("folded-iterations", iterations, 2_000, 20, ("inspect", "rewrite")),
    Case("folded-iterations-read", read_iterations, 2_000, 20, ("inspect", "rewrite")),
    Case("folded-iterations-alike", same, 2_000, 20, ("inspect", "rewrite")),
    Case("doubled-strings", strings, 60, 60, ("inspect", "rewrite")),
    Case("doubled-strings-in-a-row", strings_in_row, 60, 60, ("inspect", "rewrite")),
    Case("turns", turns, 1_000, 1_000, ("inspect", "rewrite")),
]
