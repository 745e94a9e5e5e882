"""Terms as ONNX text, for people: the last nodes before two terms differ."""

from __future__ import annotations

import onnx

from .terms import Term

_MOST_LINES = 12
_MOST_KEY = 40


def shown(term: Term | None, depth: int = 2) -> str:
    """A term and what it is made of, down to a depth, one line each, arguments first."""
    if term is None:
        return "absent"
    found = {term}
    level = [term]
    for _ in range(depth):
        level = [arg for at in level for arg in at.args if arg is not None and arg not in found]
        found.update(level[: _MOST_LINES - len(found)])
    # They are numbered as they were made, arguments first; the name of an input says all of it.
    nodes = sorted(found - {term}, key=lambda at: (at.number, at.index))
    return "\n".join([*(_line(at) for at in nodes if at.head.name != "input"), _line(term)])


def _line(term: Term) -> str:
    args = ", ".join("" if arg is None else _name(arg) for arg in term.args)
    return f"{_type(term)} {_name(term)} = {term.head.name}{_attributes(term)} ({args})"


def _name(term: Term) -> str:
    if term.head.name == "input":
        return str(term.head.key)
    return f"t{term.number}" + (f".{term.index}" if term.index else "")


def _attributes(term: Term) -> str:
    op, key = term.head.op, term.head.key
    if op is not None:
        told = [f"{name} = {op.attribute(name)}" for name in op.attributes]
        return f" <{', '.join(told)}>" if told else ""
    if term.head.name == "input" or not isinstance(key, int | str | tuple):
        return ""
    plain = [
        str(k) for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, int | str)
    ]
    return f" <{', '.join(plain)[:_MOST_KEY]}>" if plain else ""


def _type(term: Term) -> str:
    fact = term.fact
    kind = onnx.TensorProto.DataType.Name(fact.elem_type).lower() if fact.elem_type else "?"
    if fact.shape is None:
        return kind
    return f"{kind}[{','.join(map(str, fact.shape))}]" if fact.shape else kind
