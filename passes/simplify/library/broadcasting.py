"""Operators that broadcast by themselves what an Expand broadcasts before them."""

from ..rules.registry import law

BINARY = (
    *("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max"),
    *("Min", "Mul", "Or", "Pow", "Sub"),
)
for _op, _place in (
    *((op, place) for op in BINARY for place in (0, 1)),
    *(("Where", n) for n in range(3)),
):
    # One of the other operands has the shape of the result.
    _others = ["z", "w"] if _op == "Where" else ["z"]
    _before, _after = (
        ", ".join([*_others[:_place], name, *_others[_place:]]) for name in ("t", "x")
    )
    _types = "floats " if _op == "Div" else ""  # a division of integers by 0 fails
    _more = ", w[< *S]" if _op == "Where" else ""
    law(
        f"{_op}OfExpand{_place or ''}: Let {_op} broadcast operand {_place} of an Expand.",
        f"""({_types}x[< *S], s, z[*S]{_more}) => (y[*S]) {{
            t = Expand (x, s)  y = {_op} ({_before}) }}""",
        f"({', '.join(['x', *_others])}) => (y) {{ y = {_op} ({_after}) }}",
        cases=lambda ranks: [{"s": "Shape (z)"}],
        commutes=False,  # operands stay in their order
        ranks=range(6),
    )
