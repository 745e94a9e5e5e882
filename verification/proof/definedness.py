"""Definedness: the rewrite has outputs wherever the original has (refinement, as in Alive2).

Each node of the rewrite that may fail needs a twin in the original: the same operator on equal
operands, which runs at least as often. Then the rewrite fails only where the original does. A node
without a twin must be proved safe (`execution/safety.py`), and a loop without one must end.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import onnx

from ...facts.fact import Fact
from ...facts.polynomial import Dimension
from ...facts.types import INTEGER_BITS
from ...ir import normal_domain
from ...ir.lazy import lazy_property
from ...ops import rules_of
from ...ops.axes import ONE
from ...ops.elementwise import Elementwise
from ...reference.bodies import label
from .canonicalize.casts import in_type
from .execution.certain_failures import must_fail
from .execution.index_ranges import (
    columns_fit,
    index_range,
    is_along,
    is_one,
    ranges_of_rows,
    reads_up_to_most,
    scalar,
)
from .execution.node_checker import inputs_of_type, known_type
from .execution.obligations import (
    AS_DECLARED,
    AS_ORIGINAL,
    ENDS,
    HAS_RANK,
    HAS_TYPES,
    IS_ACCEPTED,
    IS_PART,
    IS_SIZE,
    ONE_ELEMENT,
    SAME_SIZES,
    Guard,
    Guards,
    Log,
    Obligation,
    guards_by_demand,
    in_both_branches,
)
from .execution.safety import Safety
from .node_forms import NEWER_NAMES, forms_of, may_hold_zero
from .terms.axis_maps import ELEMENTWISE, broadcast_from, has_shape_of
from .terms.budget import OpenError
from .terms.op_semantics import versions_of
from .terms.term import Args, Head, Term, bare, speaks_of_no_axis

if TYPE_CHECKING:
    from .equality.equality import Comparison
    from .terms.term_manager import Terms

Demand = tuple[Head, Args]
"""Operator, or demand by name, and its operands."""

_MOST_TWINS = 8
"""Limit of nodes of the original with which a node of the rewrite is compared."""

_MOST_LOOPS = 8
"""Limit of loops of the original whose iterations may compute the rows of a node."""

_DIVIDING = ("Div", "Mod")
"""Operators that fail for the same operands."""

_LAST = -1
_KEEPING = ("view", "narrow", "reversed", "Gather", "Transpose")
"""Heads whose elements are some of those of their first operand."""

_MAKING = {"ConstantOfShape": 0, "Expand": 1}
"""Operators that create a tensor of some sizes, and the input with these."""
_MOST_AXES = 16

_MOST_ALIKE = 16
"""Limit of the operands that are searched for one of known type."""

_OF_AN_AXIS = ("ArgMax", "ArgMin", "LogSoftmax", "Softmax")
"""Operators that fail only where an axis has no element, or one behind it before opset 13."""

_TAKING_PARTS = ("Gather", "Split")

_CONVOLUTIONS = ("Conv", "ConvTranspose")
_ROUNDED = "rounded"

_FAULTS = {
    ENDS: "it may never end",
    ONE_ELEMENT: "its condition or trip count may not hold exactly one element",
    SAME_SIZES: "the sizes of its scan inputs or of the elements of an output may differ",
    IS_SIZE: "a length may be negative",
    IS_PART: "a length may exceed the size of the axis",
    HAS_TYPES: "an operand may have a type that the operator does not accept",
    HAS_RANK: "an operand may have a rank that the operator does not accept",
    IS_ACCEPTED: "its opset accepts fewer operands than later ones",
    AS_DECLARED: "a value may have other sizes than it declares",
    AS_ORIGINAL: "the original does not declare these sizes of a value, which may have others",
}
"""Reasons of failure for demands that are no operators."""


class UndefinedError(OpenError):
    """Signal that a node of the rewrite may fail where the original has outputs.

    Attributes:
        obligation: the node and its operands.
        fault: the reason why it may fail.
    """

    def __init__(self, obligation: Obligation, fault: str) -> None:
        node = label(obligation.node)
        super().__init__(f"{node} of the rewrite may fail where the original does not: {fault}")
        self.obligation = obligation
        self.fault = fault


def certainly_fails(before: Log) -> bool:
    """Test whether the original has no outputs: some node that always runs fails."""
    return any(not each.guards and must_fail(each.head, each.args) for each in before)


class Definedness:
    """Comparison of the nodes of two models that may fail.

    Args:
        before: obligations of the original.

    Attributes:
        positive: trip counts that are taken to be 1 or more.
    """

    def __init__(self, comparison: Comparison, before: Log) -> None:
        self.comparison = comparison
        self.terms = comparison.terms
        self.positive: set[Dimension] = set()
        self._safety = Safety(comparison.terms)
        self._before = before
        self._originals = guards_by_demand(before)
        self._opened = False
        self._by_head: dict[Head, list[Obligation]] | None = None
        self._by_shapes: dict[Hashable, list[Obligation]] = {}
        self._turns: Counter[Hashable] = Counter()
        self._has_fitting = False
        self._facts: dict[frozenset[Hashable], Collection[Dimension]] = {}
        self._loops: list[Guard] | None = None

    @lazy_property
    def _premises(self) -> dict[Demand, list[Guards]]:
        """Guards of the original's nodes, by demand."""
        premises: dict[Demand, list[Guards]] = {}
        for each in self._before:
            demands = *_demands(self.terms, each), *self._elements(each), *self._later(each)
            if each.head.name != "GatherND":  # runtimes do not look at the indices of empty rows
                demands = *demands, *index_range(self.terms, each.head, each.args)
            for demand in demands:
                premises.setdefault(demand, []).append(each.guards)
        return premises

    def require(self, after: Iterable[Obligation]) -> None:
        """Prove that no node of the rewrite fails where the original does not.

        Raises:
            UndefinedError: one of them may fail there.
        """
        visited: set[Hashable] = set()
        for each in after:
            # Copies of a body repeat the same demand under the same guards; it is decided once.
            key = each.head, each.args, tuple([guard.key for guard in each.guards])
            answer = key in visited or self._is_original(each)
            visited.add(key)
            if not answer and not (each.head.op and self._safety.holds_by_facts(*each[:3])):
                self._require(each)

    def _is_original(self, obligation: Obligation) -> bool:
        """Test whether the original has the same node with the same operands."""
        same = self._originals.get((obligation.head, obligation.args), ())
        around = {guard.key for guard in obligation.guards}
        return any(self._assumptions_of(each, around, obligation.args) == set() for each in same)

    def _require(self, obligation: Obligation) -> None:
        around = {guard.key for guard in obligation.guards}
        demands = [*_demands(self.terms, obligation), *_of_narrow_numbers(self.terms, obligation)]
        # Only what holds without an assumption: the definitions below may still offer that, and
        # positive trip counts would each cost a case of their own.
        if any(self._assumptions(demand, around) == set() for demand in demands):
            return
        fault = self._fault(obligation)
        if not fault:
            return
        # Opening every definition of the original costs as much as running it again, so it waits
        # until some node of the rewrite has no twin without it.
        self._open_definitions()
        if any(self._holds(demand, around) for demand in demands):
            return
        # A twin compares terms, which costs most, so it is the last way.
        ways = (
            *(self._is_safe, self._has_tensor, self._fits),
            *(self._picks, self._has_types, self._has_twin, self._has_steps),
        )
        if not any(holds(obligation, around) for holds in ways):
            raise UndefinedError(obligation, fault)

    def _open_definitions(self) -> None:
        """Add the nodes in definitions of the original's operators to its demands."""
        if self._opened:
            return
        self._opened = True
        for each in self._before:
            for demand in self.comparison.longer_forms.demands(each.head, each.args):
                self._premises.setdefault(demand, []).append(each.guards)

    def _fault(self, obligation: Obligation) -> str:
        """Reason why a node may fail, with the names of its inputs."""
        if obligation.head.op is None:
            return _FAULTS[obligation.head.name]
        fault = self._safety.fault(obligation.head, obligation.args, obligation.width)
        for index, name in enumerate(obligation.node.input):
            fault = fault.replace(f"'i{index}'", repr(name))
        return fault

    def _is_safe(self, obligation: Obligation, around: set[Hashable]) -> bool:
        """Test whether a node cannot fail for the sizes with which the original runs."""
        if obligation.head.op is None:
            return False
        key = frozenset(around)
        # The original has run up to here, so the sizes that its nodes need are not negative: facts
        # for the rewrite at this place.
        if key not in self._facts:
            self._facts[key] = dict.fromkeys(
                number
                for number, guards in self._numbers.items()
                if any(self._assumptions_of(each, around, ()) == set() for each in guards)
            )
        facts = self._facts[key]
        return bool(facts) and not self._safety.fault(*obligation[:3], facts)

    def _has_steps(self, obligation: Obligation, _: set[Hashable]) -> bool:
        """Test whether a recurrent operator cannot fail if it runs a step, which is assumed."""
        head, args, width = obligation[:3]
        steps = self.comparison.steps_of(head, args)
        return steps is not None and not self._safety.fault(head, args, width, [steps - 1])

    @lazy_property
    def _numbers(self) -> dict[Dimension, list[Guards]]:
        """Numbers that are at least 0 where the original's nodes run, with their guards."""
        numbers: dict[Dimension, list[Guards]] = {}
        for each in self._before:
            for number in self._safety.demands(*each[:3]):
                # A number that varies with an iteration holds in that iteration alone, which guards
                # cannot name.
                is_open = number.less(0) is None and not self.terms.symbols.vary(number.symbols)
                if is_open and each.guards not in numbers.get(number, ()):
                    numbers.setdefault(number, []).append(each.guards)
        return numbers

    def _holds(self, demand: Demand, around: set[Hashable]) -> bool:
        """Test whether the original has the same demand, at least as often."""
        positive = self._assumptions(demand, around)
        if positive is None:
            return False
        self.positive |= positive
        return True

    def _assumptions(self, demand: Demand, around: set[Hashable]) -> set[Dimension] | None:
        """Trip counts that must be positive for the original to have a demand. None if the original
        may lack it."""
        first, premises = None, self._premises.get(demand, [])
        # A node in both branches of an If runs whichever is selected.
        for guards in itertools.chain(premises, in_both_branches(premises)):
            iterations = self._assumptions_of(guards, around, demand[1])
            if iterations == set():
                return iterations
            first = iterations if first is None else first
        return first

    def _assumptions_of(
        self, guards: Guards, around: set[Hashable], operands: Sequence[Term | None]
    ) -> set[Dimension] | None:
        """Trip counts, as above, for one node of the original.

        Args:
            around: keys of the guards of the node in the rewrite.
        """
        iterations, free = set(), self.terms.symbols.free
        for guard in guards:
            if guard.key in around:
                continue
            levels = set().union(*[free(each) for each in operands if each is not None])
            # A branch may not be taken, and a value of an iteration has no meaning
            # outside of its loop.
            if guard.iterations is None or guard.level in levels:
                return None
            # Without iterations the node of the original does not run, and demands nothing.
            if (guard.iterations - 1).less(0) is not False:
                # A case sets one symbol to 0; a sum of several has no such case.
                if guard.iterations.only_symbol is None:
                    return None
                iterations.add(guard.iterations)
        return iterations

    def _has_tensor(self, obligation: Obligation, around: set[Hashable]) -> bool:
        """Test whether the original has a tensor of the same sizes."""
        # An Expand of several elements may also fail as they do not fit the sizes.
        if obligation.head.name == "Expand" and not is_one(obligation.args[0]):
            return False
        elements = self._elements(obligation)
        return bool(elements) and all(
            self._safety.is_size(number) or self._holds((head, (number,)), around)
            for head, (number,) in elements
        )

    def _fits(self, obligation: Obligation, around: set[Hashable]) -> bool:
        """Test whether operands fit each other pair by pair, which elementwise operators need."""
        head = obligation.head
        rules = None if head.op is None else rules_of(head.op)
        if not isinstance(rules, Elementwise) or head.opset < rules.accepts_more_from:
            return False
        # Before opset 7 `broadcast` and `axis` align the operands, by another rule than that of
        # numpy.
        if head.attribute("broadcast") or not _needs_a_fit_only(rules, obligation.args):
            return False
        self._add_fitting()
        # The sources of one operand fit each other, or the node that computes it fails.
        inside = [broadcast_from(arg) for arg in obligation.args if arg is not None]
        return all(
            self._holds((kind, pair), around)
            for kind, pair in _fitting(self.terms, head, obligation.args)
            if not any(sources.issuperset(pair) for sources in inside)
        )

    def _add_fitting(self) -> None:
        """Add what the operands of the original fit, and those of the definitions in it."""
        if self._has_fitting:
            return
        self._has_fitting = True
        for each in itertools.chain(self._before, self._inside_definitions()):
            for demand in _fitting(self.terms, each.head, each.args):
                self._premises.setdefault(demand, []).append(each.guards)

    def _has_types(self, obligation: Obligation, around: set[Hashable]) -> bool:
        """Test whether the original demands types of the same values that a node accepts."""
        if obligation.head.name != HAS_TYPES:
            return False
        allowed, variables = obligation.head.key
        own = [_known_type(value) for value in obligation.args]
        # One type variable of the schema (T) stands for one type in all operands.
        if len(set(zip(variables, own, strict=True))) > len(set(variables)):
            return False  # not one type for a variable
        if len(set(variables)) < len(variables) and not all(own):
            return False
        pairs = zip(obligation.args, allowed, strict=True)
        return all(self._has_type(value, types, around) for value, types in pairs)

    def _has_type(self, value: Term | None, types: frozenset[str], around: set[Hashable]) -> bool:
        """Test whether the original demands one of some types of a value.

        It may demand it of another value, if that has the same type.
        """
        if _known_type(value):
            return _known_type(value) in types
        alike, tried = _of_type_of([value]), set[Term]()
        for other, accepted, each in self._typed:
            # A set that is wider than that of the node would let a type through that the node
            # refuses.
            if other in tried or not accepted <= types:
                continue
            if self._assumptions_of(each.guards, around, each.args) != set():
                continue
            tried.add(other)
            if len(tried) > _MOST_TWINS:
                return False
            if other in alike or any(self.comparison.holds(other, term) for term in alike):
                return True
        return False

    @lazy_property
    def _typed(self) -> list[tuple[Term, frozenset[str], Obligation]]:
        """Values of which the original demands types, with these types."""
        return [
            (term, accepted, each)
            for each in self._before
            if each.head.name == HAS_TYPES
            for value, accepted in zip(each.args, each.head.key[0], strict=True)
            for term in _of_type_of([value])
        ]

    def _picks(self, obligation: Obligation, around: set[Hashable]) -> bool:
        """Test whether the original has all indices of which a node takes some."""
        head, args = obligation.head, obligation.args
        ranges, loops = index_range(self.terms, head, args), self._loops_of_before()
        if reads_up_to_most(self.terms, self._safety, head, args):
            return True
        if not ranges:
            return columns_fit(self.terms, self._safety, head, args)
        place, (first,) = ranges[0]
        index: Term | None = first
        # From an index to the values that it is made of: a node that takes some of the positions of
        # another one needs no more than that one.
        while index is not None:
            rows = ranges_of_rows(self.terms, self.comparison.pushdown.of, place, index, loops)
            by_row = any(self._reads(demand, around | {key}) for key, demand in rows)
            if by_row or self._holds((place, (index,)), around):
                # A Gather fails for its indices alone, other operators for sizes as well.
                fits = head.name == "Gather"
                return fits or self._safety.holds_within(head, args, 1, place.key)
            index = index.args[0] if index.head.name in (*_KEEPING, "Expand") else None
        return False

    def _reads(self, demand: tuple[Head, tuple[Term]], around: set[Hashable]) -> bool:
        """Test whether the original demands the positions that equal indices are."""
        if self._holds(demand, around):
            return True
        place, (index,) = demand
        others = [other for other in self._premises if other[0] is place][:_MOST_TWINS]
        return any(
            other[1][0] is not None
            and self.comparison.holds(other[1][0], index)
            and self._holds(other, around)
            for other in others
        )

    def _elements(self, obligation: Obligation) -> list[tuple[Head, tuple[Term]]]:
        """Demands that each size of a new tensor is not negative."""
        place, value = _MAKING.get(obligation.head.name), obligation.head.attribute("value")
        sizes = None if place is None else obligation.args[place]
        if isinstance(value, onnx.TensorProto) and math.prod(value.dims) != 1:
            return []  # it fails for all sizes
        count = sizes.fact.shape[0].value if sizes is not None and sizes.fact.shape else None
        # An unknown number of sizes cannot be demanded one by one.
        if sizes is None or not count or count > _MOST_AXES:
            return []
        head = self.terms.heads.own(IS_SIZE)
        places = map(Dimension.constant, range(count))
        parts = [self.comparison.pushdown.of(sizes, 0, place, ONE) for place in places]
        return [(head, (self.terms.view(part, ()),)) for part in parts]

    def _later(self, obligation: Obligation) -> list[Demand]:
        """Demands of the original in the form of later versions of an operator."""
        if obligation.head.name == "Split":
            return _rounded(self.terms, obligation)
        if obligation.head.name != HAS_RANK:
            return []
        name, since, position, ranks = obligation.head.key
        versions = [schema.since_version for schema in versions_of(name)]
        heads = [
            self.terms.heads.own(HAS_RANK, (name, version, position, ranks))
            # The head holds the ranks: a version that accepts others makes another demand.
            for version in versions
            if version > since
        ]
        return [(head, obligation.args) for head in heads]

    def _loops_of_before(self) -> list[Guard]:
        """Loops of the original that a trip count ends."""
        if self._loops is None:
            guards = {
                guard.key: guard
                for each in self._before
                for guard in each.guards
                if guard.is_loop and isinstance(guard.key, str)
            }
            self._loops = list(guards.values())[:_MOST_LOOPS]
        return self._loops

    def _has_twin(self, obligation: Obligation, around: set[Hashable]) -> bool:
        """Test whether the original has the same operator on equal operands."""
        if self._by_head is None:
            self._by_head = {}
            for each in itertools.chain(self._before, self._inside_definitions()):
                for form in forms_of(self.terms, each):
                    self._by_head.setdefault(form.head, []).append(form)
                    self._by_shapes.setdefault(_shapes_of(form), []).append(form)
        # A model of many equal nodes has as many candidates for each of its nodes: without a limit
        # the comparison would be quadratic.
        pairs = list(itertools.islice(self._twins(obligation), _MOST_TWINS))
        # Most candidates are no twins, which only a comparison row by row takes long to find out.
        return any(
            self._is_twin(twin, form, around, by_row=by_row)
            for by_row in (False, True)
            for twin, form in pairs
        )

    def _twins(self, obligation: Obligation) -> Iterator[tuple[Obligation, Obligation]]:
        """Candidates for a twin, each with a form of the node."""
        tried: set[Hashable] = set()
        for form in forms_of(self.terms, obligation):
            for twin in self._candidates(form):
                key = form.args, twin.args, tuple([guard.key for guard in twin.guards])
                if key not in tried and len(twin.args) == len(form.args):
                    tried.add(key)
                    yield twin, form

    def _inside_definitions(self) -> Iterator[Obligation]:
        """Nodes of definitions that fail only where operators of the original do."""
        for each in self._before:
            for head, args in self.comparison.longer_forms.demands(each.head, each.args):
                yield each._replace(head=head, args=args, result=None)

    def _candidates(self, form: Obligation) -> Iterator[Obligation]:
        """Nodes of the original with the same operator. Those with operands of the same shapes come
        first, and of these the one that stands as far behind the others."""
        assert self._by_head is not None
        alike = self._by_shapes.get(_shapes_of(form), [])
        turn = self._turns[_shapes_of(form)]
        # Rewrites keep the order of nodes in most cases, so the n-th node of a kind is tried with
        # the n-th.
        self._turns[_shapes_of(form)] += 1
        start = turn % len(alike) if alike else 0
        yield from alike[start:]
        yield from alike[:start]
        yield from self._by_head.get(form.head, ())

    def _is_twin(
        self, twin: Obligation, obligation: Obligation, around: set[Hashable], *, by_row: bool
    ) -> bool:
        """Test whether a node of the original has equal operands and runs as often. Its guards are
        the same, or correspond to those of the rewrite."""
        positive = self._assumptions_of(twin.guards, around, twin.args)
        if positive is not None and self._is_equal(twin, obligation, ((), ()), by_row):
            self.positive |= positive
            return True
        guards = twin.guards, obligation.guards
        kinds = [[(guard.is_loop, guard.holds) for guard in each] for each in guards]
        # Guards of the same kinds in the same order: their conditions are compared inside of the
        # terms.
        alike = bool(guards[0]) and kinds[0] == kinds[1]
        return alike and self._is_equal(twin, obligation, guards, by_row)

    def _is_equal(
        self, twin: Obligation, obligation: Obligation, guards: tuple[Guards, Guards], by_row: bool
    ) -> bool:
        """Test whether two nodes have equal operands whenever their guards hold."""
        one, other = self._wrap(twin, guards[0]), self._wrap(obligation, guards[1])
        return self.comparison.holds(one, other, by_row=by_row)

    def _wrap(self, obligation: Obligation, guards: Guards) -> Term:
        """Term that is equal for nodes with equal operands under their guards."""
        terms = self.terms
        head = terms.heads.own("operands", (obligation.head, len(obligation.args)))
        term = terms.keep(head, obligation.args, Fact())
        # From the inside out, as the constructs nest.
        for guard in reversed(guards):
            if guard.condition is not None:
                both = terms.heads.own("operands", ("if", guard.holds))
                term = terms.keep(both, (guard.condition, term), Fact())
            elif guard.scan_output is not None:
                term = guard.scan_output(term)
        return term


