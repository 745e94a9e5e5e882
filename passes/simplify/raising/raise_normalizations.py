"""Replace longer forms of normalizations by LayerNormalization, RMSNormalization and others.

m = ReduceMean (x)   d = Sub (x, m)   p = Pow (d, 2)   v = ReduceMean (p)
e = Add (v, epsilon)   s = Sqrt (e)   n = Div (d, s)   t = Mul (n, scale)   y = Add (t, bias)
->
y = LayerNormalization <epsilon = 0.00001> (x, scale, bias)

Emits LayerNormalization from opset 17 on, RMSNormalization 23, InstanceNormalization 6,
GroupNormalization 21. Values are compared as sums of products of powers, so spellings, orders of
operands and Casts between floats do not matter. Scale and bias are absorbed where they have the
shape of the operand.

Kept: an epsilon outside of the root or not constant, doubles, and channels of images of open sizes,
since kernels of InstanceNormalization fail on an empty batch.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ....facts.fact import Shape
from ....ir import Array, Node, Operator, Value
from ....ops.axes import ONE as _ONE
from ....records import record
from .algebra import Factors, Sum, Unreadable, close, equal
from .group_normalization import group_normalization
from .parameters import parameter
from .reading import Reading, constant_exponent, is_readable, uniform_number
from .region import LONGEST_WALK, MOST_ROOTS, nodes_after, nodes_around, nodes_before, through_casts
from .replacement import FLOAT, HALF, Match, Raising, Site, has_elements, nodes_between

_SQUARES = ("ReduceSumSquare", "ReduceL2")
_REDUCTIONS = ("ReduceMean", "ReduceSum", *_SQUARES)


_LAYER, _INSTANCE, _RMS = "LayerNormalization", "InstanceNormalization", "RMSNormalization"


_COLUMNS = 3
"""The least rank of an instance normalization; such a one alone has a faster kernel for rows."""

_NEUTRAL = {
    **{("Add", 0): 0.0, ("Add", 1): 0.0, ("Sub", 1): 0.0},
    **{("Mul", 0): 1.0, ("Mul", 1): 1.0, ("Div", 1): 1.0},
}
"""Numbers that change nothing, by the operator and the place of the operand."""

_LINEAR, _UNARY = ("Add", "Sub", "Sum", "Mul", "Div"), ("Cast", "Identity", "Neg", "Reciprocal")
"""Operators after a root that a normalization may consist of."""


@record(frozen=True)
class RaiseNormalizations(Raising):
    """Replace longer forms of normalizations by the operators of the opset.

    Options:
        without_kernel: emit GroupNormalization too, for which onnxruntime has no kernel.
    """

    name: ClassVar[str] = "raise-normalizations"
    seeds: ClassVar[tuple[str, ...]] = ("Sqrt", "Pow", "ReduceL2", "InstanceNormalization")
    without_kernel: bool = False

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the normalization that divides by a root."""
        if seed.is_op("InstanceNormalization"):
            return group_normalization(site, seed) if self.without_kernel else None
        if seed.is_op("Pow") and constant_exponent(seed) not in (0.5, -0.5):
            return None
        before = dict.fromkeys(nodes_before(site.graph, seed))
        others = nodes_after(site.graph, seed.output(), MOST_ROOTS)
        for source in _sources(site, before):
            may_match = _may_match(site, seed, source, before, others)
            match = _match(site, seed, source) if may_match else None
            if match is not None:
                return match
        return None


class _Form(NamedTuple):
    """Normalization by the root of a variance.

    Attributes:
        shape: the shape of the normalized tensor.
        axes: the axes from the end, 1 for the last.
        epsilon: the number beside the variance.
        root: the number of the atom of which the root is taken.
        deviation: the tensor, or its difference from its mean.
        is_centered: whether it is the difference.
    """

    reading: Reading
    shape: Shape
    axes: tuple[int, ...]
    epsilon: float
    root: int
    deviation: Sum
    is_centered: bool


def _sources(site: Site, before: Iterable[Node]) -> Iterator[Value]:
    """Values that may be normalized: operands of reductions, and what is squared there."""
    operands: dict[Value, None] = {}
    for node in before:
        operand = node.input(0)
        if operand is None or not node.is_op(*_REDUCTIONS):
            continue
        square = operand.producer
        is_square = square is not None and square.is_op("Mul", "Pow") and not node.is_op(*_SQUARES)
        if is_square and square is not None and square.graph is site.graph:
            operand = square.input(0)
        if operand is not None:
            operands[operand] = None
    for value in reversed(operands):
        yield from reversed(list(through_casts(site.graph, value)))


