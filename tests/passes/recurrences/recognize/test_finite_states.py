import numpy as np
import pytest
from harness import as_model, op_types, run_in_onnxruntime
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason
from sessions import by_reference
from straightline import reference
from tables import table

VALUES = (
    "one1 = Constant <value = KIND {1}> () two = Constant <value = KIND {2}> ()"
    " no = Constant <value = KIND {0}> () three = Constant <value = KIND {3}> ()"
    " v = Cast <to = TYPE> (e) g = Greater (e, nil) k = Less (e, half) j = Cast <to = TYPE> (g) "
)
BODIES = {
    "remainder": "a = Mul (s, two) b = Add (a, v) s2 = Mod (b, three)",
    "remainder of a product": "a = Mul (s, v) s2 = Mod (a, three)",
    "saturated": "a = Add (s, v) b = Max (a, no) s2 = Min (b, three)",
    "clipped": "a = Sub (s, v) s2 = Clip (a, no, two)",
    "steps up and down": "a = Add (s, one1) b = Sub (s, one1) d = Where (g, a, b)"
    " s2 = Clip (d, no, three)",
    "chosen by the state": "a = Add (s, one1) b = Mod (a, three) h = Equal (b, two)"
    " s2 = Where (h, no, b)",
    "guarded": "a = Add (s, j) b = Mod (a, three) s2 = Where (k, b, s)",
    "guarded and reset": "a = Add (s, v) b = Clip (a, no, two) d = Where (k, s, b)"
    " s2 = Where (g, one1, d)",
    "divided": "a = Add (s, v) b = Clip (a, no, three) s2 = Div (b, two)",
    "flag": "h = Greater (s, v) l = And (h, k) s2 = Cast <to = TYPE> (l)",
}


def text_of(name, kind="int64", shape="[3]", is_all=True):
    body = f"{VALUES}{BODIES[name]}" + (" r = Identity (s2)" if is_all else "")
    body = body.replace("KIND", kind).replace("TYPE", {"int64": "7", "int32": "6"}[kind])
    if not shape:
        first = "at = Constant <value = int64 {0}> () e = Gather (row, at) "
        body = body.replace(" v = Cast", f" {first}v = Cast").replace("(x, i)", "(x, i)")
    row = f"{kind}{shape}"
    text = loop(body, f"{row} s s0", f"{row} r" if is_all else "")
    return text if shape else text.replace("e = Gather (x, i)", "row = Gather (x, i)")


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("shape", ["", "[3]"])
@pytest.mark.parametrize("is_all", [True, False])
def test_tables(name, kind, shape, is_all):
    text = text_of(name, kind, shape, is_all)
    model = raised(text, kept=["Scan"])
    info = np.iinfo(kind)
    for length in LENGTHS:
        for start in (0, 2, -5, info.max, info.min):
            fed = np.full(shape and (3,), start, kind)
            assert_same(text, model, numbers(length), exact=True, s0=fed)


@pytest.mark.parametrize("name", ["steps up and down", "saturated"])
def test_numbers_without_a_sign(name):
    """onnxruntime has no kernel of some of the operators in the loop."""
    text = text_of(name).replace("int64", "uint8").replace("to = 7", "to = 2")
    text = text.replace("uint8 n,", "int64 n,").replace("uint8 one =", "int64 one =")
    text = text.replace("(uint8 i", "(int64 i")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        for start in (0, 2, 255):
            feeds = {"x": abs(numbers(length)), "n": np.array(length)}
            feeds["s0"] = np.full(3, start, np.uint8)
            pairs = zip(
                *[by_reference(each, feeds) for each in (model, as_model(text))], strict=True
            )
            for one, other in pairs:
                np.testing.assert_array_equal(one, other)


def test_two_states_of_one_table():
    body = VALUES.replace("KIND", "int64").replace("TYPE", "7")
    body += "a = Add (s, t) s2 = Mod (a, three) b = Add (s, one1) d = Mul (b, t) t2 = Mod (d, two)"
    text = loop(body + " r = Add (s2, t2)", "int64 s s0; int64 t t0", "int64 r")
    model = raised(text.replace(" v = Cast <to = 7> (e)", ""), kept=["Scan"])
    for length in LENGTHS:
        for first, second in ((0, 1), (7, -3)):
            fed = {"s0": np.array(first), "t0": np.array(second)}
            assert_same(text, model, numbers(length), exact=True, **fed)


