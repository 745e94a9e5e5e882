"""Recognition of loops whose body computes a block of iterations at once."""

from ...ir import Graph, Node


def computes_blocks(body: Graph) -> bool:
    """Test for a body that reads rows at `Min (i * k + offsets, last)`.

    `block-loops` emits such bodies, in which the number of an iteration serves for these places
    only.
    """
    if len(body.inputs) < 2:
        return False
    starts = body.users(body.inputs[0])
    places = [place for start in starts for place in _users(start, "Mul")]
    bounds = [bound for place in places for bound in _users(place, "Add")]
    return len(starts) == 1 and bool(bounds) and all(_is(bound, "Min") for bound in bounds)


def is_in_block(graph: Graph) -> bool:
    """Test for a graph in a body that computes a block."""
    holder = graph.holder
    while holder is not None and holder.graph is not None:
        if holder.is_op("Loop") and computes_blocks(graph):
            return True
        graph = holder.graph
        holder = graph.holder
    return False


def _users(node: Node | Graph, op_type: str) -> list[Node | Graph]:
    """The users of the result of an operator; none of others."""
    if not isinstance(node, Node) or not node.is_op(op_type) or node.graph is None:
        return []
    return node.graph.users(node.output())


def _is(node: Node | Graph, op_type: str) -> bool:
    return isinstance(node, Node) and node.is_op(op_type)
