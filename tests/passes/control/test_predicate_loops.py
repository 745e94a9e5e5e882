import numpy as np
import pytest
from depth import examples
from drawn import is_valid
from harness import as_model, assert_equal_outputs, assert_keeps, assert_rewrites, run_passes
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from loops import assert_predicates
from sessions import by_reference
from straightline import rewrite
from straightline.passes import Pipeline, UnrollLoops
from straightline.passes.control.predicate_loops import PredicateLoops
from tables import table

DOUBLING = """g (float[2] x, float limit, bool c) => (float[2] y, float[K,2] s) <int64 most = {3}> {
       y, s = Loop (most, c, x) <body = b (int64 i, bool k, float[2] a)
                                        => (bool go, float[2] r, float[2] r) {
          r = Add (a, a)
          top = ReduceMax <keepdims = 0> (r)
          go = Less (top, limit) }> }"""


def kept(text, reason, **options):
    assert_keeps(PredicateLoops(**options), text, reason)


def test_carried_value():
    assert_rewrites(
        PredicateLoops(),
        """g (float x, float limit) => (float y) <int64 most = {2}, bool yes = {1}> {
           y = Loop (most, yes, x) <body = b (int64 i, bool k, float a) => (bool go, float r) {
              r = Add (a, a)
              go = Less (r, limit) }> }""",
        """g (float x, float limit) => (float y) <int64 most = {2}, bool yes = {1}> {
           r_0 = Add (x, x)
           go_0 = Less (r_0, limit)
           r_1 = Add (r_0, r_0)
           go_1 = Less (r_1, limit)
           y = Where (go_0, r_1, r_0) }""",
        [
            {"x": np.array(1, np.float32), "limit": np.array(limit, np.float32)}
            for limit in (0, 3, 9)
        ],
    )


@pytest.mark.parametrize("opset", [10, 11, 13, 17, 21])
def test_every_exit_point(opset):
    feeds = [
        {"x": np.array([1, 2], np.float32), "limit": np.array(limit, np.float32), "c": np.array(c)}
        for limit in (0, 5, 9, 17, 100)
        for c in (True, False)
    ]
    assert_predicates(f'<ir_version: 8, opset_import: ["" : {opset}]>' + DOUBLING, feeds)


def test_scan_outputs_need_opset_10():
    text = '<ir_version: 8, opset_import: ["" : 9]>' + DOUBLING
    assert_keeps(PredicateLoops(), text, "its scan outputs must be cut")


def test_conditions_of_one_element_in_any_rank():
    text = """g (int64[2] x, bool[1] c) => (int64[2] y) <int64[1] most = {3}, int64[1] top = {5}> {
           y = Loop (most, c, x) <body = b (int64[1] i, bool[1] k, int64[2] a)
                                         => (bool[1] go, int64[2] r) {
              r = Add (a, i)
              sum = ReduceSum <keepdims = 1> (r)
              go = Less (sum, top) }> }"""
    feeds = [
        {"x": np.array([x, 1]), "c": np.array([c])} for x in range(-2, 6) for c in (True, False)
    ]
    assert_predicates(text, feeds)


def test_greedy_decoding():
    # The next token is where the scores are highest; it indexes the next row; 3 ends the text.
    text = """g (float[4,4] scores, int64[1] first) => (int64[1] last, int64[K,1] tokens)
        <int64 most = {4}, bool yes = {1}, int64[1] end = {3}> {
           last, tokens = Loop (most, yes, first) <
              body = b (int64 i, bool k, int64[1] token)
                     => (bool[1] go, int64[1] next, int64[1] next) {
                 row = Gather (scores, token)
                 next = ArgMax <axis = 1, keepdims = 0> (row)
                 stop = Equal (next, end)
                 go = Not (stop) }> }"""
    table = np.roll(np.eye(4, dtype=np.float32), 1, axis=1)
    assert_predicates(text, [{"scores": table, "first": np.array([start])} for start in range(4)])
    # Without the certainty of a first iteration nothing is known about the first token.
    text = text.replace("bool yes = {1}, ", "").replace("first)", "first, bool yes)", 1)
    kept(
        text, "Gather 'last/row' may fail there: 'token' may be out of range for an axis of size 4"
    )


def test_a_counter_is_bounded_by_the_iterations_so_far():
    text = """g (int64[4] x, int64 stop) => (int64 count, int64 sum)
        <int64 most = {4}, bool yes = {1}, int64 zero = {0}, int64 one = {1}> {
           count, sum = Loop (most, yes, zero, zero) <
              body = b (int64 i, bool k, int64 n, int64 a) => (bool go, int64 m, int64 r) {
                 m = Add (n, one)
                 row = Gather (x, n)
                 r = Add (a, row)
                 go = Less (r, stop) }> }"""
    assert_predicates(text, [{"x": np.array([1, 2, 3, 4]), "stop": np.array(s)} for s in range(12)])
    kept(
        text.replace("most = {4}", "most = {5}"),
        "Gather 'count/row' may fail there: 'n' may be out of range for an axis of size 4",
    )


