import random

import numpy as np
import onnx
import pytest
from certificates import assert_none, of_text
from forged import accepted
from onnx.reference import ReferenceEvaluator
from proofs import model
from straightline.verification.certificate_check import replayed
from straightline.verification.checker.movement import MOVING, Axis, Move
from straightline.verification.checker.polynomials import rename
from tables import table

OPEN = {"n": 3, "m": 2, "k": 5}


def number(dim):
    """Number of elements along an axis."""
    return int(rename(dim, dict(OPEN)))


def applied(move, source):
    """Elements of a source, moved by the definition of a map."""
    opened = [digit.number for axis in move.axes for digit in axis if isinstance(digit, Axis)]
    rows = source.transpose([*[k for k in range(source.ndim) if k not in opened], *opened])
    rows = rows.reshape(-1, *[source.shape[k] for k in opened])[
        np.frombuffer(move.places, np.int64)
    ]
    digits = [digit for axis in move.axes for digit in axis]
    runs = [digit for digit in digits if isinstance(digit, int)]
    rows = rows.reshape([*runs, *rows.shape[1:]])
    order, free = [], []
    for digit in digits:
        if isinstance(digit, Axis):
            order.append(len(runs) + opened.index(digit.number))
        elif isinstance(digit, int):
            order.append(sum(isinstance(each, int) for each in digits[: len(order) + len(free)]))
        else:
            free.append((len(order) + len(free), number(digit)))
    rows = rows.transpose(order)
    for place, size in free:
        rows = np.repeat(np.expand_dims(rows, place), size, place)
    return rows.reshape([number_of(axis, source) for axis in move.axes])


def number_of(axis, source):
    """Number of elements along an axis of a result."""
    size = 1
    for digit in axis:
        size *= source.shape[digit.number] if isinstance(digit, Axis) else number(digit)
    return size


def chain(dice):
    """Text of a chain of operators that move elements, and the shape of its source."""
    shape = [dice.choice(["n", "m", "k", 2, 4, 1]) for _ in range(dice.randint(1, 4))]
    if len({*filter(lambda dim: isinstance(dim, str), shape)}) < sum(
        isinstance(dim, str) for dim in shape
    ):
        return chain(dice)
    sizes, nodes, constants = list(shape), [], []

    def listed(numbers):
        constants.append(
            f"int64[{len(numbers)}] c{len(constants)} = {{{', '.join(map(str, numbers))}}}"
        )
        return f"c{len(constants) - 1}"

    for step in range(dice.randint(1, 4)):
        name, axis = (
            dice.choice(("Transpose", "Gather", "Slice", "Reshape", "Expand", "Unsqueeze")),
            0,
        )
        operand, wholes = f"v{step}", [k for k, dim in enumerate(sizes) if isinstance(dim, int)]
        if name == "Transpose":
            perm = dice.sample(range(len(sizes)), len(sizes))
            nodes.append(f"v{step + 1} = Transpose <perm = {perm}> ({operand})")
            sizes = [sizes[k] for k in perm]
        elif name in ("Gather", "Slice") and wholes:
            axis = dice.choice(wholes)
            rows = [dice.randrange(sizes[axis]) for _ in range(dice.randint(1, 3))]
            if name == "Slice":
                step_ = dice.choice([1, -1])
                nodes.append(
                    f"v{step + 1} = Slice ({operand}, {listed([rows[0]])},"
                    f" {listed([9 if step_ > 0 else -9])}, {listed([axis])}, {listed([step_])})"
                )
                rows = list(range(sizes[axis]))[rows[0] :: step_]
            else:
                nodes.append(f"v{step + 1} = Gather <axis = {axis}> ({operand}, {listed(rows)})")
            sizes[axis] = len(rows)
        elif name == "Reshape" and 4 in sizes:
            axis = sizes.index(4)
            target = [0] * axis + [2, 2] + [-1] * (axis + 1 < len(sizes))
            if len(sizes) - axis > 2 or not all(isinstance(d, int) and d for d in sizes[:axis]):
                nodes.append(f"v{step + 1} = Identity ({operand})")
                continue
            nodes.append(f"v{step + 1} = Reshape ({operand}, {listed(target)})")
            sizes = [*sizes[:axis], 2, 2, *sizes[axis + 1 :]]
        elif name == "Unsqueeze":
            axis = dice.randint(0, len(sizes))
            nodes.append(f"v{step + 1} = Unsqueeze ({operand}, {listed([axis])})")
            sizes.insert(axis, 1)
        elif name == "Expand":
            target = [3 if dim == 1 else 1 for dim in sizes]
            nodes.append(f"v{step + 1} = Expand ({operand}, {listed([2, *target])})")
            sizes = [2, *[3 if dim == 1 else dim for dim in sizes]]
        else:
            nodes.append(f"v{step + 1} = Identity ({operand})")
    dims = ", ".join(map(str, shape))
    declarations = f"<{', '.join(constants)}>" if constants else ""
    return f"g (int64[{dims}] v0) => (v{len(nodes)}) {declarations} {{ {' '.join(nodes)} }}", shape


