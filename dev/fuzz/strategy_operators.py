"""Ordinary operators in the form that the drawn opset wants, and expressions made of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from strategy_scope import (
    BOOL,
    DTYPES,
    FLOAT,
    INT64,
    LIMIT,
    Dim,
    Scope,
    Shape,
    Value,
    constant_value,
)

FLOATS = (FLOAT, 11)  # TensorProto.FLOAT, TensorProto.DOUBLE


def broadcast(a: Shape, b: Shape) -> Shape | bool:
    """The broadcast shape, or False where it is not certain to exist."""
    if a is None or b is None:
        return False
    result: list[Dim] = []
    for i in range(1, max(len(a), len(b)) + 1):
        x, y = (a[-i] if i <= len(a) else 1), (b[-i] if i <= len(b) else 1)
        if x != y and 1 not in (x, y):
            return False
        if x is None and y is None:
            return False
        result.append(y if x == 1 else x)
    return tuple(reversed(result))


def cast(scope: Scope, x: Value, type: int) -> Value:
    if x.type == type:
        return x
    bound = 1 if type == BOOL else x.bound
    return scope.node("Cast", [x], replace(x, type=type, bound=bound), to=type)


def clamp(scope: Scope, x: Value, limit: int, low: int | None = None) -> Value:
    """x with its elements brought into [low or -limit, limit]."""
    low = -limit if low is None else low
    if scope.opset < 12:
        result = cast(scope, x, FLOAT)
        if scope.opset < 11:
            ends = {"min": float(low), "max": float(limit)}
            result = scope.node("Clip", [result], replace(result, bound=limit), **ends)
        else:
            bounds = [scope.constant(end, FLOAT) for end in (low, limit)]
            result = scope.node("Clip", [result, *bounds], replace(result, bound=limit))
        return cast(scope, result, x.type)
    if x.type == INT64 and low == -limit and scope.flip():
        return scope.node("Mod", [x, scope.constant(limit + 1, INT64)], replace(x, bound=limit))
    bounds = [scope.constant(end, x.type) for end in (low, limit)]
    return scope.node("Clip", [x, *bounds], replace(x, bound=limit))


def bounded(scope: Scope, x: Value, limit: int = LIMIT) -> Value:
    return x if x.bound <= limit or x.type == BOOL else clamp(scope, x, min(limit, 8))


def compare(scope: Scope, op: str, a: Value, b: Value) -> Value:
    """Equal, Less or Greater. Below opset 9 the order is of floats, below 11 equality of ints."""
    shape = broadcast(a.shape, b.shape)
    if a.shape is None or b.shape is None:  # the other one is a scalar
        shape = None
    result = Value("", BOOL, shape, 1)
    if op == "Equal" and scope.opset < 11:
        a, b = cast(scope, a, INT64), cast(scope, b, INT64)
    if op != "Equal" and scope.opset < 9:
        a, b = cast(scope, a, FLOAT), cast(scope, b, FLOAT)
    return scope.node(op, [a, b], result)


def arithmetic(scope: Scope, op: str, a: Value, b: Value) -> Value:
    if op == "Mul":
        bound = a.bound * b.bound
    else:
        bound = max(a.bound, b.bound) if op in ("Max", "Min") else a.bound + b.bound
    shape = None if a.shape is None or b.shape is None else broadcast(a.shape, b.shape)
    return bounded(scope, scope.node(op, [a, b], Value("", a.type, shape, bound)))


def with_axes(
    scope: Scope, op: str, x: Value, result: Value, axes: Sequence[int], **rest: int
) -> Value:
    """An operator whose axes became an input: at 18 those of ReduceMax, at 13 those of others."""
    if scope.opset >= (18 if op == "ReduceMax" else 13):
        return scope.node(op, [x, scope.constant(list(axes), INT64)], result, known=x.known, **rest)
    return scope.node(op, [x], result, axes=list(axes), **rest)


def unsqueeze(scope: Scope, x: Value, axis: int) -> Value:
    shape = list(x.shape or ())
    shape.insert(axis, 1)
    return with_axes(scope, "Unsqueeze", x, replace(x, shape=tuple(shape)), [axis])


def squeeze(scope: Scope, x: Value, axis: int) -> Value:
    assert x.shape
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return with_axes(scope, "Squeeze", x, replace(x, shape=shape), [axis])


def reshape(scope: Scope, x: Value, target: Sequence[int], shape: Shape) -> Value:
    goal = scope.constant(list(target), INT64)
    return scope.node("Reshape", [x, goal], replace(x, shape=shape), known=x.known)


def scalar(scope: Scope, x: Value) -> Value:
    """x where it has one element, its sum where it has more; of rank 0."""
    if x.shape == ():
        return x
    if x.type == BOOL:
        x = cast(scope, x, INT64)
    if x.single:
        return reshape(scope, x, [], ())
    total = replace(x, shape=(), bound=x.bound * x.size)
    return bounded(scope, scope.node("ReduceSum", [x], total, keepdims=0))


def size(scope: Scope, x: Value) -> Value:
    known = x.known_shape and scope.options.shapes
    return scope.node("Size", [x], Value("", INT64, (), x.size), known=known)


def dimension(scope: Scope, x: Value) -> Value:
    """One dimension of x, the exporters' way: Gather of Shape."""
    assert x.shape
    axis = scope.number(0, len(x.shape) - 1)
    known = x.known_shape and scope.options.shapes
    shape = scope.node("Shape", [x], Value("", INT64, (len(x.shape),), 1000), known=known)
    index = scope.constant(axis, INT64)
    bound = x.shape[axis] if isinstance(x.shape[axis], int) else 1000
    return scope.node("Gather", [shape, index], Value("", INT64, (), bound), axis=0)


