"""Recurrences: a loop of unknown trip count as one term over variables that it binds.

A recurrence has initial states, the states after an iteration as terms over the states before it
and the iteration number, and a trip count. Terms of it are the states after all iterations
("final"), the states before one ("state") and the scan outputs ("stacked"). States that do not
change, and integers that grow by the same number on each iteration, are no variables: their value
takes their place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ....facts.fact import PRIVATE, Fact, Shape, content_from, element
from ....facts.polynomial import Dimension
from ....ir import Signal
from ....ops.axes import ONE
from ....records import record, replace
from ....reference.bodies import label
from ..arithmetic.trip_counts import (
    MOST_ITERATIONS,
    Loop,
    conjunction,
    conjuncts,
    counting_parts,
    counting_trip_count,
    least,
)
from ..execution.compile_graph import Step
from ..execution.obligations import ENDS, SAME_SIZES, Guard, Guards
from ..execution.symbolic_execution import Execution, Value
from ..terms.budget import Budget, OpenError
from ..terms.free_variables import Bound
from ..terms.term import Pair, Term, descendants
from ..terms.term_manager import STEADY, Terms
from .growing_states import Form, Iterations, appended, counted
from .scan_outputs import add_all, empty_stack, rows_added


def untouched(loop: Recurrence, outputs: Sequence[Value]) -> list[Value]:
    """Outputs of a loop without an iteration."""
    count = len(loop.inits)
    stacks = [
        empty_stack(loop.execution.terms, loop.empty(k)) if k in loop.step.read else None
        for k in range(count, len(outputs))
    ]
    return [*loop.inits, *stacks]


def end_by_count(
    loop: Recurrence, condition: Term, inside: Loop, next_condition: Term
) -> Recurrence | None:
    """Loop whose trip count has the counting part of its condition; None without one."""
    terms, iterations = loop.execution.terms, loop.iterations
    if terms.holds(next_condition):
        return None if iterations is None else ask_once(loop, condition, iterations)
    count, others = counting_trip_count(terms, inside, condition, next_condition), []
    if count is None:
        parts = conjuncts(terms, next_condition)
        counting = counting_parts(terms, inside, parts)
        others = [k for k in range(len(parts)) if k not in counting]
        counted = [parts[k] for k in counting]
        if counted:
            goes_on = conjunction(terms, counted)
            count = counting_trip_count(terms, inside, condition, goes_on)
    if count is None:
        return None
    most, start = count
    iterations = most if iterations is None else least(terms, [iterations, most])
    always, iteration = terms.constant(np.array(True)), loop.iteration

    def without_count(index: Dimension, states: Sequence[Term]) -> tuple[Term, list[Value]]:
        goes_on, outputs = iteration(index, states)
        rest = [conjuncts(terms, goes_on)[k] for k in others]
        return conjunction(terms, rest) if rest else always, outputs

    counted_loop = replace(loop, iterations=iterations, condition=None, iteration=without_count)
    if others:
        return replace(counted_loop, condition=always if start is None else start)
    return counted_loop if start is None else ask_once(counted_loop, start, iterations)


def ask_once(loop: Recurrence, condition: Term, iterations: Dimension) -> Recurrence:
    """Loop whose condition is asked before the first iteration only: all iterations or none."""
    terms = loop.execution.terms
    if not terms.holds(condition):
        iterations = terms.iterations_if(condition, iterations)
    return replace(loop, iterations=iterations, condition=None)


RunIteration = Callable[[Dimension, Sequence[Term]], "tuple[Term, list[Value]]"]
MOST_ROUNDS = 6

_RUN = 16
"""Steps of a loop beside those of its body. A loop that its condition ends runs twice, with all
loops in it."""

UNTOUCHED = (0, None)
"""In place of the element of a scan output without an iteration, in a body that itself never runs:
otherwise each loop of a nest would run all loops in it twice."""

MOST_ALIKE = 4
"""Limit of loops with equal initial states with which a loop is compared."""


@record
class Recurrence:
    """Loop as its construct describes it.

    Attributes:
        iterations: upper bound of the trip count; None if only the condition ends the loop.
        condition: whether there is a first iteration; None if the condition is ignored.
        iteration: function of the iteration number and the states: the condition and the outputs.
        empty: element of a scan output, by index, if there is no iteration.
        tag: name of its variables.
        start: number of obligations before it.
        forms: closed forms of its states; None for variables.
    """

    execution: Execution
    iterations: Dimension | None
    condition: Term | None
    inits: list[Term]
    iteration: RunIteration
    empty: Callable[[int], Fact]
    step: Step
    tag: str = ""
    start: int = 0
    forms: Sequence[Form | None] = ()

    @property
    def limit(self) -> Term | None:
        """Term of the trip count; None if absent."""
        return None if self.iterations is None else self.execution.terms.size(self.iterations)

    @property
    def place(self) -> str:
        """Name of the node in messages."""
        return label(self.step.node)


def recur_over(
    execution: Execution,
    step: Step,
    iterations: Dimension,
    inits: list[Term],
    body: Callable[[Dimension, Sequence[Term]], list[Value]],
    empty: Callable[[int], Fact],
) -> list[Value]:
    """Outputs of a loop that a trip count alone ends."""
    always = execution.terms.constant(np.array(True))
    return recur(
        Recurrence(
            execution,
            iterations,
            None,
            inits,
            lambda *iteration: (always, body(*iteration)),
            empty,
            step,
        )
    )


def recur(loop: Recurrence) -> list[Value]:
    """Outputs of a loop: final states and scan outputs."""
    execution, terms = loop.execution, loop.execution.terms
    level = execution.level
    name = _name_of_iteration(loop)
    index = terms.symbols.iteration(name, level)
    if loop.iterations is not None:
        terms.limits[name] = loop.iterations
        if loop.condition is None and not (level or execution.assumed):
            terms.symbols.magnitudes.exists((loop.iterations,))
    execution.level, around, guards = level + 1, execution.iteration, execution.guards
    execution.iteration = (*around, terms.size(index))
    terms.symbols.depth += 1
    loop.start = len(execution.log)
    try:
        states, next_condition, outputs = _share_variables(loop, level, index)
        _demand_same_sizes(loop, outputs)
    finally:
        guard = execution.guards[-1] if execution.guards is not guards else None
        execution.level, execution.iteration, execution.guards = level, around, guards
        terms.symbols.depth -= 1
    # A condition that only counts iterations is a trip count. What ran above is forgotten:
    # the loop runs again in that form.
    if loop.condition is not None:
        ended = end_by_count(
            loop, loop.condition, Loop(level, index, loop.inits, states, outputs), next_condition
        )
        if ended is not None:
            execution.forget(loop.start)
            return untouched(loop, outputs) if ended.iterations == 0 else recur(ended)
    assert guard is not None
    guard.scan_output = functools.partial(_collect, loop, name, states, next_condition, outputs)
    if (
        loop.iterations is None or (loop.iterations.value or 0) > MOST_ITERATIONS
    ):  # run time alone ends it
        every = guard.scan_output(terms.constant(np.array(True)))
        execution.demand(terms.heads.own(ENDS), (every,), loop.step)
    return _results(loop, name, states, next_condition, outputs)


def _guard(loop: Recurrence, level: int, index: Dimension) -> Guard:
    """Guard of the iterations."""
    (name,), first = index.symbols, loop.condition
    if first is None:
        return Guard(name, level, loop.iterations)
    certain = loop.execution.terms.holds(first)
    iterations = ONE if loop.iterations is None else loop.iterations
    return Guard((name, loop.tag), level, iterations if certain else None)


def _demand_same_sizes(loop: Recurrence, outputs: Sequence[Value]) -> None:
    """Demand one shape of a scan output's elements on all iterations."""
    terms, level = loop.execution.terms, loop.execution.level - 1
    for output in outputs[len(loop.inits) :]:
        shape = None if output is None else output.fact.shape
        symbols = {name for dim in shape or () for name in dim.symbols}
        state = f"{PRIVATE}state{loop.tag}."
        varies = terms.symbols.vary(symbols, level)
        if shape is None or varies or any(name.startswith(state) for name in symbols):
            loop.execution.demand(terms.heads.own(SAME_SIZES), (output,), loop.step)