GREEDY = """t = Constant <value = float[3, 3] {{0, 1, -1, 0.5, 0, 2, 1, 0, 0}}> () a = Gather (t, s)
    p = Add (a, e) s2 = {} <axis = 0, keepdims = 0> (p) r = Identity (s2)"""


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_places_that_an_operator_bounds_by_sizes(operator):
    text = loop(GREEDY.format(operator), "int64 s s0", "int64 r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        for start in (0, 2, -3):
            assert_same(text, model, numbers(length), exact=True, s0=np.array(start))


@table(
    "a = Add (s, v) seventeen = Constant <value = int64 {17}> () s2 = Mod (a, seventeen)",
    "a = Add (s, v) s2 = Mod (a, v)",
    "a = Add (s, v) s2 = Max (a, no)",
    "a = Cast <to = 1> (s) b = Add (a, e) s2 = Cast <to = 7> (b)",
)
def test_more_values_stay(body):
    text = f"{VALUES}{body}".replace("KIND", "int64").replace("TYPE", "7")
    assert "carries 's'" in reason(loop(text, "int64[3] s s0"))


TURN = """turn = Constant <value = int64[3] {1, 2, 0}> () last = Constant <value = int64[1] {-1}> ()
    far = Constant <value = int64[1] {-9223372036854775807}> ()
    nought = Constant <value = int64[1] {0}> () """


@table(
    "u = Gather (s, turn)",
    "u = GatherElements (s, turn)",
    "u = Slice (s, last, far, nought, last)",
    "p = Gather (s, turn) u = Gather (turn, p)",
)
def test_states_whose_elements_read_each_other_stay(body):
    """A table has the next value of an element by that element alone."""
    body = f"{TURN}{VALUES}{body} a = Add (u, v) s2 = Mod (a, three)"
    body = body.replace("KIND", "int64").replace("TYPE", "7")
    assert "carries 's'" in reason(loop(body, "int64[3] s s0"))


def test_elements_of_a_square_that_change_places_stay():
    body = f"{VALUES} t = Transpose (s) u = Or (t, g) o = Not (t) s2 = And (u, o)"
    body = body.replace("KIND", "int64").replace("TYPE", "7")
    assert "carries 's'" in reason(loop(body, "bool[3,3] s s0"))


def test_an_element_of_a_table_for_each_element():
    body = (
        f"{TURN}{VALUES} u = Gather (turn, s) a = Add (u, v) s2 = Mod (a, three) r = Identity (s2)"
    )
    body = body.replace("KIND", "int64").replace("TYPE", "7")
    text = loop(body, "int64[3] s s0", "int64[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.array([0, 2, 1]))


TRACE = """<ir_version: 8, opset_import: ["" : 17]> g (KIND[N, 3] x, KINDSHAPE s0)
    => (KINDSHAPE y, KIND[REST] z) { y, z = Scan <num_scan_inputs = 1, body = b (KINDSHAPE s,
    KIND[3] e) => (KINDSHAPE t, KINDSHAPE r) { t = Gather (e, s) r = Identity (s) }> (s0, x) }"""


@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_places_in_rows(kind, shape):
    """A back trace; places count from the end, too, and others may stand where nothing looks."""
    sizes = {(): ("", "N"), (2,): ("[2]", "N, 2")}[shape]
    text = TRACE.replace("KIND", kind).replace("SHAPE", sizes[0]).replace("REST", sizes[1])
    model = raised(text, kept=["Scan"])
    assert op_types(model).count("GatherElements") == 0  # it is in the loop over distances
    for length in LENGTHS:
        x = np.random.default_rng(length).integers(-3, 3, (length, 3)).astype(kind)
        x[1:, 2][x[:-1].max(1, initial=-9) < 2] = 77
        for start in (0, -1):
            feeds = {"x": x, "s0": np.full(shape, start, kind)}
            try:
                expected = by_reference(as_model(text), feeds)
            except reference.EvaluationError:
                continue
            for run in (reference.run, run_in_onnxruntime)[: 1 + bool(length)]:
                for one, other in zip(run(model, feeds), expected, strict=True):
                    np.testing.assert_array_equal(one, other)
    feeds = {"x": np.full((3, 3), 7, kind), "s0": np.zeros(shape, kind)}
    with pytest.raises(reference.EvaluationError):
        reference.run(model, feeds)


@pytest.mark.parametrize("shape", ["", "[3]"])
@pytest.mark.parametrize("start", ["s0", "zero"])
def test_places_that_no_run_reaches(shape, start):
    """Column 7 of the table reads beyond it, and fails only for a run that looks there."""
    looked_up = "table = Constant <value = int64[4] {1, 2, 0, 7}> () g = Greater (e, nil) "
    body = looked_up + "a = Gather (table, s) s2 = Where (g, a, s) r = Identity (s)"
    if not shape:
        body = body.replace("g = Greater (e, nil)", "h = ReduceSum (e, no) g = Greater (h, nil)")
    text = loop(body, f"int64{shape} s {start}", f"int64{shape} r")
    text = text.replace("h = ReduceSum (e, no)", "h = ReduceSum <keepdims = 0> (e)")
    if start == "zero":
        ends = "int64 zero = {0}" if not shape else "int64[3] zero = {0, 0, 0}"
        text = text.replace(f", int64{shape} zero)", ")").replace("<bool yes", f"<{ends}, bool yes")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        fed = {"s0": np.zeros(shape and (3,), np.int64)} if start == "s0" else {}
        assert_same(text, model, numbers(length), exact=True, **fed)
    if start == "s0":
        feeds = {"x": np.ones((2, 3), np.float32), "s0": np.full(shape and (3,), 3)}
        for each in (as_model(text), model):
            with pytest.raises(reference.EvaluationError):
                by_reference(each, {**feeds, "n": np.array(2)})
            few = by_reference(each, {**feeds, "x": feeds["x"][:0], "n": np.array(0)})
            np.testing.assert_array_equal(few[0], feeds["s0"])


AUTOMATA = {
    "element of a row": "row = Gather (words, s) s2 = Gather (row, k)",
    "element at two places": "a = Unsqueeze (s, at) b = Unsqueeze (k, at) p = Concat <axis = 0>"
    " (a, b) s2 = GatherND (words, p)",
    "element at a computed place": "a = Mul (s, two) p = Add (a, k) l = Reshape (words, flat)"
    " s2 = Gather (l, p)",
}


@pytest.mark.parametrize("name", AUTOMATA)
def test_automata(name):
    body = """words = Constant <value = int64[3, 2] {1, 0, 2, 0, 2, 1}> () two = Constant <value =
        int64 {2}> () at = Constant <value = int64[1] {0}> () flat = Constant <value = int64[1]
        {-1}> () h = ReduceMax <keepdims = 0> (e) g = Greater (h, half) k = Cast <to = 7> (g) """
    text = loop(f"{body}{AUTOMATA[name]} r = Identity (s)", "int64 s s0", "int64 r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.array(1))
    few = reference.run(model, {"x": numbers(0), "n": np.array(0), "s0": np.array(9)})
    np.testing.assert_array_equal(few[0], 9)


@table(
    "m = Greater (s, half) t = Where (m, nil, half) g = Greater (e, t) s2 = Cast <to = 1> (g)",
    "t = Sub (half, s) g = Greater (e, t) one1 = Cast <to = 1> (one) s2 = Where (g, one1, nil)",
)
def test_floats_that_are_truth_values(body):
    text = loop(f"{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        for start in (0, 1, -0.25, np.nan, np.inf):
            fed = np.full(3, start, np.float32)
            assert_same(text, model, numbers(length), exact=True, s0=fed)


@table(
    "g = Greater (e, s) f = Cast <to = 1> (g) s2 = Neg (f)",
    "g = Greater (e, s) s2 = Where (g, half, nil)",
    "g = Greater (e, s) f = Cast <to = 1> (g) h = Less (e, nil) s2 = Where (h, f, s)",
)
def test_floats_that_are_none_stay(body):
    """A -0, a half, a float that is kept."""
    assert "carries 's'" in reason(loop(body, "float[3] s s0"))


def test_floats_that_count_are_whole_if_the_first_ones_are():
    unit = "unit = Constant <value = float {1}> () two = Constant <value = float {2}> () "
    body = "g = Greater (s, e) a = Add (s, unit) d = Clip (a, nil, two) s2 = Where (g, nil, d) "
    text = loop(f"{unit}{body} r = Identity (s2)", "float[3] s s0", "float[3] r")
    assert "carries 's'" in reason(text)  # a half stays one
    text = text.replace("<bool yes", "<float[3] first = {1, 0, 5}, bool yes")
    text = text.replace("(n, yes, s0)", "(n, yes, first)")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True, s0=np.zeros(3, np.float32))


def test_a_counter_that_a_test_clears():
    """With the truth values that it reads told apart, a counter is cleared before 3."""
    body = """three = Constant <value = int64 {3}> () zero = Constant <value = int64 {0}> ()
        m = ReduceMax <keepdims = 0> (e) x1 = Greater (m, half) d = Xor (x1, t)
        a = Add (s, one) b = Where (d, a, zero) h = Equal (b, three) t2 = Xor (t, h)
        s2 = Where (h, zero, b) r = Identity (t2)"""
    text = loop(body, "int64 s nought; bool t no", "bool r").replace(", int64 nought, bool no", "")
    text = text.replace("<bool yes", "<int64 nought = {0}, bool no = {0}, bool yes")
    model = raised(text, kept=["Scan"])
    for length in LENGTHS:
        assert_same(text, model, numbers(length), exact=True)