def integer(scope: Scope, known: bool, literals: bool = True) -> Value:
    """An int64 scalar; decided without run-time inputs when `known`."""
    ready = scope.find(
        lambda v: v.type == INT64 and v.shape == () and not v.sequence and (v.known or not known)
    )
    shaped = scope.find(lambda v: not v.sequence and (v.known_shape or not known))
    if known and not scope.options.shapes:
        shaped = []
    kinds = ["literal"] * literals + ["ready"] * (2 * bool(ready)) + ["shape"] * bool(shaped)
    kind = scope.pick(kinds or ["literal"])
    if kind == "ready":
        return scope.choose(ready)
    if kind == "literal":
        return scope.constant(scope.number(-1, 4), INT64)
    x = scope.choose(shaped)
    return dimension(scope, x) if x.shape and scope.flip() else size(scope, x)


def condition(scope: Scope, known: bool, depth: int = 0) -> Value:
    """A bool of one element, hidden behind comparisons and connectives."""
    ready = scope.find(
        lambda v: v.type == BOOL and v.single and not v.sequence and (v.known or not known)
    )
    kinds = ["compare", "literal"] + ["ready"] * (2 * bool(ready))
    if depth < 2:
        kinds += ["not", "and"]
    kind = scope.pick(kinds)
    if kind == "ready":
        return scope.choose(ready)
    if kind == "literal":
        shape = scope.pick([(), (), (1,), (1, 1)])
        return scope.constant(np.full(shape, scope.flip()), BOOL)
    if kind == "compare":
        op = scope.pick(["Less", "Equal", "Greater"])
        return compare(scope, op, integer(scope, known, literals=False), integer(scope, known))
    a = condition(scope, known, depth + 1)
    if kind == "not":
        return scope.node("Not", [a], a)
    b = condition(scope, known, depth + 1)
    shape = broadcast(a.shape, b.shape)
    op = scope.pick(["And", "Or"])
    return scope.node(op, [a, b], Value("", BOOL, shape, 1))


def partner(scope: Scope, x: Value, type: int, known: bool = False, keep: bool = False) -> Value:
    """Something to combine with x: of a shape that broadcasts (to x's own when `keep`)."""
    ready = []
    for v in scope.visible():
        if v.type != type or v.sequence or (known and not v.known):
            continue
        shape = broadcast(x.shape, v.shape) if x.shape is not None else v.shape == ()
        if shape is not False and (shape == x.shape or not keep or v.shape == ()):
            ready.append(v)
    if ready and not scope.flip(4):
        return scope.choose(ready)
    return literal(scope, type)


