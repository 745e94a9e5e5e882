import itertools
import math

import numpy as np
import pytest
from proofs import model
from straightline.verification.certificate_check import Definitions
from straightline.verification.checker.execution import execute
from straightline.verification.checker.inference import fact_of_output
from straightline.verification.checker.meaning import head_of
from straightline.verification.checker.sizes import elements_in, elements_of, sizes_in
from straightline.verification.checker.terms import Fact, Head, Node, Terms
from tables import table


def content(nodes):
    head = (
        "g (float[n, 3, m] x) => (y) <int64[1] a = {0}, int64[1] one = {1}, int64 two = {2},"
        " int64[1] end = {9}, int64[1] most = {9223372036854775807}> { s = Shape (x) "
    )
    return content_of(head + nodes + " }")


def content_of(text):
    proto = model(text)
    models = execute((proto, proto), {}, (None, None), Definitions("bits"))
    return models.terms, models.before.outputs["y"]


@table(
    ("y = Identity (s)", ("n", 3, "m")),
    ("y = Gather (s, two)", ("m",)),
    ("g = Gather (s, two) y = Unsqueeze (g, a)", ("m",)),
    ("y = Slice (s, one, end)", (3, "m")),
    ("y = Slice (s, one, end, a, two)", None),
    ("y = Slice (s, one, end, a, one)", (3, "m")),
    ("y = Concat <axis = 0> (s, one)", ("n", 3, "m", 1)),
    ("y = Cast <to = 7> (s)", ("n", 3, "m")),
    ("c = Cast <to = 6> (s) y = Cast <to = 7> (c)", (None, 3, None)),
    ("y = Mul (s, two)", (None, 6, None)),
    ("y = Sub (s, two)", (None, 1, None)),
    ("y = Add (s, most)", (None, None, None)),
    ("y = Shape <start = 1> (x)", (3, "m")),
    ("y = Shape <start = -1, end = 99> (x)", ("m",)),
    ("y = Abs (s)", None),
    ("y = Gather (s, end)", None),
)
def test_sizes_that_are_moved_are_known(nodes, sizes):
    terms, y = content(nodes)
    assert sizes_in(terms, y) == sizes


def test_numbers_are_those_of_known_sizes():
    assert sizes_in(*content("y = Gather (s, one)")) == (3,)
    assert sizes_in(*content("y = Identity (most)")) == (np.iinfo(np.int64).max,)


def number_of(size, names):
    if not isinstance(size, tuple):
        return names.get(size, size)
    return sum(factor * math.prod(names[name] for name in product) for product, factor in size)


REFERENCE = {
    **{"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum},
    **{"Min": np.minimum, "Equal": np.equal, "Less": np.less, "Greater": np.greater},
    **{"LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal},
    "Div": lambda a, b: np.where(b > 0, a // np.where(b > 0, b, 1), a),
    "Mod": lambda a, b: np.where(b > 0, a % np.where(b > 0, b, 1), a),
}


@pytest.mark.parametrize("operator", REFERENCE)
def test_elements_are_those_of_every_size(operator):
    # Numbers, sizes, and sums of sizes that wrap.
    text = (
        "g (float[n] x, float[m] w) => (y) <int64[8] c ="
        " {-9223372036854775808, -2, -1, 0, 1, 2, 3, 9223372036854775807}> { s = Shape (x)"
        " t = Shape (w) r = Add (s, t) q = Add (r, s) y = Concat <axis = 0> (c, s, t, r, q) }"
    )
    terms, y = content_of(text)

    def apply(op_type, *args):
        head = head_of(op_type, "", 18, (), 1)
        return terms.add(head, args, fact_of_output(terms, head, args, 0))

    each = [apply("Gather", y, terms.constant(np.array(k))) for k in range(12)]
    for a, b in itertools.product(range(12), repeat=2):
        found = elements_in(terms, apply(operator, each[a], each[b]))
        known = None if found is None else found.item()
        for n, m in itertools.product([0, 1, 3, 2**62, 2**63 - 1], repeat=2):
            if known is None:
                break
            value = number_of(known, {"n": n, "m": m})
            with np.errstate(all="ignore"):
                r = np.int64(n) + np.int64(m)
                numbers = [-(2**63), -2, -1, 0, 1, 2, 3, 2**63 - 1, n, m, r, r + np.int64(n)]
                expected = REFERENCE[operator](*np.array(numbers, np.int64)[[a, b]])
            assert (value - int(expected)) % 2**64 == 0, (a, b, n, m, known)


@table(
    ("e = Equal (s, end) y = Not (e)", [None, 1, None]),
    ("m = Sub (a, one) e = Equal (s, m) y = Where (e, one, s)", ["n", 3, "m"]),
    ("m = Sub (a, one) y = Less (s, m)", [0, 0, 0]),
    ("y = ConstantOfShape <value = int64[1] {7}> (one)", [7]),
    ("p = ConstantOfShape <value = int64[1] {0}> (one) y = Add (s, p)", ["n", 3, "m"]),
    ("p = Add (s, s) y = Slice (p, a, one)", [((("n",), 2),)]),
    ("r = Reshape (s, one) y = Identity (r)", None),
    ("y = Max (s)", ["n", 3, "m"]),
    ("y = Min (s, one, end)", [None, 1, None]),
    ("m = Sub (a, one) r = Reshape (s, m) y = Tile (r, one)", ["n", 3, "m"]),
    ("t = Add (a, two) r = Mul (most, two) y = Tile (s, r)", None),
)
def test_elements_that_are_computed_are_known(nodes, elements):
    terms, y = content(nodes)
    found = elements_in(terms, y)
    assert elements == (None if found is None else list(found.flat))


@pytest.mark.parametrize("start", range(-5, 6))
@pytest.mark.parametrize("end", range(-5, 6))
def test_a_part_of_a_shape_is_clamped(start, end):
    terms = Terms()
    x = terms.add(Head("input", key="x"), fact=Fact(1, (4, "n", 5)))
    head = head_of("Shape", "", 15, (), 1).changed(start=start, end=end)
    first, last = (min(max(n + 3 if n < 0 else n, 0), 3) for n in (start, end))
    elements = elements_of(terms, Node(head, (x,), 0, Fact()))
    assert [*elements] == [4, "n", 5][first:last]