def _known_type(value: Term | None) -> str:
    """Type of a value or of an operand that has it; empty if unknown."""
    types = (known_type(term.fact) for term in _of_type_of([value]))
    return next(filter(None, types), "")


def _of_type_of(values: Iterable[Term | None]) -> list[Term]:
    """Values and the operands that have their types, those of operands included."""
    alike = [value for value in values if value is not None]
    # The list grows while it is walked: operands of operands are added behind.
    for term in alike:
        if len(alike) > _MOST_ALIKE:
            break
        op, args = term.head.op, term.args
        if term.head.name in _KEEPING:
            places: tuple[int, ...] = (0,)
        elif op is None:
            continue
        else:
            domain = normal_domain(op.domain)
            version = term.head.opset if not domain else term.head.imports.get(domain, 0)
            places = inputs_of_type(op.op_type, version, domain, len(args), term.index)
        operands = [args[place] for place in places]
        alike += [arg for arg in operands if arg is not None and arg not in alike]
    return alike


def _shapes_of(obligation: Obligation) -> Hashable:
    """Operator of a node and the shapes of its operands."""
    shapes = [None if arg is None else arg.fact.shape for arg in obligation.args]
    return obligation.head, *shapes


def _demands(terms: Terms, obligation: Obligation) -> list[Demand]:
    """Demands of a node, in each of their forms."""
    head, args, result = obligation.head, obligation.args, obligation.result
    demands = [(head, args)]
    if result is None or not args or args[0] is None:
        return demands
    # A Gather of one number, of one number in a vector, and of the same indices in another shape
    # fail alike.
    if head.name == "Gather" and args[1] is not None:
        one_number = terms.view(args[1], ()) if is_one(args[1]) else bare(args[1])
        demands.append((head, (args[0], one_number)))
    demands += [*_along_axis(terms, head, args), *_of_convolution(terms, head, args)]
    # A 0 copies the size of the operand at its place, so a demand with a 0 depends on that
    # operand's shape and not on its number of elements alone.
    if head.name == "Reshape" and not may_hold_zero(args[1]):
        demands.append((terms.heads.own("reshape"), (bare(args[0]), args[1])))
    if head.name in _DIVIDING:
        demands.append((terms.heads.own("quotient"), args))
    if head.name in _OF_AN_AXIS and args[0].fact.shape:
        shape, axis = args[0].fact.shape, head.attribute("axis", 0)
        if -len(shape) <= axis < len(shape) and is_along(head, axis % len(shape), shape):
            demands.append((terms.heads.own("axis", head.name), (terms.size(shape[axis]),)))
    if head.name in ("Squeeze", "Split"):
        demands.append((terms.heads.own(head.name, _axes_or_sizes(terms, obligation)), args[:1]))
    renamed = head.name in NEWER_NAMES and result.head.op is not None
    if head.name == "Concat":
        demands += [(form.head, form.args) for form in forms_of(terms, obligation)]
    elif (result.head.name == head.name or renamed) and result.args[:1] == args[:1]:
        demands.append((result.head, result.args))  # in the form of another opset
    if head.name in _TAKING_PARTS:
        part = bare(result)
        if part.head.name == "narrow" and part.args[0] is args[0]:
            demands.append((terms.heads.own(IS_PART), (part,)))
    return demands


