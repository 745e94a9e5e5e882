"""States that comparisons with bounds read: the results of these are states of truth values.

free = Less (w, 0)
w' = Where (And (c, free), i, w)        free' = And (c, free) ? Less (i, 0) : free

Iterations keep or replace the state, so the next results follow from those before and from the
values that replace it. Once they are known, the state is of another form, mostly a row of these
values. So are first indices, values that are stored once, and holds by a threshold.
"""

import functools
import itertools
from collections.abc import Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact, element, integers
from ....facts.polynomial import Dimension
from ....ir import Node, Value
from ....ops.batching import Operand
from ....ops.builder import RewriteError
from ..weights import Unfit
from .coefficients import ONE, ZERO, Coefficient, Coefficients, broadcast
from .composed_steps import raise_step
from .finite_states import prefix_tables
from .recurrence import Recurrence, Replacement
from .semirings import COMPARISONS

_BOOL = onnx.TensorProto.BOOL
_TESTS = ("Equal", *COMPARISONS)
_PASSED_BY_NONE = {"Less": 0, "LessOrEqual": -1, "Equal": -1}
"""The largest bound of each comparison that no number from 0 on passes."""
_MOST = 3
"""The largest number of comparisons."""
_NO_TEST = "it is not a state that only comparisons read"


def raise_observed(recurrence: Recurrence) -> Replacement:
    """Replace a state that iterations keep or replace, and read by comparisons."""
    (state, *others), iterations = recurrence.states, recurrence.iterations
    shape = recurrence.fact(state.initial).shape
    tests = [node for node in recurrence.nodes if _is_test(recurrence, node)]
    if others or shape is None or not 0 < len(tests) <= _MOST:
        raise Unfit(_NO_TEST)
    if any(recurrence.fact(test.output()).shape != shape for test in tests):
        raise Unfit(_NO_TEST)
    observations = _Observations(recurrence, tests)
    try:
        results = observations.before()
    except (Unfit, RewriteError) as reason:
        raise Unfit(f"{_NO_TEST}: {reason}") from reason
    outputs = [test.output() for test in tests]
    for value, rows in zip(outputs, results, strict=True):
        iterations.operands[value] = Operand(rows, True, Fact(_BOOL, shape))
    reached, rest = {state.argument}, list[Node]()
    for node in recurrence.nodes:
        if node not in tests and not reached.isdisjoint(node.inputs):
            reached.update(value for value in node.outputs if value is not None)
            rest.append(node)
    own = Recurrence(recurrence.states, tuple(rest), iterations, observations.is_once)
    try:
        return raise_step(own)
    except Unfit:
        for value in outputs:
            iterations.operands.pop(value, None)
        raise


def _is_test(recurrence: Recurrence, node: Node) -> bool:
    """Test for a comparison of the state with a loop-invariant value."""
    if not node.is_op(*_TESTS) or node.op.references or None in node.inputs:
        return False
    own = [skip_identities(value) for value in node.inputs if value is not None]
    argument = recurrence.states[0].argument
    bounds = [value for value in own if value is not argument]
    return len(bounds) == 1 and not recurrence.iterations.varies(bounds[0])


