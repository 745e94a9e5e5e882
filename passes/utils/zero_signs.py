"""Values whose sign of zero changes no output but in signs of zeros.

1 / -0.0 is -inf, so a rule that turns -0.0 into 0.0 applies only where no reader tells them apart.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import onnx

from ...facts.types import INTEGER_BITS
from ...ir import Array, Graph, Model, Node, Value, captured_by
from ...ops import rules_of
from ...ops.builder import Builder
from ...ops.schema_queries import ElementTypes

_FORGETFUL = frozenset(
    (
        *("Abs", "ArgMax", "ArgMin", "Cos", "Cosh", "Exp", "IsNaN", "LogSoftmax", "Shape"),
        *("Sigmoid", "Size", "Softmax", "Softplus"),
    )
)
"""Operators whose results have the same bits for -0.0 and 0.0."""

_COMPARISONS = frozenset(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"))

_MOST_READ = 1 << 12
"""The most elements of a constant that is searched for zeros."""

_MOST_READERS = 256
"""Limit of the readers that are searched for one that tells signs."""


def ignored_signs(graph: Graph) -> set[Value]:
    """The values of a graph whose signs of zeros no output depends on.

    The signs of zeros in outputs of the model may depend on them. One pass over the nodes, from
    the last to the first, finds all.
    """
    is_main = isinstance(graph.owner, Model)
    sensitive: set[Value] = set() if is_main else set(graph.outputs)
    ignored: set[Value] = set()
    for node in reversed(graph.nodes()):
        outputs = node.outputs
        carries = sensitive.isdisjoint(outputs)
        ignored.update([v for v in outputs if v is not None and (carries or v not in sensitive)])
        if node.bodies:
            sensitive.update(captured_by(node))
        passing = _count_passing(node) if carries else 0
        for index, value in enumerate(node.inputs):
            if index < passing or value is None or value in sensitive or _forgets(node, index):
                continue
            sensitive.add(value)
    return ignored


def tells_signs(value: Value) -> bool:
    """Test for a reader that may turn signs of zeros into more.

    The search goes forward, out of bodies, and around loops; where it takes long, there may be one.
    """
    waiting, visited, types = [value], {value}, ElementTypes()
    while waiting:
        read = waiting.pop()
        users = [] if read.graph is None else read.graph.users(read)
        for user in users:
            following = _following(read, user)
            if following is None or len(visited) > _MOST_READERS:
                return True
            new = [v for v in following if v not in visited and types.of(v) not in INTEGER_BITS]
            visited.update(new)
            waiting += new
    return False


def reads_signs(values: Sequence[Value | None]) -> Callable[[], bool]:
    """Return a test for readers of values that may turn signs of zeros into more."""
    return lambda: any(tells_signs(value) for value in values if value is not None)


@contextlib.contextmanager
def readers_of(emitter: Builder, values: Sequence[Value | None]) -> Iterator[None]:
    """Let a builder ask readers of the values that it replaces about signs of zeros."""
    before, emitter.keeps_signs = emitter.keeps_signs, reads_signs(values)
    try:
        yield
    finally:
        emitter.keeps_signs = before


def _following(value: Value, user: Node | Graph) -> list[Value] | None:
    """Values in which a reader's signs of zeros follow; None if more may follow."""
    if isinstance(user, Graph):
        return [] if isinstance(user.owner, Model) else _outside(value, user)
    if value in captured_by(user):
        return None
    places = [index for index, read in enumerate(user.inputs) if read is value]
    if user.is_op("Loop", "Scan") and user.bodies:
        return _inside(user, places)
    telling = [index for index in places if not _forgets(user, index)]
    if telling and max(telling) >= _count_passing(user):
        return None
    return [output for output in user.outputs if output is not None] if telling else []


