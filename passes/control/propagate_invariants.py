"""Propagate invariants into bodies and out of constructs.

Bodies read invariant loop-carried states and true conditions. Nodes after an If or a call read its
invariant outputs.

y, z = Loop (n, yes, x, w) <              y, z_unused = Loop (n, yes, x, w) <
   body = b (i, c, a, v) => (c, r, v) {      body = b (i, c, a, v) => (c, r, v) {
      r = Add (a, v)                  ->        r = Add (a, w)
   }                                         }
>                                         >     and w is read in the place of z
"""

from collections.abc import Collection, Iterator
from typing import ClassVar

from ...analysis.constants.equal import are_equal
from ...analysis.iterations.body_inputs import condition_tensor
from ...analysis.iterations.trip_count import always_holds, skip_identities
from ...analysis.iterations.zero_iterations import declare_elements
from ...ir import Function, Graph, Model, Node, Operator, Value
from ..base import Pass, PassContext
from ..utils.legality import can_carry
from ..utils.replace_all_uses import replace_value, replace_values


class ForwardInvariants(Pass):
    """Bypass Loops, Scans, Ifs and calls for values that these only pass on."""

    name: ClassVar[str] = "forward-invariants"
    by_default: ClassVar[bool] = True
    needs_graphs: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Forward in every graph, outer constructs before inner ones."""
        changed = False
        for graph in model.graphs():
            for node in graph.holders():
                changed |= _forward(graph, node, model)
            for node in list(graph.unordered_nodes()) if model.functions else ():
                function = model.functions.get(node.op.function_key)
                if function is not None:
                    changed |= _forward_call(graph, node, function)
        return changed


def _forward(graph: Graph, node: Node, model: Model) -> bool:
    if node.op.references:
        return False
    if node.is_op("Loop"):
        changed = _forward_carried(graph, node, 2, 1, model)
        return _assert_condition(node) or changed
    # The first input of Scan 8 is no state: it holds the lengths of sequences.
    if node.is_op("Scan") and graph.root.opset() >= 9:
        return _forward_carried(graph, node, 0, 0, model)
    return node.is_op("If") and _forward_branches(graph, node)


def _forward_carried(
    graph: Graph, node: Node, first_input: int, first_output: int, model: Model
) -> bool:
    """Replace each loop-carried state that the body returns unchanged by its initial value."""
    body, outputs, changed = node.body("body"), set(graph.outputs), False
    read, body_results, forwarded, extra_outputs = {}, {}, {}, set[Value]()
    for state in range(len(node.inputs) - first_input - node.attribute("num_scan_inputs", 0)):
        initial, slot = node.inputs[first_input + state], body.inputs[first_input + state]
        result = body.outputs[first_output + state]
        if initial is None or skip_identities(result) is not slot or slot.pinned:
            continue
        if _read_by_nodes(body, slot, result):
            read[slot], body_results[result] = initial, slot
        final = node.outputs[state] if state < len(node.outputs) else None
        if final is not None and _may_replace(graph, final, initial, extra_outputs):
            forwarded[final] = initial
            if final in outputs:
                extra_outputs.add(initial)
    if read and not declare_elements(node, model):
        body.replace_all_reads(read)
        passed = {result: _passed_on(body, slot) for result, slot in body_results.items()}
        body.set_outputs([passed.get(value, value) for value in body.outputs])
        changed = True
    replace_values(graph, forwarded)
    return changed or any(not graph.is_used(old) for old in forwarded)


def _passed_on(body: Graph, slot: Value) -> Value:
    """The body output for an unchanged state: a copy for a sequence, else the input itself.

    onnxruntime empties the initial sequence where the output is the very input.
    """
    if slot.type is None or slot.type.HasField("tensor_type") or body.root.opset() < 14:
        return slot
    return body.add_node(Operator("Identity"), [slot], [f"{slot.name}_on"]).output()


def _may_replace(graph: Graph, old: Value, new: Value, extra: Collection[Value] = ()) -> bool:
    return not old.pinned and graph.is_used(old) and can_carry(graph, old, new, extra)


def _read_by_nodes(body: Graph, slot: Value, result: Value) -> bool:
    """Test whether a node reads the value, apart from the Identities to the body's output."""
    path = set(_identities_to(result))
    return any(use.user is not body and use.user not in path for use in body.uses(slot))


def _identities_to(value: Value) -> Iterator[Node]:
    while value.producer is not None and value.producer.is_op("Identity"):
        yield value.producer
        source = value.producer.inputs[0]
        if source is None:
            return
        value = source


def _assert_condition(loop: Node) -> bool:
    """Replace the condition input of a body by true: a body runs only while it holds.

    Without an initial condition, the specification ignores the condition of the body.
    """
    body = loop.body("body")
    flag = body.inputs[1]
    if loop.input(1) is None or flag.pinned:
        return False
    changed = _pass_condition_on(body)
    if any(use.user is not body for use in body.uses(flag)):
        body.replace_reads(flag, body.add_initializer(flag.name, condition_tensor(body, True)))
        changed = True
    return changed


def _pass_condition_on(body: Graph) -> bool:
    """Return a condition that always holds unchanged, which saves its nodes in each iteration."""
    flag, result = body.inputs[1], body.outputs[0]
    if result is flag or not always_holds(body) or result.pinned:
        return False
    infos = [flag.info or body.output_infos[0], *body.output_infos[1:]]
    body.set_outputs([flag, *body.outputs[1:]], infos)
    for node in list(_identities_to(result)):
        if not body.is_needed(node):
            body.remove(node)
    return True


def _forward_branches(graph: Graph, node: Node) -> bool:
    """Replace each output of an If that both branches compute alike."""
    changed = False
    pairs = zip(node.body("then_branch").outputs, node.body("else_branch").outputs, strict=False)
    for old, (one, other) in zip(node.outputs, pairs, strict=False):
        if old is None:
            continue
        one, other = skip_identities(one), skip_identities(other)
        same = one is other and graph.sees(one)
        if not same and one.constant is not None and other.constant is not None:
            same = _equal_constants(one, other)
            # A constant of a branch cannot be read after the If.
            if same and not graph.sees(one):
                one = graph.add_initializer(one.name, one.constant)
        if same and _may_replace(graph, old, one):
            replace_value(graph, old, one)
            changed = True
    return changed


def _forward_call(graph: Graph, call: Node, function: Function) -> bool:
    """Replace each output of a call that is the function's input or constant."""
    changed = False
    inputs = {value: index for index, value in enumerate(function.graph.inputs)}
    for old, result in zip(call.outputs, function.graph.outputs, strict=False):
        result = skip_identities(result)
        source = call.input(inputs[result]) if result in inputs else None
        small = result.constant is not None and result.constant.size <= _MAX_COMPARED
        if old is None or old.pinned or not (source or small) or not graph.is_used(old):
            continue
        if source is None:
            assert result.constant is not None
            source = graph.add_initializer(result.name, result.constant)
        if can_carry(graph, old, source):
            replace_value(graph, old, source)
            changed = True
    return changed


def _equal_constants(one: Value, other: Value) -> bool:
    a, b = one.constant, other.constant
    assert a is not None and b is not None
    small = a.size <= _MAX_COMPARED and a.is_readable and b.is_readable
    return a is b or (small and are_equal(a, b))


_MAX_COMPARED = 1 << 16
