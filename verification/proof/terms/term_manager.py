"""Smart constructor of terms: applies rewrite rules, folds constants, infers facts.

Three registries of rules stand here, so that the packages of rules import the manager and not the
other way round: canonical forms and simplifications run when a term is built, late rules when two
terms are compared.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from ....facts.bounds import Known
from ....facts.fact import PRIVATE, UNKNOWN, Fact, Shape, content_from, element
from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ir import Array, Operator, Tensor, normal_domain
from ....ir.copy_plan import Reader
from ....limits import limit
from ....ops import rules_of
from .budget import MANY, Budget, OpenError
from .constants import evaluate, integers, key_of, present
from .evaluations import Evaluation, is_evident
from .exact_operators import is_exact
from .facts import TermFacts, is_empty
from .free_variables import Sizes
from .linear_sum import LinearSum
from .provenance import Trace
from .term import Args, Head, Heads, Operands, Term, bottom_up, fingerprint, speaks_of_no_axis

_WHOLE = frozenset([onnx.TensorProto.BOOL, *INTEGER_BITS])
_NEW = 8
"""Steps of an application that is not cached: rules, shape inference and a new term."""
_FOLD = 8
"""Steps of a folded operator, besides."""
ZERO = Dimension.constant(0)
INT64 = onnx.TensorProto.INT64

STEADY = tuple(f"{PRIVATE}{kind}:" for kind in ("least0", "if", "size"))
"""Prefixes of sizes that a case may fix (`Terms.dependent_size`)."""

Results = list["Term | None"]
Settled = dict[Args, "Sequence[Term | None]"]
OpaqueRow = tuple[Head, dict[Args, Results], Settled, Reader, frozenset[str], Fact, int]
"""A head, its results, those of a node, a reader of its arguments, its triggers, the fact of its
result, and a slot."""

MOST_STEPS = limit("proof_loop_steps")
"""Limit of nodes, over all iterations, for a loop that runs by its definition."""


class Terms:
    """All terms of a proof; equal ones are one object.

    Args:
        budget: limit of what they may cost.
        case: sizes that symbols have in the current case.
        demands: numbers that are at least 0 wherever the original runs.

    Attributes:
        symbols: the symbols of their sizes.
        limits: trip count of a loop, by the symbol of its iteration number.
        ended: loop that a condition may end, by the symbol of its number of iterations.
        loops: loops with the same initial states, by the tag of their variables.
        inside: tags of the loops inside a loop, by its tag.
        axes: term and axis of a size that only run time determines, by symbol.
        sized: operand that determines the size of a node's output, by symbol.
        counts: linear sum of a trip count where that is not negative, by symbol.
        positive: trip counts that are taken to be 1 or more for the shapes of scan outputs.
        heeds_condition: whether the condition of a body ends a Loop that has no condition input.
        has_two_readings: whether there is such a Loop.
        trace: record of where terms come from; None if not recorded.
        key_of: key that equal constants share.
        loop_steps: the limit of nodes, of all iterations together, for running a loop by its
            definition; over it a loop is a recurrence although its trip count is known.
        generalized: whether a loop was over that limit.
        inexact_constants: constants folded by an operator whose bits depend on the kernel.
        rounded: constants that count as functions over the reals, by the values of these.
        late_folds: names of such operators that were folded during the comparison.
        evaluations: operators on constants that leave room for a mistake.
        comparing: whether the comparison has begun.
        are_reals: whether floats are real numbers, which hold all integers.
        is_brief: whether a rewrite is checked, for which fewer assumptions hold.
        is_part: whether inputs are values of a larger model, which over the reals may have none.
        safe: whether an operator cannot fail on operands of some facts (`execution/safety.py`).
        bounds: bounds of terms, cached (`execution/safety.py`).
        elements: elements of sequences, cached (`simplify/sequences.py`).
        unrolled: states of a recurrence before its first iterations, cached
            (`equality/substitution.py`).
        joined: slices of the rows of all iterations, by a slice and the row beside it
            (`control_flow/growing_states.py`).
        held: constants that nodes hold, by their operation and folder.
        opened: definitions of terms, of floats and over the reals, cached (`definitions/`).
    """

    def __init__(
        self,
        budget: Budget,
        case: Mapping[str, Dimension] | None = None,
        demands: Iterable[Dimension] = (),
    ) -> None:
        self.budget = budget
        self.case = case or {}
        self.demands = [number.replaced(self.case) for number in demands]
        self.heads = Heads()
        self.symbols = Sizes()
        self.facts = TermFacts(self.symbols)
        self.limits: dict[str, Dimension] = {}
        self.ended: dict[str, Term] = {}
        self.loops: dict[Hashable, dict[str, Any]] = {}
        self.inside: dict[str, frozenset[str]] = {}
        self.loop_count = 0
        self.used: set[str] = set()
        self.axes: dict[str, tuple[Term, int]] = {}
        self.sized: dict[str, Term] = {}
        self.counts: dict[str, LinearSum] = {}
        self.positive: set[Dimension] = set()
        self.heeds_condition = self.has_two_readings = False
        self.loop_steps, self.generalized = MOST_STEPS, False
        self.trace: Trace | None = None
        self.key_of: Callable[[Tensor], Hashable] = key_of
        self.inexact_constants: set[Term | None] = set()
        self.rounded: dict[Hashable, bytes] = {}
        self.late_folds: set[str] = set()
        self.evaluations: list[Evaluation] = []
        self.comparing = self.are_reals = self.is_brief = self.is_part = False
        self.safe: dict[Hashable, bool] = {}
        self.bounds: dict[Term, Known] = {}
        self.fingerprints: dict[Term, str] = {}
        self.elements: dict[Term, tuple[Term, ...]] = {}
        self.unrolled: dict[Term, list[Operands]] = {}
        self.joined: dict[Operands, Term] = {}
        self.held: dict[Hashable, Term] = {}
        self.opened: tuple[dict[Term, Term | None], dict[Term, Term | None]] = {}, {}
        self._tensors: dict[Term, Tensor] = {}
        self.of_original: frozenset[Term] = frozenset()
        self._ends: dict[tuple[Term, int], list[int] | None] = {}
        self._vectors: dict[tuple[int, tuple[Dimension | int, ...]], Term] = {}
        self._scalars: dict[Dimension | int, Term] = {}
        self._view = self.heads.own("view")
        self._count = 0
        self._binders = 0
        self._holders: dict[tuple[str, ...], dict[Term, bool]] = {}

    def release(self) -> None:
        """Drop all terms. Heads and terms refer to each other, so that the garbage collector would
        have to visit them. After this only single terms may be read."""
        for head in self.heads:
            head.applications.clear()
        vars(self).clear()

    def runs_loop(self, iterations: int, nodes: int) -> bool:
        """Decide whether a loop of known trip count is run by its definition."""
        steps = iterations * max(nodes, 1)
        self.generalized |= self.loop_steps < steps <= MOST_STEPS
        return steps <= self.loop_steps

    def number_of_binder(self) -> int:
        """Number of a variable: no other one of these terms has it, so that no cached result rests
        on a fact of another variable."""
        self._binders += 1
        return self._binders - 1

    def leaf(self, name: str, key: Any, fact: Fact) -> Term:
        """Term without arguments: an input, a variable."""
        term = self.keep(self.heads.own(name, key), (), fact)
        # Inputs without elements are equal, whatever their names.
        return self.void(fact) if is_empty(fact) else term

    def variable(self, fact: Fact) -> Term:
        """Variable of the fact that was inferred last, unlike any other; or its content."""
        content = self._known_content(fact)
        if content is not None:
            return content
        if id(fact) in self.facts.empty:
            return self.void(fact)
        # Of a head of its own: equality goes by head and arguments.
        results = self.raw(self.heads.own("input", self.number_of_binder()), (), [fact])
        if self.facts.new:
            self._record_owners(results, self.facts.new)
        return _first(results)

    def constant(self, content: Tensor | Array) -> Term:
        """Term of a constant."""
        tensor = content if isinstance(content, Tensor) else Tensor(array=content)
        return self._constant(tensor, self.key_of(tensor))

    def _constant(self, tensor: Tensor, key: Hashable, fact: Fact | None = None) -> Term:
        head = self.heads.own("constant", key)
        cached = head.applications.get(())
        if cached is None:
            own = self.facts.own(tensor) if fact is None else self.facts.note(fact)
            cached = head.applications[()] = self.raw(head, (), [own])
            self._tensors[_first(cached)] = tensor
        return _first(cached)

    def end_original(self) -> None:
        """Record the constants that the original holds, before the rewrite runs."""
        self.of_original = frozenset(self._tensors)

    def tensor(self, term: Term | None) -> Tensor | None:
        """Value of a constant; None for any other term."""
        return None if term is None else self._tensors.get(term)

    def holds(self, condition: Term) -> bool:
        """Test whether a condition certainly holds."""
        tensor = self.tensor(condition)
        return tensor is not None and bool(tensor.numpy().all())

    def numbers(self, term: Term | None) -> list[int] | None:
        """Elements of an integer constant, such as axes."""
        tensor = self.tensor(term)
        if tensor is None or tensor.elem_type not in _WHOLE or not tensor.is_readable:
            return None
        return [int(n) for n in tensor.numpy().reshape(-1)]

    def ends_of(self, joined: Term, axis: int) -> list[int] | None:
        """End of each piece of a Concat along its axis; None if a size is unknown."""
        key = joined, axis
        if key not in self._ends:
            shapes = [None if arg is None else arg.fact.shape for arg in joined.args]
            sizes = [
                None if shape is None or axis >= len(shape) else shape[axis].value
                for shape in shapes
            ]
            numbers = [size for size in sizes if size is not None]
            ends = list(itertools.accumulate(numbers)) if len(numbers) == len(sizes) else None
            self._ends[key] = ends
        return self._ends[key]

    def size_of(self, number: Term) -> Dimension:
        """Number of elements of a tensor of a size that a term determines. It is the number itself
        if such a tensor exists, since no tensor has a negative size."""
        content = element(number.fact)
        if isinstance(content, Dimension) and content.less(0) is False:
            return content
        bare = self.view(number, ())
        size = self.dependent_size("size", bare, None)
        for name in size.symbols:
            self.sized.setdefault(name, bare)
        return size

    def iterations_if(self, condition: Term, iterations: Dimension) -> Dimension:
        """Trip count if a condition holds, else 0."""
        tensor = self.tensor(condition)
        if iterations.value == 0 or tensor is not None:
            return iterations if tensor is None or bool(tensor.numpy().all()) else ZERO
        return self.dependent_size("if", condition, iterations)

    def dependent_size(self, kind: str, term: Term, size: Dimension | None) -> Dimension:
        """Size that follows from a term. It has one name in all cases of a proof, unless the term
        depends on an iteration, which substitution may replace."""
        levels = self.symbols.free(term)
        if size is not None:
            levels |= self.symbols.free(self.size(size))
        # The fingerprint of the term is the name, so both models, and all cases of a proof, speak
        # of one size.
        if not levels:
            name = f"{PRIVATE}{kind}:{fingerprint(term, self.fingerprints)}:{size or ''}"
            return self.case.get(name) or self.symbols.steady(name)
        name = f"{PRIVATE}{kind}#{term.number}:{size or ''}"
        self.symbols.derived[name] = kind, term, size
        return self.symbols.steady(name)

    def either(self, one: Fact, other: Fact) -> Fact:
        """Fact of a value that is one of two."""
        # Sequences and optionals have no shape to be joined: they are alike or unknown.
        if one.other is not None or other.other is not None:
            if one.other != other.other:
                return Fact()
            return Fact(other=one.other, count=one.count if one.count == other.count else None)
        elem_type = one.elem_type if one.elem_type == other.elem_type else 0
        a, b = one.shape, other.shape
        if a is None or b is None or len(a) != len(b):
            return Fact(elem_type)
        # A size that differs between the branches is one of two: a symbol that nothing else has.
        dims = [x if x == y else self.symbols.fresh() for x, y in zip(a, b, strict=True)]
        return Fact(elem_type, tuple(dims))

    def sizes(self, elements: Sequence[Dimension | int], elem_type: int = INT64) -> Term:
        """Vector of sizes."""
        key = elem_type, tuple(elements)
        cached = self._vectors.get(key)
        if cached is None:
            content = content_from([_dimension(e) for e in elements])
            cached = self._vectors[key] = self.content(content, elem_type)
        return cached

    def size(self, element: Dimension | int) -> Term:
        """Scalar size."""
        cached = self._scalars.get(element)
        if cached is None:
            content = content_from(_dimension(element))
            cached = self._scalars[element] = self.content(content, INT64)
        return cached

    def apply(self, head: Head, args: Args, count: int = 1) -> Results:
        """Outputs of a head on arguments, after rewriting.

        Args:
            head: an operator without bodies, or "view" and the like.
            args: the arguments; None at the end is dropped.
            count: number of outputs that are read at least.
        """
        # An absent input at the end means the same as none: both spellings share one term.
        while args and args[-1] is None:
            args = args[:-1]
        cached = head.applications.get(args)
        if cached is None:
            cached = head.applications[args] = self._simplest(head, args, count)
        # Another node of the same operator may read more outputs than those known so far.
        elif len(cached) < count:
            cached += self._simplest(head, args, count)[len(cached) :]
        return cached

    def opaque_facts(self, head: Head, args: Args, count: int) -> list[Fact]:
        """Facts of the outputs if no rule applies to arguments of these facts. Empty if a rule may
        apply to some of them."""
        name, forms = head.name, CANONICAL_FORMS.get(head.name, ())
        if (
            name in RULES
            or len(forms) > (name in TRIGGERS)
            or has_trigger(TRIGGERS.get(name), args)
            or self.facts.known(head, args, count) is None
        ):
            return []
        facts = []
        for term in self.apply(head, args, count)[:count]:
            if term is None or term.head is not head or term.args != args:
                return []
            facts.append(term.fact)
        return facts

    def opaque(self, head: Head, args: Args, facts: Sequence[Fact]) -> Results:
        """Outputs of a head to which no rule applies, with known facts."""
        if args in head.applications:  # with fewer outputs
            return self.apply(head, args, len(facts))
        head.applications[args] = results = self.raw(head, args, facts)
        return results

    def opaque_rows(self, rows: Sequence[OpaqueRow], frame: list[Term | None]) -> int:
        """Apply heads to which no rule applies, in the order of the rows.

        Returns:
            the number of rows up to a known result of other facts than its row has.
        """
        first = count = self._count
        end = len(rows)
        for number, (head, applications, settled, read, triggers, fact, at) in enumerate(rows):
            args = read(frame)
            results = applications.get(args)
            if not results:
                if triggers and has_trigger(triggers, args):
                    end = number
                    break
                applications[args] = results = [Term(head, args, 0, count, fact)]
                count += 1
            elif results[0] is None or results[0].fact is not fact:
                end = number
                break
            settled[args] = results
            frame[at] = results[0]
        self._count = count
        self.budget.make_terms(count - first)
        return end

    def _simplest(self, head: Head, args: Args, count: int) -> Results:
        """Outputs that `apply` has not cached. A tensor without elements is one constant, however a
        model computes it."""
        self.budget.step(_NEW)
        if len(args) > MANY:
            self.budget.take(len(args))
        results, empty = self._rewrite(head, args, count), self.facts.empty
        if empty:
            for index, term in enumerate(results):
                if term is not None and id(term.fact) in empty:
                    results[index] = self.void(term.fact)
        return results

    def void(self, fact: Fact) -> Term:
        """Tensor without elements."""
        sizes = [dim.value for dim in fact.shape or ()]
        if None in sizes or not fact.elem_type:
            fact = Fact(fact.elem_type, fact.shape)
            return self.keep(self.heads.own("void", (fact.elem_type, fact.shape)), (), fact)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        shape = [size or 0 for size in sizes]
        return self.constant(np.full(shape, "" if dtype.kind in "OUS" else 0, dtype))

    def op(self, op_type: str, like: Head | int, *args: Term | None, **attributes: Any) -> Term:
        """First output of an operator of the default domain at some opset."""
        imports = {"": like} if isinstance(like, int) else like.imports
        op = Operator.make(op_type, **attributes)
        return _first(self.apply(self.heads.of(op, imports), args))

    def own(self, name: str, *args: Term, key: Any = None) -> Term:
        """First output of a head of the prover's own."""
        return _first(self.apply(self.heads.own(name, key), args))

    def with_attributes(self, head: Head, *args: Term | None, **changed: Any) -> Term:
        """First output of a head with other attributes."""
        return _first(self.apply(self.heads.with_attributes(head, **changed), args))

    def view(self, term: Term, shape: Shape) -> Term:
        """Term of the same elements in another shape."""
        if term.fact.shape == shape:
            return term
        return _first(self.apply(self._view, (term, self.sizes(shape))))

    def narrow(self, term: Term, axis: int, start: Dimension | int, size: Dimension | int) -> Term:
        """Slice along one axis, all of whose elements exist."""
        return self.own("narrow", term, self.size(start), self.size(size), key=axis)

    def get(self, head: Head, args: Args) -> Term | None:
        """First output of a head on arguments, if it was built before."""
        cached = head.applications.get(args)
        return None if cached is None else cached[0]

    def rebuild(
        self,
        term: Term,
        args: Args,
        parts: tuple[Term, ...] | None = None,
        replace: Callable[[Fact], Fact] = lambda fact: fact,
    ) -> Term:
        """Same output of the same head on other arguments. All terms that are made from a term of
        the same head are built here.

        Args:
            parts: the terms inside its head, if they are replaced.
            replace: function of its fact, where inference finds none.
        """
        head = term.head
        if parts is not None and parts != head.parts:
            head = self.heads.own(head.name, head.key, parts)
        # Nothing infers facts of such a head, nor folds it: the fact changes with the arguments.
        if head.op is None and head.name not in RULES:
            return self.keep(head, args, replace(term.fact), term.index)
        result = self.apply(head, args, term.index + 1)[term.index]
        assert result is not None
        return result

    def raw(self, head: Head, args: Args, facts: Sequence[Fact], first: int = 0) -> Results:
        """Outputs of a head from one on, without rewriting."""
        count, new = self._count, len(facts)
        self._count = count + new
        self.budget.make_terms(new)
        if new == 1:
            return [Term(head, args, first, count, facts[0])]
        return [Term(head, args, first + n, count + n, fact) for n, fact in enumerate(facts)]

    def _rewrite(self, head: Head, args: Args, count: int) -> Results:
        if head.axes_of_first and speaks_of_no_axis(head, args):
            # Such a node fails, so that no rule may give it a value.
            return self.raw(head, args, [UNKNOWN] * count)
        for form in CANONICAL_FORMS.get(head.name, ()):
            results = form(self, head, args, count)
            if results is not None:
                self.used.add(head.name)
                return list(results)
        rule = RULES.get(head.name)
        if rule is not None:
            results = rule(self, head, args)  # type: ignore[arg-type]
            if results is not None:
                self.used.add(head.name)
                return list(results)
        return self.compute(head, args, count)

    def compute(self, head: Head, args: Args, count: int = 1) -> Results:
        """Operator to which no rule applies: folded, or as it stands."""
        folded = self._evaluate(head, args, count)
        if folded is not None:
            return folded
        facts = self.facts_of(head, args, count)
        content = None if count > 1 else self._known_content(facts[0])
        if content is not None:
            return [content]
        results = self.raw(head, args, facts)
        if self.facts.new:
            self._record_owners(results, self.facts.new)
        return results

    def _record_owners(self, results: Results, new: Container[str]) -> None:
        """Record the terms that have these new symbols as sizes."""
        for term in filter(None, results):
            for axis, dim in enumerate(term.fact.shape or ()):
                name = next(iter(dim.symbols), "")
                if name in new and dim == self.symbols.named(name):
                    self.axes.setdefault(name, (term, axis))

    def fold(self, head: Head, args: Args, count: int = 1) -> Results | None:
        """Outputs of an operator that are known before run time: constants or sizes."""
        outputs = self._evaluate(head, args, count)
        if outputs is not None or count > 1:
            return outputs
        content = self._known_content(self.facts_of(head, args, count)[0])
        return None if content is None else [content]

    def _evaluate(self, head: Head, args: Args, count: int) -> Results | None:
        """Operator on constants."""
        for arg in args:
            if arg is not None and arg.head.name != "constant":
                return None
        constants = [self.tensor(arg) for arg in args]
        assert head.op is not None, head
        # The reference computes operators of the default domain alone.
        if normal_domain(head.op.domain):
            return None
        node = self.facts.node(head, args, present(constants), count)
        tensors = evaluate(head, node, constants)
        if tensors is None:
            return None
        self.budget.step(_FOLD)
        # Recorded for `recompute`: onnxruntime may compute this fold otherwise.
        if not is_evident(head.name, constants, tensors):
            self.evaluations.append(Evaluation(head, node, constants, tensors))
        results: Results = [self.constant(tensor) for tensor in tensors]
        if any(tensor.size for tensor in tensors) and not is_exact(head.name, (*args, *results)):
            self.inexact_constants.update(results)
            self.late_folds.update([head.name] if self.comparing else ())
        return results

    def _known_content(self, fact: Fact) -> Term | None:
        """Content of a fact that determines all elements."""
        if fact.content is None or None in fact.content.reshape(-1):
            return None
        return self.content(fact.content, fact.elem_type)

    def facts_of(self, head: Head, args: Args, count: int = 1) -> list[Fact]:
        """Facts of the outputs of an operator."""
        cached = self.facts.known(head, args, count)
        if cached is not None:
            return cached
        return self.budget.take_sizes(self.facts.infer(head, args, self._tensors, count))

    def is_filled(self, term: Term, number: float) -> bool:
        """Test for a tensor of one number: a constant, or its parts, repeated."""
        while term.head.name in ("view", "narrow") or term.is_op("Expand"):
            term = term.operands[0]
        tensor = self.tensor(term)
        if tensor is None or not tensor.is_readable:
            return False
        return bool((tensor.numpy() == number).all())

    def contains(self, term: Term, *names: str) -> bool:
        """Test whether a term has one of these heads, or a term in it does."""
        memo = self._holders.setdefault(names, {})
        return bottom_up(
            term,
            memo,
            lambda at: at.head.parts + at.args,
            lambda at, parts: at.head.name in names or any(parts),
        )

    def draws(self, head: Head, args: Args, count: int) -> bool:
        """Test whether an operator that may draw random numbers does."""
        constants = present([self.tensor(arg) for arg in args])
        node = self.facts.node(head, args, constants, count)
        return rules_of(node.op).draws_random_numbers(node)

    def content(self, content: Any, elem_type: int) -> Term:
        """Unique term for known content: a constant, or a vector of sizes."""
        flat = content.reshape(-1)
        numbers = tuple([e if isinstance(e, bool) else e.value for e in flat])
        if None not in numbers:
            try:
                # At run time the number would wrap (46341 squared in int32), so
                # no constant is right.
                return self._constant(*integers(elem_type, content.shape, numbers))
            except OverflowError as error:
                raise OpenError("a number overflows its type") from error
        shape = tuple([Dimension.constant(n) for n in content.shape])
        head = self.heads.own("sizes", (elem_type, content.shape, tuple(flat)))
        return self.keep(head, (), Fact(elem_type, shape, content))

    def keep(self, head: Head, args: Args, fact: Fact, index: int = 0) -> Term:
        """Output of a head of the prover's own, without rewriting; most have one."""
        outputs = head.applications.setdefault(args, [])
        if len(outputs) <= index:
            outputs += [None] * (index + 1 - len(outputs))
        term = outputs[index]
        if term is None:
            (term,) = self.raw(head, args, [self.facts.one(fact)], index)
            outputs[index] = term
        assert term is not None
        return term


