"""Legality of predicating a Loop: unrolling all possible iterations, live or not.

It runs each iteration on facts: the iteration number is a constant, and a loop-carried value comes
from some earlier iteration, since one that is not live changes nothing.
"""

from collections.abc import Sequence

from ...facts.bounds import Known, alike, join, known, same_content
from ...facts.fact import Fact, Shape, constant_fact
from ...facts.obstacle import Obstacle
from ...ir import Node, Value
from ...ir.option_names import by
from ...records import record
from ..iterations.body_inputs import condition_tensor, iteration_number
from .select_legality import shape_text, unselectable
from .speculation import Hazard, Speculation

_SLICE_OPSET = 10
"""The first opset with computed bounds of Slice."""


@record(frozen=True)
class Iteration:
    """An unrolled iteration of a Loop.

    Attributes:
        certain: the Loop always makes it.
        goes_on: the next iteration follows.
        elem_types: the element types of its loop-carried values.
    """

    certain: bool
    goes_on: bool
    condition: Shape | None
    elem_types: tuple[int, ...]


def predict(speculation: Speculation, loop: Node, most: int) -> list[Iteration]:
    """The iterations that a Loop may make, to unroll.

    Args:
        loop: a Loop with a maximum of at least one iteration.
        most: the maximum.

    Raises:
        Obstacle: unrolling them is not possible.
    """
    prophet = _Prophet(speculation, loop)
    for number in range(most):
        if not prophet.run_iteration(number, last=number + 1 == most):
            break
    prophet.check_scan_outputs()
    return prophet.iterations


class _Prophet:
    def __init__(self, speculation: Speculation, loop: Node) -> None:
        self.speculation = speculation
        self.loop = loop
        self.body = loop.body("body")
        self.opset = loop.root.opset()
        self.numbered = self.body.is_used(self.body.inputs[0])
        self.certain = loop.input(1) is None or loop.inputs[1].constant is not None  # type: ignore[union-attr]
        self.states = [self._initial(value) for value in loop.inputs[2:]]
        self.rows: list[list[Known]] = []
        self.iterations: list[Iteration] = []
        self._settled = False

    def _initial(self, value: Value | None) -> Known:
        return Known(Fact()) if value is None else self.speculation.outside(value)

    def run_iteration(self, number: int, last: bool) -> bool:
        """Run an iteration, and return whether there may be another."""
        if self._settled:
            # It equals the one before.
            self.iterations.append(self.iterations[-1])
            return True
        results = self._results(number)
        new = results[1 : 1 + len(self.states)]
        self.rows.append(results[1 + len(self.states) :])
        condition = results[0].fact
        holds = _truth_value(condition)
        self.iterations.append(
            Iteration(
                self.certain, bool(holds), condition.shape, tuple([k.fact.elem_type for k in new])
            )
        )
        joined = new if self.certain else self._join(new)
        if not last and holds is None and not self.certain:
            self._require_one_element(condition)
        same = all(alike(a, b) for a, b in zip(self.states, joined, strict=True))
        # Two iterations are compared first, as a size may be new on each.
        steady = len(self.rows) > 1 and not self.iterations[-2].certain
        self._settled = same and steady and not self.numbered and not self.certain
        self.states = joined
        self.certain = self.certain and bool(holds)
        return holds is not False

    def _results(self, number: int) -> list[Known]:
        constants = (iteration_number(self.body, number), condition_tensor(self.body, True))
        arguments = [*(known(constant_fact(tensor)) for tensor in constants), *self.states]
        try:
            return self.speculation.run(self.body, arguments, certain=self.certain)
        except Hazard as hazard:
            raise Obstacle(f"its body cannot run when the Loop has ended: {hazard}") from hazard

    def _join(self, new: Sequence[Known]) -> list[Known]:
        """Join loop-carried values after an iteration that may not be live, for a select."""
        for slot, one, other in zip(self.body.inputs[2:], new, self.states, strict=True):
            why = unselectable(one.fact, other.fact, self.opset)
            if why is not None:
                raise Obstacle(f"its carried value '{slot.name}' {why}")
        return [_join_known(a, b) for a, b in zip(self.states, new, strict=True)]

    def _require_one_element(self, condition: Fact) -> None:
        if condition.shape is None or any(dim != 1 for dim in condition.shape):
            name = self.body.outputs[0].name
            raise Obstacle(f"its condition '{name}' may not hold one element after it has ended")

    def check_scan_outputs(self) -> None:
        """Check that rows of all iterations can be stacked, then cut to the live ones."""
        # Every row is live, so none is cut off.
        if all(iteration.certain for iteration in self.iterations):
            return
        first = len(self.states)
        for index, value in enumerate(self.body.outputs[1 + first :]):
            position = first + index
            if position < len(self.loop.outputs) and self.loop.outputs[position] is not None:
                self._check_column(value.name, index, position)

    def _check_column(self, name: str, index: int, position: int) -> None:
        if self.opset < _SLICE_OPSET:
            raise Obstacle(f"its scan outputs must be cut, which needs opset {_SLICE_OPSET}")
        shape = self.rows[0][index].fact.shape
        if shape is None:
            raise Obstacle(f"the shape of its scan output '{name}' is unknown")
        for row in self.rows[1:]:
            other = row[index].fact.shape
            if other != shape:
                text = "unknown" if other is None else shape_text(other)
                raise Obstacle(
                    f"its scan output '{name}' differs in shape, or may:"
                    f" {shape_text(shape)} and {text}"
                )
        if self.iterations[0].certain:
            return
        if any(dim.value is None for dim in shape):
            raise Obstacle(
                f"it may make no iterations, and the shape {shape_text(shape)} that its scan output"
                f" '{name}' has then is known only at run time; fix the shapes of the inputs with"
                f" {by('--shape')}"
            )
        if shape != self._declared_row(position):
            raise Obstacle(
                "it may make no iterations, and its body does not declare the shape"
                f" {shape_text(shape)} that its scan output '{name}' has then;"
                " sizes that it leaves open are 0 then; declare it, if they are not meant to be"
            )

    def _declared_row(self, position: int) -> Shape | None:
        """The shape of a scan output's row in the body's declaration, if constant."""
        declared = self.body.output_infos[position + 1].type
        fact = self.speculation.inference.symbols.fact(declared)
        numbers = fact.shape is not None and all(dim.value is not None for dim in fact.shape)
        return fact.shape if numbers else None


def _truth_value(condition: Fact) -> bool | None:
    if condition.content is None or condition.content.size != 1:
        return None
    element = condition.content.reshape(-1)[0]
    return None if element is None else bool(element)


def _join_known(one: Known, other: Known) -> Known:
    """Join two values of one type and shape."""
    content = one.fact.content if same_content(one.fact, other.fact) else None
    fact = Fact(one.fact.elem_type, one.fact.shape, content)
    joined = known(fact, join(one.bounds, other.bounds))
    return one if alike(one, joined) else joined
