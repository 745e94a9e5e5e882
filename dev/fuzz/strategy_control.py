"""Loop and If with drawn bodies, and the statements that every scope consists of."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from strategy_operators import (
    arithmetic,
    bounded,
    clamp,
    compare,
    concat,
    condition,
    grow,
    integer,
    literal,
    produce,
    scalar,
    weight,
)
from strategy_scope import BOOL, FLOAT, INT64, LIMIT, Scope, Shape, Value
from strategy_sequences import a_sequence, insert, is_tensor, use_sequence

MOST_ITERATIONS = (4, 3, 2)  # by depth: at most 24 copies of the innermost body
MOST_COPIES = 24


def most_iterations(scope: Scope) -> int:
    return min(MOST_ITERATIONS[min(scope.depth, 2)], max(MOST_COPIES // scope.iterations, 1))


def decided(scope: Scope) -> bool:
    """Whether constants alone are to decide the construct being drawn."""
    return scope.options.static_only or scope.flip()


def iteration(scope: Scope, known: bool, most: int) -> Value:
    """A trip count of at most `most`, perhaps 0 or negative."""
    ready = scope.find(
        lambda v: (
            is_tensor(v)
            and v.type == INT64
            and v.shape in ((), (1,))
            and v.bound <= most
            and v.known == known
        )
    )
    kinds = ["literal"] * (3 * known) + ["ready"] * (2 * bool(ready)) + ["clamp"]
    kind = scope.pick(kinds)
    if kind == "ready":
        return scope.choose(ready)
    if kind == "literal":
        count = scope.pick([2, 1, 3, 0, 4, -1])
        return scope.constant(np.full([1] * scope.flip(5), min(count, most)), INT64)
    value = integer(scope, known, literals=False)
    return clamp(scope, value, most) if value.bound > most else value


@dataclass
class Control:
    """What decides a Loop: its two first inputs and how the body's condition comes about."""

    iterations: Value | None
    condition: Value | None
    stop: str  # true, pass, iteration, computed, counter
    known: bool
    count: int | None = None  # the number of iterations where literals tell it
    limit: Value | None = None
    counter: Value | None = None


def for_control(scope: Scope, known: bool, most: int) -> Control:
    iterations = iteration(scope, known, most)
    kind = scope.pick(["absent", "true", "any"])
    entry = None
    if kind == "true":
        entry = scope.constant(np.full([1] * scope.flip(5), True), BOOL)
    elif kind == "any":
        entry = condition(scope, known)
        if entry.shape != (1,):  # unlike that of If it has at most one axis
            entry = ranked(scope, entry, ())
    # With the condition absent the specification ignores the body's, onnxruntime does not.
    stops = ["true", "pass", "iteration", "computed"] if entry else ["true"]
    stop = scope.pick(stops)
    count = None
    if entry is not None and entry.literal == 0:
        count = 0
    elif iterations.literal is not None and stop in ("true", "pass") and kind != "any":
        count = max(iterations.literal, 0)
    return Control(iterations, entry, stop, known, count)


def while_control(scope: Scope, known: bool, most: int) -> Control:
    """A counter or accumulator that starts at a constant and runs to a limit."""
    type = scope.pick([INT64, FLOAT])
    counter = scope.constant(scope.number(0, 1), type)
    limit = iteration(scope, known, most)
    if limit.type != type or limit.shape != ():
        limit = scalar(scope, limit)
        limit = scope.node("Cast", [limit], replace(limit, type=type), to=type)
    if scope.flip():
        entry = compare(scope, "Less", counter, limit)
    else:
        entry = scope.constant(True, BOOL)
    iterations = None
    kind = scope.pick(["absent", "absent", "huge", "iteration"])
    if kind == "huge":
        iterations = scope.constant(2**63 - 1 if scope.opset >= 9 else 2**62, INT64)
    elif kind == "iteration":
        iterations = iteration(scope, known, most)
    return Control(iterations, entry, "counter", known, None, limit, counter)


def count_on(body: Scope, control: Control, counter: Value) -> tuple[Value, Value]:
    """The counter's next value and the body's condition: the step is at least 1."""
    assert control.limit
    step = literal_step(body, counter, control.known)
    after = body.node("Add", [counter, step], replace(counter, bound=counter.bound + step.bound))
    # Every step gains 1, and a last comparison of the old value costs one more iteration.
    after = body.add(replace(after, bound=counter.bound))
    tested = counter if body.flip(3) else after
    op, a, b = "Less", tested, body.use(control.limit)
    if body.flip(3):
        op, a, b = "Greater", b, a
    return after, compare(body, op, a, b)


