import random
import re
from itertools import pairwise

import numpy as np
import pytest
from harness import as_model, op_types, run_in_onnxruntime, run_passes
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from straightline import reference
from straightline.passes import RaiseRecurrences
from tables import table

STEPS = [
    "t = Mul (s, half) s2 = Add (t, e)",
    "t = Sigmoid (e) u = Mul (t, s) v = Tanh (e) s2 = Sub (v, u)",
    "q = ReduceMean <keepdims = 0> (e) t = Sigmoid (q) u = Mul (s, t) s2 = Add (e, u)",
]


@pytest.mark.parametrize("body", STEPS)
@pytest.mark.parametrize("is_all", [True, False])
def test_linear_recurrences(body, is_all):
    outputs = "float[3] r; float[3] q_" if is_all else ""
    more = " r = Identity (s2) q_ = Identity (s)" if is_all else ""
    text = loop(body + more, "float[3] s s0", outputs)
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])


def test_the_last_value_is_a_weighted_sum():
    assert "Pow" in op_types(raised(loop(STEPS[0], "float[3] s s0")))


def test_a_scalar_state():
    text = loop("t = ReduceSum <keepdims = 0> (e) u = Mul (s, half) s2 = Add (t, u)", "float s s0")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=np.array(2, np.float32))


def test_a_run_time_factor():
    text = loop(
        STEPS[0].replace("half", "k"), "float[3] s s0", inputs="float[N,3] x, int64 n, float k"
    )
    model = raised(text)
    for length in LENGTHS:
        for k in (0.0, -0.5, 1.0):
            assert_same(text, model, numbers(length), s0=numbers(1)[0], k=np.array(k, np.float32))


def test_integers_wrap_as_in_the_loop():
    body = "k = Cast <to = 7> (e) p = Mul (s, three) s2 = Add (p, k) r = Identity (s2)"
    text = loop(body, "int64[3] s s0", "int64[3] r").replace(
        "<bool yes", "<int64 three = {3}, bool yes"
    )
    model = raised(text, kept=["Scan"])
    for length in (*LENGTHS, 100):
        assert_same(text, model, numbers(length), exact=True, s0=np.array([1, -2, 1 << 60]))


def test_an_infinity_stays_where_it_is():
    text = loop(f"{STEPS[0]} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    x = numbers(8)
    x[3, 1] = np.inf
    assert_same(text, model, x, s0=numbers(1)[0])


DIVISORS = [
    "p = Sigmoid (e) d = Exp (p)",
    "a = Mul (e, e) b = Add (a, half) d = Sqrt (b)",
    "j = Add (i, one) d = Cast <to = 1> (j)",
    "d = Constant <value_floats = [0.0, -2.0, 3.0]> ()",
]


@pytest.mark.parametrize("divisor", DIVISORS)
def test_divisors_of_which_no_inverse_is_infinite(divisor):
    text = loop(
        f"{divisor} t = Add (s, e) s2 = Div (t, d) r = Identity (s2)", "float[3] s s0", "float[3] r"
    )
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])


@pytest.mark.parametrize(
    "divisor", ["d = Exp (e)", "d = Constant <value_floats = [1e-41, 1.0, 1.0]> ()"]
)
def test_a_subnormal_divisor_has_no_inverse(divisor):
    """0 / 1e-41 is 0, and 0 times the inverse would be NaN."""
    assert "inverse may be infinite" in reason(loop(f"{divisor} s2 = Div (s, d)", "float[3] s s0"))


@pytest.mark.parametrize("kind", ["uint8", "int16", "uint32", "uint64"])
@pytest.mark.parametrize("is_all", [True, False])
def test_sums_and_products_of_all_integers_wrap(kind, is_all):
    body = f"k = Cast <to = {kind}> (e) a = Mul (s, k) s2 = Add (a, k)"
    more = " r = Identity (s2)" if is_all else ""
    number = {"uint8": 2, "int16": 5, "uint32": 12, "uint64": 13}[kind]
    text = loop(body + more, f"{kind}[3] s s0", f"{kind}[3] r" if is_all else "")
    text = text.replace(f"to = {kind}", f"to = {number}")
    model = raised(text, kept=["Scan"])
    for length in (*LENGTHS, 100):
        x = np.abs(numbers(length)) * 9
        assert_same(text, model, x, exact=True, s0=np.array([7, 200, 3], kind))