def _fitting(terms: Terms, head: Head, args: Args) -> list[Demand]:
    """Demands that two terms broadcast from which elementwise operators compute the operands.

    The operands fit if and only if these do. Scalars fit all, and terms of one shape each other.
    """
    if head.name not in ELEMENTWISE or head.attribute("broadcast"):
        return []
    operands = [arg for arg in args if arg is not None and arg.fact.shape != ()]
    sources = set[Term]().union(*map(broadcast_from, operands))
    kind = terms.heads.own("fitting")
    pairs = itertools.combinations(sorted(sources, key=lambda term: term.number), 2)
    return [(kind, pair) for pair in pairs if not has_shape_of(*pair)]


def _needs_a_fit_only(rules: Elementwise, args: Args) -> bool:
    """Test whether an elementwise operator fails only where its operands do not fit. Those that
    fail on numbers fail on integers."""
    if type(rules).prove_safe is Elementwise.prove_safe:
        return True
    risky = [args[place] for place in rules.risky_inputs]
    kinds = [0 if arg is None else arg.fact.elem_type for arg in risky]
    return bool(kinds) and all(kind and kind not in INTEGER_BITS for kind in kinds)


def _along_axis(terms: Terms, head: Head, args: Args) -> list[Demand]:
    """Demand on an axis, whatever its place: it has elements, or holds some positions."""
    shape = None if args[0] is None else args[0].fact.shape
    if not shape or head.name not in ("Gather", "TopK") or speaks_of_no_axis(head, args):
        return []
    size = shape[head.attribute("axis", _LAST if head.name == "TopK" else 0) % len(shape)]
    if head.name == "TopK":
        count = args[1] if len(args) > 1 else None
        return [] if count is None else [(terms.heads.own("TopK", size), (scalar(terms, count),))]
    return [*index_range(terms, head, args)]


