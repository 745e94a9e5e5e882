"""Facts of values before run time: type, shape, and content of small integer tensors.

Symbols stand for sizes that only run time determines.
"""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from ..ir import Tensor
from .magnitudes import Magnitudes
from .polynomial import Dimension

Shape = tuple[Dimension, ...]
Content = npt.NDArray[Any]
"""An object array; an element is a Dimension, a bool, or None where it is not known."""

MAX_CONTENT = 1024
"""Content is followed for tensors of at most this many elements: shapes, sizes, indices."""

FOLLOWED = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.BOOL)
"""The element types of which content is followed."""


@dataclasses.dataclass(frozen=True, eq=False, init=False)
class Fact:
    """Facts of one value.

    Attributes:
        elem_type: element type of a tensor; 0 when it is not known.
        shape: one dimension for each axis; None for an unknown rank.
        content: the elements of a small integer or boolean tensor; None when not followed.
        other: the type of a sequence or optional; it is not a tensor then.
        count: how many elements a sequence holds; None where that is not known.
    """

    elem_type: int = 0
    shape: Shape | None = None
    content: Content | None = None
    other: onnx.TypeProto | None = None
    count: int | None = None

    def __init__(
        self,
        elem_type: int = 0,
        shape: Shape | None = None,
        content: Content | None = None,
        other: onnx.TypeProto | None = None,
        count: int | None = None,
    ) -> None:
        # The initializer of a frozen dataclass takes several times as long.
        own = self.__dict__
        own["elem_type"], own["shape"], own["content"] = elem_type, shape, content
        own["other"], own["count"] = other, count

    @property
    def dims(self) -> Shape:
        """The shape.

        Raises:
            ValueError: the rank is not known.
        """
        if self.shape is None:
            raise ValueError("the rank is not known")
        return self.shape

    @property
    def elements(self) -> Content:
        """The content.

        Raises:
            ValueError: it is not followed.
        """
        if self.content is None:
            raise ValueError("the elements are not followed")
        return self.content

    @property
    def slots(self) -> Content:
        """The content, or as many unknown elements as the tensor has.

        Raises:
            ValueError: their number is not known, or large.
        """
        sizes = [] if self.content is not None else [dim.value for dim in self.dims]
        if self.content is not None or None in sizes:
            return self.elements
        if math.prod(sizes) > MAX_CONTENT:  # type: ignore[arg-type]
            raise ValueError("the elements are too many to follow")
        return np.full(sizes, None, dtype=object)  # type: ignore[arg-type]

    @property
    def truth(self) -> bool | None:
        """The truth value of its one element; None where it is not known."""
        number = (
            self.content.item() if self.content is not None and self.content.size == 1 else None
        )
        return number if isinstance(number, bool) else None

    def without_content(self) -> "Fact":
        """The same without the elements."""
        return self if self.content is None else dataclasses.replace(self, content=None)

    def tells_more(self, other: "Fact") -> bool:
        """Test for a type, size or element that another fact of the same value lacks."""
        if (self.elem_type and not other.elem_type) or (self.other and not other.other):
            return True
        if self.count is not None and other.count is None:
            return True
        if self.shape is not None and other.shape != self.shape:
            old: Shape = () if other.shape is None else other.shape
            if len(old) != len(self.shape) or any(map(_is_better, self.shape, old)):
                return True
        if self.content is None or self.content is other.content:
            return False
        if other.content is None or other.content.shape != self.content.shape:
            return True
        return any(map(_is_better, self.content.flat, other.content.flat))

    def has_type_of(self, other: "Fact") -> bool:
        """Test for the same element type and shape."""
        return self.elem_type == other.elem_type and self.shape == other.shape

    def has_sizes_of(self, other: "Fact") -> bool:
        """Test for the same sizes and elements."""
        if self.shape != other.shape or self.content is other.content:
            return self.shape == other.shape
        if self.content is None or other.content is None:
            return False
        return bool(self.content.tolist() == other.content.tolist())

    def type_proto(self, private: bool = True) -> onnx.TypeProto | None:
        """The type as ONNX writes it; None if nothing is known. Shared: not to be changed.

        Args:
            private: write symbols that have no name of their own, too.
        """
        if self.other is not None:
            return self.other
        if not self.elem_type:
            return None
        if self.shape is None:
            return _tensor_type(self.elem_type, None)
        return _tensor_type(self.elem_type, tuple([_written(dim, private) for dim in self.shape]))