OLDER = {
    10: "g = Greater (e, nil) k = Less (e, half) h = Not (k) a = And (h, s) s2 = Or (a, g)",
    9: "g = Greater (e, nil) j = Cast <to = 7> (e) a = Add (s, j) s2 = Where (g, a, j)",
}


@pytest.mark.parametrize("opset", OLDER)
def test_steps_compose_where_an_operator_is_missing(opset):
    """No GatherElements before opset 11, no CumSum."""
    kind = "bool" if opset == 10 else "int64"
    text = loop(OLDER[opset] + " r = Identity (s2)", f"{kind}[3] s s0", f"{kind}[3] r", opset=opset)
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.array([1, 0, 1], kind))


@table(
    ("two = Constant <value_float = 2.0> () t = Mul (s, two) s2 = Max (t, e)", "overflow"),
    ("t = Mul (s, s) s2 = Add (t, e)", "by itself"),
    ("g = Less (s, e) t = Mul (s, half) u = Add (t, e) s2 = Where (g, u, s)", "selects by it"),
    ("t = Div (e, s) s2 = Add (t, e)", "divides"),
)
def test_near_misses(body, why):
    assert why in reason(loop(body, "float[3] s s0"))


def test_large_states_stay():
    text = loop(
        "t = Mul (s, half) s2 = Add (t, e) r = Identity (s2)", "float[300] s s0", "float[300] r"
    )
    assert "too large" in reason(text.replace("[N, 3]", "[N, 300]"))


# Truth values -----------------------------------------------------------------------------------

FLAG = "g = Greater (e, nil) k = Less (e, half) "


@pytest.mark.sample(5)
@table(
    "t = Not (g) o = And (t, s) s2 = Or (g, o)",
    "t = Not (s) s2 = Xor (g, t)",
    "s2 = Not (s)",
    "t = Xor (s, k) s2 = Or (t, g)",
    "t = And (s, g) u = Or (t, k) v = Equal (u, s) s2 = Or (v, g)",
)
@pytest.mark.parametrize("is_all", [True, False])
def test_truth_values(body, is_all):
    text = loop(
        FLAG + body + (" r = Identity (s2)" if is_all else ""),
        "bool[3] s s0",
        "bool[3] r" if is_all else "",
    )
    steps = is_all or "Equal" in body
    model = raised(text, kept=["Scan"] if steps else ["Loop", "Scan"])
    for length in LENGTHS:
        for start in ([True, False, True], [False] * 3):
            assert_same(text, model, numbers(length, [np.nan]), exact=True, s0=np.array(start))


def test_a_scalar_truth_value():
    text = loop(f"{SUM} t = Not (g) o = And (t, s) s2 = Or (g, o)", "bool s s0")
    model = raised(text)
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.array(False))


SUM = "u = ReduceSum <keepdims = 0> (e) g = Greater (u, nil)"


