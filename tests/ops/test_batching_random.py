"""Bodies drawn at random from operators that have a batching rule, against their loops."""

import itertools
import math

import numpy as np
from depth import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from vectorized import assert_vectorizes, loop, numbers

MOST = 600
"""Elements that a value may grow to on one iteration."""


class Body:
    """Nodes of a body, and what can be read: names of floats with their shapes.

    Attributes:
        lines: the nodes, and the constants that they read.
        floats: the values.
    """

    def __init__(self, draw):
        self.draw = draw
        self.numbers = itertools.count()
        self.lines = ["fi = Cast <to = 1> (i)", "sc = Sigmoid (fi)"]
        self.floats = {"e": (2, 3), "m": (2, 3), "y": (3,), "sc": ()}

    def pick(self, rank=0):
        """A value with so many axes at least."""
        found = [name for name, shape in self.floats.items() if len(shape) >= rank]
        return self.draw(st.sampled_from(found))

    def number(self, low, high):
        return self.draw(st.integers(low, high))

    def ints(self, *elements):
        """A constant vector."""
        name = self._name()
        text = ", ".join(map(str, elements))
        self.lines.append(f"{name} = Constant <value = int64[{len(elements)}] {{{text}}}> ()")
        return name

    def add(self, node, shape):
        """A node that gives floats."""
        name = self._name()
        self.lines.append(f"{name} = {node}")
        if math.prod(shape) <= MOST:
            self.floats[name] = tuple(shape)
        return name

    def index(self, size):
        """An index within an axis that differs from iteration to iteration, a scalar."""
        name, divisor, shift = self._name(), self.ints(size), self.ints(self.number(-size, 0))
        self.lines.append(f"{name}m = Mod (i, {divisor}) {name}v = Add ({name}m, {shift})")
        self.lines.append(f"{name} = Squeeze ({name}v, {self.ints(0)})")
        return name

    def _name(self):
        return f"t{next(self.numbers)}"


def unary(body):
    x = body.pick()
    kind = body.draw(st.sampled_from(["Sigmoid", "Neg", "Relu", "Tanh", "Abs"]))
    body.add(f"{kind} ({x})", body.floats[x])


def binary(body):
    x, y = body.pick(), body.pick()
    kind = body.draw(st.sampled_from(["Add", "Sub", "Max", "Min"]))
    try:
        shape = np.broadcast_shapes(body.floats[x], body.floats[y])
    except ValueError:
        return
    body.add(f"{kind} ({x}, {y})", shape)


def where(body):
    x = body.pick()
    if body.floats[x] not in ((2, 3), (3,), ()) or f"p{x} = Less (e, m)" in body.lines:
        return
    body.lines.append(f"p{x} = Less (e, m)")
    body.add(f"Where (p{x}, {x}, sc)", (2, 3))


def along(body):
    x = body.pick(1)
    axis = body.number(-len(body.floats[x]), len(body.floats[x]) - 1)
    kind = body.draw(st.sampled_from(["Softmax", "LogSoftmax", "Hardmax", "LpNormalization"]))
    body.add(f"{kind} <axis = {axis}> ({x})", body.floats[x])


def reduction(body):
    x = body.pick(1)
    shape = list(body.floats[x])
    axis, keep = body.number(0, len(shape) - 1), body.number(0, 1)
    kind = body.draw(st.sampled_from(["Max", "Min", "Mean"]))
    reduced = [*shape[:axis], *([1] if keep else []), *shape[axis + 1 :]]
    body.add(f"Reduce{kind} <axes = [{axis - len(shape)}], keepdims = {keep}> ({x})", reduced)


def transpose(body):
    x = body.pick(1)
    shape = body.floats[x]
    perm = body.draw(st.permutations(range(len(shape))))
    body.add(f"Transpose <perm = {perm}> ({x})", [shape[axis] for axis in perm])


