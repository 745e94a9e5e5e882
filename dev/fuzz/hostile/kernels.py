"""Constants of a few KB that take minutes to compute."""

import numpy as np
from case import BOOL, STRING, Case, body, model, tensor
from onnx.helper import make_node


def pooled(size):
    """MaxPool with a large window over a constant, under an If that asks for it."""
    nodes = [
        make_node("Expand", ["k", "s"], ["e"]),
        make_node("MaxPool", ["e"], ["p"], kernel_shape=[size, size], pads=[size // 2] * 4),
        make_node("ReduceMax", ["p"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [tensor("k", np.ones(1, np.float32)), tensor("s", [1, 1, 500, 500])]
    return model(nodes, [("x", [])], [("y", [])], stored)


def convolved(size):
    nodes = [
        make_node("Conv", ["k", "w"], ["p"], pads=[size // 2] * 4),
        make_node("ReduceMax", ["p"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [
        tensor("k", np.ones((1, 4, 250, 250), np.float32)),
        tensor("w", np.ones((4, 4, size, size), np.float32)),
    ]
    return model(nodes, [("x", [])], [("y", [])], stored)


def matched(size):
    """A regular expression that backtracks for ever."""
    branches = {
        name: body([make_node(op, ["x"], ["z"])], [], [("z", [])])
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    nodes = [
        make_node("RegexFullMatch", ["k"], ["b"], pattern="(a+)+$"),
        make_node("If", ["b"], ["y"], **branches),
    ]
    stored = [tensor("k", np.array("a" * size + "b", object))]
    return model(nodes, [("x", [])], [("y", [])], stored, opset=20)


def suppressed(size):
    rng = np.random.default_rng(0)
    boxes = rng.random((1, size, 4), dtype=np.float32)
    nodes = [
        make_node("NonMaxSuppression", ["boxes", "scores", "most"], ["s"]),
        make_node("Cast", ["s"], ["f"], to=1),
        make_node("ReduceMax", ["f"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [
        tensor("boxes", boxes),
        tensor("scores", rng.random((1, 1, size), dtype=np.float32)),
        tensor("most", [size]),
    ]
    return model(nodes, [("x", [])], [("y", [])], stored)


def multiplied(size):
    """A product of two constants whose inner axis is long, and an outer product of many letters."""
    nodes = [
        make_node("Einsum", ["k", "k", "k", "k"], ["e"], equation="ab,bc,cd,de->ae"),
        make_node("ReduceMax", ["e"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [tensor("k", np.ones((size, size), np.float32))]
    return model(nodes, [("x", [])], [("y", [])], stored)


def resized(size):
    nodes = [
        make_node("Resize", ["k", "", "", "s"], ["e"], mode="cubic"),
        make_node("ReduceMax", ["e"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [tensor("k", np.ones((1, 1, 8, 8), np.float32)), tensor("s", [1, 1, size, size])]
    return model(nodes, [("x", [])], [("y", [])], stored)


def sampled(size):
    nodes = [
        make_node("GridSample", ["k", "grid"], ["e"], mode="bicubic"),
        make_node("ReduceMax", ["e"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [
        tensor("k", np.ones((1, 1, 8, 8), np.float32)),
        tensor("grid", np.zeros((1, size, size, 2), np.float32)),
    ]
    return model(nodes, [("x", [])], [("y", [])], stored)


def recurrent(size):
    nodes = [
        make_node("LSTM", ["k", "w", "r"], ["e"], hidden_size=64),
        make_node("ReduceMax", ["e"], ["m"], keepdims=0),
        make_node("Add", ["x", "m"], ["y"]),
    ]
    stored = [
        tensor("k", np.ones((size, 1, 1), np.float32)),
        tensor("w", np.ones((1, 256, 1), np.float32)),
        tensor("r", np.ones((1, 256, 64), np.float32)),
    ]
    return model(nodes, [("x", [])], [("y", [])], stored)


def split(size):
    """A string with as many parts as letters, in many rows."""
    nodes = [
        make_node("StringSplit", ["k"], ["s", "n"], delimiter="a"),
        make_node("StringConcat", ["x", "s"], ["y"]),
    ]
    stored = [tensor("k", np.array(["a" * size, *["b"] * size], object))]
    return model(nodes, [("x", [1], STRING)], [("y", ["r", "c"], STRING)], stored, opset=20)


def kept_out(size):
    """What is refused for its cost keeps an If that depends on it."""
    whole = pooled(size)
    two = {
        name: body([make_node(op, ["x"], ["z"])], [], [("z", [])])
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    del whole.graph.node[-1]
    whole.graph.node.append(make_node("Cast", ["m"], ["b"], to=BOOL))
    whole.graph.node.append(make_node("If", ["b"], ["y"], **two))
    return whole


CASES = [
    Case("pooled-constant", pooled, 31, 31),
    Case("pooled-constant-decides", kept_out, 31, 31),
    Case("convolved-constant", convolved, 31, 31),
    Case("regular-expression", matched, 40, 40, ("inspect", "rewrite")),
    Case("suppressed-boxes", suppressed, 4_000, 500, ("inspect", "rewrite")),
    Case("einsum", multiplied, 500, 500, ("inspect", "rewrite")),
    Case("resized-constant", resized, 500, 500, ("inspect", "rewrite")),
    Case("sampled-constant", sampled, 300, 300, ("inspect", "rewrite")),
    Case("recurrent-constant", recurrent, 100_000, 100_000, ("inspect", "rewrite")),
    Case("split-string", split, 20_000, 20_000, ("inspect", "rewrite")),
]
