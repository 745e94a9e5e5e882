"""Chains: one node after the other, where each may make a pass look at all before it."""

import itertools

import numpy as np
from case import BOOL, INT, Case, body, model, tensor
from onnx.helper import make_node

FLAT = ("rewrite", "convert")


def chain(make, inputs=(), outputs=None, initializers=(), shape=(2, 2)):
    """The maker of a chain: `make` returns the nodes of a link from a name to another name."""

    def made(size):
        names = ["x", *(f"v{k}" for k in range(1, size)), "y"]
        nodes = [
            node
            for k, (before, after) in enumerate(itertools.pairwise(names))
            for node in make(before, after, k)
        ]
        ends = outputs or [("y", list(shape))]
        stored = [tensor(name, array) for name, array in initializers]
        return model(nodes, [("x", list(shape)), *inputs], ends, stored)

    return made


def single(op_type, *more, **attributes):
    """A link of one node that reads the value before and some others."""
    return lambda before, after, k: [make_node(op_type, [before, *more], [after], **attributes)]


def turned(op_type, *sides, **attributes):
    """A link of one node whose last input takes turns."""
    return lambda before, after, k: [
        make_node(op_type, [before, sides[k % len(sides)]], [after], **attributes)
    ]


def branch(before, after, k):
    """An If with a condition of its own."""
    two = {
        name: body([make_node(op, [before], ["z"])], [], [("z", [2, 2])])
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    return [
        make_node("ReduceMax", [before], [f"m{k}"], keepdims=0),
        make_node("Cast", [f"m{k}"], [f"c{k}"], to=BOOL),
        make_node("If", [f"c{k}"], [after], **two),
    ]


def resized(before, after, k):
    """A Reshape to the shape that the value has, which the model computes."""
    return [
        make_node("Shape", [before], [f"s{k}"]),
        make_node("Gather", [f"s{k}", "zero"], [f"g{k}"], axis=0),
        make_node("Concat", [f"g{k}", "rest"], [f"t{k}"], axis=0),
        make_node("Reshape", [before, f"t{k}"], [after]),
    ]


def split(before, after, k):
    """A Split that is put together the other way round."""
    return [
        make_node("Split", [before], [f"a{k}", f"b{k}"], axis=0),
        make_node("Concat", [f"b{k}", f"a{k}"], [after], axis=0),
    ]


def squeezed(before, after, k):
    return [
        make_node("Unsqueeze", [before, "zero"], [f"u{k}"]),
        make_node("Squeeze", [f"u{k}", "zero"], [after]),
    ]


def guarded(before, after, k):
    return [
        make_node("Greater", [before, "k"], [f"c{k}"]),
        make_node("Where", [f"c{k}", before, "k"], [after]),
    ]


OPEN = ("N", 2)
ONE = np.array([1], np.int64)
FLOATS = ("k", np.full((2, 2), 0.5, np.float32))
LIMITS = (("low", np.float32(0)), ("high", np.float32(6)))
INTS = (("zero", 0 * ONE), ("one", ONE), ("minus", -ONE), ("rest", 2 * ONE))
LONG = (*INTS, ("far", np.array([2**40], np.int64)))

CASES = [
    Case("ifs-chain", chain(branch), 1_000, 50),
    Case("concat-chain", chain(single("Concat", "k", axis=0), (), [("y", ["M", 2])], [FLOATS]), 3_000, 100),
    Case("concat-open", chain(single("Concat", "x", axis=0), (), [("y", ["M", 2])], shape=OPEN), 3_000, 100),
    Case("concat-sides", chain(lambda a, b, k: [make_node("Concat", [a, "k"] if k % 2 else ["k", a], [b], axis=0)], (), [("y", ["M", 2])], [FLOATS]), 3_000, 100),
    Case("clip-chain", chain(single("Clip", "low", "high"), initializers=LIMITS), 20_000, 500),
    Case("add-chain", chain(single("Add", "k"), initializers=[FLOATS]), 10_000, 500),
    Case("mul-chain", chain(single("Mul", "k"), initializers=[FLOATS]), 10_000, 500),
    Case("sub-chain", chain(lambda a, b, k: [make_node("Sub", ["k", a], [b])], initializers=[FLOATS]), 10_000, 500),
    Case("add-open", chain(single("Add", "x"), shape=OPEN), 10_000, 500),
    Case("integer-add", chain(single("Add", "n"), [("n", [1], INT)], [("y", [2, 2], INT)]), 10_000, 500),
    Case("max-chain", chain(single("Max", "k"), initializers=[FLOATS]), 10_000, 500),
    Case("relu-chain", chain(single("Relu")), 10_000, 500),
    Case("where-chain", chain(guarded, initializers=[FLOATS]), 5_000, 200),
    Case("transpose-chain", chain(single("Transpose", perm=[1, 0])), 10_000, 500),
    Case("reshape-chain", chain(turned("Reshape", "flat", "square"), initializers=[("flat", np.array([4])), ("square", np.array([2, 2]))], outputs=[("y", None)]), 10_000, 500),
    Case("reshape-shapes", chain(resized, initializers=INTS, shape=OPEN), 3_000, 100),
    Case("squeeze-chain", chain(squeezed, initializers=INTS), 5_000, 200),
    Case("slices", chain(single("Slice", "one", "far", "zero"), (), [("y", ["M", 2])], LONG, ("N", 2)), 3_000, 100),
    Case("slices-known", chain(single("Slice", "one", "far", "zero"), (), [("y", ["M", 2])], LONG, (100_000, 2)), 3_000, 100),
    Case("slices-back", chain(single("Slice", "zero", "minus", "zero"), (), [("y", ["M", 2])], LONG, ("N", 2)), 3_000, 100),
    Case("gather-chain", chain(single("Gather", "p", axis=0), initializers=[("p", np.array([1, 0]))]), 5_000, 200),
    Case("pad-chain", chain(single("Pad", "pads"), (), [("y", ["M", 2])], [("pads", np.array([0, 0, 1, 0]))], OPEN), 3_000, 100),
    Case("split-chain", chain(split), 3_000, 100),
    Case("expand-chain", chain(single("Expand", "square"), initializers=[("square", np.array([2, 2]))]), 5_000, 200),
    Case("cast-chain", chain(lambda a, b, k: [make_node("Cast", [a], [f"c{k}"], to=11), make_node("Cast", [f"c{k}"], [b], to=1)]), 5_000, 200),
    Case("matmul-chain", chain(single("MatMul", "k"), initializers=[FLOATS]), 3_000, 100),
    Case("matmul-open", chain(single("MatMul", "w"), [("w", [2, 2])], shape=OPEN), 3_000, 100),
    Case("gemm-chain", chain(single("Gemm", "k", "k"), initializers=[FLOATS]), 3_000, 100),
    Case("einsum-chain", chain(single("Einsum", "w", equation="ij,jk->ik"), [("w", [2, 2])], shape=OPEN), 2_000, 50),
    Case("softmax-chain", chain(single("Softmax", axis=1)), 3_000, 100),
    Case("diamond", chain(lambda a, b, k: [make_node("Add", [a, a], [b])]), 200, 50),
    Case("diamond-products", chain(lambda a, b, k: [make_node("Mul", [a, a], [b])]), 200, 50),
    Case("diamond-integers", chain(lambda a, b, k: [make_node("Mul", [a, a], [f"m{k}"]), make_node("Add", [f"m{k}", a], [b])], (), [("y", [2, 2], INT)]), 200, 20),
    Case("diamond-concat", chain(lambda a, b, k: [make_node("Concat", [a, a], [f"m{k}"], axis=0), make_node("Slice", [f"m{k}", "one", "minus", "zero"], [b])], (), [("y", ["M", 2])], INTS, OPEN), 60, 15),
    Case("diamond-where", chain(lambda a, b, k: [make_node("Neg", [a], [f"m{k}"]), make_node("Greater", [a, f"m{k}"], [f"c{k}"]), make_node("Where", [f"c{k}", a, f"m{k}"], [b])]), 300, 50),
    Case("wide-concat", lambda size: model([make_node("Concat", ["x"] * size, ["y"], axis=0)], [("x", ["N", 2])], [("y", ["M", 2])]), 20_000, 500),
    Case("wide-sum", lambda size: model([make_node("Sum", ["x"] * size, ["y"])], [("x", ["N", 2])], [("y", ["N", 2])]), 20_000, 500),
    Case("many-outputs", lambda size: model([make_node("Add", ["x", f"y{k - 1}" if k else "x"], [f"y{k}"]) for k in range(size)], [("x", [2])], [(f"y{k}", [2]) for k in range(size)]), 3_000, 100),
]
