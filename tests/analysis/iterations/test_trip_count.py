import pytest
from harness import as_model
from straightline import ir
from straightline.analysis.constants.folding import Folder
from straightline.analysis.iterations.trip_count import trip_count
from tables import table

FUNCTION = """<domain: "local", opset_import: ["" : 17]> less (a, b) => (c) { c = Less (a, b) }"""


def counted(condition, inputs="most, yes", limit=100):
    """The iterations of a Loop that counts k from 0, and whose body computes c2."""
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.microsoft" : 1]>\n'
    text = f"""{head}g (float[2] x, int64 n, bool q) => (float[2] y, int64 last)
        <int64 most = {{9223372036854775807}}, int64 zero = {{0}}, int64 one = {{1}},
         int64 two = {{2}}, int64 five = {{5}}, bool yes = {{1}}, bool no = {{0}}, bool[3] table =
             {{1, 1, 0}},
         bool[2] short = {{1, 1}}, int64[2] pair = {{7, 8}}> {{
        y, last = Loop ({inputs}, x, zero) <body = b (int64 i, bool c, float[2] a, int64 k)
                                                 => (bool c2, float[2] r, int64 k2) {{
            k2 = Add (k, one) r = Neg (a) {condition} }}> }}
    {FUNCTION}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    return trip_count(loop, Folder(model), limit)


@table(
    ("c2 = Less (k2, five)", 5),
    ("c2 = Less (i, two)", 3),
    ("c2 = Not (c)", 1),
    ("c2 = Gather (table, i)", 3),
    ("c2 = local.less (k2, five)", 5),
    (
        """d = Less (k2, two)
            c2 = If (d) <then_branch = t () => (bool u) { u = Identity (c) },
                         else_branch = e () => (bool v) { v = Less (k2, five) }>""",
        5,
    ),
    (
        """s = Loop (k2, , zero) <body = l (int64 j, bool d, int64 t) => (bool e, int64 t2) {
                e = Identity (d) t2 = Add (t, j)
            }> c2 = Less (s, five)""",
        4,
    ),
    (
        """s = Loop (, yes, zero) <body = l (int64 j, bool d, int64 t) => (bool e, int64 t2) {
                t2 = Add (t, one) e = Less (t2, k2)
            }> c2 = Less (s, five)""",
        5,
    ),
)
@pytest.mark.parametrize("inputs", ["most, yes", ", yes"])
def test_a_computed_condition(condition, iterations, inputs):
    assert counted(condition, inputs).count == iterations


@table(
    ("c2 = Identity (c)", "n, yes", "trip count depends on input 'n'"),
    ("c2 = Identity (c)", "most, q", "its initial condition depends on input 'q'"),
    ("c2 = Not (q)", "most, yes", "its condition depends on input 'q'"),
    ("c2 = Less (k2, five)", "n, yes", "trip count depends on input 'n'"),
    ("c2 = Identity (c)", ", yes", "it never ends"),
    ("c2 = Or (c, yes)", ", yes", "its condition never becomes false"),
    ("c2 = Less (zero, k2)", ", yes", "its condition still holds after 100 iterations"),
    ("c2 = Gather (short, i)", ", yes", "cannot be computed: Gather 'y/c2' fails"),
    ("c2 = Less (k2, pair)", ", yes", "cannot be computed: 'c2' has 2 elements"),
    ("c2 = com.microsoft.Strange (c)", ", yes", "which is not evaluated before run time"),
    (
        "u = RandomUniformLike (a) s = ReduceSum <keepdims = 0> (u) c2 = Cast <to = 9> (s)",
        ", yes",
        "its condition depends on RandomUniformLike",
    ),
    (
        """s = Loop (most, , zero) <body = l (int64 j, bool d, int64 t) => (bool e, int64 t2) {
                e = Identity (d) t2 = Add (t, j)
            }> c2 = Less (s, five)""",
        ", yes",
        "cannot be computed: Loop 'y/s' fails",
    ),
    (
        """d = Less (k2, two)
            c2 = If (d) <then_branch = t () => (bool u) { u = com.microsoft.Strange (c) },
                         else_branch = e () => (bool v) { v = Less (k2, five) }>""",
        ", yes",
        "its condition depends on",
    ),
)
def test_reasons(condition, inputs, reason):
    found = counted(condition, inputs)
    assert found.count is None
    assert reason in found.reason


@table(("five, yes", 5), ("zero, q", 0), ("one, yes", 1), ("n, no", 0))
def test_constant_inputs(inputs, iterations):
    assert counted("c2 = Or (c, yes)", inputs).count == iterations


@pytest.mark.parametrize("condition", ["c2 = Less (k2, five)", "c2 = Less (i, two)"])
def test_a_limit_is_reached_by_one_more_iteration(condition):
    iterations = counted(condition).count
    assert iterations is not None
    assert counted(condition, limit=iterations).count == iterations
    beyond = counted(condition, limit=iterations - 1)
    assert beyond.count is None
    assert beyond.exceeded
    assert beyond.reason == f"its condition still holds after {iterations - 1} iterations"


@pytest.mark.parametrize(("most", "iterations"), [("two", 2), ("five", 5), ("most", 7)])
def test_the_maximum_ends_a_loop_whose_condition_holds_for_longer(most, iterations):
    condition = "d = Sub (k2, five) c2 = Less (d, two)"
    assert counted(condition, inputs=f"{most}, yes").count == iterations
