import functools
import random

import numpy as np
import onnx
import pytest
from harness import as_model, op_types, run_passes
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from sessions import by_reference
from straightline import ir, rewrite
from straightline.facts.types import PLAIN_INTEGERS
from straightline.ops.builder import Builder
from straightline.passes import RaiseRecurrences
from straightline.passes.recurrences.recognize.semirings import (
    RESET,
    SEMIRINGS,
    SUMS,
    Place,
    Product,
    flag_of,
    neutral,
)
from tables import table

TYPES = {1: "float", 10: "float16", 11: "double", 6: "int32", 7: "int64", 9: "bool"}
ROWS = "f = Sigmoid (e) h = Neg (e) k = Less (e, nil) "
BODIES = {
    "Viterbi of two labels": "a = Add (s, e) b = Add (t, f) s2 = Max (a, b)"
    " c3 = Add (s, h) d = Add (t, e) t2 = Max (c3, d)",
    "a rotation by the input": "a = Mul (s, e) b = Mul (t, f) s2 = Sub (a, b)"
    " c3 = Mul (s, f) d = Mul (t, e) t2 = Add (c3, d)",
    "second order, by the input": "a = Mul (s, f) b = Mul (t, e) d = Add (a, b) s2 = Add (d, e)"
    " t2 = Identity (s)",
    "each from the other": "s2 = Add (t, e) p = Mul (s, f) t2 = Add (p, e)",
    "an exchange with a sum": "s2 = Where (k, t, s) a = Where (k, s, t) t2 = Add (a, e)",
    "a swap that a condition makes": "s2 = Where (k, s, t) t2 = Where (k, t, s)",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", BODIES)
def test_two_states(name):
    text = loop(
        f"{ROWS}{BODIES[name]} r = Identity (s2)", "float[3] s s0; float[3] t t0", "float[3] r"
    )
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = np.tanh(numbers(length))
        assert_same(text, model, x, s0=numbers(1)[0], t0=numbers(2)[0])


@pytest.mark.parametrize("kind", ["float", "int64"])
def test_a_state_that_nothing_reads_after_some_iterations(kind):
    """Products lack elements that one matrix has."""
    text = loop(
        f"v = Cast <to = {7 if kind == 'int64' else 1}> (e) s2 = Sub (t, t) t2 = Add (s, v)"
        " u2 = Identity (s) r = Identity (u2)",
        f"{kind}[3] s s0; {kind}[3] t t0; {kind}[3] u u0",
        f"{kind}[3] r",
    )
    model = rewrite(as_model(text), "accelerate", verify=False)
    for length in LENGTHS:
        starts = [numbers(k)[0].astype(kind.replace("float", "float32")) for k in (1, 2, 3)]
        assert_same(text, model, numbers(length), s0=starts[0], t0=starts[1], u0=starts[2])


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(len(SEMIRINGS) - 1))  # the last one is no operator
def test_combinations_of_each_row(seed):
    """Random combinations over one pair of operations, each element type of it."""
    dice, semiring = random.Random(seed), SEMIRINGS[seed]
    for elem_type in sorted(TYPES.keys() & semiring.types):
        name = TYPES[elem_type]
        rows = "f = Greater (e, nil) k = Less (e, half) " if name == "bool" else ROWS
        if name in ("float16", "double", "int32", "int64"):
            rows = f"v = Cast <to = {elem_type}> (e) f = Abs (v) k = Less (v, f) h = Neg (v) "
        lines, operands = [], "fk" if name == "bool" else "fh"
        for state in "st":
            lines.append(f"{state}a = {semiring.act} (s, {dice.choice(operands)})")
            lines.append(f"{state}b = {semiring.act} ({dice.choice(operands)}, t)")
            lines.append(f"{state}c = {semiring.join} ({state}a, {state}b)")
        if name != "bool":
            lines[5] = f"td = {semiring.join} (ta, f) tc = Where (k, td, t)"
        if semiring.is_ordered:
            rows = rows.replace("h = Neg (e)", "h = Abs (e)").replace("h = Neg (v)", "h = Abs (v)")
        body = rows.replace("h = Neg (e)", "h = Neg (f)") + " ".join(lines)
        body += " s2 = Identity (sc) t2 = Identity (tc) r = Identity (s2)"
        text = loop(body, f"{name}[3] s s0; {name}[3] t t0", f"{name}[3] r", opset=18)
        if semiring.is_ordered:
            assert "may be negative" in run_passes(text, RaiseRecurrences()).kept[0].reason
            before, after = "s_last, t_last, r_all = Loop (n, yes, s0, t0)", "Loop (n, yes, p, q)"
            after = f"p = Abs (s0) q = Abs (t0) s_last, t_last, r_all = {after}"
            text = text.replace(before, after)
        model = raised(text, kept=["Scan"])
        for length in LENGTHS:
            start = (
                (numbers(1)[0] > 0)
                if name == "bool"
                else numbers(1)[0].astype("float32" if name == "float" else name)
            )
            x = np.tanh(numbers(length)) if semiring.act == "Mul" else numbers(length)
            if name != "float16":
                assert_same(text, model, x, s0=start, t0=start)
                continue
            feeds = {"x": x, "n": np.array(length), "s0": start, "t0": start}
            pairs = zip(
                by_reference(model, feeds), by_reference(as_model(text), feeds), strict=True
            )
            for one, other in pairs:
                wide, most = other.astype(np.float32), np.abs(other).max(initial=1)
                np.testing.assert_allclose(one.astype(np.float32), wide, atol=0.02 * most)