def reshape(body):
    x = body.pick(1)
    shape = body.floats[x]
    total = int(np.prod(shape))
    first = body.draw(st.sampled_from([n for n in range(1, total + 1) if total % n == 0]))
    target = body.draw(st.sampled_from([(first, -1), (-1, first), (-1,), (0, -1)]))
    one = shape[0] if target[0] == 0 else first
    dims = {-1: total // one if len(target) > 1 else total, 0: one, first: first}
    body.add(f"Reshape ({x}, {body.ints(*target)})", [dims[size] for size in target])


def axes(body):
    x = body.pick()
    shape = list(body.floats[x])
    axis = body.number(0, len(shape))
    shape.insert(axis, 1)
    body.add(f"Unsqueeze ({x}, {body.ints(axis)})", shape)


def stretch(body):
    x = body.pick()
    shape = body.floats[x]
    if body.number(0, 1) or not shape:
        body.add(f"Expand ({x}, {body.ints(2, *[1] * len(shape))})", (2, *shape))
    else:
        repeats = [body.number(1, 2) for _ in shape]
        body.add(f"Tile ({x}, {body.ints(*repeats)})", np.multiply(shape, repeats).tolist())


def concat(body):
    x = body.pick(1)
    shape = list(body.floats[x])
    same = [name for name, other in body.floats.items() if list(other) == shape]
    other, axis = body.draw(st.sampled_from(same)), body.number(0, len(shape) - 1)
    shape[axis] *= 2
    body.add(f"Concat <axis = {axis}> ({x}, {other})", shape)


def cut(body):
    x = body.pick(1)
    shape = list(body.floats[x])
    axis = body.number(0, len(shape) - 1)
    step = body.draw(st.sampled_from([1, 2, -1]))
    start, end = body.number(-3, 3), body.number(-3, 3)
    length = len(range(shape[axis])[slice(start, end, step)])
    if length:
        bounds = ", ".join(body.ints(number) for number in (start, end, axis, step))
        shape[axis] = length
        body.add(f"Slice ({x}, {bounds})", shape)


def gather(body):
    x = body.pick(1)
    shape = list(body.floats[x])
    axis = body.number(0, len(shape) - 1)
    index = body.index(shape[axis])
    body.add(f"Gather <axis = {axis}> ({x}, {index})", [*shape[:axis], *shape[axis + 1 :]])


def pad(body):
    x = body.pick(1)
    shape = body.floats[x]
    pads = [body.number(0, 2) for _ in range(2 * len(shape))]
    sizes = [n + a + b for n, a, b in zip(shape, pads, pads[len(shape) :], strict=False)]
    body.add(f"Pad ({x}, {body.ints(*pads)})", sizes)


def sums(body):
    x = body.pick(1)
    axis = body.number(0, len(body.floats[x]) - 1)
    body.lines.append(f"a{len(body.lines)} = Constant <value_int = {axis}> ()")
    body.add(f"CumSum ({x}, a{len(body.lines) - 1})", body.floats[x])


def product(body):
    x = body.pick(2)
    shape = body.floats[x]
    perm = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    turned = body.add(f"Transpose <perm = {perm}> ({x})", [shape[axis] for axis in perm])
    body.add(f"MatMul ({x}, {turned})", (*shape[:-1], shape[-2]))


def normalized(body):
    x = body.pick(2)
    if body.floats[x][-1] == 3:
        body.add(f"LayerNormalization ({x}, y)", body.floats[x])


def sized(body):
    """A number that follows from the shape."""
    x = body.pick(1)
    if not any(line.startswith(f"s{x} ") for line in body.lines):
        body.lines.append(f"s{x} = Size ({x}) f{x} = Cast <to = 1> (s{x})")
    body.add(f"Div ({x}, f{x})", body.floats[x])


def letters(body):
    x = body.pick(2)
    shape = body.floats[x]
    if len(shape) == 2:
        # What does not vary must be known not to fail, or it stays in the loop.
        x = body.add(f"Mul ({x}, sc)", shape)
        body.add(f'Einsum <equation = "ij,kj->ki"> ({x}, {x})', (shape[0], shape[0]))
        body.add(f"Gemm <transB = 1, alpha = 0.5> ({x}, {x})", (shape[0], shape[0]))


def triangle(body):
    x = body.pick(2)
    body.add(f"Trilu <upper = {body.number(0, 1)}> ({x})", body.floats[x])


def parts(body):
    x = body.pick(1)
    shape = list(body.floats[x])
    axis = body.number(0, len(shape) - 1)
    if shape[axis] > 1:
        sizes = body.ints(1, shape[axis] - 1)
        name = body.add(f"Split <axis = {axis}> ({x}, {sizes})", [MOST + 1])
        body.lines[-1] = body.lines[-1].replace(f"{name} =", f"{name}f, {name} =")
        body.floats[name] = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])


