"""Terms and their heads: the values of a model as expressions over its inputs.

A term is a head (a function symbol: an operator, or a name of the prover's own such as "view")
applied to terms. Equal terms are one object (hash-consing, Ershov 1958), so that equality is
identity and two models of a million nodes are compared by what they share.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, final

from ....facts.fact import Fact, Shape
from ....ir import Operator, normal_domain
from ....ir.subgraph_arity import BODIES
from ....ops import rules_of
from ....ops.traits import OperandRanks
from .budget import Budget, OpenError
from .op_semantics import (
    FIRST_PLAIN,
    Meaning,
    has_any_outputs,
    meaning_of,
    meaning_of_serialized,
    serialize,
    with_changes,
)

_NONE: Any = MappingProxyType({})
"""Table of heads of the prover's own, which hold no operator."""


class Head:
    """Function symbol of a term; one object for each meaning.

    Attributes:
        name: the operator ("Loop", "domain::Name"), or a name of the prover's own ("input",
            "view").
        key: difference from others of its name: version and attributes, a constant, a name.
        op: the operator; None for a head of the prover's own.
        imports: opsets of the operator: the last ones with this spelling.
        parts: terms inside it, over variables that it binds.
        outputs: number of outputs, where the meaning depends on it; else 0.
        draws: whether it may draw random numbers; None if not computed yet.
        unknown: whether ONNX does not define it.
        applications: outputs, by arguments (the hash-consing table).
        numbers: integer attributes, cached.
        elem_types: element types of its outputs by those of its inputs, for all proofs.
        axes_of_first: axes of the first input that its attributes name.
        operand_ranks: ranks that it takes, by operand.
    """

    __slots__ = (
        "applications",
        "axes_of_first",
        "draws",
        "elem_types",
        "imports",
        "kernels",
        "key",
        "name",
        "numbers",
        "op",
        "operand_ranks",
        "outputs",
        "parts",
        "unknown",
    )

    def __init__(
        self, name: str, key: Any = None, parts: tuple[Term, ...] = (), op: Operator | None = None
    ) -> None:
        self.name = name
        self.key = key
        self.op = op
        self.imports: Mapping[str, int] = _NONE
        self.parts = parts
        self.outputs = 0
        self.draws: bool | None = None
        self.unknown = False
        self.numbers: dict[str, int] = {}
        self.elem_types: dict[Hashable, tuple[int, ...]] = _NONE
        self.axes_of_first: Sequence[int] = ()
        self.operand_ranks: OperandRanks = _NONE
        self.applications: dict[Args, list[Term | None]] = {}
        self.kernels: dict[Hashable, Callable[[Sequence[Any]], list[Any]]] = _NONE

    def attribute(self, name: str, default: Any = None) -> Any:
        """Attribute of the operator."""
        if self.op is None:
            return default
        value = self.numbers.get(name)
        if value is None:
            value = self.op.attribute(name, default)
            # A default is not kept: another caller may have another one.
            if isinstance(value, int) and name in self.op.attributes:
                self.numbers[name] = value
        return value

    def text(self, name: str) -> str:
        """Attribute of type string; empty if absent."""
        value = self.attribute(name, "")
        return value.decode() if isinstance(value, bytes) else str(value)

    @property
    def opset(self) -> int:
        """Version of the default domain."""
        return self.imports.get("", 0)

    def __repr__(self) -> str:
        return self.name


_SHORT = 256
"""Operators whose attributes take so many bytes are kept beyond a proof."""


class Heads:
    """All heads of a proof.

    Attributes:
        faults: values of attributes of the original that its opset does not list.
    """

    def __init__(self) -> None:
        self.faults: set[str] = set()
        self._known: dict[Hashable, Head] = {}
        self._spelled: dict[Hashable, Head] = {}

    def __iter__(self) -> Iterator[Head]:
        return iter(self._known.values())

    def own(self, name: str, key: Any = None, parts: tuple[Term, ...] = ()) -> Head:
        """Head of the prover's own."""
        head = self._known.get((name, key, parts))
        if head is None:
            head = self._known[name, key, parts] = Head(name, key, parts)
        return head

    def of(self, op: Operator, imports: Mapping[str, int], outputs: int = 0) -> Head:
        """Head of an operator at some opsets.

        Args:
            op: the operator; its bodies do not count.
            imports: the opsets.
            outputs: number of outputs of its node, which may be a part of its meaning.
        """
        version = imports.get(normal_domain(op.domain), 0)
        serialized = serialize(op.attributes)
        spelled = (op.qualname, op.overload, version, serialized, outputs)
        head = self._spelled.get(spelled)
        if head is None:
            if sum(map(len, serialized)) > _SHORT:
                meaning = meaning_of(op, version, outputs)
            else:
                kind = op.op_type, op.domain, op.overload, version, outputs
                meaning = meaning_of_serialized(*kind, *serialized)
            head = self._spelled[spelled] = self._meant(meaning, version, imports, outputs)
        return head

    def with_attributes(self, head: Head, **changed: Any) -> Head:
        """Head of the same operator with other attributes."""
        if not changed:
            return head
        assert head.op is not None
        return self.of(with_changes(head.op, **changed), head.imports, head.outputs)

    def like(self, op_type: str, like: Head, **attributes: Any) -> Head:
        """Head of an operator of the default domain, at the opsets of another head."""
        return self.of(Operator.make(op_type, **attributes), like.imports)

    def _meant(
        self, meaning: Meaning, version: int, imports: Mapping[str, int], outputs: int
    ) -> Head:
        op = meaning.op
        # Only for operators such as Split is the number of outputs a part of the meaning.
        outputs = outputs if has_any_outputs(op, version) else 0
        key = meaning.key, outputs
        head = self._known.get(key)
        if head is None:
            if not normal_domain(op.domain) and op.op_type not in BODIES:
                imports = {**imports, "": meaning.opset}
            head = self._known[key] = Head(_name_of(op, meaning), key, op=op)
            head.imports, head.outputs = imports, outputs
            head.elem_types, head.kernels = meaning.elem_types, meaning.kernels
            rules = rules_of(op)
            head.operand_ranks = rules.operand_ranks
            if rules.names_axes_of_first:
                axis = head.attribute("axis")
                head.axes_of_first = [
                    *(head.attribute("axes") or ()),
                    *([] if axis is None else [axis]),
                ]
        return head