@pytest.mark.sample(5)
@pytest.mark.parametrize("odd", [np.inf, np.nan])
@table(
    *("second order, by the input", "each from the other"),
    *("an exchange with a sum", "a swap that a condition makes"),
)
def test_an_infinity_stays_out_of_the_other_state(name, odd):
    """An element that no iteration has is left out, not multiplied by 0."""
    body = BODIES[name]
    text = loop(f"{ROWS}{body}", "float[3] s s0; float[3] t t0")
    model = raised(text, kept=["Scan"])
    start = np.array([odd, 1, 2], np.float32)
    lengths = (0, 1, 2) if "second" in name else (0, 1, 2, 3, 7)
    for length in lengths:
        assert_same(text, model, np.tanh(numbers(length)), s0=numbers(1)[0], t0=start)


def test_bounds_and_products_of_integers_are_exact():
    body = "k = Cast <to = 7> (e) a = Mul (s, k) s2 = Add (a, t) b = Mul (t, k) t2 = Add (s, b)"
    text = loop(body, "int64[3] s s0; int64[3] t t0")
    model = run_passes(text, RaiseRecurrences(exact=True)).model
    assert "MatMul" not in op_types(model)
    start = np.array([1 << 62, -5, 3])
    for length in LENGTHS:
        assert_same(text, model, numbers(length) * 9, exact=True, s0=start, t0=start)


@table(
    "a = Mul (s, t) s2 = Add (a, e) t2 = Add (s, t)",
    "g = Less (s, t) s2 = Where (g, t, e) t2 = Add (s, e)",
    "a = Exp (t) s2 = Add (a, e) t2 = Add (s, t)",
)
def test_near_misses(body):
    assert "carries 's' and 't'" in reason(loop(ROWS + body, "float[3] s s0; float[3] t t0"))


def test_many_states_stay():
    names = "stuv"
    body = " ".join(
        f"{one}e = Mul ({other}, f) {one}2 = Max ({one}e, e)"
        for one, other in zip(names, names[1:] + names[:1], strict=True)
    )
    states = "; ".join(f"float[3] {name} {name}0" for name in names)
    assert "carries 's'" in reason(loop(ROWS + body, states))