def _collect(
    loop: Recurrence,
    name: str,
    states: list[Term],
    next_condition: Term,
    outputs: list[Value],
    term: Term,
) -> Term:
    """Scan output of a term of the body."""
    budget = loop.execution.terms.budget
    live = _live(budget, {len(outputs)}, states, next_condition, [*outputs, term])
    recurrence, _ = _recurrence(loop, name, states, next_condition, outputs, live)
    head = loop.execution.terms.heads.own("stacked", (name, None), (term,))
    return loop.execution.terms.keep(head, (recurrence,), Fact())


def _name_of_iteration(loop: Recurrence) -> str:
    """Symbol of the iteration number; loops of equal depth and trip count share it."""
    limit = "" if loop.iterations is None else str(loop.iterations)
    return f"{PRIVATE}iteration{loop.execution.level}:{limit}"


Iteration = tuple[list[Term], Term, "list[Value]"]


def _share_variables(loop: Recurrence, level: int, index: Dimension) -> Iteration:
    """Iteration over variables that equal loops share. Only equal loops do, so that the fact of a
    variable, such as its sizes, identifies the loop."""
    execution, terms = loop.execution, loop.execution.terms
    begin = (level, loop.iterations, loop.limit, loop.condition, tuple(loop.inits))
    alike = terms.loops.setdefault(begin, {})
    around, candidates = loop.execution.guards, list(alike.items())
    if execution.compared is not None:  # equal to that one only if all loops inside are equal, too
        candidates = [each for each in candidates if each[0] in execution.compared]
    for tag, earlier in candidates[:MOST_ALIKE]:
        loop.tag = tag
        if _try_variables(loop, level, index, around) == earlier:
            execution.seen.append(tag)
            return earlier
    if execution.compared is not None:
        raise _UnlikeError("the loop around it also differs")
    terms.loop_count += 1
    tag = loop.tag = f"{level}.{terms.loop_count}"
    start = len(execution.seen)
    iteration = alike[tag] = _iteration(loop, level, index, around)
    terms.inside[tag] = frozenset(execution.seen[start:])
    execution.seen.append(tag)
    return iteration


