"""Replay of a derivation: each step is derived again, and nothing else is believed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product

import onnx

from .execution import BRANCHES, Application, Declaration, Execution, Models
from .inference import fact_of, numbers_of, refine
from .polynomials import Dim
from .rules import NOTIONS, RULES, assumption_of
from .scans import loop_of, rows_of_any_size, source_of
from .terms import ABSENT, COMMUTATIVE, CertificateError, Shape, Terms, carries_all

Guards = frozenset[tuple[object, str]]
"""Bodies around a node, by the terms that decide whether they run."""


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
        size = len(self.terms.nodes)
        derived = self.derive(rule, term)
        if derived is None:
            raise CertificateError(f"the rule '{rule}' does not apply to term {term}")
        if not self.accept(rule, term, derived) and len(self.terms.nodes) == size:
            raise CertificateError(f"the step of '{rule}' for term {term} shows nothing new")
        return derived

    def derive(self, rule: str, term: int) -> int | None:
        """Term that a rule derives; None if it does not apply."""
        terms, node, about = self.terms, self.terms.nodes[term], RULES[rule].operators
        if not node.args or (about and node.head.name not in about):
            return None
        is_weaker = NOTIONS.index(RULES[rule].notion) > NOTIONS.index(self.equality)
        fits = not is_weaker and carries_all(terms, node)
        return RULES[rule].derive(terms, node, terms.fact(term)) if fits else None

    def accept(self, rule: str, term: int, derived: int) -> bool:
        """Take over what a rule derives. Return whether that was not known before."""
        kind, assumption = RULES[rule].kind, assumption_of(self.terms, rule, term, derived)
        new = self.terms.find(term) != self.terms.find(derived)
        mark = kind == "safe", self._key(term), self._key(derived)
        new |= kind != "value" and mark not in self._seen
        self.assumptions |= {assumption} - {""}
        self._safe += [term] if kind == "safe" else []
        self._weaker += [(term, derived, ABSENT)] if kind in ("spelling", "weaker") else []
        self._weaker += [(derived, term, ABSENT)] if kind == "spelling" else []
        if RULES[rule].notion == self.equality == "values":
            self.terms.freeze()
        self.terms.merge(term, derived)
        if kind != "value":
            self._seen.add((kind == "safe", self._key(term), self._key(derived)))
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
        terms, before, after = self.terms, self.models.before.execution, self.models.after.execution
        yield from wrong_declarations(terms, before.declared, after.declared)
        loops = [*before.inferred, *after.inferred]
        empty = [body.roots(row) for body, head, row in loops if not body.iterates(terms, head)]
        if not same_below(terms, chain(*empty), before.declared, after.declared):
            yield "a body that may have no iteration"

    def unequal_outputs(self) -> list[str]:
        """Outputs that are not derived to be equal."""
        find, after = self.terms.find, self.models.after.outputs
        return [n for n, term in self.models.before.outputs.items() if find(term) != find(after[n])]

    def undefined(self) -> Iterator[Application]:
        """Nodes of the rewrite without a step that they cannot fail, and without a twin: the same
        operator on equal operands, which runs at least as often in the original."""
        twins = dict[object, list[Guards]]()
        terms, before, after = self.terms, self.models.before.execution, self.models.after.execution
        closure = self._closures()
        for application, is_short in product(before.log, (False, True)):
            guards = self._guards(before, application, is_short)
            if guards is not None:
                for key in closure(application.term, {body for body, _ in guards}):
                    twins.setdefault(key, []).append(guards)
        safe = {key for term in self._safe for key in closure(term)}
        for application in after.log:
            around = self._guards(after, application, False)
            key, own = self._key(application.term), application.term
            bodies = [terms.nodes[after.bodies[number][0]] for number in application.guards]
            is_row = any(n.head.name == "Loop" and source_of(terms, n, own) for n in bodies)
            if around is None or key in safe or is_row:
                continue
            if not any(guards <= around for guards in twins.get(key, ())):
                yield application

    def _closures(self) -> Callable[..., set[object]]:
        """Function from an application to the keys of all that fail only where it does."""
        weaker: dict[object, list[tuple[object, object]]] = {}
        for one, other, loop in (*self._weaker, *self.terms.implied):
            body = loop if loop == ABSENT else loop_of(self.terms, loop)
            weaker.setdefault(self._key(one), []).append((self._key(other), body))

        def closure(term: int, bodies: Collection[object] = ()) -> set[object]:
            keys, stack = set[object](), [self._key(term)]
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

    def _guards(self, execution: Execution, node: Application, is_short: bool) -> Guards | None:
        """Bodies around a node that may not run; None if one of them never runs."""
        guards = set()
        for number in node.guards:
            term, name = execution.bodies[number]
            condition = self.terms.tensor(term) if name in BRANCHES else None
            if condition is None or condition.size != 1:
                loop = loop_of(self.terms, term, is_short=is_short)
                guards.add((self.terms.find(term) if name in BRANCHES else loop, name))
            elif bool(condition.numpy().all()) is not BRANCHES[name]:
                return None
        return frozenset(guards)


# Runtimes refuse wrong types, and make room for the sizes. A name of a size ties all values that
# have it: runtimes let one use the memory of another.
_Place = tuple[int, int]
_Types = Iterable[Declaration]
_Tie = tuple[Declaration, _Place, Dim]


def wrong_declarations(terms: Terms, before: _Types, after: _Types) -> Iterator[str]:
    """Names of values of which the rewrite declares what is not derived."""
    original, names = set[tuple[int, object]](), dict[_Place, set[Dim]]()
    # What a body computes has the same type where a step wrote it in another way.
    equal = [pair for *pair, loop in terms.implied if loop != ABSENT]
    for each in before:
        shape, roots = fact_of(each.type_).shape, [terms.find(each.term)]
        roots += [terms.find(new) for old, new in equal if terms.find(old) in roots]
        for root in roots:
            original |= {(root, _type(each.type_)), (root, _rank(shape))}
            for axis, dim in enumerate(shape or ()):
                original.add((root, (axis, dim)))
                names.setdefault((root, axis), set()).add(dim)
    ties: dict[str, list[_Tie]] = {}
    for each in after:
        refine(terms, each.term)  # more may be known than when the term was built
        root, own, type_ = terms.find(each.term), terms.fact(each.term), each.type_
        shape, sizes = fact_of(type_).shape, own.shape or ()
        is_own = type_.WhichOneof("value") == "tensor_type"
        is_own &= type_.tensor_type.elem_type in (0, own.elem_type)
        has_rank = _rank(shape) in (None, _rank(own.shape)) or (root, _rank(shape)) in original
        if not has_rank or not (is_own or (root, _type(type_)) in original):
            yield each.name
            continue
        for axis, dim in enumerate(shape or ()):
            derived = sizes[axis] if axis < len(sizes) else None
            if isinstance(dim, int) and dim != derived and (root, (axis, dim)) not in original:
                yield each.name
            if isinstance(dim, str):
                ties.setdefault(dim, []).append((each, (root, axis), derived))
    for name, values in ties.items():
        yield from _untied(names, name, values)


def same_below(terms: Terms, roots: Iterable[int], before: _Types, after: _Types) -> bool:
    """Test for the same declared sizes of all terms that some are made of."""
    reach, stack = {ABSENT}, list(roots)
    while stack:
        at = stack.pop()
        if at not in reach:
            reach.add(at)
            stack += terms.nodes[at].args
    rows = [{(e.term, numbers_of(e.type_)) for e in s if e.term in reach} for s in (before, after)]
    one, other = ({row for row in side if row[1]} for side in rows)
    return one == other


def _rank(shape: Shape | None) -> int | None:
    return None if shape is None else len(shape)


def _untied(names: Mapping[_Place, set[Dim]], name: str, values: Sequence[_Tie]) -> Iterator[str]:
    """Names of values that share the name of a size without reason."""
    new = [value for value in values if name not in names.get(value[1], ())]
    places = {place for _, place, _ in values}
    sizes = {derived for _, _, derived in new}
    if not new or len(places) == 1:
        return
    shared = {derived for _, place, derived in values if name in names.get(place, ())}
    if len(sizes) > 1 or None in sizes or (shared and not sizes <= shared):
        yield new[0][0].name


def _type(type_: onnx.TypeProto) -> bytes:
    """Type without the sizes of a tensor."""
    bare = onnx.TypeProto.FromString(type_.SerializeToString())
    bare.ClearField("denotation")
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)
