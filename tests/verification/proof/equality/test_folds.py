import numpy as np
import onnx
import pytest
from harness import as_model
from proofs import is_proved, over_reals
from sessions import by_reference
from straightline.verification.proof import prove
from straightline.verification.proof.equality.fold_forms import JOINS
from tables import table

LOOP = """<ir_version: 8, opset_import: ["" : 18]>
    g ({t}[n, 3] x, {t}[3] h) => ({t}[3] last, {t}[a, b] y)
    <{t}[3] none = {{0, 0, 0}}, {t}[3] ones = {{1, 1, 1}}, {t}[1, 3] row = {{1, 2, 3}},
     int64[1] axis = {{0}}, int64 first = {{0}}, int64[1] end = {{-1}}> {{
    {nodes} }}"""
SCAN = """last, y = Scan <num_scan_inputs = 1, body = step ({t}[3] s, {t}[3] e)
    => ({t}[3] s_next, {t}[3] out) {{ k = Mul (e, e) s_next = {op} (s, k)
    out = Identity ({out}) }}> ({init}, x) """
VALUES = "v = Mul (x, x) "


def model(nodes, t="float"):
    return onnx.parser.parse_model(LOOP.format(nodes=nodes.replace("{t}", t), t=t))


def loop(op, init, out="s_next", t="float"):
    return model(SCAN.format(op=op, init=init, out=out, t=t), t)


def rest(op, init, t="float"):
    """The other output as the loop computes it."""
    return SCAN.format(op=op, init=init, out="s_next", t=t)


FINAL = {
    "sum": ("Add", "none", "ReduceSum <keepdims = 0> (v, axis)"),
    "sum from a state": ("Add", "h", "ReduceSum <keepdims = 0> (v, axis) {} = Add (r, h)"),
    "product": ("Mul", "ones", "ReduceProd <keepdims = 0> (v, axis)"),
    "maximum": ("Max", "h", "ReduceMax <keepdims = 0> (c, axis)"),
    "minimum": ("Min", "h", "ReduceMin <keepdims = 0> (c, axis)"),
    "sum of all": ("Add", "h", "ReduceSum <keepdims = 0> (c, axis)"),
}
BEGIN = "u = Unsqueeze (h, axis) c = Concat <axis = 0> (u, v) "


def final(name, t, init=None, op=None, values=VALUES):
    """Loop, and the loop whose last state is a reduction."""
    own, begin, call = FINAL[name]
    one = loop(own, init or begin, t=t)
    nodes = rest(own, init or begin, t).replace("last, y", "unused, y") + values + BEGIN
    call = call if op is None else call.replace(*op)
    nodes += f"r = {call.format('last')}" if "{}" in call else f"last = {call}"
    return one, model(nodes, t)


@pytest.mark.sample(6)
@pytest.mark.parametrize("t", ["float", "int64"])
@pytest.mark.parametrize("name", FINAL)
def test_a_last_state_is_a_reduction(name, t):
    one, other = final(name, t)
    proof = prove(one, other)
    assert proof.proved is (t == "int64"), proof.reason
    assert over_reals(one, other)
    assert over_reals(other, one)
    numbers = np.array([[1, -2, 3], [4, 5, -6]], t.replace("float", "float32"))
    for rows in (numbers, numbers[:1], numbers[:0]):
        feeds = {"x": rows, "h": numbers[1]}
        for mine, its in zip(by_reference(one, feeds), by_reference(other, feeds), strict=True):
            np.testing.assert_array_equal(mine, its)


@pytest.mark.sample(11)
@pytest.mark.parametrize("t", ["float", "int64"])
@table(
    ("sum", "h", None, VALUES),
    ("sum", "ones", None, VALUES),
    ("product", "none", None, VALUES),
    ("product", "h", None, VALUES),
    ("sum", None, ("ReduceSum", "ReduceProd"), VALUES),
    ("sum", None, ("(v, axis)", "(x, axis)"), VALUES),
    ("sum", None, None, "q = Mul (x, x) v = Concat <axis = 0> (q, row) "),
    ("sum from a state", None, ("(r, h)", "(r, none)"), VALUES),
    ("maximum", None, ("ReduceMax", "ReduceMin"), VALUES),
    ("maximum", None, ("(c, axis)", "(v, axis)"), VALUES),
    ("sum of all", "none", None, VALUES),
)
def test_another_reduction_stays_open(name, init, op, values, t):
    one, other = final(name, t, init, op, values)
    assert not over_reals(one, other)


