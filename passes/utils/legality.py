"""Reasons to leave a construct alone that several passes share."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...facts.reason import Message
from ...ir import Function, FunctionKey, Graph, Node, Value
from ...ir.references import named_tensors
from ...ops.element_types import ElementTypes
from ...ops.randomness import find_random
from ...ops.schema_queries import unsayable

_IDENTITY_OF_SEQUENCES = 14

_ATTRIBUTE_OF_FUNCTION = Message(
    "attribute-of-function",
    "its attribute '{attribute}' comes from the function around it; inline the function first",
)
_RANDOM = Message(
    "random-numbers",
    "{whose} draws random numbers ({node}), and copies of one random node would all draw the same",
)
_OUTPUT_NAMED = Message("output-named", "its output '{output}' is named from outside the data flow")
_TENSORS_NAMED = Message(
    "tensors-named", "{node} inside it names tensors in its attributes, and copying renames them"
)
_OUTPUT_UNNAMEABLE = Message(
    "output-unnameable",
    "its output '{output}' is a sequence and an output of the graph, which no Identity can name in"
    " opset {opset}; convert to opset 14 first",
)


def given_by_caller(node: Node) -> str | None:
    """Why nothing can be decided about a node that takes an attribute from the function around it;
    None if it takes none. Inlining the function puts the caller's values in."""
    for message in node.op.attributes.values():
        if message.ref_attr_name:
            return _ATTRIBUTE_OF_FUNCTION(attribute=message.name)
    return None


def drawn_alike(
    node: Node, functions: dict[FunctionKey, Function], whose: str = "it"
) -> str | None:
    """Why the body of a node cannot be copied: it draws random numbers; None if it does not."""
    random = find_random(node.body("body"), functions)
    if random is None:
        return None
    return _RANDOM(whose=whose, node=str(random))


def named_from_outside(node: Node) -> str | None:
    """Why a node that holds graphs cannot be dissolved because something names its tensors."""
    for value in node.outputs:
        if value is not None and value.pinned:
            return _OUTPUT_NAMED(output=value.name)
    for graph in node.graphs():
        found = _naming_node(graph)
        if found is not None:
            return _TENSORS_NAMED(node=str(found))
    return None


def _naming_node(graph: Graph) -> Node | None:
    for inner in graph.walk():
        for node in inner.unordered_nodes():
            if named_tensors(node.op):
                return node
    return None


def unnameable_output(node: Node, given: Sequence[Value]) -> str | None:
    """Why an output of its graph would end without a node to carry it.

    Args:
        node: the construct to dissolve.
        given: what would stand in the place of its outputs, values of its bodies among them.
    """
    graph = node.graph
    assert graph is not None
    used: set[Value] = set()
    for old, new in zip(node.outputs, given, strict=False):
        if old is not None and not can_carry(graph, old, new, used):
            return _OUTPUT_UNNAMEABLE(output=new.name, opset=graph.root.opset())
        used.add(new)
    return None


def can_carry(graph: Graph, old: Value, new: Value, used: Collection[Value] = ()) -> bool:
    """Whether a value can stand in the place of another one even where the graph gives that out.

    It may need an Identity for it, which takes only tensors below opset 14.

    Args:
        graph: where `old` is defined.
        old: the value to replace.
        new: the replacement; one that the graph does not see is about to be copied into it.
        used: what replaces other outputs already.
    """
    modern = graph.root.opset() >= _IDENTITY_OF_SEQUENCES
    if modern or old not in graph.outputs or _is_tensor(graph, old):
        return True
    # An If may give out what it captures, once it is known which branch it takes.
    made = new.producer is not None and not new.producer.bodies
    own = new.graph is graph or not graph.sees(new)
    named = graph.is_interface and (new in graph.outputs or new in used)
    return made and own and not named


def _is_tensor(graph: Graph, output: Value) -> bool:
    """Whether one of the graph's outputs is a tensor, or of a type that nothing declares."""
    infos = [i for v, i in zip(graph.outputs, graph.output_infos, strict=True) if v is output]
    types = [output.type, *(info.type for info in infos if info.HasField("type"))]
    return all(type_ is None or type_.HasField("tensor_type") for type_ in types)


def unstackable_output(
    graph: Graph, loop: Node, trips: int, also: Sequence[str] = ()
) -> str | None:
    """Why a scan output cannot be put together of its rows; None if all can.

    Args:
        graph: that of the Loop.
        loop: the Loop.
        trips: how many rows there are, at least one.
        also: operators that the stacked rows go through.
    """
    types = ElementTypes()
    operators = ("Unsqueeze", *(("Concat",) if trips > 1 else ()), *also)
    for old in loop.outputs[len(loop.inputs) - 2 :]:
        if old is not None and graph.is_used(old):
            reason = unsayable(operators, types.of(old), graph.root.opset(), "Loop")
            if reason is not None:
                return f"its scan output '{old.name}' {reason}"
    return None
