"""Binding of a function to one call: attributes, absent inputs, and inlining of the result."""

from collections.abc import Collection

import onnx

from ...ir import Fold, Function, FunctionKey, Graph, Node, Template, normal_domain
from ...ir.copying import Loosened, copy_graph
from ...ir.read_names import named_tensors
from ..utils.legality import unnameable_output
from ..utils.replace_all_uses import replace_values
from .calls import CallGraph

_GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def inline_call(call: Node, bound: Function, fold: Fold | None = None) -> dict[Node, str]:
    """Replace a call by the body of a bound function.

    Args:
        call: a node without an obstacle (see `obstacle`).
        bound: the result of `bind` for the call.
        fold: the folder of nodes whose inputs are all constant.

    Returns:
        the Ifs of the bound function that copying resolved, and their paths.
    """
    graph = call.parent
    missing = len(bound.graph.inputs) - len(call.inputs)
    template = Template(bound.graph, graph, fold=fold)
    results = template.instantiate([*call.inputs, *[None] * missing], f"_{call.label}")
    pairs = zip(call.outputs, results, strict=False)
    replace_values(graph, {old: new for old, new in pairs if old is not None})
    graph.remove(call)
    imports = graph.root.opset_imports
    for domain, version in bound.opset_imports.items():
        if not graph.root.opset(domain):
            imports[domain] = version
    return template.resolved


def bind(function: Function, call: Node) -> Function:
    """Copy a function as a call sees it.

    Attribute references (in bodies too) become the call's attributes, or the function's defaults;
    without either, the attribute is absent. Readers of an input that the call omits read no value.
    Symbolic sizes are dropped: another call may bind them to other sizes.
    """
    copy = Function(function.stated, function.base_dir)
    copy.opset_imports = dict(function.opset_imports)
    copy_graph(function.graph, copy.graph, {}, Loosened())
    attributes = {**function.defaults, **call.op.attributes}
    for graph in copy.graph.walk():
        for node in graph.unordered_nodes():
            if node.op.references:
                graph.set_operator(node, node.op.for_call(attributes))
    for index, value in enumerate(copy.graph.inputs):
        if call.input(index) is None:
            for user, position in copy.graph.uses(value):
                assert isinstance(user, Node)
                user.parent.set_input(user, position, None)
    return copy


# Obstacles --------------------------------------------------------------------------------------


def obstacle(function: Function, call: Node, calls: CallGraph) -> str | None:
    """The obstacle to inlining a call; None without one."""
    if calls.is_recursive(function):
        return f"{function} calls itself, which ONNX forbids"
    return semantic_difference(function, call, calls.functions)


def semantic_difference(
    function: Function, call: Node, functions: Collection[FunctionKey]
) -> str | None:
    """The reason why a function's body would differ from a call; None without one.

    Args:
        functions: the keys of all functions of the model.
    """
    inputs, outputs = function.graph.inputs, function.graph.outputs
    if len(call.inputs) > len(inputs) or len(call.outputs) > len(outputs):
        return f"it has more inputs or outputs than {function}"
    for value in call.outputs:
        if value is not None and value.pinned:
            return f"its output '{value.name}' is named from outside the data flow"
    arguments = dict(zip(inputs, call.inputs, strict=False))
    for value in inputs:
        uses = function.graph.uses(value) if arguments.get(value) is None else []
        if any(isinstance(use.user, Graph) for use in uses):
            return f"{function} returns its input '{value.name}', which the call leaves out"
        if any(isinstance(use.user, Node) and use.user.is_op("If") for use in uses):
            return f"{function} decides by its input '{value.name}', which the call leaves out"
    return (
        unnameable_output(call, [arguments.get(value) or value for value in outputs])
        or _unbindable_attribute(function, call)
        or _differing_operator(function, call, functions)
    )


def _unbindable_attribute(function: Function, call: Node) -> str | None:
    if call.bodies:
        return f"it hands a graph to {function} as an attribute"
    defaults = function.defaults
    around = call.graph.root if call.graph is not None else None
    certain = around.defaults if isinstance(around, Function) else ()
    for message in call.op.attributes.values():
        passed_on = message.ref_attr_name
        if passed_on and message.name in defaults and passed_on not in certain:
            # Left out by the caller's caller, it would have the default of this function.
            return (
                f"its attribute '{message.name}' has a default, and comes from attribute"
                f" '{passed_on}' of {around}, which may be absent"
            )
    return None


def _differing_operator(
    function: Function, call: Node, functions: Collection[FunctionKey]
) -> str | None:
    """The reason why a node of the body would differ in the caller's graph."""
    root = call.root
    for graph in function.graph.walk():
        for node in graph.unordered_nodes():
            if named_tensors(node.op):
                return f"{node} names tensors in its attributes, and copying renames them"
            if any(m.ref_attr_name and m.type in _GRAPHS for m in node.op.attributes.values()):
                return f"{node} reads a graph from an attribute of {function}"
            mine, theirs = function.opset(node.domain), root.opset(node.domain)
            if node.op.function_key in functions or mine == theirs or (mine and not theirs):
                continue
            if not _is_same(node, mine, theirs):
                domain = f" of '{node.domain}'" if normal_domain(node.domain) else ""
                return (
                    f"{function} is written for opset {mine}{domain} and its caller for {theirs},"
                    f" between which {node.op_type} changed; bring both to one opset first"
                    " (straightline convert)"
                )
    return None


def _is_same(node: Node, one: int, other: int) -> bool:
    """Test whether an operator has one definition in two versions of its domain."""
    domain = normal_domain(node.domain)
    try:
        versions = [
            onnx.defs.get_schema(node.op_type, version, domain).since_version
            for version in (one, other)
        ]
    except onnx.defs.SchemaError:
        return False
    return versions[0] == versions[1]