def literal_step(body: Scope, counter: Value, known: bool) -> Value:
    """A constant of 1 or 2, or Abs of a drawn value plus 1."""
    ready = body.find(
        lambda v: (
            is_tensor(v)
            and v.type == counter.type
            and v.shape == ()
            and (v.known or not known)
            and v.bound <= 100
            and v.name != counter.name
        )
    )
    if ready and body.flip(3):
        x = body.choose(ready)
        x = body.node("Abs", [x], x)
        return arithmetic(body, "Add", x, body.constant(1, counter.type))
    return body.constant(body.number(1, 2), counter.type)


@dataclass
class Carried:
    """A carried value: what it starts as, what the body sees, and how it changes."""

    kind: str  # fixed, grow, sequence, counter
    start: Value
    inner: Value
    axis: int = 0


def draw_carried(scope: Scope, known: bool, least: int) -> list[Carried]:
    """Up to three carried values, of any type that the opset allows."""
    result = []
    for _ in range(scope.number(least, 3)):
        kinds = ["fixed", "fixed", "grow"] + ["sequence"] * scope.options.sequences
        kind = scope.pick(kinds)
        if kind == "sequence":
            start = a_sequence(scope)
            # Each iteration may add elements of other shapes.
            inner = replace(start, shape=None, bound=LIMIT, known_shape=False, literal=None)
        else:
            start = scope.choose(scope.find(is_tensor))
            bound = max(start.bound, 8)
            keep = known and start.known and scope.flip()
            inner = replace(start, bound=bound, known=keep, literal=None)
            if kind == "grow" and start.shape and start.fixed and start.size < 30:
                axis = scope.number(0, len(start.shape) - 1)
                shape = (*start.shape[:axis], None, *start.shape[axis + 1 :])
                inner = replace(inner, shape=shape, known_shape=known and start.known_shape)
                result.append(Carried(kind, start, inner, axis))
                continue
            kind = "fixed"
        result.append(Carried(kind, start, inner))
    return result


def loop(scope: Scope) -> list[Value]:
    """A Loop of any of its input modes."""
    known, most = decided(scope), most_iterations(scope)
    whiles = scope.options.whiles and scope.flip(3)
    control = (while_control if whiles else for_control)(scope, known, most)
    # Below opset 11 a Loop carries at least one value.
    carried = draw_carried(scope, known, least=int(scope.opset < 11 and not whiles))
    if control.counter:
        inner = replace(control.counter, bound=200, known=known, literal=None)
        carried.insert(0, Carried("counter", control.counter, inner))
    body = scope.child(most)
    if control.limit:
        body.use(control.limit)
    declare = not scope.flip(3)
    shape = control.iterations.shape if control.iterations else ()
    last = most if control.stop == "counter" else most - 1
    index = body.input(Value("", INT64, shape, last, known))
    shape = control.condition.shape if control.condition else ()
    going = body.input(Value("", BOOL, shape, 1, known))
    for c in carried:
        c.inner = body.input(c.inner, declare)
    statements(body, body.number(0, 3))
    outputs = loop_outputs(body, control, carried, index, going)
    scans = scan_outputs(body, at_least=not carried, at_most=0 if huge(control) else 2)
    vague = [c.inner.name for c in carried if c.inner.sequence or not declare]
    outputs = body_outputs(body, [*outputs, *scans], {index.name, *vague}, repeat=True)
    graph = body.graph("body", outputs)
    results = [after_loop(c, out, control) for c, out in zip(carried, outputs[1:], strict=False)]
    results += [
        replace(v, shape=(control.count, *(v.shape or ())), known=False, known_shape=known)
        for v in scans
    ]
    inputs = [control.iterations, control.condition, *(c.start for c in carried)]
    results = [replace(v, literal=None) for v in results]
    return scope.emit("Loop", inputs, results, body=graph)


def huge(control: Control) -> bool:
    """onnxruntime reserves memory for the scan outputs of all M iterations."""
    return control.iterations is not None and (control.iterations.literal or 0) > 100


def loop_outputs(
    body: Scope, control: Control, carried: list[Carried], index: Value, going: Value
) -> list[Value]:
    """The body's condition and carried outputs."""
    outputs = []
    stop: Value | None = None
    for c in carried:
        if c.kind == "counter":
            after, stop = count_on(body, control, c.inner)
            outputs.append(after)
        elif c.kind == "grow":
            assert c.inner.shape
            piece = replace(
                c.start, shape=(*c.inner.shape[: c.axis], 1, *c.inner.shape[c.axis + 1 :])
            )
            more = bounded(body, produce(body, piece, c.inner.known), c.inner.bound)
            pair = [body.use(c.inner), more]
            if body.flip(3):
                pair.reverse()
            outputs.append(concat(body, pair[0], pair[1], c.axis))
        elif c.kind == "sequence":
            # Returned as it is, it will be copied, which opset 13 cannot.
            same = body.opset >= 14 and body.flip(4)
            outputs.append(c.inner if same else insert(body, c.inner))
        else:
            outputs.append(bounded(body, produce(body, c.inner, c.inner.known), c.inner.bound))
    if stop is None:
        stop = condition_output(body, control, index, going)
    return [stop, *outputs]


