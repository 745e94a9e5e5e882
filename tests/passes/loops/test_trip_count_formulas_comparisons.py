"""What of a Loop's condition is a counter that is compared with a bound."""

from straightline import ir
from straightline.analysis.iterations.trip_count_bound import parts
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.loops.trip_count_formulas import ConditionReader, integer
from tables import table


def read(condition, before="go = Less (s, n)", step=1):
    """What the parts of a condition compare, and whether the initial condition says the same."""
    model = ir.load(
        ir.to_proto(
            ir.parse(f"""<ir_version: 8, opset_import: ["" : 17]>
                g (int32 s, int32 n, float f) => (int32 e, int32 p) {{
                    {before}
                    e, p = Loop (, go, s, n) <body = b (int64 t, bool c, int32 i, int32 m)
                            => (bool d, int32 j, int32 m2) <int32 step = {{{step}}}> {{
                        j = Add (i, step) m2 = Identity (m) {condition} }}> }}""")
        )
    )
    loop = next(iter(model.graph.nodes_of("Loop")))
    reader = ConditionReader(loop, ShapeInference(model))
    found = [reader.inside(part) for part in parts(loop.body("body").outputs[0])]
    firsts = list(parts(loop.input(1)))
    return found, [c is not None and any(reader.matches_start(p, c) for p in firsts) for c in found]


@table(
    ("d = Less (j, n)", 1, 1, "n", False),
    ("d = Less (i, n)", 1, 0, "n", False),
    ("d = Less (j, m)", 1, 1, "n", False),
    ("d = GreaterOrEqual (n, j)", 1, 1, "n", True),
    ("d = Greater (j, n)", -1, -1, "n", False),
    ("h = Less (j, n) d = Not (h)", -1, -1, "n", True),
)
def test_comparisons_of_a_counter(condition, step, offset, bound, equal):
    (found,), _ = read(condition, step=step)
    assert (found.counter.start.name, found.counter.step, found.counter.offset) == (
        "s",
        step,
        offset,
    )
    assert (found.bound.name, found.equal, found.rounded) == (bound, equal, False)


def test_rounded_comparisons():
    casts = "a = Cast <to = {0}> (j) b1 = Cast <to = {0}> (n) d = Less (a, b1)"
    assert [read(casts.format(to))[0][0].rounded for to in (1, 7, 11)] == [True, False, False]
    assert read(casts.format(10))[0] == [None]


@table("d = Less (n, j)", "d = Equal (j, n)", "x = Mul (j, j) d = Less (x, n)", "d = Less (j, j)")
def test_conditions_without_a_comparison(condition):
    assert read(condition)[0] == [None]


@table(
    ("go = Less (s, n)", True),
    ("go = Greater (n, s)", True),
    ("go = LessOrEqual (s, n)", False),
    ("go = Less (n, s)", False),
    ("x = Cast <to = 1> (s) y = Cast <to = 1> (n) go = Less (x, y)", False),
    ("x = Cast <to = 7> (s) y = Cast <to = 7> (n) go = Less (x, y)", True),
)
def test_facts_of_the_initial_condition(before, says):
    assert read("d = Less (j, n)", before)[1] == [says]
    assert read("d = Less (i, n)", before)[1] == [False]


def test_integers():
    graph = ir.parse("""<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y)
        <int32 a = {3}, float b = {0.5}, float c = {2}, int64[2] e = {1, 2}, string s = {"7"}> {
            f = Cast <to = 1> (a) h = Add (b, c) k = Cast <to = 1> (e) l = Add (f, h) y = Add (x, l)
        }""").graph
    found = {value.name: integer(value) for value in graph.initializers}
    assert found == {"a": 3, "b": None, "c": 2, "e": None, "s": None}
