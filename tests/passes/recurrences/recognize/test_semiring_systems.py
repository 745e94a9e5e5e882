"""States that depend on each other, as products of matrices over pairs of operations."""

import random

import numpy as np
import pytest
from harness import run_passes
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from straightline.passes import RaiseRecurrences
from straightline.passes.recurrences.recognize.semiring_systems import SEMIRINGS

ROWS = "f = Sigmoid (e) h = Neg (e) k = Less (e, nil) "
BODIES = {
    "Viterbi of two labels": "a = Add (s, e) b = Add (t, f) s2 = Max (a, b)"
    " c3 = Add (s, h) d = Add (t, e) t2 = Max (c3, d)",
    "a shortest path, with a bound": "a = Add (t, f) s2 = Min (a, e) t2 = Min (s, t)",
    "a rotation by the input": "a = Mul (s, e) b = Mul (t, f) s2 = Sub (a, b)"
    " c3 = Mul (s, f) d = Mul (t, e) t2 = Add (c3, d)",
    "second order, by the input": "a = Mul (s, f) b = Mul (t, e) d = Add (a, b) s2 = Add (d, e)"
    " t2 = Identity (s)",
    "a bottleneck": "a = Min (s, e) s2 = Max (a, t) b = Min (s, f) t2 = Max (b, h)",
    "a swap that a condition makes": "s2 = Where (k, s, t) t2 = Where (k, t, s)",
}


@pytest.mark.parametrize("name", BODIES)
def test_two_states(name):
    text = loop(
        f"{ROWS}{BODIES[name]} r = Identity (s2)", "float[3] s s0; float[3] t t0", "float[3] r"
    )
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = np.tanh(numbers(length))
        assert_same(text, model, x, s0=numbers(1)[0], t0=numbers(2)[0])


@pytest.mark.parametrize("seed", range(len(SEMIRINGS)))
def test_combinations_of_each_row(seed):
    """Random combinations over one pair of operations, each element type of it."""
    dice, semiring = random.Random(seed), SEMIRINGS[seed]
    for elem_type in sorted(semiring.types):
        name = {1: "float", 11: "double", 6: "int32", 7: "int64", 9: "bool"}[elem_type]
        rows = "f = Greater (e, nil) k = Less (e, half) " if name == "bool" else ROWS
        if name in ("double", "int32", "int64"):
            rows = f"v = Cast <to = {elem_type}> (e) f = Abs (v) k = Less (v, f) h = Neg (v) "
        lines, operands = [], "fk" if name == "bool" else "fh"
        for state in "st":
            lines.append(f"{state}a = {semiring.act} (s, {dice.choice(operands)})")
            lines.append(f"{state}b = {semiring.act} ({dice.choice(operands)}, t)")
            lines.append(f"{state}c = {semiring.join} ({state}a, {state}b)")
        if name != "bool":
            lines[5] = f"td = {semiring.join} (ta, f) tc = Where (k, td, t)"
        body = rows.replace("h = Neg (e)", "h = Neg (f)") + " ".join(lines)
        body += " s2 = Identity (sc) t2 = Identity (tc) r = Identity (s2)"
        text = loop(body, f"{name}[3] s s0; {name}[3] t t0", f"{name}[3] r")
        model = raised(text, kept=["Scan"])
        for length in LENGTHS:
            start = (
                (numbers(1)[0] > 0)
                if name == "bool"
                else numbers(1)[0].astype(name.replace("float", "float32"))
            )
            x = np.tanh(numbers(length)) if semiring.act == "Mul" else numbers(length)
            assert_same(text, model, x, s0=start, t0=start)


def test_an_infinity_stays_out_of_the_other_state():
    """An element that no iteration has is left out, not multiplied by 0."""
    text = loop(f"{ROWS}{BODIES['second order, by the input']}", "float[3] s s0; float[3] t t0")
    model = raised(text, kept=["Scan"])
    start = np.array([np.inf, 1, 2], np.float32)
    for length in (0, 1, 2):
        assert_same(text, model, np.tanh(numbers(length)), s0=numbers(1)[0], t0=start)


def test_bounds_and_products_of_integers_are_exact():
    body = "k = Cast <to = 7> (e) a = Mul (s, k) s2 = Add (a, t) b = Mul (t, k) t2 = Add (s, b)"
    text = loop(body, "int64[3] s s0; int64[3] t t0")
    model = run_passes(text, RaiseRecurrences(exact=True)).model
    assert "MatMul" not in [node.op_type for node in model.graph.node]
    start = np.array([1 << 62, -5, 3])
    for length in LENGTHS:
        assert_same(text, model, numbers(length) * 9, exact=True, s0=start, t0=start)


@pytest.mark.parametrize(
    "body",
    [
        "a = Mul (s, t) s2 = Add (a, e) t2 = Add (s, t)",
        "g = Less (s, t) s2 = Where (g, t, e) t2 = Add (s, e)",
        "a = Exp (t) s2 = Add (a, e) t2 = Add (s, t)",
        "s2 = Add (t, e) p = Mul (s, f) t2 = Add (p, e)",
    ],
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


CHOICES = {
    "only where a condition holds": ("q", "p2 = Where (q, {s}, s) r2 = Where (q, {t}, t)"),
    "where it does not hold": ("q", "p2 = Where (q, s, {s}) r2 = Where (q, t, {t})"),
    "replaced": ("q", "p2 = Where (q, e, {s}) r2 = Where (q, f, {t})"),
    "replaced by element": ("k", "p2 = Where (k, {s}, h) r2 = Where (k, {t}, e)"),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("body", ["Viterbi of two labels", "second order, by the input"])
def test_one_condition_for_all_states(name, body):
    """Iterations without an effect are left out; a reset reads no state, not even a NaN."""
    _, choice = CHOICES[name]
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
