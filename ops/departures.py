"""Departures of onnxruntime from ONNX's specification: one table.

    ReduceSum of int64 [2^53 + 1, 2]      2^53 + 3 by the specification, 2^53 + 2 in onnxruntime

Folding leaves such a node alone, no pass writes one in the place of nodes that do not depart, and
a proof names it. What the specification leaves open (a NaN in Max, the order of equal keys) is no
departure; there `OperatorRules.is_settled` says no. A condition holds where the operands that are
known do not exclude a departure.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import onnx

from ..facts.fact import Shape
from ..facts.magnitudes import FAR_ENDS, MOST_ELEMENTS
from ..facts.types import INTEGER_BITS
from ..ir import Node, load, normal_domain
from ..records import record
from .operand_view import (
    Application,
    ArrayOperand,
    Body,
    Operand,
    ValueOperand,
    count,
    magnitude,
    may_be_negative,
    may_hold_negative_zero,
)
from .schema_queries import ElementTypes

_T = onnx.TensorProto
_ONE_HOT_KERNELS = frozenset(
    [
        *((_T.FLOAT, _T.FLOAT, _T.FLOAT), (_T.FLOAT, _T.INT64, _T.INT64)),
        *((_T.FLOAT, _T.INT64, _T.STRING), (_T.INT32, _T.FLOAT, _T.FLOAT)),
        *((_T.INT32, _T.INT32, _T.FLOAT), (_T.INT64, _T.FLOAT, _T.FLOAT)),
        *((_T.INT64, _T.FLOAT, _T.INT32), (_T.INT64, _T.INT32, _T.FLOAT)),
        *((_T.INT64, _T.INT64, _T.FLOAT), (_T.INT64, _T.INT64, _T.INT64)),
        (_T.INT64, _T.INT64, _T.STRING),
    ]
)
"""Types of the operands of OneHot in onnxruntime 1.32."""

_MOST_FUSED = 4
"""Operators between a Transpose and a MatMul that are followed."""

_EXACT = 2.0**53 - 1
"""Up to this number every integer is exact as a double, and no other is rounded to it."""


# Integers in doubles -----------------------------------------------------------------------------


def sums_integers(application: Application) -> bool:
    """Test for a reduction of integers that may exceed a double or the type."""
    elem_type = application.elem_type()
    if elem_type not in INTEGER_BITS:
        return False
    if application.op_type == "Einsum":
        return _sums_alone(application.attribute("equation", b""))
    total = _reduced(application)
    # Not "greater than", which is false for the NaN of infinity times 0.
    return not total <= min(_EXACT, 2.0 ** (INTEGER_BITS[elem_type] - 1) - 1)


def _reduced(application: Application) -> float:
    """A number that no part of a reduction exceeds."""
    operand, kind = application.operand(0), application.op_type
    assert operand is not None
    if kind == "ReduceProd":
        return _product(operand)
    array = operand.array
    if array is not None:
        wide = np.abs(array.astype(np.float64))
        return float(np.sum(wide * wide if kind == "ReduceSumSquare" else wide))
    most = magnitude(operand)
    squared = most * most if kind == "ReduceSumSquare" else most
    return squared * count(operand.shape, operand.elem_type)


def _product(operand: Operand) -> float:
    array = operand.array
    if array is not None:
        with np.errstate(over="ignore"):
            # A 0 may come last, so factors below 1 must not make the product smaller.
            return float(np.prod(np.maximum(np.abs(array.astype(np.float64)), 1)))
    if _are_sizes(operand):
        return MOST_ELEMENTS
    try:
        return magnitude(operand) ** count(operand.shape, operand.elem_type)
    except OverflowError:
        return math.inf


def _are_sizes(operand: Operand) -> bool:
    """Test for sizes of one tensor, or some of them."""
    source = operand.source
    while source is not None and source.op_type in ("Slice", "Gather", "Squeeze", "Identity"):
        first = source.operands[0]
        source = None if first is None else first.source
    return source is not None and source.op_type == "Shape"


def _sums_alone(equation: bytes | str) -> bool:
    """Test for an Einsum that sums along an axis of one operand: it does so by ReduceSum."""
    text = equation.decode() if isinstance(equation, bytes) else equation
    terms, arrow, output = text.replace(" ", "").replace("...", "").partition("->")
    operands = terms.split(",")
    labels = set(terms) - {","}
    if not arrow:
        output = "".join(label for label in labels if terms.count(label) == 1)
    return any(sum(label in each for each in operands) == 1 for label in labels - set(output))


def powers_integers(application: Application) -> bool:
    """Test for a power of integers that a double, or the type, may not hold."""
    elem_type = application.elem_type()
    if elem_type not in INTEGER_BITS or application.elem_type(1) not in INTEGER_BITS:
        return False
    try:
        most = magnitude(application.operand(0)) ** magnitude(application.operand(1))
    except OverflowError:
        return True
    return not most <= min(_EXACT, 2.0 ** (INTEGER_BITS[elem_type] - 1) - 1)


def subtracts_zero_point(application: Application) -> bool:
    """Test for a difference of 32-bit integers that may wrap."""
    total = magnitude(application.operand(0)) + magnitude(application.operand(2))
    has_zero_point = application.operand(2) is not None
    return has_zero_point and INTEGER_BITS.get(application.elem_type()) == 32 and total >= 2**31


# Signs of zeros ----------------------------------------------------------------------------------


def loses_sign(application: Application) -> bool:
    """Test for a Where that may make 0 of -0.

    onnxruntime selects from each value alone, with 0 for the rest, and then from both parts what is
    not 0, or else the second part: a -0 of the first value is lost. So is one of the second value,
    if that is broadcast.
    """
    if may_hold_negative_zero(application.operand(1)):
        return True
    return may_hold_negative_zero(application.operand(2)) and not _is_second_whole(application)


def _is_second_whole(application: Application) -> bool:
    """Test that condition and second value together have the shape of the result."""
    shapes = [application.shape(index) for index in range(3)]
    parts = [shape for shape in (shapes[0], shapes[2]) if shape is not None]
    # A scalar adds nothing to the shape.
    if shapes[1] == ():
        return True
    if len(parts) < 2 or shapes[1] is None:
        return False
    return all(_covers(parts, n - len(shapes[1]), dim) for n, dim in enumerate(shapes[1]))


def _covers(parts: list[Shape], place: int, dim: Any) -> bool:
    """Test that a size of the first value adds nothing to the others."""
    return dim == 1 or any(-place <= len(part) and part[place] == dim for part in parts)


# Sizes -------------------------------------------------------------------------------------------


def slices_backward(application: Application) -> bool:
    """Test for a Slice backward to an end far after the last element."""
    ends, steps = application.array(2), application.array(4)
    if application.operand(4) is None or (steps is not None and (steps > 0).all()):
        return False
    return ends is not None and _is_far(ends, steps)


def _is_far(ends: Any, steps: Any) -> bool:
    far = np.isin(ends, FAR_ENDS)
    # Steps that are not known may go backward.
    backward = True if steps is None or steps.shape != ends.shape else steps < 0
    return bool((far & backward).any())


def is_scalar(application: Application) -> bool:
    """Test for a scalar."""
    return application.shape(0) == ()


def multiplies_nothing(application: Application) -> bool:
    """Test for a product of matrices with an inner axis without elements."""
    shape = application.shape(0)
    return bool(shape) and shape is not None and shape[-1].value == 0


def multiplies_transposed(application: Application) -> bool:
    """Test for a product of a transposed matrix and a vector.

    onnxruntime fuses them, with a Cast and a scale between, and reads the matrix as it was.
    """
    vector, matrix = application.shape(1), application.operand(0)
    # 0 is an opset that is not known.
    is_fused = application.elem_type() in (_T.FLOAT, _T.DOUBLE) and not 0 < application.opset < 9
    if vector is None or len(vector) != 1 or not is_fused:
        return False
    for _ in range(_MOST_FUSED):
        source = None if matrix is None else matrix.source
        if source is None or source.op_type not in ("Cast", "Identity", "Mul", "Div"):
            return source is not None and source.op_type == "Transpose"
        matrix = source.operands[0]
    return True


def runs_no_step(application: Application) -> bool:
    """Test for a recurrent operator on a sequence without elements."""
    shape = application.shape(0)
    place = 1 if application.attribute("layout", 0) else 0
    return shape is not None and len(shape) == 3 and shape[place].value == 0


def copies_size(application: Application) -> bool:
    """Test for a shape of one computed size and constants that hold 0."""
    shape = application.operand(1)
    source = None if shape is None or shape.array is not None else shape.source
    if source is None or source.op_type != "Concat":
        return False
    arrays = [None if each is None else each.array for each in source.operands]
    constants = [array for array in arrays if array is not None]
    is_one = len(constants) == len(arrays) - 1
    return is_one and any((array == 0).any() for array in constants)


def counts_from_the_back(application: Application) -> bool:
    """Test for a OneHot below opset 11 of an index that may be negative."""
    # onnxruntime has no kernels for float16, and casts these operands.
    own = [application.elem_type(index) for index in range(3)]
    kinds = tuple([int(_T.FLOAT) if kind == _T.FLOAT16 else kind for kind in own])
    # 0 is a type that is not known, for which there may be a kernel.
    has_kernel = 0 in kinds or kinds in _ONE_HOT_KERNELS
    return application.opset < 11 and has_kernel and may_be_negative(application.operand(0))


# Bodies ------------------------------------------------------------------------------------------


def copies_nothing(application: Application) -> bool:
    """Test for a construct with outputs of a body that are not copied."""
    return any(uncopied for uncopied, _ in departing_outputs(application))


def extends_texts(application: Application) -> bool:
    """Test for a construct with a state that StringConcat writes."""
    return any(extended for _, extended in departing_outputs(application))


def departing_outputs(application: Application) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Places of uncopied and of extended outputs, for each body."""
    op_type = application.op_type
    # Of a Loop and an If each iteration allocates the outputs anew.
    scanned = application.attribute("num_scan_inputs", 0) if op_type == "Scan" else math.inf
    return tuple(
        (
            tuple(uncopied_outputs(op_type, one.inputs, one.outputs)),
            extended_texts(one, len(one.inputs) - scanned),
        )
        for one in application.bodies
    )


