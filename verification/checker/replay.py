"""Replay of a derivation: each step is derived again, and nothing else is believed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

import onnx

from .execution import Application, Declaration, Execution, Models
from .inference import fact_of, refine
from .meaning import BRANCHES
from .rules import NOTIONS, RULES, assumption_of
from .scans import loop_of, rows_of_any_size, source_of
from .terms import ABSENT, COMMUTATIVE, CertificateError, Terms, carries_all

# Bodies around a node, by the terms that decide whether they run.
Guards = frozenset[tuple[object, str]]
# Branch that never runs.
_NEVER = ABSENT, ""
_Placed = tuple[Declaration, Guards]


class Replay:
    """Derivation under way, with what its steps assume so far."""

    def __init__(self, models: Models, equality: str = "bits") -> None:
        self.models, self.terms, self.equality = models, models.terms, equality
        self.assumptions = set(models.assumptions)
        self._safe: list[int] = []
        self._seen: set[object] = set()
        self._weaker: list[tuple[int, int, int]] = []
        self.terms.is_exact, self.terms.is_real = equality != "reals", equality == "reals"

    def judge(self, steps: Iterable[tuple[str, int]]) -> list[int]:
        """Make all steps, and require that they show both models equal."""
        results = [self.step(rule, term) for rule, term in steps]
        self.require_all()
        return results

    def step(self, rule: str, term: int) -> int:
        """Make one step: return the term that a rule derives from another one."""
        if rule not in RULES:
            raise CertificateError(f"the checker has no rule '{rule}'")
        if not 0 <= term < len(self.terms.nodes):
            raise CertificateError(f"there is no term {term} yet")
        size, derived = len(self.terms.nodes), self.derive(rule, term)
        if derived is None:
            raise CertificateError(f"the rule '{rule}' does not apply to term {term}")
        if not self.accept(rule, term, derived) and len(self.terms.nodes) == size:
            raise CertificateError(f"the step of '{rule}' for term {term} shows nothing new")
        return derived

    def derive(self, rule: str, term: int) -> int | None:
        """Term that a rule derives; None if it does not apply."""
        terms, node, row = self.terms, self.terms.nodes[term], RULES[rule]
        is_about = node.args and (not row.operators or node.head.name in row.operators)
        if not is_about or NOTIONS.index(row.notion) > NOTIONS.index(self.equality):
            return None
        return row.derive(terms, node, terms.fact(term)) if carries_all(terms, node) else None

    def accept(self, rule: str, term: int, derived: int) -> bool:
        """Take over what a rule derives. Return whether that was not known before."""

        def mark() -> object:
            return kind == "safe", self._key(term), self._key(derived)

        kind, assumption = RULES[rule].kind, assumption_of(self.terms, rule, term, derived)
        new = self.terms.find(term) != self.terms.find(derived)
        new |= kind != "value" and mark() not in self._seen
        self.assumptions |= {assumption} - {""}
        self._safe += [term] if kind == "safe" else []
        self._weaker += [(term, derived, ABSENT)] if kind in ("spelling", "weaker") else []
        self._weaker += [(derived, term, ABSENT)] if kind == "spelling" else []
        if RULES[rule].notion == self.equality == "values":
            self.terms.freeze()
        self.terms.merge(term, derived)
        # The keys after the merge are those that a step for the same terms would have.
        self._seen |= set() if kind == "value" else {mark()}
        return new

    def require_all(self) -> None:
        """Require that the outputs are equal, and that no node of the rewrite fails."""
        for name in self.unequal_outputs():
            raise CertificateError(f"the derivation does not show that output '{name}' is equal")
        for each in self.undefined():
            label = each.node.name or each.node.op_type
            raise CertificateError(f"the derivation does not show that node '{label}' cannot fail")
        for name in self.wrong_declarations():
            raise CertificateError(f"the derivation does not show what B declares of '{name}'")

    def wrong_declarations(self) -> Iterator[str]:
        """Names of values of which the rewrite declares what is not derived."""
        terms, before, after = self.terms, self.models.before, self.models.after
        ways = (before, False), (before, True), (after, False)
        sides = [[(e, self._guards(x, e.guards, s)) for e in x.declared] for x, s in ways]
        yield from wrong_declarations(terms, sides[0] + sides[1], sides[2])
        empty = [row for b, head, row in after.inferred if not b.iterates(terms, head)]
        one, short, other = below(terms, empty, sides)
        if other not in (one, short):
            yield "a body that may have no iteration"
        for term, sizes, _ in next(below(terms, terms.cut, sides)):
            shape = terms.fact(term).shape or ()
            if any(n not in (None, *shape[k : k + 1]) for k, n in enumerate(sizes)):
                yield "a body whose rows are cut"

    def unequal_outputs(self) -> list[str]:
        """Outputs that are not derived to be equal."""
        find, after = self.terms.find, self.models.after.outputs
        return [n for n, term in self.models.before.outputs.items() if find(term) != find(after[n])]

    def undefined(self) -> Iterator[Application]:
        """Nodes of the rewrite that may fail, without a twin in the original."""
        # A twin is the same operator on equal operands, which runs at least as often.
        twins = dict[object, list[Guards]]()
        terms, before, after = self.terms, self.models.before, self.models.after
        closure = self._closures()
        for application in before.log:
            # A loop counts as one of the least rows, too; a node outside of bodies has no loops.
            for is_short in (False, True)[: 1 + bool(application.guards)]:
                guards = self._guards(before, application.guards, is_short)
                if _NEVER not in guards:
                    for key in closure(application.term, {body for body, _ in guards}):
                        twins.setdefault(key, []).append(guards)
        safe = {key for term in self._safe for key in closure(term)}
        for application in after.log:
            around = self._guards(after, application.guards)
            key, own = self._key(application.term), application.term
            bodies = [terms.nodes[after.bodies[number][0]] for number in application.guards]
            is_row = any(n.head.name == "Loop" and source_of(terms, n, own) for n in bodies)
            is_fine = _NEVER in around or key in safe or is_row
            if not (is_fine or any(guards <= around for guards in twins.get(key, ()))):
                yield application

    def _closures(self) -> Callable[..., set[object]]:
        """Function from an application to the keys of all that fail only where it does."""
        weaker, key_of = dict[object, list[tuple[object, object]]](), cache(self._key)
        for one, other, loop in (*self._weaker, *self.terms.implied):
            body = loop if loop == ABSENT else loop_of(self.terms, loop)
            weaker.setdefault(key_of(one), []).append((key_of(other), body))

        def closure(term: int, bodies: Collection[object] = ()) -> set[object]:
            keys, stack = set[object](), [key_of(term)]
            while stack:
                key = stack.pop()
                if key not in keys:
                    keys.add(key)
                    stack += [k for k, loop in weaker.get(key, ()) if loop in (ABSENT, *bodies)]
            return keys

        return closure

    def _key(self, term: int) -> object:
        node = self.terms.nodes[term]
        head, _, args = self.terms.key(node)
        if self.terms.is_frozen and "::" not in head.name:  # no operator fails by a sign of a zero
            args = tuple([n if n == ABSENT else self.terms.find(n) for n in node.args])
            args = tuple(sorted(args)) if head.name in COMMUTATIVE else args
        loop = loop_of(self.terms, term)
        return (loop, *rows_of_any_size(self.terms, term)) if type(loop) is tuple else (head, args)

    def _guards(self, run: Execution, numbers: Iterable[int], is_short: bool = False) -> Guards:
        """Bodies of a model that may not run."""
        guards = set()
        for term, name in [run.bodies[number] for number in numbers]:
            condition = self.terms.tensor(term) if name in BRANCHES else None
            if condition is None or condition.size != 1:
                loop = loop_of(self.terms, term, is_short=is_short)
                guards.add((self.terms.find(term) if name in BRANCHES else loop, name))
            elif bool(condition.numpy().all()) is not BRANCHES[name]:
                guards.add(_NEVER)
        return frozenset(guards)


# Runtimes refuse wrong types, and make room for the sizes. A name of a size ties all values that
# have it: runtimes let one use the memory of another. What a body declares counts where it runs.


def wrong_declarations(terms: Terms, before: list[_Placed], after: list[_Placed]) -> Iterator[str]:
    """Names of values of which the rewrite declares what is not derived."""
    original, ties = dict[int, list[Any]](), dict[str, list[Any]]()
    # What a body computes has the same type where a step wrote it in another way.
    equal = [(x, y, loop_of(terms, loop)) for x, y, loop in terms.implied if loop != ABSENT]
    for each, around in before:
        shape, roots = fact_of(each.type_).shape, [terms.find(each.term)]
        same = [(terms.find(x), terms.find(y)) for x, y, loop in equal if loop in dict(around)]
        rank = None if shape is None else len(shape)
        row = around, {_type(each.type_), rank, *enumerate(shape or ())}
        for root in (*roots, *[new for old, new in same if old in roots]):
            original.setdefault(root, []).append(row)
    for each, around in after:
        refine(terms, each.term)  # more may be known than when the term was built
        root, own, type_ = terms.find(each.term), terms.fact(each.term), each.type_
        claims = set().union(*[what for at, what in original.get(root, ()) if at <= around])
        shape, sizes = fact_of(type_).shape, own.shape or ()
        is_own = type_.WhichOneof("value") == "tensor_type"
        is_own &= type_.tensor_type.elem_type in (0, own.elem_type)
        rank, real = (None if s is None else len(s) for s in (shape, own.shape))
        if rank not in (None, real, *claims) or not (is_own or _type(type_) in claims):
            yield each.name
            continue
        for axis, dim in enumerate(shape or ()):
            derived = sizes[axis] if axis < len(sizes) else None
            if isinstance(dim, int) and dim != derived and (axis, dim) not in claims:
                yield each.name
            if isinstance(dim, str):
                tie = each.name, (root, axis), derived, (axis, dim) in claims
                ties.setdefault(dim, []).append(tie)
    for values in ties.values():
        new, ends = [row[0] for row in values if not row[3]], {row[2] for row in values}
        # Values that share the name of a size need a reason.
        if len({row[1] for row in values}) > 1 and (len(ends) > 1 or None in ends):
            yield from new[:1]


def below(terms: Terms, roots: Iterable[int], sides: Iterable[list[_Placed]]) -> Iterator[set[Any]]:
    """Sizes in numbers that each model declares of all terms below some."""
    reach, stack = {ABSENT}, list(roots)
    while stack:
        at = stack.pop()
        if at not in reach:
            reach.add(at)
            stack += terms.nodes[at].args
    for side in sides:
        rows = [(e.term, fact_of(e.type_).shape or (), at) for e, at in side if e.term in reach]
        plain = [tuple([n if isinstance(n, int) else None for n in row[1]]) for row in rows]
        yield {(row[0], n, row[2]) for row, n in zip(rows, plain, strict=True) if {*n} - {None}}


def _type(type_: onnx.TypeProto) -> bytes:
    """Type without the sizes of a tensor."""
    bare = onnx.TypeProto.FromString(type_.SerializeToString())
    bare.ClearField("denotation")
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)
