"""Models on which onnxruntime departs from the specification, for each row of that table."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Example:
    """A model on which onnxruntime departs.

    Attributes:
        text: the graph.
        feeds: its inputs, as element type and nested lists.
        specified: the outputs by the specification.
        computed: those of onnxruntime; None where it fails, or reads what stands in memory.
        optimized: true if it takes onnxruntime's graph optimizations.
        is_unwritten: true if onnxruntime leaves the output as it stands in memory.
        opset: the version of the default domain.
    """

    text: str
    feeds: Mapping[str, tuple[str, Any]]
    specified: Sequence[Any]
    computed: Sequence[Any] | None
    optimized: bool = False
    is_unwritten: bool = False
    opset: int = 17


_ROW = [1, 2, 3, 4, 5, 6, 7]


_TIME = 1764331200123456789
"""Nanoseconds since 1970."""


_LONG = 2**53 + 1
"""An integer that no double holds."""


def _reduction(op_type: str, numbers: Sequence[int], specified: int, computed: int) -> Example:
    """A reduction of a vector of int64 to a number."""
    return Example(
        f"g (int64[n] x) => (int64 y) {{ y = {op_type} <keepdims = 0> (x) }}",
        {"x": ("int64", numbers)},
        [specified],
        [computed],
    )


def _padded(op_type: str, specified: Sequence[int], computed: Sequence[int], opset: int) -> Example:
    """Windows of three of seven numbers, with a distance of two."""
    norm = ", p = 1" if op_type == "LpPool" else ""
    return Example(
        f"g (float[1, 1, 7] x) => (float[1, 1, n] y) {{ y = {op_type} <kernel_shape = [3],"
        f' dilations = [2], auto_pad = "SAME_UPPER"{norm}> (x) }}',
        {"x": ("float32", [[_ROW]])},
        [[[specified]]],
        [[[computed]]],
        opset=opset,
    )


def _loop(outputs: str, values: str, specified: Sequence[Any]) -> Example:
    """A Loop of three iterations."""
    return Example(
        f"g (int64 s) => ({outputs}) <int64 m = {{3}}, bool go = {{1}}> {{ y, z = Loop (m, go, s)"
        f" <body = b (int64 i, bool c, int64 a) => (bool d, {values}) {{ d = Identity (c)"
        " e = Add (a, i) }> }",
        {"s": ("int64", 9)},
        specified,
        None,
    )


def _scan(body: str, specified: Sequence[Any]) -> Example:
    """A Scan of three numbers."""
    return Example(
        "g (float s, float[3] x) => (float t, float[3] y)"
        f" {{ t, y = Scan <num_scan_inputs = 1, body = b (float a, float e) => {body}> (s, x) }}",
        {"s": ("float32", 5), "x": ("float32", [1, 2, 3])},
        specified,
        None,
        is_unwritten=True,
    )


def _texts(body: str, computed: str, shape: str = "") -> Example:
    """A Scan of five texts."""
    wrap = (lambda text: [text]) if shape else str
    return Example(
        f"g (string{shape} s, string[5] x) => (string{shape} y) {{ y = Scan <num_scan_inputs = 1,"
        f" body = b (string{shape} a, string e) => (string{shape} r) {{ {body} }}> (s, x) }}",
        {"s": ("object", wrap("S")), "x": ("object", ["p", "q", "r", "t", "u"])},
        [wrap("Spqrtu")],
        [wrap(computed)],
        optimized=True,
        opset=20,
    )


def _transposed(nodes: str, kind: str = "float", dtype: str = "float32") -> Example:
    """A transposed matrix by a vector."""
    return Example(
        f"g ({kind}[2, 2] a, {kind}[2] v) => ({kind}[2] y) {{ {nodes} y = MatMul (t, v) }}",
        {"a": (dtype, [[1, 2], [3, 4]]), "v": (dtype, [1, 10])},
        [[31, 42]],
        [[21, 43]],
        optimized=True,
    )


EXAMPLES = {
    "integer-sums": (
        _reduction("ReduceSum", [_TIME, 1, 1, 1], _TIME + 3, 1764331200123456768),
        _reduction("ReduceProd", [_LONG, 3], 3 * _LONG, 27021597764222976),
        # The sum of integers wraps to -2^63, half of which is -2^62.
        _reduction("ReduceMean", [2**62, 2**62], -(2**62), 2**62),
        _reduction("ReduceL1", [-_LONG, 2], _LONG + 2, _LONG + 1),
        # (2^53 + 1)^2 = 2^106 + 2^54 + 1 wraps to 2^54 + 1; as a double it saturates.
        _reduction("ReduceSumSquare", [_LONG], 2**54 + 1, 2**63 - 1),
        Example('g (int64[n] x) => (int64 y) { y = Einsum <equation = "i->"> (x) }',
         {"x": ("int64", [_LONG, 2])}, [_LONG + 2], [_LONG + 1]),
        Example("g (int32[n] x) => (int32[1] y) { y = ReduceSum (x) }",
         {"x": ("int32", [2**31 - 1, 1])}, [[-(2**31)]], [[2**31 - 1]]),
    ),
    "integer-powers": (Example("g (int64[n] x, int64 k) => (int64[n] y) { y = Pow (x, k) }",
     {"x": ("int64", [3]), "k": ("int64", 39)}, [[3**39]], [[4052555153018976256]]),),
    "select-of-negative-zero": (
        Example("g (bool[2] c, float[2] x, float[2] z) => (float[2] y)"
         " { w = Where (c, x, z) y = Reciprocal (w) }",
         {"c": ("bool", [True, False]), "x": ("float32", [-0.0, 1]), "z": ("float32", [1, -0.0])},
         [[-np.inf, -np.inf]], [[np.inf, -np.inf]]),
        Example("g (bool[1] c, float[2] x, float z) => (float[2] y)"
         " { w = Where (c, x, z) y = Reciprocal (w) }",
         {"c": ("bool", [False]), "x": ("float32", [1, 1]), "z": ("float32", -0.0)},
         [[-np.inf, -np.inf]], [[np.inf, np.inf]]),
    ),
    "backward-slice": (
        Example(
            "g (float[4] x) => (float[n] y) <int64[1] s = {-1}, int64[1] e = {9223372036854775807},"
            " int64[1] a = {0}, int64[1] t = {-1}> { y = Slice (x, s, e, a, t) }",
            {"x": ("float32", [0, 1, 2, 3])},
            [[]],
            [[3, 2, 1, 0]],
        ),
    ),
    "places-of-scalar": (Example("g (int64 x) => (int64[r, n] y) { y = NonZero (x) }",
     {"x": ("int64", 3)}, [np.zeros((0, 1))], [[[0]]]),),
    "scale-of-zeros": (
        Example("g (float[2] x) => (uint8[2] y, float s) { y, s, z = DynamicQuantizeLinear (x) }",
         {"x": ("float32", [0, 0])}, [[0, 0], 0], [[0, 0], 1]),
    ),
    "dilated-same": (
        _padded("MaxPool", [3, 4, 5, 6, 7, 6, 7], [4, 5, 6, 7, 6], 17),
        _padded("AveragePool", [2, 3, 3, 4, 5, 5, 6], [3, 3, 4, 5, 5], 20),
        _padded("LpPool", [4, 6, 9, 12, 15, 10, 12], [6, 9, 12, 15, 10], 22),
        Example("g (float[1, 1, 7] x, float[1, 1, 3] w) => (float[1, 1, 7] y)"
         ' { y = Conv <dilations = [2], auto_pad = "SAME_UPPER"> (x, w) }',
         {"x": ("float32", [[_ROW]]), "w": ("float32", [[[1, 1, 1]]])},
         [[[[4, 6, 9, 12, 15, 10, 12]]]], None),
    ),
    "product-of-nothing": (
        Example("g (uint8[2, 0] x, uint8[0, 3] w) => (int32[2, 3] y) { y = MatMulInteger (x, w) }",
         {"x": ("uint8", np.zeros((2, 0))), "w": ("uint8", np.zeros((0, 3)))}, [np.zeros((2, 3))],
         None, is_unwritten=True),
    ),
    "sequence-of-nothing": tuple(
        Example(
            f"g (float[t, 1, 2] x, float[1, {gates}, 2] w, float[1, {gates}, 1] r,"
            " float[1, 1, 1] h) => (float[1, 1, 1] y)"
            f" {{ z, y = {op_type} <hidden_size = 1> (x, w, r, , , h) }}",
            {
                "x": ("float32", np.zeros((0, 1, 2))),
                "w": ("float32", np.ones((1, gates, 2))),
                "r": ("float32", np.ones((1, gates, 1))),
                "h": ("float32", [[[5]]]),
            },
            [[[[5]]]],
            None,
            is_unwritten=True,
        )
        for op_type, gates in (("LSTM", 4), ("RNN", 1))
    ),
    "transposed-matrix-by-vector": (
        _transposed("t = Transpose (a)"),
        _transposed("s = Transpose <perm = [1, 0]> (a) t = Cast <to = 1> (s)"),
        _transposed("t = Transpose (a)", "double", "float64"),
        Example(
            "g (float[1, 2, 2] a, float[2] v) => (float[1, 2] y) <float k = {2}>"
            " { s = Transpose <perm = [0, 2, 1]> (a) t = Mul (s, k) y = MatMul (t, v) }",
            {"a": ("float32", [[[1, 2], [3, 4]]]), "v": ("float32", [1, 10])},
            [[[62, 84]]], [[[42, 86]]], optimized=True),
    ),
    "copied-size": (
        Example("g (float[4, n] x) => (float[a, b] y) <int64[1] z = {0}, int64[1] k = {1}>"
         " { s = Shape (x) c = Gather (s, k) t = Concat <axis = 0> (c, z) y = Reshape (x, t) }",
         {"x": ("float32", np.zeros((4, 0)))}, [np.zeros((4, 0))], None, optimized=True),
    ),
    "crossed-bounds": (
        Example("g (float[2] x) => (float[2] y) { y = Clip <min = 2.0, max = 0.0> (x) }",
         {"x": ("float32", [1, 5])}, [[0, 0]], None, opset=10),
    ),
    "zero-point-of-32-bits": (
        Example(
            "g (int32[1] x, float s, int32 z) => (float[1] y) { y = DequantizeLinear (x, s, z) }",
            {"x": ("int32", [100]), "s": ("float32", 1), "z": ("int32", -(2**31))},
            [[2.0**31]],
            [[-(2.0**31) + 128]],
        ),
    ),
    "rows-of-texts": (
        Example("g (string[2, 2] x, int64[1] i) => (string[1, 2] y) { y = Gather (x, i) }",
         {"x": ("object", [["a", "b"], ["c", "d"]]), "i": ("int64", [1])}, [[["c", "d"]]],
         [[["c", ""]]]),
    ),
    "rounded-doubles": (
        Example("g (double[1] x) => (double[1] y) { y = Shrink <bias = 0.3, lambd = 0.5> (x) }",
         {"x": ("float64", [2])}, [[2 - float(np.float32(0.3))]], [[np.float32(1.7)]]),
    ),
    "negative-classes": tuple(
        Example(
            "g (int64[3] i) => (float[3, 2] y) <int64 d = {2}, float[2] v = {5, 6}>"
            " { y = OneHot (i, d, v) }",
            {"i": ("int64", [1, -1, -2])},
            [[[5, 6], [5, 5], [5, 5]]],
            [[[5, 6], [5, 6], [6, 5]]],
            opset=opset,
        )
        for opset in (9, 10)
    ),
    "uncopied-outputs": (
        _loop("int64 y, int64[3] z", "int64 e, int64 i", [12, [0, 1, 2]]),
        _loop("int64 y, int64[3] z", "int64 i, int64 e", [2, [9, 1, 3]]),
        _scan("(float a, float r) { r = Add (a, e) }", [5, [6, 7, 8]]),
        _scan("(float r, float e) { r = Add (a, e) }", [11, [1, 2, 3]]),
        _scan("(float r, float r) { r = Add (a, e) }", [11, [6, 8, 11]]),
        Example(
            "g (float x, bool c) => (float y, float z) { y, z = If (c) <then_branch = t ()"
            " => (float u, float u) { u = Neg (x) }, else_branch = e () => (float v, float w)"
            " { v = Exp (x) w = Abs (x) }> }",
            {"x": ("float32", 2), "c": ("bool", True)},
            [-2, -2],
            None,
            is_unwritten=True,
        ),
    ),
    "extended-texts": (
        *(_texts(body, "SpqSpSpqrtu") for body in (
            "r = StringConcat (a, e)",
            "c = StringConcat (a, e) r = Identity (c)",
            "k = Equal (a, e) r = If (k) <then_branch = t () => (string u) { u = Identity (e) },"
            " else_branch = o () => (string v) { v = StringConcat (a, e) }>",
        )),
        _texts("z, r = Scan <num_scan_inputs = 1, body = i (string f, string g) => (string h,"
               " string j) { h = Identity (f) j = StringConcat (g, f) }> (e, a)",
               "SpqSpSpqrtu", "[1]"),
    ),
}  # fmt: skip
"""At least one for each operator of a row."""
