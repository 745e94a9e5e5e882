"""Einsums of two vectors or matrices as MatMul: "a,ab->b", as jax2onnx writes a cell."""

from ...ir import Graph, Node
from ...ops.builder import Builder


def as_product(body: Graph, node: Node) -> bool:
    """Replace an Einsum of vectors or matrices by a MatMul."""
    plan = None if node.op.references or node.output().pinned else _plan(node)
    if plan is None:
        return False
    emit, values = Builder(body), []
    for number, is_turned in plan:
        value = node.operand(number)
        values.append(emit.transpose(value, (1, 0), value.name) if is_turned else value)
    result = emit.add("MatMul", values, node.output().name)
    body.pass_declaration(node.output(), result)
    body.replace_uses(node.output(), result)
    body.remove(node)
    return True


def _plan(node: Node) -> list[tuple[int, bool]] | None:
    """The operands of a MatMul in order, each with true if it is transposed; None if it is none."""
    equation = node.attribute("equation", b"")
    text = equation.decode() if isinstance(equation, bytes) else str(equation)
    inputs, arrow, result = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow or len(terms) != 2 or len(node.inputs) != 2 or "." in text:
        return None
    if any(len(set(term)) != len(term) or not 1 <= len(term) <= 2 for term in terms):
        return None
    common = set(terms[0]) & set(terms[1])
    if len(common) != 1 or common & set(result):
        return None
    free = ["".join(label for label in term if label not in common) for term in terms]
    plans = []
    for one, other in ((0, 1), (1, 0)):
        if result == free[one] + free[other]:
            turned = [len(terms[one]) == 2 and terms[one][0] in common]
            turned.append(len(terms[other]) == 2 and terms[other][1] in common)
            plans.append([(one, turned[0]), (other, turned[1])])
    # A vector may come first or last: in one place the matrix needs no Transpose, which onnxruntime
    # drops before a vector (`ops/departures.py`).
    return min(plans, key=lambda plan: sum(turned for _, turned in plan), default=None)