def prefixes(t, init, out, call, op="Add"):
    nodes = rest(op, init, t).replace("last, y", "last, unused") + VALUES + call
    return loop(op, init, out, t), model(nodes, t)


@pytest.mark.parametrize("t", ["float", "int64"])
@table(
    ("inclusive", ("none", "s_next", "y = CumSum (v, first)")),
    ("exclusive", ("none", "s", "y = CumSum <exclusive = 1> (v, first)")),
    ("from a state", ("h", "s_next", "c = CumSum (v, first) y = Add (c, h)")),
    ("from a state, exclusive", ("h", "s", "c = CumSum <exclusive = 1> (v, first) y = Add (h, c)")),
)
def test_sums_are_elements_of_a_cumsum(name, case, t):
    one, other = prefixes(t, *case)
    assert over_reals(one, other), prove(one, other, equality="reals").reason
    assert over_reals(other, one)
    numbers = np.array([[1, -2, 3], [4, 5, -6]], t.replace("float", "float32"))
    feeds = {"x": numbers, "h": numbers[1]}
    for mine, its in zip(by_reference(one, feeds), by_reference(other, feeds), strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.sample(8)
@pytest.mark.parametrize("t", ["float", "int64"])
@table(
    ("none", "s", "y = CumSum (v, first)"),
    ("none", "s_next", "y = CumSum <exclusive = 1> (v, first)"),
    ("none", "s_next", "y = CumSum <reverse = 1> (v, first)"),
    ("h", "s_next", "y = CumSum (v, first)"),
    ("none", "s_next", "c = CumSum (v, first) y = Add (c, h)"),
    ("ones", "s_next", "c = CumSum (v, first) y = Add (c, none)"),
    ("none", "s_next", "y = CumSum (x, first)"),
    ("none", "k", "y = CumSum (v, first)"),
)
def test_another_cumsum_stays_open(init, out, call, t):
    one, other = prefixes(t, init, out, call)
    assert not over_reals(one, other)


def test_a_state_that_its_operand_holds_is_no_sum():
    """s + s * e is no sum of e."""
    nodes = rest("Add", "ones").replace("(e, e)", "(s, e)")
    total = "r = ReduceSum <keepdims = 0> (x, axis) last = Add (r, ones)"
    other = model(nodes.replace("last, y", "end_state, y") + total)
    assert not over_reals(model(nodes), other)


def test_a_slice_back_to_front_is_a_reversal():
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4, 3] x) => (float[4, 3] y)
        <int64[1] end = {-1}, int64[1] most = {-9223372036854775808}, int64[1] axis = {0},
         int64[4] places = {%s}> { y = %s }"""
    before, after_ = (
        onnx.parser.parse_model(text % ("3, 2, 1, 0", call))
        for call in ("Slice (x, end, most, axis, end)", "Gather <axis = 0> (x, places)")
    )
    assert is_proved(before, after_)
    other = onnx.parser.parse_model(text % ("3, 2, 0, 1", "Gather <axis = 0> (x, places)"))
    assert not is_proved(before, other)


CHOICES = {
    "a Where": "g = Less (e, none) t = {op} (s, k) s_next = Where (g, t, s)",
    "the other branch": "g = Less (none, e) t = {op} (k, s) s_next = Where (g, s, t)",
    "two of them": "g = Less (e, none) f = Less (ones, e) t = {op} (s, k) u = {op} (s, ones)"
    " w = Where (f, u, s) s_next = Where (g, t, w)",
    "an If": "m = ReduceMax <keepdims = 0> (e) g = Less (m, zero) s_next = If (g) <"
    " then_branch = a () => ({t}[3] p) {{ p = {op} (s, k) }},"
    " else_branch = b () => ({t}[3] q) {{ q = Identity (s) }}>",
}
SUMMED = {
    "a Where": "g = Less (x, none) w = Where (g, v, {neutral})",
    "the other branch": "g = Less (none, x) w = Where (g, {neutral}, v)",
    "two of them": "g = Less (x, none) f = Less (ones, x) u = Where (f, ones, {neutral})"
    " w = Where (g, v, u)",
    "an If": "m = ReduceMax <keepdims = 1> (x, second) g = Less (m, zero)"
    " w = Where (g, v, {neutral})",
}


def chosen(name, op, changes=(), t="float"):
    """Loop that a condition lets add, and the reduction of what it adds."""
    neutral, begin = ("none", "none") if op == "Add" else ("ones", "ones")
    last = "ReduceSum" if op == "Add" else "ReduceProd"
    last = f"last = {last} <keepdims = 0> (w, axis)"
    step = SCAN.replace("s_next = {op} (s, k)", CHOICES[name])
    own = step.format(op=op, init=begin, out="k", t=t)
    other = own.replace("last, y", "unused, y") + VALUES
    other += SUMMED[name].format(neutral=neutral) + f" {last}"
    for old, new in changes:
        assert old in other
        other = other.replace(old, new)
    kinds = f"{t} zero = {{{{0}}}}, int64[1] second = {{{{1}}}}, int64[1] end"
    return [
        onnx.parser.parse_model(LOOP.replace("int64[1] end", kinds).format(nodes=nodes, t=t))
        for nodes in (own, other)
    ]


@pytest.mark.sample(8)
@pytest.mark.parametrize("op", ["Add", "Mul"])
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("t", ["float", "int64"])
def test_conditional_additions(name, op, t):
    one, other = chosen(name, op, t=t)
    assert over_reals(one, other)
    assert is_proved(one, other) is (t == "int64")
    numbers = np.array([[1, -2, 3], [-4, -5, -6]], t.replace("float", "float32"))
    for rows in (numbers, numbers[:1], numbers[:0]):
        feeds = {"x": rows, "h": numbers[1]}
        for mine, its in zip(by_reference(one, feeds), by_reference(other, feeds), strict=True):
            np.testing.assert_array_equal(mine, its)


@table(
    ("Add", [("Where (g, v, none)", "Where (g, v, ones)")]),
    ("Add", [("Where (g, v, none)", "Where (g, none, v)")]),
    ("Add", [("Less (x, none)", "Less (x, ones)")]),
    ("Mul", [("Where (g, v, ones)", "Where (g, v, none)")]),
    ("Mul", [("ReduceProd", "ReduceSum")]),
)
def test_other_choices_stay_open(op, changes):
    one, other = chosen("a Where", op, changes)
    assert not over_reals(one, other)


def test_a_condition_on_the_state_stays_open():
    one, other = chosen("a Where", "Add")
    text = onnx.printer.to_text(one).replace("Less (e, none)", "Less (s, none)")
    assert not over_reals(onnx.parser.parse_model(text), other)


MEANS = """g (float[n, 3] x) => (float[m, 3] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] k = {0}, int64[1] k1 = {1}, bool go = {1}> {
    s = Shape (x) n = Gather <axis = 0> (s, zero)
    y = Loop (n, go) <body = b (int64 i, bool c) => (bool d, float[3] t) { d = Identity (c)
        j = Add (i, one) e = Unsqueeze (%s, k) p = Slice (x, k, e, k)
        t = %s <axes = [0], keepdims = 0> (p) }> }"""
AT_ONCE = """g (float[n, 3] x) => (float[m, 3] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] k1 = {1}, int64[1] k = {0}> {
    s = Shape (x) n = Gather <axis = 0> (s, zero) c = CumSum (x, zero) r = Range (zero, n, one)
    j = Add (r, one) f = Cast <to = 1> (%s) g = Unsqueeze (f, k1) y = Div (c, g) }"""


def test_means_of_prefixes_are_elements_of_a_cumsum_by_their_number():
    loop = as_model(MEANS % ("j", "ReduceMean"))
    own, other = (as_model(AT_ONCE % number) for number in ("j", "r"))
    assert over_reals(loop, own)
    assert over_reals(own, loop)
    assert not is_proved(loop, own)  # bit for bit a kernel may add in another order
    assert not over_reals(loop, other)
    shorter = as_model(MEANS % ("i", "ReduceMean"))
    assert not over_reals(shorter, own)


RUNNING = """g (float[n, 3] x) => (float[m, 3] y)
    <float[3] low = {-inf, -inf, -inf}> { l, y = Scan <num_scan_inputs = 1, body = b (float[3] s,
    float[3] e) => (float[3] t, float[3] u) { t = %s (s, e) u = Identity (t) }> (low, x) }"""


def test_extremes_of_prefixes_are_states():
    loop = as_model(MEANS % ("j", "ReduceMax"))
    assert over_reals(loop, as_model(RUNNING % "Max"))
    assert not over_reals(loop, as_model(RUNNING % "Min"))
    finite = as_model((RUNNING % "Max").replace("-inf", "-9"))
    assert not over_reals(loop, finite)


REGISTER = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 2] x, float[3, 2] f)
    => (float[3, 2] y) <int64[1] k = {0}, int64[1] one = {1}, int64[1] three = {3}> {
    y = Scan <num_scan_inputs = 1, body = b (float[3, 2] s, float[2] e) => (float[3, 2] t) {
        r = Slice (s, one, three, k) u = Unsqueeze (e, k) t = Concat <axis = 0> (%s) }> (f, x) }"""


