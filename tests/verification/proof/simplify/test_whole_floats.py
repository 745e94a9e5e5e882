"""Sizes that are computed as floats."""

import pytest
from proofs import assert_open, assert_proved

TEXT = """g (float[n, m] x) => (int64 y) <int64 zero = {{0}}, int64 one = {{1}}, double f0 = {{0}},
    double f1 = {{1}}, double half = {{0.5}}, double two = {{2}}> {{
    h = Shape (x) n = Gather (h, zero) m = Gather (h, one) {} }}"""
COUNT = "d = Cast <to = 11> (n) q = Div (d, f1) c = Ceil (q) l = Max (c, f0) y = Cast <to = 7> (l)"


@pytest.mark.parametrize(
    ("nodes", "size"),
    [
        (COUNT, "n"),
        (COUNT.replace("Ceil", "Floor"), "n"),
        ("e = Add (n, n) d = Cast <to = 11> (e) q = Div (d, two) c = Ceil (q)"
         " y = Cast <to = 7> (c)", "n"),
    ],
)  # fmt: skip
def test_a_size_stays_exact(nodes, size):
    assert_proved(TEXT.format(nodes), TEXT.format(f"y = Identity ({size})"))


@pytest.mark.parametrize(
    "nodes",
    [
        COUNT.replace("to = 11", "to = 1")
        .replace("f1)", "g1)")
        .replace("f0)", "g0)")
        .replace("d =", "g0 = Cast <to = 1> (f0) g1 = Cast <to = 1> (f1) d ="),
        COUNT.replace("(d, f1)", "(d, half)"),
        COUNT.replace("(d, f1)", "(d, two)"),
        "k = Mul (n, m) d = Cast <to = 11> (k) c = Ceil (d) y = Cast <to = 7> (c)",
        COUNT.replace("(n)", "(m)"),
    ],
)
def test_others_may_be_rounded(nodes):
    assert_open(TEXT.format(nodes), TEXT.format("y = Identity (n)"))
    assert_open(TEXT.format(nodes), TEXT.format("y = Mul (n, m)"))
