import itertools
import re

import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, assert_rewrites, run_passes
from sessions import by_reference
from straightline import transform
from straightline.passes import CountLoops
from straightline.verification.proof import prove
from tables import table

TYPES = {"int32": np.int32, "int64": np.int64}


def loop(condition, before="start", step=1, kind="int32", start="s", bound="n", most=""):
    """A Loop that counts from `s` towards `n`, and its iterations; `start`, `rest`: the conditions,
    over what is compared before and on each iteration."""
    first = f"go = Identity ({before})"
    if before == "start":
        first = condition.replace("J", start).replace("END", bound).replace("d =", "go =")
        first = re.sub(r"\b(h2?|w|z|l)\b", r"\1_0", first)
    return f"""g ({kind} s, {kind} n, int64 m, bool ask) => ({kind} e, int64 t, float[END] p)
    <{kind} zero = {{0}}, {kind} three = {{3}}, bool yes = {{1}}, int64 none = {{0}}> {{
        {first}
        e, t, p = Loop ({most}, go, {start}, none) <body = b (int64 k, bool c, {kind} i, int64 u)
                => (bool d, {kind} j, int64 v, float q)
                <{kind} one = {{{step}}}, int64 more = {{1}}> {{
            j = Add (i, one) v = Add (u, more) q = Cast <to = 1> (k)
            {condition.replace("J", "j").replace("END", bound)} }}> }}"""


def counted(text):
    """What becomes of a Loop; None where its body still has a condition of its own."""
    result = run_passes(text, CountLoops())
    node = next(n for n in result.model.graph.node if n.op_type == "Loop")
    body = next(a.g for a in node.attribute if a.name == "body")
    return result.model if body.output[0].name == body.input[1].name else None


def assert_counts(text, starts=(0, 2, 7), bounds=(-3, 0, 2, 6), kind="int32", most=9, proved=True):
    made = counted(text)
    assert made is not None
    assert prove(as_model(text), made).proved is proved
    cast = TYPES[kind]
    for s, n, ask in itertools.product(starts, bounds, (True, False)):
        feed = {"s": cast(s), "n": cast(n), "m": np.int64(most), "ask": np.bool_(ask)}
        given = {i.name for i in made.graph.input}
        assert_equal_outputs(text, made, {k: np.array(v) for k, v in feed.items() if k in given})


def assert_stays(text):
    assert counted(text) is None


def test_the_counted_loop():
    before = """g (int64 n, float[2] x) => (float[2] y, float[N] p) <int64 zero = {0}> {
        go = Less (zero, n)
        i, y, p = Loop (, go, zero, x) <body = b (int64 k, bool c, int64 i, float[2] a)
                => (bool d, int64 j, float[2] r, float q) <int64 one = {1}> {
            j = Add (i, one) r = Neg (a) q = Cast <to = 1> (k) d = Less (j, n) }> }"""
    after = """g (int64 n, float[2] x) => (float[2] y, float[N] p)
            <int64 zero = {0}, bool holds = {1}> {
        go = Less (zero, n)
        i, y, p = Loop (n, holds, zero, x) <body = b (int64 k, bool c, int64 i_1, float[2] a)
                => (bool c, int64 j, float[2] r, float q) <int64 one = {1}> {
            j = Add (i_1, one) r = Neg (a) q = Cast <to = 1> (k) d = Less (j, n) }> }"""
    feeds = [{"n": np.array(n), "x": np.ones(2, np.float32)} for n in (-1, 0, 1, 4)]
    assert_rewrites(CountLoops(), before, after, feeds)


@table(
    "d = Less (J, END)",
    "d = Greater (END, J)",
    "h = GreaterOrEqual (J, END) d = Not (h)",
    "h = Less (J, END) h2 = Identity (h) d = And (h2, h)",
    "w = Cast <to = 7> (J) z = Cast <to = 7> (END) d = Less (w, z)",
)
def test_upwards(condition):
    assert_counts(loop(condition))


def test_downwards():
    assert_counts(loop("d = Greater (J, END)", step=-1))
    assert_counts(loop("d = GreaterOrEqual (J, END)", step=-1, bound="three"))
    assert_counts(loop("d = GreaterOrEqual (J, END)", step=-1), proved=False)


