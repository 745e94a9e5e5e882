"""Table of rewrite rules, as data: what models without an operator or a type compute in its place.

A rule is a pattern, what it becomes, and a condition. A name in a pattern stands for any term, the
same one wherever it occurs, `k` for a constant or its Expand, and None for an absent input;
operands of commutative operators match in both orders. All operators here work element by element,
so that a rule holds if it does for numbers, and keeps the shape: an operand that it drops is as
large as one that stays.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx

from ....facts.types import INTEGER_BITS
from ....ir import Array
from ..terms.axis_maps import covers
from ..terms.constants import MOST_ELEMENTS
from ..terms.exact_operators import COMMUTATIVE
from ..terms.term import Args, Head, Term
from ..terms.term_manager import TRIGGERS, Terms, canonical_form
from .casts import SIGNED, in_type

Bindings = dict[str, Term]
"""Terms that the names of a pattern stand for."""

_T = onnx.TensorProto
_FLOATS = frozenset([_T.FLOAT16, _T.FLOAT, _T.DOUBLE])
_INTEGERS = frozenset(INTEGER_BITS)
_BUILT_AT = 20
"""Opset that has all operators of the table."""


Condition = Callable[["Terms", "Bindings"], bool]
"""Condition of a rule on the terms that its names stand for."""


class Rewrite(NamedTuple):
    """Rewrite rule.

    Attributes:
        after: what the term before becomes.
        condition: condition of the terms that its names stand for.
        inside: operators of its operands, without which it does not match.
    """

    before: ast.Call
    after: ast.expr
    condition: Condition
    inside: frozenset[str] = frozenset()

    @classmethod
    def of(cls, before: str, after: str, condition: Condition) -> Rewrite:
        """Rule from the text of its patterns."""
        whole = pattern(before)
        inside = {ast.unparse(arg.func) for arg in whole.args if isinstance(arg, ast.Call)}
        inside |= {"constant" for arg in whole.args if isinstance(arg, ast.Name) and arg.id == "k"}
        return cls(whole, pattern(after), condition, frozenset(inside))


def pattern(text: str) -> Any:
    """Pattern from its text."""
    return ast.parse(text, mode="eval").body


def _anything(terms: Terms, bound: Bindings) -> bool:
    return True


def _integers(terms: Terms, bound: Bindings) -> bool:
    return all(term.fact.elem_type in INTEGER_BITS for term in bound.values())


def _unsigned(terms: Terms, bound: Bindings) -> bool:
    return _integers(terms, bound) and bound["x"].fact.elem_type not in SIGNED


def _bounds(terms: Terms, bound: Bindings) -> bool:
    """Bounds of Clip are scalars (operator specification)."""
    bounds = [term for name, term in bound.items() if name != "x"]
    return _integers(terms, bound) and all(term.fact.shape == () for term in bounds)


def _floats(terms: Terms, bound: Bindings) -> bool:
    return bound["x"].fact.elem_type in _FLOATS


def _numbers(terms: Terms, bound: Bindings) -> bool:
    return _floats(terms, bound) or _integers(terms, bound)


def _signed(terms: Terms, bound: Bindings) -> bool:
    return bound["x"].fact.elem_type in _FLOATS | SIGNED


def _array(terms: Terms, term: Term) -> Array | None:
    """Constant that is small enough to be computed with, and in no file of weights."""
    tensor = terms.tensor(term)
    if tensor is None or tensor.size > MOST_ELEMENTS or tensor.is_external:
        return None
    return tensor.numpy() if tensor.is_readable else None


def _uniform(terms: Terms, term: Term) -> bytes | None:
    """Bytes that all elements of a constant have, or of its Expand; None for any other term."""
    array = _array(terms, term.operands[0] if term.is_op("Expand") else term)
    if array is None or not array.size or array.dtype.kind not in "fiub":
        return None
    elements = set(array.reshape(-1, 1).view(f"V{array.itemsize}").reshape(-1).tolist())
    return elements.pop() if len(elements) == 1 else None


def _all_are(number: float, name: str, kinds: frozenset[int]) -> Condition:
    """Condition that a constant of some types holds one number only, to the bit."""

    def holds(terms: Terms, bound: Bindings) -> bool:
        elem_type = bound[name].fact.elem_type
        if elem_type not in kinds:
            return False
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        return _uniform(terms, bound[name]) == np.array(number).astype(dtype).tobytes()

    return holds


def _of_scalars(condition: Condition) -> Condition:
    """Condition on scalars, such as trip counts, from which sizes are named early."""

    def holds(terms: Terms, bound: Bindings) -> bool:
        return all(term.fact.shape == () for term in bound.values()) and condition(terms, bound)

    return holds


def _float_constant(terms: Terms, bound: Bindings) -> bool:
    return bound["k"].fact.elem_type in _FLOATS and _array(terms, bound["k"]) is not None


def _no_nan(terms: Terms, bound: Bindings) -> bool:
    constant = _array(terms, bound["k"])
    return _floats(terms, bound) and constant is not None and not np.isnan(constant).any()


def _ordered(terms: Terms, bound: Bindings) -> bool:
    """Constant bounds of Clip, of which the first is not above the second."""
    low, high = (_array(terms, bound[name]) for name in ("low", "high"))
    if low is None or high is None or low.shape or high.shape:
        return False
    return _numbers(terms, bound) and bool(low <= high)


def _covering(terms: Terms, bound: Bindings) -> bool:
    """Constants that cover all numbers: each is below the one or above the other."""
    low, high = (_array(terms, bound[name]) for name in ("low", "high"))
    if low is None or high is None or low.shape or high.shape:
        return False
    return _floats(terms, bound) and bool(low < high)


def _in_order(terms: Terms, bound: Bindings) -> bool:
    """Integers are compared in their own type, or one that is narrower."""
    x, z, a, b = (bound[name] for name in "xzab")
    narrow = x.fact.elem_type
    return _integers(terms, bound) and all(
        one is other or one is in_type(terms, other, narrow) for one, other in ((x, a), (z, b))
    )


def _halves(terms: Terms, bound: Bindings) -> bool:
    """The halves of a 64-bit integer, quotient and remainder, are exact as doubles."""
    units = terms.numbers(bound["u"]) or []
    return len(units) == 1 and 1 << 11 <= units[0] <= 1 << 53


def _no_negative_zero(terms: Terms, bound: Bindings) -> bool:
    """A sum from 0 on differs from that of two numbers where both are -0."""
    tensor = terms.tensor(bound["u"])
    if tensor is None or tensor.elem_type not in _FLOATS or not tensor.is_readable:
        return False
    numbers = tensor.numpy()
    return not (np.signbit(numbers) & (numbers == 0)).any()


def _zero(terms: Terms, bound: Bindings) -> bool:
    return _integers(terms, bound) and terms.numbers(bound["zero"]) == [0]


def _sign_of_divisor(terms: Terms, bound: Bindings) -> bool:
    """A test of the sign of a constant divisor is a constant."""
    divisors, signs = terms.numbers(bound["z"]), terms.numbers(bound["negative"])
    integers = {name: term for name, term in bound.items() if name != "negative"}
    same = divisors is not None and signs == [n < 0 for n in divisors]
    return same and _zero(terms, integers) and covers(bound["z"], bound["negative"])


def _positive_divisor(terms: Terms, bound: Bindings) -> bool:
    divisors = terms.numbers(bound["z"])
    return _zero(terms, bound) and divisors is not None and all(n > 0 for n in divisors)


def _negative_divisor(terms: Terms, bound: Bindings) -> bool:
    divisors = terms.numbers(bound["z"])
    return _zero(terms, bound) and divisors is not None and all(n < 0 for n in divisors)


_REST = "Sub(x, Mul(Div(x, z), z))"
# A remainder that differs in sign from the divisor; Div rounds toward 0.
_DIFFERS = f"And(Xor(Less({_REST}, zero), {{}}), Not(Equal({_REST}, zero)))"
_MOD = f"Where({_DIFFERS}, Add({_REST}, z), {_REST})"
_MOD_BY_CONSTANT = _MOD.replace(f"Xor(Less({_REST}, zero), {{}})", "{}")
_HIGH, _LOW = "Cast(Div({0}, u), to=11)", "Cast(Sub({0}, Mul(Div({0}, u), u)), to=11)"
_PARTS = [half.format(number) for number in "xz" for half in (_HIGH, _LOW)]

_TABLE = [
    ("Div(x, k)", "x", _of_scalars(_all_are(1, "k", _FLOATS))),
    ("Mul(x, k)", "x", _of_scalars(_all_are(1, "k", _FLOATS))),
    ("Greater(x, z)", "Less(z, x)", _anything),
    ("GreaterOrEqual(x, z)", "LessOrEqual(z, x)", _anything),
    ("Or(Less(x, z), Equal(x, z))", "LessOrEqual(x, z)", _anything),
    ("Or(Less(x, high), Less(low, x))", "Not(IsNaN(x))", _covering),
    ("Not(Or(Or(Less(x, z), Less(z, x)), Or(IsNaN(x), IsNaN(z))))", "Equal(x, z)", _floats),
    ("Not(Or(Or(Less(x, k), Less(k, x)), IsNaN(x)))", "Equal(x, k)", _no_nan),
    (
        # High halves decide, or where they are equal, low halves: quotients round toward 0.
        "Or(Less({0}, {2}), And(Not(Less({2}, {0})), Less({1}, {3})))".format(*_PARTS),
        "Less(x, z)",
        _halves,
    ),
    *[
        ("And(Equal({0}, {2}), Equal({1}, {3}))".format(*halves), "Equal(x, z)", _halves)
        for halves in (_PARTS, [half.replace("to=11", "to=7") for half in _PARTS])
    ],
    # Of integers alone: Less of a NaN is false, and Min of a NaN is NaN.
    ("Where(Less(x, z), a, b)", "Min(a, b)", _in_order),
    ("Where(Less(x, z), b, a)", "Max(b, a)", _in_order),
    ("Where(LessOrEqual(x, z), a, b)", "Min(a, b)", _in_order),
    ("Where(LessOrEqual(x, z), b, a)", "Max(b, a)", _in_order),
    ("Where(Not(c), x, z)", "Where(c, z, x)", _anything),
    # Two selects, each with the least number of all: as `passes/utils/select` keeps signs of zeros.
    ("Max(Where(c, x, k), Where(c, k, z))", "Where(c, x, z)", _all_are(-np.inf, "k", _FLOATS)),
    (_MOD.format("Less(z, zero)"), "Mod(x, z)", _zero),
    (_MOD.format("negative"), "Mod(x, z)", _sign_of_divisor),
    (_MOD_BY_CONSTANT.format(f"Less({_REST}, zero)"), "Mod(x, z)", _positive_divisor),
    (_MOD_BY_CONSTANT.format(f"Not(Less({_REST}, zero))"), "Mod(x, z)", _negative_divisor),
    ("Mod(x, z, fmod=1)", _REST, _integers),
    ("Mod(x, z)", _REST, _unsigned),
    ("Clip(x, low)", "Max(x, low)", _bounds),
    ("Clip(x, low, high)", "Min(Max(x, low), high)", _bounds),
    ("Clip(x, None, high)", "Min(x, high)", _bounds),
    ("Sum(x, u)", "Add(x, u)", _no_negative_zero),
    ("Sum(u, x)", "Add(u, x)", _no_negative_zero),
    ("Max(x)", "x", _anything),
    ("Min(x)", "x", _anything),
    ("Max(x, x)", "x", _integers),
    ("Min(x, x)", "x", _integers),
]

_LATE_TABLE = [
    ("Max(x, x)", "x", _floats),
    ("Min(x, x)", "x", _floats),
    # Neutral elements; x + 0 is not x: -0 + 0 is 0.
    ("Mul(x, k)", "x", _all_are(1, "k", _FLOATS | _INTEGERS)),
    ("Div(x, k)", "x", _all_are(1, "k", _FLOATS | _INTEGERS)),
    ("Add(x, k)", "x", _all_are(0, "k", _INTEGERS)),
    ("Sub(x, k)", "x", _all_are(0, "k", _INTEGERS)),
    ("Div(x, k)", "Neg(x)", _all_are(-1, "k", _FLOATS)),
    ("Add(x, k)", "x", _all_are(-0.0, "k", _FLOATS)),
    ("BitwiseOr(x, k)", "x", _all_are(0, "k", _INTEGERS)),
    ("BitwiseXor(x, k)", "x", _all_are(0, "k", _INTEGERS)),
    ("BitwiseAnd(x, k)", "x", _all_are(-1, "k", _INTEGERS)),
    # Signs; -(x - z) is not z - x: their zeros differ.
    ("Mul(Neg(x), Neg(z))", "Mul(x, z)", _floats),
    ("Div(Neg(x), Neg(z))", "Div(x, z)", _floats),
    ("Mul(x, k)", "Neg(x)", _all_are(-1, "k", _FLOATS)),
    ("Sub(k, x)", "Neg(x)", _all_are(-0.0, "k", _FLOATS)),
    ("Sub(x, k)", "Add(x, Neg(k))", _float_constant),
    ("Add(x, Neg(z))", "Sub(x, z)", _floats),
    ("Sub(x, Neg(z))", "Add(x, z)", _floats),
    ("Neg(Mul(x, k))", "Mul(x, Neg(k))", _float_constant),
    ("Neg(Div(x, k))", "Div(x, Neg(k))", _float_constant),
    ("Neg(Div(k, x))", "Div(Neg(k), x)", _float_constant),
    ("Mul(Neg(x), k)", "Mul(x, Neg(k))", _float_constant),
    ("Div(Neg(x), k)", "Div(x, Neg(k))", _float_constant),
    ("Div(k, Neg(x))", "Div(Neg(k), x)", _float_constant),
    ("Mul(Neg(x), z)", "Neg(Mul(x, z))", _floats),
    ("Div(Neg(x), z)", "Neg(Div(x, z))", _floats),
    ("Div(x, Neg(z))", "Neg(Div(x, z))", _floats),
    ("Neg(Neg(x))", "x", _numbers),
    ("Abs(Neg(x))", "Abs(x)", _signed),
    ("Mul(Abs(x), Abs(x))", "Mul(x, x)", _numbers),
    # Of floats alone: the square of an integer may wrap to a negative one.
    ("Abs(Mul(x, x))", "Mul(x, x)", _floats),
    ("Mul(x, k)", "Add(x, x)", _all_are(2, "k", _FLOATS)),
    # Operators that change nothing a second time.
    *[(f"{op}({op}(x))", f"{op}(x)", _numbers) for op in ("Abs", "Relu", "Sign")],
    *[
        (f"{op}({below}(x))", f"{below}(x)", _floats)
        for op, below in itertools.product(("Ceil", "Floor", "Round"), repeat=2)
    ],
    ("BitwiseNot(BitwiseNot(x))", "x", _integers),
    ("Not(Not(x))", "x", _anything),
    ("BitwiseAnd(x, x)", "x", _integers),
    ("BitwiseOr(x, x)", "x", _integers),
    ("Clip(x)", "x", _integers),
    ("Clip(Clip(x, low, high), low, high)", "Clip(x, low, high)", _ordered),
    # Of integers alone: Less and LessOrEqual of a NaN are both false.
    ("Not(Less(x, z))", "LessOrEqual(z, x)", _integers),
    ("Not(LessOrEqual(x, z))", "Less(z, x)", _integers),
]
"""Rules of the comparison: most terms are built without a look at their operands."""

REWRITES: dict[str, list[Rewrite]] = {}
"""Rules by the head to which they apply."""

LATE_REWRITES: dict[str, list[Rewrite]] = {}
"""Rules of the comparison by the head to which they apply."""

for _rules, _rows in ((REWRITES, _TABLE), (LATE_REWRITES, _LATE_TABLE)):
    for _before, _after, _condition in _rows:
        _rule = Rewrite.of(_before, _after, _condition)
        _rules.setdefault(_before.partition("(")[0], []).append(_rule)
REWRITES["choose"] = REWRITES["Where"]


_ALSO = {"choose": "Where", "Expand": "constant"}
"""Heads that a pattern may mean as well: `k` stands for an Expand of a constant, too."""


@canonical_form(*REWRITES)
def by_table(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Apply the first rule of the table that matches. Only between scalars is a choice by one
    boolean a Where: it broadcasts nothing."""
    if head.op is None and any(arg is None or arg.fact.shape != () for arg in args):
        return None
    result = _apply(terms, REWRITES[head.name], head, args)
    return None if result is None else [result]


