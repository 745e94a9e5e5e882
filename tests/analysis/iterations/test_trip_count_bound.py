from harness import as_model
from straightline import ir
from straightline.analysis.constants.folding import Folder
from straightline.analysis.iterations.trip_count import TripCount
from straightline.analysis.iterations.trip_count_bound import maximum, parts
from tables import table


def loop_of(given, go):
    text = """g (float x, int64 n) => (float y)
        <int64 zero = {0}, int64 one = {1}, int64 five = {5}, int64 seven = {7}, bool yes = {1},
         int64 huge = {9223372036854775807}> {
            y, end = Loop (GIVEN) <body = b (int64 i, bool k, float a, int64 j)
                                       => (bool go, float r, int64 j2) {
                r = Add (a, a)  open = Less (r, x)  j2 = Add (j, one)  few = Less (j2, five)
                over = GreaterOrEqual (j2, five)  always = GreaterOrEqual (j2, zero)  GO }> }"""
    model = ir.load(as_model(text.replace("GIVEN", given).replace("GO", go)))
    (loop,) = model.graph.nodes()
    return loop, Folder(model)


@table(
    ("huge, yes, x, zero", "go = And (open, few)", 5),
    (", yes, x, zero", "go = And (open, few)", 5),
    ("n, yes, x, zero", "go = And (open, few)", 5),
    ("seven, yes, x, zero", "go = And (open, few)", 5),
    ("one, yes, x, zero", "go = And (open, few)", 1),
    ("seven, yes, x, zero", "go = Identity (open)", 7),
    ("seven, yes, x, zero", "go = Or (open, few)", 7),
    ("huge, yes, x, zero", "no = Not (open) out = Or (no, over) go = Not (out)", 5),
    ("huge, yes, x, zero", "go = And (open, always)", None),
    ("huge, yes, x, zero", "go = Or (open, few)", None),
    ("huge, yes, x, zero", "go = Identity (open)", None),
    ("seven, , x, zero", "go = And (open, few)", 7),
)
def test_the_least_bound_counts(given, go, most):
    loop, folder = loop_of(given, go)
    assert maximum(loop, folder, 100).count == most


def test_without_an_initial_condition_the_reading_decides():
    loop, folder = loop_of("seven, , x, zero", "go = And (open, few)")
    assert maximum(loop, folder, 100, "honour").count == 5


def test_a_bound_beyond_the_limit_is_none():
    loop, folder = loop_of("huge, yes, x, zero", "go = And (open, few)")
    assert maximum(loop, folder, 3) == TripCount(None, "it may make more than 3 iterations", True)
    assert maximum(loop, folder, 5).count == 5


def test_parts():
    loop, _ = loop_of(
        "huge, yes, x, zero",
        "no = Not (open) w = And (few, k) out = Not (w) z = Or (no, out) go = Not (z)",
    )
    found = [(part.value.name, part.holds) for part in parts(loop.body("body").outputs[0])]
    assert found == [("open", True), ("few", True), ("k", True)]
