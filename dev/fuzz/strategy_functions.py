"""Model-local functions that hold control flow."""

from dataclasses import replace

from onnx import helper
from strategy_control import statements
from strategy_scope import Scope, Value
from strategy_sequences import is_tensor

DOMAIN = "local"


def function(scope: Scope) -> list[Value]:
    """A new function of drawn tensors, called once or twice."""
    context = scope.context
    arguments = [scope.choose(scope.find(is_tensor)) for _ in range(scope.number(1, 3))]
    body = Scope(context, depth=scope.depth + 1)
    body.in_function, body.iterations = True, scope.iterations
    if scope.opset >= 12 and scope.flip():
        body.attribute = scope.number(0, 2)
    parameters = [body.input(replace(a, literal=None)) for a in arguments]
    statements(body, body.number(1, 3))
    outputs: list[Value] = []
    for _ in range(scope.number(1, 2)):
        value = body.as_output(body.choose(body.find(is_tensor)), node_only=True)
        if all(v.name != value.name for v in outputs):
            outputs.append(value)
    name = f"f{len(context.functions)}"
    context.functions.append(
        helper.make_function(
            DOMAIN,
            name,
            [v.name for v in parameters],
            [v.name for v in outputs],
            body.nodes,
            # Every operator set that a body may call, itself included.
            [helper.make_opsetid("", scope.opset), helper.make_opsetid(DOMAIN, 1)],
            attributes=[] if body.attribute is None else ["k"],
        )
    )
    attributes = {"domain": DOMAIN}
    if body.attribute is not None:
        attributes["k"] = body.attribute
    results = [replace(v, literal=None) for v in outputs]
    values = scope.emit(name, arguments, results, **attributes)
    if scope.flip(3):
        others = [scope.choose(scope.find(lambda v, p=p: replaces(v, p))) for p in arguments]
        values = scope.emit(name, others, results, **attributes)
    return values


def replaces(value: Value, other: Value) -> bool:
    """Whether a call may take `value` where the function was drawn for `other`."""
    alike = is_tensor(value) and (value.type, value.shape) == (other.type, other.shape)
    if not alike or value.bound > other.bound or (other.known and not value.known):
        return False
    return value.name == other.name or (value.shape is not None and None not in value.shape)