def uncopied_outputs(
    op_type: str, inputs: Sequence[Hashable], outputs: Sequence[Hashable]
) -> list[int]:
    """Places of the outputs of a body that onnxruntime leaves as they stand in memory.

    Of a Scan those that are inputs of the body, or repeated later; of an If those that are
    repeated later; of a Loop the iteration number.

    Args:
        op_type: If, Loop or Scan.
        inputs: the inputs of the body, as values, names or slots.
    """
    if op_type == "Loop":
        # Output 0 is the condition.
        return [n for n, value in enumerate(outputs) if n and value == inputs[0]]
    own = set(inputs if op_type == "Scan" else ())
    return [n for n, v in enumerate(outputs) if v in own or v in outputs[n + 1 :]]


def extended_texts(body: Body, states: float) -> tuple[int, ...]:
    """Places of the states of a Scan that StringConcat writes.

    It appends both operands to the text in memory. A state has the memory of two iterations before.
    """
    return tuple(
        n for n, kinds in enumerate(body.writers) if n < states and "StringConcat" in kinds
    )


# Others ------------------------------------------------------------------------------------------


def pads_same(application: Application) -> bool:
    """Test for windows with dilations and padding to the size of the input."""
    is_dilated = any(step != 1 for step in application.attribute("dilations") or ())
    padding = application.attribute("auto_pad", b"NOTSET")
    return is_dilated and padding in (b"SAME_UPPER", b"SAME_LOWER", "SAME_UPPER", "SAME_LOWER")


