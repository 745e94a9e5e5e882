"""Rules of the checker: each derives from one term another one that is equal to it.

A rule is "safe" if its conditions exclude that the node fails, a "spelling" if both nodes fail on
the same operands, "weaker" if the derived node fails only where the other one does, and a "value"
if it says nothing about failures: where a node fails, any value is as good as another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import onnx

from ...ir import Array, Tensor
from .folding import fold, is_exact
from .inference import broadcast
from .meaning import head_of
from .polynomials import multiply, text_of
from .sizes import SIZE_OPERATORS, elements_of, sizes_in
from .terms import ABSENT, COMMUTATIVE, Fact, Head, Node, Terms

NOTIONS = ("bits", "values", "reals")
"""Notions of equality, the strongest first."""
Kind = Literal["safe", "spelling", "weaker", "value"]
Derivation = Callable[[Terms, Node, Fact], "int | None"]
"""Function of a term and its fact; None if the rule does not apply."""


class Rule(NamedTuple):
    """Rule of derivation, with the operators that it is about; none of them stands for all."""

    derive: Derivation
    operators: frozenset[str]
    kind: Kind
    notion: str = "bits"


RULES: dict[str, Rule] = {}
"""Rules by the name that certificates have for them."""
BROADCASTING = {"Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
BROADCASTING |= {"Max", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Where", "Xor"}
"""Operators whose operands broadcast, from the version below on."""
_BROADCASTS = 7
_INTEGERS = (2, 3, 4, 5, 6, 7, 12, 13)
FOLDED = "of constants gives the same bits in the runtime"
"""Assumption about an operator that rounds in between."""


def _rule(
    name: str, *operators: str, kind: Kind, notion: str = "bits"
) -> Callable[[Derivation], Derivation]:
    def register(derive: Derivation) -> Derivation:
        RULES[name] = Rule(derive, frozenset(operators), kind, notion)
        return derive

    return register


def assumption_of(terms: Terms, rule: str, node: Node) -> str | None:
    """Assumption of a step."""
    if rule != "constant-folding" or is_exact(node.head, arrays_of(terms, node.args)):
        return None
    return f"{node.head.name} {FOLDED}"


def arrays_of(terms: Terms, args: tuple[int, ...]) -> list[Array | None]:
    """Values of arguments that are constants."""
    tensors = [terms.tensor(arg) for arg in args]
    return [None if tensor is None else tensor.numpy() for tensor in tensors]


@_rule("constant-folding", kind="safe")
def constant_folding(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Compute an operator on constants."""
    if any(arg != ABSENT and terms.tensor(arg) is None for arg in node.args):
        return None
    results = fold(node.head, arrays_of(terms, node.args))
    return None if results is None else terms.constant(results[node.output])


