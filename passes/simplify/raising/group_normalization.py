"""Find GroupNormalization, which exporters write as InstanceNormalization of reshaped groups."""

from ....facts.fact import Shape
from ....ir import Array, Node, Operator, Value
from ....ops.axes import ONE as SINGLE
from .algebra import ONE, ZERO, Algebra, Sum
from .attention_scores import only_reader
from .parameters import parameter
from .reading import is_plain, uniform_number
from .replacement import Match, Site, has_elements

_BY_CHANNEL = 21
"""First opset with a scale and a bias for each channel."""


def group_normalization(site: Site, node: Node) -> Match | None:
    """Return the GroupNormalization around an InstanceNormalization of groups."""
    source, scale, bias = _grouped(site, node), node.input(1), node.input(2)
    if source is None or scale is None or bias is None or site.opset < _BY_CHANNEL:
        return None
    if not site.takes("GroupNormalization", site.elem_type(source)):
        return None
    if uniform_number(scale) != 1 or uniform_number(bias) != 0:
        return None
    shape, groups = site.shape(source), site.shape(node.output())
    root = only_reader(site, node.output())
    if not shape or not groups or root is None or not root.is_op("Reshape"):
        return None
    if not site.stands_for(source, root):
        return None
    attributes = {"num_groups": groups[1].value, "epsilon": node.attribute("epsilon", 1e-5)}
    op = Operator.make("GroupNormalization", **attributes)
    return _with_parameters(site, source, shape, op, root)


def _grouped(site: Site, node: Node) -> Value | None:
    """Tensor whose channels a Reshape splits into groups, each a row."""
    rows = node.input(0)
    reshape = site.producer(rows, "Reshape")
    if rows is None or reshape is None:
        return None
    source = reshape.input(0)
    shape = None if source is None else site.shape(source)
    groups = site.shape(rows)
    if not shape or not groups or min(len(shape), len(groups)) < 3 or not has_elements(shape):
        return None
    fits = shape[0] == groups[0] and groups[1].value is not None
    return source if fits and shape[1].divided_by(groups[1]) is not None else None


def _with_parameters(
    site: Site, source: Value, shape: Shape, op: Operator, root: Node
) -> Match | None:
    """Normalization with the scale and the bias that follow, where they are by channel."""
    parts: list[Value | Array | None] = []
    for op_type, neutral in (("Mul", ONE), ("Add", ZERO)):
        reader = only_reader(site, root.output())
        other = None
        if reader is not None and reader.is_op(op_type) and is_plain(reader):
            other = next((v for v in reader.inputs if v is not root.output()), None)
        operand = None if other is None else _by_channel(site, source, shape, other)
        if reader is not None and operand is not None and site.stands_for(source, reader):
            root = reader
        else:
            operand = _operand(site, Algebra(), source, shape, neutral)
        parts.append(operand)
    if parts[0] is None or parts[1] is None:
        return None
    return site.completed(Match(op, [source, *parts], root))


def _by_channel(site: Site, source: Value, shape: Shape, value: Value) -> Value | Array | None:
    algebra, number = Algebra(), uniform_number(value)
    one: Sum = algebra.of_value(value, site.shape(value))
    if number is not None:
        one = {(): number} if number else ZERO
    return _operand(site, algebra, source, shape, one)


def _operand(
    site: Site, algebra: Algebra, source: Value, shape: Shape, one: Sum
) -> Value | Array | None:
    columns = (shape[1], *[SINGLE] * (len(shape) - 2))
    return parameter(site, algebra, one, site.elem_type(source), shape[1:2], columns)
