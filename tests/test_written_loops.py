"""Loops as people write them: accelerate leaves no loop over rows, and the same numbers."""

import numpy as np
import pytest
from harness import run_in_onnxruntime
from loops import op_types
from straightline import reference, rewrite
from straightline.reference import EvaluationError
from written_loops import CASES

LENGTHS = (0, 1, 2, 7, 37)
KEPT = {"frames_split": "a Split of a frame that may be short"}
"""The loops that stay, and what stands in the way."""


def loops(graph):
    """The loops of a graph, but for those over doubling distances."""
    for node in graph.node:
        bodies = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
        if node.op_type in ("Loop", "Scan") and bodies[0].name != "doubling":
            yield node
        for body in bodies:
            yield from loops(body)


@pytest.mark.sample(5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_loop_over_rows(case):
    made = rewrite(case.model, "accelerate", verify=False)
    assert bool(list(loops(made.graph))) is (case.name in KEPT), list(op_types(made.graph))
    for length in LENGTHS:
        feed = case.feeds(length)
        try:
            expected = reference.run(case.model, feed)
        except EvaluationError:
            assert not length
            continue
        for run in (reference.run, run_in_onnxruntime) if length else (reference.run,):
            for one, other in zip(run(made, feed), expected, strict=True):
                assert one.shape == other.shape
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
