"""Mutations that add what nobody reads and what may fail."""

import onnx

from wrong_rewrites.place import Place, own_names

_MADE = "that_may_fail"


def reshape_another(place: Place) -> bool | None:
    """A tensor is brought into a shape that hardly any has."""
    return _applied(place, "Reshape", [7, 13])


def gather_far_away(place: Place) -> bool | None:
    """An element is read that is hardly ever there."""
    return _applied(place, "Gather", [place.dice.choice([1, 2, 1000])])


def _applied(place: Place, op_type: str, numbers: list[int]) -> bool | None:
    node, names = place.node()
    graph = _graph_of(place, node)
    if not names or not isinstance(graph, onnx.GraphProto):
        return False
    name = _fresh(place)
    operand = onnx.helper.make_tensor(
        f"{name}_operand", onnx.TensorProto.INT64, [len(numbers)], numbers
    )
    constant = onnx.helper.make_node("Constant", [], [operand.name], value=operand)
    made = onnx.helper.make_node(op_type, [place.dice.choice(names), operand.name], [name])
    at = list(graph.node).index(node)
    for new in (made, constant):
        graph.node.insert(at, new)
    return True


def hoist(place: Place) -> bool | None:
    """A node of a body runs in front of what holds it, too."""
    found = []
    for graph, outer in place.graphs:
        for node in graph.node:
            bodies = [a.g for a in node.attribute if a.HasField("g")]
            known = {"", *outer, *own_names(graph)}
            known.update(name for other in graph.node for name in other.output)
            known -= set(node.output)
            found += [
                (graph, node, inner)
                for body in bodies
                for inner in body.node
                if known.issuperset(set(inner.input) - set(own_names(body)))
                and not set(inner.input) & set(own_names(body))
                and not any(a.HasField("g") for a in inner.attribute)
            ]
    if not found:
        return False
    graph, node, inner = place.dice.choice(found)
    made = onnx.NodeProto.FromString(inner.SerializeToString())
    made.output[:] = [f"{_fresh(place)}_{k}" for k in range(len(inner.output))]
    made.name = made.output[0]
    graph.node.insert(list(graph.node).index(node), made)
    return True


def _graph_of(place: Place, node: onnx.NodeProto) -> object:
    return next(g for g, _ in place.graphs if any(other is node for other in g.node))


def _fresh(place: Place) -> str:
    return f"{_MADE}_{place.dice.randrange(1 << 30)}"