def literal(scope: Scope, type: int, shape: Sequence[int] = ()) -> Value:
    """A small constant of the given type and shape."""
    return scope.constant(small_data(scope, type, shape), type)


def weight(scope: Scope, type: int, shape: Sequence[int]) -> Value:
    """The same as an initializer of a body."""
    array = small_data(scope, type, shape).astype(DTYPES[type])
    return scope.initializer(array, constant_value(array, type))


def small_data(scope: Scope, type: int, shape: Sequence[int]) -> np.ndarray:
    start = scope.number(-3, 3)
    count = int(np.prod(shape, dtype=int))
    data = (np.arange(count).reshape(tuple(shape)) + start + 3) % 7 - 3
    return data > 0 if type == BOOL else data


def elementwise(scope: Scope, x: Value, known: bool = False) -> Value:
    """A value of x's own type and shape, computed from x."""
    if x.type == BOOL:
        op = scope.pick(["Not", "And", "Or"])
        other = [] if op == "Not" else [partner(scope, x, BOOL, known, keep=True)]
        return scope.node(op, [x, *other], replace(x))
    ops = ["Add", "Sub", "Mul", "Neg", "Abs"]
    if x.type in FLOATS:
        ops.append("Relu")
    if x.type == FLOAT or scope.opset >= 12:
        ops += ["Max", "Min"]
    if scope.opset >= 9:
        ops.append("Where")
    op = scope.pick(ops)
    if op in ("Neg", "Abs", "Relu"):
        return scope.node(op, [x], x)
    other = partner(scope, x, x.type, known, keep=True)
    if op == "Where":
        choice = partner(scope, x, BOOL, known, keep=True)
        return scope.node("Where", [choice, x, other], replace(x, bound=max(x.bound, other.bound)))
    return arithmetic(scope, op, x, other)


def produce(scope: Scope, like: Value, known: bool = False) -> Value:
    """A value of the type and shape of `like`, which itself must be visible or fixed."""

    def fits(v: Value) -> bool:
        same = v.shape == like.shape and v.shape is not None and None not in v.shape
        alike = v.type == like.type and not v.sequence and (same or v == like)
        return alike and (v.known or not known)

    ready = scope.find(fits)
    if not ready or scope.flip(5):
        if like.fixed:
            return literal(scope, like.type, like.shape)
        ready = ready or [like]
    x = scope.choose(ready)
    for _ in range(scope.number(0, 2)):
        x = elementwise(scope, x, known)
    return x


def concat(scope: Scope, x: Value, other: Value, axis: int) -> Value:
    assert x.shape and other.shape
    dims = [x.shape[axis], other.shape[axis]]
    total = sum(dims) if all(isinstance(d, int) for d in dims) else None
    shape = (*x.shape[:axis], total, *x.shape[axis + 1 :])
    result = replace(x, shape=shape, bound=max(x.bound, other.bound))
    return scope.node("Concat", [x, other], result, axis=axis)


def cut(scope: Scope, x: Value, axis: int) -> Value:
    """A Slice along an axis whose length is a number."""
    assert x.shape
    length = x.shape[axis]
    start = scope.number(0, length - 1)
    stop = scope.number(start + 1, length)
    result = replace(x, shape=(*x.shape[:axis], stop - start, *x.shape[axis + 1 :]))
    if scope.opset < 10:
        return scope.node("Slice", [x], result, axes=[axis], starts=[start], ends=[stop])
    ends = [scope.constant([n], INT64) for n in (start, stop, axis)]
    return scope.node("Slice", [x, *ends], result)


def gather(scope: Scope, x: Value, axis: int) -> Value:
    """One entry of x along the axis, by a constant or by an index such as an iteration number."""
    assert x.shape
    length = x.shape[axis]
    ready = scope.find(
        lambda v: v.type == INT64 and v.shape in ((), (1,)) and v.bound < length and not v.sequence
    )
    if scope.opset < 11:  # negative indices
        ready = [v for v in ready if v.literal is not None and v.literal >= 0]
    index = scope.choose(ready) if ready else scope.constant(0, INT64)
    shape = x.shape[:axis] + (index.shape or ()) + x.shape[axis + 1 :]
    result = replace(x, shape=shape, known=False)
    return scope.node("Gather", [x, index], result, axis=axis)


