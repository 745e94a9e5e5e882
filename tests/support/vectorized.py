"""What tests of vectorized loops share: loops of one row each, and the comparison of results."""

import re

import numpy as np
import onnx
from harness import as_model, assert_equal, run_in_onnxruntime, run_passes
from loops import op_types
from sessions import by_reference
from straightline.passes import HoistInvariants, VectorizeLoops

RNG = np.random.default_rng(7)


ROUNDING = re.compile(
    r"\b(MatMul|Gemm|Einsum|Conv|ConvTranspose"
    r"|Reduce(Sum|Mean|L1|L2|SumSquare|LogSum|LogSumExp|Prod))\b"
)
"""Operators for which the runtime chooses a kernel by the shapes, so that rounding may differ."""


def numbers(*shape):
    return np.asarray(RNG.normal(size=shape), np.float32)


FEED = {"x": numbers(5, 3), "y": numbers(3), "w": numbers(3, 4), "m": numbers(2, 3)}
DECLARED = "float[N, 3] x, float[3] y, float[3, 4] w, float[2, 3] m, int64 n"


def loop(body, out="float r", declared=DECLARED, state=""):
    """A Loop that gives one scan output, computed of row e of x and the iteration number i."""
    return f"""g ({declared}) => (z) <bool yes = {{1}}> {{
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, {out}) {{
            c2 = Identity (c) e = Gather (x, i) {body} }}> }}"""


def vectorized(text, *passes):
    return run_passes(untyped(text), HoistInvariants(), VectorizeLoops(), *passes)


def untyped(text):
    """A model whose graph outputs are declared as what the loop gives."""
    model = as_model(text) if isinstance(text, str) else text
    for output in model.graph.output:
        if not output.type.WhichOneof("value"):
            body = next(a.g for a in model.graph.node[-1].attribute if a.name == "body")
            given = body.output[-1].type.tensor_type
            dims = None
            if given.HasField("shape"):
                dims = [None, *(dim.dim_value or None for dim in given.shape.dim)]
            output.type.CopyFrom(onnx.helper.make_tensor_type_proto(given.elem_type, dims))
    return model


def assert_same(before, after, feed, zero_length_runs=True, exact=False):
    """The reference and onnxruntime each give what they gave before, bit for bit but for MatMul."""
    runs = (by_reference, run_in_onnxruntime) if zero_length_runs else (by_reference,)
    for run in runs:
        for one, other in zip(run(after, feed), run(before, feed), strict=True):
            assert_equal(one, other)
            if exact:
                np.testing.assert_array_equal(one, other)


def assert_vectorizes(text, feed=FEED, lengths=(0, 1, 5), opset=17):
    before = untyped(as_model(text, opset))
    exact = not ROUNDING.search(text)
    result = vectorized(before)
    assert not set(op_types(result.model.graph)) & {"Loop", "Scan"}, result.remarks
    for length in lengths:
        given = {} if length is None else {"n": np.array(length)}
        assert_same(before, result.model, {**feed, **given}, exact=exact)
    return result.model


def why_kept(text, opset=17):
    """Why the pass leaves a loop as it is."""
    result = vectorized(as_model(text, opset))
    (remark,) = [remark for remark in result.kept if remark.pass_name == VectorizeLoops.name]
    return remark.reason
