"""Replay of a derivation: each step is derived again, and nothing else is believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product

from .declarations import same_below, wrong_declarations
from .execution import BRANCHES, Application, Execution
from .models import Models
from .rules import NOTIONS, RULES, assumption_of
from .scans import loop_of, rows_of_any_size, source_of
from .signs import carries_all
from .terms import ABSENT, COMMUTATIVE, CertificateError

Guards = frozenset[tuple[object, str]]
"""Bodies around a node, by the terms that decide whether they run."""


class Replay:
    """Derivation under way, with what its steps assume so far."""

    def __init__(self, models: Models, equality: str = "bits") -> None:
        self.models, self.terms, self.equality = models, models.terms, equality
        self.assumptions = set(models.assumptions)
        self._safe: list[int] = []
        self._seen: set[object] = set()
        self._weaker: list[tuple[int, int]] = []
        self.terms.is_exact = equality != "reals"

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
        terms.is_real |= RULES[rule].notion == "reals" == self.equality
        is_number = terms.is_real and terms.tensor(term) is not None
        fits = not is_weaker and not is_number and carries_all(terms, node)
        return RULES[rule].derive(terms, node, terms.fact(term)) if fits else None

    def accept(self, rule: str, term: int, derived: int) -> bool:
        """Take over what a rule derives. Return whether that was not known before."""
        kind, assumption = RULES[rule].kind, assumption_of(self.terms, rule, term, derived)
        new = self.terms.find(term) != self.terms.find(derived)
        mark = kind == "safe", self._key(term), self._key(derived)
        new |= kind != "value" and mark not in self._seen
        self.assumptions |= {assumption} - {""}
        self._safe += [term] if kind == "safe" else []
        self._weaker += [(term, derived)] if kind in ("spelling", "weaker") else []
        self._weaker += [(derived, term)] if kind == "spelling" else []
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
                for key in closure(application.term):
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

    def _closures(self) -> Callable[[int], set[object]]:
        """Function from an application to the keys of all that fail only where it does."""
        weaker: dict[object, list[object]] = {}
        for one, other in (*self._weaker, *self.terms.implied):
            weaker.setdefault(self._key(one), []).append(self._key(other))

        def closure(term: int) -> set[object]:
            keys, stack = set[object](), [self._key(term)]
            while stack:
                key = stack.pop()
                if key not in keys:
                    keys.add(key)
                    stack += weaker.get(key, ())
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
