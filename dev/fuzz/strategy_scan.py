"""Scan of opset 9 and later, and Scan of opset 8, with drawn bodies."""

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from strategy_control import MOST_COPIES, body_outputs, scan_outputs, statements
from strategy_operators import bounded, literal, produce
from strategy_scope import INT64, Dim, Scope, Value
from strategy_sequences import is_tensor


@dataclass
class Scanned:
    """A scan input and the axis that its slices are taken along."""

    value: Value
    axis: int

    @property
    def length(self) -> Dim:
        assert self.value.shape
        return self.value.shape[self.axis]

    @property
    def element(self) -> Value:
        """What the body sees: the value without that axis."""
        assert self.value.shape
        shape = self.value.shape[: self.axis] + self.value.shape[self.axis + 1 :]
        return replace(self.value, shape=shape, known=False, literal=None)


def scannable(scope: Scope, length: Dim = None) -> list[Scanned]:
    """The visible tensors with an axis of that length, or of any that onnxruntime can scan."""
    result = []
    for v in scope.find(lambda v: is_tensor(v) and bool(v.shape)):
        for axis, dim in enumerate(v.shape or ()):
            if length is not None:
                fits = dim == length
            elif isinstance(dim, str):
                fits = not scope.options.static_only
            else:
                fits = dim is not None and (dim > 0 or scope.options.faults)
                fits = fits and dim * scope.iterations <= MOST_COPIES
            if fits and (axis == 0 or transposable(v)):
                result.append(Scanned(v, axis))
    return result


def transposable(value: Value) -> bool:
    """onnxruntime crashes where an axis other than 0 meets a size of 0 (KNOWN_FAULTS)."""
    return value.shape is not None and not {0, None} & set(value.shape)


def pick(scope: Scope, ready: list[Scanned]) -> Scanned:
    chosen: Scanned = scope.pick(ready)
    scope.use(chosen.value)
    return chosen


def iterations(length: Dim) -> int:
    return length if isinstance(length, int) else 3


def a_matrix(scope: Scope) -> list[Scanned]:
    return [Scanned(literal(scope, scope.context.types[0], (2, 3)), axis) for axis in (0, 1)]


def draw_states(scope: Scope, ready: list[Value], type: int) -> list[Value]:
    """Up to two initial states among `ready`, or constants."""
    count = scope.number(0, 2)
    return [scope.choose(ready) if ready else literal(scope, type) for _ in range(count)]


def scan_body(body: Scope, states: list[Value], rows: list[Value]) -> tuple[Any, list[Value]]:
    """The body's graph, and its scan outputs; the next states keep their shapes."""
    statements(body, body.number(0, 3))
    after = [bounded(body, produce(body, s), s.bound) for s in states]
    scans = scan_outputs(body, at_least=not states)
    outputs = body_outputs(body, [*after, *scans], [v.name for v in (*states, *rows)])
    return body.graph("body", outputs), outputs[len(states) :]


def state_input(body: Scope, value: Value) -> Value:
    return body.input(replace(value, known=False, bound=max(value.bound, 8), literal=None))


def scan(scope: Scope) -> list[Value]:
    """A Scan with any axes and directions, of inputs and outputs."""
    first = pick(scope, scannable(scope) or a_matrix(scope))
    others = [pick(scope, scannable(scope, first.length)) for _ in range(scope.flip(3))]
    scanned = [first, *others]
    states = draw_states(scope, scope.find(lambda v: is_tensor(v) and v.fixed), INT64)
    body = scope.child(iterations(first.length))
    inner = [state_input(body, s) for s in states]
    graph, scans = scan_body(body, inner, [body.input(s.element) for s in scanned])
    input_axes = [negative(scope, s.axis, len(s.value.shape or ())) for s in scanned]
    ranks = [len(v.shape or ()) + 1 for v in scans]
    last = [rank - 1 if transposable(v) else 0 for v, rank in zip(scans, ranks, strict=True)]
    output_axes = [scope.number(0, axis) for axis in last]
    written = [negative(scope, a, rank) for a, rank in zip(output_axes, ranks, strict=True)]
    attributes = some_lists(
        scope,
        scan_input_axes=input_axes,
        scan_input_directions=[int(scope.flip()) for _ in scanned],
        scan_output_axes=written,
        scan_output_directions=[int(scope.flip()) for _ in scans],
    )
    results = [final_state(v) for v in inner]
    results += [stacked(v, a, first.length) for v, a in zip(scans, output_axes, strict=True)]
    inputs = [*states, *(s.value for s in scanned)]
    count = len(scanned)
    return scope.emit("Scan", inputs, results, body=graph, num_scan_inputs=count, **attributes)


