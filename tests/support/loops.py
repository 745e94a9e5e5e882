"""What the tests of Loops share: texts of models, and the check that no Loop is left."""

import numpy as np
from harness import as_model, assert_equal, assert_equal_outputs, run_passes
from straightline import reference
from straightline.passes import EliminateDeadNodes, UnrollLoops
from straightline.passes.control.predicate_loops import PredicateLoops

X = {"x": np.array([1, -2], np.float32)}
NEGATE = """<body = b (int64 i, bool c, float[2] a) => (bool c2, float[2] r) {
    c2 = Identity (c) r = Neg (a)
}>"""


def op_types(graph):
    """The operators of a graph and of all graphs inside it."""
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            yield from op_types(attribute.g)


def assert_unrolls(text, *feeds, head="", break_without_cond=False, **options):
    """Check that no Loop is left and nothing kept, and that outputs are equal; the result."""
    before = as_model(head + text)
    result = run_passes(before, UnrollLoops(**options), EliminateDeadNodes())
    assert result.kept == ()
    assert "Loop" not in op_types(result.model.graph)
    for feed in feeds:
        if break_without_cond:
            expected = reference.run(before, feed, break_without_cond=True)
            assert_equal(reference.run(result.model, feed), expected)
        else:
            assert_equal_outputs(before, result.model, feed)
    return result.model


def assert_predicates(text, feeds, **options):
    """Check that predicate-loops leaves no Loop, and that outputs are equal on every feed."""
    result = run_passes(text, PredicateLoops(**options))
    assert not any(node.op_type == "Loop" for node in result.model.graph.node), result.remarks
    for feed in feeds:
        assert_equal_outputs(text, result.model, feed)