@_rule("identity", "Identity", kind="safe")
def identity(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop an Identity."""
    return node.args[0]


@_rule("dropout-in-inference", "Dropout", kind="safe")
def dropout(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop a Dropout that is not in training."""
    mode = terms.tensor(node.args[2]) if len(node.args) > 2 else None
    trains = len(node.args) > 2 and (mode is None or bool(mode.numpy().any()))
    # A runtime may refuse a ratio that inference ignores.
    has_ratio = len(node.args) > 1 and node.args[1] != ABSENT
    ratio = terms.tensor(node.args[1]) if has_ratio else None
    is_ratio = ratio is not None and bool((ratio.numpy() >= 0).all() and (ratio.numpy() < 1).all())
    is_plain = node.output == 0 and node.head.version >= 7 and (is_ratio or not has_ratio)
    return node.args[0] if is_plain and not trains else None


@_rule("cast-to-own-type", "Cast", kind="safe")
def cast(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop a Cast to the type that the operand has."""
    own = terms.fact(node.args[0]).elem_type
    return node.args[0] if own and node.head.attribute("to") == own else None


_MOVED: dict[str, tuple[int, list[str]]] = {
    **dict.fromkeys(["Squeeze", "Unsqueeze", "ReduceSum"], (13, ["axes"])),
    "Slice": (10, ["starts", "ends", "axes"]),
    "Split": (18, ["split"]),
}
_REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare"]
_MOVED |= {f"Reduce{name}": (18, ["axes"]) for name in _REDUCTIONS}
"""First version with attributes as inputs, and the attributes in the order of these inputs."""


@_rule("attributes-as-inputs", *_MOVED, kind="spelling")
def attributes_as_inputs(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Give attributes as the inputs that they became."""
    head, (since, names) = node.head, _MOVED[node.head.name]
    if head.name == "Split" and len(node.args) == 1 and head.attribute("split") is None:
        since = 13
    back = head.version < 11 and min(head.integers("axes") or [0]) < 0  # not before opset 11
    if head.version >= since or back or (head.name != "Split" and len(node.args) != 1):
        return None
    numbers = [_listed(terms, head.integers(name)) or (ABSENT,) for name in names]
    attributes = head.changed(**dict.fromkeys(names)).attributes
    newer = head_of(head.name, "", since, attributes, head.outputs)
    return terms.add(newer, (*node.args, *[arg for (arg,) in numbers]), fact, node.output)


@_rule("parts-of-known-number", "Split", kind="weaker")
def parts_of_known_number(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Name the number of equal parts; from opset 18 on the last one may be smaller."""
    if node.head.version != 13 or len(node.args) != 1:
        return None
    newer = node.head.changed(num_outputs=node.head.outputs)._replace(version=18)
    return terms.add(newer, node.args, fact, node.output)


@_rule("parts-of-known-size", "Split", kind="spelling")
def parts_of_known_size(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Give the sizes of equal parts as an input; the last one may be smaller."""
    head, shape, axis = node.head, terms.fact(node.args[0]).shape or (), node.head.integer("axis")
    size = shape[axis] if -len(shape) <= axis < len(shape) else None
    fits = head.attribute("num_outputs") == head.outputs
    if len(node.args) != 1 or head.version != 18 or not fits or not isinstance(size, int):
        return None
    each = -(-size // head.outputs)
    last = size - each * (head.outputs - 1)
    sizes = _listed(terms, [each] * (head.outputs - 1) + [last])
    newer = head.changed(num_outputs=None)
    # onnxruntime 1.32 refuses an empty last part, and the reference has one.
    return terms.add(newer, (*node.args, *sizes), fact, node.output) if last > 0 else None


@_rule("softmax-along-last-axis", "Softmax", "LogSoftmax", "Hardmax", kind="spelling")
def softmax(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Softmax of a matrix as one along the last axis; axes of size 1 may follow."""
    head, shape, axis = node.head, terms.fact(node.args[0]).shape, node.head.integer("axis")
    inside = shape is not None and -len(shape) <= axis < len(shape)
    ends = axis == -1 or (shape and inside and {*shape[axis % len(shape) + 1 :]} <= {1})
    old = head.version == 11  # with an axis that its opset takes
    return terms.add(head._replace(version=13), node.args, fact) if ends and old else None


@_rule(
    "axis-from-the-front",
    *("ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Gather", "GatherElements", "Hardmax"),
    *("LayerNormalization", "LogSoftmax", "LpNormalization", "ScatterElements", "Softmax"),
    *("Split", "TopK"),
    kind="spelling",
)
def axis_from_the_front(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Count an axis of the first operand from the front."""
    shape, axis = terms.fact(node.args[0]).shape, node.head.attribute("axis")
    if shape is None or not isinstance(axis, int) or not -len(shape) <= axis < 0:
        return None
    return terms.add(node.head.changed(axis=axis + len(shape)), node.args, fact, node.output)


@_rule("axes-from-the-front", *_MOVED, kind="spelling")
def axes_from_the_front(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Count the axes of an input from the front."""
    place = 3 if node.head.name == "Slice" else 1
    has_axes = len(node.args) > place and node.head.name != "Split"
    axes = terms.numbers(node.args[place]) if has_axes else None
    shape = terms.fact(node.args[0]).shape
    if axes is None or shape is None:
        return None
    rank = len(shape) + (len(axes) if node.head.name == "Unsqueeze" else 0)
    if not all(-rank <= axis < rank for axis in axes) or min(axes, default=0) >= 0:
        return None
    counted = _listed(terms, [axis % rank for axis in axes])
    return terms.add(node.head, (*node.args[:place], *counted, *node.args[place + 1 :]), fact)


@_rule("all-axes", *_MOVED, kind="spelling")
def all_axes(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write out the axes of a reduction over all of them."""
    head, shape = node.head, terms.fact(node.args[0]).shape
    if not head.name.startswith("Reduce") or head.version < _MOVED[head.name][0] or not shape:
        return None
    empty = len(node.args) == 1 or terms.numbers(node.args[1]) == []
    if head.integer("noop_with_empty_axes") or not empty:
        return None
    return terms.add(head, (node.args[0], *_listed(terms, [*range(len(shape))])), fact)


@_rule("indices-from-the-front", "Gather", kind="spelling")
def indices_from_the_front(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Gather before opset 11 as a later one, if no index is negative."""
    indices = terms.numbers(node.args[1])
    if node.head.version >= 11 or indices is None or min(indices, default=0) < 0:
        return None
    newer = head_of("Gather", "", 11, node.head.attributes, 1)
    return terms.add(newer, node.args, fact)


@_rule("reshape-without-zeros", "Reshape", kind="spelling")
def reshape_without_zeros(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop `allowzero` of a Reshape whose sizes are not 0."""
    sizes = terms.numbers(node.args[1]) if node.head.integer("allowzero") else None
    if sizes is None or 0 in sizes:
        return None
    return terms.add(node.head.changed(allowzero=0), node.args, fact)


@_rule("known-elements", *SIZE_OPERATORS, kind="safe")
def known_elements(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Compute small integers that depend on known sizes, or on the signs of sizes."""
    if fact.elem_type not in (onnx.TensorProto.INT64, onnx.TensorProto.BOOL):
        return None
    elements = elements_of(terms, node)
    if elements is None or None in elements.flat:
        return None
    if not all(isinstance(element, int) for element in elements.flat):
        key = elements.shape, tuple(map(text_of, elements.flat))
        return terms.add(Head("elements", key=key), (), fact)
    return terms.constant(elements.astype(onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)))


@_rule("expand-to-own-shape", "Expand", kind="safe")
def expand_to_own_shape(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop an Expand to sizes that its operand has, or that are 1."""
    shape, sizes = terms.fact(node.args[0]).shape, sizes_in(terms, node.args[1])
    if shape is None or sizes is None or len(sizes) > len(shape):
        return None
    ends = shape[len(shape) - len(sizes) :]
    same = all(dim is not None and size in (dim, 1) for dim, size in zip(ends, sizes, strict=True))
    return node.args[0] if same else None


@_rule("bias-of-equal-elements", "Gemm", kind="spelling")
def bias_of_equal_elements(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write a bias of equal elements as a scalar, if its shape fits."""
    tensor = terms.tensor(node.args[2]) if len(node.args) > 2 else None
    if node.head.version < _BROADCASTS or tensor is None or not tensor.dims:
        return None
    element = _only(terms, tensor)
    fits = broadcast([fact.shape, tuple(tensor.dims)]) == fact.shape is not None
    return (
        terms.add(node.head, (*node.args[:2], element), fact)
        if fits and element is not None
        else None
    )


def _only(terms: Terms, tensor: Tensor) -> int | None:
    """Scalar with the element of a tensor of equal elements; None for others."""
    array = tensor.numpy()
    element = array.reshape(-1)[:1]
    same = element.size and array.tobytes() == element.tobytes() * array.size
    return terms.constant(element.reshape(())) if same else None


@_rule("equal-elements", *BROADCASTING, kind="spelling")
def equal_elements(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write equal elements as a scalar, if other operands have the shape."""
    if node.head.version < _BROADCASTS or fact.shape is None:
        return None
    args = [*node.args]
    for place, arg in enumerate(args):
        tensor = terms.tensor(arg)
        shapes = [terms.fact(other).shape for k, other in enumerate(args) if k != place]
        if tensor is None or not tensor.dims or broadcast(shapes) != fact.shape:
            continue
        element = _only(terms, tensor)
        args[place] = args[place] if element is None else element
    return terms.add(node.head, tuple(args), fact) if tuple(args) != node.args else None


_NEUTRAL = {"Add": -0.0, "And": 1, "Div": 1, "Mul": 1, "Or": 0, "Sub": 0.0}
"""Second operands that change nothing, bit for bit; also first ones of those that commute."""


@_rule("neutral-element", *_NEUTRAL, kind="safe")
def neutral_element(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop a neutral element, where the other operand has the shape."""
    whole = node.head.name == "Add" and fact.elem_type in _INTEGERS
    return _other_than(terms, node, fact, 0 if whole else _NEUTRAL[node.head.name])


@_rule("plus-zero", "Add", kind="safe", notion="values")
def plus_zero(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop an addition of 0.0, which turns -0.0 into 0.0."""
    return _other_than(terms, node, fact, 0.0)


def _other_than(terms: Terms, node: Node, fact: Fact, number: float) -> int | None:
    """Operand beside a number, if it has the shape of the result."""
    for x, other in (node.args, node.args[::-1])[: 2 if node.head.name in COMMUTATIVE else 1]:
        same = fact.shape is not None and terms.fact(x).shape == fact.shape
        if same and node.head.version >= _BROADCASTS and is_filled(terms, other, number):
            return x
    return None


def is_filled(terms: Terms, term: int, number: float) -> bool:
    """Test for a tensor of one number, bit for bit, where it has elements."""
    expanded = [node.args[0] for node in terms.operators(term, "Expand")]
    tensors = [terms.tensor(each) for each in (term, *expanded)]
    arrays = [each.numpy() for each in tensors if each is not None and each.size]
    for node in terms.operators(term, "ConstantOfShape"):
        value = node.head.attribute("value")
        arrays.append(np.zeros(1, np.float32) if value is None else Tensor(value).numpy())
    plain = [array for array in arrays if array.dtype.kind in "biuf"]
    elements = [np.array(number).astype(array.dtype).tobytes() for array in plain]
    return any(a.tobytes() == e * a.size for a, e in zip(plain, elements, strict=True))


@_rule("sum-of-negative", "Add", kind="spelling")
def sum_of_negative(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Write the addition of a negative as a difference."""
    for x, other in (node.args, node.args[::-1]):
        for negative in terms.operators(other, "Neg"):
            if node.head.version >= _BROADCASTS and fact.elem_type not in _INTEGERS:
                head = head_of("Sub", "", 14, (), 1)
                return terms.add(head, (x, *negative.args), fact)
    return None


@_rule("zero-states", "GRU", "LSTM", "RNN", kind="weaker")
def zero_states(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Leave out initial states of zeros."""
    states = [ABSENT if is_filled(terms, arg, 0.0) else arg for arg in node.args[5:7] if arg >= 0]
    if len(states) < len(node.args[5:7]) or ABSENT not in states:
        return None
    return terms.add(node.head, (*node.args[:5], *states, *node.args[7:]), fact, node.output)


@_rule("view", "Reshape", "Squeeze", "Unsqueeze", "Flatten", kind="safe")
def view(terms: Terms, node: Node, fact: Fact) -> int | None:
    """View an operand in another shape. A Reshape that computes a size fails on a size of 0."""
    if node.head.name == "Reshape":
        numbers, shape = terms.numbers(node.args[1]), fact.shape or ()
        if numbers is not None and len(numbers) != len(shape):
            return None
        sizes = [-1] * len(shape) if numbers is None else numbers
        others = [dim for dim, n in zip(shape, sizes, strict=True) if n != -1 or numbers is None]
        if -1 in sizes and not all(isinstance(dim, int) and dim > 0 for dim in others):
            return None
    return view_where_defined(terms, node, fact)


@_rule("view-where-defined", "Reshape", kind="value")
def view_where_defined(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a Reshape that may fail as its operand in another shape."""
    x = terms.fact(node.args[0])
    if fact.shape is None or x.shape is None or not fact.elem_type or node.head.version < 5:
        return None
    sizes = multiply(*x.shape)
    same = sizes is not None and sizes == multiply(*fact.shape)
    return terms.add(Head("view", key=fact.shape), node.args[:1], fact) if same else None


@_rule("view-of-view", "view", kind="safe")
def view_of_view(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take a view of a view as one view."""
    below = next(terms.operators(node.args[0], "view"), None)
    return None if below is None else terms.add(node.head, below.args, fact)


@_rule("view-in-own-shape", "view", kind="safe")
def view_in_own_shape(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Drop a view in the shape of its operand."""
    return node.args[0] if node.head.key == terms.fact(node.args[0]).shape else None


@_rule("if-on-constant", "If", kind="safe")
def if_on_constant(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Take the branch of an If that a constant chooses."""
    condition = terms.tensor(node.args[0])
    if condition is None or condition.size != 1:
        return None
    name = "then_branch" if condition.numpy().all() else "else_branch"
    _, _, first, count = next(mark for mark in node.head.key if mark[0] == name)
    return node.args[first + node.output] if node.output < count else None


def _listed(terms: Terms, numbers: list[int] | None) -> tuple[int, ...]:
    """Argument that lists numbers; none where they are left out."""
    return () if numbers is None else (terms.constant(np.array(numbers, np.int64)),)
