"""Compute the trip count of a Loop before it, where its condition compares a counter.

less = Less (zero, n)                             y = Loop (n, yes, x) <
y = Loop (, less, zero, x) <                         body = b (i, c, k, a) => (c, j, r) {
   body = b (i, c, k, a) => (d, j, r) {                 j = Add (k, one)
      j = Add (k, one)                    ->            r = Relu (a)
      r = Relu (a)                                   }
      d = Less (j, n)                             >
   }
>
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import onnx

from ...analysis.constants.folding import Folder
from ...analysis.iterations.body_inputs import condition_tensor
from ...analysis.iterations.trip_count import always_holds, skip_identities, whole_number
from ...analysis.iterations.trip_count_bound import Part, parts
from ...analysis.shapes.inference import ShapeInference
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from ...ops.cost_estimates import FREE
from ...ops.schema_queries import takes
from ..utils.legality import caller_attribute
from ..utils.sites import Site, SitePass
from .trip_count_formulas import (
    Comparison,
    ConditionReader,
    Exit,
    TripCountFormulas,
    constant_iterations,
)

_INT64 = onnx.TensorProto.INT64

COUNTED = Message("counted", "its condition only counts: its iterations are computed before it")


class CountLoops(SitePass):
    """Compute the trip counts of Loops before them, where their conditions only count."""

    name: ClassVar[str] = "count-loops"
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("Loop",)

    def visit(self, site: Site) -> None:
        """Count the iterations of one Loop."""
        if count_loop(site.graph, site.node, site.inference, site.visits.folder):
            site.rewritten(COUNTED())


def count_loop(
    graph: Graph, loop: Node, inference: ShapeInference, folder: Folder | None = None
) -> bool:
    """Compute the trip count of a Loop before it, if that helps and is possible."""
    plan = read_exits(loop, inference) if loop.is_op("Loop") else None
    if plan is None or plan.others or not _pays(loop, plan.reader):
        return False
    emitter = Builder(graph, (folder or Folder(inference.model)).fold)
    end_by_count(graph, loop, plan, count_exits(loop, plan, emitter))
    return True


class ExitPlan(NamedTuple):
    """The ends of a Loop.

    Attributes:
        exits: the counters with their bounds.
        flags: loop-invariant truth values outside the body, each with true if the initial
            condition includes it.
        others: parts of the condition that do not count.
        start: the initial condition if that compares more; None otherwise.
    """

    reader: ConditionReader
    exits: Sequence[Exit]
    flags: Sequence[tuple[Part, bool]]
    others: Sequence[Part]
    start: Value | None


def read_exits(loop: Node, inference: ShapeInference) -> ExitPlan | None:
    """The ends of a Loop with a condition of its own; None if formulas cannot express them."""
    start = loop.input(1)
    # Without an initial condition, the specification ignores the condition of the body.
    if start is None or caller_attribute(loop) is not None or always_holds(loop.body("body")):
        return None
    body = loop.body("body")
    reader = ConditionReader(loop, inference)
    flags, comparisons, others = list[Part](), list[Comparison](), list[Part]()
    for part in _deciding(body, body.outputs[0]):
        comparison = reader.inside(part)
        flag = reader.flag(part) if comparison is None else None
        if comparison is not None:
            comparisons.append(comparison)
        elif flag is not None:
            flags.append(flag)
        else:
            others.append(part)
    before = _compared_before(loop, reader, comparisons, flags)
    compared = before or frozenset()
    ends = [Exit(c, c in compared, reader.is_wide(c)) for c in dict.fromkeys(comparisons)]
    tested = [(flag, flag in compared) for flag in dict.fromkeys(flags)]
    plan = ExitPlan(reader, ends, tested, others, start if before is None else None)
    is_counted = bool(ends or flags)
    fits = all(reader.is_exact(end.comparison, end.before) for end in ends)
    if not is_counted:
        return plan if others and loop.input(0) is not None else None
    opset = body.root.opset()
    # Min and Max take integers from opset 12 on; a constant trip count needs neither.
    sayable = all(takes(op, 0, _INT64, opset) for op in ("Min", "Max"))
    sayable = sayable or (not flags and constant_iterations(ends, loop.input(0)) is not None)
    return plan if fits and sayable else None


def _compared_before(
    loop: Node, reader: ConditionReader, comparisons: Sequence[Comparison], flags: Sequence[Part]
) -> frozenset[Comparison | Part] | None:
    """Parts of the body's condition that the initial one includes; None if it has others."""
    start = loop.operand(1)
    # It stays the initial condition: a false one means no iteration, whatever the trip count.
    if start.constant is not None:
        return None
    implied = set[Comparison | Part]()
    for part in _deciding(loop.body("body"), start):
        same: list[Comparison | Part] = [
            other for other in comparisons if reader.matches_start(part, other)
        ]
        same += [flag for flag in flags if flag == part._replace(value=skip_identities(part.value))]
        if not same:
            return None
        implied.update(same)
    return frozenset(implied)


def _pays(loop: Node, reader: ConditionReader) -> bool:
    """Test for nodes or scan outputs of a body that could be batched.

    Loop-carried computation stays a Loop, whatever its trip count.
    """
    body = loop.body("body")
    outputs = loop.outputs[len(loop.inputs) - 2 :]
    if any(
        output is not None and loop.graph is not None and loop.graph.is_used(output)
        for output in outputs
    ):
        return True
    condition = body.outputs[0].producer
    deciding = body.requirements([condition]) if condition is not None else set()
    carried = body.dependents(reader.carried_inputs())
    free = [n for n in body.unordered_nodes() if n not in carried and n not in deciding]
    return any(not node.is_op(*FREE) for node in free)


def _deciding(body: Graph, condition: Value) -> Iterator[Part]:
    """Yield the parts of a condition that may be false; a body's own condition input is true."""
    for part in parts(condition):
        own_input = part.value is body.inputs[1] and part.holds
        constant = whole_number(part.value)
        if not own_input and (constant is None or bool(constant) is not part.holds):
            yield part


def count_exits(loop: Node, plan: ExitPlan, emitter: Builder) -> Value:
    """Emit the trip count of the exits that count."""
    if not plan.exits and not plan.flags:
        return loop.operand(0)
    return TripCountFormulas(emitter).least(plan.exits, plan.flags, loop.input(0))


def end_by_count(graph: Graph, loop: Node, plan: ExitPlan, iterations: Value) -> None:
    """Make a trip count the only end of a Loop."""
    body = loop.body("body")
    graph.set_input(loop, 0, iterations)
    if plan.start is None:
        holds = graph.add_initializer("holds", condition_tensor(body, True))
        graph.set_input(loop, 1, holds)
    infos = list(body.output_infos)
    if body.inputs[1].info is not None:
        infos[0] = onnx.ValueInfoProto()
        infos[0].CopyFrom(body.inputs[1].info)
    body.set_outputs([body.inputs[1], *body.outputs[1:]], infos)