def test_the_first_iteration_may_change_a_shape():
    text = """
        g (float x, float[2] w, float limit) => (float[D] y) <int64 most = {3}, bool yes = {1}> {
           y = Loop (most, yes, x) <body = b (i, k, a) => (go, r) {
              r = Add (a, w)
              top = ReduceMax <keepdims = 0> (r)
              go = Less (top, limit) }> }"""
    fixed = {"x": np.array(1, np.float32), "w": np.array([1, 2], np.float32)}
    assert_predicates(text, [{**fixed, "limit": np.array(n, np.float32)} for n in (0, 4, 6, 99)])


def test_booleans_and_a_value_that_stays():
    text = """g (bool[2] x, float[2] w, bool c) => (bool[2] y, float[2] v) <int64 most = {3}> {
           y, v = Loop (most, c, x, w) <body = b (int64 i, bool k, bool[2] a, float[2] h)
                                               => (bool go, bool[2] r, float[2] h) {
              r = Not (a)
              n = Cast <to = 7> (r)
              sum = ReduceSum <keepdims = 0> (n)
              go = Less (i, sum) }> }"""
    feeds = [
        {"x": np.array([a, b]), "w": np.ones(2, np.float32), "c": np.array(c)}
        for a in (True, False)
        for b in (True, False)
        for c in (True, False)
    ]
    assert_predicates(text, feeds)


def test_an_absent_condition_is_ambiguous():
    text = """g (float x, float limit) => (float y) <int64 most = {3}> {
           y = Loop (most, , x) <body = b (int64 i, bool k, float a) => (bool go, float r) {
              r = Add (a, a)
              go = Less (r, limit) }> }"""
    kept(text, "choose with --passes 'straighten{absent_cond=ignore}'")
    kept(text, "constants decide its iterations, 3; unroll-loops unrolls it", absent_cond="ignore")
    honoured = text.replace("limit)", "limit, bool c)", 1).replace("(most, ,", "(most, c,")
    one = run_passes(text, PredicateLoops(absent_cond="honour"))
    for limit in (0, 3, 5, 9):
        feed = {"x": np.array(1, np.float32), "limit": np.array(limit, np.float32)}
        given_true = {**feed, "c": np.array(True)}
        (wanted,) = by_reference(as_model(honoured), given_true)
        (given,) = by_reference(one.model, feed)
        assert wanted == given


@table(({"max_trips": 2}, "max_trips=2"), ({"max_nodes": 10}, "over max_nodes=10"))
def test_over_budget_is_kept(limits, reason):
    kept(DOUBLING, reason, **limits)


@table(
    ("r = Div (x, a)", "Div 'y/r' may fail there: 'a' may be zero"),
    (
        "h = Gather (a, i)  r = Add (a, h)",
        "Gather 'y/h' may fail there: 'i' may be out of range for an axis of size 2; it is"
        " known to lie between 2 and 2",
    ),
    ("r = Concat <axis = 0> (a, x)", "its carried value 'a' differs in shape, or may"),
    ("z = NonZero (a)  r = Reshape (z, all)", "its carried value 'a' differs in shape"),
    ("f = RandomNormal <shape = [2]> ()  r = Cast <to = 7> (f)", "draws random numbers"),
)
def test_bodies_that_fail_or_differ_are_kept(operation, reason):
    loop = """g (int64[2] x, int64 n, bool c) => (int64[D] flat)
        <int64 most = {{3}}, int64[1] all = {{-1}}> {{
           y = Loop (most, c, x) <body = b (i, k, a) => (go, r) {{
              {}
              sum = ReduceSum <keepdims = 0> (r)
              go = Less (sum, n) }}>
           flat = Reshape (y, all) }}"""
    kept(loop.format(operation), reason)


def test_the_iteration_number_is_known():
    text = """g (int64[3] x, int64 n, bool c) => (int64 y) <int64 most = {3}, int64 zero = {0}> {
           y = Loop (most, c, zero) <body = b (int64 i, bool k, int64 a) => (bool go, int64 r) {
              row = Gather (x, i)
              r = Add (a, row)
              go = Less (r, n) }> }"""
    feeds = [
        {"x": np.array([1, 2, 3]), "n": np.array(n), "c": np.array(c)}
        for n in range(8)
        for c in (True, False)
    ]
    assert_predicates(text, feeds)


def test_no_constant_maximum_is_kept():
    text = DOUBLING.replace("<int64 most = {3}>", "").replace("bool c)", "bool c, int64 most)", 1)
    kept(text, "its maximum depends on input 'most'; decide it with --set most=...")
    absent = DOUBLING.replace("<int64 most = {3}>", "").replace("(most, c", "(, c")
    kept(absent, "it has no maximum")


