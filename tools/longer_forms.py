"""Nodes that an older opset says in a longer form, or takes of fewer types only.

For each a name, the oldest opset in which the nodes can be written, what they read, as ONNX text
declares it, and the nodes, which compute `y`.
"""

from __future__ import annotations

from typing import NamedTuple

NEWEST = 27


class Case(NamedTuple):
    """Nodes that compute `y`.

    Attributes:
        name: what is special about them.
        since: the oldest opset in which they can be written.
        inputs: what they read.
        nodes: ONNX text.
        until: the newest opset in which they can be written.
        nan: whether it is defined what they make of NaN.
        gives: what they give, where onnx does not infer it.
    """

    name: str
    since: int
    inputs: str
    nodes: str
    until: int = NEWEST
    nan: bool = True
    gives: str = "y"


CASES = [
    Case(
        "Resize, half_pixel, linear",
        11,
        "float[1,2,3,4] x",
        "s = Constant <value = float[4] {1, 1, 2, 1.5}> () r = Constant <value = "
        'float[0] {}> ()y = Resize <mode = "linear"> (x, r, s)',
    ),
    Case(
        "Resize, align_corners, cubic",
        11,
        "float[1,2,3,4] x",
        "s = Constant <value = float[4] {1, 1, 2, 2}> () r = Constant <value = "
        'float[0] {}> ()y = Resize <mode = "cubic", coordinate_transformation_mode = '
        '"align_corners"> (x, r, s)',
    ),
    Case(
        "Resize, nearest, by sizes",
        11,
        "float[1,2,3,4] x",
        "n = Constant <value = int64[4] {1, 2, 6, 8}> () r = Constant <value = "
        'float[0] {}> ()y = Resize <mode = "nearest", coordinate_transformation_mode = '
        '"asymmetric", nearest_mode = "floor"> (x, r, r, n)',
    ),
    Case(
        "GatherND",
        11,
        "float[2,3] x",
        "i = Constant <value = int64[2,2] {0, 1, -1, 2}> () y = GatherND (x, i)",
    ),
    Case(
        "GatherND, batches",
        12,
        "float[2,3] x",
        "i = Constant <value = int64[2,1] {0, 2}> () y = GatherND <batch_dims = 1> (x, i)",
    ),
    Case(
        "GatherND, run-time indices",
        11,
        "float[2,3] x, int64[2,1] k",
        "y = GatherND (x, k)",
    ),
    Case(
        "GatherElements",
        11,
        "float[2,3] x",
        "i = Constant <value = int64[2,2] {0, 1, -1, 2}> ()y = GatherElements <axis = 1> (x, i)",
    ),
    Case(
        "ScatterND",
        11,
        "float[2,3] x, float[2,3] u",
        "i = Constant <value = int64[2,1] {1, 0}> () y = ScatterND (x, i, u)",
    ),
    Case(
        "ScatterElements",
        11,
        "float[2,3] x, float[1,3] u",
        "i = Constant <value = int64[1,3] {1, 0, -1}> () y = ScatterElements (x, i, u)",
    ),
    Case(
        "Pad, run-time pads",
        11,
        "float[2,3] x, int64[4] k",
        "y = Pad (x, k)",
    ),
    Case(
        "TopK, run-time k",
        11,
        "float[2,3] x, int64[1] k",
        "y, i = TopK (x, k)",
        nan=False,
    ),
    Case(
        "TopK, smallest",
        11,
        "float[2,3] x",
        "n = Constant <value = int64[1] {2}> () y, i = TopK <largest = 0> (x, n)",
        nan=False,
    ),
    Case(
        "CumSum",
        11,
        "float[2,3] x",
        "a = Constant <value = int64 {1}> () y = CumSum (x, a)",
    ),
    Case(
        "CumSum, exclusive, reverse",
        11,
        "float[2,3] x",
        "a = Constant <value = int64 {0}> () y = CumSum <exclusive = 1, reverse = 1> (x, a)",
    ),
    Case(
        "Einsum, one input",
        12,
        "float[2,3] x",
        'y = Einsum <equation = "ij->ji"> (x)',
    ),
    Case(
        "Einsum, two inputs",
        12,
        "float[2,3] x, float[4,3] u",
        'y = Einsum <equation = "ij,kj->ik"> (x, u)',
    ),
    Case(
        "ReverseSequence, constant lengths",
        10,
        "float[2,3] x",
        "n = Constant <value = int64[2] {1, 3}> ()y = ReverseSequence <batch_axis = 0, "
        "time_axis = 1> (x, n)",
    ),
    Case(
        "LayerNormalization",
        17,
        "float[2,3] x, float[3] u",
        "y = LayerNormalization (x, u)",
    ),
    Case(
        "GroupNormalization",
        21,
        "float[1,4,3] x, float[4] u, float[4] v",
        "y = GroupNormalization <num_groups = 2> (x, u, v)",
        gives="float[1,4,3] y",
    ),
    Case(
        "Gelu",
        20,
        "float[2,3] x",
        "y = Gelu (x)",
    ),
    Case(
        "Mish",
        18,
        "float[2,3] x",
        "y = Mish (x)",
    ),
    Case(
        "HardSwish",
        14,
        "float[2,3] x",
        "y = HardSwish (x)",
    ),
    Case(
        "Celu",
        12,
        "float[2,3] x",
        "y = Celu (x)",
    ),
    Case(
        "MeanVarianceNormalization",
        9,
        "float[1,2,3,4] x",
        "y = MeanVarianceNormalization (x)",
        gives="float[1,2,3,4] y",
    ),
    Case(
        "Clip, both bounds",
        11,
        "float[2,3] x",
        "a = Constant <value = float {-0.5}> () b = Constant <value = float {0.5}> () "
        "y = Clip (x, a, b)",
    ),
    Case(
        "Clip, least above greatest",
        12,
        "float[2,3] x",
        "a = Constant <value = float {1}> () b = Constant <value = float {0}> () y = "
        "Clip (x, a, b)",
    ),
    Case(
        "Dropout, mask read",
        13,
        "float[2,3] x",
        "d, m = Dropout (x) f = Cast <to = 1> (m) y = Add (d, f)",
    ),
    Case(
        "Softmax, an axis inside",
        13,
        "float[1,2,3,4] x",
        "y = Softmax <axis = 1> (x)",
    ),
    Case(
        "Softmax, coerced to rows",
        7,
        "float[1,2,3,4] x",
        "y = Softmax <axis = 1> (x)",
        12,
    ),
    Case(
        "DepthToSpace, CRD",
        11,
        "float[1,4,2,3] x",
        'y = DepthToSpace <blocksize = 2, mode = "CRD"> (x)',
    ),
    Case(
        "OneHot",
        11,
        "int64[3] k",
        "d = Constant <value = int64 {5}> () v = Constant <value = float[2] {0, 2}> () "
        "y = OneHot (k, d, v)",
    ),
    Case(
        "Where",
        9,
        "float[2,3] x, bool[2,3] b",
        "n = Neg (x) y = Where (b, x, n)",
    ),
    Case(
        "NonZero",
        9,
        "float[2,3] x",
        "y = NonZero (x)",
    ),
    Case(
        "IsNaN",
        9,
        "float[2,3] x",
        "y = IsNaN (x)",
    ),
    Case(
        "IsInf",
        10,
        "float[2,3] x",
        "y = IsInf (x)",
    ),
    Case(
        "Equal of floats",
        11,
        "float[2,3] x, float[2,3] u",
        "y = Equal (x, u)",
    ),
    Case(
        "Relu of integers",
        14,
        "int32[2,3] k",
        "y = Relu (k)",
    ),
    Case(
        "Max of integers",
        12,
        "int64[2,3] k",
        "n = Neg (k) y = Max (k, n)",
    ),
    Case(
        "Pow, mixed types",
        12,
        "float[2,3] x",
        "e = Constant <value = int64 {2}> () y = Pow (x, e)",
    ),
    Case(
        "ReduceMax, run-time axes",
        18,
        "float[2,3] x, int64[1] k",
        "y = ReduceMax (x, k)",
        gives="float[a,b] y",
    ),
    Case(
        "ReduceSum, constant axes",
        13,
        "float[2,3] x",
        "a = Constant <value = int64[1] {-1}> () y = ReduceSum (x, a)",
    ),
    Case(
        "Split, num_outputs",
        18,
        "float[5] x",
        "y, z = Split <num_outputs = 2> (x)",
    ),
    Case(
        "Shape, a part",
        15,
        "float[1,2,3,4] x",
        "y = Shape <start = 1, end = -1> (x)",
    ),
    Case(
        "Flatten of integers",
        9,
        "int64[2,3,2] k",
        "y = Flatten (k)",
    ),
    Case(
        "Less of 64-bit integers",
        9,
        "int64[2,3] k",
        "n = Neg (k) y = Less (k, n)",
    ),
    Case(
        "Greater of 64-bit integers",
        9,
        "int64[2,3] k",
        "n = Neg (k) y = Greater (k, n)",
    ),
    Case(
        "ScatterND, add",
        16,
        "float[2,3] x, float[2,3] u",
        'i = Constant <value = int64[2,1] {1, 1}> () y = ScatterND <reduction = "add"> (x, i, u)',
    ),
    Case(
        "Slice, negative steps",
        10,
        "float[2,3] x",
        "s = Constant <value = int64[1] {-1}> () e = Constant <value = int64[1] {-9}> "
        "() a = Constant <value = int64[1] {1}> () y = Slice (x, s, e, a, s)",
    ),
    Case(
        "ArgMax, last index",
        12,
        "float[2,3] x",
        "y = ArgMax <axis = 1, select_last_index = 1> (x)",
    ),
    Case(
        "Trilu",
        14,
        "float[2,3] x",
        "y = Trilu (x)",
    ),
    Case(
        "Mod, fmod of integers",
        10,
        "int64[2,3] k",
        "d = Constant <value = int64 {3}> () y = Mod <fmod = 1> (k, d)",
    ),
    Case(
        "GridSample",
        20,
        "float[1,1,3,4] x, float[1,2,2,2] u",
        "y = GridSample (x, u)",
    ),
    Case(
        "ScatterElements, add",
        16,
        "float[2,3] x, float[1,3] u",
        "i = Constant <value = int64[1,3] {1, 0, 1}> () y = ScatterElements <reduction "
        '= "add"> (x, i, u)',
    ),
    Case(
        "ThresholdedRelu",
        10,
        "float[2,3] x",
        "y = ThresholdedRelu <alpha = 0.5> (x)",
    ),
    Case(
        "ReduceLogSumExp",
        18,
        "float[2,3] x",
        "y = ReduceLogSumExp (x)",
    ),
]