@pytest.mark.parametrize("bound", ["zero", "three"])
@pytest.mark.parametrize("relation", ["GreaterOrEqual", "Greater"])
def test_counters_of_64_bits_downwards(relation, bound):
    text = loop(f"d = {relation} (J, END)", step=-1, kind="int64", bound=bound)
    # From the largest number to 0 the loop never ends: there are more iterations than it counts.
    proved = (relation, bound) != ("GreaterOrEqual", "zero")
    assert_counts(text, starts=(-5, 0, 2, 7), kind="int64", proved=proved)
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    bounded = counted(
        loop(f"d = {relation} (J, END)", step=-1, kind="int64", bound=bound, most="m")
    )
    for start, iterations in ((least, 0), (least + 1, 0), (most, 9), (most - 1, 9), (most - 3, 9)):
        feed = {"s": np.array(start), "n": np.array(0), "m": np.array(9), "ask": np.array(True)}
        feed = {i.name: feed[i.name] for i in bounded.graph.input if i.name in feed}
        assert by_reference(bounded, feed)[1] == iterations


def test_counters_of_64_bits_downwards_to_any_number_stay():
    assert_stays(loop("d = Greater (J, END)", step=-1, kind="int64"))
    assert_stays(loop("d = Greater (J, END)", before="ask", step=-1, kind="int64", bound="three"))


def test_up_to_a_number_itself():
    assert_counts(loop("d = LessOrEqual (J, END)", bound="three"))
    assert_counts(loop("d = LessOrEqual (J, END)"), proved=False)
    wide = loop("d = LessOrEqual (J, END)", start="zero", kind="int64")
    assert_counts(wide, kind="int64", proved=False)
    assert_stays(loop("d = LessOrEqual (J, END)", kind="int64"))


def test_the_first_iteration_ignores_the_condition():
    """The first iteration is made without being asked for."""
    assert_counts(loop("d = Less (J, END)", before="ask", start="zero"))
    assert_counts(loop("d = Less (J, END)", before="yes", start="zero"))
    assert_counts(loop("d = Less (i, END)", before="yes", start="three"))
    assert_counts(
        loop("d = Less (k, END)", before="ask", kind="int64", bound="three"), kind="int64"
    )
    assert_stays(loop("d = Less (J, END)", before="ask"))  # s + 1 may overflow


def test_a_maximum_beside_it():
    for most in (-1, 0, 2, 9):
        assert_counts(loop("d = Less (J, END)", most="m"), most=most)