@table("s2 = Xor (s, s)", "t = Not (s) s2 = Xor (t, s)", "t = Xor (s, g) s2 = Xor (s, t)")
def test_a_next_value_that_cancels_the_state(body):
    text = loop(f"{FLAG}{body} r = Or (s2, g)", "bool[3] s s0", "bool[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.array([True, False, True]))


# The algebra, beside `algebra_loops` -------------------------------------------------------------

ALGEBRA = {
    "decayed maximum": "a = Mul (s, half) s2 = Max (a, e)",
    "the better by a comparison": "g2 = Greater (e, s) h = And (g2, k) s2 = Where (h, e, s)",
    "the better by a comparison, or new": "g2 = Greater (e, s) h = Or (k, g2) s2 = Where (h, e, s)",
    "not the worse": "g2 = LessOrEqual (e, s) h = Not (g2) s2 = Where (h, e, s)",
    "a comparison in three conditions": "g2 = Less (e, s) h = And (g2, k) h2 = Not (h)"
    " l = Or (g, h2) s2 = Where (l, s, e)",
    "CUSUM by a choice": "a = Add (s, e) h = Greater (a, nil) s2 = Where (h, a, nil)",
    "clamped by choices, reset": "a = Sub (s, e) h = Less (a, nil) b = Where (h, nil, a)"
    " l = Greater (b, half) d = Where (l, half, b) s2 = Where (k, f, d)",
    "decayed below a bound": "a = Mul (s, half) b = Sub (a, e) h = GreaterOrEqual (half, b)"
    " s2 = Where (h, b, half)",
    "a select as onnxruntime needs it": "a = Add (s, e) n2 = Xor (k, yes) b = Where (n2, least, a)"
    " d = Where (k, least, s) s2 = Max (b, d)",
    "negated between bounds": "a = Clip (s, nil, half) b = Neg (a) s2 = Add (b, e)",
    "a sum of two choices": "a = Where (g, e, s) b = Where (k, s, f) d = Mul (b, half)"
    " s2 = Sub (a, d)",
    "a reset in a moving mean": "a = Where (k, e, s) b = Sub (f, a) d = Mul (b, p) s2 = Add (d, a)",
    "the greater by Relu": "a = Sub (e, s) b = Relu (a) s2 = Add (s, b)",
    "the smaller by Relu, decayed": "a = Mul (s, half) b = Sub (a, f) d = Relu (b) s2 = Sub (a, d)",
}
ROWS = (
    "f = Neg (e) p = Sigmoid (e) k = Less (e, nil) q = ReduceSum <keepdims = 0> (e)"
    " g = Less (q, nil) "
)


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", ALGEBRA)
@pytest.mark.parametrize("is_all", [True, False])
def test_steps_that_compose(name, is_all):
    text = loop(
        ROWS + ALGEBRA[name] + (" r = Identity (s2)" if is_all else ""),
        "float[3] s s0",
        "float[3] r" if is_all else "",
    )
    text = text.replace("float nil = {0}", "float nil = {0}, float least = {-inf}")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=numbers(1)[0])


