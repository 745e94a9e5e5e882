"""Merge equal loop-carried states, and split a state that joins several.

o, h = Scan <num_scan_inputs = 2,                     h = Scan <num_scan_inputs = 2,
   body = b (o, h, e, m) => (p, r) {                     body = b (h, e, m) => (r) {
      new = Add (h, e)                                      new = Add (h, e)
      p = Where (m, new, o)                   ->            r = Where (m, new, h)
      r = Where (m, new, h) }>                           }>
(zero, zero, x, mask)                                 (zero, x, mask)

Equality is optimistic: states of one initial value are equal until the body computes different
next values of equal ones. A Loop carries the parts of a state that is a Concat, if it reads whole
parts.

Where a mask keeps a state, r = Where (m, new, h), then y = Where (m, new, z) is Where (m, r, z), so
nothing reads `new` where the mask is false.

Kept apart: two states that are both outputs of the graph, and states of a Loop that its condition
ends.
"""

from collections.abc import Hashable, Iterable
from typing import ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ..iteration.loop_view import LoopView, State, read
from ..iteration.places import kept_by
from ..utils.legality import can_carry
from ..utils.sites import Site, SitePass
from ..utils.value_numbering import Calls, NodeKeys
from .split_states import split_states

_MERGED = Message("states-merged", "{count} states are equal to others in every iteration")
_SPLIT = Message("state-split", "a state is now the {count} that it joined")
_MASKED = Message("masked-reads", "{count} masked values are read from their state")


class MergeStates(SitePass):
    """Merge equal loop-carried states, split joined ones, read what masks keep from them."""

    name: ClassVar[str] = "merge-states"
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    keeps_facts_of_others: ClassVar[bool] = False

    def visit(self, site: Site) -> None:
        """Merge the states of one loop."""
        loop_view, model = read(site.node), site.model
        split = split_states(loop_view, site.inference)
        if split:
            site.rewritten(_SPLIT(count=split))
            return
        keys = NodeKeys(model, Calls(model.functions), site.context.analyses.keys)
        merged = _merge(site.graph, loop_view, keys)
        if merged:
            site.rewritten(_MERGED(count=merged))
        masked = _read_masked(loop_view, site.inference)
        if masked:
            site.rewritten(_MASKED(count=masked))


# Equal states ------------------------------------------------------------------------------------


def _merge(graph: Graph, loop_view: LoopView, keys: NodeKeys) -> int:
    """Let readers of equal states read one of them; return the number of the others."""
    count = 0
    for members in _classes(loop_view, keys):
        # An output of the graph keeps its own name.
        members.sort(key=lambda state: state.final not in graph.outputs)
        first, *others = members
        for state in others:
            if _replace(graph, loop_view, state, first):
                count += 1
    return count


def _classes(loop_view: LoopView, keys: NodeKeys) -> list[list[State]]:
    """Groups of states that are equal in every iteration, of at least two."""
    states = [state for state in loop_view.states if not _is_settled(loop_view, state)]
    numbers: dict[State, Hashable] = {
        state: (state.argument.elem_type, keys.number(state.initial, {})) for state in states
    }
    # Partition refinement, as of the states of an automaton: classes only split.
    while len(set(numbers.values())) < len(states):
        same: dict[Value, Hashable] = {
            state.argument: ("state", numbers[state]) for state in states
        }
        for node in loop_view.body.nodes():
            keys.enter(node, same)
        finer = {s: (numbers[s], keys.number(s.result, same)) for s in states}
        ranks = {number: rank for rank, number in enumerate(dict.fromkeys(finer.values()))}
        is_stable = len(ranks) == len(set(numbers.values()))
        numbers = {state: ranks[finer[state]] for state in states}
        if is_stable:
            break
    groups: dict[Hashable, list[State]] = {}
    for state in states:
        groups.setdefault(numbers[state], []).append(state)
    return [group for group in groups.values() if len(group) > 1]


def _is_settled(loop_view: LoopView, state: State) -> bool:
    """Test for a state that nothing reads; a body may return it as it is."""
    if any(user is not loop_view.body for user in loop_view.body.users(state.argument)):
        return False
    return state.final is None or not loop_view.around.is_used(state.final)


def _replace(graph: Graph, loop_view: LoopView, state: State, first: State) -> bool:
    """Let readers of a state read another one; false where its output must stay."""
    final, other = state.final, first.final
    if final is not None and graph.is_used(final):
        if other is None or not can_carry(graph, final, other) or final in graph.outputs:
            return False
        graph.replace_uses(final, other)
    loop_view.body.replace_reads(state.argument, first.argument)
    return True


# Masks -------------------------------------------------------------------------------------------


def _read_masked(loop_view: LoopView, inference: ShapeInference) -> int:
    """Let each Where by the mask of a state read the state; return their number."""
    body, count = loop_view.body, 0
    for state in loop_view.states:
        select, place = kept_by(state) or (None, 0)
        if select is None or select.graph is not body:
            continue
        live = 3 - place
        value = select.operand(live)
        shape = inference.fact(value).shape
        is_same = shape is not None and shape == inference.fact(select.output()).shape
        if value.graph is not body or value.producer is None or not is_same:
            continue
        for user in _selects(body, select, live, value):
            body.set_input(user, live, select.output())
            count += 1
    return count


def _selects(body: Graph, select: Node, live: int, value: Value) -> Iterable[Node]:
    """The other Wheres of a mask that let the same value in."""
    for user in list(body.users(value)):
        if not isinstance(user, Node) or user is select or not user.is_op("Where"):
            continue
        if user.graph is body and user.inputs[0] is select.inputs[0] and user.inputs[live] is value:
            yield user