def _name_of(op: Operator, meaning: Meaning) -> str:
    """The name by which rules find an operator: none finds an older form of one."""
    is_older = meaning.opset < FIRST_PLAIN and not normal_domain(op.domain)
    return f"{op.qualname} before 7" if is_older and op.op_type not in BODIES else op.qualname


Args = tuple["Term | None", ...]
Operands = tuple["Term", ...]
"""Arguments of a head without optional inputs."""


@final
@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Term:
    """Output of a head applied to terms. `Terms` alone builds it; immutable but for its fact.

    Attributes:
        args: the arguments; None for an absent input.
        index: which output.
        number: position in the order in which terms are built, arguments first.
        fact: its type, its shape, and its content if it is a small integer tensor.
    """

    head: Head
    args: Args
    index: int
    number: int
    fact: Fact

    def is_op(self, *op_types: str) -> bool:
        """Test whether it is an output of one of these operators of the default domain."""
        return self.head.name in op_types

    @property
    def operands(self) -> Operands:
        """Arguments of a head without optional inputs."""
        return self.args  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """Shape of a tensor of known rank.

        Raises:
            OpenError: the rank is not known, or it is not a tensor.
        """
        if self.fact.shape is None:
            raise OpenError(f"{self.head.name} has no known rank")
        return self.fact.shape

    def __repr__(self) -> str:
        return f"%{self.number}"


def descendants(
    roots: Sequence[Term | None], visited: set[Term] | None = None, budget: Budget | None = None
) -> Iterator[Term]:
    """Subterms of terms, each once, arguments first; without recursion.

    Args:
        visited: subterms to skip; those visited are added.
        budget: budget that counts a step for each, where many are visited again and again.
    """
    finished = set() if visited is None else visited
    stack = [root for root in reversed(roots) if root is not None]
    while stack:
        term = stack[-1]
        if term in finished:
            stack.pop()
            continue
        waiting = [a for a in term.head.parts + term.args if a is not None and a not in finished]
        if waiting:
            stack.extend(waiting)
            continue
        finished.add(term)
        stack.pop()
        if budget is not None:
            budget.step()
        yield term


_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def bottom_up(
    root: _Key,
    memo: dict[_Key, _Value],
    below: Callable[[_Key], Sequence[_Key | None]],
    value: Callable[[_Key, list[Any]], _Value],
) -> _Value:
    """Value of a term by those of the terms below it; without recursion.

    Args:
        root: the term.
        memo: known values by term; others are added.
        below: function from a term to those below it.
        value: function from a term and their values to its value.
    """
    stack = [root]
    while stack:
        at = stack[-1]
        parts = () if at in memo else below(at)
        waiting = [part for part in parts if part is not None and part not in memo]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if at not in memo:
            memo[at] = value(at, [None if part is None else memo[part] for part in parts])
    return memo[root]


def reach(root: Term | None, visited: set[Term | None]) -> None:
    """Add a term and its subterms to a set, in any order."""
    stack = [root]
    while stack:
        term = stack.pop()
        if term not in visited:
            visited.add(term)
            assert term is not None
            stack += term.args
            if term.head.parts:
                stack += term.head.parts


def bare(term: Term) -> Term:
    """Term of the same elements that is no view."""
    while term.head.name == "view" and term.args[0] is not None:
        term = term.args[0]
    return term


def below_view(term: Term) -> Term:
    """Term that a view shows; any other term itself."""
    return term.operands[0] if term.head.name == "view" else term


def added_terms(names: Sequence[str], roots: Sequence[Term | None]) -> dict[str, int]:
    """Number of terms that each root adds to those before it, by name."""
    visited: set[Term | None] = {None}
    counts = {}
    for name, root in zip(names, roots, strict=True):
        before = len(visited)
        reach(root, visited)
        counts[name] = len(visited) - before
    return counts


def fingerprint(root: Term, memo: dict[Term, str]) -> str:
    """Digest of a term, equal in every run of a proof."""

    def digest(term: Term, parts: list[str | None]) -> str:
        key, count = term.head.key, len(term.head.parts)
        if term.head.name == "bound":
            key = key[0], key[2]  # index and level of the state, not the number of runs
        text = f"{term.head.name} {key!r} {parts[:count]} {parts[count:]} {term.index}"
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    return bottom_up(root, memo, lambda term: (*term.head.parts, *term.args), digest)


def speaks_of_no_axis(head: Head, args: Args) -> bool:
    """Test whether an attribute names an axis that the first input does not have. Such a node
    fails, and nothing that holds for another axis holds for it."""
    axes = head.axes_of_first
    rank = rank_of(args[0]) if axes and args else None
    if rank is None:
        return False
    # Flatten may divide the axes behind the last one, too.
    most = rank + 1 if head.name == "Flatten" else rank
    return not all(-rank <= axis < most for axis in axes)


def rank_of(term: Term | None) -> int | None:
    """Rank of a term, if known."""
    return None if term is None or term.fact.shape is None else len(term.fact.shape)


Pair = tuple[Term, Term]