@pytest.mark.sample(3)
@table(
    ("a checksum", "s2 = BitwiseXor (s, v)"),
    (
        "a field that is set and cleared",
        "g = BitwiseNot (w) a = BitwiseOr (v, s) s2 = BitwiseAnd (a, g)",
    ),
    ("a mask and a sum", "a = BitwiseAnd (w, s) b = BitwiseNot (a) s2 = BitwiseXor (b, v)"),
    ("only where a condition holds", "a = BitwiseOr (s, v) s2 = Where (k, a, s)"),
    ("replaced", "a = BitwiseXor (s, v) b = BitwiseAnd (a, w) s2 = Where (k, w, b)"),
)
@pytest.mark.parametrize("kind", ["int64", "int32", "uint8"])
@pytest.mark.parametrize("is_all", [True, False])
def test_bits_of_one_state(name, nodes, kind, is_all):
    """Beside the rows of several states, a single one needs no bounds."""
    number = {"int64": 7, "int32": 6, "uint8": 2}[kind]
    body = f"k = Less (e, nil) h = Abs (e) v = Cast <to = {number}> (h) d = Mul (h, h)"
    body += f" w = Cast <to = {number}> (d) {nodes}" + " r = Identity (s)" * is_all
    text = loop(body, f"{kind}[3] s s0", f"{kind}[3] r" * is_all, opset=18)
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        start = np.array([100, 7, 0], kind)
        assert_same(text, model, 9 * numbers(length) if kind != "uint8" else numbers(length),
                    exact=True, s0=start)  # fmt: skip


@pytest.mark.sample(5)
@table(
    ("only where a condition holds", "q", "p2 = Where (q, {s}, s) r2 = Where (q, {t}, t)"),
    ("where it does not hold", "q", "p2 = Where (q, s, {s}) r2 = Where (q, t, {t})"),
    ("replaced", "q", "p2 = Where (q, e, {s}) r2 = Where (q, f, {t})"),
    ("replaced by element", "k", "p2 = Where (k, {s}, h) r2 = Where (k, {t}, e)"),
)
@pytest.mark.parametrize("body", ["Viterbi of two labels", "second order, by the input"])
def test_one_condition_for_all_states(name, _, choice, body):
    """Iterations without an effect are left out; a reset reads no state, not even a NaN."""
    total = "w = ReduceSum <keepdims = 0> (e) q = Less (w, nil) "
    inner = BODIES[body].replace("s2 =", "s3 =").replace("t2 =", "t3 =")
    text = ROWS + total + inner + " " + choice.format(s="s3", t="t3")
    text = loop(
        text + " s2 = Identity (p2) t2 = Identity (r2) r = Identity (s2)",
        "float[3] s s0; float[3] t t0",
        "float[3] r",
    )
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = np.tanh(numbers(length))
        assert_same(text, model, x, s0=numbers(1)[0], t0=numbers(2)[0])
        if "replaced" not in name and length:
            assert_same(text, model, abs(x) * (-1 if "not" in name else 1), s0=x[0], t0=x[0])


# The rows ----------------------------------------------------------------------------------------

FORMS = {
    "sums": [Place(0, 0), Place(0, 1)],
    "bounds": [Place(0, 0), Place(0, 1), Place(0, 2), Place(0, 3)],
    "resets": [Place(0, 0), Place(0, 1), Place(0, 2), RESET],
    "two states": [Place(row, column) for row in range(2) for column in range(3)],
    "two states and a reset": [*(Place(r, c) for r in range(2) for c in range(3)), RESET],
    "an element that may be absent": [
        *(Place(row, column) for row in range(2) for column in range(3)),
        flag_of(Place(0, 1)),
        flag_of(Place(1, 1)),
        flag_of(Place(0, 0)),
        flag_of(Place(1, 0)),
    ],
}
SIZE = 64


def products_of(product, counts):
    """Products of so many matrices, joined from the left and from the right, as a model."""
    kind = TYPES[product.elem_type]
    inputs = [
        f"{'bool' if place.is_flag else kind}[{SIZE}] m{index}_{at}"
        for index in range(counts)
        for at, place in enumerate(product.places)
    ]
    text = f'<ir_version: 8, opset_import: ["" : 18]> g ({", ".join(inputs)}) => () {{ }}'
    model = ir.parse(text)
    emit, given = Builder(model.graph), iter(model.graph.inputs)
    matrices = [[next(given) for _ in product.places] for _ in range(counts)]
    distance = emit.vector((1,), "distance")
    left = matrices[0]
    for matrix in matrices[1:]:
        left = product(emit, left, matrix, distance)
    right = matrices[-1]
    for matrix in matrices[-2::-1]:
        right = product(emit, matrix, right, distance)
    infos = [
        onnx.helper.make_tensor_value_info("o", 9 if place.is_flag else product.elem_type, [SIZE])
        for place in product.places
    ]
    model.graph.set_outputs([*left, *right], infos * 2)
    return ir.to_proto(model)


