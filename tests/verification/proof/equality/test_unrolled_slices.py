"""Iterations with slices of what the other model computes at once."""

from proofs import assert_open, assert_proved

ITERATIONS = 60
LOOP = f"""g (float[{ITERATIONS}, 4] x, float[4, 4] w, float[4] h0) => (float[4] y)
    <int64 n = {{{ITERATIONS}}}, bool on = {{1}}> {{
    y = Loop (n, on, h0) <body = b (int64 i, bool go, float[4] h) => (bool again, float[4] next) {{
        again = Identity (go) r = Gather <axis = 0> (x, i) p = MatMul (r, w) q = Tanh (p)
        s = Add (h, q) next = Sigmoid (s) }}> }}"""


def written_out(row="q", places=range(ITERATIONS), part="Tanh (p)"):
    """All products at once, and an addition for each iteration."""
    lines = [f"p = MatMul (x, w) q = {part}"]
    state = "h0"
    for number, place in enumerate(places):
        after = "y" if number == ITERATIONS - 1 else f"h{number + 1}"
        lines.append(
            f"i{number} = Constant <value_int = {place}> ()"
            f" r{number} = Gather <axis = 0> ({row}, i{number})"
            f" s{number} = Add ({state}, r{number}) {after} = Sigmoid (s{number})"
        )
        state = after
    head = f"g (float[{ITERATIONS}, 4] x, float[4, 4] w, float[4] h0) => (float[4] y)"
    return f"{head} {{ {' '.join(lines)} }}"


def test_iterations_with_slices_of_one_tensor():
    assert_proved(LOOP, written_out())


def test_other_positions_or_values_are_open():
    assert_open(LOOP, written_out(places=[0, *range(2, ITERATIONS), 1]))
    assert_open(LOOP, written_out(places=[*range(ITERATIONS - 1), 0]))
    assert_open(LOOP, written_out(row="p"))
    assert_open(LOOP, written_out(part="Sin (p)"))


def test_one_row_that_differs_is_open():
    mask = ", ".join(["1"] * (ITERATIONS - 1) + ["0"])
    table = f"<bool[{ITERATIONS}, 1] k = {{{mask}}}> {{"
    other = written_out(part="Tanh (p) v = Where (k, q, p)", row="v")
    assert_open(LOOP, other.replace("{", table, 1))
    assert_proved(LOOP, other.replace("{", table.replace("0}", "1}"), 1))
