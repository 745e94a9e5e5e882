"""Replace longer forms of activations by Gelu, Mish, HardSwish, Swish, Softplus and Softmax.

d = Div (x, 1.4142135)   e = Erf (d)   f = Add (e, 1)   g = Mul (x, f)   y = Mul (g, 0.5)
->
y = Gelu (x)

Emits Gelu (also by tanh) from opset 20 on, Mish 18, HardSwish 14, Softplus 1, Softmax and
LogSoftmax 1 (below 13 along the last axis), Swish 24 by option. Kept: Softmax along an axis that
may be empty, doubles without a kernel.
"""

import math
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

from ....facts.fact import Shape
from ....ir import Node, Operator, Value
from ....records import record
from .algebra import ONE, Algebra, Sum, Unreadable, equal
from .reading import Reading, clip, erf, log, sigmoid, softplus, tanh
from .region import MOST_ROOTS, nodes_after, nodes_around, nodes_before, through_casts
from .replacement import Match, Raising, Site, nodes_between

_MOST_SOURCES = 4
"""Most values that are tried as the argument of one function."""


@record(frozen=True)
class RaiseActivations(Raising):
    """Replace longer forms of activations by the operators of the opset.

    Options:
        without_kernel: emit Swish too, which takes onnxruntime longer than its longer form.
    """

    name: ClassVar[str] = "raise-activations"
    seeds: ClassVar[tuple[str, ...]] = (
        *("Clip", "Erf", "Exp", "HardSigmoid", "Log", "ReduceLogSumExp", "Sigmoid", "Tanh"),
    )

    without_kernel: bool = False

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the activation around a function."""
        forms = [form for form in _FORMS if seed.op_type in form.seeds and site.has(form.op_type)]
        forms = [form for form in forms if self.without_kernel or not form.is_slower]
        if not forms:
            return None
        tries = [_match(site, seed, source, forms) for source in _sources(site, seed)]
        matches = [match for match in tries if match is not None]
        return max(matches, default=None, key=lambda match: len(match.unused))


class _Argument(NamedTuple):
    """Argument of an activation: its sum, its shape, and the axes of sums from the end."""

    algebra: Algebra
    x: Sum
    shape: Shape
    axes: tuple[int, ...]
    opset: int


class _Form(NamedTuple):
    """Activation.

    Attributes:
        seeds: operators of its longer forms.
        formula: nodes and the sums that they compute.
        doubles: true if onnxruntime has a kernel for doubles.
        is_slower: true if onnxruntime has no kernel, and its function takes longer.
    """

    op_type: str
    seeds: tuple[str, ...]
    formula: Callable[[_Argument], Iterator[tuple[Operator, Sum]]]
    doubles: bool = False
    is_slower: bool = False


def _sources(site: Site, seed: Node) -> Iterator[Value]:
    """Values that may be the argument: those with several readers, and the operand itself."""
    sources: dict[Value, None] = {}
    for node in nodes_before(site.graph, seed):
        for value in node.inputs:
            if value is None or value.constant is not None:
                continue
            producer = value.producer
            is_end = producer is None or producer.graph is not site.graph
            if node is seed or is_end or len(site.graph.users(value)) > 1:
                sources.update(dict.fromkeys(through_casts(site.graph, value)))
    return iter(list(sources)[:_MOST_SOURCES])


def _match(site: Site, seed: Node, source: Value, forms: list[_Form]) -> Match | None:
    region = nodes_around(site.graph, source, seed)
    shape, elem_type = site.shape(source), site.elem_type(source)
    forms = [form for form in forms if site.takes(form.op_type, elem_type, form.doubles)]
    if seed not in region or shape is None or not forms:
        return None
    reading = Reading(source, region, site.inference)
    best: Match | None = None
    for root in (seed, *nodes_after(site.graph, seed.output(), MOST_ROOTS)):
        if root not in region or not site.stands_for(source, root):
            continue
        op = _operator(site, reading, shape, root, forms)
        match = None if op is None else site.completed(Match(op, [source], root))
        # Of an activation and its parts, the whole makes most nodes unused.
        if match is None or (best is not None and len(best.unused) >= len(match.unused)):
            continue
        # Else nodes stay for other readers, and the function is computed twice.
        if set(nodes_between(site.graph, source, root, region)) <= set(match.unused):
            best = match
    return best


def _operator(
    site: Site, reading: Reading, shape: Shape, root: Node, forms: list[_Form]
) -> Operator | None:
    """Activation that a node computes of the source."""
    one, algebra = reading.of(root.output()), reading.algebra
    sums = [atom for atom in algebra.atoms if atom.kind == "sum"]
    axes = sums[0].extra[0] if sums else ()
    assert isinstance(axes, tuple)
    argument = _Argument(algebra, reading.source, shape, axes, site.opset)
    for form in forms:
        try:
            candidates = list(form.formula(argument))
        except Unreadable:
            continue
        for op, expected in candidates:
            if equal(one, expected):
                return op
    return None


def _gelu(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    algebra, x = argument.algebra, argument.x
    inner = erf(algebra, algebra.scale(x, math.sqrt(0.5)))
    whole = algebra.multiply(x, algebra.add(ONE, inner))
    yield Operator.make("Gelu"), algebra.scale(whole, 0.5)


def _gelu_of_tanh(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))."""
    algebra, x = argument.algebra, argument.x
    cube = algebra.scale(algebra.power(x, 3.0), 0.044715)
    inner = tanh(algebra, algebra.scale(algebra.add(x, cube), math.sqrt(2 / math.pi)))
    whole = algebra.multiply(x, algebra.add(ONE, inner))
    yield Operator.make("Gelu", approximate="tanh"), algebra.scale(whole, 0.5)