for _name, _rewrites in REWRITES.items():
    if all(rewrite.inside for rewrite in _rewrites):
        _inside = frozenset[str]().union(*[rewrite.inside for rewrite in _rewrites])
        TRIGGERS[_name] = _inside | {also for also, name in _ALSO.items() if name in _inside}


def simplest(terms: Terms, head: Head, args: Args) -> Term | None:
    """Apply the first late rule that matches, also below a view of the only operand."""
    rules = LATE_REWRITES.get(head.name, ())
    result = _apply(terms, rules, head, args) if rules else None
    if result is None and head.name == "Div":
        result = _by_reciprocal(terms, head, args)
    x = args[0] if len(args) == 1 else None
    if not rules or result is not None or x is None or x.head.name != "view":
        return result
    below = _apply(terms, rules, head, x.args[:1])
    return None if below is None or x.fact.shape is None else terms.view(below, x.fact.shape)


def _by_reciprocal(terms: Terms, head: Head, args: Args) -> Term | None:
    """Division by powers of two as a product: both round one number, which is the same."""
    x, k = args
    array = None if k is None or k.fact.elem_type not in _FLOATS else _array(terms, k)
    if array is None or not array.size:
        return None
    with np.errstate(all="ignore"):
        reciprocal = (1 / array).astype(array.dtype)
        mantissas, normal = np.frexp(array)[0], np.abs(reciprocal) >= np.finfo(array.dtype).tiny
        exact = (np.abs(mantissas) == 0.5) & normal & np.isfinite(reciprocal)
    return terms.op("Mul", head, x, terms.constant(reciprocal)) if exact.all() else None