def test_sequences_are_kept():
    kept(
        """g (seq(float[2]) x, float[2] w, bool c) => (seq(float[2]) y) <int64 most = {2}> {
           y = Loop (most, c, x) <body = b (int64 i, bool k, seq(float[2]) a)
                                         => (bool k, seq(float[2]) r) {
              r = Identity (a) }> }""",
        "its carried value 'a' is a sequence or optional",
    )


def test_an_undeclared_row_shape_matters_only_without_iterations():
    text = DOUBLING.replace("float[2] r, float[2] r)", "float[2] r, r2)").replace(
        "top =", "r2 = Neg (r)  top ="
    )
    kept(
        text,
        "it may make no iterations, and its body does not declare the shape [2] that its scan"
        " output 'r2' has then; sizes that it leaves open are 0 then",
    )
    certain = text.replace(", bool c)", ")").replace("{3}>", "{3}, bool c = {1}>")
    x = np.array([1, 2], np.float32)
    assert_predicates(certain, [{"x": x, "limit": np.array(n, np.float32)} for n in (0, 5, 9, 99)])


def test_rows_whose_size_varies_are_kept():
    kept(
        """g (float[2] x, float[4] w, bool c) => (float[K,D] s) <int64 most = {3}> {
           y, s = Loop (most, c, x) <body = b (i, k, a) => (go, r, row) {
              r = Neg (a)
              set = NonZero (w)
              up = Cast <to = 1> (set)
              row = Squeeze (up)
              low = ReduceMin <keepdims = 0> (r)
              zero = Constant <value_float = 0.0> ()
              go = Less (low, zero) }> }""",
        "its scan output 'row'",
    )


def test_nested_in_a_loop_that_stays():
    text = """g (float x, float limit, int64 n) => (float y) <int64 most = {2}, bool yes = {1}> {
           y = Loop (n, , x) <body = o (int64 j, bool l, float h) => (bool l, float q) {
              q = Loop (most, yes, h) <body = b (int64 i, bool k, float a) => (bool go, float r) {
                 r = Add (a, a)
                 go = Less (r, limit) }> }> }"""
    result = run_passes(text, PredicateLoops())
    assert result.changed
    for iterations in range(3):
        feed = {"x": np.array(1, np.float32), "limit": np.array(5, np.float32)}
        assert_equal_outputs(text, result.model, {**feed, "n": np.array(iterations)})


def test_a_constant_trip_count_is_left_to_unroll_loops():
    text = """g (float x) => (float y) <int64 most = {2}> {
           y = Loop (most, , x) <body = b (int64 i, bool k, float a) => (bool k, float r) {
              r = Add (a, a) }> }"""
    kept(text, "constants decide its iterations, 2; unroll-loops unrolls it")
    assert run_passes(text, UnrollLoops(), PredicateLoops()).kept == ()


def test_a_row_size_that_only_run_time_tells_matters_only_without_iterations():
    text = DOUBLING.replace("[2]", "[N]").replace("[K,2]", "[K,N]")
    kept(
        text,
        "it may make no iterations, and the shape [N] that its scan output 'r' has then is known"
        " only at run time; fix the shapes of the inputs with --shape",
    )
    # A size that is bound does not reach what the body declares: without one, rows are [0] still.
    declared = text.replace("[N] r, float[N] r)", "[N] r, float[2] r2)").replace(
        "top =", "r2 = Neg (r)  top ="
    )
    for body, rows in ((text, (0, 0)), (declared, (0, 2))):
        model = as_model(body)
        fixed = rewrite(model, "predicate-loops", shapes={"x": [2]})
        assert any(node.op_type == "Loop" for node in fixed.graph.node) == (body == text)
        feed = {"x": np.ones(2, np.float32), "limit": np.array(9, np.float32), "c": np.array(False)}
        assert by_reference(model, feed)[1].shape == by_reference(fixed, feed)[1].shape == rows


@pytest.mark.parametrize("most", ["float most = {0.0}", 'string most = {"7"}'])
def test_a_maximum_of_a_type_that_there_is_not(most):
    text = f""" g (float x, bool go) => (float y) <{most}> {{
        y = Loop (most, go, x) <body = b (int64 i, bool c, float a) => (bool d, float r) {{
            d = Identity (c) r = Exp (a) }}> }}"""
    assert "it has no maximum" in Pipeline([PredicateLoops()]).run(as_model(text)).kept[0].reason