def _outside(value: Value, body: Graph) -> list[Value] | None:
    """Values that an output of a body becomes: outputs of the node, and states."""
    node = body.holder
    if node is None or not node.is_op("If", "Loop", "Scan"):
        return None
    first = 1 if node.is_op("Loop") else 0
    results: list[Value] = []
    for index, output in enumerate(body.outputs):
        if output is not value:
            continue
        if index < first:
            return None
        result = node.outputs[index - first] if index - first < len(node.outputs) else None
        results += [] if result is None else [result]
        if not node.is_op("If") and index - first < _count_states(node):
            results.append(body.inputs[index + first])
    return results


def _inside(node: Node, places: list[int]) -> list[Value] | None:
    """Values of the body that operands of a Loop or Scan become; the states' results, too."""
    first = 2 if node.is_op("Loop") else 0
    if min(places) < first:
        return None
    body = node.body("body")
    results: list[Value] = []
    for place in places:
        results.append(body.inputs[place])
        if place - first < _count_states(node) and place - first < len(node.outputs):
            result = node.outputs[place - first]  # without an iteration
            results += [] if result is None else [result]
    return results


def _count_states(node: Node) -> int:
    if node.is_op("Loop"):
        return max(0, len(node.inputs) - 2)
    return len(node.inputs) - int(node.attribute("num_scan_inputs", 0))


def divides_by(user: Node, read: Value) -> bool | None:
    """Reading of a value: True for a division by it, None for an operator that a zero passes.

    There another sign of a zero is the other infinity, which no rounding excuses. The operators
    compute each element by itself, or move elements, and keep the sign of a zero.
    """
    rules = rules_of(user.op)
    if not (rules.elementwise or rules.exact):
        return False
    places = [k for k, one in enumerate(user.inputs) if one is read and not _forgets(user, k)]
    if any(_divides(user, place) for place in places):
        return True
    return None if places else False


def _divides(node: Node, index: int) -> bool:
    """Test for an operand whose zeros become infinities of their signs."""
    kind = node.op_type
    if kind == "Pow" and index == 0:
        numbers = _numbers(node.input(1))
        return numbers is None or bool((numbers < 0).any())
    return kind == "Reciprocal" or (kind == "Div" and index == 1)


def _count_passing(node: Node) -> int:
    """Number of leading operands whose signs of zeros change signs of zeros only."""
    op = node.op
    if node.bodies or op.domain or op.op_type == "CastLike":  # perhaps to text
        return 0
    # Strings show the signs of zeros.
    if "to" in op.attributes and node.attribute("to") in (onnx.TensorProto.STRING, b"STRING"):
        return 0
    if op.op_type == "Pow":
        numbers = _numbers(node.input(1))
        return int(numbers is not None and bool((numbers > 0).all()))
    return rules_of(op).ignores_zero_sign


def _forgets(node: Node, index: int) -> bool:
    """Test for an operand whose sign of zero changes no bit of the results."""
    if node.domain or node.bodies:
        return False
    kind = node.op_type
    if kind in _FORGETFUL:
        return index == 0
    if kind in _COMPARISONS:
        return True
    if len(node.inputs) != 2:
        return False
    if kind == "Mul":
        # x * x is 0.0 for both zeros.
        return node.inputs[0] is node.inputs[1]
    if kind == "Pow" and index == 1:
        return True  # x to the power of 0 is 1
    numbers = _numbers(node.inputs[1 - index])
    if numbers is None or numbers.dtype.kind != "f":
        return False
    if kind in ("Add", "Sub"):
        # Beside another number than 0, both zeros give that number.
        return bool(numbers.all())
    # x to the power of 2 is 0.0 for both zeros.
    return kind == "Pow" and index == 0 and bool((numbers == np.float32(2)).all())


def _numbers(value: Value | None) -> Array | None:
    """The elements of a small constant; None for another value."""
    tensor = None if value is None else value.constant
    if tensor is None or tensor.is_sparse or not tensor.is_readable:
        return None
    return tensor.numpy() if 0 < tensor.size <= _MOST_READ and not tensor.is_external else None