class _UnlikeError(Signal):
    """Signal that an inner loop differs from that of the loop under comparison."""


def _try_variables(
    loop: Recurrence, level: int, index: Dimension, around: Guards
) -> Iteration | None:
    """Iteration over the variables of another loop; None if the two differ."""
    execution, compared = loop.execution, loop.execution.compared
    execution.compared = execution.terms.inside[loop.tag]
    try:
        return _iteration(loop, level, index, around)
    except _UnlikeError:
        return None
    finally:
        execution.compared = compared


def _iteration(loop: Recurrence, level: int, index: Dimension, around: Guards) -> Iteration:
    """States, condition and outputs of one iteration. The growth of states in an earlier run of the
    loop is tried first, so that a nest of loops takes no more than one run of a body for each loop
    around it."""
    loop.execution.terms.budget.step(_RUN)
    loop.execution.guards = (*around, _guard(loop, level, index))
    return _fixpoint(loop, level, index, loop.execution.growth.get(loop.place, {}))


def _fixpoint(
    loop: Recurrence, level: int, index: Dimension, earlier: Mapping[int, int]
) -> Iteration:
    """Iteration over states whose facts are a fixpoint.

    Args:
        level: number of loops around it.
        index: symbol of the iteration number.
        earlier: growth of states in an earlier run of it.
    """
    count, execution, terms = len(loop.inits), loop.execution, loop.execution.terms
    facts = [_hypothesis(fact.fact, loop.tag, k) for k, fact in enumerate(loop.inits)]
    inits = loop.inits
    seeds = [(k, counted(terms, inits[k], n, index)) for k, n in earlier.items() if k < count]
    closed: dict[int, Form | None] = {k: form for k, form in seeds if form is not None}
    growth = {k: earlier[k] for k in closed}
    for _ in range(MOST_ROUNDS + count):
        forms = [closed.get(k) for k in range(count)]
        states = [
            _variable(loop, level, k, fact) if form is None else form(index)
            for k, (form, fact) in enumerate(zip(forms, facts, strict=True))
        ]
        execution.forget(loop.start)
        next_condition, outputs = loop.iteration(index, states)
        changed = False
        for k in range(count):
            update = outputs[k]
            # Scan outputs may be absent, states are not: the next iteration reads them.
            if update is None:
                raise OpenError(f"{loop.place} computes no value for a state")
            form = closed.get(k)
            if form is not None:
                if update is not form(index + 1):
                    # The growth of an earlier run does not hold for these
                    # initial states: start without it.
                    if earlier:
                        return _fixpoint(loop, level, index, {})
                    closed[k], facts[k], changed = None, facts[k].without_content(), True
                continue
            # A state that lost its closed form in an earlier round stays a variable.
            if k not in closed:
                step = _growth(inits[k], states[k], update)
                form = _closed_form(loop, k, (states[k], update), step, index)
                if step is not None or form is not None:
                    closed[k] = form
                if form is not None:
                    growth |= {} if step is None else {k: step}
                    changed = True
                    continue
                if facts[k].content is not None:
                    facts[k], changed = facts[k].without_content(), True
                    continue
            wider = _wider(loop, facts[k], update.fact, k)
            if wider is not None:
                facts[k], changed = wider, True
        if not changed:
            loop.forms = forms
            execution.growth[loop.place] = {k: n for k, n in growth.items() if closed[k]}
            return states, next_condition, outputs
    raise OpenError(f"{loop.place}: the shapes of its states have no fixpoint")


