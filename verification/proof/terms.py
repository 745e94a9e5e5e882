"""Terms: what a value of a model is, written over the inputs of the model.

A term is an operator applied to terms. Equal terms are one object (hash-consing, Ershov 1958), so
that equality is identity and two models of a million nodes are compared by what they share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import final

from ...facts.fact import Fact, Shape
from .budget import OpenError
from .function_symbols import Head

Args = tuple["Term | None", ...]


@final
class Term:
    """One output of a head applied to terms. Made by `Terms` only; immutable but for its fact.

    Attributes:
        head: what is applied.
        args: to what; None stands for an input that is left out.
        index: which output.
        number: terms are numbered as they are made, arguments first.
        fact: its type, its shape, and its content where it is a small integer tensor.
    """

    __slots__ = ("args", "fact", "head", "index", "number")

    def __init__(self, head: Head, args: Args, index: int, number: int, fact: Fact) -> None:
        self.head = head
        self.args = args
        self.index = index
        self.number = number
        self.fact = fact

    def is_op(self, *op_types: str) -> bool:
        """Whether it is the result of one of these operators of the default domain."""
        return self.head.name in op_types

    @property
    def shape(self) -> Shape:
        """Its sizes, for what can only be asked of a tensor of known rank.

        Raises:
            OpenError: the rank is not known, or it is no tensor.
        """
        if self.fact.shape is None:
            raise OpenError(f"{self.head.name} has no known rank")
        return self.fact.shape

    def __repr__(self) -> str:
        return f"%{self.number}"


def descendants(roots: Sequence[Term | None], seen: set[Term] | None = None) -> Iterator[Term]:
    """Terms with all that they are made of, each once, arguments first; without recursion.

    Args:
        roots: the terms.
        seen: what is left out; what is given is added to it.
    """
    done = set() if seen is None else seen
    stack = [root for root in reversed(roots) if root is not None]
    while stack:
        term = stack[-1]
        if term in done:
            stack.pop()
            continue
        waiting = [a for a in term.head.parts + term.args if a is not None and a not in done]
        if waiting:
            stack.extend(waiting)
            continue
        done.add(term)
        stack.pop()
        yield term


def reach(root: Term | None, seen: set[Term | None]) -> None:
    """Add a term to those that are seen, with all that it is made of, in any order."""
    stack = [root]
    while stack:
        term = stack.pop()
        if term not in seen:
            seen.add(term)
            assert term is not None
            stack += term.args
            stack += term.head.parts


def fingerprint(root: Term) -> str:
    """What a term is, in a few letters; the same in every run of a proof."""
    texts: dict[Term, str] = {}
    for term in descendants([root]):
        key = term.head.key
        if term.head.name == "bound":
            key = key[0], key[2]  # which state of which loop around it, not how often it was run
        inside = [texts.get(part, "") for part in term.head.parts]
        args = ["" if arg is None else texts[arg] for arg in term.args]
        text = f"{term.head.name} {key!r} {inside} {args} {term.index}"
        texts[term] = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return texts[root]
