"""Derivations in the rules of the checker, sought from the outputs of two models downwards."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..ir import Array, BaseDir, ModelError, ModelSource
from .certificate_check import Definitions, Step, derivation_of, make, replayed
from .checker.execution import Application
from .checker.movement import SINGLE
from .checker.replay import Replay
from .checker.rows import ROWS, is_filled
from .checker.rules import CELLS, NOTIONS, RULES
from .checker.scans import loop_of, states_of
from .checker.terms import ABSENT, COMMUTATIVE, CertificateError, Fact, Head, Node, Terms, parts
from .second_opinion import agrees

_WHOLE = (6, 7, 9)
"""Element types of sizes, positions and conditions: int32, int64, bool."""
_MOST = 1000
_TOTAL = "total"
"""Rule that makes nothing equal, and is for nodes that may fail."""
_ROUNDED, _FOLDED, _UNROLLED = "rounded-constant", "constant-folding", "iterations"
_FLOATS, _OF_INTEGERS = (1, 10, 11, 16), ("known-elements", "plus-zero-of-integers")
"""Element types of floats, and rules that are about no floats."""
_NUMBERS = {
    row.name: [each for each in row.pattern[1:] if not isinstance(each, str | tuple)]
    for row in ROWS
}
"""Numbers in rules that are rows."""
_REPEATED = frozenset(("constant", "Expand", "moved"))
_BELOW: dict[str, list[frozenset[str]]] = {
    **{
        row.name: [frozenset(each[:1]) for each in row.pattern[1:] if isinstance(each, tuple)]
        for row in ROWS
    },
    "equal-elements": [_REPEATED],
    "equal-matrices": [_REPEATED],
    "movement-of-operands": [SINGLE | {"MatMul"}],
    "movement-of-part": [frozenset(("Concat",))],
    "operator-of-row": [SINGLE | {"MatMul", "input", "Transpose", "Gather", "Loop", "moved"}],
    "operator-first": [frozenset(("moved",))],
    "parts-of-product": [frozenset(("Concat",))],
    "scaled-channels": [frozenset(("Conv", "Gemm"))],
    "selection-first": [SINGLE | {"MatMul"}],
    "missing-row": [frozenset(("Squeeze",))],
}
"""Operators of which a rule needs one among the operands, in a class."""
_OF_CONSTANTS = (
    *("scaled-product", "scaled-columns", "scaled-operand", "scaled-channels", "quotient"),
    *("definition", "formula", "sum-of-products", "bias-of-channels"),
)
"""Rules over the reals that build functions of constants."""
_ALIKE = ("equal-elements",)
"""Rule that computes functions of equal rows once."""
_OF_ROWS = ("known-variables", "row-alone", "row-by-row")
"""Rules that build loops of which others compute the rows, or other rows."""
_OF_SIZES = ("movement", "known-elements", "row-by-row", "elements-of-list", "equal-elements")
"""Rules that derive another term once more of the sizes or of a row is known."""
_MOST_ROUNDS, _MOST_TWINS, _MOST_VAIN = 8, 8, 8
_ATTEMPTS_OF_CUT, _MOST_OF_CUT = 600, 200
"""Limits of a search between two values that both models name, and of the terms there."""
_ATTEMPTS, _ATTEMPTS_OF_TERM = 60_000, 10
_STEPS, _STEPS_OF_TERM = 4_000, 1
"""Limits of a search, and what each term of both models adds. A model of a thousand nodes needs up
to 42,000 attempts and 4,600 steps; 60,000 attempts take three seconds."""


def derive(
    before: ModelSource,
    after: ModelSource,
    bound: Mapping[str, Array],
    base_dir: BaseDir = None,
    equality: str = "bits",
    most: int | None = None,
) -> dict[str, Any] | str:
    """Derivation that two models are equal, for JSON; the reason if none is found.

    Args:
        bound: values of inputs that the rewrite does not have.
        base_dir: the folder of the external data of models given in memory.
        most: the most attempts to apply a rule, 20 to 100 us each, besides ten for each term.
    """
    question = before, after, bound, base_dir, equality
    try:
        # Searched on one replay and made on another: the numbers of a certificate depend on its own
        # steps alone, not on what the search tried in vain.
        executed = replayed(*question)
        search = Search(copy_of(executed), most)
        if not search.run():
            return search.reason
        replay = copy_of(executed)
        steps, is_clean = _renumbered(search, replay)
        if not is_clean:
            replay = executed
            steps = make(replay, [step[:2] for step in steps])
        replay.require_all()
        return derivation_of(replay, steps)
    except (CertificateError, ModelError) as error:
        return str(error)


def copy_of(replay: Replay) -> Replay:
    """Copy of a replay without steps, for steps that do not change it."""
    terms = _deep_copy(replay.models.terms)
    return Replay(replay.models._replace(terms=terms), replay.equality)


def _deep_copy(value: Any) -> Any:
    """Copy of terms with all containers in them; what these hold never changes."""
    if isinstance(value, Terms | Definitions):
        twin = copy.copy(value)
        vars(twin).update({name: _deep_copy(part) for name, part in vars(value).items()})
        return twin
    if isinstance(value, dict):
        return {key: _deep_copy(part) for key, part in value.items()}
    if isinstance(value, list):
        return [*map(_deep_copy, value)]
    return value.copy() if isinstance(value, set) else value


def _renumbered(search: Search, replay: Replay) -> tuple[list[Step], bool]:
    """Steps of a search without its vain attempts, and whether nothing else was tried.

    Steps that read a constant which a later one makes a symbol are left out, too: see
    `rounded_constant`.
    """
    numbers: dict[int, int] = {}
    terms = replay.terms
    executed = len(terms.nodes)

    def number(term: int) -> int | None:
        stack = [term]
        while stack:
            at = stack.pop()
            node = search.terms.nodes[at]
            waiting = [a for a in node.args if a >= executed and a not in numbers]
            if at < executed or at in numbers:
                continue
            if waiting:
                stack += [at, *waiting]
                continue
            args = tuple([numbers.get(a, a) for a in node.args])
            twin = terms.table.get(terms.key(node._replace(args=args)))
            if twin is None:  # no step that is left builds it
                return None
            numbers[at] = twin
        return numbers.get(term, term)

    steps, is_clean = list[Step](), True
    for rule, term, derived in _needed(search, executed):
        reads_rounded = not search.rounded.isdisjoint(search.reads.get((rule, term), ()))
        place, size = None if reads_rounded else number(term), len(terms.nodes)
        result = None if place is None else replay.derive(rule, place)
        if place is not None and result is not None:
            numbers[derived] = result
            is_new = replay.accept(rule, place, result) or len(terms.nodes) > size
            steps += [(rule, place, result)] if is_new else []
            is_clean &= is_new
        is_clean &= place is None or result is not None  # an attempt may have left terms
    return steps, is_clean


def _needed(search: Search, executed: int) -> list[Step]:
    """Steps that show something new, or build terms that others are about."""
    needed, steps = set[int](), list[Step]()
    # Backwards: a step is needed if a later one that is kept uses what it built.
    for step in reversed(search.steps):
        shows_more, built = search.built[step]
        if not shows_more and needed.isdisjoint(built):
            continue
        steps.append(step)
        stack = [step[1]]
        while stack:
            at = stack.pop()
            if at >= executed and at not in needed:
                needed.add(at)
                stack += search.terms.nodes[at].args
    return steps[::-1]


@functools.cache
def _rules_of(first: int, last: int, operator: str, elem_type: int = 0) -> list[str]:
    """Names of rules for an operator and an element type, by numbers of notions."""
    notions = NOTIONS[first : last + 1]
    others = {_TOTAL, *(_OF_INTEGERS if elem_type in _FLOATS else ())}
    return [
        name
        for name, rule in RULES.items()
        if rule.notion in notions and (not rule.operators or operator in rule.operators)
        if name not in others and (rule.notion != "reals" or elem_type not in _WHOLE)
    ]


def _name(application: Application) -> tuple[str, ...]:
    """Operator and results, by which nodes of both models are likely twins."""
    return application.node.op_type, *application.node.output


def _growing(nodes: Sequence[Node]) -> Iterator[int]:
    """Numbers of terms, and of those that steps build on the way."""
    number = 0
    while number < len(nodes):
        yield number
        number += 1


class Search:
    """Search for a derivation.

    Args:
        replay: the models, whose terms the search extends.
        most: the most attempts to apply a rule, as for `derive`.

    Attributes:
        steps: the steps so far: rule, term, and the term that is equal to it.
        built: for each step whether it shows something new, and the terms that it built.
        reads: for steps, constants of the rewrite alone whose values they read.
        rounded: those that steps made symbols, or of which they made rows symbols.
        stuck: first pair of terms that no rule makes equal.
    """

    def __init__(self, replay: Replay, most: int | None = None) -> None:
        self.replay, self._attempts, self.terms = replay, 0, replay.terms
        executed = len(self.terms.nodes)
        self._most = (_ATTEMPTS if most is None else most) + _ATTEMPTS_OF_TERM * executed
        self._most_steps = _STEPS + _STEPS_OF_TERM * executed
        self._unrolls, self._unrolled = True, dict[tuple[int, ...], int]()
        self.steps: list[Step] = []
        self.stuck: tuple[int, int] | None = None
        self.built: dict[Step, tuple[bool, set[int]]] = {}
        self._vain, self._copies = set[int](), set[int]()
        self._notion, self._borders, self._numbers = "bits", set[int](), set[tuple[int, int]]()
        self._tried: dict[tuple[int, bool], tuple[int, tuple[int, Fact] | None]] = {}
        self._stamps, self._marks = dict[int, int](), dict[int, int]()
        self._derived: dict[tuple[str, int], tuple[object, ...]] = {}
        self._folds: dict[int, bool] = {}
        self._free = {*self.terms.free}
        self._has_cells = any(node.head.name in CELLS for node in self.terms.nodes)
        self.reads: dict[tuple[str, int], set[int]] = {}
        self.rounded = set[int]()

    @property
    def reason(self) -> str:
        """Reason why there is no derivation."""
        if self._is_over:
            return f"{self._attempts} attempts to apply a rule of the checker led to no derivation"
        if self.stuck is not None and self.replay.unequal_outputs():
            one, other = (self.terms.nodes[term].head.name for term in self.stuck)
            return f"the checker has no rule by which {one} and {other} are equal"
        for application in self.replay.undefined():
            label = application.node.name or application.node.op_type
            return f"the checker has no rule by which '{label}' cannot fail"
        for name in self.replay.wrong_declarations():
            return f"the checker does not derive what the rewrite declares of '{name}'"
        return "the checker has no rules for all of its steps"

    def run(self) -> bool:
        """Search until the outputs are equal and no node may fail, or no rule helps."""
        notions = NOTIONS[: NOTIONS.index(self.replay.equality) + 1]
        # A law of loops takes a few steps where 80 iterations take ten each.
        self._unrolls = not self._has_fewer_loops()
        if notions[2:]:
            self._round()
        for one, other in self._cuts() if notions[1:] else ():
            for self._notion in notions:
                self._bridge(one, other)
            self._borders |= {one} if self.terms.find(one) == self.terms.find(other) else set()
        self._notion = notions[0]
        if not self._unrolls:
            most = self._most
            self._most = self._attempts + _ATTEMPTS_OF_TERM * len(self.terms.nodes)
            if self._reach(notions):
                return True
            tried = [each for each in self._tried.items() if not self._is_loop(each[0][0])]
            self._unrolls, self._most, self._tried = True, most, dict(tried)
        return self._reach(notions)

    def _has_fewer_loops(self) -> bool:
        """Test whether a loop is not in the rewrite, and none is written out there."""
        logs = [side.log for side in self.replay.models[1:3]]
        loops = [sum(self._is_loop(each.term) for each in log) for log in logs]
        return loops[1] < loops[0] and len(logs[1]) <= len(logs[0])

    def _is_loop(self, term: int) -> bool:
        return self.terms.nodes[term].head.name == "Loop"

    def _reach(self, notions: Sequence[str]) -> bool:
        """Search from the outputs downwards, which touches only what differs; then everywhere."""
        return self._descend() or any(map(self._saturate, notions))

    def _round(self) -> None:
        """Find constants of the rewrite that are rounded, before anything reads their values."""
        if not any(map(self._is_weight, self.terms.free)):
            return
        self._notion, closed, nodes = "reals", self.terms.closed, self.terms.nodes
        for _ in range(_MOST_ROUNDS):
            merges, term = self.terms.merges, 0
            while term < len(nodes) and not self._is_over:
                for name in _rules_of(0, 2, nodes[term].head.name):
                    if name == _ROUNDED or name in (_ALIKE if term in closed else _OF_CONSTANTS):
                        self._make(name, term)
                term += 1
            if merges == self.terms.merges:
                break

    def _is_weight(self, term: int) -> bool:
        return self.terms.fact(term).elem_type not in _WHOLE

    def _cuts(self) -> list[tuple[int, int]]:
        """Terms of values that both main graphs name alike, in the order of the rewrite."""
        sides = []
        for side in (self.replay.models.before, self.replay.models.after):
            values: dict[str, int] = {}
            for term, guards, node in side.log:
                for output, name in enumerate(() if guards else node.output):
                    key = self.terms.key(self.terms.nodes[term]._replace(output=output))
                    values[name] = self.terms.table.get(key, ABSENT)
            sides.append(values | side.outputs)
        before, after = sides
        pairs = [(before[name], term) for name, term in after.items() if name in before]
        return [pair for pair in pairs if ABSENT not in pair]

    def _bridge(self, one: int, other: int) -> None:
        """Make two values equal by rules on the terms between them and other shared values."""
        find, most = self.terms.find, self._attempts + _ATTEMPTS_OF_CUT
        if find(one) == find(other) or self.terms.fact(one) != self.terms.fact(other):
            return
        self._close(one, other)
        for _ in range(_MOST_ROUNDS):
            merges = self.terms.merges
            for term in self._cone(one, other):
                if find(one) == find(other) or self._attempts > most:
                    break
                self._apply(term)
            if find(one) == find(other) or self._attempts > most or self.terms.merges == merges:
                break
            self._close(one, other)

    def _cone(self, *ends: int) -> list[int]:
        """Terms between values and shared ones, operands first."""
        find, nodes = self.terms.find, self.terms.nodes
        visited = {find(each) for each in self._borders} - {find(each) for each in ends}
        order, stack = list[int](), [*ends]
        while stack and len(order) < _MOST_OF_CUT:
            at = stack.pop()
            if at == ABSENT or find(at) in visited:
                continue
            visited.add(find(at))
            members = [each for each in self.terms.members(at) if nodes[each].args]
            order += members
            stack += [arg for member in members for arg in nodes[member].args]
        return order[::-1]

    @property
    def _is_over(self) -> bool:
        return self._attempts >= self._most or len(self.steps) >= self._most_steps

    def _saturate(self, notion: str) -> bool:
        """Apply the rules of a notion to all terms, operands first."""
        self._notion, is_open = notion, bool(self.replay.unequal_outputs())
        for _ in range(0 if self._is_over else _MOST_ROUNDS):
            merges = self.terms.merges
            for whole in (False, True):
                for term in _growing(self.terms.nodes):
                    self._apply(term, whole=whole)
                    # The rest of a round would triple the steps of a certificate.
                    if is_open and not self.replay.unequal_outputs():
                        is_open = False
                        if self._descend():
                            return True
                if self.terms.merges != merges:
                    break
            else:
                break
        return self._descend()

    def _descend(self) -> bool:
        """Make the outputs equal from the top."""
        self.stuck = None
        outputs = self.replay.models.before.outputs, self.replay.models.after.outputs
        while self.replay.unequal_outputs():
            before = self.terms.merges
            for name in self.replay.unequal_outputs():
                self._close(outputs[0][name], outputs[1][name])
            if self.terms.merges == before:
                return False
        undefined = list(self.replay.undefined())
        twins = {_name(each): each for each in self.replay.models.before.log}
        for application in undefined:
            self._simplify(application.term, own=True)
            if twin := twins.get(_name(application)):
                self._pair(twin, application)
        for application in list(self.replay.undefined()) if undefined else ():
            for member in self.terms.members(application.term):
                self._make(_TOTAL, member)
        is_defined = not undefined or not any(self.replay.undefined())
        return is_defined and not any(self.replay.wrong_declarations())

    def _pair(self, one: Application, other: Application) -> None:
        """Make two nodes equal, and the loops and conditions around them."""
        before, after = (side.bodies for side in self.replay.models[1:3])
        around = zip(one.guards, other.guards, strict=False)
        for pair in [(one.term, other.term), *[(before[a][0], after[b][0]) for a, b in around]]:
            self._close(*pair)
            for roots in zip(*map(self._roots, pair), strict=False):
                self._close(*roots)

    def _roots(self, term: int) -> list[int]:
        """Terms that determine the variables of a loop, in its shortest form."""
        loop = loop_of(self.terms, term)
        return [each for each in loop if isinstance(each, int)] if isinstance(loop, tuple) else []

    def _close(self, one: int, other: int) -> None:
        """Make two terms equal, as far as rules do, from the top."""
        visited: set[tuple[int, int]] = set()
        stack = [(one, other)]
        passed: list[tuple[int, int]] = []
        while stack:
            a, b = pair = stack.pop()
            if ABSENT in pair or self.terms.find(a) == self.terms.find(b):
                continue
            key = self.terms.find(a), self.terms.find(b)
            if key in visited:
                continue
            visited.add(key)
            operands = self._operands(a, b)
            if operands:
                passed.append(pair)
                stack += operands
                continue
            merges = self.terms.merges
            self._simplify(a)
            self._simplify(b)
            if self.terms.merges != merges:
                visited.discard(key)
                stack.append(pair)
            else:
                self._remember(pair)
        # Operands first: a pair whose operands are equal by now may be so by congruence.
        for a, b in reversed(passed):
            if self.terms.find(a) != self.terms.find(b):
                self._simplify(a)
                self._simplify(b)

    def _remember(self, pair: tuple[int, int]) -> None:
        """Keep the first pair that no rule makes equal; one of operators tells more."""
        operands = [self.terms.nodes[term].args for term in self.stuck or ()]
        roots = {self.terms.find(term) for term in self.stuck or ()}
        if not any(operands) or len(roots) < 2:
            self.stuck = pair

    def _operands(self, a: int, b: int) -> list[tuple[int, int]]:
        """Pairs of operands that make two terms equal, the most alike of all."""
        nodes, choices = self.terms.nodes, list[list[tuple[int, int]]]()
        own, find = {self.terms.find(a), self.terms.find(b)}, self.terms.find
        heads: dict[tuple[Head, int, int], list[Node]] = {}
        for node in map(nodes.__getitem__, self.terms.members(a)):
            heads.setdefault((node.head, node.output, len(node.args)), []).append(node)
        for node in map(nodes.__getitem__, self.terms.members(b)):
            # Classes grow with each rule: all pairs of two classes would be quadratic.
            for twin in heads.get((node.head, node.output, len(node.args)), ())[:_MOST_TWINS]:
                swaps = len(node.args) == 2 and node.head.name in COMMUTATIVE
                for args in (node.args, node.args[::-1])[: 1 + swaps]:
                    pairs = list(zip(twin.args, args, strict=True))
                    if any(min(pair) >= 0 and {*map(find, pair)} == own for pair in pairs):
                        continue  # x + 0 and y + 0 in the classes of x and y say nothing new
                    if not any((x < 0) != (y < 0) for x, y in pairs):
                        choices.append(pairs)
        if not choices[1:]:
            return choices[0] if choices else []
        # Many pairs share operands, and classes grow with each rule.
        likeness: Callable[..., int] = functools.cache(
            lambda a, b, depth: self._likeness(a, b, depth, likeness)
        )
        return max(choices, key=lambda pairs: sum(likeness(x, y, 2) for x, y in pairs))

    def _likeness(self, a: int, b: int, depth: int, likeness: Callable[..., int]) -> int:
        """Number of operators that are alike at first sight, by that of their operands."""
        if min(a, b) < 0 or self.terms.find(a) == self.terms.find(b):
            return 3**depth * (a == b or min(a, b) >= 0)
        if not depth:
            return 0
        nodes, most = self.terms.nodes, 0
        heads = {nodes[member].head.name: nodes[member].args for member in self.terms.members(a)}
        for node in map(nodes.__getitem__, self.terms.members(b)):
            pairs = zip(heads.get(node.head.name, ()), node.args, strict=False)
            alike = sum(likeness(*pair, depth - 1) for pair in pairs)
            most = max(most, 1 + alike if node.head.name in heads else 0)
        return most

    def _simplify(self, term: int, own: bool = False) -> None:
        """Apply the rules to the terms of a class, after those of its operands."""
        visited: set[int] = set()
        order, stack = [], [term]
        while stack:
            at = stack.pop()
            root = self.terms.find(at)
            if root in visited or len(visited) > _MOST:
                continue
            visited.add(root)
            order.append(at)
            below = {arg for n in self.terms.members(at) for arg in self.terms.nodes[n].args}
            stack += [arg for arg in sorted(below) if self._is_small(arg)]
        for at in reversed(order):
            for member in [at] if own and at == term else self.terms.members(at):
                if self.terms.nodes[member].args:
                    self._apply(member)

    def _is_small(self, term: int) -> bool:
        return term != ABSENT and self.terms.fact(term).elem_type in _WHOLE

    def _apply(self, term: int, *, whole: bool = False) -> None:
        """Apply the rules that show something new: where operands changed, or anything at all.

        Most rules look at operands of operands at most, so that few terms are tried again.
        """
        level, terms = NOTIONS.index(self._notion), self.terms
        tried, state = self._tried.get((term, whole), (-1, None))
        first = tried + 1 if state == self._state(term, whole) else 0
        if first > level or self._is_over or term in self._vain or self._is_copy(term):
            return
        (head, args, *_), kind = terms.nodes[term], terms.fact(term).elem_type
        members = {member for arg in args if arg != ABSENT for member in terms.members(arg)}
        below = {terms.nodes[member].head.name for member in members}
        for name in _rules_of(first, level, head.name, kind):
            is_odd = any(below.isdisjoint(needs) for needs in _BELOW.get(name, ()))
            for number in () if is_odd else _NUMBERS.get(name, ()):
                is_odd |= not any(is_filled(terms, arg, number) for arg in args if arg != ABSENT)
            if not is_odd:
                self._make(name, term, whole=whole)
        self._tried[term, whole] = level, self._state(term, whole)

    def _state(self, term: int, whole: bool) -> tuple[int, Fact]:
        """All that rules for a term read."""
        return self.terms.merges if whole else self._stamp(term), self.terms.fact(term)

    def _is_copy(self, term: int) -> bool:
        """Test for a second term of one operator on equal operands: rules say the same."""
        twin = self.terms.table.get(self.terms.key(self.terms.nodes[term]), term)
        return twin != term and twin not in self._vain

    def _stamp(self, term: int) -> int:
        """Number that stays while the operands of a term, and theirs, are as now."""
        terms = self.terms
        if terms.changed:
            self._stamps.update(dict.fromkeys(terms.changed, terms.merges))
            terms.changed.clear()
            self._marks.clear()
        if term not in self._marks:
            args = [arg for arg in terms.nodes[term].args if arg != ABSENT]
            marks = [*map(self._mark, args)]
            varying = [arg for arg, mark in zip(args, marks, strict=True) if mark >= 0]
            members = [terms.nodes[member] for arg in varying for member in terms.members(arg)]
            below = {arg for member in members for arg in member.args if arg != ABSENT}
            self._marks[term] = hash((*marks, frozenset(map(self._mark, below))))
        return self._marks[term]

    def _mark(self, term: int) -> int:
        """Number that stays while a class is as now.

        A constant has one for good, a negative one: what else is equal to it says nothing new.
        Over the reals it may become a symbol.
        """
        number = ABSENT if self.terms.is_real else self.terms.value(term)
        return self._stamps.get(self.terms.find(term), 0) if number == ABSENT else ABSENT - number

    def _operands_now(self, term: int) -> tuple[object, ...]:
        """All that rules of sizes read: facts of a term, and its operands with their classes."""
        args = [arg for arg in self.terms.nodes[term].args if arg != ABSENT]
        return self.terms.fact(term), *map(self.terms.fact, args), *map(self._mark, args)

    def _make(self, name: str, term: int, *, whole: bool = False) -> None:
        """Make a step if it shows something new, or builds terms."""
        if RULES[name].notion == "reals":
            args, find = self.terms.nodes[term].args, self.terms.find
            if term in self.terms.closed:
                # Functions of constants are compared as numbers, again once one is a symbol.
                mark = term, len(self._free)
                if name != _ROUNDED or mark in self._numbers:
                    return
                self._numbers.add(mark)
            elif name == _ROUNDED or any(arg >= 0 and find(arg) == find(term) for arg in args):
                return  # x + 0, which is x, has ever more sums
        if name == _FOLDED and not self._is_constant(term, is_last=whole):
            return
        if name == "row-by-row" and self._is_state(term):
            return
        if name == _UNROLLED and not self._unrolls:
            return
        size = len(self.terms.nodes)
        operands = self._operands_now(term) if name.startswith(_OF_SIZES) else ()
        operands = (self.terms.merges,) if name == "sum-of-products" else operands
        once = self._derived.get((name, term)) == operands
        is_deep = whole and name == "known-elements"  # of operands of operands of operands
        is_copy = name == _UNROLLED and term in self._copies and self._is_moved(term)
        derived = None if (once and not is_deep) or is_copy else self._derive(name, term)
        # Unrolling each of them would be quadratic in the operators of a body.
        self._copies |= {*range(size, len(self.terms.nodes))} if name in _OF_ROWS else set()
        if derived is None:  # no step builds what a rule built in vain
            self._vain.update(range(size, len(self.terms.nodes)))
            return
        built = {*range(size, len(self.terms.nodes))}
        stack = [derived, *built]
        while stack:
            at = stack.pop()
            if at in self._vain or at in built:
                stack += [arg for arg in self.terms.nodes[at].args if arg in self._vain]
                self._vain.discard(at)
                built.add(at)
        is_new, step = self.replay.accept(name, term, derived), (name, term, derived)
        self._derived[name, term] = operands
        if step not in self.built and (is_new or built):
            self.steps.append(step)
            self.built[step] = is_new, built

    def _is_constant(self, term: int, is_last: bool) -> bool:
        """Test for an operator on constants, whose values it does not read.

        Weights of a recurrent operator in the rewrite are read last: they may be functions.
        """
        tensor, args, find = self.terms.tensor, self.terms.nodes[term].args, self.terms.find
        waits = self._has_cells and not is_last
        weights = {find(each) for each in self._free if waits and self._is_weight(each)}
        return all(a == ABSENT or (tensor(a) and find(a) not in weights) for a in args)

    def _is_state(self, term: int) -> bool:
        """Test for rows that are a state: moving its operators out leads to more states."""
        node = self.terms.nodes[term]
        if node.head.key is None:
            return False
        ends, count = parts(node).outputs, states_of(node)
        roots = {self.terms.find(end) for end in ends[1:count]}
        return node.output + 1 >= count and self.terms.find(ends[node.output + 1]) in roots

    def _is_moved(self, term: int) -> bool:
        """Test for a loop without states that equals something else."""
        others = [self.terms.nodes[member].head.name for member in self.terms.members(term)]
        return len(self.terms.variables(term)) == 2 and {*others} != {"Loop"}

    def _derive(self, rule: str, term: int) -> int | None:
        node = self.terms.nodes[term]
        self._attempts += 1
        variables = self.terms.variables(term) if rule == _UNROLLED else ()
        # Each attempt may run all iterations before it fails.
        if self._unrolled.get(variables, 0) >= _MOST_VAIN:
            return None
        self.terms.free = {*self._free}  # what other attempts read in vain counts for nothing
        try:
            derived = self.replay.derive(rule, term)
            if variables and derived is None:
                self._unrolled[variables] = self._unrolled.get(variables, 0) + 1
            read = self._free - self.terms.free
            if rule == _ROUNDED and derived is not None:
                self.rounded, self._free = self.rounded | read, {*self.terms.free}
            elif read and derived is not None:
                self.reads[rule, term] = read
            # The checker folds by the reference. A value on which onnxruntime disagrees would make
            # a claim that no run confirms.
            if rule == _FOLDED and derived is not None and term not in self._folds:
                self._folds[term] = agrees(node.head, self.terms.arrays(node.args))
            return derived if self._folds.get(term, True) or rule != _FOLDED else None
        except CertificateError:  # the step is not made
            return None
