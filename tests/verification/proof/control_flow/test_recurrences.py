import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from tables import table
from term_values import evaluated

ENDED = """g (int64 m, bool c, float[2] x) => (float[2] y, float[k, 2] z)
    <int64 none = {0}, bool yes = {1}> {
    y, z = Loop (%s, x) <body = b (int64 i, bool d, float[2] s)
        => (bool e, float[2] t, float[2] o) <bool on = {1}> {
        %s t = Neg (s) o = Sin (s) }> }"""


def test_a_condition_that_the_body_gives_on_counts_before_the_first_iteration():
    stays, always = ENDED % ("m, c", "e = Identity (d)"), ENDED % ("m, c", "e = Identity (on)")
    assert_proved(stays, always)
    assert_open(stays, ENDED % ("m, yes", "e = Identity (d)"))


def test_a_condition_that_never_holds_leaves_one_iteration():
    """The first one, about which the body is not asked."""
    never = ENDED % ("m, c", "w = Constant <value = int64 {-1}> () e = Less (i, w)")
    assert_proved(never, ENDED % ("m, c", "w = Constant <value = bool {0}> () e = Identity (w)"))
    assert_open(never, ENDED % ("m, c", "e = Identity (d)"))


@pytest.mark.parametrize("m", [-1, 0, 2])
@pytest.mark.parametrize("c", [True, False])
def test_results_of_loops_without_iterations(m, c):
    keep = "w = Constant <value = int64 {1}> () e = Less (i, w)"
    x = np.array([1, 2], np.float32)
    feeds = {"m": np.array(m), "c": np.array(c), "x": x}
    y, z = evaluated(model(ENDED % ("m, c", keep)), feeds)
    iterations = max(m, 0) if c else 0
    np.testing.assert_array_equal(y, x * (-1) ** iterations)
    assert z.shape == (iterations, 2)


def loop(state, output, nodes, rank="k"):
    kind, dims = output.split("[") if "[" in output else (output, "]")
    stacked = f"{kind}[{rank}, {dims}" if dims != "]" else f"{kind}[{rank}]"
    grown = state.replace("[1]", "[d]")
    text = """g (%s x, %s y, int64 n) => (%s z) {
        h, z = Loop (n, , x) <body = b (int64 i, bool c, %s s) => (bool c2, %s t, %s o)
        { c2 = Identity (c) %s }> }"""
    return text % (state, state, stacked, grown, grown, output, nodes)


def test_sizes_of_states_that_grow_otherwise_are_not_equal():
    one = loop("float[1]", "int64[1]", "t = Concat <axis = 0> (s, s) o = Shape (s)")
    assert_open(one, loop("float[1]", "int64[1]", "t = Concat <axis = 0> (s, s, s) o = Shape (s)"))
    assert_proved(one, one)


def test_sizes_that_depend_on_the_elements_of_states_are_not_equal():
    counted = "q = NonZero (s) r = Shape (q) u = Constant <value_ints = [1]> () o = Gather (r, u)"
    assert_open(
        loop("float[1]", "int64[1]", f"t = Neg (s) {counted}"),
        loop("float[1]", "int64[1]", f"t = Relu (s) {counted}"),
    )


def test_numbers_that_are_not_negative_depend_on_their_states():
    least = "u = Constant <value_int = 0> () o = Max (s, u)"
    assert_open(
        loop("int64", "int64", f"t = Mul (s, s) {least}"),
        loop("int64", "int64", f"t = Mul (s, y) {least}"),
    )


def test_loops_inside_are_as_long_as_the_states_outside_say():
    inner = """v = Cast <to = 1> (y) o = Loop (s, , v)
        <body = d (int64 j, bool e, float p) => (bool e2, float q)
        { e2 = Identity (e) q = Sin (p) }>"""
    one = loop("int64", "float", f"t = Mul (s, s) {inner}")
    assert_open(one, loop("int64", "float", f"t = Mul (s, y) {inner}"))
    assert_proved(one, one)


def test_sizes_in_the_opposite_order_are_not_equal():
    rows = """g (float[n, 1] x, float[1] y) => (int64[n, 1] z) {
        h, z = Scan <num_scan_inputs = 1%s,
            body = b (float[d] s, float[1] e) => (float[f] t, int64[1] o)
        { t = Concat <axis = 0> (s, s) o = Shape (s) }> (y, x) }"""
    assert_open(rows % "", rows % ", scan_output_directions = [1]")


def test_a_state_that_stays_is_what_it_was_first():
    assert_proved(
        loop("float[2]", "float[2]", "t = Identity (s) o = Add (s, y)"),
        loop("float[2]", "float[2]", "t = Identity (x) o = Add (x, y)"),
    )


def test_a_counter_is_the_number_of_the_iteration():
    counter = """g (int64 n) => (int64 f, int64[k] z) <int64 a = {3}, int64 u = {2}> {
        f, z = Loop (n, , a) <body = b (int64 i, bool c, int64 s) => (bool c2, int64 t, int64 o)
        { c2 = Identity (c) %s }> }"""
    assert_proved(
        counter % "t = Add (s, u) o = Identity (s)",
        counter % "t = Add (s, u) p = Mul (i, u) o = Add (p, a)",
    )
    assert_open(
        counter % "t = Add (s, u) o = Identity (s)",
        counter % "t = Add (s, a) p = Mul (i, u) o = Add (p, a)",
    )


@pytest.mark.parametrize("nodes", ["t = Neg (s) o = Neg (t)", "t = Add (s, y) o = Sin (s)"])
def test_a_loop_is_equal_to_itself(nodes):
    text = loop("float[2]", "float[2]", nodes)
    assert_proved(text, text)