class _Observations(Coefficients):
    """The results of comparisons in all iterations.

    Attributes:
        is_once: true if at most one iteration replaces the state.
    """

    def __init__(self, recurrence: Recurrence, tests: Sequence[Node]) -> None:
        fact = recurrence.fact(recurrence.states[0].initial)
        super().__init__(recurrence, Fact(_BOOL, fact.shape))
        self._tests = tests
        self._places = {test.output(): index for index, test in enumerate(tests)}
        self._argument = recurrence.states[0].argument
        self._observed: dict[tuple[Value, int], Coefficient] = {}
        self._replaces = False  # a value of an iteration is the next one in some case
        self.is_once = False

    def before(self) -> list[Value]:
        """Emit the results of each comparison, iterations first.

        Raises:
            Unfit: the state is not kept or replaced.
        """
        feeding, (state,) = self._recurrence.feeding, self._recurrence.states
        initial = feeding.same(state.initial).value
        firsts = [self._apply(test, initial, False) for test in self._tests]
        heads = [self._emit.unsqueeze(first, 0, "first") for first in firsts]
        # One table column for each combination of results before the iteration.
        cases = list(itertools.product((ZERO, ONE), repeat=len(self._tests)))
        result = skip_identities(state.result)
        unmet, keeps = self._next(result, cases[0]), not self._replaces
        table = [unmet, *(self._next(result, case) for case in cases[1:])]
        if len(cases) == 2 and unmet[0].number == 0.0:
            self.is_once = keeps and not self._observed
            return [self._until(heads[0], table[1][0])]
        columns = [[self.rows_of(one) for one in row] for row in table]
        return prefix_tables(self._recurrence, heads, columns)

    def _until(self, first: Value, holds: Coefficient) -> Value:
        """Emit a truth value that stays false after the first iteration that clears it."""
        emit, feeding = self._emit, self._recurrence.feeding
        ends = self.rows_of(self.opposite(holds))
        ends = emit.add("Cast", [ends], "ends", to=onnx.TensorProto.INT32)
        none = emit.add("Not", [first], "none")
        none = emit.add("Cast", [none], "none", to=onnx.TensorProto.INT32)
        sums = emit.running_sum(emit.concat([none, ends], 0, "ends"), "sums")
        ended = emit.add("Cast", [feeding.before(sums)], "ended", to=_BOOL)
        return emit.add("Not", [ended], "holds")

    def _next(self, value: Value, case: Sequence[Coefficient]) -> list[Coefficient]:
        """The results of all comparisons for a next value, from those before."""
        if value is self._argument:
            return list(case)
        node = value.producer
        if node not in self._recurrence.nodes:
            self._replaces = True
            return [self._observe(value, index) for index in range(len(self._tests))]
        if node is None or not node.is_op("Where"):
            raise Unfit(f"{node} computes the next value")
        condition, *branches = [skip_identities(v) for v in node.inputs if v is not None]
        flag = self._truth(condition, case)
        if flag.number is not None:
            return self._next(branches[0 if flag.number else 1], case)
        pairs = zip(*[self._next(branch, case) for branch in branches], strict=True)
        return [self._choose(flag, one, other, truth=True) for one, other in pairs]

    def _observe(self, value: Value, index: int) -> Coefficient:
        """The result of a comparison for a value of the iteration."""
        if self._never_passes(value, self._tests[index]):
            return ZERO
        if (value, index) not in self._observed:
            rows = broadcast(self._recurrence, value, self._shape)
            result = self._apply(self._tests[index], rows, True)
            self._observed[value, index] = Coefficient(None, result, True, True)
        return self._observed[value, index]

    def _never_passes(self, value: Value, test: Node) -> bool:
        """Test for a number from 0 on, and a comparison that none passes."""
        number, bound = element(self._recurrence.iterations.operand(value).fact), test.inputs[1]
        numbers = None if bound is None else integers(self._recurrence.fact(bound))
        most = _PASSED_BY_NONE.get(test.op_type)
        if numbers is None or most is None or not bool(np.all(numbers <= most)):
            return False
        extent = self._recurrence.iterations.extent
        return isinstance(number, Dimension) and extent.never_negative(number)

    def _apply(self, test: Node, value: Value, batched: bool) -> Value:
        """Emit a comparison of a value in the place of the state."""
        operands = [
            value
            if skip_identities(operand) is self._argument
            else self._recurrence.iterations.operand(operand).value
            for operand in map(test.operand, range(len(test.inputs)))
        ]
        return self._emit.apply(test.op, operands, "observed")

    def _truth(self, value: Value, case: Sequence[Coefficient]) -> Coefficient:
        """A truth value of an iteration, from the results of the comparisons."""
        value = skip_identities(value)
        if value in self._places:
            return case[self._places[value]]
        node = value.producer
        if node is None or node not in self._recurrence.nodes:
            return self._coefficient(value)
        operands = [self._truth(one, case) for one in node.inputs if one is not None]
        if node.is_op("Not"):
            return self.opposite(*operands)
        if node.is_op("Or"):
            return self.opposite(functools.reduce(self._product, map(self.opposite, operands)))
        if node.is_op("And", "Xor"):
            return (self._product if node.is_op("And") else self._plus)(*operands)
        raise Unfit(f"{node} selects by it")
