"""Operators that broadcast by themselves what an Expand broadcasts before them."""

from typing import Any

from ..rules.registry import shipped
from ..rules.rule import Rule

BINARY = (
    *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max"),
    *("Min", "Mul", "Or", "Pow", "Sub"),
)


def _expanded(op_type: str, place: int, count: int) -> type[Rule]:
    """A rule that reads the operand of an Expand instead.

    Args:
        op_type: an operator that broadcasts.
        place: the place of the Expand among its operands.
        count: the number of its operands; one of the others has the shape of the result.
    """
    others = ["z", "w"][: count - 1]
    before, after = ([*others[:place], name, *others[place:]] for name in ("t", "x"))
    # A division of integers by 0 fails.
    types = "floats " if op_type == "Div" else ""
    header = f"{types}x[< *S], s, z[*S]" + (", w[< *S]" if count > 2 else "")

    def cases(self: Rule, ranks: Any) -> list[dict[str, Any]]:
        return [{"s": "Shape (z)"}]

    content = {
        "before": f"""({header}) => (y[*S]) {{
            t = Expand (x, s)  y = {op_type} ({", ".join(before)}) }}""",
        "after": f"({', '.join(['x', *others])}) => (y) {{ y = {op_type} ({', '.join(after)}) }}",
        "cases": cases,
        "commutes": False,  # operands stay in their order
        "ranks": range(6),
        "__doc__": f"Let {op_type} broadcast operand {place} of an Expand.",
    }
    return type(f"{op_type}OfExpand{place or ''}", (Rule,), content)


for _op_type in BINARY:
    shipped(_expanded(_op_type, 0, 2))
    shipped(_expanded(_op_type, 1, 2))
for _place in range(3):
    shipped(_expanded("Where", _place, 3))