def _may_match(
    site: Site, seed: Node, source: Value, before: Collection[Node], after: Collection[Node]
) -> bool:
    """Test the surroundings of a root for an operator of the opset.

    Args:
        before: the nearest nodes that the root depends on.
        after: the nearest nodes that depend on the root.
    """
    shape, elem_type = site.shape(source), site.elem_type(source)
    if not shape or site.takes(_RMS, elem_type):
        return bool(shape)
    if _is_only_squared(site, source, before, after):
        return False
    if site.takes(_LAYER, elem_type):
        return True
    if len(shape) < _COLUMNS or not has_elements(shape):
        return False
    return len(shape) > _COLUMNS or _reads_parameter(site, seed, after)


def _reads_parameter(site: Site, seed: Node, after: Collection[Node]) -> bool:
    """Test for a scale or bias that is one number along the last axis.

    No form goes on beyond an operand that varies along it, but for the deviation itself.
    """
    waiting = [seed.output()]
    for value in waiting:
        is_narrow = _is_narrow(site, value)
        for node in site.graph.users(value):
            if not isinstance(node, Node) or node not in after or node.output() in waiting:
                continue
            if node.is_op(*_UNARY):
                waiting.append(node.output())
            elif node.is_op(*_LINEAR):
                others = [v for v in node.inputs if v is not value]
                kinds = {_kind(site, node, v) for v in others if v and v.producer not in after}
                if "parameter" in kinds:
                    return True
                if is_narrow or "wide" not in kinds:
                    waiting.append(node.output())
    return False


def _is_narrow(site: Site, value: Value) -> bool:
    """Test for one number along the last axis."""
    shape = site.shape(value)
    return shape is None or shape[-1:] in ((), (_ONE,))


def _kind(site: Site, node: Node, value: Value) -> str:
    """Tell neutral operands from parameters along other axes, and from wide ones."""
    number = uniform_number(value)
    if number is not None and number == _NEUTRAL.get((node.op_type, node.inputs.index(value))):
        return "neutral"
    return "parameter" if number is not None or _is_narrow(site, value) else "wide"


def _is_only_squared(
    site: Site, source: Value, before: Collection[Node], after: Container[Node]
) -> bool:
    """Test that only squares of a value lead to a root.

    Args:
        before: the nearest nodes that the root depends on.
        after: nodes that depend on the root.
    """
    # A walk that was cut off may lack nodes that lead to the root.
    is_whole = len(before) <= LONGEST_WALK
    for user in site.graph.users(source):
        if not isinstance(user, Node) or user in after or not is_readable(user):
            continue
        if is_whole and user not in before:
            continue
        is_square = user.is_op("Mul") and user.inputs[0] is user.inputs[1]
        is_square |= user.is_op("Pow") and constant_exponent(user) == 2
        if not (is_square or user.is_op(*_SQUARES)):
            return False
    return True


def _match(site: Site, seed: Node, source: Value) -> Match | None:
    region = nodes_around(site.graph, source, seed)
    shape = site.shape(source)
    if seed not in region or not shape or site.elem_type(source) not in (FLOAT, HALF):
        return None
    reading = Reading(source, region, site.inference)
    form = _form(reading, shape, seed)
    names = () if form is None else _operators(site, form, source)
    best: Match | None = None
    for root in nodes_after(site.graph, seed.output(), MOST_ROOTS) if names else ():
        if form is None or root not in region or not site.stands_for(source, root):
            continue
        match = _normalization(site, form, names, source, root)
        match = None if match is None else site.completed(match)
        # The form that makes most nodes unused has scale and bias in it.
        if match is None or (best is not None and len(best.unused) >= len(match.unused)):
            continue
        if set(nodes_between(site.graph, source, root, region)) <= set(match.unused):
            best = match
    return best


