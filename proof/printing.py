"""Terms as ONNX text, for people: the last nodes before two terms differ."""

from __future__ import annotations

from .terms import Term

_MOST_LINES = 12


def shown(term: Term | None, depth: int = 2) -> str:
    """A term and what it is made of, down to a depth, one line each, arguments first."""
    lines: list[str] = []
    seen: set[Term] = set()

    def show(at: Term, left: int) -> None:
        if at in seen or len(lines) >= _MOST_LINES:
            return
        seen.add(at)
        if left:
            for arg in at.args:
                if arg is not None:
                    show(arg, left - 1)
        lines.append(_line(at))

    if term is None:
        return "absent"
    show(term, depth)
    return "\n".join(lines)


def _line(term: Term) -> str:
    args = ", ".join("" if a is None else _name(a) for a in term.args)
    key = "" if term.head.op is not None else f" {_key(term)}"
    attributes = ""
    if term.head.op is not None and term.head.op.attributes:
        names = [f"{n} = {term.head.op.attribute(n)}" for n in term.head.op.attributes]
        attributes = f" <{', '.join(names)}>"
    return f"{_name(term)} = {term.head.name}{attributes}{key} ({args})  # {_type(term)}"


def _name(term: Term) -> str:
    if term.head.name == "input":
        return str(term.head.key)
    return f"t{term.number}" + (f".{term.index}" if term.index else "")


def _key(term: Term) -> str:
    return str(term.head.key)[:60]


def _type(term: Term) -> str:
    fact = term.fact
    shape = "?" if fact.shape is None else list(fact.shape)
    return f"{fact.elem_type} {shape}"
