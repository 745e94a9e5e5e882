"""Equality of values: floats of which -0.0 and 0.0 are alike.

A term has a form of the same values without the additions and signs that change a zero's sign
only. Two terms are equal as values if their forms are equal bit for bit. The form of an operator
takes such forms of those operands alone whose sign of zero it ignores (`ops/`); 1 / -0.0 is -inf.
Of other operands it takes forms that are equal bit for bit: these differ only below operators that
forget the sign, such as x * x. A node fails alike on operands and on such forms of them.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....ir import Array, normal_domain
from ....ops import rules_of
from ....records import entry
from ..simplify.no_ops import reduction_of_one
from ..terms.budget import OpenError
from ..terms.term import Args, Head, Term, bottom_up
from ..terms.term_manager import Terms

_MOST_ELEMENTS = 4096
"""Limit of elements of a constant that is searched for zeros."""

_MOVES = ("view", "narrow", "reversed")
"""Heads of the prover's own that move elements of their first argument."""

_FLOATS = frozenset(
    [
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.BFLOAT16,
    ]
)

_COMPARISONS = frozenset(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"])

_FORGETFUL = _COMPARISONS | {
    *("Abs", "Exp", "Cos", "Cosh", "Sigmoid", "Softplus", "IsNaN", "Shape", "Size"),
}
"""Operators with the same result for -0.0 and 0.0, bit for bit."""

Form = tuple[Term, bool]
"""A term, with true for its form that is equal bit for bit, false for that of the same values."""


class ZeroSigns:
    """Forms of terms, the same whatever the signs of their zeros."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._forms: dict[Form, Term] = {}

    def form(self, root: Term) -> Term:
        """Form of a term."""
        return self._compute((root, False))

    def _compute(self, root: Form) -> Term:
        def below(form: Form) -> list[Form | None]:
            term, exact = form
            return self._needed(term.head, term.args, term.fact.elem_type, exact)

        def value(form: Form, args: list[Term | None]) -> Term:
            self.terms.budget.step()
            return self._form(*form, tuple(args))

        return bottom_up(root, self._forms, below, value)

    def forms(
        self, one: Sequence[Term | None], other: Sequence[Term | None]
    ) -> list[list[Term | None]]:
        """Forms of the outputs of both models.

        Raises:
            OpenError: these are the outputs themselves, which an attempt before compared.
        """
        forms = [[a if a is None else self.form(a) for a in each] for each in (one, other)]
        if forms == [[*one], [*other]] and not self.terms.case:
            raise OpenError("no sign of a zero matters")
        return forms

    def operands(self, head: Head, args: Args, elem_type: int) -> Args:
        """Forms of the operands of a node, which do not change whether it fails.

        Args:
            head: the operator.
            args: its operands.
            elem_type: type of its first output.
        """
        needed = self._needed(head, args, elem_type, exact=False)
        return tuple([None if each is None else self._compute(each) for each in needed])

    def _needed(self, head: Head, args: Args, elem_type: int, exact: bool) -> list[Form | None]:
        """Forms of the arguments on which the form of a term depends."""
        free = 0 if exact else self._ignored(head, args, elem_type)
        return [
            None
            if arg is None
            else (arg, index >= free and not self._forgets(head, args, elem_type, index))
            for index, arg in enumerate(args)
        ]

    def _ignored(self, head: Head, args: Args, elem_type: int) -> int:
        """Number of leading arguments whose sign of zero a head ignores."""
        if head.op is None:
            return 1 if head.name in _MOVES else 0
        if normal_domain(head.op.domain) or elem_type in (0, onnx.TensorProto.STRING):
            return 0
        if head.name == "Pow":
            exponents = self._numbers(args[1])
            return 1 if exponents is not None and bool((exponents > 0).all()) else 0
        return rules_of(head.op).ignores_zero_sign

    def _forgets(self, head: Head, args: Args, elem_type: int, index: int) -> bool:
        """Test for an argument whose sign of zero changes no bit of a term."""
        if head.op is None or normal_domain(head.op.domain):
            return False
        if head.name in _FORGETFUL:
            return index == 0 or head.name in _COMPARISONS
        if elem_type not in _FLOATS or len(args) != 2:
            return False
        other = args[1 - index]
        if head.name == "Mul":
            # x * x is 0.0 for both zeros.
            return args[0] is args[1]
        if head.name == "Pow" and index == 1:
            return True  # x to the power of 0 is 1
        numbers = self._numbers(other)
        if numbers is None:
            return False
        if head.name in ("Add", "Sub"):
            # Beside another number than 0, both zeros give that number.
            return bool(numbers.all())
        return head.name == "Pow" and index == 0 and bool((numbers == 2).all())

    def _numbers(self, term: Term | None) -> Array | None:
        """Elements of a small constant; None for another term."""
        tensor = self.terms.tensor(term)
        if tensor is None or not 0 < tensor.size <= _MOST_ELEMENTS or not tensor.is_readable:
            return None
        return tensor.numpy()

    def _form(self, term: Term, exact: bool, args: Args) -> Term:
        """Form of a term whose arguments have these forms."""
        if term.head.name == "constant":
            return term if exact else self._constant(term)
        if args != term.args:
            term = self.terms.rebuild(term, args)
        rule = None if exact else _RULES.get(term.head.name)
        if rule is None or term.fact.elem_type not in _FLOATS or term.fact.shape is None:
            return term
        return rule(self, term, term.args) or term

    def _constant(self, term: Term) -> Term:
        """Constant without a negative zero."""
        tensor = self.terms.tensor(term)
        if tensor is None or tensor.elem_type not in _FLOATS or tensor.size > _MOST_ELEMENTS:
            return term
        if not tensor.is_readable:
            return term
        array = tensor.numpy()
        if not (np.signbit(array) & (array == 0)).any():
            return term
        return self.terms.constant(np.where(array == 0, np.zeros_like(array), array))

    def is_zero(self, term: Term | None) -> bool:
        """Test for a constant of zeros."""
        numbers = self._numbers(term)
        return numbers is not None and not numbers.any()


Rule = Callable[[ZeroSigns, Term, Sequence["Term | None"]], "Term | None"]
"""Function of the forms, a float term of known rank, and its arguments. It returns a term of the
same values; None if the rule does not apply."""

_RULES: dict[str, Rule] = {}
"""Rules by operator of the default domain."""
_rule = functools.partial(entry, _RULES)


@_rule("Add")
def _add(signs: ZeroSigns, term: Term, args: Sequence[Term | None]) -> Term | None:
    """Return x for x + 0."""
    for zero, other in (args, args[::-1]):
        if signs.is_zero(zero) and other is not None and other.fact.shape == term.fact.shape:
            return other
    return None


@_rule("Sub")
def _subtract(signs: ZeroSigns, term: Term, args: Sequence[Term | None]) -> Term | None:
    """Return -x for 0 - x."""
    zero, other = args
    if not signs.is_zero(zero) or other is None or other.fact.shape != term.fact.shape:
        return None
    return signs.terms.op("Neg", term.head, other)


@_rule("Neg")
def _negate(signs: ZeroSigns, term: Term, args: Sequence[Term | None]) -> Term | None:
    """Return b - a for -(a - b)."""
    below = args[0]
    if below is None or not below.is_op("Sub") or below.head.attribute("broadcast"):
        return None
    return signs.terms.op("Sub", below.head, *below.args[::-1])


@_rule("Max", "Min")
def _extreme(signs: ZeroSigns, term: Term, args: Sequence[Term | None]) -> Term | None:
    """Return an extreme of operands in one order, each once."""
    operands = sorted({a for a in args if a is not None}, key=lambda operand: operand.number)
    if tuple(operands) == tuple(args):
        return None
    (result,) = signs.terms.apply(term.head, tuple(operands))[:1]
    return result


@_rule("Conv", "Gemm")
def _without_bias(signs: ZeroSigns, term: Term, args: Sequence[Term | None]) -> Term | None:
    """Return a product without its bias of zeros, which a factor may scale."""
    if len(args) < 3 or not signs.is_zero(args[2]):
        return None
    if not math.isfinite(term.head.attribute("beta") or 0):
        return None
    (result,) = signs.terms.apply(term.head, tuple(args[:2]))[:1]
    return result if result is not None and result.fact.shape == term.fact.shape else None


@_rule("ReduceSum", "ReduceMean")
def _sum_of_one(signs: ZeroSigns, term: Term, args: Sequence[Term | None]) -> Term | None:
    """Return x for 0 + x, in the shape of the result."""
    return reduction_of_one(signs.terms, term.head, tuple(args))