def crosses_bounds(application: Application) -> bool:
    """Test for bounds in attributes that are NaN, or in the wrong order."""
    low, high = application.attribute("min"), application.attribute("max")
    return any(bound is not None and math.isnan(bound) for bound in (low, high)) or (
        low is not None and high is not None and low > high
    )


def is_all_zero(application: Application) -> bool:
    """Test for a tensor of floats that may hold zeros only."""
    array = application.array(0)
    return array is None or not array.any()


def rounds_doubles(application: Application) -> bool:
    """Test for a bias of doubles."""
    has_bias = application.attribute("bias", 0.0) != 0
    return has_bias and application.elem_type() == _T.DOUBLE


def gathers_texts(application: Application) -> bool:
    """Test for parts of several texts."""
    shape, axis = application.shape(0), application.attribute("axis", 0)
    if application.elem_type() != onnx.TensorProto.STRING or shape is None:
        return False
    inner = shape[axis % len(shape) + 1 :] if shape else ()
    return any(dim != 1 for dim in inner)


VERSION = "1.32.0"
"""The onnxruntime that was tried."""


@record(frozen=True)
class Departure:
    """A row of the table.

    Attributes:
        operators: the operators of the default domain.
        may: tests an application of one of them, by what is known of its operands.
        specification: the specified result.
        runtime: that of onnxruntime.
        assumption: a clause after "if": under it the specification is the runtime's.
        changes_numbers: false if it changes at most the signs of zeros.
        version: the onnxruntime that was tried.
    """

    name: str
    operators: tuple[str, ...]
    may: Callable[[Application], bool]
    specification: str
    runtime: str
    assumption: str
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
        opset: its opset, if its root has another one already.
    """
    # Most nodes leave here, before any operand is read.
    if node.op.op_type not in _BY_OPERATOR or normal_domain(node.op.domain):
        return None
    values = [None if value is None else ValueOperand(value, types) for value in node.inputs]
    application = _application(node, values)
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


def in_message(message: onnx.ModelProto) -> Counter[str]:
    """The number of nodes by row by which more than signs of zeros change."""
    types = ElementTypes()
    nodes = (node for graph in load(message).graphs() for node in graph.nodes())
    rows = [other_numbers(node, types) for node in nodes]
    return Counter(row.name for row in rows if row is not None)


def table() -> tuple[Departure, ...]:
    """All rows."""
    return _TABLE


def _application(node: Node, operands: Sequence[Operand | None]) -> Application:
    graph = node.graph
    while graph is not None and graph.holder is not None:  # a body may outlive its node
        graph = graph.holder.graph
    opset = 0 if graph is None else graph.root.opset()
    bodies = [Body.of(body) for name in node.bodies for body in node.bodies[name]]
    return Application(node.op.op_type, node.attribute, operands, opset, bodies)


_TABLE = (
    Departure(
        "integer-sums",
        ("ReduceSum", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceSumSquare", "Einsum"),
        sums_integers,
        "integers are added and multiplied as integers, which wrap",
        "they are computed as doubles, which round from 2^53 on, and saturate in the end",
        "onnxruntime computed {} of integers exactly",
    ),
    Departure(
        "integer-powers",
        ("Pow",),
        powers_integers,
        "a power of integers is an integer, which wraps",
        "it is computed as a double, which rounds from 2^53 on",
        "onnxruntime computed {} of integers exactly",
    ),
    Departure(
        "select-of-negative-zero",
        ("Where",),
        loses_sign,
        "a chosen -0.0 stays -0.0",
        "a -0.0 of the first value becomes 0.0; so does one of the second, if that is broadcast;"
        " optimizations swap both where the condition is a Not",
        "onnxruntime's {} kept the sign of -0.0",
        changes_numbers=False,
    ),
    Departure(
        "backward-slice",
        ("Slice",),
        slices_backward,
        "an end after the last element is the last element: nothing lies before it",
        "it is the end before the first element: the rest of the axis",
        "onnxruntime's {} backward from a far end were empty",
    ),
    Departure(
        "places-of-scalar",
        ("NonZero",),
        is_scalar,
        "a scalar has no axis, and its place no coordinate",
        "a scalar is a vector of one element",
        "onnxruntime's {} of a scalar had no rows",
    ),
    Departure(
        "scale-of-zeros",
        ("DynamicQuantizeLinear",),
        is_all_zero,
        "the scale of zeros is 0",
        "it is 1",
        "onnxruntime's {} had the specified scale for zeros",
    ),
    Departure(
        "dilated-same",
        ("MaxPool", "AveragePool", "LpPool", "Conv"),
        pads_same,
        "SAME pads for the dilated kernel, so that the size of the input stays",
        "it pads for a kernel without dilations; Conv fails",
        "onnxruntime padded {} for its dilations",
    ),
    Departure(
        "product-of-nothing",
        ("MatMulInteger",),
        multiplies_nothing,
        "the sum of no products is 0",
        "the result is uninitialized memory",
        "onnxruntime's {} of nothing were 0",
    ),
    Departure(
        "transposed-matrix-by-vector",
        ("MatMul",),
        multiplies_transposed,
        "the rows of a transposed matrix are multiplied by a vector",
        "an optimization multiplies those of the matrix before it is transposed",
        "onnxruntime's {} of a transposed matrix and a vector read its rows",
    ),
    Departure(
        "sequence-of-nothing",
        ("LSTM", "GRU", "RNN"),
        runs_no_step,
        "without a step the last state is the initial one",
        "it is uninitialized memory; GRU ends the process",
        "onnxruntime's {} returned its initial state for no step",
    ),
    Departure(
        "copied-size",
        ("Reshape",),
        copies_size,
        "a 0 copies the size of the operand",
        "an optimization reads a Concat of one computed size and constants as -1 and the constants",
        "onnxruntime read the shape of {} as it is",
    ),
    Departure(
        "crossed-bounds",
        ("Clip",),
        crosses_bounds,
        "below opset 11 bounds are attributes of any value",
        "it refuses a NaN, or a minimum above the maximum",
        "onnxruntime accepted the bounds of {}",
    ),
    Departure(
        "zero-point-of-32-bits",
        ("DequantizeLinear",),
        subtracts_zero_point,
        "the zero point is subtracted, then the difference is scaled",
        "the difference wraps in 32 bits",
        "onnxruntime's {} did not wrap",
    ),
    Departure(
        "rows-of-texts",
        ("Gather",),
        gathers_texts,
        "rows of texts are copied",
        "the first text of each row is copied, and the others are empty",
        "onnxruntime's {} copied all texts of a row",
    ),
    Departure(
        "rounded-doubles",
        ("Shrink",),
        rounds_doubles,
        "doubles and a bias are added as doubles",
        "their sum is rounded to a float",
        "onnxruntime's {} computed doubles",
    ),
    Departure(
        "negative-classes",
        ("OneHot",),
        counts_from_the_back,
        "below opset 11 a negative index is out of range, and its row is off",
        "it counts from the back, as it does from opset 11 on",
        "onnxruntime's {} had no class for a negative index below opset 11",
    ),
    Departure(
        "uncopied-outputs",
        ("If", "Loop", "Scan"),
        copies_nothing,
        "an output of a body may be one of its inputs, or also another output",
        "it is uninitialized memory, in a Loop only as the iteration number, which is the last one",
        "onnxruntime copied the outputs of the body of {}",
    ),
    Departure(
        "extended-texts",
        ("Scan",),
        extends_texts,
        "a state that StringConcat computes is the text of both operands",
        "StringConcat appends it to the text of two iterations before",
        "onnxruntime's StringConcat in a {} began with an empty text",
    ),
)
_BY_OPERATOR: dict[str, list[Departure]] = {}
for _row in _TABLE:
    for _operator in _row.operators:
        _BY_OPERATOR.setdefault(_operator, []).append(_row)
