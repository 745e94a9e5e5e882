"""Loops of the algebra of recurrences: which keep a loop over rows, and that numbers stay."""

import itertools

import numpy as np
import onnx
import pytest
from algebra_loops import ASKED, BODIES, FORMS, LENGTHS, feeds, model_of
from harness import run_in_onnxruntime, run_passes
from straightline import reference
from straightline.passes import RaiseRecurrences

CASES = list(itertools.product(BODIES, FORMS, range(3), ASKED))


def over_rows(graph):
    """The loops that are left, without those over doubling distances."""
    loops = [node for node in graph.node if node.op_type in ("Loop", "Scan")]
    bodies = [a.g.name for node in loops for a in node.attribute if a.name == "body"]
    return [name for name in bodies if not name.startswith("doubling")]


@pytest.mark.sample(20)
@pytest.mark.parametrize(
    ("name", "form", "rank", "asked"), CASES, ids=["-".join(map(str, case)) for case in CASES]
)
def test_no_loop_over_rows_is_left(name, form, rank, asked):
    model = onnx.parser.parse_model(model_of(name, form, rank, asked))
    result = run_passes(model, RaiseRecurrences())
    assert not over_rows(result.model.graph), result.remarks
    for length in LENGTHS if form != "constant" else LENGTHS[-1:]:
        fed = feeds(model, length)
        # onnxruntime has no Where of truth values, and fails in a Scan over nothing.
        run = reference.run if "bool" in BODIES[name].kind or not length else run_in_onnxruntime
        for one, other in zip(run(result.model, fed), run(model, fed), strict=True):
            assert one.shape == other.shape
            near = 0.02 if one.dtype == np.float16 else 1e-4
            np.testing.assert_allclose(one, other, rtol=near, atol=near)
