import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason

HEAD = (
    "one1 = Constant <value = KIND {1}> () no = Constant <value = KIND {0}> ()"
    " many = Constant <value = KIND {100}> () g = Greater (e, nil) k = Less (e, half)"
    " j = Cast <to = TYPE> (g) "
)
SETTLED = {
    "up": "a = Add (s, one1) s2 = Min (a, many)",
    "up by flags": "a = Add (s, j) s2 = Min (many, a)",
    "down": "a = Sub (s, one1) s2 = Max (a, no)",
    "down, chosen": "a = Sub (s, one1) h = Less (a, no) s2 = Where (h, no, a)",
    "down, then reset": "a = Sub (s, one1) b = Max (a, no) s2 = Where (k, many, b)",
    "both ways": "a = Add (s, j) b = Sub (a, one1) d = Add (b, j) s2 = Clip (d, no, many)",
    "between the bounds": "a = Min (s, many) b = Sub (a, one1) s2 = Max (b, no)",
}
OPEN = {
    "any step": "v = Cast <to = TYPE> (e) a = Add (s, v) s2 = Max (a, no)",
    "a bound that sums of steps make wrap": "far = Constant <value = KIND {9223372036854775798}> ()"
    " a = Add (s, one1) s2 = Min (a, far)",
    "the wrong bound": "a = Add (s, one1) s2 = Max (a, no)",
    "kept before the first bound": "a = Add (s, one1) b = Min (a, many) s2 = Where (g, b, s)",
}


def text_of(body, kind):
    kinds = {"KIND": kind, "TYPE": {"int64": "7", "int32": "6"}[kind]}
    body = f"{HEAD}{body} r = Identity (s2)"
    for old, new in kinds.items():
        body = body.replace(old, new)
    return loop(body, f"{kind}[3] s s0", f"{kind}[3] r")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", SETTLED)
@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_bounded_sums(name, kind):
    """Only the first iteration may wrap."""
    text, info = text_of(SETTLED[name], kind), np.iinfo(kind)
    model = raised(text, kept=["Scan"])
    for length in (*LENGTHS, 130):
        for start in (0, 99, info.max, info.min, info.min + 1):
            fed = np.full(3, start, kind)
            assert_same(text, model, numbers(length), exact=True, s0=fed)


@pytest.mark.parametrize("name", OPEN)
def test_sums_that_may_wrap_stay(name):
    assert "may wrap" in reason(text_of(OPEN[name], "int64"))


COUNTS = {
    "the wrong bound": OPEN["the wrong bound"],
    "iteration numbers": "a = Add (s, i) b = Sub (a, many) s2 = Max (b, no)",
    "Viterbi": "a = Add (s, j) b = Sub (t, one1) s2 = Max (a, b) d = Add (s, one1)"
    " h = Add (t, j) t2 = Max (d, h)",
    "shortest, with a reset": "a = Add (s, j) b = Min (a, t) s2 = Where (k, many, b)"
    " d = Add (t, i) t2 = Min (d, s)",
}


@pytest.mark.parametrize("name", COUNTS)
def test_sums_that_no_number_of_iterations_makes_wrap(name):
    text = text_of(COUNTS[name], "int64").replace("int64[3] s0) =>", "int32[3] small) =>")
    if "t2" in COUNTS[name]:
        text = text.replace(", int64[3] s)", ", int64[3] s, int64[3] t)")
        text = text.replace("int64[3] s2", "int64[3] s2, int64[3] t2").replace(
            "yes, s0", "yes, s0, s0"
        )
        text = text.replace("s_last, r_all = Loop", "s_last, t_last, r_all = Loop")
    text = text.replace("> {\n", "> { s0 = Cast <to = 7> (small)\n", 1)
    model = raised(text, kept=["Scan"])
    for length in (*LENGTHS, 130):
        start = np.array([0, np.iinfo(np.int32).max, np.iinfo(np.int32).min], np.int32)
        assert_same(text, model, numbers(length), exact=True, small=start)
