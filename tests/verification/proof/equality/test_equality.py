import pytest
from proofs import assert_open, assert_proved, model
from straightline.facts.fact import Fact
from straightline.verification.proof import prove
from straightline.verification.proof.equality.equality import Comparison, Mismatch, circular_pair
from straightline.verification.proof.terms.budget import Budget, OpenError
from straightline.verification.proof.terms.term_manager import Terms


def test_the_first_terms_that_differ_are_told_with_the_reason():
    text = "g (float[2] x) => (float[2] z) { a = %s (x) z = Exp (a) }"
    proof = assert_open(
        text % "Abs", text % "Neg", "output 'z': Abs and, in the rewrite, Neg are not proved equal"
    )
    assert [side.split(" = ")[1] for side in proof.first] == ["Abs (x)", "Neg (x)"]


def test_an_output_that_one_model_leaves_out_is_absent_there():
    text = """g (float[2] x, float l) => (float[2] z) { z = Clip (x%s) }"""
    assert_open(text % ", l", text % ", , l")


def test_a_difference_leaves_a_proof_open():
    terms = Terms(Budget())
    one, other = (terms.leaf("input", name, Fact(1)) for name in "xy")
    difference = Mismatch("why", one, other)
    assert isinstance(difference, OpenError) and str(difference) == "why"
    assert (difference.before, difference.after) == (one, other)
    assert Mismatch("absent", None, other).before is None


A, B, C, D = (("a", "a"), ("b", "b"), ("c", "c"), ("d", "d"))


def test_a_finished_dependency_is_settled():
    assert circular_pair({A: [B, C], B: [C], C: []}, set()) is None


def test_a_settled_pair_stays_settled():
    assert circular_pair({A: [D]}, set()) is None


def test_a_circle_is_not_settled():
    assert circular_pair({A: [B], B: [C], C: [A], D: []}, set()) in (A, B, C)
    assert circular_pair({A: [A]}, set()) == A


def test_a_repeated_dependency_counts_twice():
    assert circular_pair({A: [B, B], B: []}, set()) is None


def test_a_circle_through_the_iteration_before_is_an_induction():
    assert circular_pair({A: [B], B: [C], C: [A]}, {(C, A)}) is None
    assert circular_pair({A: [B], B: [A, C], C: [A]}, {(C, A)}) in (A, B)


def test_pieces_of_a_concat_are_compared_one_by_one_through_views():
    assert_proved(
        """g (float[1, 4] x, float[1, 4] y) => (float[2, 4, 1] z) <int64[3] s = {2, 4, 1}> {
            c = Concat <axis = 0> (x, y) z = Reshape (c, s) }""",
        """g (float[1, 4] x, float[1, 4] y) => (float[2, 4, 1] z) <int64[3] s = {1, 4, 1}> {
            a = Reshape (x, s) b = Reshape (y, s) z = Concat <axis = 0> (a, b) }""",
    )


def test_concats_along_other_axes_are_not_equal_because_of_each_other():
    joined = """g (float[1, 4] x, float[1, 4] y) => (float[8] z) <int64[1] s = {8}> {
        c = Concat <axis = 0> (x, y) z = Reshape (c, s) }"""
    assert_open(
        joined,
        """g (float[1, 4] x, float[1, 4] y) => (float[8] z)
            <int64[1] s = {8}, int64[2] u = {4, 1}> {
            a = Reshape (x, u) b = Reshape (y, u) c = Concat <axis = 1> (a, b) z = Reshape (c, s)
        }""",
    )


DRAWN = """g (float[4] x) => (float[4] a, bool[4] b) <float r = {0.5}, bool t = {1}> {
    %s }"""


def test_one_draw_equals_itself():
    assert_proved(DRAWN % "a, b = Dropout (x, r, t)", DRAWN % "a, b = Dropout (x, r, t)")


def test_outputs_of_one_node_that_draws_are_not_those_of_two():
    two = DRAWN % "a, b0 = Dropout (x, r, t) a0, b = Dropout (x, r, t)"
    assert_open(DRAWN % "a, b = Dropout (x, r, t)", two)
    assert_open(two, DRAWN % "a, b = Dropout (x, r, t)")


def test_two_nodes_that_draw_are_not_one():
    noise = """g (float[4] x) => (float[4] a, float[4] b) { %s }"""
    two = "a = RandomNormalLike (x) b = RandomNormalLike (x)"
    one = "a = RandomNormalLike (x) b = Identity (a)"
    assert_open(noise % two, noise % one)
    assert_open(noise % one, noise % two)
    assert_proved(noise % two, noise % two)


def test_outputs_that_are_swapped_are_not_equal():
    text = "g (float[2] x, float[2] y) => (float[2] a, float[2] b) { %s }"
    assert_open(text % "a = Sub (x, y) b = Sub (y, x)", text % "b = Sub (x, y) a = Sub (y, x)")


COUNTED = """g (float[n] x, float[2] y, int64 m) => (float[2] f, float[k, 2] z) {
    f, z = Loop (m, , y) <body = b (int64 i, bool c, float[2] s)
        => (bool c2, float[2] t, float[2] o)
    { c2 = Identity (c) %s }> }"""