def moves_of(text):
    """Maps of all movements that are derived, with the terms that they are about."""
    proto = of_text(text, 18)
    replay = replayed(proto, proto, {})
    for _ in range(3):
        for term in range(len(replay.terms.nodes)):
            for rule in ("identity", "movement", "movement-where-defined"):
                derived = replay.derive(rule, term)
                if derived is not None:
                    replay.accept(rule, term, derived)
    return replay


@pytest.mark.sample(60)
@pytest.mark.parametrize("seed", range(400))
def test_maps_are_what_the_operators_do(seed):
    text, shape = chain(random.Random(seed))
    proto, replay = of_text(text, 18), moves_of(text)
    source = np.arange(np.prod([number(d) for d in shape])).reshape([number(d) for d in shape])
    for info in [onnx.ValueInfoProto(name=o) for node in proto.graph.node for o in node.output]:
        proto.graph.output.append(info)
    del proto.graph.output[0]
    names = [info.name for info in proto.graph.output]
    results = dict(zip(names, ReferenceEvaluator(proto).run(names, {"v0": source}), strict=True))
    log, terms = replay.models.before.log, replay.terms
    values = {terms.find(each.term): results[name] for each, name in zip(log, names, strict=True)}
    values[terms.find(0)] = source
    for application, name in zip(log, names, strict=True):
        for node in terms.operators(application.term, "moved"):
            own = values[terms.find(node.args[0])]
            assert np.array_equal(applied(node.head.key, own), results[name])


def test_most_chains_have_a_map():
    found = 0
    for seed in range(40):
        replay = moves_of(chain(random.Random(seed))[0])
        last = replay.models.before.log[-1].term
        is_source = replay.terms.find(last) == 0
        found += is_source or any(replay.terms.operators(last, "moved"))
    assert found >= 36


def test_the_operators_that_do_not_fail():
    assert {*MOVING} == {
        *("moved", "Expand", "Flatten", "Gather", "Slice", "Split", "Squeeze", "Tile"),
        *("Transpose", "Unsqueeze"),
    }


@table(
    ("y = Gather <axis = 0> (x, i)", "y = Slice (x, i, i)"),
    ("s = Shape (w) y = Reshape (x, s)", "y = Transpose (x)"),
    ("r = Reshape (x, one) y = Neg (r)", "r = Reshape (w, one) y = Neg (r)"),
)
def test_other_movements_have_no_certificate(before, after):
    inputs = "float[n, m] x, float[m, n] w"
    text = f"g ({inputs}) => (y) <int64[1] i = {{0}}, int64[1] one = {{-1}}> {{ %s }}"
    assert_none(text % before, text % after)


def test_maps_are_equal_where_they_say_the_same():
    one, other = (Move(((Axis(0),), (2,)), np.array(rows).tobytes()) for rows in ([0, 1], [1, 0]))
    assert one != other and one == Move(((Axis(0),), (2,)), np.array([0, 1]).tobytes())


def test_a_product_that_fails_is_not_moved():
    """Its rows have 2 columns, and the matrix 4 rows, which no inference finds."""
    text = """g (float[3, 4] x, float[4, 4] w) => (y) <int64 n = {2}, bool c = {1}, int64 k = {2},
        int64[1] a = {0}, int64[1] o = {1}, int64 h = {1}> { q = SequenceEmpty ()
        l = Loop (n, c, q) <body = b (int64 i, bool d, seq(float[3, 2]) s) =>
        (bool f, seq(float[3, 2]) u) { f = Identity (d) p = Mul (i, k) z = Unsqueeze (p, a)
        m = Add (p, k) e = Unsqueeze (m, a) r = Slice (x, z, e, o) u = SequenceInsert (s, r) }>
        j = ConcatFromSequence <axis = 0> (l) m = MatMul (j, w) %s y = Gather <axis = 0> (g, h) }"""
    pair = [model(text % each) for each in ("g = Identity (m)", "v = Neg (m) g = Neg (v)")]
    assert accepted(*pair, {}) and accepted(*pair[::-1], {})