@table(("r, u", -3, "f, x"), ("u, r", -3, "f, x"), ("r, u", -2, "f, x"), ("r, u", -3, "x, f"))
def test_a_register_of_the_last_rows(update, start, joined):
    last_rows = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 2] x, float[3, 2] f)
        => (float[3, 2] y) <int64[1] k = {0}, int64[1] from = {%d}, int64[1] to = {9999999999999}> {
        c = Concat <axis = 0> (%s) y = Slice (c, from, to, k) }"""
    loop, rows = (
        onnx.parser.parse_model(text) for text in (REGISTER % update, last_rows % (start, joined))
    )
    is_equal = (update, start, joined) == ("r, u", -3, "f, x")
    assert is_proved(loop, rows) is is_equal
    if not is_equal:
        return
    for count in (0, 1, 2, 5):
        draw = np.random.default_rng(count).normal
        feeds = {"x": draw(size=(count, 2)), "f": draw(size=(3, 2))}
        feeds = {name: array.astype("float32") for name, array in feeds.items()}
        np.testing.assert_array_equal(by_reference(loop, feeds)[0], by_reference(rows, feeds)[0])


def test_the_exponential_of_a_state_is_a_sum():
    log_of_sum = """g (float[n, 2] x) => (float[2] y)
        <float[2] ones = {1, 1}, int64[1] k = {0}> { e = Exp (x) s = ReduceSum <keepdims = 0> (e, k)
        p = Add (s, ones) y = Log (p) }"""
    other = as_model(log_of_sum)
    logs = """g (float[n, 2] x) => (float[2] y)
        <float[2] f = {%s}> { y = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e)
        => (float[2] t) { a = Exp (s) b = Exp (%s) c = Add (a, b) t = Log (c) }> (f, x) }"""
    for first, row in (("0, 0", "e"), ("1, 1", "e"), ("0, 0", "s")):
        proof = prove(as_model(logs % (first, row)), other, equality="reals")
        assert proof.proved is ((first, row) == ("0, 0", "e")), proof.reason


SUM_OF_SUMS = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 2] x) => (float[2] y)
    <int64 k = {0}, int64[1] a = {0}> { s = CumSum%s (x, k) y = ReduceSum <keepdims = 0> (s, a) }"""


