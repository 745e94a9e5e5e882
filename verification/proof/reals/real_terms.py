"""Terms as real functions: operators by formulas or longer forms, all others as atoms.

A function has the shape of its term, to which its atoms broadcast; so two terms of one shape are
equal where their functions are. Data movement applies to each atom of a sum by itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence, Set
from fractions import Fraction
from typing import Any

import numpy as np
import onnx

from ....facts.fact import Shape
from ....facts.polynomial import Dimension
from ....ir import Array
from ....ops import rules_of
from ....ops.axes import ONE
from ....ops.elementwise import Elementwise, OfEach
from ....records import entry
from ..definitions.opening import Definitions
from ..terms.exact_operators import READS_BITS
from ..terms.term import Head, Term, bottom_up, descendants
from ..terms.term_manager import Terms
from .conditions import TOTAL, Conditions
from .constant_values import MOST_ELEMENTS, WHOLE, ConstantValues, Permutation
from .constants import simplest
from .field import Condition, Field, Monomial, Real, TooLongError, broadcast_shape
from .rounded import Product, RoundedConstants

FLOATS = frozenset(
    [
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.BFLOAT16,
    ]
)
_ROUNDED = frozenset([onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16])
"""Types whose products doubles hold with room for a bound of their rounding."""
_MAY_BE_FLOAT = FLOATS | {onnx.TensorProto.UNDEFINED}

_ODD = frozenset(["Erf", "Sin", "Tan", "Asin", "Atan", "Asinh", "Atanh"])
_EVEN = frozenset(["Abs", "Cos"])


_OF_ZEROS = frozenset(["Concat", "CumSum", "Gather", "GatherElements", "GatherND", "Pad", "Slice"])
"""Operators of whose zeros all results are 0."""

_STRUCTURE = "structure"
_BETWEEN = "between"
"""Kind of the key of a term that is no float tensor: a number, since nested keys are as long as a
term written out."""

_VARIABLES = ("state", "final", "fresh", "recurrence", "stacked")
"""Heads of values of loops."""
_TOTAL = ("Add", "Exp", *_VARIABLES)
"""Operators that have a value for all numbers, besides those that no formula defines."""

_LEAVES = ("recurrence", "drawn")
"""Heads whose terms are equal only if they are one: they bind variables, or draw."""

Definition = Callable[["RealTerms", Term, Sequence[Real]], "Real | None"]
"""Function of the terms, a term and its float operands as real functions. It returns None where
the definition does not apply."""

DEFINITIONS: dict[str, Definition] = {}

Rewriting = Callable[[Terms, Term], "Term | None"]
"""Function of the terms and a term. It returns a term that is equal over the reals, or None."""

REWRITINGS: dict[str, Rewriting] = {}

Movement = Callable[[Shape], "tuple[Hashable, Shape] | None"]
"""Function of the shape of an atom: how it is moved ("view" if its elements stay in order), and its
shape afterwards. It returns None where the atom cannot be moved by itself."""

defined = functools.partial(entry, DEFINITIONS)
"""Register a function as the definition of operators of the default domain."""

rewriting = functools.partial(entry, REWRITINGS)
"""Register a function that rewrites terms of operators of the default domain."""


class RealTerms:
    """Real functions of terms.

    Args:
        settle: function that pushes the outermost slice of a term down.
    """

    def __init__(self, terms: Terms, settle: Callable[[Term], Term] = lambda term: term) -> None:
        self.terms = terms
        self.field = Field(terms.budget)
        self.values = ConstantValues(self.field, self._array)
        self.field.is_constant = self.values.is_constant
        self.rounded = RoundedConstants(self.field, self.values, terms.rounded)
        self._definitions = Definitions(terms, over_reals=True)
        self._settle = settle
        self._forms: dict[Term, Term] = {}
        self._normals: dict[Term, Term] = {}
        self._reals: dict[Term, Real] = {}
        self._keys: dict[Term, Hashable] = {}
        self._structures: dict[Hashable, int] = {}
        self._is_original = False
        self._conditions = Conditions(self.field, self._array)
        self._needs: dict[Term, list[Condition]] = {}
        self._granted: set[Term] = set()
        self._defined: set[Term] = set()
        self._total: dict[Term, bool] = {}

    def equal(self, one: Term, other: Term) -> bool:
        """Test whether two terms, the first one of the original, are equal over the reals.

        The other one must be defined wherever the original is.
        """
        shape = one.fact.shape
        # Functions of reals ignore axes of size 1, so equal functions alone would not mean equal
        # shapes.
        if shape is None or shape != other.fact.shape:
            return False
        self._is_original = True  # whose constants are exact
        self._visit(one)
        self._is_original = False
        if one.fact.elem_type in FLOATS and other.fact.elem_type in FLOATS:
            is_equal = self.field.equal(self._reals[one], self.of(other))
        else:
            is_equal = self._keys[one] == self.key(other)
        return is_equal and self._is_defined(one, other)

    def _is_defined(self, one: Term, other: Term) -> bool:
        """Test whether a term of the rewrite is defined wherever the original is.

        Args:
            one: a term of the original.
            other: the term of the rewrite.
        """
        # The original computes these terms anyway: their conditions hold wherever it has outputs.
        for term in self._below(one, self._granted):
            self._conditions.grant(self._needs.get(term, ()))
            self._granted.add(term)
        terms = self._below(other, self._granted | self._defined)
        needs = [each for term in terms for each in self._needs.get(term, ())]
        # x / x is 1 over the reals, but undefined at 0: equality alone would hide a division that
        # the rewrite adds.
        if not all(map(self._conditions.imply, needs)):
            return False
        self._defined.update(terms)
        return True

    def _below(self, root: Term, others: Set[Term]) -> list[Term]:
        """Term and its operands, without some others and theirs."""
        stack, terms = [root], dict[Term, None]()
        while stack:
            term = stack.pop()
            if term in terms or term in others:
                continue
            terms[term] = None
            self.terms.budget.step()
            form = self._forms.get(term, term)
            # A term that was replaced by its form was never computed: its own operands set no
            # conditions.
            parts = self._operands(term) if form is term else (form,)
            stack += [part for part in parts if part is not None]
        return list(terms)

    def of(self, term: Term) -> Real:
        """Real function of a float tensor."""
        self._visit(term)
        return self._reals[term]

    def cut(self, term: Term) -> None:
        """Make an atom of a float tensor: later terms are functions of its value."""
        shape = term.fact.shape
        # A constant is never cut: its value takes part in folds later.
        if term.fact.elem_type in FLOATS and shape is not None and self.terms.tensor(term) is None:
            real = self._reals[term] = self.field.atom(term, shape)
            self._keys[term] = self.field.identify(real), shape
            self._defined.add(term)

    def is_total(self, root: Term) -> bool:
        """Test for a term with a value for all numbers, without infinities below it."""

        def below(term: Term) -> Sequence[Term | None]:
            return () if term.head.name in _VARIABLES else term.args

        def holds(term: Term, parts: list[bool | None]) -> bool:
            self.terms.budget.step()
            if term.head.name in _VARIABLES:
                return self._variables_are_total()
            return False not in parts and self._has_value(term)

        return bottom_up(root, self._total, below, holds)

    def _variables_are_total(self) -> bool:
        """Test for loops whose states are finite numbers: all that they compute has values."""
        heads = [head for head in self.terms.heads if head.name == "recurrence"]
        roots = [term for head in heads for args in head.applications for term in args]
        roots += [part for head in heads for part in head.parts]
        return all(map(self._has_value, descendants([root for root in roots if root is not None])))

    def _has_value(self, term: Term) -> bool:
        """Test for a term that has a value if its operands have."""
        self.terms.budget.step()
        if term.fact.elem_type not in _MAY_BE_FLOAT:
            return True
        if term.head.name == "input" and self.terms.is_part:
            return False
        if term.is_op("Div"):
            array = self._array(term.operands[1])
            return array is not None and bool(array.all()) and self._is_finite(term.operands[1])
        is_total = term.head.name in TOTAL or term.head.name in _TOTAL or not term.args
        return is_total and self._is_finite(term)

    def _is_finite(self, term: Term) -> bool:
        """Test for no constant that holds an infinity or a NaN."""
        tensor = self.terms.tensor(term)
        if tensor is None or term.fact.elem_type not in _MAY_BE_FLOAT:
            return True
        return tensor.is_readable and bool(np.isfinite(tensor.numpy().astype(np.float64)).all())

    def key(self, term: Term | None) -> Hashable:
        """Key that terms share only if they are equal over the reals."""
        if term is None:
            return None
        self._visit(term)
        return self._keys[term]

    def normal(self, root: Term) -> Term:
        """Term equal over the reals, with slices pushed down in all subterms."""

        def below(term: Term) -> Sequence[Term | None]:
            form = self.form(term)
            return self._operands(term) if form is term else [form]

        def normal(term: Term, parts: list[Term | None]) -> Term:
            self.terms.budget.step()
            if self.form(term) is not term and parts[0] is not None:
                return parts[0]
            is_same = not parts or tuple(parts) == term.args
            return term if is_same else self.terms.rebuild(term, tuple(parts))

        return bottom_up(root, self._normals, below, normal)

    def _visit(self, root: Term) -> None:
        """Compute the functions and keys of a term and of its subterms, arguments first."""
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self._keys:
                stack.pop()
                continue
            self.terms.budget.step()
            form = self.form(term)
            if form is not term:
                if form not in self._keys:
                    stack.append(form)
                    continue
                self._keys[term] = self._keys[form]
                if form in self._reals:
                    self._reals[term] = self._reals[form]
                continue
            waiting = [a for a in self._operands(term) if a is not None and a not in self._keys]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if term.fact.elem_type in FLOATS and term.fact.shape is not None:
                # By term, so that `_below` finds the conditions of just those
                # terms that a result reads.
                before, self.field.needs = self.field.needs, []
                real = self._reals[term] = self._real(term)
                if self.field.needs:
                    self._needs[term] = self.field.needs
                self.field.needs = before
                self._keys[term] = self.field.identify(real), term.fact.shape
            else:
                self._keys[term] = self._structure(term)

    def form(self, term: Term) -> Term:
        """Term of the same type and shape, equal over the reals, with slices pushed down."""
        form = self._forms.get(term)
        if form is None:
            form = self._settle(term)
            rule = REWRITINGS.get(term.head.name)
            if form is term and rule is not None:
                form = rule(self.terms, term) or term
            if form is term and term.head.name not in DEFINITIONS:
                form = self._definitions.of(term) or term
            if (form.fact.elem_type, form.fact.shape) != (term.fact.elem_type, term.fact.shape):
                form = term
            self._forms[term] = form
        return form

    @staticmethod
    def _operands(term: Term) -> Sequence[Term | None]:
        """Operands that the meaning depends on; a term that binds variables or reads bits is a
        leaf."""
        is_leaf = term.head.parts or term.head.name in _LEAVES or reads_bits(term)
        return () if is_leaf else term.args

    def _structure(self, term: Term) -> Hashable:
        """Key of a term that is no float tensor of known rank."""
        args = self._operands(term)
        if not args:
            return term
        keys = tuple([None if a is None else self._keys[a] for a in args])
        structure = term.head, term.index, keys, term.fact.shape
        return _STRUCTURE, self._structures.setdefault(structure, len(self._structures))

    def _real(self, term: Term) -> Real:
        constant = self._constant(term)
        if constant is not None:
            array, self.field.needs = self._array(term), []  # a constant has a value
            if array is not None and not np.isfinite(array.astype(np.float64)).all():
                self.field.need_values(constant)
            return constant
        definition = DEFINITIONS.get(term.head.name)
        operands = [a for a in term.args if a is not None]
        floats = [self._reals[a] for a in operands if a in self._reals]
        are_known = all(a in self._reals or a.fact.elem_type not in _MAY_BE_FLOAT for a in operands)
        # The attribute `broadcast` of opsets before 7 aligns operands by `axis`, which no
        # definition models.
        if definition is not None and are_known and not term.head.attribute("broadcast"):
            try:
                real = definition(self, term, floats)
            # A product of sums may have exponentially many terms: then the operator stays an atom.
            except TooLongError:
                real = None
            if real is not None:
                self.observe(real)
                return real
        # A function without monomials is 0.
        if term.head.name in _OF_ZEROS and floats and not any(each.monomials for each in floats):
            return self.field.zero
        return self.opaque(term)

    def observe(self, real: Real) -> None:
        """Register functions of constants in a function of the original."""
        if self._is_original:
            self.rounded.observe(real)

    def _array(self, term: Term) -> Array | None:
        """Elements of a constant; None for any other term, and for a large constant."""
        tensor = self.terms.tensor(term)
        if tensor is None or not 0 < tensor.size <= MOST_ELEMENTS or not tensor.is_readable:
            return None
        return tensor.numpy()

    def _constant(self, term: Term) -> Real | None:
        """Function of a constant: a number, a function of constants, or a view of a vector.

        None for any other term, and for a large constant.
        """
        array = self._array(term)
        if array is None:
            return None
        if not np.isfinite(array.astype(np.float64)).all():
            # An infinity or a NaN is not a real number, so such a constant is an atom as a whole.
            return self._view_of_vector(array, term.shape)
        # A rewrite may hold a constant that it computed from several of the original, rounded once
        # more. Doubles are excluded, as nothing wider could bound the error.
        may_round = term.fact.elem_type in _ROUNDED
        is_exact = self._is_original or term in self.terms.of_original
        is_of_rewrite = may_round and not is_exact
        first = array.reshape(-1)[0]
        if (array == first).all():
            number = self.rounded.number(first) if is_of_rewrite else None
            real = simplest(self.field, first) if number is None else number
            self.rounded.numbers.add(float(first), real)
            return real
        # A broadcast copy and the small array are one function, so both get one atom.
        array = _without_repetition(array)
        shape = _dimensions(array.shape)
        product = self.rounded.product(array) if is_of_rewrite else None
        if product is not None:
            return self._of_product(product, shape)
        scaled, factor = _scaled(array.reshape(-1))
        scaled = np.where(scaled == 0, np.zeros_like(scaled), scaled)  # -0.0 is 0
        real = self.field.scale(self._view_of_vector(scaled, shape), factor)
        if may_round:
            self.rounded.add(array, real)
        return real

    def _view_of_vector(self, array: Array, shape: Shape) -> Real:
        """Atom of the elements of a constant in a shape."""
        vector = self.terms.constant(array.reshape(-1))
        return self.reshaped(self.field.atom(vector, vector.fact.shape), vector.shape, shape)

    def _of_product(self, product: Product, shape: Shape) -> Real:
        """Product of functions of constants in a shape."""
        base, vector = product.base, product.vector
        real = self.reshaped(base.real, _dimensions(base.shape), shape)
        real = self.field.multiply(product.number, real)
        if vector is not None:
            size = shape[product.axis]
            along = tuple([size if a == product.axis else ONE for a in range(len(shape))])
            factor = self.reshaped(vector.real, _dimensions(vector.shape), along)
            real = self.field.multiply(real, factor)
        return real

    def opaque(self, term: Term) -> Real:
        """Atom of an operator that is not defined here, or not for such operands."""
        real = self._atom_of(term)
        # A variable of a loop stands for a state, of which an iteration may be undefined.
        # Log or Sqrt of a negative number is a NaN, which is no real number.
        if (term.args or term.head.name == "fresh") and term.head.name not in TOTAL:
            self.field.need_values(real)
        return real

    def _atom_of(self, term: Term) -> Real:
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
            # An odd function of -x is minus that of x: with the sign outside, both share one atom.
            if head.name in _ODD | _EVEN and field.leading(operand) < 0:
                operand = field.scale(operand, Fraction(-1))
                sign = Fraction(-1 if head.name in _ODD else 1)
            number = field.identify(operand)
            keys.append(number)
            shapes += [field.shape_of(m) for m in field.functions[number].monomials]
        # Over the reals their operands have no order, and a repeated one changes nothing.
        if head.name in ("Max", "Min"):
            keys = sorted(set(keys), key=repr)
        shape = broadcast_shape(shapes)
        if shape is None:
            return None
        return field.scale(field.atom((head, index, tuple(keys)), shape), sign)

    def apply(self, op_type: str, like: Head, real: Real) -> Real | None:
        """Elementwise operator of the default domain on a function."""
        return self.elementwise(self.terms.heads.like(op_type, like), [real])

    def between(self, real: Real, low: Fraction | None, high: Fraction | None) -> Real | None:
        """min(max(x, low), high) as an atom, divided by the size of the leading coefficient.

        Bounds of bounds are the narrower ones, if a number lies between all of them.
        """
        field = self.field
        inner = self._bounded(real)
        if inner is not None:
            lows, highs = (
                [b for b in pair if b is not None]
                for pair in zip(inner[1:], (low, high), strict=True)
            )
            least, most = max(lows, default=None), min(highs, default=None)
            # Clips of disjoint ranges end at the nearer bound of the outer one, and have no
            # common range.
            if least is None or most is None or least <= most:
                return self.between(inner[0], least, most)
        size = abs(field.leading(real))
        if not size:
            return None
        scaled = field.scale(real, 1 / size)
        shape = broadcast_shape([field.shape_of(monomial) for monomial in scaled.monomials])
        if shape is None:
            return None
        bounds = tuple([None if bound is None else bound / size for bound in (low, high)])
        return field.scale(field.atom((_BETWEEN, field.identify(scaled), *bounds), shape), size)

    def _bounded(self, real: Real) -> tuple[Real, Fraction | None, Fraction | None] | None:
        """Function and its bounds of which a function is the bounded one; None for another one."""
        if len(real.monomials) != 1:
            return None
        ((monomial, factor),) = real.monomials.items()
        key = self.field.atoms[monomial[0][0]].key if len(monomial) == 1 else None
        # A negative factor would exchange the bounds.
        if not isinstance(key, tuple) or key[0] != _BETWEEN or monomial[0][1] != 1 or factor < 0:
            return None
        low, high = (None if bound is None else bound * factor for bound in key[2:])
        return self.field.scale(self.field.functions[key[1]], factor), low, high

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
            # Axes are counted from behind, since an atom has only the axes along which it varies.
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
                # A sum of n equal summands is n times one of them.
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
        # Leading ones do not change a function: broadcasting adds them anyway.
        if strip(source) == strip(target):
            return real
        groups = _groups(source, target)

        def move(shape: Shape) -> tuple[Hashable, Shape] | None:
            own = shape[max(0, len(shape) - len(source)) :]
            whole = (*[ONE] * (len(source) - len(own)), *own)
            dims = [ONE] * len(target)
            for before, after in groups:
                if all(whole[a] == source[a] for a in before):
                    for b in after:
                        dims[b] = target[b]
                elif any(whole[a].value != 1 for a in before):
                    return None
            return "view", tuple(dims)

        result = self.moved(real, move)
        if result is None:
            # First without its ones, so that a Reshape by way of (n, 1, m) and one by (n, m) share
            # an atom.
            long = tuple([dim for dim in source if dim.value != 1])
            if long != strip(source):
                return self.reshaped(self.reshaped(real, source, long), long, target)
            key = WHOLE, self.field.identify(real), long
            result = self.field.atom(key, strip(target))
        return result

    def transposed(self, real: Real, source: Shape, perm: Sequence[int]) -> Real | None:
        """Function with its axes in another order; None if an atom has an unknown shape."""

        def move(shape: Shape) -> tuple[Hashable, Shape]:
            own = shape[max(0, len(shape) - len(source)) :]  # without axes of size 1 before them
            whole = (*[ONE] * (len(source) - len(own)), *own)
            order = [axis for axis in perm if whole[axis].value != 1]
            target = tuple([whole[axis] for axis in perm])
            # A Transpose that moves axes of size 1 alone leaves the order of the elements.
            kind = "view" if order == sorted(order) else Permutation.of(perm)
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
        """Function whose atoms are moved; None if one of them cannot be. It needs no condition that
        they did not need before."""
        needs, self.field.needs = self.field.needs, None
        try:
            return self._moved(real, move)
        finally:
            self.field.needs = needs

    def _moved(self, real: Real, move: Movement) -> Real | None:
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
        # The atom is a power or root of another function: that one is moved instead.
        if atom.root is not None:
            return self.moved(atom.root, move)
        if isinstance(atom.key, tuple) and atom.key[0] == "exp":
            exponent = self.moved(Real({atom.key[1]: Fraction(1)}), move)
            return None if exponent is None else field.exp(exponent)
        below = atom.key if isinstance(atom.key, tuple) else (None,)
        inner = self._moved_below(below, move)
        if inner is not None:
            return inner
        assert atom.shape is not None
        result = move(atom.shape)
        if result is None:
            return None
        kind, target = result
        if kind == "view":
            if below[0] == "view":
                number = below[1]
            if strip(field.atoms[number].shape or ()) == strip(target):
                return _alone(number)
        if isinstance(kind, Permutation) and isinstance(below[0], Permutation):
            kind, number = kind.after(below[0]), below[1]
            if not kind:
                return _alone(number)
        return field.atom((kind, number), strip(target), atom.is_positive, number in field.truths)

    def _moved_below(self, key: tuple[Any, ...], move: Movement) -> Real | None:
        """Atom of an elementwise operator on moved functions; None for another atom."""
        head, *others = key
        numbers = others[:1] if head == _BETWEEN else ()
        if isinstance(head, Head) and len(others) == 2 and isinstance(others[1], tuple):
            numbers = others[1]
        if not numbers or not all(isinstance(number, int) for number in numbers):
            return None
        functions = [self.moved(self.field.functions[number], move) for number in numbers]
        moved = [each for each in functions if each is not None]
        if len(moved) < len(numbers):
            return None
        if head == _BETWEEN:
            return self.between(moved[0], *others[1:])
        return self.elementwise(head, moved, others[0])


def reads_bits(term: Term) -> bool:
    """Test for a result that is no function of real numbers: bits, or digits of a text."""
    name, is_text = term.head.name, term.fact.elem_type == onnx.TensorProto.STRING
    return name == READS_BITS or (name in ("Cast", "CastLike") and is_text)


def _without_repetition(array: Array) -> Array:
    """Smaller array that broadcasts to an array: one slice along axes of equal slices."""
    for axis, size in enumerate(array.shape):
        first = array.take([0], axis)
        if size > 1 and (array.take([1], axis) == first).all() and (array == first).all():
            array = first
    return array


def _scaled(array: Array) -> tuple[Array, Fraction]:
    """Array divided by a sign and a power of 2, and this factor.

    They are those of the first element other than 0. Where the quotient is not exact, the factor
    is 1.
    """
    # Weights that differ by a power of 2 or in sign share an atom, and the factor is exact in
    # binary.
    first = float(array[np.argmax(array != 0)])
    factor = math.copysign(2.0 ** (math.frexp(first)[1] - 1), first)
    with np.errstate(all="ignore"):
        divisor = array.dtype.type(factor)
        scaled = array / divisor
        is_exact = bool((scaled * divisor == array).all())
    return (scaled, Fraction(factor)) if is_exact else (array, Fraction(1))


def _is_exact(one: Array, other: Array, rounded: Array) -> bool:
    """Test whether a sum is not rounded (O. Møller, D. Knuth: the error of a sum is a float)."""
    with np.errstate(all="ignore"):
        total = one + other
        part = total - one
        error = (one - (total - part)) + (other - part)
    return bool(((error == 0) & (rounded == total)).all())


def _alone(number: int) -> Real:
    return Real({((number, Fraction(1)),): Fraction(1)})


def _dimensions(sizes: Sequence[int]) -> Shape:
    return tuple([Dimension.constant(size) for size in sizes])


def strip(shape: Shape) -> Shape:
    """Shape without leading ones, which broadcasting adds."""
    start = next((i for i, dim in enumerate(shape) if dim.value != 1), len(shape))
    return shape[start:]


def _groups(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]]:
    """Shortest groups of successive axes with as many elements in both shapes."""
    sides = [[a for a, dim in enumerate(shape) if dim.value != 1] for shape in (source, target)]
    # After a size of 0 all products are 0, so that no shorter group could be told from another.
    if any(dim.value == 0 for dim in (*source, *target)):
        return [(sides[0], sides[1])]
    ends = [_ends(shape, axes) for shape, axes in zip((source, target), sides, strict=True)]
    groups, start = [], (0, 0)
    for product, end in ends[0].items():
        if product in ends[1]:
            stop = end, ends[1][product]
            groups.append((sides[0][start[0] : stop[0]], sides[1][start[1] : stop[1]]))
            start = stop
    return groups if start == (len(sides[0]), len(sides[1])) else [(sides[0], sides[1])]


def _ends(shape: Shape, axes: Sequence[int]) -> dict[Dimension, int]:
    """Number of axes by the number of elements of them."""
    ends, product = dict[Dimension, int](), ONE
    for count, axis in enumerate(axes, 1):
        product = product * shape[axis]
        ends[product] = count
    return ends
