"""Sums of products of tensors with named axes, as elementwise operators and contractions make them.

f = MatMul (k, s)   m = Sub (v, f)   ->   v(h, j) - k(h, i) s(h, i, j), summed over i

An axis of size 1 has no name, so that squeezing, broadcasting and transposing change no term. A
summed axis gets a new name in each product, as the tensor of one may be a factor once more.
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..analysis.shapes.inference import ShapeInference
from ..facts.polynomial import Dimension
from ..ir import Node, Value
from ..passes.simplify.raising.algebra import Unreadable
from ..passes.simplify.raising.reading import is_plain, reduced_axes, uniform_number
from ..records import entry, record

Axes = tuple[int | None, ...]

_LONGEST = 12
"""Most products in a sum."""


class Atom(NamedTuple):
    """A tensor in a product, with the names of its axes, or its exponential."""

    value: Value
    axes: Axes
    is_exp: bool = False

    def renamed(self, old: int, new: int) -> "Atom":
        """The tensor with another name of an axis."""
        return self._replace(axes=tuple([new if axis == old else axis for axis in self.axes]))


class Product(NamedTuple):
    """A product of a number and tensors."""

    number: float
    atoms: tuple[Atom, ...]


@record(frozen=True)
class IndexSum:
    """A tensor: the names of its axes, and the products whose sum it is."""

    axes: Axes
    products: tuple[Product, ...]


class IndexReading:
    """Reading of values as sums; those of other operators are atoms.

    Args:
        nodes: tests whether a node is read.
        sums: the sums of values that are known before.
    """

    def __init__(
        self,
        nodes: Callable[[Node], bool],
        inference: ShapeInference,
        sums: Mapping[Value, IndexSum],
        names: "Names",
    ) -> None:
        self._reads = nodes
        self._inference = inference
        self._sums = dict(sums)
        self.names = names

    def dims(self, value: Value) -> Sequence[Dimension]:
        """The sizes of a value, whose rank must be known."""
        shape = self._inference.fact(value).shape
        if shape is None:
            raise Unreadable
        return shape

    def of(self, value: Value) -> IndexSum:
        """The sum that a value is, with the present names."""
        if value not in self._sums:
            self._sums[value] = self._read(value)
        return self.names.resolved(self._sums[value])

    def operands(self, node: Node) -> list[IndexSum]:
        """The sums of operands that are tensors of floats."""
        return [self.of(value) for value in node.inputs if value is not None]

    def reduced(self, node: Node) -> Collection[int]:
        """The axes that a reduction sums, from the front."""
        axes = reduced_axes(self._inference, node)
        if axes is None:
            raise Unreadable
        return axes

    def _read(self, value: Value) -> IndexSum:
        node, number = value.producer, uniform_number(value)
        if number is not None and all(dim == 1 for dim in self.dims(value)):
            return IndexSum((None,) * len(self.dims(value)), (Product(number, ()),))
        if node is not None and node.op.qualname in _RULES and self._reads(node):
            return _RULES[node.op.qualname](self, node)
        return self.names.atom(value, self.dims(value))


class Names:
    """Names of axes. Two that elementwise operators align become one.

    Attributes:
        inner: the names of axes that are summed.
    """

    def __init__(self) -> None:
        self.inner: set[int] = set()
        self._sizes: list[Dimension] = []
        self._same: dict[int, int] = {}
        self._atoms: dict[Value, Axes] = {}

    def new(self, size: Dimension) -> int:
        """A name of an axis of a size."""
        self._sizes.append(size)
        return len(self._sizes) - 1

    def size(self, name: int | None) -> Dimension:
        """The size of an axis."""
        return Dimension.constant(1) if name is None else self._sizes[name]

    def atom(self, value: Value, dims: Sequence[Dimension]) -> IndexSum:
        """A tensor as a sum of itself."""
        if value not in self._atoms:
            self._atoms[value] = tuple([None if dim == 1 else self.new(dim) for dim in dims])
        axes = self._atoms[value]
        return IndexSum(axes, (Product(1.0, (Atom(value, axes),)),))

    def found(self, name: int) -> int:
        """The present name of an axis."""
        while name in self._same:
            name = self._same[name]
        return name

    def _resolved(self, axes: Axes) -> Axes:
        return tuple([None if name is None else self.found(name) for name in axes])

    def resolved(self, one: IndexSum) -> IndexSum:
        """A sum in present names, of distinct axes."""
        products = [
            Product(number, tuple([a._replace(axes=self._resolved(a.axes)) for a in atoms]))
            for number, atoms in one.products
        ]
        axes = self._resolved(one.axes)
        for each in (axes, *(a.axes for p in products for a in p.atoms)):
            labels = [name for name in each if name is not None]
            # A tensor times its transpose has one axis twice, which names cannot tell apart.
            if len(set(labels)) < len(labels):
                raise Unreadable
        return IndexSum(axes, tuple(products))

    def joined(self, one: int | None, other: int | None) -> int | None:
        """The name of two aligned axes."""
        if one is None or other is None:
            return other if one is None else one
        one, other = self.found(one), self.found(other)
        # A size that is not known may be 1, and then broadcasts.
        if self._sizes[one] != self._sizes[other]:
            raise Unreadable
        if one != other:
            self._same[other] = one
        return one

    def aligned(self, sides: Sequence[Axes]) -> Axes:
        """The names of axes that broadcast, aligned from the last one on."""
        rows = itertools.zip_longest(*(reversed(side) for side in sides))
        result: list[int | None] = []
        for row in rows:
            name: int | None = None
            for each in row:
                name = self.joined(name, each)
            result.append(name)
        return tuple(reversed(result))

    def summed(self, product: Product, name: int | None) -> Product:
        """A product summed along an axis, which gets a name of its own."""
        if name is None:
            return product
        name = self.found(name)
        number, atoms = self.resolved(IndexSum((), (product,))).products[0]
        if not any(name in atom.axes for atom in atoms):
            raise Unreadable
        inner = self.new(self._sizes[name])
        self.inner.add(inner)
        return Product(number, tuple([atom.renamed(name, inner) for atom in atoms]))


_RULES: dict[str, Callable[[IndexReading, Node], IndexSum]] = {}
_reads = functools.partial(entry, _RULES)


def _times(sides: Iterable[IndexSum]) -> tuple[Product, ...]:
    """The products of the products of two sums."""
    pairs = list(itertools.product(*(side.products for side in sides)))
    if len(pairs) > _LONGEST:
        raise Unreadable
    return tuple([Product(a.number * b.number, a.atoms + b.atoms) for a, b in pairs])


@_reads("Mul")
def _multiply(reading: IndexReading, node: Node) -> IndexSum:
    sides = reading.operands(node)
    if not is_plain(node):
        raise Unreadable
    return IndexSum(reading.names.aligned([side.axes for side in sides]), _times(sides))


@_reads("Add", "Sub")
def _add(reading: IndexReading, node: Node) -> IndexSum:
    one, other = reading.operands(node)
    sign = -1.0 if node.is_op("Sub") else 1.0
    axes = reading.names.aligned([one.axes, other.axes])
    names = [{reading.names.found(n) for n in axes if n is not None}]
    names += [{reading.names.found(n) for n in s.axes if n is not None} for s in (one, other)]
    # A term that broadcasts is another one in each element.
    if not is_plain(node) or names[1] != names[0] or names[2] != names[0]:
        raise Unreadable
    signed = [Product(sign * number, atoms) for number, atoms in other.products]
    if len(one.products) + len(signed) > _LONGEST:
        raise Unreadable
    return IndexSum(axes, (*one.products, *signed))


@_reads("Neg")
def _negate(reading: IndexReading, node: Node) -> IndexSum:
    (one,) = reading.operands(node)
    return IndexSum(one.axes, tuple([Product(-number, atoms) for number, atoms in one.products]))


@_reads("Identity")
def _same(reading: IndexReading, node: Node) -> IndexSum:
    return reading.operands(node)[0]


@_reads("Exp")
def _exponential(reading: IndexReading, node: Node) -> IndexSum:
    (one,) = reading.operands(node)
    if len(one.products) != 1 or len(one.products[0].atoms) != 1 or one.products[0].number != 1:
        raise Unreadable
    (atom,) = one.products[0].atoms
    if atom.is_exp or not reading.names.inner.isdisjoint(atom.axes):
        raise Unreadable
    return IndexSum(one.axes, (Product(1.0, (atom._replace(is_exp=True),)),))


@_reads("Transpose")
def _transpose(reading: IndexReading, node: Node) -> IndexSum:
    (one,) = reading.operands(node)
    order = node.attribute("perm") or list(reversed(range(len(one.axes))))
    return IndexSum(tuple([one.axes[axis] for axis in order]), one.products)


@_reads("Reshape", "Squeeze", "Unsqueeze")
def _view(reading: IndexReading, node: Node) -> IndexSum:
    """A view that inserts and drops axes of size 1 alone."""
    source = node.operand(0)
    one, dims = reading.of(source), reading.dims(node.output())
    labels = [name for name in one.axes if name is not None]
    # Other views join or split axes, of which no name speaks.
    if [reading.names.size(name) for name in labels] != [dim for dim in dims if dim != 1]:
        raise Unreadable
    rest = iter(labels)
    return IndexSum(tuple([None if dim == 1 else next(rest) for dim in dims]), one.products)


@_reads("ReduceSum")
def _reduce(reading: IndexReading, node: Node) -> IndexSum:
    source = node.operand(0)
    one, products = reading.of(source), []
    summed = reading.reduced(node)
    for product in one.products:
        for axis in summed:
            product = reading.names.summed(product, one.axes[axis])
        products.append(product)
    keeps = node.attribute("keepdims", 1)
    axes = [None if i in summed else n for i, n in enumerate(one.axes) if keeps or i not in summed]
    return IndexSum(tuple(axes), tuple(products))


@_reads("MatMul")
def _contract(reading: IndexReading, node: Node) -> IndexSum:
    one, other = reading.operands(node)
    names = reading.names
    if min(len(one.axes), len(other.axes)) < 2:
        raise Unreadable
    batch = names.aligned([one.axes[:-2], other.axes[:-2]])
    inner = names.joined(one.axes[-1], other.axes[-2])
    # Renamed product by product: a vector may be contracted, and then be a factor of the result.
    products = [names.summed(product, inner) for product in _times((one, other))]
    return IndexSum((*batch, one.axes[-2], other.axes[-1]), tuple(products))


@_reads("Einsum")
def _einsum(reading: IndexReading, node: Node) -> IndexSum:
    equation = node.attribute("equation")
    text = (equation.decode() if isinstance(equation, bytes) else equation).replace(" ", "")
    before, arrow, after = text.partition("->")
    sides, words = reading.operands(node), before.split(",")
    if "." in text or not arrow or len(sides) > 2 or len(sides) != len(words):
        raise Unreadable
    letters: dict[str, int | None] = {}
    for side, word in zip(sides, words, strict=True):
        if len(set(word)) < len(word) or len(word) != len(side.axes):
            raise Unreadable
        for letter, name in zip(word, side.axes, strict=True):
            letters[letter] = reading.names.joined(letters.get(letter), name)
    products = []
    for product in _times(sides) if len(sides) > 1 else sides[0].products:
        for letter, name in letters.items():
            if letter not in after:
                product = reading.names.summed(product, name)
        products.append(product)
    return IndexSum(tuple([letters[letter] for letter in after]), tuple(products))
