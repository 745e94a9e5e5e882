import numpy as np
import pytest
import recurred
from depth import examples
from harness import (
    HEAD,
    as_model,
    assert_equal,
    assert_keeps,
    assert_rewrites,
    run_in_onnxruntime,
    run_passes,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import op_types
from sessions import by_reference
from straightline import reference
from straightline.passes import RaiseRecurrences, straighten
from tables import table
from vectorized import numbers


def scan(body, gives="r", elem="float", opset=17, state="[3]", length="N"):
    """A Scan over x that carries a from s on, and gives out a value of each iteration."""
    each = f"{elem}[{length}, 3]"
    head = HEAD.replace('"" : 17', f'"" : {opset}')
    return f"""{head}g ({elem}{state} s, {each} x) => ({elem}{state} y, {each} z) {{
        y, z = Scan <num_scan_inputs = 1, body = b ({elem}{state} a, {elem}[3] e)
            => ({elem}{state} r, {elem}[3] q) {{ {body} q = Identity ({gives}) }}> (s, x) }}"""


def loop(body, elem="float", opset=17, start="yes"):
    """A Loop of n iterations of which only the last value is asked for."""
    head = HEAD.replace('"" : 17', f'"" : {opset}')
    return f"""{head}g ({elem}[3] s, {elem}[N, 3] x, int64 n, bool go) => ({elem}[3] y)
        <bool yes = {{1}}> {{
        y = Loop (n, {start}, s) <body = b (int64 i, bool c, {elem}[3] a)
            => (bool c2, {elem}[3] r) {{ c2 = Identity (c) e = Gather (x, i) {body} }}> }}"""


def raised(text):
    result = run_passes(text, RaiseRecurrences())
    left = [node.op_type for node in result.model.graph.node]
    assert "Scan" not in left and not result.kept, result.remarks
    return result


def feed(text, length, dtype=np.float32, values=None):
    rng = np.random.default_rng(length)
    x = rng.normal(size=(length, 3)) * 3 if values is None else values
    s = rng.normal(size=3) * 3
    with np.errstate(over="ignore"):
        fed = {"x": np.asarray(x).astype(dtype), "s": s.astype(dtype), "n": np.array(length)}
    names = {value.name for value in as_model(text).graph.input}
    return {name: value for name, value in {**fed, "go": np.array(True)}.items() if name in names}


def assert_same(text, model, fed, exact=True):
    """The reference and onnxruntime each give what they gave before."""
    before = as_model(text)
    for run in (reference.run, run_in_onnxruntime):
        if run is run_in_onnxruntime and not len(fed["x"]) and "Scan" in op_types(before.graph):
            expected = by_reference(before, fed)  # onnxruntime fails on the original
        else:
            expected = run(before, fed)
        got = run(model, fed)
        assert_equal(got, expected)
        if exact:
            for one, other in zip(got, expected, strict=True):
                np.testing.assert_array_equal(one, other)


LENGTHS = (0, 1, 2, 3, 8, 40)


@pytest.mark.parametrize("gives", ["r", "a"])
@table(("int64", "0", True), ("int32", "0", True), ("int64", "1", False), ("double", "0", False))
def test_integers_are_not_added_to_zero(elem, start, alone, gives):
    """A sum of floats with 0 may lose the sign of a zero."""
    text = scan("r = Add (a, e)", gives, elem=elem).replace(f"{elem}[3] s, ", "")
    text = text.replace(") {", f") <{elem}[3] s = {{{', '.join(3 * [start])}}}> {{", 1)
    text = text.replace(f"{elem}[3] y, ", "") if gives == "r" else text
    result = raised(text).model
    if gives == "r":
        assert ("Concat" not in [node.op_type for node in result.graph.node]) == alone
    dtype = {"int64": np.int64, "int32": np.int32, "double": np.float64}[elem]
    for length in LENGTHS:
        assert_same(text, result, feed(text, length, dtype), elem != "double")


def test_a_running_sum():
    assert_rewrites(
        RaiseRecurrences(),
        scan("r = Add (a, e)"),
        """g (float[3] s, float[N, 3] x) => (float[3] y, float[N, 3] z)
            <int64[1] k = {0}, int64 axis = {0}, int64[1] k_1 = {1},
             int64[1] k_2 = {9223372036854775807}> {
            shape = Shape (x)
            iterations = Gather (shape, k)
            first = Unsqueeze (s, k)
            a = Concat <axis = 0> (first, x)
            a_sums = CumSum <exclusive = 0, reverse = 0> (a, axis)
            z = Slice (a_sums, k_1, k_2, k)
            last = Gather <axis = 0> (a_sums, iterations)
            y = Squeeze (last, k) }""",
        [feed(scan("r = Add (a, e)"), length) for length in LENGTHS],
    )


def test_a_last_maximum():
    assert_rewrites(
        RaiseRecurrences(),
        loop("r = Max (a, e)", elem="int32").replace(", bool go", ""),
        """g (int32[3] s, int32[N, 3] x, int64 n) => (int32[3] y)
            <bool yes = {1}, int64[1] axes = {0}, int64 k = {0}, int64 k_1 = {1}> {
            limit = Max (n, k)
            numbers = Range (k, limit, k_1)
            e = Gather <axis = 0> (x, numbers)
            first = Unsqueeze (s, axes)
            a = Concat <axis = 0> (first, e)
            y = ReduceMax <axes = [0], keepdims = 0> (a) }""",
    )


BODIES = {
    "Add": "r = Add (a, e)",
    "added to": "r = Add (e, a)",
    "Sub": "r = Sub (a, e)",
    "Sum": "r = Sum (a, e)",
    "Max": "r = Max (e, a)",
    "Min": "r = Min (a, e)",
    "an Identity between": "h = Identity (a) g = Add (h, e) r = Identity (g)",
    "of what is computed": "h = Exp (e) k = ReduceSum <keepdims = 0> (h) r = Add (a, k)",
    "of a constant": "k = Constant <value_float = 0.5> () r = Add (a, k)",
    "three of a kind": "k = Neg (e) h = Exp (e) r = Max (k, a, h)",
}


@pytest.mark.sample(12)
@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("gives", ["r", "a", "e"])
@pytest.mark.parametrize("length", ["N", "8"])
def test_exact_ones(what, gives, length):
    text = scan(BODIES[what], gives, length=length)
    result = raised(text)
    assert "round" not in result.remarks[0].reason
    for iterations in LENGTHS if length == "N" else (8,):
        assert_same(text, result.model, feed(text, iterations))


@pytest.mark.parametrize("what", BODIES)
def test_only_the_last_value_of_a_loop(what):
    text = loop(BODIES[what])
    result = raised(text)
    assert "Loop" not in op_types(result.model.graph)
    for iterations in LENGTHS:
        assert_same(text, result.model, feed(text, iterations))


@table(
    "r = Mul (a, e)",
    "h = Mul (a, e) k = Tanh (e) r = Mul (k, h)",
    "h = Add (a, e) k = Tanh (e) r = Add (k, h)",
    "h = Sub (a, e) k = Tanh (e) r = Add (k, h)",
)
@pytest.mark.parametrize("whole", [True, False])
def test_forms_that_may_round_differently(body, whole):
    text = scan(body) if whole else loop(body)
    result = raised(text)
    assert "up to rounding" in result.remarks[0].reason
    for iterations in LENGTHS:
        values = np.random.default_rng(1).uniform(0.8, 1.2, (iterations, 3))
        assert_same(text, result.model, feed(text, iterations, values=values), exact=False)


@pytest.mark.parametrize("elem", ["float", "double", "float16", "bfloat16"])
@pytest.mark.parametrize("operator", ["Add", "Mul"])
def test_floats_are_not_added_or_multiplied_in_another_order_by_default(operator, elem):
    result = run_passes(scan(f"r = {operator} (a, e)", elem=elem), *straighten().passes)
    kinds = [node.op_type for node in result.model.graph.node]
    if operator == "Add" and elem in ("float", "double"):
        assert "CumSum" in kinds
    else:
        assert "Scan" in kinds
        assert any("up to rounding" in remark.reason for remark in result.kept)


@pytest.mark.parametrize("operator", ["Max", "Min"])
@pytest.mark.parametrize("elem", ["float", "double", "float16"])
@pytest.mark.parametrize("whole", [True, False])
def test_nan_and_infinities(operator, elem, whole):
    """onnxruntime's ReduceMax loses a NaN that Max hands on."""
    dtype = {"float": np.float32, "double": np.float64, "float16": np.float16}[elem]
    body = f"r = {operator} (a, e)"
    text = scan(body, elem=elem) if whole else loop(body, elem=elem)
    model = raised(text).model
    rng = np.random.default_rng(3)
    for iterations in (1, 4, 9, 33):
        values = rng.choice([np.nan, np.inf, -np.inf, 1.0, 2.0, -3.0, 0.5], (iterations, 3))
        values[:, 0] = np.abs(np.nan_to_num(values[:, 0], nan=1.0))
        assert_same(text, model, feed(text, iterations, dtype, values))
    fed = feed(text, 3, dtype)
    fed["s"][1] = np.nan
    assert_same(text, model, fed)


INTEGERS = {
    "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "int64": np.int64,
    "uint32": np.uint32, "uint64": np.uint64,
}  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.parametrize("operator", ["Add", "Mul", "Max", "Min", "Sub"])
@pytest.mark.parametrize("elem", INTEGERS)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("opset", [14, 18])
def test_integers_are_exact(operator, elem, whole, opset):
    """Overflows wrap around, in whatever order."""
    dtype, body = INTEGERS[elem], f"r = {operator} (a, e)"
    text = scan(body, elem=elem, opset=opset) if whole else loop(body, elem=elem, opset=opset)
    before = run_passes(text, RaiseRecurrences())
    if operator == "Sub" and elem.startswith("u"):
        assert not before.changed
        return
    info = np.iinfo(dtype)
    for iterations in (0, 1, 7, 20):
        values = np.random.default_rng(iterations).integers(
            info.min, info.max, (iterations, 3), dtype
        )
        assert_same(text, before.model, feed(text, iterations, dtype, values))


@pytest.mark.parametrize("operator", ["And", "Or"])
@pytest.mark.parametrize("whole", [True, False])
def test_truth_values(operator, whole):
    body = f"r = {operator} (a, e)"
    text = scan(body, elem="bool") if whole else loop(body, elem="bool")
    model = raised(text).model
    for iterations in (0, 1, 5):
        for values in (
            np.zeros((iterations, 3)),
            np.ones((iterations, 3)),
            np.eye(max(iterations, 3))[:iterations, :3],
        ):
            assert_same(text, model, feed(text, iterations, np.bool_, values))


@pytest.mark.sample(16)
@pytest.mark.parametrize("opset", [11, 12, 13, 14, 18, 21])
@pytest.mark.parametrize("operator", ["Add", "Mul", "Max"])
@pytest.mark.parametrize("whole", [True, False])
def test_forms_of_each_opset(operator, whole, opset):
    body = f"r = {operator} (a, e)"
    text = scan(body, opset=opset) if whole else loop(body, opset=opset)
    model = raised(text).model
    for iterations in (0, 1, 5):
        assert_same(text, model, feed(text, iterations), exact=operator != "Mul")


def test_a_start_that_run_time_decides():
    text = loop("r = Min (a, e)", start="go")
    model = raised(text).model
    for go in (True, False):
        assert_same(text, model, {**feed(text, 4), "go": np.array(go)})


def test_a_state_that_another_accumulation_reads():
    """A sum of running maxima, and a state that is neither."""
    text = f"""{HEAD}g (float[3] s, float[N, 3] x) => (float[3] y, float[3] w, float[N, 3] z) {{
        t, y, w, z = Scan <num_scan_inputs = 1, body = b
            (float[3] a, float[3] f, float[3] g, float[3] e)
            => (float[3] r, float[3] u, float[3] v, float[3] q) {{
                r = Max (a, e) u = Add (f, r) v = Neg (u) q = Mul (g, a) }}> (s, s, s, x) }}"""
    result = raised(text)
    assert "CumSum" in result.remarks[0].reason and "Max" in result.remarks[0].reason
    for iterations in LENGTHS:
        assert_same(text, result.model, feed(text, iterations))


def test_broadcast_terms():
    text = f"""{HEAD}g (float[2, K] s, float[N, K] x) => (float[2, K] y, float[N, 2, K] z) {{
        y, z = Scan <num_scan_inputs = 1, body = b (float[2, K] a, float[K] e)
            => (float[2, K] r, float[2, K] q) {{ r = Add (e, a) q = Identity (a) }}> (s, x) }}"""
    model = raised(text).model
    for iterations in (0, 1, 5):
        for width in (0, 4):
            assert_same(text, model, {"s": numbers(2, width), "x": numbers(iterations, width)})


@table(
    ("has another shape", """g (float[1] s, float[N, 3] x) => (float[?] y) <int64 zero = {0},
        bool yes = {1}> { sh = Shape (x) n = Gather (sh, zero)
        y = Loop (n, yes, s) <body = b (int64 i, bool c, float[?] a) => (bool c2, float[?] r) {
            c2 = Identity (c) e = Gather (x, i) r = Add (a, e) }> }"""),
    ("h' has another shape",
     scan("h = ReduceMax <keepdims = 0> (a) k = Neg (h) r = Add (k, e)").removeprefix(HEAD)),
    ("k' multiplies it by itself",
     scan("h = Add (a, e) k = Mul (h, h) r = Add (k, e)").removeprefix(
        HEAD
    )),
    ("steps of doubling distance pay for states of at most 256 bytes", """
        g (float[65] s, float[N, 65] x) => (float[N, 65] z) { y, z = Scan <num_scan_inputs = 1,
            body = b (float[65] a, float[65] e) => (float[65] r, float[65] q) {
                r = Max (a, e) q = Neg (r) }> (s, x) }"""),
    ("r' multiplies it by itself", scan("r = Mul (a, a)").removeprefix(HEAD)),
    ("powers of its factor may overflow", scan(
        "k = Sub (e, a) h = Sub (k, a) r = Max (h, e)"
    ).removeprefix(HEAD)),
    ("powers of its factors may overflow", """g (float[3] s, float[N, 3] x) => (float[3] y) {
        y, t = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] f, float[3] e)
            => (float[3] r, float[3] u) { r = Add (f, f) u = Add (e, a) }>
            (s, s, x) }"""))  # fmt: skip
def test_kept_reductions_and_their_reasons(reason, case):
    assert_keeps(RaiseRecurrences(), case, reason)


def test_too_large_for_its_budget():
    text = scan("h = ReduceSum <keepdims = 0> (e) r = Add (a, h)", "e", state="[1000]", length="8")
    assert_keeps(RaiseRecurrences(max_bytes=8_000), text, "over max_bytes=8000")


STEPS = st.sampled_from(
    ["Add (a, e)", "Max (a, e)", "Min (e, a)", "Sub (a, e)", "Add (e, a)", "Max (a, e, a0)"]
)


@settings(max_examples=examples(13), deadline=None, database=None)
@given(
    st.lists(STEPS, min_size=1, max_size=3),
    st.lists(st.integers(-4, 4), max_size=24),
    st.booleans(),
    st.booleans(),
)
def test_random_accumulations(steps, values, known, given_out):
    """Several states, each of what the one before gave or of the element; small integers."""
    length = str(len(values)) if known and values else "N"
    lines, terms = [], ["e", *(f"r{index}" for index in range(len(steps)))]
    for index, step in enumerate(steps):
        line = step.replace("a0", "e").replace("(a", f"(a{index}").replace(", a)", f", a{index})")
        line = line.replace("e", terms[index // 2], 1) if index % 2 else line
        lines.append(f"r{index} = {line}")
    shown = "a0" if given_out else f"r{len(steps) - 1}"

    def each(prefix, separator=", "):
        return separator.join(f"{prefix}{index}" for index in range(len(steps)))

    text = f"""{HEAD}g (float s, float[{length}] x) => ({each("float y")}, float[{length}] z) {{
        {each("y")}, z = Scan <num_scan_inputs = 1, body = b ({each("float a")}, float e)
            => ({each("float r")}, float q) {{
            {" ".join(lines)} q = Neg ({shown}) }}> ({", ".join("s" for _ in steps)}, x) }}"""
    model = raised(text).model
    fed = {"s": np.array(1, np.float32), "x": np.array(values, np.float32)}
    assert_same(text, model, fed)


@pytest.mark.parametrize("length", [0, 1, 5])
@pytest.mark.parametrize(("body", "sign"), [("r = Add (a, e)", 1), ("r = Sub (a, e)", -1)])
@pytest.mark.parametrize("size", [3, 80])
def test_sums_in_any_order_where_costs_count(size, length, body, sign):
    """The initial state is the first row if it is short, else added last."""
    text = scan(body, state=f"[{size}]").replace(", 3]", f", {size}]").replace("[3]", f"[{size}]")
    result = run_passes(text, RaiseRecurrences(costs="onnxruntime")).model
    kinds = set(op_types(result.graph))
    assert kinds >= ({"CumSum", "Concat"} if size == 3 else {"CumSum", "ReduceSum", "Add"})
    assert "Concat" not in kinds or size == 3
    rng = np.random.default_rng(length)
    fed = {"x": rng.normal(size=(length, size)), "s": rng.normal(size=size)}
    fed = {name: array.astype(np.float32) for name, array in fed.items()}
    for got in (by_reference(result, fed), run_in_onnxruntime(result, fed)):
        rows = np.cumsum(sign * fed["x"], axis=0) + fed["s"]
        np.testing.assert_allclose(got[1], rows, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(got[0], rows[-1] if length else fed["s"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("elem", ["int32", "int64"])
def test_last_sums_of_integers_are_rows_of_running_sums(elem):
    """onnxruntime's ReduceSum of integers computes in doubles, and saturates."""
    text = loop("r = Add (a, e)", elem=elem)
    result = run_passes(text, RaiseRecurrences(exact=True, costs="onnxruntime"))
    types = op_types(result.model.graph)
    assert "CumSum" in types and "ReduceSum" not in types and not result.kept
    most = np.iinfo(elem).max
    for length in LENGTHS:
        fed = feed(text, length, elem)
        assert_same(text, result.model, fed)
        large = {name: np.full_like(fed[name], most // 3 * 2) for name in ("x", "s")}
        assert_same(text, result.model, {**fed, **large})


@pytest.mark.parametrize("reduction", ["ReduceSum", "ReduceMax"])
@pytest.mark.parametrize("kind", ["Add", "Max"])
def test_windows_that_the_end_cuts_short(reduction, kind):
    text = f"""{HEAD}g (float[N] x, float a0) => (float y) <int64 zero = {{0}}, int64[1] z = {{0}},
        int64[1] two = {{2}}> {{
        sizes = Shape (x) n = Gather (sizes, zero)
        y = Loop (n, , a0) <body = b (int64 i, bool c, float a) => (bool d, float r) {{
            d = Identity (c) first = Unsqueeze (i, z) end = Add (first, two)
            p = Slice (x, first, end, z) t = {reduction} <keepdims = 0> (p) r = {kind} (a, t)
        }}> }}"""
    model = raised(text).model
    for length in (0, 1, 2, 5):
        fed = {"x": numbers(length), "a0": np.array(0.5, np.float32)}
        assert_same(text, model, fed, exact=False)


# Rows that replace the state ---------------------------------------------------------------------

WHOLE = "t = ReduceSum <keepdims = 0> (e) g = Greater (t, nil)"


@table(
    ("the last index", "int64 w w0", f"{WHOLE} w2 = Where (g, i, w)", {"w0": np.array(-1)}),
    ("where it is false", "int64 w w0", f"{WHOLE} w2 = Where (g, w, i)", {"w0": np.array(-1)}),
    ("a row", "float[3] w w0", f"{WHOLE} w2 = Where (g, e, w)", {"w0": recurred.numbers(1)[0]}),
    ("a constant", "float w w0", f"{WHOLE} w2 = Where (g, half, w)",
     {"w0": np.array(3, np.float32)}),
    ("elements", "float[3] w w0", "g = Less (e, nil) w2 = Where (g, e, w)",
     {"w0": recurred.numbers(1)[0]}))  # fmt: skip
@pytest.mark.parametrize("is_all", [True, False])
def test_the_last_value_that_replaced_a_state(case, state, body, fed, is_all):
    kind = state.split()[0]
    text = recurred.loop(
        body + (" r = Identity (w2) u = Identity (w)" if is_all else ""),
        state,
        f"{kind} r; {kind} u" if is_all else "",
    )
    model = recurred.raised(
        text, kept=["Scan"] if is_all and case == "elements" else ["Loop", "Scan"]
    )
    for length in recurred.LENGTHS:
        x = recurred.numbers(length, [np.nan, np.inf, -np.inf])
        recurred.assert_same(text, model, x, exact=True, **fed)


def test_an_invariant_condition():
    text = recurred.loop(
        "w2 = Where (flag, e, w)", "float[3] w w0", inputs="float[N, 3] x, int64 n, bool flag"
    )
    model = recurred.raised(text)
    for length in recurred.LENGTHS:
        for flag in (True, False):
            fed = {"w0": recurred.numbers(1)[0], "flag": np.array(flag)}
            recurred.assert_same(text, model, recurred.numbers(length), exact=True, **fed)


@table(
    "t = ReduceSum <keepdims = 0> (w) g = Greater (t, nil) w2 = Where (g, e, w)",
    "f = Exp (w) t = ReduceSum <keepdims = 0> (e) g = Greater (t, nil) w2 = Where (g, e, f)",
)
def test_other_choices_stay(body):
    assert "carries 'w'" in recurred.reason(recurred.loop(body, "float[3] w w0"))


@pytest.mark.parametrize("step", ["Max (a, a)", "Min (a, a)", "Add (a, e)"])
def test_zeros_that_no_iteration_adds(step):
    """A sum that is the one operation is exact; one with rows of 0 loses the sign of a zero."""
    text = loop(f"r = {step}")
    result = run_passes(text, RaiseRecurrences(exact=True))
    assert result.changed == step.startswith("Add")
    for length in (0, 1, 3):
        fed = feed(text, length, values=-np.zeros((length, 3))) | {"s": np.float32([-0.0, 0.0, 1])}
        (one,), (other,) = (by_reference(as_model(m), fed) for m in (text, result.model))
        assert one.tobytes() == other.tobytes()


@table("", "[3]")
def test_rows_of_strings(size):
    """onnxruntime's Gather of rows of strings leaves all but their first elements empty."""
    rows = size.replace("[", "[N,") or "[N]"
    text = f"""{HEAD}g (string[N,3] x, bool{rows} k, string[3] s0)
        => (string[3] r, string[T,3] y) {{ r, y = Scan <num_scan_inputs = 2,
            body = b (string[3] s, string[3] e, bool{size} q)
            => (string[3] s2, string[3] o) {{ s2 = Where (q, e, s) o = Identity (s) }}>
            (s0, x, k) }}"""
    model = recurred.raised(text, kept=["Scan"])
    for length in (1, 2, 5):
        x = np.array([f"{n}" for n in range(3 * length)], object).reshape(length, 3)
        k = np.random.default_rng(length).random((length, 3) if size else length) < 0.5
        feeds = {"x": x, "k": k, "s0": np.array(["a", "b", "c"], object)}
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(model, feeds), run(as_model(text), feeds), strict=True):
                np.testing.assert_array_equal(one, other)