def _variable(loop: Recurrence, level: int, k: int, fact: Fact) -> Term:
    terms = loop.execution.terms
    fact = terms.facts.one(fact)
    return terms.leaf("bound", (level, loop.tag, k, id(fact)), fact)


def _hypothesis(fact: Fact, tag: str, k: int) -> Fact:
    """First fact of a state: type and shape of its initial value. An integer gets a symbol, so that
    its growth shows."""
    if fact.content is not None and isinstance(element(fact), Dimension):
        symbol = Dimension.symbol(f"{PRIVATE}state{tag}.{k}")
        content = content_from(symbol).reshape(fact.content.shape)
        return replace(fact, content=content)
    return replace(fact.without_content(), count=None)


def _growth(init: Term, state: Term, update: Term) -> int | None:
    """Number that each iteration adds to a state; None for a true state."""
    if update is state:
        return 0
    before, after, first = (element(term.fact) for term in (state, update, init))
    if any(not isinstance(number, Dimension) for number in (before, after, first)):
        return None
    step: int | None = (after - before).value
    return step if update.fact.shape == init.fact.shape else None


def _closed_form(
    loop: Recurrence, k: int, states: Pair, step: int | None, index: Dimension
) -> Form | None:
    """Closed form of a state; None if it has none, or as long as it reads others without one.

    Args:
        k: index of the state.
        states: the state before and after an iteration.
        step: number that an iteration adds to it; None for any other state.
        index: symbol of the iteration number.
    """
    terms, init = loop.execution.terms, loop.inits[k]
    if step is not None:
        return counted(terms, init, step, index)
    if loop.iterations is None:
        return None
    return appended(terms, init, *states, Iterations(index, loop.iterations))


def _wider(loop: Recurrence, fact: Fact, update: Fact, k: int) -> Fact | None:
    """Join of a state's facts before and after an iteration; None if it changes nothing."""
    if fact.other is not None:
        return None if update.other == fact.other else Fact()
    # A tensor and a sequence, or an optional, have no fact in common.
    if update.other is not None:
        return None if fact == Fact() else Fact()
    elem_type = fact.elem_type if fact.elem_type == update.elem_type else 0
    if fact.shape is None or update.shape is None or len(fact.shape) != len(update.shape):
        shape = None
    else:
        symbols = loop.execution.terms.symbols
        shape = tuple(
            [
                a if a == b else symbols.named(f"{PRIVATE}state{loop.tag}.{k}.{axis}")
                for axis, (a, b) in enumerate(zip(fact.shape, update.shape, strict=True))
            ]
        )
    if (elem_type, shape) == (fact.elem_type, fact.shape):
        return None
    return Fact(elem_type, shape)


def _results(
    loop: Recurrence, name: str, states: list[Term], next_condition: Term, outputs: list[Value]
) -> list[Value]:
    terms = loop.execution.terms
    # Without a condition input the specification ignores the body's condition; onnxruntime
    # heeds it.
    if loop.condition is None and not terms.holds(next_condition):
        terms.has_two_readings = True
    rows = rows_added(terms, loop.inits, states, next_condition, outputs)
    count = len(states)
    live = _live(terms.budget, loop.step.read, states, next_condition, outputs)
    # A state that only adds up rows is a sum over a scan output, and no variable.
    live -= rows.keys()
    recurrence, indices = _recurrence(loop, name, states, next_condition, outputs, live)
    iterations = loop.iterations
    if loop.condition is not None or iterations is None:
        ended = f"{PRIVATE}iterations{recurrence.number}"
        iterations = terms.symbols.size_by(ended, recurrence)
        terms.ended[ended] = recurrence
    results: list[Value] = []
    for k, output in enumerate(outputs):
        if k not in loop.step.read or output is None:
            results.append(None)
        elif k in rows:
            stacked = _scan_output(loop, recurrence, name, rows[k], None, iterations)
            results.append(add_all(terms, loop.inits[k], output, rows[k], stacked))
        elif k < count:
            results.append(_final(loop, recurrence, states[k], k, indices, iterations))
        else:
            results.append(_scan_output(loop, recurrence, name, output, k, iterations))
    return results