def condition_output(body: Scope, control: Control, index: Value, going: Value) -> Value:
    """The body's condition where no counter gives it; of the rank that the body declares."""
    if control.stop == "pass":
        return going if body.flip() else body.node("Identity", [going], going)
    if control.stop == "true":
        return body.constant(np.full(going.shape or (), True), BOOL)
    if control.stop == "iteration":
        result = compare(body, "Less", index, integer(body, control.known))
    else:
        result = condition(body, control.known)
    return ranked(body, result, going.shape)


def ranked(scope: Scope, x: Value, shape: Shape) -> Value:
    """x, of one element, reshaped to the given rank."""
    if x.shape == shape:
        return x
    assert shape is not None
    goal = scope.constant(np.ones(len(shape)), INT64)
    return scope.node("Reshape", [x, goal], replace(x, shape=shape), known=x.known)


def scan_outputs(body: Scope, at_least: int, at_most: int = 2) -> list[Value]:
    """Values of the body whose shape is the same in every iteration, perhaps one twice."""
    ready = body.find(lambda v: is_tensor(v) and v.fixed) or [literal(body, FLOAT)]
    count = body.number(at_least, at_most)
    return [body.choose(ready) for _ in range(count)]


def body_outputs(
    body: Scope, values: list[Value], never: Iterable[str] = (), repeat: bool = False
) -> list[Value]:
    """The values as a body's outputs; a copy where onnxruntime bears no repetition, or not one of
    the names `never` (KNOWN_FAULTS).
    """
    taken, outputs = set(never), []
    for value in values:
        copy = value.name in taken and not body.options.faults
        outputs.append(body.as_output(value, copy=copy))
        if not repeat:
            taken.add(outputs[-1].name)
    return outputs


def after_loop(c: Carried, out: Value, control: Control) -> Value:
    if c.kind == "sequence":
        return replace(out, shape=None, known=False, least=c.start.least)
    known = control.known and c.inner.known
    if c.kind == "counter":
        return replace(c.inner, known=known)
    shaped = control.known and c.inner.known_shape and out.known_shape
    return replace(c.inner, known=known, known_shape=c.inner.fixed or shaped)


def merge(a: Shape, b: Shape) -> Shape:
    """What is common to two shapes."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def branch_value(branch: Scope, kind: str, like: Value) -> Value:
    """A branch's output: like the given value, or any of its type."""
    if like.sequence:
        return insert(branch, like) if branch.flip() else like
    if kind == "same":
        return produce(branch, like)
    ready = branch.find(lambda v: is_tensor(v) and v.type == like.type)
    if ready and not branch.flip(4):
        return branch.choose(ready)
    shape = branch.pick([(), (1,), (2,), (2, 3)])
    return literal(branch, like.type, shape)


def if_(scope: Scope) -> list[Value]:
    """An If whose branches may differ in shape, and reuse each other's names."""
    test = condition(scope, decided(scope))
    count = scope.number(1, 2)
    likes = []
    for _ in range(count):
        sequence = scope.options.sequences and scope.opset >= 14 and scope.flip(6)
        like = a_sequence(scope) if sequence else scope.choose(scope.find(is_tensor))
        # If-1 wants equal shapes of its branches.
        kinds = ["same", "free"] if scope.opset >= 11 else ["same"]
        likes.append((scope.pick(kinds), like))
    graphs, results = [], []
    weights = scope.flip(3)
    for name in ("then_branch", "else_branch"):
        branch = scope.child()
        for _, like in likes:
            branch.use(like)
        if weights:  # of one name in both branches
            weight(branch, likes[0][1].type, (2,))
        statements(branch, branch.number(0, 2))
        values = body_outputs(branch, [branch_value(branch, *kind_like) for kind_like in likes])
        results.append(values)
        graphs.append(branch.graph(name, values, declare=not branch.flip(3)))
    merged = [
        replace(
            a,
            shape=merge(a.shape, b.shape),
            bound=max(a.bound, b.bound),
            known=test.known and a.known and b.known,
            known_shape=test.known and a.known_shape and b.known_shape,
            least=min(a.least, b.least),
            literal=None,
        )
        for a, b in zip(*results, strict=True)
    ]
    return scope.emit("If", [test], merged, then_branch=graphs[0], else_branch=graphs[1])


def statements(scope: Scope, count: int) -> None:
    """Draw that many statements into the scope: operators and, while there is room, constructs."""
    for _ in range(count):
        kinds: list[Callable[[Scope], object]] = [grow, grow]
        if scope.options.sequences:
            kinds.append(use_sequence)
        if scope.attribute is not None:
            kinds.append(Scope.attribute_constant)
        if scope.depth < scope.options.max_depth and scope.context.room():
            kinds += [*scope.context.constructs, *scope.context.constructs]
        scope.pick(kinds)(scope)
