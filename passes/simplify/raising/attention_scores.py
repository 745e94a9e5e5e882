"""Scores of an attention: queries times keys, a factor, and masks that are added."""

from typing import NamedTuple

from ....facts.types import IEEE_FLOATS
from ....ir import Node, Value
from .reading import is_plain, uniform_number
from .replacement import Site

_MOST_STEPS = 8
"""Most nodes between two of the operators."""
_MOST_MASKS = 3


class Scores(NamedTuple):
    """Product of queries and turned keys, times a scale, plus masks."""

    queries: Value
    keys: Value
    scale: float
    masks: tuple[Value, ...]


def only_reader(site: Site, value: Value) -> Node | None:
    """The one node that reads a value; None if another one, a body or the graph does."""
    users = site.graph.users(value)
    if len(users) != 1 or not isinstance(users[0], Node) or value.pinned:
        return None
    user = users[0]
    return user if not user.bodies and list(user.inputs).count(value) == 1 else None


def guarded(site: Site, value: Value) -> Value:
    """The value, or a choice of 0 in the place of its NaNs."""
    users = site.graph.users(value)
    tests = [u for u in users if isinstance(u, Node) and u.is_op("IsNaN")]
    if len(users) != 2 or len(tests) != 1 or value.pinned:
        return value
    choice = only_reader(site, tests[0].output())
    if choice is None or not choice.is_op("Where") or choice not in users:
        return value
    condition, number, other = choice.inputs
    is_guard = condition is tests[0].output() and other is value and number is not None
    if not is_guard or number is None or uniform_number(number) != 0:
        return value
    return choice.output() if site.shape(choice.output()) == site.shape(value) else value


def stripped(site: Site, value: Value) -> tuple[Value, float]:
    """A value without factors and casts, and the product of the factors."""
    factor = 1.0
    for _ in range(_MOST_STEPS):
        node = site.producer(value)
        if node is None or node.op.references:
            break
        below, number = _factor(node)
        if below is None or site.shape(below) != site.shape(value):
            break
        if site.elem_type(below) not in IEEE_FLOATS:
            break
        value, factor = below, factor * number
    return value, factor


def _factor(node: Node) -> tuple[Value | None, float]:
    """The operand of a cast or of a product with a number, and that number."""
    if node.is_op("Cast", "Identity"):
        return node.input(0), 1.0
    if not node.is_op("Mul", "Div") or not is_plain(node):
        return None, 1.0
    one, other = node.input(0), node.input(1)
    number = None if other is None else uniform_number(other)
    if number and node.is_op("Div"):
        return one, 1 / number
    if number and node.is_op("Mul"):
        return one, number
    number = None if one is None or node.is_op("Div") else uniform_number(one)
    return (other, number) if number else (None, 1.0)


def scores_of(site: Site, softmax: Node) -> Scores | None:
    """Scores of which a Softmax is taken."""
    value = softmax.input(0)
    return None if value is None else _scores(site, value, _MOST_MASKS)


def _scores(site: Site, value: Value, masks: int) -> Scores | None:
    below, factor = stripped(site, value)
    node = site.producer(below)
    if node is None:
        return None
    one, other = node.input(0), node.input(1)
    if one is None or other is None:
        return None
    if node.is_op("MatMul"):
        return Scores(one, other, factor, ())
    if not node.is_op("Add") or not is_plain(node) or factor != 1 or not masks:
        return None
    for part, mask in ((one, other), (other, one)):
        if site.shape(part) == site.shape(below):
            scores = _scores(site, part, masks - 1)
            if scores is not None:
                return scores._replace(masks=(*scores.masks, mask))
    return None