def _mish(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """x * tanh(log(1 + exp(x)))."""
    algebra, x = argument.algebra, argument.x
    yield Operator.make("Mish"), algebra.multiply(x, tanh(algebra, softplus(algebra, x)))


def _hard_swish(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """x * clip(x + 3, 0, 6) / 6."""
    algebra, x = argument.algebra, argument.x
    whole = algebra.multiply(x, clip(algebra, algebra.add(x, {(): 3.0}), 0.0, 6.0))
    yield Operator.make("HardSwish"), algebra.scale(whole, 1 / 6)


def _swish(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """x * sigmoid(alpha * x), with the factor of an exponential of the model."""
    algebra, x = argument.algebra, argument.x
    for factor in _exponents(algebra, x):
        whole = algebra.multiply(x, sigmoid(algebra, algebra.scale(x, factor)))
        yield Operator.make("Swish", alpha=factor), whole


def _exponents(algebra: Algebra, x: Sum) -> list[float]:
    """Factors of x in exponentials."""
    (key,) = x
    parts = [atom.parts[0] for atom in algebra.atoms if atom.kind == "exp"]
    return [part[key] for part in parts if key in part]


def _softplus(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """log(1 + exp(x))."""
    yield Operator.make("Softplus"), softplus(argument.algebra, argument.x)


def _softmax(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """exp(x) / sum(exp(x))."""
    algebra, axis = argument.algebra, _softmax_axis(argument)
    power = algebra.exp(argument.x)
    total = algebra.sum_along(power, argument.shape, [axis % len(argument.shape)])
    whole = algebra.multiply(power, algebra.power(total, -1.0))
    yield Operator.make("Softmax", axis=axis), whole


def _log_softmax(argument: _Argument) -> Iterator[tuple[Operator, Sum]]:
    """x - log(sum(exp(x)))."""
    algebra, axis = argument.algebra, _softmax_axis(argument)
    power = algebra.exp(argument.x)
    total = algebra.sum_along(power, argument.shape, [axis % len(argument.shape)])
    yield (
        Operator.make("LogSoftmax", axis=axis),
        algebra.subtract(argument.x, log(algebra, total)),
    )


def _softmax_axis(argument: _Argument) -> int:
    """The one axis of the sums, which has an element; before opset 13 the last one."""
    shape, axes = argument.shape, argument.axes
    # Below opset 13, Softmax takes all axes from `axis` on as one.
    if len(axes) != 1 or axes[0] > len(shape) or (axes[0] > 1 and argument.opset < 13):
        raise Unreadable
    if (shape[-axes[0]].at_least or 0) < 1:
        raise Unreadable
    return -axes[0] if argument.opset >= 13 else len(shape) - 1


_EXPONENTIALS = ("Exp", "Sigmoid")
_FORMS = (
    _Form("Gelu", ("Erf",), _gelu),
    _Form("Gelu", ("Tanh", *_EXPONENTIALS), _gelu_of_tanh),
    _Form("Mish", ("Tanh",), _mish, doubles=True),
    _Form("HardSwish", ("Clip", "HardSigmoid"), _hard_swish),
    _Form("Swish", _EXPONENTIALS, _swish, is_slower=True),
    _Form("Softplus", ("Log",), _softplus),
    _Form("Softmax", ("Exp",), _softmax, doubles=True),
    _Form("LogSoftmax", ("Log", "ReduceLogSumExp"), _log_softmax, doubles=True),
)