def classes(body):
    x = body.pick(2)
    shape = list(body.floats[x])
    axis, name = body.number(0, len(shape) - 1), f"cl{len(body.lines)}"
    kind = body.draw(st.sampled_from(["ArgMax", "ArgMin"]))
    body.lines.append(f"{name} = {kind} <axis = {axis}, keepdims = 0> ({x})")
    body.lines.append(f"{name}d = Constant <value_int = {shape[axis]}> ()")
    body.lines.append(f"{name}v = Constant <value = float[2] {{0.5, 2}}> ()")
    place = body.number(-len(shape), len(shape) - 1)
    rest = [*shape[:axis], *shape[axis + 1 :]]
    rest.insert(place % len(shape), shape[axis])
    body.add(f"OneHot <axis = {place}> ({name}, {name}d, {name}v)", rest)


def elements(body):
    """Elements read and written beside others, at an index that no two iterations share."""
    x = body.pick(1)
    shape = list(body.floats[x])
    axis = body.number(0, len(shape) - 1)
    index, name = body.index(shape[axis]), f"g{len(body.lines)}"
    ones = [1 if place == axis else size for place, size in enumerate(shape)]
    body.lines.append(f"{name} = Expand ({index}, {body.ints(*ones)})")
    read = body.add(f"GatherElements <axis = {axis}> ({x}, {name})", ones)
    body.lines.append(f"{name}w = Neg ({read})")
    body.add(f"ScatterElements <axis = {axis}> ({x}, {name}, {name}w)", shape)


def rows(body):
    x = body.pick(2)
    shape = list(body.floats[x])
    index, name = body.index(shape[0]), f"n{len(body.lines)}"
    body.lines.append(f"{name} = Reshape ({index}, {body.ints(1, 1)})")
    read = body.add(f"GatherND ({x}, {name})", (1, *shape[1:]))
    body.lines.append(f"{name}w = Abs ({read})")
    body.add(f"ScatterND ({x}, {name}, {name}w)", shape)


def image(body):
    x = body.pick(2)
    shape = list(body.floats[x])
    if len(shape) >= 3:
        body.add(f"GlobalMaxPool ({x})", [*shape[:2], *[1] * (len(shape) - 2)])
    k = body.add(f"Unsqueeze ({x}, {body.ints(0)})", (1, *shape))
    window = ", ".join("1" for _ in shape[1:])
    body.add(f"MaxPool <kernel_shape = [{window}]> ({k})", (1, *shape))


STEPS = [
    unary, binary, where, along, reduction, transpose, reshape, axes, stretch, concat, cut, gather,
    pad, sums, product, normalized, sized, letters, triangle, parts, classes, elements, rows, image,
]  # fmt: skip


@settings(max_examples=examples(15), phases=[Phase.generate])
@given(st.data())
def test_random_bodies(data):
    body = Body(data.draw)
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=6)):
        step(body)
    result = list(body.floats)[-1]
    dims = ", ".join(map(str, body.floats[result]))
    type_ = f"float[{dims}]" if body.floats[result] else "float"
    text = loop(
        f"{' '.join(body.lines)} r = Identity ({result})",
        f"{type_} r",
        "float[N, 2, 3] x, float[2, 3] m, float[3] y, int64 n",
    )
    feed = {"x": numbers(3, 2, 3), "m": numbers(2, 3), "y": numbers(3)}
    assert_vectorizes(text, feed, lengths=(0, 1, 3))