def _of_convolution(terms: Terms, head: Head, args: Args) -> list[Demand]:
    """Demand that image and weights fit, if the bias fits the weights.

    A convolution of numbers of one type fails for its sizes only.
    """
    facts = [arg.fact for arg in args if arg is not None]
    if head.name not in _CONVOLUTIONS or len(facts) < len(args) or len(facts) not in (2, 3):
        return []
    shapes = [fact.shape or () for fact in facts]
    if not all(shapes) or len({fact.elem_type for fact in facts}) > 1 or not facts[0].elem_type:
        return []
    weights = shapes[1]
    channels = weights[0]
    if head.name == "ConvTranspose" and len(weights) > 1:
        channels = weights[1] * head.attribute("group", 1)
    if len(shapes) > 2 and shapes[2] != (channels,):
        return []
    sizes = [terms.size(dim) for shape in shapes[:2] for dim in shape]
    kind = terms.heads.own("convolution", (head, facts[0].elem_type, len(shapes[0])))
    return [(kind, tuple(sizes))]


def _axes_or_sizes(terms: Terms, obligation: Obligation) -> Hashable:
    """Axes of a Squeeze, or axis and sizes of a Split, from attributes or inputs."""
    head, args = obligation.head, obligation.args
    name = "axes" if head.name == "Squeeze" else "split"
    listed = terms.numbers(args[1]) if len(args) > 1 else head.attribute(name)
    if listed is None and len(args) > 1:
        return head, args[1]
    if head.attribute("num_outputs") is not None:
        return _ROUNDED, head.attribute("axis"), obligation.width
    return None if listed is None else tuple(listed), head.attribute("axis"), obligation.width


def _of_narrow_numbers(terms: Terms, obligation: Obligation) -> list[Demand]:
    """Demand that suffices for a division of integers: one of the same numbers in a type that is
    narrower, where the smallest one by -1 may fail as well."""
    if obligation.head.name not in _DIVIDING:
        return []
    operands = [arg for arg in obligation.args if arg is not None]
    below = next((arg.args[0] for arg in operands if arg.is_op("Cast")), None)
    if below is None or below.fact.elem_type not in INTEGER_BITS:
        return []
    narrow = tuple([in_type(terms, arg, below.fact.elem_type) for arg in operands])
    return [] if None in narrow else [(terms.heads.own("quotient"), narrow)]


def _rounded(terms: Terms, obligation: Obligation) -> list[Demand]:
    """Demand that a tensor has parts of which the last may be shorter: it has equal parts."""
    if len(obligation.args) > 1 or obligation.head.attribute("split") is not None:
        return []
    key = _ROUNDED, obligation.head.attribute("axis"), obligation.width
    return [(terms.heads.own("Split", key), obligation.args[:1])]
