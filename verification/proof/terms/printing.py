"""Terms as ONNX text for people: the last nodes before two terms differ."""

import math
from typing import Any

import numpy as np
import onnx

from ....facts.fact import Fact
from .term import Args, Head, Term

_MOST_LINES = 12
_MOST_KEY = 40
_MOST_ELEMENTS = 8


def shown(term: Term | None, depth: int = 2) -> str:
    """Text of a term and its arguments down to a depth, one line each."""
    if term is None:
        return "absent"
    subterms = {term}
    level = [term]
    for _ in range(depth):
        level = [arg for at in level for arg in at.args if arg is not None and arg not in subterms]
        subterms.update(level[: _MOST_LINES - len(subterms)])
    # Numbers follow the order of construction, arguments first; inputs need no line.
    nodes = sorted(subterms - {term}, key=lambda at: (at.number, at.index))
    return "\n".join([*(_line(at) for at in nodes if at.head.name != "input"), _line(term)])


_IN_WORDS = {
    "bound": "the state of a loop",
    "choose": "a choice by a condition",
    "constant": "a constant",
    "drawn": "the result of a random or custom operator",
    "final": "the last state of a loop",
    "fresh": "the state of a loop",
    "narrow": "a part of a tensor",
    "padded": "a padded tensor",
    "polynomial": "a sum of integers",
    "recurrence": "a loop",
    "reversed": "a reversed tensor",
    "sizes": "sizes",
    "stacked": "the scan output of a loop",
    "state": "the state of a loop",
    "view": "a reshaped tensor",
    "void": "an empty tensor",
}


def in_words(term: Term) -> str:
    """Name of a term's operator, or words for a head of the prover's own."""
    if term.head.name == "input":
        return f"input {name_of(term)!r}"
    return _IN_WORDS.get(term.head.name, term.head.name)


def applied(head: Head, args: Args) -> str:
    """ONNX text of an operator on terms; "absent" for no operator."""
    if head.op is None:
        return shown(None)
    operands = dict.fromkeys(line for arg in args if arg for line in shown(arg, 1).splitlines())
    context = [line for line in operands if " = input " not in line]
    return "\n".join([*context, in_a_line(Term(head, args, 0, 0, Fact()))])


def _line(term: Term) -> str:
    return f"{type_of(term)} {name_of(term)} = {in_a_line(term)}"


def in_a_line(term: Term) -> str:
    """One line of text: a head applied to terms by name."""
    args = ", ".join("" if arg is None else name_of(arg) for arg in term.args)
    return f"{term.head.name}{_attributes(term)} ({args})"


def name_of(term: Term) -> str:
    """Name of a term: an input by its name, any other by number."""
    if term.head.name == "input":
        return str(term.head.key)
    return f"t{term.number}" + (f".{term.index}" if term.index else "")


def _attributes(term: Term) -> str:
    op, key = term.head.op, term.head.key
    if op is not None:
        texts = [f"{name} = {_attribute_text(op.attribute(name))}" for name in op.attributes]
        return f" <{', '.join(texts)}>" if texts else ""
    if term.head.name in ("constant", "sizes"):
        return f" <value = {_content(term)}>"
    if term.head.name == "input" or not isinstance(key, int | str | tuple):
        return ""
    plain = [
        str(k) for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, int | str)
    ]
    return f" <{', '.join(plain)[:_MOST_KEY]}>" if plain else ""


def _attribute_text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _content(term: Term) -> str:
    """Elements of a constant, or of sizes; the first of many."""
    elements = term.fact.content
    if elements is None and term.head.name == "constant":
        elements = _elements(*term.head.key)
    if elements is None:
        return "{...}"
    texts = [str(element) for element in elements.reshape(-1)[:_MOST_ELEMENTS]]
    more = ["..."] if elements.size > _MOST_ELEMENTS else []
    return f"{{{', '.join([*texts, *more])}}}"


def _elements(elem_type: int, dims: tuple[int, ...], content: Any) -> Any:
    """Elements of a constant whose head holds them rather than their digest."""
    if isinstance(content, tuple):
        return np.array(content, object)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    if len(content) != math.prod(dims) * dtype.itemsize:
        return None
    return np.frombuffer(content, dtype)


def type_of(term: Term) -> str:
    """Type of a term in ONNX text."""
    fact = term.fact
    kind = onnx.TensorProto.DataType.Name(fact.elem_type).lower() if fact.elem_type else "?"
    if fact.shape is None:
        return kind
    return f"{kind}[{','.join(map(str, fact.shape))}]" if fact.shape else kind
