"""Departures of onnxruntime from ONNX's specification: one table.

    ReduceSum of int64 [2^53 + 1, 2]      2^53 + 3 by the specification, 2^53 + 2 in onnxruntime

Folding leaves such a node alone, no pass writes one in the place of nodes that do not depart, and
a proof names it. What the specification leaves open (a NaN in Max, the order of equal keys) is no
departure; there `OperatorRules.is_settled` says no.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import Node, Value, normal_domain
from . import departing as when
from .element_types import ElementTypes
from .operand_view import Application, ArrayOperand, Operand, ValueOperand

VERSION = "1.32.0"
"""The onnxruntime that was tried."""


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


@dataclasses.dataclass(frozen=True)
class Departure:
    """A row of the table.

    Attributes:
        name: an identifier.
        operators: the operators of the default domain.
        may: tests an application of one of them, by what is known of its operands.
        specification: the specified result.
        runtime: that of onnxruntime.
        assumption: a clause after "if": under it the specification is the runtime's.
        examples: models, for each operator at least one.
        changes_numbers: false if it changes at most the signs of zeros.
        version: the onnxruntime that was tried.
    """

    name: str
    operators: tuple[str, ...]
    may: Callable[[Application], bool]
    specification: str
    runtime: str
    assumption: str
    examples: tuple[Example, ...]
    changes_numbers: bool = True
    version: str = VERSION


def departure(application: Application) -> Departure | None:
    """The row that an application of an operator may be an instance of."""
    for row in _BY_OPERATOR.get(application.op_type, ()):
        if row.may(application):
            return row
    return None


def has_rows(op_type: str) -> bool:
    """Test for an operator that departs on some operands."""
    return op_type in _BY_OPERATOR


def of_node(node: Node, types: ElementTypes, opset: int | None = None) -> Departure | None:
    """The row of a node of a graph.

    Args:
        node: the node.
        types: the element types of values.
        opset: its opset, if its root has another one already.
    """
    # Most nodes leave here, before any operand is read.
    if node.op.op_type not in _BY_OPERATOR or normal_domain(node.op.domain):
        return None
    application = _application(node, _values(node.inputs, types))
    return departure(application if opset is None else application._replace(opset=opset))


def other_numbers(node: Node, types: ElementTypes) -> Departure | None:
    """The row of a node by which more than signs of zeros change."""
    rows = _BY_OPERATOR.get(node.op.op_type, ())
    # The rows are cheaper than the types of operands.
    if not any(row.changes_numbers for row in rows):
        return None
    row = of_node(node, types)
    return row if row is not None and row.changes_numbers else None


def on_arrays(node: Node, arrays: Sequence[Any]) -> Departure | None:
    """The row of a node, perhaps in no graph, on elements."""
    if node.op.op_type not in _BY_OPERATOR or normal_domain(node.op.domain):
        return None
    operands = [ArrayOperand(a) if isinstance(a, np.ndarray) else None for a in arrays]
    return departure(_application(node, operands))


def table() -> tuple[Departure, ...]:
    """All rows."""
    return _TABLE


def _application(node: Node, operands: Sequence[Operand | None]) -> Application:
    opset = 0 if node.graph is None else node.graph.root.opset()
    bodies = node.bodies.get("body", ())
    body = (bodies[0].inputs, bodies[0].outputs) if bodies else None
    return Application(node.op.op_type, node.attribute, operands, opset, body)


def _values(values: Sequence[Value | None], types: ElementTypes) -> list[Operand | None]:
    return [None if value is None else ValueOperand(value, types) for value in values]


_LONG = 2**53 + 1
"""An integer that no double holds."""
_TIME = 1764331200123456789
"""Nanoseconds since 1970."""


def _reduction(op_type: str, numbers: Sequence[int], specified: int, computed: int) -> Example:
    """A reduction of a vector of int64 to a number."""
    return Example(
        f"g (int64[n] x) => (int64 y) {{ y = {op_type} <keepdims = 0> (x) }}",
        {"x": ("int64", numbers)},
        [specified],
        [computed],
    )


_SUMS = Departure(
    "integer-sums",
    ("ReduceSum", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceSumSquare", "Einsum"),
    when.sums_integers,
    "integers are added and multiplied as integers, which wrap",
    "they are computed as doubles, which round from 2^53 on, and saturate in the end",
    "onnxruntime computed {} of integers exactly",
    (
        _reduction("ReduceSum", [_TIME, 1, 1, 1], _TIME + 3, 1764331200123456768),
        _reduction("ReduceProd", [_LONG, 3], 3 * _LONG, 27021597764222976),
        # The sum of integers wraps to -2^63, half of which is -2^62.
        _reduction("ReduceMean", [2**62, 2**62], -(2**62), 2**62),
        _reduction("ReduceL1", [-_LONG, 2], _LONG + 2, _LONG + 1),
        # (2^53 + 1)^2 = 2^106 + 2^54 + 1 wraps to 2^54 + 1; as a double it saturates.
        _reduction("ReduceSumSquare", [_LONG], 2**54 + 1, 2**63 - 1),
        Example(
            'g (int64[n] x) => (int64 y) { y = Einsum <equation = "i->"> (x) }',
            {"x": ("int64", [_LONG, 2])},
            [_LONG + 2],
            [_LONG + 1],
        ),
        Example(
            "g (int32[n] x) => (int32[1] y) { y = ReduceSum (x) }",
            {"x": ("int32", [2**31 - 1, 1])},
            [[-(2**31)]],
            [[2**31 - 1]],
        ),
    ),
)

_POWERS = Departure(
    "integer-powers",
    ("Pow",),
    when.powers_integers,
    "a power of integers is an integer, which wraps",
    "it is computed as a double, which rounds from 2^53 on",
    "onnxruntime computed {} of integers exactly",
    (
        Example(
            "g (int64[n] x, int64 k) => (int64[n] y) { y = Pow (x, k) }",
            {"x": ("int64", [3]), "k": ("int64", 39)},
            [[3**39]],
            [[4052555153018976256]],
        ),
    ),
)

_SELECTS = Departure(
    "select-of-negative-zero",
    ("Where",),
    when.loses_sign,
    "a chosen -0.0 stays -0.0",
    "a -0.0 of the first value becomes 0.0; so does one of the second, if that is broadcast;"
    " optimizations swap both where the condition is a Not",
    "onnxruntime's {} kept the sign of -0.0",
    (
        Example(
            "g (bool[2] c, float[2] x, float[2] z) => (float[2] y)"
            " { w = Where (c, x, z) y = Reciprocal (w) }",
            {
                "c": ("bool", [True, False]),
                "x": ("float32", [-0.0, 1]),
                "z": ("float32", [1, -0.0]),
            },
            [[-np.inf, -np.inf]],
            [[np.inf, -np.inf]],
        ),
        Example(
            "g (bool[1] c, float[2] x, float z) => (float[2] y)"
            " { w = Where (c, x, z) y = Reciprocal (w) }",
            {"c": ("bool", [False]), "x": ("float32", [1, 1]), "z": ("float32", -0.0)},
            [[-np.inf, -np.inf]],
            [[np.inf, np.inf]],
        ),
    ),
    changes_numbers=False,
)

_SLICES = Departure(
    "backward-slice",
    ("Slice",),
    when.slices_backward,
    "an end after the last element is the last element: nothing lies before it",
    "it is the end before the first element: the rest of the axis",
    "onnxruntime's {} backward from a far end were empty",
    (
        Example(
            "g (float[4] x) => (float[n] y) <int64[1] s = {-1}, int64[1] e = {9223372036854775807},"
            " int64[1] a = {0}, int64[1] t = {-1}> { y = Slice (x, s, e, a, t) }",
            {"x": ("float32", [0, 1, 2, 3])},
            [[]],
            [[3, 2, 1, 0]],
        ),
    ),
)

_PLACES = Departure(
    "places-of-scalar",
    ("NonZero",),
    when.is_scalar,
    "a scalar has no axis, and its place no coordinate",
    "a scalar is a vector of one element",
    "onnxruntime's {} of a scalar had no rows",
    (
        Example(
            "g (int64 x) => (int64[r, n] y) { y = NonZero (x) }",
            {"x": ("int64", 3)},
            [np.zeros((0, 1))],
            [[[0]]],
        ),
    ),
)

_RANGES = Departure(
    "scale-of-zeros",
    ("DynamicQuantizeLinear",),
    when.is_all_zero,
    "the scale of zeros is 0; the reference returns 1 / 255",
    "it is 1",
    "onnxruntime's {} had the specified scale for zeros",
    (
        Example(
            "g (float[2] x) => (uint8[2] y, float s) { y, s, z = DynamicQuantizeLinear (x) }",
            {"x": ("float32", [0, 0])},
            [[0, 0], np.float32(1 / 255)],
            [[0, 0], 1],
        ),
    ),
)

_ROW = [1, 2, 3, 4, 5, 6, 7]


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


_PADS = Departure(
    "dilated-same",
    ("MaxPool", "AveragePool", "LpPool", "Conv"),
    when.pads_same,
    "SAME pads for the dilated kernel, so that the size of the input stays",
    "it pads for a kernel without dilations; Conv fails",
    "onnxruntime padded {} for its dilations",
    (
        _padded("MaxPool", [3, 4, 5, 6, 7, 6, 7], [4, 5, 6, 7, 6], 17),
        _padded("AveragePool", [2, 3, 3, 4, 5, 5, 6], [3, 3, 4, 5, 5], 20),
        _padded("LpPool", [4, 6, 9, 12, 15, 10, 12], [6, 9, 12, 15, 10], 22),
        Example(
            "g (float[1, 1, 7] x, float[1, 1, 3] w) => (float[1, 1, 7] y)"
            ' { y = Conv <dilations = [2], auto_pad = "SAME_UPPER"> (x, w) }',
            {"x": ("float32", [[_ROW]]), "w": ("float32", [[[1, 1, 1]]])},
            [[[[4, 6, 9, 12, 15, 10, 12]]]],
            None,
        ),
    ),
)

_PRODUCTS = Departure(
    "product-of-nothing",
    ("MatMulInteger",),
    when.multiplies_nothing,
    "the sum of no products is 0",
    "the result is what stood in memory",
    "onnxruntime's {} of nothing were 0",
    (
        Example(
            "g (uint8[2, 0] x, uint8[0, 3] w) => (int32[2, 3] y) { y = MatMulInteger (x, w) }",
            {"x": ("uint8", np.zeros((2, 0))), "w": ("uint8", np.zeros((0, 3)))},
            [np.zeros((2, 3))],
            None,
            is_unwritten=True,
        ),
    ),
)

_CELLS = Departure(
    "sequence-of-nothing",
    ("LSTM", "GRU", "RNN"),
    when.runs_no_step,
    "without a step the last state is the initial one",
    "it is what stood in memory; GRU ends the process",
    "onnxruntime's {} returned its initial state for no step",
    tuple(
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
)

_SHAPES = Departure(
    "copied-size",
    ("Reshape",),
    when.copies_size,
    "a 0 copies the size of the operand",
    "a Concat of one computed size and constants is taken for -1 and these, by an optimization",
    "onnxruntime read the shape of {} as it is",
    (
        Example(
            "g (float[4, n] x) => (float[a, b] y) <int64[1] z = {0}, int64[1] k = {1}>"
            " { s = Shape (x) c = Gather (s, k) t = Concat <axis = 0> (c, z) y = Reshape (x, t) }",
            {"x": ("float32", np.zeros((4, 0)))},
            [np.zeros((4, 0))],
            None,
            optimized=True,
        ),
    ),
)

_BOUNDS = Departure(
    "crossed-bounds",
    ("Clip",),
    when.crosses_bounds,
    "below opset 11 bounds are attributes of any value",
    "it refuses a NaN, or a minimum above the maximum",
    "onnxruntime accepted the bounds of {}",
    (
        Example(
            "g (float[2] x) => (float[2] y) { y = Clip <min = 2.0, max = 0.0> (x) }",
            {"x": ("float32", [1, 5])},
            [[0, 0]],
            None,
            opset=10,
        ),
    ),
)

_DIFFERENCES = Departure(
    "zero-point-of-32-bits",
    ("DequantizeLinear",),
    when.subtracts_zero_point,
    "the zero point is subtracted, then the difference is scaled",
    "the difference wraps in 32 bits",
    "onnxruntime's {} did not wrap",
    (
        Example(
            "g (int32[1] x, float s, int32 z) => (float[1] y) { y = DequantizeLinear (x, s, z) }",
            {"x": ("int32", [100]), "s": ("float32", 1), "z": ("int32", -(2**31))},
            [[2.0**31]],
            [[-(2.0**31) + 128]],
        ),
    ),
)

_TEXTS = Departure(
    "rows-of-texts",
    ("Gather",),
    when.gathers_texts,
    "rows of texts are copied",
    "the first text of each row is copied, and the others are empty",
    "onnxruntime's {} copied all texts of a row",
    (
        Example(
            "g (string[2, 2] x, int64[1] i) => (string[1, 2] y) { y = Gather (x, i) }",
            {"x": ("object", [["a", "b"], ["c", "d"]]), "i": ("int64", [1])},
            [[["c", "d"]]],
            [[["c", ""]]],
        ),
    ),
)

_CLASSES = Departure(
    "negative-classes",
    ("OneHot",),
    when.counts_from_the_back,
    "below opset 11 a negative index is out of range, and its row is off",
    "it counts from the back, as it does from opset 11 on",
    "onnxruntime's {} had no class for a negative index below opset 11",
    tuple(
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


_OUTPUTS = Departure(
    "uncopied-outputs",
    ("Loop", "Scan"),
    when.copies_nothing,
    "an output of a body may be one of its inputs, or another output, too",
    "in a Scan it is what stood in memory; the iteration number of a Loop is the last one",
    "onnxruntime copied what the body of {} returns",
    (
        _loop("int64 y, int64[3] z", "int64 e, int64 i", [12, [0, 1, 2]]),
        _loop("int64 y, int64[3] z", "int64 i, int64 e", [2, [9, 1, 3]]),
        _scan("(float a, float r) { r = Add (a, e) }", [5, [6, 7, 8]]),
        _scan("(float r, float e) { r = Add (a, e) }", [11, [1, 2, 3]]),
        _scan("(float r, float r) { r = Add (a, e) }", [11, [6, 8, 11]]),
    ),
)

_TABLE = (
    *(_SUMS, _POWERS, _SELECTS, _SLICES, _PLACES, _RANGES, _PADS, _PRODUCTS),
    *(_CELLS, _SHAPES, _BOUNDS, _DIFFERENCES, _TEXTS, _CLASSES, _OUTPUTS),
)
_BY_OPERATOR: dict[str, list[Departure]] = {}
for _row in _TABLE:
    for _operator in _row.operators:
        _BY_OPERATOR.setdefault(_operator, []).append(_row)
