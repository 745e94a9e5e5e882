import numpy as np
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.segments import segments
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

N = 200
LOOP = f"""g (float[{N}, 2] x, float[2] a) => (float[{N}, 2] y)
    <int64 n = {{{N}}}, bool yes = {{1}}, int64 at = {{%d}}, int64 one = {{1}}> {{
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[2] r) {{
        c2 = Identity (c) e = Gather (x, i) special = Equal (i, at)
        s = If (special) <then_branch = t () => (float[2] p) {{ p = Identity (a) }},
            else_branch = f () => (float[2] q) {{ k = Sub (i, one) q = Gather (x, k) }}>
        r = Add (e, s) }}> }}"""
BATCH = f"""g (float[{N}, 2] x, float[2] a) => (float[{N}, 2] y)
    <bool[{N}, 1] special = {{%s}}, int64[{N}] k = {{%s}}> {{
    q = Gather (x, k) s = Where (special, a, q) y = Add (x, s) }}"""


def batch(at: int, places: list[int]) -> str:
    return BATCH % (", ".join(str(int(i == at)) for i in range(N)), ", ".join(map(str, places)))


def test_an_iteration_of_its_own_in_a_table():
    before = [max(i - 1, 0) for i in range(N)]
    assert_proved(LOOP % 0, batch(0, before))
    proof = assert_proved(LOOP % 0, batch(0, [7, *before[1:]]))  # which nothing reads
    assert "equal for every input" in proof.reason


@table(
    (1, [max(i - 1, 0) for i in range(N)]),
    (0, [0, *range(1, N)]),
    (0, [*[max(i - 1, 0) for i in range(N - 1)], 3]),
    (0, [*[max(i - 1, 0) for i in range(100)], *range(100, N)]),
)
def test_another_table_is_told_apart(at, places):
    assert_open(LOOP % 0, batch(at, places))


@table(
    (np.arange(9), [0]),
    (np.array([0, 0, 1, 2, 3, 4]), [0, 2]),
    (np.array([1, 2, 3, 9, 10, 11]), [0, 3]),
    (np.array([5, 0, 3, 1, 8, 8]), [0, 2, 4]),
    (np.array([5, 0, 3, 1, 8, 8, 2, 0, 7, 1, 5]), [0]),
    (np.array([True, False, False]), [0, 1]),
    (np.array([[False], [False], [True]]), [0, 2]),
    (np.arange(18).reshape(9, 2) % 16, [0, 8]),
    (np.array([0.0, 1.0, 1.0]), [0]),
    (np.array([0, 3], np.uint8), [0, 1]),
)
def test_segments_cover_all_iterations(table, firsts):
    terms = Terms(Budget())
    parts = segments(terms, terms.constant(table), Dimension.constant(len(table)))
    assert [first for first, _ in parts] == firsts
    assert sum(length.value for _, length in parts) == len(table)
    assert [a + n.value for a, n in parts[:-1]] == firsts[1:]


def test_an_unknown_trip_count_has_one_segment():
    terms = Terms(Budget())
    n = terms.symbols.named("n")
    assert segments(terms, terms.leaf("input", "x", Fact(1, (n,))), n) == [(0, n)]
