"""Forms of a node that may fail: as it stands, and as later versions of its operator write it."""

from ...facts.fact import Fact
from .execution.obligations import Obligation
from .terms.term import Term
from .terms.term_manager import CANONICAL_FORMS, Terms

NEWER_NAMES = {"Scatter": "ScatterElements", "Upsample": "Resize"}
"""Later names of operators."""


def forms_of(terms: Terms, obligation: Obligation) -> list[Obligation]:
    """A node as it stands, and in the canonical form of its operator."""
    head, args, result = obligation.head, obligation.args, obligation.result
    if head.name == "Reshape" and not may_hold_zero(args[1]):
        return [obligation, obligation._replace(head=terms.heads.own("reshape"))]
    if head.name == "SequenceAt" and result is not None and result.is_op("Gather"):
        same = result.args[1] is args[1] and not result.head.attribute("axis", 0)
        rows = obligation._replace(head=result.head, args=result.args)
        return [obligation, rows] if same else [obligation]
    if head.name == "Concat":
        # It joins the operands of Concats, which have run. A form that lacks one of its operands,
        # such as an empty one, does not ask whether that fits.
        flat = result is not None and result.is_op("Concat") and result
        whole = flat and all(a and (a in flat.args or a.is_op("Concat")) for a in args)
        joined = [obligation._replace(head=flat.head, args=flat.args)] if flat and whole else []
        return [obligation, *joined]
    if head.attribute("layout") and result is not None:
        while result is not None and result.is_op("Transpose", "view"):
            result = result.args[0]
        if result is not None and result.head.name == head.name:
            return [obligation, obligation._replace(head=result.head, args=result.args)]
        return [obligation]
    form = _canonical(terms, obligation)
    return [obligation] if form is None else [obligation, form]


def _canonical(terms: Terms, obligation: Obligation) -> Obligation | None:
    """Node in the canonical form of its operator; None if that works on other data. An operator
    on a constant is taken as one on a variable, which is not folded."""
    head, args, result = obligation.head, obligation.args, obligation.result
    if head.op is None or result is None or not args or args[0] is None:
        return None
    first, data = args[0], args[0]
    if terms.tensor(result) is not None and head.name in CANONICAL_FORMS:
        fact = Fact(first.fact.elem_type, first.fact.shape)
        data = terms.leaf("operand", first.number, fact)
        result = terms.apply(head, (data, *args[1:]))[0]
    if result is None or result.head.name not in (head.name, NEWER_NAMES.get(head.name)):
        return None
    if result.args[:1] != (data,) or (result.head, result.args[1:]) == (head, args[1:]):
        return None
    return obligation._replace(head=result.head, args=(first, *result.args[1:]))


def may_hold_zero(shape: Term | None) -> bool:
    """Test for a target shape with an element that may be 0."""
    content = None if shape is None else shape.fact.content
    return content is None or any(
        size is None or size.equals(0) is not False for size in content.flat
    )
