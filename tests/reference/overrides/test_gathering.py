"""Reads at indices: the reference against onnxruntime, for batches of any size."""

import numpy as np
import pytest
from harness import as_model, assert_equal, run_in_onnxruntime
from straightline import reference
from straightline.reference import EvaluationError

RNG = np.random.default_rng(4)

CASES = {
    "rows": ("GatherND", 0, (4, 5), (3, 1)),
    "elements": ("GatherND", 0, (4, 5), (2, 3, 2)),
    "one element": ("GatherND", 0, (4, 5), (2,)),
    "no tuples": ("GatherND", 0, (4, 5), (0, 1)),
    "a batch": ("GatherND", 1, (2, 4, 5), (2, 3, 1)),
    "an empty batch": ("GatherND", 1, (0, 4, 5), (0, 3, 1)),
    "one of each": ("GatherND", 1, (3, 4), (3, 1)),
    "two axes of a batch": ("GatherND", 2, (2, 3, 4), (2, 3, 1)),
    "beside": ("GatherElements", 0, (4, 5), (3, 5)),
    "beside a part": ("GatherElements", 1, (4, 5), (2, 7)),
    "beside the last axis": ("GatherElements", -1, (4, 5), (4, 1)),
    "beside nothing": ("GatherElements", 1, (0, 5), (0, 2)),
    "beside many": ("GatherElements", 0, (40, 2), (3, 2)),
}


def case(name):
    op_type, number, data, indices = CASES[name]
    attribute = "batch_dims" if op_type == "GatherND" else "axis"
    dims = [", ".join("?" for _ in shape) for shape in (data, indices)]
    model = as_model(f"""g (float[{dims[0]}] x, int64[{dims[1]}] i) => (float y) {{
            y = {op_type} <{attribute} = {number}> (x, i) }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    x = RNG.normal(size=data).astype(np.float32)
    return model, {"x": x, "i": RNG.integers(-4, 4, size=indices)}


@pytest.mark.parametrize("name", CASES)
def test_reads(name):
    model, feed = case(name)
    assert_equal(reference.run(model, feed), run_in_onnxruntime(model, feed))


@pytest.mark.parametrize("name", ["rows", "beside"])
def test_an_index_out_of_range(name):
    model, feed = case(name)
    with pytest.raises(EvaluationError, match="out of bounds"):
        reference.run(model, feed | {"i": feed["i"] * 0 + 90})
