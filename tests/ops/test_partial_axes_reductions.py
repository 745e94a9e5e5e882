"""Reductions of parts of an axis: masked, or by sums that iterations share."""

import numpy as np
import pytest
from harness import as_model
from loops import op_types
from vectorized import assert_same, numbers, vectorized

TEXT = """g (float[N, 2] x, int64 n) => (float[M, 2] z) <int64[1] at = {{0}}, int64[1] k1 = {{1}},
        int64[1] width = {{{width}}}, int64 one = {{1}}, bool yes = {{1}}> {{
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2] r) {{
        c2 = Identity (c) s1 = Unsqueeze (i, at) t1 = Add (s1, width)
        part = Slice (x, {bounds}) {body} }}> }}"""
KINDS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "SumSquare")


@pytest.mark.sample(7)
@pytest.mark.parametrize("bounds", ["s1, t1, at", "at, t1, at"])
@pytest.mark.parametrize("kind", KINDS)
def test_parts(kind, bounds):
    """Windows of three rows, which the end cuts, and prefixes."""
    axes, given = ("", "part, at") if kind == "Sum" else ("axes = [0], ", "part")
    body = f"r = Reduce{kind} <{axes}keepdims = 0> ({given})"
    model = as_model(TEXT.format(width=3, bounds=bounds, body=body))
    result = vectorized(model)
    loops = [node for node in result.model.graph.node if node.op_type == "Loop"]
    assert all(node.attribute[0].g.name == "doubling" for node in loops), result.remarks
    for length, n in ((5, 3), (4, 4), (6, 0)):
        assert_same(model, result.model, {"x": numbers(length, 2), "n": np.array(n)})


def test_a_reduction_of_the_other_axis_first():
    """Rows are reduced before their windows are joined."""
    body = "r = ReduceSum <keepdims = 0> (part)"
    text = TEXT.format(width=4, bounds="s1, t1, at", body=body).replace("[M, 2]", "[M]")
    model = as_model(text.replace("float[2] r", "float r"))
    result = vectorized(model).model
    assert "Loop" not in op_types(result.graph)
    for length, n in ((7, 4), (3, 5), (0, 2)):
        assert_same(model, result, {"x": numbers(length, 2), "n": np.array(n)})