def _apply(terms: Terms, rules: Sequence[Rewrite], head: Head, args: Args) -> Term | None:
    names = {arg.head.name for arg in args if arg is not None}
    names |= {_ALSO[name] for name in names if name in _ALSO}
    for rewrite in rules:
        if not rewrite.inside <= names:
            continue
        for bound in matches(rewrite.before, head, args):
            if rewrite.condition(terms, bound) and _keeps_shape(rewrite.after, bound):
                return build(terms, rewrite.after, bound)
    return None


def matches(
    expression: ast.Call, head: Head, args: Args, bound: Bindings | None = None
) -> list[Bindings]:
    """Ways in which a pattern matches a head on arguments."""
    name = expression.func.id  # type: ignore[attr-defined]
    if name not in (head.name, _ALSO.get(head.name)) or len(args) != len(expression.args):
        return []
    attributes = _attributes(expression).items()
    if head.attribute("broadcast") or any(head.attribute(key) != n for key, n in attributes):
        return []
    results = []
    for operands in (args, args[::-1]) if name in COMMUTATIVE else (args,):
        ways = [bound or {}]
        for inner, arg in zip(expression.args, operands, strict=True):
            ways = [more for way in ways for more in _matches_operand(inner, arg, way)]
        results += ways
    return results


def _matches_operand(inner: ast.expr, term: Term | None, bound: Bindings) -> list[Bindings]:
    if term is None or isinstance(inner, ast.Constant):
        return [bound] if term is None and isinstance(inner, ast.Constant) else []
    if isinstance(inner, ast.Name):
        return [{**bound, inner.id: term}] if bound.get(inner.id, term) is term else []
    assert isinstance(inner, ast.Call)
    return matches(inner, term.head, term.args, bound)


@functools.cache
def _attributes(expression: ast.Call) -> dict[str, int]:
    return {str(word.arg): ast.literal_eval(word.value) for word in expression.keywords}


def _keeps_shape(after: ast.expr, bound: Bindings) -> bool:
    """Test whether each operand that is dropped is as large as one that stays."""
    names = {node.id for node in ast.walk(after) if isinstance(node, ast.Name)} & bound.keys()
    return all(any(covers(bound[name], term) for name in names) for term in bound.values())


def build(terms: Terms, expression: ast.expr, bound: Bindings) -> Term:
    """Term of a pattern."""
    if isinstance(expression, ast.Name):
        return bound[expression.id]
    assert isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name)
    operands = [build(terms, operand, bound) for operand in expression.args]
    return terms.op(expression.func.id, _BUILT_AT, *operands, **_attributes(expression))


@canonical_form("Max", "Min")
def of_two(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Nest Min and Max of several integers."""
    operands = [arg for arg in args if arg is not None]
    if len(operands) < 3 or any(arg.fact.elem_type not in INTEGER_BITS for arg in operands):
        return None
    return [functools.reduce(lambda one, other: terms.op(head.name, head, one, other), operands)]
