import itertools
import random

import numpy as np
import pytest
from proofs import assert_open, assert_proved
from straightline.facts.fact import Fact, element
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.arithmetic.exact_integers import linear_sum
from straightline.verification.proof.arithmetic.inequalities import is_never_negative
from straightline.verification.proof.arithmetic.trip_counts import (
    at_least,
    least,
    nonnegative_part,
    not_negative,
)
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import INT64, Terms
from tables import table

N, M = Dimension.symbol("n"), Dimension.symbol("m")
VALUES = [
    dict(zip("nms", each, strict=True))
    for each in itertools.product(range(5), range(4), range(-3, 5))
]


class Sizes:
    """Sizes of a model: n and m of inputs, s computed at run time, and what is made of them."""

    def __init__(self):
        self.terms = terms = Terms(Budget())
        s = terms.leaf("input", "s", Fact(INT64, ()))
        self.max = not_negative(terms, s)
        self.sizes = [
            *(
                N,
                M,
                self.max,
                at_least(terms, s, 2),
                least(terms, [N, self.max]),
                least(terms, [N, M]),
            ),
            *(least(terms, [N, Dimension.constant(2)]), self.part(N - 2), self.part(N - M)),
            *(self.quotient(N + 3, 4), self.quotient(N, 2), self.quotient(N + M, 3)),
            *(self.part(self.quotient(N, 2) - 1), self.quotient(N + 1, M + 1), N * M),
        ]

    def part(self, size):
        return nonnegative_part(self.terms, linear_sum(self.terms, self.terms.size(size)))

    def quotient(self, size, by):
        by = by if isinstance(by, Dimension) else Dimension.constant(by)
        whole = self.terms.op("Div", 18, self.terms.size(size), self.terms.size(by))
        return not_negative(self.terms, whole)

    def value(self, size, values):
        """The number that a size is."""
        total = 0
        for product, factor in size.terms.items():
            for name in product:
                factor *= self.of_symbol(name, values)
            total += factor
        return total

    def of_symbol(self, name, values):
        if name in values:
            return values[name]
        count = self.terms.counts.get(name)
        if count is None:
            return self.of_term(self.terms.sized[name], values)
        atoms = {atom: self.of_term(term, values) for atom, term in count.atoms.items()}
        return max(0, self.value(count.form, {**values, **atoms}))

    def of_term(self, term, values):
        name, content = term.head.name, element(term.fact)
        if content is not None:
            return self.value(content, values)
        if name == "input":
            return values[term.head.key]
        if name == "divided":
            return int(self.of_term(term.args[0], values) / term.head.key)
        parts = [
            self.of_term(arg, values) for arg in term.operands[: 1 if name == "view" else None]
        ]
        if name == "total":
            return int(np.dot(parts, term.head.key))
        return {"least": min, "Div": lambda a, b: a // b, "view": int}[name](*parts)


@pytest.mark.sample(30)
@pytest.mark.parametrize("seed", range(1000))
def test_nonnegative_polynomials_are_so_for_small_values(seed):
    rng, sizes = random.Random(seed), Sizes()
    parts = rng.sample(sizes.sizes, rng.randint(2, 4))
    total = sum((part * rng.choice((-2, -1, 1, 2)) for part in parts), Dimension.constant(0))
    lowest = min(sizes.value(total, values) for values in VALUES)
    assert not is_never_negative(sizes.terms, total - lowest - 1)


def test_inequalities_from_definitions():
    sizes = Sizes()
    n, m, s, more, both, smaller, two, away, apart, up, half, third, _, by, _ = sizes.sizes
    for size in (
        *(n - smaller, m - smaller, n - both, s - both, more - 2, more - s, 2 - two),
        *(
            n - away,
            away - n + 2,
            two + away - n,
            n - two - away,
            apart + m - n,
            apart + smaller - n,
        ),
        *(
            up * 4 - n,
            n + 3 - up * 4,
            n - half * 2,
            half * 2 + 1 - n,
            n - half,
            third * 3 + 2 - n - m,
        ),
        *(by * (m + 1) + m - n - 1, n + 1 - by * (m + 1)),
    ):
        assert is_never_negative(sizes.terms, size), size
        assert all(sizes.value(size, values) >= 0 for values in VALUES)
    for size in (
        n - m,
        smaller - 1,
        both - s,
        n - more,
        away - 1,
        n - up * 4,
        n - half * 2 - 1,
        -apart,
    ):
        assert not is_never_negative(sizes.terms, size), size


def test_an_iteration_is_one_of_its_loop():
    terms = Terms(Budget())
    i = terms.symbols.named("?i")
    terms.limits["?i"] = N
    assert is_never_negative(terms, N - i - 1)
    assert not is_never_negative(terms, N - i - 2)


ROWS = """g (float[N, 3] x) => (float[N, 3] y) <bool yes = {1}, int64 zero = {0}> {
    s = Shape (x) n = Gather (s, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[3] r) {
        d = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
BLOCKS = """g (float[N, 3] x) => (float[N, 3] y) <bool yes = {1}, int64 zero = {0}, int64 one = {1},
    int64 four = {4}, int64 five = {5}, int64[2] flat = {-1, 3}, int64[1] none = {0}> {
    s = Shape (x) n = Gather (s, zero) vector = Unsqueeze (n, none) last = Sub (n, one)
    padded = Add (last, four) blocks = Div (padded, four) some = Max (blocks, one)
    full = Div (last, some) length = Add (full, one) k = Max (length, one)
    offsets = Range (zero, k, one)
    all = Loop (blocks, yes) <body = b (int64 i, bool c) => (bool d, float[?, 3] r) {
        d = Identity (c) start = Mul (i, k) p = Add (start, offsets) q = Min (last, p)
        places = Max (q, zero) e = Gather (x, places) r = Exp (e) }>
    joined = Reshape (all, flat) y = Slice (joined, none, vector, none) }"""


def test_any_number_of_rows():
    assert_proved(ROWS, BLOCKS)
    assert_proved(ROWS, BLOCKS.replace("Add (last, four)", "Add (four, last)"))


@table(
    ("blocks = Div (padded, four)", "blocks = Div (padded, five)"),
    ("blocks = Div (padded, four)", "blocks = Div (last, four)"),
    ("k = Max (length, one)", "k = Max (full, one)"),
    ("full = Div (last, some)", "full = Div (last, five)"),
    # Without rows there would be a block, which reads one.
    ("padded = Add (last, four)", "padded = Add (last, five)"),
    ("start = Mul (i, k)", "start = Mul (i, four)"),
    ("start = Mul (i, k)", "t = Add (i, one) start = Mul (t, k)"),
    ("q = Min (last, p)", "o = Sub (last, one) q = Min (o, p)"),
    ("places = Max (q, zero)", "places = Max (q, one)"),
    ("y = Slice (joined, none, vector, none)", "y = Slice (joined, ones, more, none)"),
    ("offsets = Range (zero, k, one)", "t = Add (k, k) offsets = Range (zero, t, two)"),
)
def test_missed_or_moved_rows_are_open(old, new):
    assert old in BLOCKS
    after = BLOCKS.replace(old, new).replace("> {\n    s = Sh", ", int64 two = {2}> {\n    s = Sh")
    if "ones" in new:
        after = after.replace("int64 two = {2}", "int64[1] ones = {1}")
        after = after.replace("y = Slice", "more = Add (vector, ones) y = Slice")
    assert_open(ROWS, after)


@pytest.mark.parametrize(("more", "covers"), [("four", True), ("one", False)])
def test_blocks_of_a_constant_length(more, covers):
    test = assert_proved if covers else assert_open
    fixed = BLOCKS.replace("length = Add (full, one) k = Max (length, one)", "k = Identity (four)")
    test(ROWS, fixed.replace("padded = Add (last, four)", f"padded = Add (last, {more})"))


@table(
    ("i = Div (n, two)", True),
    ("k = Add (n, one) i = Div (k, two)", True),
    ("k = Add (n, two) i = Div (k, two)", False),
    ("i = Min (n, m)", True),
    ("k = Add (n, one) i = Min (k, m)", False),
    ("k = Div (m, two) i = Min (n, k)", True),
)
def test_a_place_by_quotients_and_minima(place, fits):
    more = "f = ConstantOfShape (o) z = Concat <axis = 0> (x, f) w = Gather (z, i)"
    test = assert_proved if fits else assert_open
    index = """g (float[N] x, float[M] v) => (float[N] y)
        <int64 one = {1}, int64 two = {2}, int64[1] o = {1}> {
        r = Shape (x) n = Squeeze (r) p = Shape (v) m = Squeeze (p) %s y = Neg (x) }"""
    test(index % "", index % f"{place} {more}", *([] if fits else ["out of range"]))
