"""Values made one of the other, far deeper than Python's stack; and operands used many times."""

import pytest
from depth import DEEP
from proofs import assert_open, assert_proved
from tables import table

DEPTH = 3_000 if DEEP else 1_100


def chain(step: str, last: str = "y = Identity ($)", first: str = "x", depth: int = DEPTH) -> str:
    """A model with a step again and again.

    Args:
        step: the nodes that make value @ of the one before, $; & makes other names unique.
        last: the nodes that make the output of the last value, $.
        first: the first value.
        depth: the number of steps.
    """
    values = [first, *(f"v{k}" for k in range(depth))]
    steps = [
        step.replace("$", values[k]).replace("@", values[k + 1]).replace("&", str(k))
        for k in range(depth)
    ]
    return "\n".join([*steps, last.replace("$", values[-1])])


def graph(nodes: str, elem_type: str = "float", rank: int = 2) -> str:
    dims = ", ".join("abcd"[:rank])
    return (
        "g (float[2, 3] x, float[2, 3] c, bool b, int64[3] i, int64[3] j) =>"
        f" ({elem_type}[{dims}] y) <int64[1] zero = {{0}}, int64[1] one = {{1}},"
        f" int64[1] two = {{2}}> {{ {nodes} }}"
    )


@pytest.mark.sample(1)
@table(
    ("@ = Add ($, c)", "@ = Add (c, $)"),
    ("s& = Add ($, c) @ = Neg (s&)", "s& = Add (c, $) @ = Neg (s&)"),
    ("w& = Where (b, $, c) @ = Neg (w&)", "n& = Not (b) w& = Where (n&, c, $) @ = Neg (w&)"),
    ("@ = Neg ($)", "u& = Unsqueeze ($, zero) n& = Neg (u&) @ = Squeeze (n&, zero)"),
    ("@ = Softmax <axis = -1> ($)", "@ = Softmax <axis = 1> ($)"),
)
def test_operators(one, other):
    assert_proved(graph(chain(one)), graph(chain(other)))
    assert_open(graph(chain(one)), graph(chain(other, "y = Exp ($)")))


def test_a_slice_of_all_is_all_of_a_slice():
    cut = "Slice ($, zero, one, zero)"
    step = "n& = Neg ($) @ = Add (n&, c)"
    of_slice = "n& = Neg ($) @ = Add (n&, d)"
    after = f"d = Slice (c, zero, one, zero) e = {cut.replace('$', 'x')} " + chain(
        of_slice, first="e"
    )
    assert_proved(graph(chain(step, f"y = {cut}")), graph(after))
    assert_open(graph(chain(step, f"y = {cut}")), graph(after.replace("n7 = Neg", "n7 = Abs")))


def test_slices_along_axes_in_turn():
    step = "n& = Concat <axis = 0> ($, $) m& = Neg (n&) s& = Slice (m&, one, three, zero)"
    step += " t& = Concat <axis = 1> (s&, s&) u& = Neg (t&) @ = Slice (u&, two, five, one)"
    numbers = "three = Add (one, two) five = Add (three, two) "
    early = numbers + chain(step, "w = Slice ($, zero, one, zero) y = Neg (w)", depth=400)
    late = numbers + chain(step, "w = Neg ($) y = Slice (w, zero, one, zero)", depth=400)
    assert_proved(graph(early), graph(late))


def test_a_chain_of_concats_is_linear():
    step = "@ = Concat <axis = 0> ($, c)"
    swapped = "n& = Neg ($) m& = Neg (n&) @ = Concat <axis = 0> (c, $)"
    assert_proved(graph(chain(step)), graph(chain(step)))
    assert_open(graph(chain(step)), graph(chain(swapped)))
    cut = "Slice ($, zero, two, zero)"
    assert_proved(graph(chain(step, f"y = {cut}")), graph("y = Identity (x)"))
    rows = ", ".join(["x", *["c"] * 100])
    assert_proved(graph(chain(step, depth=100)), graph(f"y = Concat <axis = 0> ({rows})"))
    rows = ", ".join(["c", "x", *["c"] * 99])
    assert_open(graph(chain(step, depth=100)), graph(f"y = Concat <axis = 0> ({rows})"))


def test_nested_sums_of_integers():
    one = "s& = Add ($, j) @ = Sub (s&, i)"
    other = "s& = Sub ($, i) @ = Add (j, s&)"
    before = graph(chain(one, first="i"), "int64", 1)
    assert_proved(before, graph(chain(other, first="i"), "int64", 1))
    assert_open(before, graph(chain(other, first="j"), "int64", 1))


def test_sizes_that_depend_on_sizes():
    step = "r& = NonZero ($) @ = Transpose (r&)"
    text = "f = Cast <to = 7> (x) " + chain(step, first="f", depth=300)
    assert_proved(graph(text, "int64"), graph(text, "int64"))


def test_bounds_of_operands_that_are_used_twice():
    """Each operand is visited once, however often it is used."""
    index = chain("s& = Add ($, $) @ = Mul (s&, $)", "y = Gather (x, $)", "i", 200)
    other = index.replace("y = Gather (x,", "n = Exp (x) m = Log (n) y = Gather (m,")
    assert_open(graph(index, rank=2), graph(other, rank=2))