def _form(reading: Reading, shape: Shape, seed: Node) -> _Form | None:
    """Form whose root a node takes."""
    algebra = reading.algebra
    root = reading.of(seed.output())
    key = next(iter(root)) if len(root) == 1 else ()
    if len(key) != 1 or algebra.atoms[key[0][0]].kind != "base" or abs(key[0][1]) != 0.5:
        return None
    (variance,) = algebra.atoms[key[0][0]].parts
    sums = [algebra.atoms[number] for product in variance for number, _ in product]
    axes = {atom.extra[0] for atom in sums if atom.kind == "sum"}
    epsilon = variance.get((), 0.0)
    if len(axes) != 1 or not _is_float32(epsilon):
        return None
    (back,) = axes
    assert isinstance(back, tuple)
    along = [len(shape) - each for each in back]
    if min(along) < 0:
        return None
    rest = {product: number for product, number in variance.items() if product}
    x, number = reading.source, key[0][0]
    try:
        squares = algebra.mean_along(algebra.multiply(x, x), shape, along)
        if equal(squares, rest):
            return _Form(reading, shape, back, epsilon, number, x, is_centered=False)
        mean = algebra.mean_along(x, shape, along)
        if equal(algebra.subtract(squares, algebra.multiply(mean, mean)), rest):
            deviation = algebra.subtract(x, mean)
            return _Form(reading, shape, back, epsilon, number, deviation, is_centered=True)
    except Unreadable:
        return None
    return None


def _is_float32(epsilon: float) -> bool:
    """Test for a number above 0 that float32 holds but for rounding."""
    tiny = float(np.finfo(np.float32).tiny)
    return tiny <= epsilon < 1e30 and close(float(np.float32(epsilon)), epsilon)


def _operators(site: Site, form: _Form, source: Value) -> list[str]:
    """Operators of the opset for the axes, the preferred one first."""
    names, rank, elem_type = list[str](), len(form.shape), site.elem_type(source)
    count = len(form.axes)
    if form.axes == tuple(range(1, count + 1)) and count <= rank:
        names.append(_LAYER if form.is_centered else _RMS)
    if form.axes == tuple(range(1, rank - 1)) and form.is_centered and has_elements(form.shape):
        names.append(_INSTANCE)
    return [name for name in names if site.takes(name, elem_type)]


def _normalization(
    site: Site, form: _Form, names: Sequence[str], source: Value, root: Node
) -> Match | None:
    """Normalization that a node ends, by one of some operators."""
    parts = _scale_and_bias(form, form.reading.of(root.output()))
    if parts is None:
        return None
    elem_type, rank, inputs = site.elem_type(source), len(form.shape), None
    count = len(form.axes)
    # RMSNormalization has no bias.
    if names[0] != _INSTANCE and (form.is_centered or not parts[1]):
        normalized = form.shape[-count:]
        needed = parts if parts[1] else parts[:1]
        inputs = _operands(site, form, needed, elem_type, normalized, normalized)
        if inputs is not None:
            op = Operator.make(names[0], axis=-count, epsilon=form.epsilon)
            return Match(op, [source, *inputs], root)
    if names[-1] != _INSTANCE:
        return None
    if rank == _COLUMNS and parts == ({(): 1.0}, {}):
        return None  # runtimes fuse rows into a faster kernel
    channels = form.shape[1:2]
    columns = (*channels, *[_ONE] * (rank - 2))
    inputs = _operands(site, form, parts, elem_type, channels, columns)
    op = Operator.make(_INSTANCE, epsilon=form.epsilon)
    return None if inputs is None else Match(op, [source, *inputs], root)


def _operands(
    site: Site, form: _Form, parts: Sequence[Sum], elem_type: int, shape: Shape, operand: Shape
) -> list[Value | Array] | None:
    """Scale and bias as operands."""
    algebra = form.reading.algebra
    values = [parameter(site, algebra, each, elem_type, shape, operand) for each in parts]
    return None if any(v is None for v in values) else [v for v in values if v is not None]


def _scale_and_bias(form: _Form, one: Sum) -> tuple[Sum, Sum] | None:
    """Sums by which a normalized tensor is multiplied, and that are added to it."""
    algebra = form.reading.algebra
    over, bias = _divide(one, form.root)
    ((tensor, _),) = next(iter(form.reading.source))
    scaled = [key for key in over if (tensor, 1.0) in key]
    if len(scaled) != 1:
        return None
    factors = tuple([each for each in scaled[0] if each[0] != tensor])
    scale: Sum = {factors: over[scaled[0]]}
    try:
        if not equal(algebra.multiply(scale, form.deviation), over):
            return None
    except Unreadable:
        return None
    return scale, bias


def _divide(one: Sum, root: int) -> tuple[Sum, Sum]:
    """Factor of an inverse root in a sum, and the rest of the sum."""
    factor: dict[Factors, float] = {}
    rest: dict[Factors, float] = {}
    for key, number in one.items():
        if (root, -0.5) in key:
            factor[tuple([each for each in key if each[0] != root])] = number
        else:
            rest[key] = number
    return factor, rest
