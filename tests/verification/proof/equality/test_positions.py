import pytest
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.equality import Comparison
from straightline.verification.proof.equality.positions import Positions
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms

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


@pytest.fixture
def pairs(monkeypatch):
    """Pairs at any position, and whether they are equal."""
    records, compare = {}, Comparison._anywhere

    def recorded(self, one, other):
        result = compare(self, one, other)
        records.update(self._general)
        return result

    monkeypatch.setattr(Comparison, "_anywhere", recorded)
    monkeypatch.setattr("straightline.verification.proof.equality.equality._MANY_PAIRS", 16)
    return records


def test_iterations_with_slices_of_one_tensor_are_compared_once(pairs):
    assert_proved(LOOP, written_out())
    assert list(pairs.values()) == [True]


def test_other_positions_or_values_are_open(pairs):
    assert_open(LOOP, written_out(places=[0, *range(2, ITERATIONS), 1]))
    assert_open(LOOP, written_out(places=[*range(ITERATIONS - 1), 0]))
    assert_open(LOOP, written_out(row="p"))
    assert_open(LOOP, written_out(part="Sin (p)"))


def test_one_row_that_differs_is_open(pairs):
    mask = ", ".join(["1"] * (ITERATIONS - 1) + ["0"])
    table = f"<bool[{ITERATIONS}, 1] k = {{{mask}}}> {{"
    other = written_out(part="Tanh (p) v = Where (k, q, p)", row="v")
    assert_open(LOOP, other.replace("{", table, 1))
    assert_proved(LOOP, other.replace("{", table.replace("0}", "1}"), 1))


def test_a_second_position_is_not_taken_for_the_first():
    """x[p, 3] at any p is no instance of x[p, p]."""
    terms = Terms(Budget())
    comparison = Comparison(terms)
    size = Dimension.constant(20)
    x = terms.leaf("input", "x", terms.facts.one(Fact(1, (size, size))))
    positions = Positions(terms, comparison.induction)
    at, number = comparison.induction.symbol(size), Dimension.constant(3)

    def part(row, column):
        return terms.op("Neg", 18, terms.narrow(terms.narrow(x, 0, row, 1), 1, column, 1))

    before, after = positions.general(part(number, 4), part(number, 5))
    assert comparison.terms.symbols.free(before) and before is not part(number, 4)
    assert positions.general(before, after) is None
    assert positions.general(part(at, number), part(at, number)) is None
    assert positions.general(x, x) is None


def test_a_pair_that_is_not_equal_at_any_position_decides_nothing(pairs, monkeypatch):
    monkeypatch.setattr(
        Positions, "general", lambda self, one, other: (one, self._terms.op("Neg", 18, other))
    )
    assert_proved(LOOP, written_out())
    assert pairs and not any(pairs.values())
