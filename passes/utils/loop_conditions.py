"""Conditions that the body of a Loop returns unchanged.

They keep the Loop running, and passes write them so; OpenVINO refuses such a body.
"""

from ...ir import Model, Node, Operator

_LABEL = "goes_on"
"""The name of a new condition: a second rewrite chooses the same one."""


def forwarded_conditions(model: Model) -> list[Node]:
    """The Loops whose body returns its condition unchanged."""
    loops = [node for graph in model.graphs() for node in graph.nodes_of("Loop")]
    bodies = [(node, node.body("body")) for node in loops if "body" in node.bodies]
    return [n for n, body in bodies if len(body.inputs) > 1 and body.outputs[0] is body.inputs[1]]


def isolate_conditions(model: Model) -> list[Node]:
    """Insert an Identity between input and output of a Loop body's condition.

    Returns:
        the Loops whose body returned its condition unchanged.
    """
    loops = forwarded_conditions(model)
    for body in (loop.body("body") for loop in loops):
        condition = body.inputs[1]
        own = body.add_node(Operator("Identity"), [condition], [_LABEL]).output()
        body.set_outputs([own, *body.outputs[1:]])
    return loops