def _recurrence(
    loop: Recurrence,
    name: str,
    states: list[Term],
    next_condition: Term,
    outputs: list[Value],
    live: set[int],
) -> tuple[Term, list[int]]:
    """Term of a loop with its live states, and their indices."""
    terms = loop.execution.terms
    indices = [k for k in range(len(states)) if k in live]
    conditional = loop.condition is not None
    bound = Bound(name, tuple(states[k] for k in indices), conditional, loop.limit is not None)
    ends = (next_condition,) if conditional else ()
    updates = [outputs[k] for k in indices]
    head = terms.heads.own("recurrence", bound, (*ends, *(u for u in updates if u is not None)))
    inits = [loop.inits[k] for k in indices]
    return terms.keep(head, (loop.limit, loop.condition, *inits), Fact()), indices


def _live(
    budget: Budget,
    read: set[int],
    states: Sequence[Term],
    next_condition: Term,
    outputs: Sequence[Value],
) -> set[int]:
    """States that a read output, the condition or another live state reads."""
    count = len(states)
    variables = {s: k for k, s in enumerate(states) if s.head.name == "bound"}
    live: set[int] = set()
    fresh = {k for k in read if k < count and states[k] in variables}
    roots = [o for k, o in enumerate(outputs) if k >= count and k in read]
    visited: set[Term] = set()
    reached = descendants([next_condition, *roots], visited, budget)
    fresh |= {variables[t] for t in reached if t in variables}
    while fresh:
        live |= fresh
        reached = descendants([outputs[k] for k in sorted(fresh)], visited, budget)
        fresh = {variables[t] for t in reached if t in variables} - live
    return live


def _final(
    loop: Recurrence,
    recurrence: Term,
    state: Term,
    k: int,
    indices: Sequence[int],
    iterations: Dimension,
) -> Term:
    terms = loop.execution.terms
    if state.head.name == "bound":
        head = terms.heads.own("final", indices.index(k))
        fact = replace(state.fact, shape=_closed_shape(loop, state.fact))
        return terms.keep(head, (recurrence,), fact)
    form = loop.forms[k]
    return state if form is None else form(iterations)


def _closed_shape(loop: Recurrence, fact: Fact) -> tuple[Dimension, ...] | None:
    """Shape outside of a loop, without the symbols of its body."""
    if fact.shape is None:
        return None
    level = loop.execution.level
    symbols = loop.execution.terms.symbols
    inside = (f"{PRIVATE}state{loop.tag}.", f"{PRIVATE}iteration{level}:")
    return tuple(
        [
            symbols.fresh() if any(s.startswith(inside) for s in dim.symbols) else dim
            for dim in fact.shape
        ]
    )


def _scan_output(
    loop: Recurrence,
    recurrence: Term,
    name: str,
    output: Term,
    k: int | None,
    iterations: Dimension,
) -> Term:
    """Scan output k of a loop. None for a sequence, whose sizes nobody reads if there is no
    iteration."""
    terms = loop.execution.terms
    declared: tuple[int, Shape | None] | None = None
    if loop.execution.is_untouched:
        declared = UNTOUCHED
    elif k is not None and (iterations - 1).less(0) is not False:
        try:
            fact = loop.empty(k)
            declared = fact.elem_type, fact.shape
        except OpenError:
            declared = output.fact.elem_type, None
    head = terms.heads.own("stacked", (name, declared), (output,))
    earlier = terms.get(head, (recurrence,))
    if earlier is not None:
        return earlier
    shape = _closed_shape(loop, output.fact)
    # With zero iterations the sizes are those that the body declares, and may be others.
    if declared not in (None, UNTOUCHED) and shape is not None:
        shape = _any_iterations(terms, shape, declared[1], iterations)
    fact = Fact(output.fact.elem_type, None if shape is None else (iterations, *shape))
    return terms.keep(head, (recurrence,), fact)


def _any_iterations(
    terms: Terms, shape: Shape, untouched: Shape | None, iterations: Dimension
) -> Shape | None:
    """Sizes of elements that may differ if there is no iteration.

    They are those of the body if no iteration can be a case of its own; else a size that differs
    becomes a symbol.
    """
    if shape == untouched:
        return shape
    if _is_a_case(terms, iterations):
        terms.positive.add(iterations)
        return shape
    if untouched is None or len(shape) != len(untouched):
        return None
    return tuple(
        [
            a if a == b else terms.symbols.named(f"{PRIVATE}scan:{iterations}:{a}:{b}")
            for a, b in zip(shape, untouched, strict=True)
        ]
    )


def _is_a_case(terms: Terms, iterations: Dimension) -> bool:
    """Test whether one size alone makes the trip count 0: a case of its own."""
    name = iterations.only_symbol
    if name is None or terms.symbols.free(terms.size(iterations)):
        return False
    return name in terms.facts.declared or name.startswith(STEADY)
