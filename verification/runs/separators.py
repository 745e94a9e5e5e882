"""Values that tell models apart: their constants, and what the types of numbers have as limits.

Two models that agree on ordinary inputs differ beside a constant that one of them compares with, at
a tie, a half, a limit of a type, or a size beyond a constant. A constant may be reached through
another one: `4 * x < 14` turns at 14 / 4.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, TensorProto

from ...ir import LoadError, Tensor
from ...ir.dataflow_graph import reach
from ...ir.places import normal_domain
from ...records import record
from ...reference.signature import all_nodes
from .comparison import is_float

Number = int | float

_LARGEST_TENSOR = 64
"""Number of elements up to which a tensor may hold thresholds rather than weights."""
_MOST_NUMBERS = 48
_MOST_COMBINED = 6
"""Number of constants that are combined in pairs."""
_LARGEST_SIZE = 256
"""Limit of sizes beside constants."""
_SIZES = (2, 1, 3, 8, 5, 17)
_NAMES_ENTRIES = {"Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND"}
_NAMES_AXES = {"CumSum", "CumProd"}
_SMALL = (0, 1, -1, 2, -2, 3, -3, 4, 5, 7)
_HALVES = (0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5)
_WIDTHS = (8, 16, 32, 64)
_MANTISSAS = (11, 24, 53)
"""Bits up to which float16, float32 and float64 hold each integer."""


@record(frozen=True)
class Separators:
    """Constants of models, in the order of their weight.

    Attributes:
        numbers: numbers of small tensors and of attributes, scalars first.
    """

    numbers: tuple[Number, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, *models: onnx.ModelProto) -> "Separators":
        """Collect the constants of models, with those of bodies, functions and attributes."""
        numbers: list[tuple[int, Number]] = []
        words: dict[str, None] = {}
        for values in itertools.chain.from_iterable(map(_constants, models)):
            for value in values:
                if isinstance(value, str):
                    words[value] = None
                elif math.isfinite(value):
                    numbers.append((len(values), value))
        ordered = dict.fromkeys(value for _, value in sorted(numbers, key=lambda pair: pair[0]))
        return cls(tuple(ordered)[:_MOST_NUMBERS], tuple(words)[:_MOST_NUMBERS])

    def integers(self, dtype: np.dtype[Any]) -> list[int]:
        """Integers of a type beside constants, small ones, and limits of types."""
        info: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        least, most = int(info.min), int(info.max)
        whole = [math.floor(number) for number in self._reached()]
        near = [n for number in whole for n in (number, number + 1, number - 1, -number)]
        # A product with a constant overflows from here on.
        near += [n for c in whole if abs(c) > 1 for n in (most // abs(c) + 1, least // abs(c) - 1)]
        values = dict.fromkeys([*near[:8], *_SMALL, *near, *_limits()])
        return [n for n in values if least <= n <= most]

    def floats(self, dtype: np.dtype[Any]) -> list[float]:
        """Finite floats of a type beside constants, small whole ones and halves."""
        exact: list[float] = []
        near: list[float] = []
        for number in self._reached():
            with np.errstate(all="ignore"):
                value = np.asarray(number, np.float64).astype(dtype)
            if np.isfinite(value):
                up, down = (float(_next(value, sign)) for sign in (1, -1))
                exact.append(float(value))
                near += [up, down, number + 1.0, number - 1.0, -float(value)]
        # An input of one number has only the first ones.
        values = [*exact[:4], *near[:5], *exact, *_HALVES, *map(float, _SMALL), *near]
        return list(dict.fromkeys(value for value in values if math.isfinite(value)))

    def extremes(self, dtype: np.dtype[Any]) -> list[float]:
        """Special floats of a type, with both signs, and floats from which results overflow."""
        limits: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        most, tiny = float(limits.max), float(limits.smallest_subnormal)
        least = float(limits.smallest_normal)
        positive = [0.0, math.inf, most, tiny, least, math.sqrt(most) * 2, math.sqrt(least) / 2]
        positive += [math.log(most) + 1, 70000.0, *(float(2**bits + 1) for bits in _MANTISSAS)]
        positive += [float(n) for n in _limits() if n > 0]
        values = [n for value in positive for n in (value, -value)]
        return [math.nan, *values, *self.floats(dtype)[:8]]

    def texts(self) -> list[str]:
        """Strings beside constants."""
        near = [n for word in self.words for n in (word, f"{word}x", word[:-1], word.upper())]
        return list(dict.fromkeys(near))

    def sizes(self) -> list[int]:
        """Sizes beside constants, small ones, and at last 0."""
        whole = [abs(math.floor(number)) for number in self.numbers]
        near = [n for number in whole for n in (number + 1, number, number - 1)]
        usable = [n for n in near if 0 < n <= _LARGEST_SIZE]
        largest = max(usable, default=0)
        return list(dict.fromkeys([*([largest] if largest else []), *_SIZES, *usable, 0]))

    def steering(self) -> list[int]:
        """Integers of moderate size for inputs that may be sizes, counts or positions."""
        whole = [math.floor(number) for number in self.numbers]
        near = [n for number in whole for n in (number, number + 1, number - 1)]
        usable = [n for n in near if abs(n) <= _LARGEST_TENSOR]
        return list(dict.fromkeys([0, 1, -1, 2, *usable, 3, -2, 17]))

    def _reached(self) -> list[Number]:
        """The constants, and inputs that another constant turns into one."""
        scalars = self.numbers[:_MOST_COMBINED]
        both = [n for a, b in itertools.permutations(scalars, 2) for n in _combined(a, b)]
        return list(dict.fromkeys(n for n in (*self.numbers, *both) if math.isfinite(n)))


def id_ranges(model: onnx.ModelProto) -> dict[str, int]:
    """The least number of entries or axes that values of an input name."""
    sizes = {tensor.name: list(tensor.dims) for tensor in model.graph.initializer}
    for info in (*model.graph.input, *model.graph.value_info):
        shape = info.type.tensor_type.shape.dim
        sizes.setdefault(info.name, [dim.dim_value for dim in shape])
    sources: dict[str, tuple[str, ...]] = {}
    ranges: dict[str, int] = {}
    for node in model.graph.node:
        sources.update((name, tuple(node.input)) for name in node.output)
        count = _entries(node, sizes)
        for name in reach(lambda name: sources.get(name, ()), [node.input[1]]) if count else ():
            ranges[name] = min(ranges.get(name, count), count)
    return {info.name: ranges[info.name] for info in model.graph.input if info.name in ranges}


def _entries(node: onnx.NodeProto, sizes: Mapping[str, Sequence[int]]) -> int:
    """The number of entries or axes that the second input of a node names; 0 if it is open."""
    if normal_domain(node.domain) or len(node.input) < 2:
        return 0
    dims = sizes.get(node.input[0], ())
    if node.op_type in _NAMES_AXES:
        return len(dims)
    axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
    is_known = node.op_type in _NAMES_ENTRIES and -len(dims) <= axis < len(dims)
    return dims[axis] if is_known else 0


def _constants(model: onnx.ModelProto) -> Iterator[Sequence[Number] | Sequence[str]]:
    """The constants of a model, those of a tensor or attribute together."""
    graphs = [model.graph]
    yield from map(_elements, model.graph.initializer)
    for node in itertools.chain(
        all_nodes(model.graph.node), *(all_nodes(f.node) for f in model.functions)
    ):
        for attribute in node.attribute:
            yield from _of_attribute(node, attribute)
            graphs.extend([*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs])
    for graph in graphs[1:]:
        yield from map(_elements, graph.initializer)


def _of_attribute(
    node: onnx.NodeProto, attribute: AttributeProto
) -> Iterator[Sequence[Number] | Sequence[str]]:
    if attribute.HasField("t"):
        yield _elements(attribute.t)
    if attribute.type == AttributeProto.FLOAT:
        yield [attribute.f]
    if attribute.type == AttributeProto.INT:
        yield [attribute.i]
    if len(attribute.floats) <= _LARGEST_TENSOR:
        yield list(attribute.floats)
    if len(attribute.ints) <= _LARGEST_TENSOR:
        yield list(attribute.ints)
    # Strings of ONNX's own operators are modes, but for those of constants.
    if normal_domain(node.domain) or node.op_type == "Constant":
        yield [text.decode("utf-8", "replace") for text in (*attribute.strings, attribute.s)]


def _elements(message: TensorProto) -> list[Any]:
    """The elements of a small tensor inside the model; none of complex or unreadable ones."""
    count = math.prod(message.dims)
    if not 0 < count <= _LARGEST_TENSOR or message.external_data or not message.data_type:
        return []
    try:
        array = Tensor(message).numpy()
    except LoadError:  # it lacks elements, or its text is not UTF-8; a run of the model tells
        return []
    if array.dtype.kind in "cb":
        return []
    convert = str if array.dtype.kind in "OSU" else float if is_float(array.dtype) else int
    return [convert(item) for item in array.reshape(-1)]


def _combined(a: Number, b: Number) -> Iterator[Number]:
    """Inputs that `b` turns into `a`, for sums, differences, products and quotients."""
    yield from (a - b, a + b, b - a, a * b)
    if b:
        yield a / b


def _limits() -> Iterator[int]:
    """Limits of the types of integers, and of integers that floats hold."""
    for bits in _MANTISSAS:
        yield from (2**bits + 1, -(2**bits) - 1)
    for bits in _WIDTHS:
        half, whole = 2 ** (bits - 1), 2**bits
        yield from (half - 1, half, -half, -half - 1, whole - 1, whole)


def _next(value: NDArray[Any], sign: int) -> Any:
    """The next float of the same type, toward an infinity."""
    if value.dtype.kind != "f":  # numpy has no neighbours of the types of ml_dtypes
        return value
    with np.errstate(all="ignore"):
        return np.nextafter(value, np.asarray(sign * math.inf, value.dtype))
