import numpy as np
import onnx
import pytest
from cells import HEAD, difference, raised
from harness import as_model, assert_keeps, assert_rewrites, op_types, run_in_onnxruntime
from sessions import by_reference
from straightline.passes import RaiseRecurrences, VectorizeLoops
from straightline.passes.recurrences.recognize.cell_emission import TESTED_ULPS
from tables import table

RNG = np.random.default_rng(7)
SIZES = [(6, 3), (1, 1), (0, 2), (3, 0), (25, 4)]
"""Iterations and rows."""

CELLS = {
    "RNN": "a = MatMul (h, u) b = Add (a, e) hn = Tanh (b)",
    "GRU": """a = MatMul (h, u) b = MatMul (e, v) j = Add (a, b) z = Sigmoid (j) r = Sigmoid (a)
        g = Mul (r, a) m = Add (b, g) n = Tanh (m) d = Sub (h, n) f = Mul (z, d)
        hn = Add (n, f)""",
    "LSTM": """a = MatMul (h, u) b = MatMul (e, v) j = Add (a, b) w = Sigmoid (j) f = Sigmoid (a)
        n = Tanh (j) p = Mul (f, c) q = Mul (w, n) cn = Add (p, q) t = Tanh (cn)
        o = Add (a, e) o2 = Sigmoid (o) hn = Mul (o2, t)""",
}


def numbers(*shape):
    return (RNG.normal(size=shape) * 0.4).astype(np.float32)


def weighted(text):
    model = as_model(HEAD + text)
    for name in "uv":
        model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(4, 4), name))
    return model


def scan(kind, choice="Where (mask, {0}n, {0})", mask="bool[B, 1]", gives="h2", more="", back=0):
    """A Scan over x and masks; gives a value of each iteration and the last states."""
    states = "hc" if kind == "LSTM" else "h"
    given = ", ".join(f"float[B, 4] {s}" for s in states)
    made = ", ".join(f"float[B, 4] {s}2" for s in states)
    chosen = " ".join(f"{s}2 = {choice.format(s)}" for s in states)
    last = ", ".join(f"{s}1" for s in states)
    shape = mask.replace("[", "[T, ") if "[" in mask else f"{mask}[T]"
    return weighted(f"""g ({given.replace(" h", " h0").replace(" c", " c0")}, float[T, B, 4] x,
        {shape} masks) => ({", ".join(f"float[B, 4] {s}1" for s in states)}, float[T, B, 4] y) {{
        {last}, y = Scan <num_scan_inputs = 2, scan_input_directions = [{back}, {back}],
            scan_output_directions = [{back}],
            body = f ({given}, float[B, 4] e, {mask} mask) => ({made}, float[B, 4] out) {{
            {CELLS[kind]} {more} {chosen} out = Identity ({gives}) }}>
            ({", ".join(f"{s}0" for s in states)}, x, masks) }}""")


def loop(kind, limit="lengths", counts="Less (i, {})"):
    """A Loop over the rows of x, each of its own length."""
    states = "hc" if kind == "LSTM" else "h"
    given = ", ".join(f"float[B, 4] {s}" for s in states)
    made = ", ".join(f"float[B, 4] {s}2" for s in states)
    chosen = " ".join(f"{s}2 = Where (mask, {s}n, {s})" for s in states)
    final = ", ".join(f"{s}1" for s in states)
    return weighted(f"""g ({given.replace(" h", " h0").replace(" c", " c0")}, float[T, B, 4] x,
        int64[B] lengths) => ({", ".join(f"float[B, 4] {s}1" for s in states)}, float[?, B, 4] y)
        <bool yes = {{1}}, int64 zero = {{0}}, int64[1] k = {{1}}> {{
        shape = Shape (x) n0 = Gather (shape, zero)
        {final}, y = Loop (n0, yes, {", ".join(f"{s}0" for s in states)})
            <body = f (int64 i, bool l, {given}) => (bool l2, {made}, float[B, 4] out) {{
            l2 = Identity (l) e = Gather (x, i) mask0 = {counts.format(limit)}
            mask = Unsqueeze (mask0, k) {CELLS[kind]} {chosen} out = Identity (h2) }}> }}""")


def masks(kind, *shape):
    """Rows that end, rows that begin late, or rows with gaps."""
    found = RNG.random(shape) < 0.6
    if kind == "none":
        return found & False
    return (
        np.sort(found, 0)[::-1]
        if kind == "ends"
        else np.sort(found, 0)
        if kind == "late"
        else found
    )


def feed(model, iterations, batch, **more):
    fed = {
        "h0": numbers(batch, 4),
        "c0": numbers(batch, 4),
        "x": numbers(iterations, batch, 4),
        **more,
    }
    return {value.name: fed[value.name] for value in model.graph.input}


