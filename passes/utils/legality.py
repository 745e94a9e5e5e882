"""Obstacles to a rewrite that several passes share."""

from collections.abc import Collection, Sequence

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import is_settled
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Function, FunctionKey, Graph, Node, Value
from ...ir.option_names import by
from ...ir.read_names import named_tensors
from ...ops.randomness import find_random
from ...ops.schema_queries import ElementTypes, type_obstacle

_BRANCHES_OF_TWO_SHAPES = 11
_IDENTITIES = {None: 1, "tensor_type": 1, "sequence_type": 14, "optional_type": 16}
"""The first opset whose Identity copies values of a kind; a value without a type is a tensor."""

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

_SIZES_IN_BRANCH = Message(
    "sizes-in-branch",
    "If '{node}' may return sizes that follow from it, and both branches of an If have one shape"
    " before opset 11; convert to opset 11 with {option}",
)


def caller_attribute(node: Node) -> str | None:
    """The obstacle of a node with an attribute of the function around it; None without one.

    Inlining of the function resolves the attribute.
    """
    for message in node.op.attributes.values():
        if message.ref_attr_name:
            return _ATTRIBUTE_OF_FUNCTION(attribute=message.name)
    return None


def require_no_draws(node: Node, functions: dict[FunctionKey, Function], whose: str = "it") -> None:
    """Raise the obstacle to copies of a body that draws random numbers."""
    random = find_random(node.body("body"), functions)
    if random is not None:
        raise Obstacle(_RANDOM(whose=whose, node=str(random)))


def externally_named(node: Node) -> str | None:
    """The obstacle to dissolving a node whose tensors are named externally."""
    for value in node.outputs:
        if value is not None and value.pinned:
            return _OUTPUT_NAMED(output=value.name)
    for graph in node.graphs():
        naming = _naming_node(graph)
        if naming is not None:
            return _TENSORS_NAMED(node=str(naming))
    return None


def _naming_node(graph: Graph) -> Node | None:
    for inner in graph.walk():
        for node in inner.unordered_nodes():
            if named_tensors(node.op):
                return node
    return None


def unnameable_output(node: Node, results: Sequence[Value]) -> str | None:
    """The obstacle to an output of the graph that no node could name.

    Args:
        node: the construct to dissolve.
        results: the replacements of its outputs, perhaps values of its bodies.
    """
    graph = node.parent
    others: set[Value] = set()
    for old, new in zip(node.outputs, results, strict=False):
        if old is not None and not can_carry(graph, old, new, others):
            return _OUTPUT_UNNAMEABLE(output=new.name, opset=graph.root.opset())
        others.add(new)
    return None


def can_carry(graph: Graph, old: Value, new: Value, others: Collection[Value] = ()) -> bool:
    """Test whether a value can replace another one, also as an output of the graph.

    An output may need an Identity, which not every opset has for its type.

    Args:
        graph: the graph of `old`.
        new: the replacement; a value that the graph does not see will be copied into it.
        others: the replacements of other outputs.
    """
    if old not in graph.outputs or has_identity(graph, old):
        return True
    # A branch may return a captured value.
    computed = new.producer is not None and not new.producer.bodies
    own = new.graph is graph or not graph.sees(new)
    repeats = new in graph.outputs or new in others
    return computed and own and not repeats


def has_identity(graph: Graph, output: Value) -> bool:
    """Test for an Identity of the opset that copies an output of the graph."""
    infos = [i for v, i in zip(graph.outputs, graph.output_infos, strict=True) if v is output]
    types = [output.type, *(info.type for info in infos if info.HasField("type"))]
    return all(is_copied(type_, graph.root.opset()) for type_ in types)


def is_copied(type_: onnx.TypeProto | None, opset: int) -> bool:
    """Test for an Identity of an opset that copies values of a type."""
    kind = None if type_ is None else type_.WhichOneof("value")
    return opset >= _IDENTITIES.get(kind, 1 << 30)


def require_stackable(graph: Graph, loop: Node, iterations: int, also: Sequence[str] = ()) -> None:
    """Raise the obstacle to stacking a scan output's rows.

    Args:
        iterations: the number of rows, at least one.
        also: further operators on the stacked rows.
    """
    types = ElementTypes()
    operators = ("Unsqueeze", *(("Concat",) if iterations > 1 else ()), *also)
    for old in loop.outputs[len(loop.inputs) - 2 :]:
        if old is not None and graph.is_used(old):
            reason = type_obstacle(operators, types.of(old), graph.root.opset(), "Loop")
            require_none(reason and f"its scan output '{old.name}' {reason}")


def sizes_in_branch(graph: Graph, loop: Node, inference: ShapeInference) -> str | None:
    """The obstacle of sizes that a loop hides from an If of two shapes; None without one.

    If 1 and onnxruntime refuse branches of different known sizes; no inference knows those of a
    Loop's state.
    """
    values, visited = [*loop.outputs], set[Value]()
    while values and loop.is_op("Loop") and graph.root.opset() < _BRANCHES_OF_TWO_SHAPES:
        value = values.pop()
        if value is None or value.graph is None or value in visited:
            continue
        visited.add(value)
        for user, position in value.graph.uses(value):
            node = user.holder if isinstance(user, Graph) else user
            values += () if node is None else node.outputs
            if node is None or node is user or not node.is_op("If"):
                continue
            bodies = [body for body in node.graphs() if body is not user]
            others = [inference.fact(body.outputs[position]).shape for body in bodies]
            result = node.outputs[position]
            if others != [None] and (result is None or not is_settled(inference.fact(result))):
                return _SIZES_IN_BRANCH(node=node.label, option=by("--opset 11"))
    return None


def can_be_output(graph: Graph, source: Value) -> bool:
    """Test whether a value may become an output of the graph."""
    producer = source.producer
    return producer is not None and producer.graph is graph and not source.pinned