@table(*[name for name in ALGEBRA if "comparison" in name or "not the" in name])
def test_a_nan_is_never_the_better(name):
    """A comparison with NaN is false; NaN in the state stays."""
    text = loop(f"{ROWS}{ALGEBRA[name]} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        start = np.array([np.nan, 0, 1], np.float32)
        assert_same(text, model, numbers(length, [np.nan, np.inf]), exact=True, s0=start)


@table("CUSUM by a choice", "clamped by choices, reset", "decayed below a bound")
def test_a_bound_that_is_chosen_replaces_a_nan(name):
    text = loop(f"{ROWS}{ALGEBRA[name]} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        x = numbers(length, [np.nan] * 9)
        assert_same(text, model, x, s0=np.array([np.nan, 0, 1], np.float32))


def test_a_nan_that_a_bound_may_not_replace_stays():
    body = "a = Add (s, e) h = Greater (a, nil) b = Where (h, a, nil) s2 = Where (k, b, s)"
    assert "carries 's'" in reason(loop(ROWS + body, "float[3] s s0"))


@pytest.mark.parametrize("sign", ["", "m = Neg (w)"])
def test_a_factor_of_bounds_has_any_sign(sign):
    """A negative factor swaps the bounds of an iteration; a mask of 0 and 1 never does."""
    factor = sign or "m = Cast <to = 1> (g)"
    body = "g = Less (e, nil) w = Sin (e) a = Add (s, e) b = Max (a, nil) d = Where (g, b, a)"
    text = loop(f"{body} {factor} s2 = Mul (d, m) r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), s0=np.array([-4, 0, 2], np.float32))


@pytest.mark.parametrize("body", ["s2 = Where (g, s, s)", "a = Neg (s) s2 = Neg (a)"])
def test_a_state_that_no_iteration_changes(body):
    text = loop(f"g = Less (e, nil) {body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text)
    for length in LENGTHS:
        x, start = numbers(length), np.array([-0.0, np.nan, 2], np.float32)
        assert_same(text, model, x, exact=True, s0=start)


def test_a_decayed_maximum_may_start_at_minus_infinity():
    text = loop(ALGEBRA["decayed maximum"] + " r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in (0, 1, 40, 600):
        assert_same(text, model, numbers(length), s0=np.full(3, -np.inf, np.float32))


@pytest.mark.parametrize("elem_type", ["int64", "int32"])
@pytest.mark.parametrize(
    "body",
    ["a = Add (s, k) s2 = Where (g, k, a)", "a = Sub (s, k) b = Where (g, k, a) s2 = Add (b, k)",
     "a = Max (s, k) s2 = Where (g, a, s)", "a = Max (s, k) b = Neg (k) s2 = Min (a, b)"],
)  # fmt: skip
def test_resets_and_bounds_of_integers_are_exact(elem_type, body):
    """Sums wrap as in the loop; what replaced the state last, less the sum until then, is exact."""
    number = {"int64": 7, "int32": 6}[elem_type]
    body = f"k = Cast <to = {number}> (e) q = ReduceSum <keepdims = 0> (e) g = Less (q, nil) {body}"
    text = loop(f"{body} r = Identity (s2)", f"{elem_type}[3] s s0", f"{elem_type}[3] r")
    result = run_passes(text, RaiseRecurrences(exact=True))
    assert "Loop" not in op_types(result.model) or "Max" in body
    large = np.iinfo(elem_type).max
    start = np.array([1, large, large - 3], elem_type)
    for length in LENGTHS:
        assert_same(text, result.model, numbers(length) * 100, exact=True, s0=start)


@pytest.mark.sample(4)
@table(
    ("powers", "a = Mul (s, three) b = Add (a, k) s2 = Mod (b, m)"),
    ("reset", "a = Mul (s, k) b = Mod (a, m) s2 = Where (g, one, b)"),
    (
        "of what wraps",
        "v = Cast <to = 7> (e) w = Mul (v, far) a = Mul (s, w) b = Add (a, w) s2 = Mod (b, p)",
    ),
    ("twice", "a = Mod (s, m) b = Mul (a, k) d = Mod (b, m) f = Add (d, three) s2 = Mod (f, m)"),
    ("of two states", "a = Mul (t, three) b = Add (s, a) s2 = Mod (b, m) t2 = Mod (s, m)"),
)
def test_remainders(name, nodes):
    """A wrapping sum has another remainder, but for a power of 2."""
    numbers_of = (
        "<int64 three = {3}, int64 m = {1000003}, int64 p = {4096}, int64 far = {1125899906842625}"
    )
    states = "int64[3] s s0; int64[3] t s0" if "t2" in nodes else "int64[3] s s0"
    body = f"h = Less (e, nil) g = Less (nil, e) k = Cast <to = 7> (h) {nodes}"
    text = loop(f"{body} r = Identity (s2)", states, "int64[3] r")
    if "t2" in nodes:
        text = text.replace(", int64[3] s0, int64[3] s0)", ", int64[3] s0)")
    model = raised(text.replace("<bool yes", f"{numbers_of}, bool yes"), kept=["Scan"])
    text = text.replace("<bool yes", f"{numbers_of}, bool yes")
    for length in LENGTHS:
        for start in ([0, 1, 5], [-7, 1 << 62, -(1 << 63)]):
            assert_same(text, model, numbers(length), exact=True, s0=np.array(start))


@table(
    ("a = Mul (s, far) s2 = Mod (a, m)", "may wrap"),
    ("v = Cast <to = 7> (e) a = Add (s, v) s2 = Mod (a, m)", "may wrap"),
    ("g = Less (e, nil) a = Mod (s, m) s2 = Where (g, a, s)", "not always a remainder"),
    ("a = Mod (s, far) s2 = Mod (a, m)", "Mod"),
    ("a = Mod (s, m) b = Max (a, three) d = Mul (b, three) s2 = Mod (d, m)", "bounds"),
)
def test_other_remainders_stay(body, why):
    text = loop(body, "int64[3] s s0").replace(
        "<bool yes",
        "<int64 three = {3}, int64 m = {1000003}, int64 far = {1125899906842625}, bool yes",
    )
    assert why in reason(text)


@table(
    ("a = Add (s, i) zero = Sub (i, i) s2 = Max (a, zero)", "may wrap"),
    ("a = Mul (s, i) zero = Sub (i, i) s2 = Min (zero, a)", "may wrap"),
)
def test_sums_of_integers_between_bounds_stay(body, why):
    assert why in reason(loop(body, "int64 s s0"))


@pytest.mark.parametrize(
    "name", [n for n in ALGEBRA if not re.search("d maximum|minimum|maximum, then|comparison", n)]
)
def test_steps_that_round_are_not_exact(name):
    text = loop(f"{ROWS}{ALGEBRA[name]} r = Identity (s2)", "float[3] s s0", "float[3] r")
    text = text.replace("float nil = {0}", "float nil = {0}, float least = {-inf}")
    assert not run_passes(text, RaiseRecurrences(exact=True)).changed


@pytest.mark.parametrize("seed", range(4))
def test_any_composition_of_the_rows(seed):
    """Random chains of the operators, on floats with no special value, at each length."""
    dice = random.Random(seed)
    rows = [
        *("{o} = Add ({v}, e)", "{o} = Sub (f, {v})", "{o} = Max ({v}, e)", "{o} = Min (f, {v})"),
        *("{o} = Mul ({v}, p)", "{o} = Where (g, {v}, s)", "{o} = Where (k, e, {v})"),
        *("{o} = Relu ({v})", "{o} = Neg ({v})", "{o} = Clip ({v}, nil, half)"),
    ]
    for _ in range(3):
        names = ["s", *(f"v{index}" for index in range(dice.randint(1, 4))), "s2"]
        body = " ".join(
            dice.choice(rows).format(o=after, v=before) for before, after in pairwise(names)
        )
        text = loop(f"{ROWS}{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
        model = raised(text, kept=["Scan"])
        for length in (0, 1, 7, 37):
            assert_same(text, model, numbers(length), s0=numbers(1)[0])


@pytest.mark.parametrize("opset", [9, 10, 11])
@pytest.mark.parametrize(
    "body",
    [
        "k = Greater (e, s) s2 = Where (k, e, s)",
        "a = Add (s, one) k = Less (a, five) b = Where (k, a, five) d = Less (e, nil)"
        " s2 = Where (d, nil, b)",
    ],
)
def test_extremes_of_integers_before_max_takes_them(opset, body):
    """Comparisons choose: Max and Min take integers from opset 12 on."""
    text = f"""<ir_version: 4, opset_import: ["" : {opset}]>
    g (int64[N, 3] x, int64[3] s0) => (int64[3] last, int64[T, 3] every)
            <int64 one = {{1}}, int64 five = {{5}}, int64 nil = {{0}}> {{
        last, every = Scan <num_scan_inputs = 1, body = b (int64[3] s, int64[3] e)
            => (int64[3] s2, int64[3] r) {{ {body} r = Identity (s2) }}> (s0, x) }}"""
    model = run_passes(text, RaiseRecurrences(straight=False)).model
    assert not {"Max", "Min", "Scan"} & set(op_types(model))
    for length in (1, 2, 7, 40):
        x = np.random.default_rng(length).integers(-9, 9, (length, 3))
        feeds = {"x": x, "s0": np.array([3, -9, 1 << 40])}
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(model, feeds), run(as_model(text), feeds), strict=True):
                np.testing.assert_array_equal(one, other)