def has_trigger(names: frozenset[str] | None, args: Args) -> bool:
    """Test whether an operand has a head of one of these names."""
    if not names:
        return False
    return not names.isdisjoint([arg.head.name for arg in args if arg is not None])


def _first(results: Sequence[Term | None]) -> Term:
    first = results[0]
    assert first is not None
    return first


def _dimension(size: Dimension | int) -> Dimension:
    return size if isinstance(size, Dimension) else Dimension.constant(size)


CanonicalForm = Callable[["Terms", "Head", "Args", int], "Sequence[Term | None] | None"]
"""Function of the terms, a head, its arguments and the number of outputs. It returns the
outputs, or None if the head is in canonical form."""

CANONICAL_FORMS: dict[str, list[CanonicalForm]] = {}

TRIGGERS: dict[str, frozenset[str]] = {}
"""Heads of which an operand has one wherever a certain canonical form of an operator applies."""


def canonical_form(*names: str) -> Callable[[CanonicalForm], CanonicalForm]:
    """Register a function as a canonical form of operators of the default domain."""

    def register(function: CanonicalForm) -> CanonicalForm:
        for name in names:
            CANONICAL_FORMS.setdefault(name, []).append(function)
        return function

    return register


Rule = Callable[["Terms", "Head", "Operands"], "Sequence[Term | None] | None"]
"""Function of the terms, a head and its arguments. Those of a head with optional inputs are Args;
no other input is absent (`execution/node_checker.py`)."""

RULES: dict[str, Rule] = {}
"""Simplifications by head."""

LateRule = Callable[["Terms", "Head", "Args"], "Sequence[Term | None] | None"]

LATE_RULES: dict[str, LateRule] = {}
"""Rules of the comparison by head: they identify two forms, both of which are common."""


def rule(*names: str, constants: bool = False) -> Callable[[Rule], Rule]:
    """Register a function as the simplification of heads.

    Args:
        names: the heads.
        constants: fold where the arguments are constants or sizes, and skip the rule.
    """
    return _registration(RULES, names, _of_others if constants else lambda function: function)


def late_rule(*names: str) -> Callable[[LateRule], LateRule]:
    """Register a function as the late rule of heads: the comparison alone applies it."""
    return _registration(LATE_RULES, names, lambda function: function)


def _registration(registry: Any, names: Sequence[str], wrap: Callable[[Any], Any]) -> Any:
    def register(function: Any) -> Any:
        assert not registry.keys() & set(names), names
        registry.update(dict.fromkeys(names, wrap(function)))
        return function

    return register


def _of_others(function: Rule) -> Rule:
    @functools.wraps(function)
    def applied(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
        folded = terms.fold(head, args)
        return folded if folded is not None else function(terms, head, args)

    return applied