def drawn(dice, place, semiring, elem_type, special):
    if place.is_flag:
        return dice.random(SIZE) < 0.3
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    if dtype.kind in "ib":
        limits = (0, 2) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if semiring.act == "Add":  # only integers that do not wrap
            limits = (-(1 << 31), 1 << 31)
        return dice.integers(*limits, SIZE, dtype=np.int64).astype(dtype)
    numbers = np.tanh(dice.normal(size=SIZE)).astype(dtype)
    if special:
        numbers = dice.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5], SIZE).astype(dtype)
    return np.abs(numbers) if semiring.is_ordered else numbers


def matrices_of(dice, product, special):
    """Four matrices by the names of their elements; the first one is constant."""
    semiring, places = product.semiring, product.places
    dtype = onnx.helper.tensor_dtype_to_np_dtype(product.elem_type)
    fed = {}
    for index in range(4):
        own = {p: drawn(dice, p, semiring, product.elem_type, special) for p in places}
        if product.width == 1 and semiring is SUMS:
            own[Place(0, 0)] = np.abs(own[Place(0, 0)])  # a negative factor swaps bounds
        for place in [p for p in places if flag_of(p) in places and not p.is_flag]:
            nothing = neutral(
                semiring.join, dtype, semiring.act == "Add"
            )  # an absent element is neutral
            own[place] = np.where(own[flag_of(place)], own[place], nothing)
        if index == 0:
            own |= {p: own[Place(0, 1)] for p in places if p.column > product.width}
            own |= {p: np.ones(SIZE, bool) for p in places if p == RESET}
        fed |= {f"m{index}_{at}": own[place] for at, place in enumerate(places)}
    return fed


def product_of(semiring, form, elem_type):
    """A product; None where a form is not a step of a row."""
    places = tuple(FORMS[form])
    width = 2 if any(place.row == 1 for place in places) else 1
    if width == 1 and (semiring is not SUMS or elem_type in PLAIN_INTEGERS):
        places = tuple(place for place in places if place.column < 2)  # no bounds
    return Product(semiring, width, places, elem_type)


@pytest.mark.sample(12)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("semiring", SEMIRINGS, ids=lambda each: f"{each.join}-{each.act}")
def test_a_product_of_steps_is_a_step_and_what_both_do(semiring, form, seed):
    """Joined from the left, the constant function of a state shows what each step makes of it.

    Exact rows are the same for special values, too.
    """
    dice = np.random.default_rng(seed)
    for elem_type in TYPES.keys() & semiring.types:
        product = product_of(semiring, form, elem_type)
        fed = matrices_of(dice, product, seed > 0 and not semiring.rounds)
        outputs = by_reference(products_of(product, 4), fed)
        places, count = product.places, len(product.places)
        rounds = semiring.rounds and elem_type not in PLAIN_INTEGERS
        near = 200 if TYPES[elem_type] == "float16" else 1
        for place, one, other in zip(places, outputs[:count], outputs[count:], strict=True):
            if place.column < product.width and RESET in places:
                continue  # the weights of a constant are not read
            limits = {"rtol": 1e-4 * rounds * near, "atol": 1e-5 * rounds * near}
            np.testing.assert_allclose(one, other, **limits)
        if form in ("sums", "two states"):
            for row, state in enumerate(applied(product, fed)):
                got = outputs[places.index(Place(row, product.width))]
                np.testing.assert_allclose(got, state, rtol=1e-4 * near, atol=1e-5 * near)


def applied(product, fed):
    """The states after three steps, by the definition of a step."""
    numpy = {
        **{"Add": np.add, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum},
        "LogSumExp": np.logaddexp,
        **{"Xor": np.logical_xor, "And": np.logical_and, "Or": np.logical_or},
        **{"BitwiseXor": np.bitwise_xor, "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or},
    }
    join, act = numpy[product.semiring.join], numpy[product.semiring.act]
    width, places = product.width, product.places

    def element(index, row, column):
        return fed[f"m{index}_{places.index(Place(row, column))}"]

    state = [element(0, row, width) for row in range(width)]
    for index in range(1, 4):
        sums = [
            [
                element(index, row, width),
                *(act(element(index, row, k), state[k]) for k in range(width)),
            ]
            for row in range(width)
        ]
        state = [functools.reduce(join, each) for each in sums]
    return state
