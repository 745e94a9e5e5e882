"""Chains: one node after the other, where each may make a pass look at all before it."""

import itertools

import numpy as np
from case import BOOL, Case, body, model, tensor
from onnx.helper import make_node


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


def widened(before, after, k):
    """A Concat that takes turns with the side of the value."""
    sides = [before, "k"] if k % 2 else ["k", before]
    return [make_node("Concat", sides, [after], axis=0)]


def subtracted(before, after, k):
    return [make_node("Sub", ["k", before], [after])]


def cast(before, after, k):
    return [
        make_node("Cast", [before], [f"c{k}"], to=11),
        make_node("Cast", [f"c{k}"], [after], to=1),
    ]


def doubled(op_type):
    """A node that reads the value twice: a diamond for each link."""
    return lambda before, after, k: [make_node(op_type, [before, before], [after])]


def polynomial(before, after, k):
    return [
        make_node("Mul", [before, before], [f"m{k}"]),
        make_node("Add", [f"m{k}", before], [after]),
    ]


def halves(before, after, k):
    return [
        make_node("Concat", [before, before], [f"m{k}"], axis=0),
        make_node("Slice", [f"m{k}", "one", "minus", "zero"], [after]),
    ]


def larger(before, after, k):
    return [
        make_node("Neg", [before], [f"m{k}"]),
        make_node("Greater", [before, f"m{k}"], [f"c{k}"]),
        make_node("Where", [f"c{k}", before, f"m{k}"], [after]),
    ]


def wide(op_type, **attributes):
    """The maker of one node that reads a value many times."""

    def made(size):
        node = make_node(op_type, ["x"] * size, ["y"], **attributes)
        return model([node], [("x", ["N", 2])], [("y", ["M", 2])])

    return made


def outputs(size):
    """Nodes in a row, each of which is an output."""
    names = ["x", *(f"y{k}" for k in range(size))]
    nodes = [make_node("Add", ["x", a], [b]) for a, b in itertools.pairwise(names)]
    return model(nodes, [("x", [2])], [(name, [2]) for name in names[1:]])


OPEN = ("N", 2)
GROWS = {"outputs": [("y", ["M", 2])]}
WEIGHT = {"inputs": [("w", [2, 2])], "shape": OPEN}
LONG = (100_000, 2)
STORED = [
    ("k", np.full((2, 2), 0.5, np.float32)),
    ("low", np.float32(0)),
    ("high", np.float32(6)),
    *(
        (name, np.array(numbers, np.int64))
        for name, numbers in {
            "zero": [0],
            "one": [1],
            "minus": [-1],
            "rest": [2],
            "far": [2**40],
            "flat": [4],
            "square": [2, 2],
            "places": [1, 0],
            "pads": [0, 0, 1, 0],
        }.items()
    ),
]

LINKS = {
    "ifs": (branch, 1_000, 50, {}),
    "concat": (single("Concat", "k", axis=0), 3_000, 100, GROWS),
    "concat-open": (single("Concat", "x", axis=0), 3_000, 100, {**GROWS, "shape": OPEN}),
    "concat-sides": (widened, 3_000, 100, GROWS),
    "clip": (single("Clip", "low", "high"), 20_000, 500, {}),
    "add": (single("Add", "k"), 10_000, 500, {}),
    "mul": (single("Mul", "k"), 10_000, 500, {}),
    "sub": (subtracted, 10_000, 500, {}),
    "add-open": (single("Add", "x"), 10_000, 500, {"shape": OPEN}),
    "max": (single("Max", "k"), 10_000, 500, {}),
    "relu": (single("Relu"), 10_000, 500, {}),
    "where": (guarded, 5_000, 200, {}),
    "transpose": (single("Transpose", perm=[1, 0]), 10_000, 500, {}),
    "reshape": (turned("Reshape", "flat", "square"), 10_000, 500, {}),
    "reshape-shapes": (resized, 3_000, 100, {"shape": OPEN}),
    "squeeze": (squeezed, 5_000, 200, {}),
    "slices": (single("Slice", "one", "far", "zero"), 3_000, 100, {**GROWS, "shape": OPEN}),
    "slices-known": (single("Slice", "one", "far", "zero"), 3_000, 100, {**GROWS, "shape": LONG}),
    "slices-back": (single("Slice", "zero", "minus", "zero"), 3_000, 100, {**GROWS, "shape": OPEN}),
    "gather": (single("Gather", "places", axis=0), 5_000, 200, {}),
    "pad": (single("Pad", "pads"), 3_000, 100, {**GROWS, "shape": OPEN}),
    "split": (split, 3_000, 100, {}),
    "expand": (single("Expand", "square"), 5_000, 200, {}),
    "cast": (cast, 5_000, 200, {}),
    "matmul": (single("MatMul", "k"), 3_000, 100, {}),
    "matmul-open": (single("MatMul", "w"), 3_000, 100, WEIGHT),
    "gemm": (single("Gemm", "k", "k"), 3_000, 100, {}),
    "einsum": (single("Einsum", "w", equation="ij,jk->ik"), 2_000, 50, WEIGHT),
    "softmax": (single("Softmax", axis=1), 3_000, 100, {}),
    "diamonds": (doubled("Add"), 200, 50, {}),
    "diamonds-of-products": (doubled("Mul"), 200, 50, {}),
    "diamonds-of-both": (polynomial, 200, 20, {}),
    "diamonds-of-halves": (halves, 60, 15, {**GROWS, "shape": OPEN}),
    "diamonds-of-choices": (larger, 300, 50, {}),
}
"""Links, the size that took too long once, one that is quick, and options of `chain`."""

CASES = [
    *(
        Case(f"chain-of-{name}", chain(link, initializers=STORED, **more), size, quick)
        for name, (link, size, quick, more) in LINKS.items()
    ),
    Case("wide-concat", wide("Concat", axis=0), 20_000, 500),
    Case("wide-sum", wide("Sum"), 20_000, 500),
    Case("many-outputs", outputs, 3_000, 100),
]
