"""What the tests of sequences share: two inputs, and the check of a lowered model."""

import numpy as np
from harness import assert_rewrites
from straightline import ir
from straightline.passes import EliminateDeadNodes
from straightline.passes.sequences.lower_sequences import LowerSequences

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
LOWER = [LowerSequences(), EliminateDeadNodes()]
TWO = {"a": np.array([1, -2], np.float32), "b": np.array([3, 4], np.float32)}


def sequence_operators(model):
    return [
        node.op_type
        for graph in ir.load(model).graphs()
        for node in graph.nodes()
        if "Sequence" in node.op_type or "Optional" in node.op_type
    ]


def lowers(before, after, feeds=()):
    assert_rewrites(LOWER, HEAD + before, HEAD + after, feeds)
