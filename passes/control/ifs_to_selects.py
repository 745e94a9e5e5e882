"""Replace an If on a run-time condition by both branches and a select.

    y = If (c) <
       then_branch = t () => (a) { a = Relu(x) },
       else_branch = e () => (b) { b = Neg(x) }
    >
->
    a = Relu(x)
    b = Neg(x)
    y = Where(c, a, b)

Of an If that adds a row to a state of a loop, or none, the row is computed before it. Where both
branches write a row at the same place, one write after the If does.
"""

from collections.abc import Sequence
from typing import ClassVar

import onnx

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.safety.select_legality import unselectable, without_select
from ...analysis.safety.speculation import Hazard
from ...facts.fact import Fact
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Graph, Template, Value, copy_node
from ...ir.subgraph_arity import BRANCHES
from ...ops.builder import Builder
from ...records import record
from ..utils.legality import caller_attribute, externally_named
from ..utils.replace_all_uses import replace_values
from ..utils.select import broadcasting, select
from ..utils.sites import Site, SitePass

_CONSTANT = Message(
    "condition-constant", "its condition is constant; inline-ifs inlines the branch that runs"
)
_HAZARD = Message("branch-may-fail", "its {branch} cannot run when it is not taken: {cause}")
_NO_SELECT = Message("output-not-selectable", "its output '{output}' {cause}")
_SELECTED = Message("selected", "both branches run, selects choose")
_BEFORE = Message("row-before", "what '{branch}' adds to '{state}' is computed before it")
_AFTER = Message(
    "row-after", "the rows that both branches write to '{state}' are one write after it"
)
_ADDING = ("SequenceInsert", "Concat", "ScatterND", "ScatterElements")


@record(frozen=True)
class IfsToSelects(SitePass):
    """Convert Ifs on run-time conditions to selects, where neither branch can fail.

    Options:
        in_loops: convert only Ifs in the bodies of Loops and Scans.
    """

    name: ClassVar[str] = "ifs-to-selects"
    works_on: ClassVar[tuple[str, ...]] = ("If",)
    in_loops: bool = False

    def visit(self, site: Site) -> None:
        """Convert one If."""
        if self.in_loops and not _is_in_loop(site.graph):
            return
        node = site.node
        condition = node.inputs[0]
        require_none(
            _CONSTANT() if condition is not None and condition.constant is not None else None
        )
        older = without_select(site.graph.root.opset())
        require_none(older or caller_attribute(node) or externally_named(node))
        has_one = _is_in_loop(site.graph) and len(node.outputs) == 1
        if has_one and (_compute_before(site) or _store_after(site)):
            return
        _convert(site, _outputs(site))
        site.rewritten(_SELECTED())


def _is_in_loop(graph: Graph) -> bool:
    holder = graph.holder
    while holder is not None and not holder.is_op("Loop", "Scan"):
        holder = holder.parent.holder
    return holder is not None


def _compute_before(site: Site) -> bool:
    """Compute a row before the If that may add it to a state.

    Returns:
        true after a change.
    """
    graph, node = site.graph, site.node
    for adds, keeps in (BRANCHES, BRANCHES[::-1]):
        branch, state = node.body(adds), skip_identities(node.body(keeps).outputs[0])
        last = skip_identities(branch.outputs[0]).producer
        if state not in graph.inputs or last is None or last.graph is not branch:
            continue
        if not last.is_op(*_ADDING) or last.input(0) is not state:
            continue
        before = [
            each for each in branch.nodes() if each is not last and not each.is_op("Identity")
        ]
        safe = not site.visits.speculation.survey(before)
        if not before or not safe or any(each.bodies for each in before):
            continue
        values: dict[Value, Value] = {}
        moved = [each for each in branch.nodes() if each is not last]
        moved = [each for each in moved if branch.outputs[0] not in each.outputs]
        for each in moved:
            copy_node(each, graph, values)
        for old, new in values.items():
            branch.replace_uses(old, new)
        # Readers go before what they read.
        for each in reversed(moved):
            branch.remove(each)
        site.rewritten(_BEFORE(branch=adds, state=state.name))
        return True
    return False


def _store_after(site: Site) -> bool:
    """Write a row to a state after the If, where both branches write one.

    Returns:
        true after a change.
    """
    graph, node = site.graph, site.node
    one, other = (skip_identities(node.body(name).outputs[0]).producer for name in BRANCHES)
    if one is None or other is None or one.op != other.op or not one.is_op(*_ADDING):
        return False
    pairs = enumerate(zip(one.inputs, other.inputs, strict=True))
    places = [place for place, (mine, its) in pairs if mine is not its]
    if len(places) != 1 or one.input(0) not in graph.inputs or graph in (one.graph, other.graph):
        return False
    rows = [each.inputs[places[0]] for each in (one, other)]
    types = [
        None if row is None else site.inference.fact(row).type_proto(private=False) for row in rows
    ]
    if None in types:
        return False
    copy, inputs = copy_node(node, graph, {}), list(one.inputs)
    for name, kind in zip(BRANCHES, types, strict=True):
        branch = copy.body(name)
        old = branch.outputs[0]
        last = skip_identities(old).producer
        row = None if last is None else last.inputs[places[0]]
        assert row is not None and last is not None
        # An output of a body is a value of its own.
        own = Builder(branch).add("Identity", [row], row.name)
        branch.set_outputs([own], [onnx.ValueInfoProto(name=own.name, type=kind)])
        if old in last.outputs and not branch.is_used(old):
            branch.remove(last)
    copy.output().info = None
    inputs[places[0]] = copy.output()
    result = Builder(graph).apply(one.op, inputs, node.output().name)
    replace_values(graph, {node.output(): result})
    graph.remove(node)
    assert inputs[0] is not None
    site.rewritten(_AFTER(state=inputs[0].name))
    site.visit_new([copy])
    return True


def _outputs(site: Site) -> list[Fact]:
    """The facts of the outputs.

    Raises:
        Obstacle: a branch may fail, or there is no select between outputs.
    """
    graph, node, results = site.graph, site.node, []
    for name in BRANCHES:
        try:
            results.append(site.visits.speculation.run_untaken(node, name))
        except Hazard as hazard:
            raise Obstacle(_HAZARD(str(hazard), branch=name)) from hazard
    for value, then_output, else_output in zip(node.outputs, *results, strict=False):
        if value is not None and graph.is_used(value):
            why = unselectable(then_output.fact, else_output.fact, graph.root.opset())
            require_none(why and _NO_SELECT(why, output=value.name))
    return [one.fact for one in results[0]]


def _convert(site: Site, facts: Sequence[Fact]) -> None:
    """Replace an If by both branches and a select for each output."""
    graph, node, flag, fold = site.graph, site.node, site.node.operand(0), site.visits.folder.fold
    emitter = Builder(graph, fold)
    # Declarations of a branch hold only where it is selected.
    yes, no = [
        Template(node.body(name), graph, fold=fold, keep_infos=False).instantiate([])
        for name in BRANCHES
    ]
    shape = site.visits.speculation.outside(flag).fact.shape
    rank = min((len(fact.shape or ()) for fact in facts), default=0)
    condition = broadcasting(emitter, flag, shape, rank, f"{flag.name}_scalar")
    selections = {
        old: select(emitter, condition, a, b, fact.elem_type, old.name, old)
        for old, a, b, fact in zip(node.outputs, yes, no, facts, strict=False)
        if old is not None and graph.is_used(old)
    }
    replace_values(graph, selections)
    graph.remove(node)
