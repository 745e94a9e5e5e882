"""Terms as real functions: operators by formulas or longer forms, all others as atoms.

A function has the shape of its term, to which its atoms broadcast; so two terms of one shape are
equal where their functions are. Data movement applies to each atom of a sum by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import numpy as np
import onnx

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....ops import rules_of
from ....ops.axes import ONE
from ....ops.elementwise import Elementwise, OfEach
from ..definitions.opening import Definitions
from ..terms.term import Head, Term
from ..terms.term_manager import Terms
from .constants import simplest
from .field import Field, Monomial, Real, TooLongError, broadcast_shape

FLOATS = frozenset(
    [
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.BFLOAT16,
    ]
)
_MAY_BE_FLOAT = FLOATS | {onnx.TensorProto.UNDEFINED}
_MOST_ELEMENTS = 4096
"""Limit of elements of a constant that may hold one number."""

_ODD = frozenset(["Erf", "Sin", "Tan", "Asin", "Atan", "Sinh", "Asinh", "Atanh"])
_EVEN = frozenset(["Abs", "Cos", "Cosh"])

READS_BITS = ("BitCast",)
"""Operators whose result is no function of real numbers."""

_LEAVES = ("recurrence", "drawn", *READS_BITS)
"""Heads whose terms are equal only if they are one: they bind variables, draw, or read bits."""

Definition = Callable[["RealTerms", Term, Sequence[Real]], "Real | None"]
"""Function of the terms, a term and its float operands as real functions. It returns None where
the definition does not apply."""

DEFINITIONS: dict[str, Definition] = {}

Movement = Callable[[Shape], "tuple[Hashable, Shape] | None"]
"""Function of the shape of an atom: how it is moved ("view" if its elements stay in order), and its
shape afterwards. It returns None where the atom cannot be moved by itself."""


def defined(*names: str) -> Callable[[Definition], Definition]:
    """Register a function as the definition of operators of the default domain."""

    def register(function: Definition) -> Definition:
        for name in names:
            assert name not in DEFINITIONS, name
            DEFINITIONS[name] = function
        return function

    return register


class RealTerms:
    """Real functions of terms.

    Args:
        terms: the terms of both models.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.field = Field(terms.budget)
        self._definitions = Definitions(terms, over_reals=True)
        self._reals: dict[Term, Real] = {}
        self._keys: dict[Term, Hashable] = {}

    def equal(self, one: Term, other: Term) -> bool:
        """Test whether two terms are equal over the reals."""
        shape = one.fact.shape
        if shape is None or shape != other.fact.shape:
            return False
        if one.fact.elem_type in FLOATS and other.fact.elem_type in FLOATS:
            return self.field.equal(self.of(one), self.of(other))
        return self.key(one) == self.key(other)

    def of(self, term: Term) -> Real:
        """Real function of a float tensor."""
        self._visit(term)
        return self._reals[term]

    def key(self, term: Term | None) -> Hashable:
        """Key that terms share only if they are equal over the reals."""
        if term is None:
            return None
        self._visit(term)
        return self._keys[term]

    def _visit(self, root: Term) -> None:
        """Compute the functions and keys of a term and of its subterms, arguments first."""
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self._keys:
                stack.pop()
                continue
            waiting = [a for a in self._operands(term) if a is not None and a not in self._keys]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            self.terms.budget.step()
            longer = self._longer_form(term)
            if longer is not None:
                self._keys[term] = self._keys[longer]
                if longer in self._reals:
                    self._reals[term] = self._reals[longer]
            elif term.fact.elem_type in FLOATS and term.fact.shape is not None:
                real = self._reals[term] = self._real(term)
                self._keys[term] = self.field.identify(real), term.fact.shape
            else:
                self._keys[term] = self._structure(term)

    def _longer_form(self, term: Term) -> Term | None:
        """Definition of an operator that has no formula here."""
        return None if term.head.name in DEFINITIONS else self._definitions.of(term)

    def _operands(self, term: Term) -> Sequence[Term | None]:
        """Operands that the meaning depends on; a term that binds variables is a leaf."""
        longer = self._longer_form(term)
        if longer is not None:
            return (longer,)
        return () if term.head.parts or term.head.name in _LEAVES else term.args

    def _structure(self, term: Term) -> Hashable:
        """Key of a term that is no float tensor of known rank."""
        args = self._operands(term)
        if not args:
            return term
        keys = tuple([None if a is None else self._keys[a] for a in args])
        return term.head, term.index, keys, term.fact.shape

    def _real(self, term: Term) -> Real:
        constant = self._constant(term)
        if constant is not None:
            return constant
        definition = DEFINITIONS.get(term.head.name)
        operands = [a for a in term.args if a is not None]
        floats = [self._reals[a] for a in operands if a in self._reals]
        are_known = all(a in self._reals or a.fact.elem_type not in _MAY_BE_FLOAT for a in operands)
        if definition is not None and are_known and not term.head.attribute("broadcast"):
            try:
                real = definition(self, term, floats)
            except TooLongError:
                real = None
            if real is not None:
                return real
        return self.opaque(term)

    def _constant(self, term: Term) -> Real | None:
        """Number that all elements of a constant are, or a view of a vector; None for no constant
        or a large one."""
        tensor = self.terms.tensor(term)
        if tensor is None or not 0 < tensor.size <= _MOST_ELEMENTS or not tensor.is_readable:
            return None
        array = tensor.numpy().reshape(-1)
        if np.isfinite(float(array[0])) and (array == array[0]).all():
            return simplest(self.field, array[0])
        vector = self.terms.constant(array)
        real = self.field.atom(vector, vector.fact.shape)
        return self.reshaped(real, vector.shape, term.shape)

    def opaque(self, term: Term) -> Real:
        """Atom of an operator that is not defined here, or not for such operands."""
        head, args = term.head, self._operands(term)
        if not args:
            return self.field.atom(term, term.fact.shape)
        if head.op is not None and isinstance(rules_of(head.op), (Elementwise, OfEach)):
            operands = [None if a is None else self._reals.get(a, a) for a in args]
            real = self.elementwise(head, operands, term.index)
            if real is not None:
                return real
        keys = tuple([None if a is None else self._keys[a] for a in args])
        return self.field.atom((head, term.index, keys), term.fact.shape)

    def elementwise(
        self, head: Head, operands: Sequence[Real | Term | None], index: int = 0
    ) -> Real | None:
        """Atom of an elementwise operator, in the smallest shape; None if that is unknown.

        Args:
            head: the operator.
            operands: real functions, terms of other types, and None for absent operands.
            index: which output.
        """
        field, sign = self.field, Fraction(1)
        keys: list[Hashable] = []
        shapes: list[Shape | None] = []
        for operand in operands:
            if not isinstance(operand, Real):
                keys.append(self.key(operand))
                shapes.append(() if operand is None else operand.fact.shape)
                continue
            if head.name in _ODD | _EVEN and field.leading(operand) < 0:
                operand = field.scale(operand, Fraction(-1))
                sign = Fraction(-1 if head.name in _ODD else 1)
            number = field.identify(operand)
            keys.append(number)
            shapes += [field.shape_of(m) for m in field.functions[number].monomials]
        if head.name in ("Max", "Min"):
            keys = sorted(set(keys), key=repr)
        shape = broadcast_shape(shapes)
        if shape is None:
            return None
        return field.scale(field.atom((head, index, tuple(keys)), shape), sign)

    def apply(self, op_type: str, like: Head, real: Real) -> Real | None:
        """Elementwise operator of the default domain on a function."""
        return self.elementwise(self.terms.heads.like(op_type, like), [real])

    def size(self, dim: Dimension) -> Real:
        """Size as a function of the symbols of sizes."""
        field = self.field
        parts = []
        for symbols, factor in dim.terms.items():
            product = field.number(factor)
            for name in symbols:
                product = field.multiply(product, field.atom(("size", name), (), is_positive=True))
            parts.append(product)
        return field.add(*parts) if parts else field.zero

    def sum_over(self, real: Real, shape: Shape, axes: Sequence[int]) -> Real | None:
        """Sum of a function along axes, which stay with size 1.

        Args:
            real: the function.
            shape: its shape.
            axes: the axes, counted from the front.
        """
        back = sorted(len(shape) - axis for axis in axes)
        parts = []
        for monomial, coefficient in real.monomials.items():
            part = self._sum_monomial(monomial, shape, back)
            if part is None:
                return None
            parts.append(self.field.scale(part, coefficient))
        return self.field.add(*parts) if parts else self.field.zero

    def _sum_monomial(self, monomial: Monomial, shape: Shape, back: Sequence[int]) -> Real | None:
        field = self.field
        inside, varying = [], set()
        for number, exponent in monomial:
            own = field.atoms[number].shape
            if own is None:
                return None
            varies = {b for b in back if b <= len(own) and own[-b].value != 1}
            if any(own[-b] != shape[-b] for b in varies):
                return None
            if varies:
                inside.append((number, exponent))
                varying |= varies
        outside = tuple([each for each in monomial if each not in inside])
        result = Real({outside: Fraction(1)})
        for b in back:
            if b not in varying:
                result = field.multiply(result, self.size(shape[-b]))
        if inside:
            own = field.shape_of(tuple(inside))
            if own is None:
                return None
            reduced = tuple(
                ONE if len(own) - axis in varying else dim for axis, dim in enumerate(own)
            )
            key = "sum", tuple(sorted(varying)), tuple(inside)
            positive = all(field.atoms[number].is_positive for number, _ in inside)
            result = field.multiply(result, field.atom(key, reduced, positive))
        return result

    def mean_over(self, real: Real, shape: Shape, axes: Sequence[int]) -> Real | None:
        """Mean of a function along axes, which stay with size 1."""
        total = self.sum_over(real, shape, axes)
        if total is None:
            return None
        for axis in axes:
            total = self.field.divide(total, self.size(shape[axis]))
        return total

    def reshaped(self, real: Real, source: Shape, target: Shape) -> Real:
        """Function in another shape: atom by atom, or as a whole where an atom broadcasts."""
        if _strip(source) == _strip(target):
            return real
        moved = _axes_without_ones(source), _axes_without_ones(target)
        keeps_axes = [source[a] for a in moved[0]] == [target[a] for a in moved[1]]

        def move(shape: Shape) -> tuple[Hashable, Shape] | None:
            if not keeps_axes:
                return ("view", target) if shape == source else None
            dims = [ONE] * len(target)
            for a, b in zip(*moved, strict=True):
                position = a - len(source) + len(shape)
                if position >= 0:
                    dims[b] = shape[position]
            return "view", tuple(dims)

        result = self.moved(real, move)
        if result is None:
            key = "view of a whole", self.field.identify(real), source
            result = self.field.atom(key, target)
        return result

    def transposed(self, real: Real, source: Shape, perm: Sequence[int]) -> Real | None:
        """Function with its axes in another order; None if an atom has an unknown shape."""

        def move(shape: Shape) -> tuple[Hashable, Shape]:
            whole = (*[ONE] * (len(source) - len(shape)), *shape)
            order = [axis for axis in perm if whole[axis].value != 1]
            target = tuple([whole[axis] for axis in perm])
            kind = "view" if order == sorted(order) else _Perm(perm)
            return kind, target

        return self.moved(real, move)

    def narrowed(self, real: Real, term: Term) -> Real | None:
        """Slice of a function along an axis, which atoms may lack; None if an atom broadcasts."""
        whole, *bounds = term.args
        assert whole is not None
        back = len(whole.shape) - term.head.key
        keys = tuple([self.key(bound) for bound in bounds])

        def move(shape: Shape) -> tuple[Hashable, Shape] | None:
            if back > len(shape) or shape[-back].value == 1:
                return "view", shape
            dims = list(shape)
            dims[-back] = term.shape[-back]
            kind = "narrow", back, keys
            return (kind, tuple(dims)) if shape[-back] == whole.shape[-back] else None

        return self.moved(real, move)

    def moved(self, real: Real, move: Movement) -> Real | None:
        """Function whose atoms are moved; None if one of them cannot be."""
        field, parts = self.field, []
        for monomial, coefficient in real.monomials.items():
            product = field.number(coefficient)
            for number, exponent in monomial:
                atom = field.atoms[number]
                if atom.shape is None:
                    return None
                part: Real | None = _alone(number)
                if any(dim.value != 1 for dim in atom.shape):
                    part = self._moved_atom(number, move)
                if part is None:
                    return None
                product = field.multiply(product, field.power(part, exponent))
            parts.append(product)
        return field.add(*parts) if parts else field.zero

    def _moved_atom(self, number: int, move: Movement) -> Real | None:
        """Atom after a movement; a view of a view is one, as is a Transpose of a Transpose."""
        field, atom = self.field, self.field.atoms[number]
        if atom.root is not None:
            return self.moved(atom.root, move)
        if isinstance(atom.key, tuple) and atom.key[0] == "exp":
            exponent = self.moved(Real({atom.key[1]: Fraction(1)}), move)
            return None if exponent is None else field.exp(exponent)
        assert atom.shape is not None
        result = move(atom.shape)
        if result is None:
            return None
        kind, target = result
        below = atom.key if isinstance(atom.key, tuple) else (None,)
        if kind == "view":
            if below[0] == "view":
                number = below[1]
            if _strip(field.atoms[number].shape or ()) == _strip(target):
                return _alone(number)
        if isinstance(kind, _Perm) and isinstance(below[0], _Perm) and len(kind) == len(below[0]):
            kind, number = _Perm([below[0][axis] for axis in kind]), below[1]
            if list(kind) == sorted(kind):
                return _alone(number)
        return field.atom((kind, number), _strip(target), atom.is_positive)


class _Perm(tuple[int, ...]):
    """Movement of an atom: a permutation of all axes of the tensor that it broadcasts to."""

    __slots__ = ()


def _alone(number: int) -> Real:
    return Real({((number, Fraction(1)),): Fraction(1)})


def _strip(shape: Shape) -> Shape:
    """Shape without leading ones, which broadcasting adds."""
    start = next((i for i, dim in enumerate(shape) if dim.value != 1), len(shape))
    return shape[start:]


def _axes_without_ones(shape: Shape) -> list[int]:
    return [axis for axis, dim in enumerate(shape) if dim.value != 1]