def test_several_bounds():
    both = "h = Less (J, END) l = Less (J, three) d = And (h, l)"
    assert_counts(loop(both))
    assert_counts(loop(both, before="yes", start="zero"))
    assert_counts(loop("l = Less (J, END) d = And (l, c)", before="yes", start="zero"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("step", [2, 3])
def test_larger_steps(step):
    """The last step may pass the bound."""
    assert_counts(loop("d = Less (J, END)", step=step), proved=False)
    assert_counts(loop("d = Greater (J, END)", step=-step), proved=False)
    assert_counts(loop("d = Less (J, END)", step=step, before="yes", start="zero"), proved=False)
    assert_counts(loop(ROUNDED, step=step, bound="three"))
    for relation, kind in (("Less", "int64"), ("LessOrEqual", "int64"), ("LessOrEqual", "int32")):
        text = loop(f"d = {relation} (J, END)", step=step, start="zero", kind=kind)
        # One that jumps over the end of int64 has more iterations than any loop that ends.
        assert_counts(text, kind=kind, proved=(relation, kind) == ("Less", "int64"))
    down = loop("d = GreaterOrEqual (J, END)", step=-step, bound="three", kind="int64")
    assert_counts(down, kind="int64")


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_bounds_that_must_be_met(kind):
    """Beside its bound a counter never ends; a maximum shows it."""
    unequal = "h = Equal (J, END) d = Not (h)"
    for step, start, bound in ((1, "zero", "n"), (2, "zero", "n"), (-1, "s", "three")):
        text = loop(unequal, step=step, start=start, bound=bound, kind=kind, most="m")
        assert_counts(text, starts=(0, 2, 7), bounds=(-3, 0, 2, 6, 7), kind=kind, proved=False)
    assert_stays(loop(unequal, before="yes", start="zero", kind=kind, most="m"))
    assert_stays(loop(unequal.replace("d = Not (h)", "d = And (h, h)"), kind=kind))


def closing(condition, kind="int64", start="zero", low=1, high=-1):
    text = loop("d = Less (i, l)", "yes", kind=kind, start=start)
    text = text.replace("go = Identity (yes)", "go = Less (zero, n)")
    text = text.replace("e, t, p = Loop", "e, w, t, p = Loop").replace(
        f"{start}, none", f"{start}, n, none"
    )
    text = text.replace(f"{kind} i, int64 u)", f"{kind} i, {kind} h, int64 u)")
    text = text.replace(f"{kind} j, int64 v", f"{kind} j, {kind} l, int64 v")
    text = text.replace("{1}, int64 more", f"{{{low}}}, {kind} less = {{{high}}}, int64 more")
    return text.replace("d = Less (i, l)", f"l = Add (h, less) {condition}")


def test_bounds_that_move():
    """Two numbers that approach each other meet in the middle."""
    for kind in TYPES:
        assert_counts(closing("d = Less (j, l)", kind), (0,), range(-1, 7), kind, proved=False)
    assert_stays(closing("d = Less (i, l)"))  # another number than the initial condition compares
    assert_stays(closing("d = Less (j, l)", high=1))
    assert_stays(closing("d = Less (j, l)", low=2))


def test_invariant_conditions():
    both = "h = Less (J, END) d = And (h, ask)"
    assert_counts(loop(both, before="yes", start="zero"), proved=False)
    assert_counts(loop("d = Identity (ask)", before="yes", most="m"), most=3, proved=False)
    assert_counts(loop("d = Not (ask)", before="yes", most="m"), most=3, proved=False)
    assert_counts(loop("d = Identity (ask)", before="ask", most="m"), most=3, proved=False)
    assert_stays(loop("h = Less (J, END) d = Or (h, ask)", before="yes", start="zero"))
    assert_stays(loop("h = Less (J, END) d = Xor (h, ask)", before="yes", start="zero"))


ROUNDED = "w = Cast <to = 1> (J) z = Cast <to = 1> (END) d = Less (w, z)"


@pytest.mark.sample(3)
@table(6, 2**24, 2**24 + 1, 2**25 + 3, 2**30 - 1, 2**31 - 1, -(2**24) - 1)
def test_numbers_that_float32_rounds(end):
    """The Loop ends before the bound where numbers below it are rounded to the same."""
    text = loop(ROUNDED)
    low = max(end - 140, -(2**31))
    assert_counts(text, starts=(low, end - 1, end), bounds=(end,), proved=False)
    if end > 0:
        down = loop(ROUNDED.replace("Less", "Greater"), step=-1)
        starts = -end + 140, -end + 1, -end
        assert_counts(down, starts, bounds=(-end,), proved=False)


def test_64_bits():
    far = (2**63 - 1, -(2**63), -1, 0, 3)
    assert_counts(
        loop("d = Less (J, END)", kind="int64", start="zero", most="m"), (0,), far, "int64"
    )
    late = loop("d = Less (J, END)", kind="int64", start="three", most="m")
    assert_counts(late, (0,), far, "int64")
    for text in (
        loop("d = Less (J, END)", kind="int64"),
        loop("d = Greater (J, END)", kind="int64", step=-1),
        loop(ROUNDED, kind="int64", start="zero"),
        loop("d = Less (i, END)", before="yes", kind="int64", start="zero"),
    ):
        assert_stays(text)


def test_counters_of_32_bits_and_bounds_of_64():
    """The counter would wrap before it is at some of them."""
    wide = "w = Cast <to = 7> (J) d = Less (w, m)"
    assert_stays(loop(wide, before="yes", start="zero"))
    assert_counts(
        loop(wide.replace("(w, m)", "(w, three_)"), before="yes", start="zero").replace(
            "int64 none = {0}", "int64 none = {0}, int64 three_ = {3}"
        )
    )


def test_a_start_and_a_bound_that_are_rounded_to_the_same():
    """As float32 2^24 is not below 2^24 + 1, but the counter is."""
    text = loop("d = Less (J, END)", bound="three")
    text = text.replace("three = {3}", f"three = {{{2**24 + 1}}}")
    first = "w_1 = Cast <to = 1> (s) z_1 = Cast <to = 1> (three) go = Less (w_1, z_1)"
    text = text.replace("go = Less (s, three)", first)
    assert first in text
    assert_stays(text)


@table(
    loop("d = Less (J, END)", step=2, kind="int64"),  # it may wrap
    loop("d = Less (J, END)", step=1 << 17),
    loop("d = Greater (J, END)"),
    loop("h = Less (J, END) d = Xor (h, ask)"),
    loop("h = Less (J, END) d = Or (h, ask)"),
    loop("l = Mul (J, END) d = Less (l, END)", start="zero"),
    loop("d = Less (u, v)", before="yes", kind="int64"),
    loop("d = Less (J, END)").replace("(, go", "(m, "),
)
def test_kept_loops(text):
    assert_stays(text)


@table(("3", True), ("0", True), ("3.5", False), ("16777216", False))
def test_a_bound_that_was_cast_before(bound, counts):
    """tf2onnx casts both sides to float32, and a constant at once."""
    text = loop("f = Cast <to = 1> (J) d = Less (f, far)", before="yes", start="zero", kind="int32")
    assert "zero = {0}" in text
    text = text.replace("zero = {0}", f"zero = {{0}}, float far = {{{bound}}}", 1)
    if counts:
        assert_counts(text, starts=(0,), bounds=(0,))
    else:
        assert_stays(text)


@table(
    ("d = Less (J, END)", "", 3),
    ("d = LessOrEqual (J, END)", "", 4),
    ("d = Less (J, END) f = And (d, yes)", "two", 2),
)
def test_constants_need_no_operator_of_a_newer_opset(condition, most, iterations):
    text = loop(condition, before="yes", start="zero", bound="three", kind="int64", most=most)
    text = text.replace("none = {0}>", "none = {0}, int64 two = {2}>", 1)
    opset = 12 if "OrEqual" in condition else 11
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    after = counted(head + text.replace("f = And", "f0 = And"))
    node = next(node for node in after.graph.node if node.op_type == "Loop")
    (number,) = [t for t in after.graph.initializer if t.name == node.input[0]]
    assert onnx.numpy_helper.to_array(number) == iterations
    assert_counts(text, starts=(0,), bounds=(0,), kind="int64")


def test_others_stay_below_opset_12():
    """Min and Max accept no integers there."""
    for text in (loop("d = Less (J, END)"), loop("d = Identity (ask)", before="ask", most="m")):
        assert_stays('<ir_version: 8, opset_import: ["" : 11]>' + text)


def test_pure_recurrences_stay():
    """Nothing in them could be computed for all iterations at once."""
    text = loop("d = Less (J, END)").replace(", float q)", ")").replace(", float[END] p)", ")")
    text = text.replace("q = Cast <to = 1> (k)", "").replace("e, t, p =", "e, t =")
    assert counted(text) is not None
    assert_stays(text.replace("v = Add (u, more)", "v = Mul (u, u)"))


def test_a_map_of_tf2onnx_is_left_without_iterations():
    """A map over rows as tf2onnx writes it: no iteration is left."""
    text = """g (float[N, 3] x) => (float[M, 2] y)
            <float zero = {0}, int32 first = {0}> {
        g0 = Constant <value = int64 {0}> () shape = Shape (x) size = Gather (shape, g0)
        n = Cast <to = 6> (size) most = Cast <to = 7> (n) f = Cast <to = 1> (n)
        go = Less (zero, f)
        i, y = Loop (most, go, first) <body = b (int64 k, bool c, int32 i)
                => (bool d, int32 j, float[2] r) <int32 one = {1}, int64[1] two = {2}> {
            j = Add (i, one) e = Gather (x, i) r, w = TopK (e, two)
            a = Cast <to = 1> (j) b1 = Cast <to = 1> (n) h = Less (a, b1)
            p = Cast <to = 1> (k) l = Less (p, b1) d = And (l, h) }> }"""
    made = transform(as_model(text), "straighten").model
    assert not {"Loop", "Scan", "If"} & {node.op_type for node in made.graph.node}
    for size in (0, 1, 5):
        x = np.arange(3 * size, dtype=np.float32).reshape(size, 3)
        assert_equal_outputs(text, made, {"x": x})
