"""Operators that move elements as they are, or choose among them."""

from .case import Case

MOVING = [
    Case(
        "Compress, a constant condition",
        9,
        "float[3,4] x",
        "c = Constant <value = bool[3] {1, 0, 1}> () y = Compress <axis = 0> (x, c)",
        gives="float[2,4] y",
    ),
    Case(
        "Pad, around",
        19,
        "float[2,3] x",
        'p = Constant <value_ints = [1, 0, 0, 2]> () y = Pad <mode = "wrap"> (x, p)',
    ),
    Case(
        "TensorScatter",
        24,
        "float[2,1,4,3] x, float[2,1,2,3] u",
        "y = TensorScatter (x, u)",
        gives="float[2,1,4,3] y",
    ),
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
        "Scatter of opset 9",
        9,
        "float[2,3] x, float[1,3] u",
        "i = Constant <value = int64[1,3] {1, 0, 1}> () y = Scatter (x, i, u)",
        until=10,
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
    ),
    Case(
        "TopK, smallest of long integers",
        11,
        "int64[2,3] x",
        "n = Constant <value = int64[1] {2}> () y, i = TopK <largest = 0> (x, n)",
    ),
    Case(
        "MaxPool, sizes rounded up",
        10,
        "float[1,2,5,4] x",
        "y = MaxPool <kernel_shape = [2, 3], strides = [2, 2], ceil_mode = 1> (x)",
    ),
    Case(
        "MaxPool, dilated",
        10,
        "float[1,2,5,4] x",
        "y = MaxPool <kernel_shape = [2, 3], dilations = [2, 1], pads = [1, 0, 0, 1]> (x)",
    ),
    Case(
        "AveragePool, sizes rounded up",
        10,
        "float[1,2,5,4] x",
        "y = AveragePool <kernel_shape = [2, 3], strides = [2, 2], ceil_mode = 1> (x)",
    ),
    Case(
        "AveragePool, dilated",
        19,
        "float[1,2,5,4] x",
        "y = AveragePool <kernel_shape = [2, 3], dilations = [2, 1], pads = [1, 0, 0, 1], "
        "count_include_pad = 1> (x)",
    ),
    Case(
        "LpPool, sizes rounded up",
        18,
        "float[1,2,5,4] x",
        "y = LpPool <kernel_shape = [2, 3], strides = [2, 2], ceil_mode = 1> (x)",
    ),
    Case(
        "LpPool, dilated",
        18,
        "float[1,2,5,4] x",
        "y = LpPool <kernel_shape = [2, 3], dilations = [2, 1], pads = [1, 0, 0, 1]> (x)",
    ),
    Case(
        "Resize, some axes by run-time sizes",
        18,
        "float[1,2,3,4] x, int64[2] k",
        "a = Constant <value = int64[2] {5, 7}> () b = Mul (k, k) c = Sub (b, b) t = Add (a, c) "
        'y = Resize <axes = [2, 3], mode = "linear"> (x, , , t)',
        nan=False,
    ),
    Case(
        "EyeLike",
        9,
        "float[2,3] x",
        "e = EyeLike <k = 1> (x) y = Add (e, x)",
    ),
    Case(
        "ReverseSequence, constant lengths",
        10,
        "float[2,3] x",
        "n = Constant <value = int64[2] {1, 3}> ()y = ReverseSequence <batch_axis = 0, "
        "time_axis = 1> (x, n)",
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
        "Trilu",
        14,
        "float[2,3] x",
        "y = Trilu (x)",
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
        "ScatterElements, max",
        18,
        "float[2,3] x, float[1,3] u",
        "i = Constant <value = int64[1,3] {1, 0, 1}> () y = ScatterElements <reduction = "
        '"max"> (x, i, u)',
    ),
    Case(
        "ScatterElements, mul, run-time indices",
        18,
        "float[2,3] x, int64[2,3] k",
        'y = ScatterElements <reduction = "mul"> (x, k, x)',
    ),
    Case(
        "ScatterND, min",
        18,
        "float[2,3] x, float[2,3] u",
        'i = Constant <value = int64[2,1] {1, 1}> () y = ScatterND <reduction = "min"> (x, i, u)',
    ),
    Case(
        "ScatterND, mul, run-time indices",
        16,
        "float[2,3] x, int64[2,1] k",
        'y = ScatterND <reduction = "mul"> (x, k, x)',
    ),
    Case(
        "Slice, run-time bounds",
        10,
        "float[2,3] x, int64[1] k",
        "e = Constant <value = int64[1] {-1}> () a = Constant <value = int64[1] {1}> () y = "
        "Slice (x, k, e, a, k)",
        gives="float[2,n] y",
    ),
    Case(
        "Reshape, run-time shape",
        14,
        "float[2,3] x, float[3,2] u, int64[2] k",
        "n = Shape (u) s = Add (n, k) y = Reshape <allowzero = 1> (x, s)",
        gives="float[3,2] y",
    ),
    Case(
        "Expand",
        8,
        "float[2,1] x",
        "s = Constant <value = int64[3] {2, 1, 3}> () y = Expand (x, s)",
    ),
    Case(
        "Expand, run-time shape",
        8,
        "float[2,1] x, float[2,3] u, int64[2] k",
        "n = Shape (u) s = Add (n, k) y = Expand (x, s)",
        gives="float[2,3] y",
    ),
    Case(
        "Where, broadcast",
        9,
        "float[2,3] x, bool[2,1] b",
        "n = Constant <value = float {7}> () y = Where (b, x, n)",
    ),
    Case(
        "Flatten of truth values",
        9,
        "bool[2,3,2] b",
        "y = Flatten <axis = 2> (b)",
    ),
    Case(
        "Trilu, run-time k",
        14,
        "int64[3,3] x, int64 k",
        "y = Trilu <upper = 0> (x, k)",
    ),
    Case(
        "GridSample, bicubic",
        16,
        "float[1,1,3,4] x, float[1,2,2,2] u",
        'y = GridSample <mode = "bicubic", padding_mode = "reflection"> (x, u)',
        until=19,
    ),
    Case(
        "Squeeze, run-time axes",
        13,
        "float[1,2,3] x, int64[1] k",
        "z = Sub (k, k) y = Squeeze (x, z)",
        gives="float[a,b] y",
    ),
    Case(
        "Unsqueeze, run-time axes",
        13,
        "float[2,3] x, int64[1] k",
        "z = Sub (k, k) y = Unsqueeze (x, z)",
        gives="float[a,b,c] y",
    ),
]