def negative(scope: Scope, axis: int, rank: int) -> int:
    """The axis, perhaps counted from the end, which Scan allows from 11."""
    return axis - rank if scope.opset >= 11 and scope.flip(3) else axis


def some_lists(scope: Scope, **lists: list[int]) -> dict[str, Any]:
    """The attributes; those that say the default (zeros) may be left out."""
    return {k: v for k, v in lists.items() if v and (any(v) or scope.flip())}


def final_state(value: Value) -> Value:
    return replace(value, known=False, literal=None)


def stacked(value: Value, axis: int, length: Dim) -> Value:
    assert value.shape is not None
    shape = (*value.shape[:axis], length, *value.shape[axis:])
    numeric = isinstance(length, int)
    return replace(value, shape=shape, known=False, known_shape=numeric, literal=None)


def scan_8(scope: Scope) -> list[Value]:
    """A Scan of opset 8: batch first, then the length, both unseen by the body."""
    ready = [s for s in scannable(scope) if s.axis == 1] or a_matrix(scope)[1:]
    first = pick(scope, ready)
    batch, length = (first.value.shape or ())[:2]

    def fits(v: Value) -> bool:
        return is_tensor(v) and bool(v.shape) and (v.shape or ())[:2] == (batch, length)

    others = [scope.choose(scope.find(fits)) for _ in range(scope.flip(3))]
    scanned = [first.value, *others]
    rows = scope.find(lambda v: is_tensor(v) and bool(v.shape) and (v.shape or ())[0] == batch)
    rows = [v for v in rows if all(isinstance(d, int) for d in (v.shape or ())[1:])]
    if not rows and isinstance(batch, int):
        rows = [literal(scope, INT64, (batch, 2))]
    states = draw_states(scope, rows, INT64) if rows else []
    lengths = sequence_lengths(scope, batch, length)
    body = scope.child(iterations(length) * iterations(batch))
    inner = [state_input(body, row(s, 1)) for s in states]
    graph, scans = scan_body(body, inner, [body.input(row(v, 2)) for v in scanned])
    attributes = some_lists(scope, directions=[int(scope.flip()) for _ in scanned])
    results = [stacked(final_state(v), 0, batch) for v in inner]
    results += [stacked(stacked(v, 0, length), 0, batch) for v in scans]
    inputs = [lengths, *states, *scanned]
    count = len(scanned)
    return scope.emit("Scan", inputs, results, body=graph, num_scan_inputs=count, **attributes)


def row(value: Value, axes: int) -> Value:
    """What the body sees: without the leading axes."""
    return replace(value, shape=(value.shape or ())[axes:], known=False, literal=None)


def sequence_lengths(scope: Scope, batch: Dim, length: Dim) -> Value | None:
    """Absent, a run-time input, or constants of at least 1 (see KNOWN_FAULTS)."""
    fitting = [v for v, most in scope.context.lengths if (v.shape, most) == ((batch,), length)]
    ready = scope.find(lambda v: v in fitting)
    kinds = ["absent"] + ["input"] * (2 * bool(ready))
    if isinstance(batch, int) and isinstance(length, int):
        kinds.append("constant")
    kind = scope.pick(kinds)
    if kind == "input":
        return scope.choose(ready)
    if kind != "constant":
        return None
    assert isinstance(batch, int) and isinstance(length, int)
    least = 0 if scope.options.faults else 1
    one = st.integers(min(least, length), length)
    return scope.constant([scope.draw(one) for _ in range(batch)], INT64)