def test_states_are_equal_by_induction():
    assert_proved(
        COUNTED % "t = Tanh (s) o = Identity (s)",
        COUNTED % "o = Identity (s) u = Identity (s) t = Tanh (u)",
    )


def test_states_that_are_made_otherwise_are_not_equal():
    assert_open(COUNTED % "t = Tanh (s) o = Identity (s)", COUNTED % "t = Sin (s) o = Identity (s)")
    assert_open(
        COUNTED % "t = Tanh (s) o = Identity (s)", COUNTED % "t = Tanh (s) o = Identity (t)"
    )


def test_states_that_begin_otherwise_are_not_equal():
    before = COUNTED % "t = Tanh (s) o = Identity (s)"
    assert_open(
        before,
        before.replace("{\n    f, z = Loop (m, , y)", "{ v = Neg (y)\n f, z = Loop (m, , v)"),
    )


def test_iterations_of_another_number_are_not_equal():
    before = COUNTED % "t = Tanh (s) o = Identity (s)"
    assert_open(
        before,
        before.replace(
            "{\n    f, z = Loop (m,",
            "{ one = Constant <value_int = 1> () p = Add (m, one) f, z = Loop (p,",
        ),
    )


NO_ITERATION = """g (float[n, 2] x) => (float[n, q] z) {
    z = Scan <num_scan_inputs = 1, body = b (float[2] e) => (float%s o) { o = Neg (e) }> (x) }"""


def test_a_loop_that_makes_no_iteration_gives_what_its_body_declares():
    assert_proved(NO_ITERATION % "[2]", "g (float[n, 2] x) => (float[n, q] z) { z = Neg (x) }")


def test_rows_of_no_iteration_that_are_declared_otherwise_are_not_equal():
    loop = """g (float[n, 2] x, int64 m) => (float[k, q] z) <bool yes = {1}> {
        z = Loop (m, yes) <body = b (int64 i, bool c) => (bool c2, float%s o) {
            c2 = Identity (c) o = Gather (x, i) }> }"""
    assert_proved(loop % "[2]", loop % "[2]")
    assert_open(loop % "[2]", loop % "[7]")


def test_operands_are_compared_first_in_a_long_comparison():
    """Where that fails, the normal forms decide, as in a short one."""
    length = 150
    graph = f"g (float[{length}, 2] x, float[2] h0) => (float[2] h{length}) {{{{ {{}} }}}}"

    def step(i: int, row: str = "", sum_: str = "s{i} = Add (h{i}, e{i})") -> str:
        row = row or f"k{i} = Constant <value_int = {i}> () r{i} = Gather (x, k{i}) "
        return f"{row} {sum_.format(i=i)} h{i + 1} = Tanh (s{i}) "

    def read(i: int, at: int, exp: str) -> str:
        return f"k{i} = Constant <value_int = {at}> () {exp.format(i=i)} "

    row = "r{i} = Gather (x, k{i}) e{i} = Exp (r{i})"
    before = graph.format("".join(step(i, read(i, i, row)) for i in range(length)))
    table = "e = Exp (x) "
    rows = [read(i, i, "e{i} = Gather (e, k{i})") for i in range(length)]
    assert_proved(before, graph.format(table + "".join(map(step, range(length), rows))))
    swapped = [step(i, row) for i, row in enumerate(rows)]
    swapped[20] = step(20, rows[20], "s{i} = Add (e{i}, h{i})")
    assert_proved(before, graph.format(table + "".join(swapped)))
    rows[3] = read(3, 4, "e{i} = Gather (e, k{i})")
    assert_open(before, graph.format(table + "".join(map(step, range(length), rows))))


def test_rows_take_a_share_of_the_steps_so_that_a_long_chain_names_its_difference():
    """Slices of 300 nodes in another order lead nowhere, row by row."""

    def chain(swaps, last):
        nodes, value = "", "x"
        for number in range(300):
            pair = ("u", value) if swaps and number % 2 else (value, "u")
            nodes += f"v{number} = {('Add', 'Mul')[number % 2]} ({', '.join(pair)}) "
            value = f"v{number}"
        text = f"{nodes} w = {last} ({value}, x) y = Tanh (w)"
        return model(f"g (float[n, 4] x, float[n, 4] u) => (float[n, 4] y) {{ {text} }}")

    few = Budget(steps=40_000)
    assert prove(chain(False, "Add"), chain(True, "Add"), budget=few).proved
    proof = prove(chain(False, "Add"), chain(True, "Sub"), budget=few)
    assert proof.reason == "output 'y': Add and, in the rewrite, Sub are not proved equal"


def test_an_attempt_that_a_limit_ends_leaves_nothing_assumed():
    terms = Terms(Budget())
    one, other = (terms.leaf("input", name, Fact(1)) for name in "xy")
    comparison = Comparison(terms)
    with pytest.raises(OpenError, match="steps"), comparison._attempt():
        comparison._ask(one, other)
        terms.budget.step(terms.budget.steps + 1)
    terms.budget = Budget()
    assert not comparison.holds(one, other)