def check(model, *passes, op_type, **made):
    after = raised(model, *passes)
    assert op_types(after).count(op_type) == 1
    for iterations, batch in SIZES:
        for kind in ("ends", "late", "gaps", "none"):
            fed = feed(
                model, iterations, batch, **{n: f(kind, iterations, batch) for n, f in made.items()}
            )
            assert difference(model, after, fed) <= TESTED_ULPS, (iterations, batch, kind)
            if 0 in (iterations, batch):
                for one, other in zip(
                    by_reference(after, fed), by_reference(model, fed), strict=True
                ):
                    np.testing.assert_array_equal(one, other)


def of_rows(kind, iterations, batch):
    return masks(kind, iterations, batch, 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("gives", ["h2", "h", "hn"])
def test_any_mask_of_rows(kind, gives):
    """What is given out may be the state, that of the iteration before, or the next one."""
    if (kind, gives) == ("LSTM", "hn"):
        reason = "needs all values of 'c', of which only the last is there"
        assert_keeps(RaiseRecurrences(spread_nan=True), scan(kind, gives=gives), reason)
    else:
        check(scan(kind, gives=gives), op_type=kind, masks=of_rows)


@pytest.mark.parametrize("kind", CELLS)
def test_masked_states(kind):
    check(scan(kind, "Where (mask, {0}, {0}n)"), op_type=kind, masks=of_rows)
    check(scan(kind, "Where (no, {0}, {0}n)", more="no = Not (mask)"), op_type=kind, masks=of_rows)


FACTORS = {
    "a difference": "{0}d = Sub ({0}n, {0}) {0}k = Mul (k, {0}d) {0}2 = Add ({0}, {0}k)",
    "two products": "{0}j = Sub (unit, k) {0}d = Mul (k, {0}n) {0}k = Mul ({0}, {0}j)"
    " {0}2 = Add ({0}d, {0}k)",
    "two products, where it does not hold": "{0}j = Sub (unit, k) {0}d = Mul ({0}n, {0}j)"
    " {0}k = Mul (k, {0}) {0}2 = Add ({0}d, {0}k)",
}


def by_factor(kind, spelling):
    """The masked loop with a mask of ones and zeros in place of the choices."""
    choices = " ".join(FACTORS[spelling].format(s) for s in ("hc" if kind == "LSTM" else "h"))
    model = scan(kind, "XX ({0}n)", more="unit = Constant <value_float = 1.0> ()"
                 f" k = Cast <to = 1> (mask) {choices}")  # fmt: skip
    body = model.graph.node[0].attribute
    (graph,) = [one.g for one in body if one.HasField("g")]
    nodes = [node for node in graph.node if node.op_type != "XX"]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("spelling", FACTORS)
def test_factors_of_ones_and_zeros(kind, spelling):
    check(by_factor(kind, spelling), op_type=kind, masks=of_rows)


def test_a_factor_of_the_run_time_is_no_mask():
    model = by_factor("RNN", "a difference")
    text = as_model(model)
    (graph,) = [one.g for one in text.graph.node[0].attribute if one.HasField("g")]
    (cast,) = [node for node in graph.node if node.op_type == "Cast"]
    for value in (*text.graph.input, *graph.input):
        if value.name in ("masks", "mask"):
            value.type.tensor_type.elem_type = 1
    del cast.attribute[:]
    cast.op_type = "Identity"
    assert_keeps(RaiseRecurrences(spread_nan=True), text, "neither an activation nor a blend")


@pytest.mark.parametrize("shape", ["bool", "bool[1]", "bool[1, 1]"])
def test_a_mask_of_whole_iterations(shape):
    rest = {"bool": (), "bool[1]": (1,), "bool[1, 1]": (1, 1)}[shape]
    check(scan("GRU", mask=shape), op_type="GRU", masks=lambda k, t, b: masks(k, t, *rest))


def test_from_the_end():
    check(scan("LSTM", back=1), op_type="LSTM", masks=of_rows)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("counts", ["Less (i, {})", "LessOrEqual (i, {})", "Greater ({}, i)"])
@pytest.mark.parametrize("first", [(), (VectorizeLoops(),)])
def test_lengths(kind, counts, first):
    """Of any size, 0 and more than there are iterations among them."""

    def lengths(kind, iterations, batch):
        return RNG.integers(-1, iterations + 3, batch) * (kind != "none")

    check(loop(kind, counts=counts), *first, op_type=kind, lengths=lengths)


def test_zeros_behind_the_end():
    model = scan("GRU", gives="zeroed", more="zero = Constant <value_float = 0.0> ()"
                 " zeroed = Where (mask, hn, zero)")  # fmt: skip
    check(model, op_type="GRU", masks=of_rows)
    check(model, VectorizeLoops(), op_type="GRU", masks=of_rows)


def test_masked_elements_have_no_effect():
    model = scan("GRU")
    after = raised(model)
    fed = feed(model, 9, 4, masks=masks("gaps", 9, 4, 1))
    expected = run_in_onnxruntime(model, fed)
    fed["x"] = np.where(fed["masks"], fed["x"], np.float32(np.nan))
    for one, other in zip(run_in_onnxruntime(after, fed), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_masked_cell_before_and_after():
    text = f"""{HEAD} g (float[2, 4] h0, float[5, 2, 4] x, bool[5, 2, 1] masks, float[4, 4] u)
        => (float[2, 4] h1) {{ h1 = Scan <num_scan_inputs = 2,
            body = f (float[2, 4] h, float[2, 4] e, bool[2, 1] mask) => (float[2, 4] h2) {{
            a = MatMul (h, u) b = Add (a, e) n = Tanh (b) h2 = Where (mask, n, h) }}>
            (h0, x, masks) }}"""
    after = f"""{HEAD} g (float[2, 4] h0, float[5, 2, 4] x, bool[5, 2, 1] masks, float[4, 4] u)
        => (float[2, 4] h1)
        <int64[1] k = {{0}}, int64[0] scalar = {{}}, int64 k_1 = {{0}}, int64 k_2 = {{1}},
         int64[2] axes = {{1, 2}}, int64[2] ones = {{1, 1}}, int64[1] k_3 = {{2}},
         int64[1] axes_1 = {{1}},
         float[1, 4, 4] weights = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}> {{
        u_t = Transpose <perm = [1, 0]> (u)
        counted = Cast <to = 7> (masks)
        shape = Shape (counted) iterations = Gather (shape, k)
        iterations_1 = Reshape (iterations, scalar) numbers = Range (k_1, iterations_1, k_2)
        keys = Mul (counted, iterations) numbers_1 = Unsqueeze (numbers, axes)
        keys_1 = Sub (keys, numbers_1)
        sorted, order = TopK <axis = 0> (keys_1, iterations)
        shape_1 = Shape (x) width = Gather (shape_1, k_3)
        shape_2 = Concat <axis = 0> (ones, width) places = Expand (order, shape_2)
        x_1 = GatherElements <axis = 0> (x, places)
        lengths = ReduceSum <keepdims = 0> (counted, k) nothing = Equal (lengths, k)
        one = Cast <to = 7> (nothing) steps = Add (lengths, one)
        steps_1 = Squeeze (steps, axes_1) steps_2 = Cast <to = 6> (steps_1)
        u_t_1 = Unsqueeze (u_t, k) h = Unsqueeze (h0, k)
        "", h2_last = RNN <hidden_size = 4> (x_1, weights, u_t_1, "", steps_2, h)
        h2_last_1 = Where (nothing, h, h2_last)
        h1 = Squeeze (h2_last_1, k) }}"""
    assert_rewrites(RaiseRecurrences(spread_nan=True), text, after, [])


@table(
    ("which differs between elements of a row", "Where (mask, hn, h)", "bool[B, 4]", ""),
    ("which is not a mask that keeps it", "Where (mask, hn, e)", "bool[B, 1]", ""),
    ("it holds ReduceSum", "Where (up, hn, h)", "bool[B, 1]",
     "s = ReduceSum (h) up = Greater (s, h)"))  # fmt: skip
def test_choices_that_are_no_mask(reason, choice, mask, more):
    assert_keeps(RaiseRecurrences(spread_nan=True), scan("RNN", choice, mask, more=more), reason)


def test_states_of_two_masks():
    model = scan("LSTM", "Where ({0}m, {0}n, {0})", more="hm = Identity (mask) cm = Not (mask)")
    assert_keeps(RaiseRecurrences(spread_nan=True), model, "which is not a mask that keeps it")


@pytest.mark.parametrize("shape", ["bool[1, B, 1]", "bool[B, 1]"])
def test_nodes_of_one_step(shape):
    sizes = shape[5:-1]
    text = f"""g (float[1, B, 4] h0, float[1, B, 4] c0, float[T, B, 4] x, bool[T, {sizes}] masks)
        => (float[1, B, 4] h1, float[1, B, 4] c1, float[T, 1, B, 4] y) {{
        h1, c1, y = Scan <num_scan_inputs = 2, body = f (float[1, B, 4] h, float[1, B, 4] c,
            float[B, 4] e, bool[{sizes}] mask)
            => (float[1, B, 4] h2, float[1, B, 4] c2, float[1, B, 4] out) {{
            zero = Constant <value_ints = [0]> () e1 = Unsqueeze (e, zero)
            all, hn, cn = LSTM <hidden_size = 4> (e1, w, r, "", "", h, c)
            h2 = Where (mask, hn, h) c2 = Where (mask, cn, c) out = Identity (h2) }}>
            (h0, c0, x, masks) }}"""
    model = weighted(text)
    for name in "wr":
        model.graph.initializer.append(onnx.numpy_helper.from_array(numbers(1, 16, 4), name))
    after = raised(model)
    assert op_types(after).count("LSTM") == 1
    for iterations, batch in SIZES:
        fed = {"x": numbers(iterations, batch, 4), "h0": numbers(1, batch, 4)}
        fed |= {"c0": numbers(1, batch, 4)}
        fed["masks"] = masks("gaps", iterations, *(1,) * (len(sizes) == 7), batch, 1)
        assert difference(model, after, fed) <= TESTED_ULPS, (iterations, batch)