@table(("w", "", True), ("r", "", False), ("e", "", False), ("w", " <reverse = 1>", False))
def test_equal_sums_with_a_common_summand_have_another_one_in_common(added, along, holds):
    of_sums = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 2] x) => (float[2] y)
        <float[2] f = {0, 0}> { v, y = Scan <num_scan_inputs = 1, body = b (float[2] r, float[2] s,
        float[2] e) => (float[2] w, float[2] t) { w = Add (r, e) t = Add (s, %s) }> (f, f, x) }"""
    models = [onnx.parser.parse_model(text) for text in (of_sums % added, SUM_OF_SUMS % along)]
    assert over_reals(*models) is holds
    assert not is_proved(*models)


@pytest.mark.parametrize("join", sorted(JOINS))
def test_joins_are_associative_and_commutative_with_a_neutral_element(join):
    """On integers that wrap, or on truth values."""
    dtype = bool if join in ("And", "Or", "Xor") else np.int8
    edges = np.array([-128, -127, -1, 0, 1, 2, 3, 64, 127], np.int8)
    numbers = np.unique(edges.astype(dtype))
    joined = {
        "Add": np.add, "Mul": np.multiply, "Max": np.maximum, "Min": np.minimum,
        "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor,
    }[join]  # fmt: skip
    a, b, c = np.meshgrid(numbers, numbers, numbers)
    np.testing.assert_array_equal(joined(joined(a, b), c), joined(a, joined(b, c)))
    np.testing.assert_array_equal(joined(a, b), joined(b, a))
    neutral = dtype(JOINS[join].neutral(np.dtype(dtype)))
    np.testing.assert_array_equal(joined(numbers, neutral), numbers)
