"""Branches that end in a node.

y = If (c) <then_branch = t () => (a) <float[2] a = {1, 2}> {}, ...>
->
y = If (c) <then_branch = t () => (r) <float[2] a = {1, 2}> { r = Identity (a) }, ...>

MNN 3.6 computes other numbers where an output of a branch is an initializer, and OpenCV 5.0 refuses
the model.
"""

from collections.abc import Callable, Hashable

from ...analysis.constants.equal import content_key
from ...ir import Graph, Model, Node, Operator, Tensor
from .value_numbering import merge_constants


def end_branches_in_nodes(
    model: Model, key_of: Callable[[Tensor], Hashable | None] = content_key
) -> None:
    """Return each initializer that is the output of a branch through an Identity.

    Equal ones stayed apart as outputs; they are merged, or the next rewrite would.

    Args:
        key_of: the key of equal initializers.
    """
    for graph in model.graphs():
        if graph.holder is None or not graph.holder.is_op("If"):
            continue
        outputs = list(graph.outputs)
        for place, value in enumerate(outputs):
            if value in graph.initializers:
                node = graph.add_node(Operator("Identity"), [value], [f"{value.name}_copy"])
                outputs[place] = node.output()
        if outputs != list(graph.outputs):
            graph.set_outputs(outputs)
            merge_constants(graph, key_of=key_of)


def ends_branch(graph: Graph, node: Node) -> bool:
    """Test for an Identity that ends a branch; folded, it would be an initializer again."""
    in_branch = graph.holder is not None and graph.holder.is_op("If")
    return in_branch and node.is_op("Identity") and node.output() in graph.outputs