def _is_better(new: Any, old: Any) -> bool:
    """Test for an element that is another number, or a named size instead of less."""
    if not isinstance(new, Dimension) or not isinstance(old, Dimension):
        return new is not None and old is None
    if new.value is not None:
        return old.value != new.value
    return is_named(new) and not is_named(old)


UNKNOWN = Fact()


@functools.lru_cache(maxsize=1 << 12)
def _tensor_type(elem_type: int, dims: tuple[int | str | None, ...] | None) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(elem_type, dims)


def _written(dim: Dimension, private: bool) -> int | str | None:
    value = dim.value
    if value is not None and value >= 0:
        return value
    return str(dim) if private or is_named(dim) else None


PRIVATE = "?"
"""First character of a symbol without a name of its own. Exporters write "?" for sizes that they do
not know, so what a model declares under such a name says nothing."""


def is_private(name: str) -> bool:
    """Test for a symbol without a name of its own."""
    return name.startswith(PRIVATE)


_TOLD_AT_ONCE = 64
"""Limit of the symbols that one size determines, in one step: they are compared as sets."""


def length_of(fact: Fact) -> int:
    """Number of terms in the symbolic sizes, those behind abbreviations included."""
    sizes = [dim for dim in fact.shape or () if dim.value is None]
    return sum(len(dim.terms) + len(dim.symbols) // _TOLD_AT_ONCE for dim in sizes)


def is_named(dim: Dimension) -> bool:
    """Test for a dimension made of numbers and names of the model."""
    return dim.value is not None or not any(is_private(name) for name in dim.symbols)


def is_settled(fact: Fact) -> bool:
    """Test for a known type, and sizes that are numbers or names."""
    return bool(fact.elem_type and fact.shape is not None) and all(map(is_named, fact.shape or ()))


class Symbols:
    """Makes symbols for sizes that have no name, and reads dimensions back from their text.

    Args:
        minima: the minimum sizes of some names.

    Attributes:
        made: how many symbols without a name there are so far.
        magnitudes: how large the sizes may be.
        caps: by the symbol of a minimum, the size and the number of which it is the minimum.
    """

    def __init__(self, minima: Mapping[str, int] = MappingProxyType({})) -> None:
        self.made = 0
        self.magnitudes = Magnitudes()
        self.caps: dict[Dimension, tuple[Dimension, int]] = {}
        self._known = {name: Dimension.symbol(name, least) for name, least in minima.items()}
        self._capped: dict[tuple[Dimension, int], Dimension] = {}

    def fresh(self) -> Dimension:
        """A new symbol, different from all others."""
        self.made += 1
        return self.named(f"{PRIVATE}{self.made - 1}")

    def common(self, one: Dimension, other: Dimension) -> Dimension:
        """The size to which two others broadcast, where that is not known."""
        return self.uncapped(one, other) or self.fresh()

    def uncapped(self, one: Dimension, other: Dimension) -> Dimension | None:
        """A size n that meets min(n, c), with c above 1; a larger n than c does not fit it."""
        for size, minimum in ((one, other), (other, one)):
            if self.caps.get(minimum, (None, 0))[0] == size and self.caps[minimum][1] > 1:
                return size
        return None

    def capped(self, size: Dimension, cap: int) -> Dimension:
        """The minimum of a size and a number."""
        # Equal minima share a symbol, so that they compare as equal.
        if (size, cap) not in self._capped:
            minimum = self._capped[size, cap] = self.fresh()
            self.caps[minimum] = size, cap
        return self._capped[size, cap]

    def named(self, name: str) -> Dimension:
        """The dimension that a dim_param writes: a symbol, or one written before."""
        if name not in self._known:
            self._known[name] = Dimension.symbol(name)
        return self._known[name]

    def sizes(self, elements: Sequence[Dimension | None]) -> Shape:
        """Elements as sizes; what may be negative for some sizes gets a symbol of its own."""
        return tuple(
            size if size is not None and size.less(0) is False else self.fresh()
            for size in elements
        )

    def remember(self, shape: Shape | None) -> None:
        """Let `named` find these dimensions by their text."""
        for dim in shape or ():
            if dim.value is None:
                self._known.setdefault(str(dim), dim)

    def fact(self, type_: onnx.TypeProto | None, *, inferred: bool = False) -> Fact:
        """Fact of a declared or inferred type."""
        if type_ is None or type_.WhichOneof("value") is None:
            return UNKNOWN
        if not type_.HasField("tensor_type"):
            return Fact(other=type_)
        tensor = type_.tensor_type
        if not tensor.HasField("shape"):
            return Fact(tensor.elem_type)
        return Fact(tensor.elem_type, tuple(self._dim(dim, inferred) for dim in tensor.shape.dim))

    def _dim(self, dim: onnx.TensorShapeProto.Dimension, inferred: bool) -> Dimension:
        # A negative size is no size, so it counts as unknown.
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return Dimension.constant(dim.dim_value)
        name = dim.dim_param
        return self.named(name) if name and (inferred or name[0] != PRIVATE) else self.fresh()


def constant_fact(tensor: Tensor) -> Fact:
    """Fact of a constant."""
    shape = tuple(Dimension.constant(dim) for dim in tensor.dims)
    followed = tensor.elem_type in FOLLOWED and tensor.size <= MAX_CONTENT
    content = as_content(tensor.numpy()) if followed and tensor.is_readable else None
    return Fact(tensor.elem_type, shape, content)


def as_content(array: npt.NDArray[Any]) -> Content:
    """Numbers as content."""
    make = bool if array.dtype == np.bool_ else Dimension.constant
    content = np.empty(array.shape, dtype=object)
    content.reshape(-1)[:] = [make(element) for element in array.reshape(-1)]
    return content


def content_from(elements: Any) -> Content:
    """Content of these elements: an array of them, a list, or a single one."""
    if isinstance(elements, np.ndarray):
        return elements
    content = np.empty(len(elements) if isinstance(elements, list) else (), object)
    content[...] = elements
    return content


def decided(fact: Fact) -> npt.NDArray[Any] | None:
    """The elements as numbers, if all of them are known."""
    numbers = _numbers(fact) if fact.elem_type else None
    if numbers is None:
        return None
    return numbers.astype(onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type))


def integers(fact: Fact) -> npt.NDArray[np.int64] | None:
    """The same as 64-bit integers."""
    numbers = _numbers(fact)
    return None if numbers is None else numbers.astype(np.int64)


def _numbers(fact: Fact) -> npt.NDArray[Any] | None:
    if fact.content is None:
        return None
    numbers = np.empty(fact.content.size, object)
    for index, element in enumerate(fact.content.reshape(-1)):
        number = element.value if isinstance(element, Dimension) else element
        if number is None:
            return None
        numbers[index] = number
    return numbers.reshape(fact.content.shape)


def vector(fact: Fact) -> list[Any] | None:
    """The elements of a vector, known or not; None where they are not followed."""
    content = fact.content
    return list(content) if content is not None and content.ndim == 1 else None


def element(fact: Fact) -> Any:
    """The one element; None where it is not known, or not one."""
    content = fact.content
    return content.reshape(-1)[0] if content is not None and content.size == 1 else None