def bounded(maximum="most", end="three", go="go = And (early, inside)"):
    text = """g (float[2] x, float limit, int64 n) => (float[2] y)
        <int64 most = {9223372036854775807}, int64 zero = {0}, int64 one = {1}, bool yes = {1},
         int64 three = {3}> {
           y, i_end = Loop (MOST, yes, x, zero) <body = b (int64 i, bool k, float[2] a, int64 j)
                                          => (bool go, float[2] r, int64 j2) {
              r = Add (a, a)
              top = ReduceMax <keepdims = 0> (r)
              early = Less (top, limit)
              j2 = Add (j, one)
              inside = Less (j2, END)
              GO }> }"""
    return text.replace("MOST", maximum).replace("END", end).replace("GO", go)


@pytest.mark.parametrize("maximum", ["most", ""])
@pytest.mark.parametrize(
    "go",
    [
        "go = And (early, inside)",
        "both = And (inside, early) go = Identity (both)",
        "late = Not (early) out = Not (inside) done = Or (late, out) go = Not (done)",
    ],
)
def test_a_part_of_the_condition_is_a_bound(maximum, go):
    """while not done and i < 3: three iterations are written out, whatever the maximum says."""
    text = bounded(maximum, go=go)
    feeds = [
        {"x": np.array([1, 2], np.float32), "limit": np.array(top, np.float32), "n": np.array(0)}
        for top in (0, 5, 9, 99)
    ]
    assert_predicates(text, feeds)
    (remark,) = run_passes(text, PredicateLoops()).remarks
    assert remark.reason.startswith("unrolled to 3 iterations")


def test_a_maximum_that_run_time_tells_ends_a_loop_too():
    """However few iterations the condition allows: a maximum below that would not be seen."""
    text = bounded("n")
    assert_keeps(PredicateLoops(), text, "its maximum depends on input 'n'; decide it with --set")
    feed = {"x": np.array([1, 2], np.float32), "limit": np.array(99, np.float32)}
    for n in (-1, 0, 2, 9):
        assert_equal_outputs(text, rewrite(as_model(text), "selects"), feed | {"n": np.array(n)})


def test_conditions_without_a_bound():
    """One of two ways to go on bounds nothing; nor does a limit that is known only at run time."""
    either = bounded(go="go = Or (early, inside)")
    assert_keeps(PredicateLoops(), either, "it has no maximum, so its copies cannot be counted")
    assert_keeps(
        PredicateLoops(),
        bounded(end="n"),
        "a part of its condition depends on input 'n'; decide it with --set n=...",
    )


POOL = [
    "Add ({0}, {1})",
    "Sub ({0}, step)",
    "Mul ({0}, {1})",
    "Div ({0}, {1})",
    "Mod ({0}, three)",
    "Gather ({0}, {1})",
    "Gather (x, {0})",
    "Clip ({0}, zero, three)",
    "ScatterElements ({0}, {1}, x)",
    "Concat <axis = 0> ({0}, {1})",
    "Gather ({0}, step)",
    "Add ({0}, i)",
    "Min ({0}, {1})",
]


@st.composite
def bodies(draw):
    names, lines = ["a", "d", "x"], []
    for index in range(draw(st.integers(1, 4))):
        chosen = [draw(st.sampled_from(names)) for _ in range(2)]
        lines.append(f"v{index} = " + draw(st.sampled_from(POOL)).format(*chosen))
        names.append(f"v{index}")
    a, d, row = (draw(st.sampled_from(names)) for _ in range(3))
    return "\n".join(
        [*lines, f"r = Identity ({a})", f"q = Identity ({d})", f"row = Identity ({row})"]
    )


@settings(max_examples=examples(20), deadline=None)
@given(bodies(), st.integers(1, 4), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_whatever_is_rewritten_never_fails_after_the_last_iteration(body, most, numbers):
    text = f"""
        g (int64[4] x, int64[4] z, int64 limit, bool c) => (int64[D] y, int64[E] w, int64[K,4] s)
        <int64 most = {{{most}}}, int64 zero = {{0}}, int64 three = {{3}}, int64[1] all = {{-1}}> {{
           o, p, s = Loop (most, c, x, z) <
              body = b (int64 i, bool k, int64[4] a, int64[4] d)
                     => (bool go, int64[4] r, int64[4] q, int64[4] row) {{
                 one = Constant <value_int = 1> ()
                 step = Add (i, one)
                 {body}
                 sum = ReduceSum <keepdims = 0> (r)
                 go = Less (sum, limit) }}>
           y = Reshape (o, all)
           w = Reshape (p, all) }}"""
    assume(is_valid(text))
    result = run_passes(text, PredicateLoops())
    if not result.changed:
        assert result.kept
        return
    for limit, c in ((100, False), (-100, True), (9, True), (100, True)):
        feed = {"limit": np.array(limit), "c": np.array(c)}
        feed |= {"x": np.array(numbers[:4]), "z": np.array(numbers[4:])}
        assert_equal_outputs(text, result.model, feed)