def reduce(scope: Scope, x: Value, axis: int) -> Value:
    assert x.shape
    length = x.shape[axis]
    # A length that varies may be 0, as that of a Loop's scan output is; a sum can bear that.
    op = scope.pick(["ReduceSum", "ReduceMax"]) if isinstance(length, int) else "ReduceSum"
    keep = scope.flip()
    shape = x.shape[:axis] + (1,) * keep + x.shape[axis + 1 :]
    bound = (
        x.bound * (length if isinstance(length, int) else 1000) if op == "ReduceSum" else x.bound
    )
    result = replace(x, shape=shape, bound=bound)
    return bounded(scope, with_axes(scope, op, x, result, [axis], keepdims=int(keep)))


def _reshaped(scope: Scope, x: Value) -> Value:
    assert x.shape is not None
    goal = scope.pick([(x.size,), (1, x.size), tuple(reversed(x.shape)), (x.size, 1)])
    return reshape(scope, x, [-1] if goal == (x.size,) else goal, goal)


def _combined(scope: Scope, x: Value) -> Value:
    if x.type == BOOL:
        return elementwise(scope, x)
    if x.type in FLOATS and scope.opset < 11:
        ops = ["Less", "Greater"]
    else:
        ops = ["Less", "Equal", "Greater"]
    other = partner(scope, x, x.type)
    op = scope.pick([*ops, "Add", "Sub", "Mul"])
    return (compare if op in ops else arithmetic)(scope, op, x, other)


def _cast(scope: Scope, x: Value) -> Value:
    return cast(scope, x, scope.pick([t for t in scope.context.types if t != x.type]))


def _joined(scope: Scope, x: Value, axis: int) -> Value:
    assert x.shape
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])

    def fits(v: Value) -> bool:
        if v.type != x.type or v.sequence or not v.shape or len(v.shape) != len(x.shape or ()):
            return False
        return None not in rest and (*v.shape[:axis], *v.shape[axis + 1 :]) == rest

    return concat(scope, x, scope.choose([x, *scope.find(fits)]), axis)


def grow(scope: Scope) -> Value:
    """A new value from a visible tensor: any operator of the pool that fits it."""
    x = scope.choose(scope.find(lambda v: not v.sequence))
    kinds: list[Callable[[], Value]] = [
        lambda: elementwise(scope, x),
        lambda: _combined(scope, x),
        lambda: _cast(scope, x),
        lambda: size(scope, x),
        lambda: scope.node("Identity", [x], x),
    ]
    if x.type != BOOL:
        kinds.append(lambda: scalar(scope, x))
    if x.shape is not None and len(x.shape) < 3:
        kinds.append(lambda: unsqueeze(scope, x, 0))
    if x.fixed and x.size:
        kinds.append(lambda: _reshaped(scope, x))
    if x.shape:
        kinds += 2 * _axis_operators(scope, x)
    return bounded(scope, scope.pick(kinds)())


def _axis_operators(scope: Scope, x: Value) -> list[Callable[[], Value]]:
    """The operators that work along one drawn axis of x."""
    assert x.shape
    axis = scope.number(0, len(x.shape) - 1)
    kinds: list[Callable[[], Value]] = [lambda: dimension(scope, x)]
    if len(x.shape) > 1:
        order = list(reversed(range(len(x.shape))))
        turned = replace(x, shape=tuple(reversed(x.shape)))
        kinds.append(lambda: scope.node("Transpose", [x], turned, perm=order))
    length = x.shape[axis]
    if isinstance(length, int) and length:
        kinds += [lambda: cut(scope, x, axis), lambda: gather(scope, x, axis)]
        if length == 1:
            kinds.append(lambda: squeeze(scope, x, axis))
        if length < 8:
            kinds.append(lambda: _joined(scope, x, axis))
    if length != 0 and x.type != BOOL:
        kinds.append(lambda: reduce(scope, x, axis))
    return kinds
