"""Operands of a node as departures of runtimes ask about them: elements, sizes, producers.

Folding has all elements, a pass has values of a graph, and the prover has terms. What they know is
read through one view, so that a condition is written once.
"""

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import onnx

from ..facts.fact import Shape
from ..facts.magnitudes import MOST_ELEMENTS, MOST_IN_32_BITS
from ..facts.polynomial import Dimension
from ..facts.types import FLOATS, INTEGER_BITS
from ..ir import Array, Graph, Value
from .agreement import has_negative_zero, is_float
from .schema_queries import ElementTypes

_T = onnx.TensorProto
_UNSIGNED = frozenset((_T.BOOL, _T.UINT8, _T.UINT16, _T.UINT32, _T.UINT64))

_MOST_READ = 1 << 12
"""The most elements of a constant that is searched."""

_DEEPEST = 8
"""The most producers that are followed, one above the other."""

_MOVES = frozenset(
    [
        *("Identity", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather", "Expand"),
        *("Tile", "Flatten", "Split", "GatherElements", "GatherND", "Compress", "narrow", "view"),
        *("reversed", "ReduceMax", "ReduceMin"),
    ]
)
"""Operators whose elements are some of the first operand; the last words are the prover's own."""

_CHOICES = ("Where", "choose")

ShapeOf = Callable[[Value], Shape | None]
"""Returns the inferred shape of a value; None for an unknown rank."""


class Operand(Protocol):
    """An operand of a node, as far as it is known."""

    @property
    def elem_type(self) -> int:
        """The element type; 0 where it is unknown."""

    @property
    def shape(self) -> Shape | None:
        """The shape; None for an unknown rank."""

    @property
    def array(self) -> Array | None:
        """The elements of a constant; None for others."""

    @property
    def source(self) -> "Source | None":
        """The operator that computes it."""

    def is_same(self, other: "Operand") -> bool:
        """Test for the very same value."""


class Source(NamedTuple):
    """An operator and its operands."""

    op_type: str
    operands: Sequence[Operand | None]


class Body(NamedTuple):
    """A body of a construct.

    Attributes:
        inputs: values, names or slots.
        outputs: likewise.
        writers: for each output the operators that write it, in bodies of constructs too.
    """

    inputs: Sequence[Hashable]
    outputs: Sequence[Hashable]
    writers: Sequence[Collection[str]]

    @classmethod
    def of(cls, graph: Graph) -> "Body":
        """The body that is a graph."""
        return cls(graph.inputs, graph.outputs, [writers(value) for value in graph.outputs])


def writers(value: Value) -> set[str]:
    """The operators that may write a body's output into the memory of its construct.

    An Identity copies nothing there, as onnxruntime drops it.
    """
    node = value.producer
    while node is not None and node.is_op("Identity"):
        read = node.inputs[0]
        node = None if read is None or read.graph is not node.graph else read.producer
        value = value if node is None or read is None else read
    if node is None:
        return set()
    if not node.is_op("If", "Scan"):
        return {node.op_type}
    place = node.outputs.index(value)
    bodies = [body for name in node.bodies for body in node.bodies[name]]
    return set().union(*(writers(body.outputs[place]) for body in bodies))


class Application(NamedTuple):
    """An operator of the default domain, applied to operands.

    Attributes:
        op_type: its name.
        attribute: returns an attribute, or a default.
        operands: the operands, None for an absent one.
        opset: the version of the default domain; 0 where it is unknown.
        bodies: its bodies.
    """

    op_type: str
    attribute: Callable[..., Any]
    operands: Sequence[Operand | None]
    opset: int = 0
    bodies: Sequence[Body] = ()

    def operand(self, index: int) -> Operand | None:
        """An operand; None where it is absent."""
        return self.operands[index] if index < len(self.operands) else None

    def shape(self, index: int) -> Shape | None:
        """The shape of an operand; None for an unknown rank, or an absent operand."""
        operand = self.operand(index)
        return None if operand is None else operand.shape

    def array(self, index: int) -> Any:
        """The elements of a constant operand; None for others."""
        operand = self.operand(index)
        return None if operand is None else operand.array

    def elem_type(self, index: int = 0) -> int:
        """The element type of an operand; 0 where it is unknown or absent."""
        operand = self.operand(index)
        return 0 if operand is None else operand.elem_type


class ArrayOperand:
    """An operand of known elements."""

    source = None

    def __init__(self, array: Array) -> None:
        self.array = array

    @property
    def elem_type(self) -> int:
        """The element type."""
        if self.array.dtype.hasobject:
            return int(_T.STRING)
        return int(onnx.helper.np_dtype_to_tensor_dtype(self.array.dtype))

    @property
    def shape(self) -> Shape:
        """The shape."""
        return tuple([Dimension.constant(size) for size in self.array.shape])

    def is_same(self, other: Operand) -> bool:
        """Test for the very same array."""
        return other.array is self.array


def shape_of_input(value: Value) -> Shape | None:
    """The shape that runtimes require of an input of the model; None for other values."""
    graph, shape = value.graph, value.shape
    is_input = graph is not None and graph.holder is None and value in graph.inputs
    if not is_input or shape is None:
        return None
    names = [f"{value.name}.{axis}" for axis, _ in enumerate(shape)]
    return tuple(
        Dimension.constant(dim) if isinstance(dim, int) else Dimension.symbol(name)
        for dim, name in zip(shape, names, strict=True)
    )


class ValueOperand:
    """A value of a graph as an operand.

    Args:
        shape_of: the shapes of values, if the caller infers them.
    """

    def __init__(
        self, value: Value, types: ElementTypes, shape_of: ShapeOf = shape_of_input
    ) -> None:
        self._value, self._types, self._shape_of = value, types, shape_of

    @property
    def elem_type(self) -> int:
        """The element type; 0 where it is unknown."""
        return self._types.of(self._value) or 0

    @property
    def shape(self) -> Shape | None:
        """The shape of a constant or an input, or the inferred one. Declarations may be false
        behind an If or a Loop."""
        tensor = self._value.constant
        if tensor is None:
            return self._shape_of(self._value)
        return tuple(map(Dimension.constant, tensor.dims))

    @property
    def array(self) -> Array | None:
        """The elements of a small constant; None for others."""
        tensor = self._value.constant
        if tensor is None or tensor.is_sparse or tensor.is_external or not tensor.is_readable:
            return None
        return tensor.numpy() if tensor.size <= _MOST_READ else None

    @property
    def source(self) -> Source | None:
        """The operator that computes the value; None for its second and later outputs."""
        node = self._value.producer
        if node is None or node.op.domain or node.outputs[0] is not self._value:
            return None
        types, shapes = self._types, self._shape_of
        operands = [None if v is None else ValueOperand(v, types, shapes) for v in node.inputs]
        return Source(node.op_type, operands)

    def is_same(self, other: Operand) -> bool:
        """Test for the very same value."""
        return isinstance(other, ValueOperand) and other._value is self._value


# Magnitudes --------------------------------------------------------------------------------------


def magnitude(operand: Operand | None, depth: int = _DEEPEST) -> float:
    """The largest absolute value of integers, by their producers or type."""
    if operand is None:
        return math.inf
    array = operand.array
    if array is not None:
        # As doubles, because the opposite of the smallest integer overflows.
        return float(np.abs(array.astype(np.float64)).max(initial=0)) if not is_text(array) else 0
    own, source = _most_of(operand.elem_type), operand.source
    if source is None or not depth:
        return own
    return min(own, _magnitude_of(source, depth - 1))


def _magnitude_of(source: Source, depth: int) -> float:
    kind, operands = source
    if kind in ("Shape", "Size", "NonZero", "ArgMax", "ArgMin"):
        return float(MOST_ELEMENTS)
    if kind in _MOVES or kind in ("Cast", "Neg", "Abs", "Relu"):
        # A float may become any integer.
        floats = kind == "Cast" and operands[0] is not None and operands[0].elem_type in FLOATS
        return math.inf if floats else magnitude(operands[0], depth)
    if kind == "Mul":
        return math.prod([magnitude(each, depth) for each in operands])
    if kind in ("Add", "Sub"):
        return sum(magnitude(each, depth) for each in operands)
    if kind in ("Concat", *_CHOICES, "Max", "Min"):
        parts = operands[1:] if kind in _CHOICES else operands
        return max([magnitude(each, depth) for each in parts], default=math.inf)
    return math.inf


def _most_of(elem_type: int) -> float:
    if elem_type == _T.BOOL:
        return 1.0
    bits = INTEGER_BITS.get(elem_type)
    return math.inf if bits is None else 2.0**bits


def count(shape: Shape | None, elem_type: int) -> int:
    """The most elements of a tensor. A runtime sums up no more than 2^30 in 32 bits."""
    most = MOST_ELEMENTS if INTEGER_BITS.get(elem_type) == 64 else MOST_IN_32_BITS
    sizes = [None] if shape is None else [dim.value for dim in shape]
    numbers = [size for size in sizes if size is not None]
    return math.prod(numbers) if len(numbers) == len(sizes) else most


def is_text(array: Array) -> bool:
    """Test for an array of strings."""
    return bool(array.dtype.hasobject)


def may_be_negative(operand: Operand | None, depth: int = _DEEPEST) -> bool:
    """Test for a tensor that may hold a number below 0."""
    if operand is None or operand.elem_type in _UNSIGNED:
        return False
    array, source = operand.array, operand.source
    if array is not None:
        return not is_text(array) and bool((array < 0).any())
    if source is None or not depth:
        return True
    kind, operands = source
    if kind == "Cast" and not magnitude(operands[0]) < _most_of(operand.elem_type) / 2:
        return True  # may wrap
    if kind in _MOVES or kind == "Cast":
        return may_be_negative(operands[0], depth - 1)
    return kind not in ("Shape", "Size", "NonZero", "ArgMax", "ArgMin", "Relu")


# Signs of zeros ----------------------------------------------------------------------------------

_WITHOUT = frozenset(
    [
        *("Abs", "Cosh", "Exp", "HardSigmoid", "ReduceL1", "ReduceL2", "ReduceLogSumExp"),
        *("ReduceSumSquare", "Sigmoid", "Softmax", "Softplus"),
    ]
)
"""Operators that return no -0, in any kernel."""

_KEEPING = ("Sqrt", "Relu", "Floor", "ReduceSum", "CumSum")
"""Operators that return -0 only of operands that hold one."""


def may_hold_negative_zero(operand: Operand | None, depth: int = _DEEPEST) -> bool:
    """Test for a tensor of floats that may hold -0."""
    if operand is None or (operand.elem_type and operand.elem_type not in FLOATS):
        return False
    array = operand.array
    if array is not None:
        return is_float(array) and has_negative_zero(array)
    source = operand.source
    if source is None or not depth:
        return True
    return _may_compute_negative_zero(source, depth - 1)


def _may_compute_negative_zero(source: Source, depth: int) -> bool:
    kind, operands = source
    may = [may_hold_negative_zero(each, depth) for each in operands]
    if kind in _WITHOUT:
        return False
    if kind in _MOVES or kind in _KEEPING:
        return may[0]
    if kind == "Concat":
        return any(may)
    if kind in _CHOICES:
        return any(may[1:])
    one, other = operands if len(operands) == 2 else (operands[0] if operands else None, None)
    if one is None or other is None:
        return not (
            kind == "Cast" and one is not None and one.elem_type in (_T.BOOL, *INTEGER_BITS)
        )
    # -0 + 0 is 0.
    if kind == "Add":
        return all(may)
    # -0 - y is -0 for a y of 0 alone, and x - x is 0.
    if kind == "Sub":
        return may[0] and not _is_never_zero(other)
    # -0 * -0 is 0.
    if kind == "Mul":
        return not one.is_same(other)
    # A maximum with positive numbers is no zero.
    return not (kind == "Max" and (_is_positive(one) or _is_positive(other)))


def _is_never_zero(operand: Operand) -> bool:
    array: Any = operand.array
    return array is not None and bool(array.all())


def _is_positive(operand: Operand) -> bool:
    array: Any = operand.array
    return array is not None and bool((array > 0).all())