def test_two_loops_that_begin_alike_are_two():
    two = """g (float[2] x, int64 n) => (float[2] a, float[2] b) {
        a = Loop (n, , x) <body = b1 (int64 i, bool c, float[2] s) => (bool c2, float[2] t)
        { c2 = Identity (c) t = %s (s) }>
        b = Loop (n, , x) <body = b2 (int64 i, bool c, float[2] s) => (bool c2, float[2] t)
        { c2 = Identity (c) t = %s (s) }> }"""
    assert_open(two % ("Sin", "Tanh"), two % ("Tanh", "Sin"))
    assert_open(two % ("Sin", "Tanh"), two % ("Sin", "Sin"))
    assert_proved(two % ("Sin", "Tanh"), two % ("Sin", "Tanh"))


def test_a_number_that_grows_beyond_its_type_is_left_to_the_run():
    text = """g (int64[1] x) => (int64 f) <int64 a = {4611686018427387904}, int64 n = {3000000},
        bool yes = {1}> { f = Loop (n, yes, a)
        <body = b (int64 i, bool c, int64 s) => (bool c2, int64 t)
        { c2 = Identity (c) t = Add (s, a) }> }"""
    assert_open(text, text.replace("Add (s, a)", "Sub (s, a)"))


@table("a, b = vendor.Op (v)", "a, b = Dropout (v, rate, yes)", ids=("custom", "drawing"))
def test_outputs_of_one_node_are_told_apart_inside_of_a_loop(node):
    text = (
        '<ir_version: 8, opset_import: ["" : 18, "vendor" : 1]> g (float[3] x, int64 m)'
        " => (float[3] y) <bool yes = {1}, float rate = {0.5}> { y = Loop (m, yes, x)"
        " <body = b (int64 i, bool c, float[3] v) => (bool c2, float[3] w)"
        " { c2 = Identity (c) %s w = Cast <to = 1> (%s) }> }"
    )
    assert_proved(text % (node, "a"), text % (node, "a"))
    assert_open(text % (node, "a"), text % (node, "b"))


@pytest.mark.parametrize("condition", ["yes", "d"], ids=("a number ends it", "a condition ends it"))
@pytest.mark.parametrize("declared", ["float[u, 3]", "float[4, 3]"], ids=("undeclared", "declared"))
def test_sizes_of_a_scan_output_are_those_of_the_body_only_if_there_is_an_iteration(
    declared, condition
):
    text = """g (float[n, 3] x, float[m, 3] w, bool d) => (y) <int64 k = {0}, int64 one = {1},
        bool yes = {1}> {
        r = Shape (x) p = Gather (r, k) s = Shape (w) q = Gather (s, k) %s }"""
    body = """t = Loop (p, %s) <body = b (int64 i, bool c) => (bool c2, %s o) {
        c2 = Not (c) o = Neg (w) }> y0 = Shape (t) y = Gather (y0, one)"""
    body = (
        body % (condition, declared)
        if condition == "d"
        else (body % (condition, declared)).replace("Not", "Identity")
    )
    assert_open(text % body, text % "y = Identity (q)")
    assert_proved(text % body, text % body)


def test_sizes_of_a_scan_output_that_the_body_declares_hold_always():
    text = """g (float[n, 3] x, float[4, 3] w) => (y) <int64 k = {0}, bool yes = {1}> {
        r = Shape (x) p = Gather (r, k) %s }"""
    body = """t = Loop (p, yes) <body = b (int64 i, bool c) => (bool c2, float[4, 3] o) {
        c2 = Identity (c) o = Neg (w) }> y = Shape <start = 1> (t)"""
    assert_proved(text % body, text % "y = Constant <value_ints = [4, 3]> ()")


def nest(depth, update, last="y = Neg (y0)"):
    """Loops inside each other, each with a state and a number that counts from 0."""
    text = update
    for level in reversed(range(depth)):
        outer = f"v{level - 1}" if level else "x"
        text = f"""y{level}, p{level} = Loop (n, , {outer}, zero) <body = b{level}
            (int64 i{level}, bool c{level}, float[3] v{level}, int64 a{level}) =>
            (bool e{level}, float[3] w{level}, int64 f{level}) {{ e{level} = Identity (c{level})
            {text} f{level} = Add (a{level}, one) w{level} = Sin (y{level + 1}) }}>"""
    signature = "g (float[3] x, int64 n) => (float[3] y) <int64 one = {1}, int64 zero = {0}>"
    return f"{signature} {{ {text} {last} }}"


def test_a_deep_nest_of_loops_takes_no_more_than_a_run_for_each_loop_around():
    one, other = (nest(20, f"y20 = {op} (v19)") for op in ("Exp", "Log"))
    assert_proved(one, nest(20, "y20 = Exp (v19)", "h = Identity (y0) y = Neg (h)"))
    assert_open(one, other, "Exp and, in the rewrite, Log are not proved equal")


def test_a_state_of_another_form_in_the_same_place_is_looked_at_anew():
    text = """g (float[3] x, int64 n, int64 m) => (float[3] y, int64 z) <int64 one = {1}> {
        y, z = Loop (n, , x, one) <body = a (int64 i, bool c, float[3] v, int64 k) =>
            (bool c2, float[3] w, int64 l) { c2 = Identity (c)
            w, q = Loop (n, , v, k) <body = b (int64 j, bool d, float[3] s, int64 p) =>
                (bool d2, float[3] t, int64 r) { d2 = Identity (d) r = Add (p, one)
                f = Cast <to = 1> (p) t = Mul (s, f) }>
            l = Mul (k, %s) }> }"""
    assert_proved(text % "m", text % "m")
    assert_open(text % "m", text % "n")
