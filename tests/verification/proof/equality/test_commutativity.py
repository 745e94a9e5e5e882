import itertools

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import open_session
from spelled import SPECIAL, same_bits
from straightline import reference
from tables import table

TWO = "g ({t}[4] x, {t}[4] w) => ({r}[4] y) {{ a = {f} (x) b = {f} (w) {nodes} }}"
KINDS = {"float": "Sin", "bool": "Not", "uint8": "BitwiseNot"}


@table(
    ("Add", "float", "float"),
    ("Mul", "float", "float"),
    ("Equal", "float", "bool"),
    ("And", "bool", "bool"),
    ("Or", "bool", "bool"),
    ("Xor", "bool", "bool"),
    ("BitwiseAnd", "uint8", "uint8"),
    ("BitwiseOr", "uint8", "uint8"),
    ("BitwiseXor", "uint8", "uint8"),
)
def test_operands_are_exchanged(op, kind, result):
    def text(nodes):
        return TWO.format(t=kind, r=result, f=KINDS[kind], nodes=nodes)

    assert_proved(text(f"y = {op} (a, b)"), text(f"y = {op} (b, a)"))
    assert_open(text(f"y = {op} (a, b)"), text(f"y = {op} (b, b)"))


MIRRORED = [("Less", "Greater"), ("LessOrEqual", "GreaterOrEqual")]


@pytest.mark.parametrize(("one", "other"), [*MIRRORED, *(pair[::-1] for pair in MIRRORED)])
def test_less_is_greater_from_the_other_side(one, other):
    def text(nodes):
        return TWO.format(t="float", r="bool", f="Sin", nodes=nodes)

    assert_proved(text(f"y = {one} (a, b)"), text(f"y = {other} (b, a)"))
    assert_open(text(f"y = {one} (a, b)"), text(f"y = {other} (a, b)"))
    assert_open(text(f"y = {one} (a, b)"), text(f"y = {one} (b, a)"))


@pytest.mark.parametrize("op", ["Sub", "Div", "Max", "Min", "Pow", "PRelu"])
def test_others_are_not(op):
    text = TWO.format(t="float", r="float", f="Sin", nodes="%s")
    assert_open(text % f"y = {op} (a, b)", text % f"y = {op} (b, a)")


def runs(text, feeds):
    proto = model(text)
    yield reference.run(proto, feeds)
    yield open_session(proto).run(None, feeds)


@table(
    ("Add (x, w)", "Add (w, x)", "float"),
    ("Mul (x, w)", "Mul (w, x)", "float"),
    ("Less (x, w)", "Greater (w, x)", "bool"),
    ("LessOrEqual (x, w)", "GreaterOrEqual (w, x)", "bool"),
    ("Equal (x, w)", "Equal (w, x)", "bool"),
)
def test_runs_give_the_same_of_special_numbers(one, other, result):
    pairs = np.array(list(itertools.product(SPECIAL, SPECIAL)), np.float32)
    feeds = {"x": pairs[:, 0], "w": pairs[:, 1]}
    text = f"g (float[64] x, float[64] w) => ({result}[64] y) {{{{ y = {{}} }}}}"
    for pair in zip(runs(text.format(one), feeds), runs(text.format(other), feeds), strict=True):
        assert same_bits(*(as_numbers(outputs) for outputs in pair))


def as_numbers(outputs):
    """Outputs with one NaN."""
    return [
        np.where(np.isnan(array), np.float32(np.nan), array) if array.dtype.kind == "f" else array
        for array in map(np.asarray, outputs)
    ]


def test_conditions_and_states_of_loops_are_exchanged():
    loop = """g (float[2] x, int64 m, float lim) => (float[2] y) {{
        go = Constant <value = bool {{1}}> ()
        y, n = Loop (m, go, x, lim) <body = b (int64 i, bool c, float[2] s, float k)
            => (bool c2, float[2] t, float k2) {{
            one = Constant <value = float {{1}}> () {nodes} }}> }}"""
    assert_proved(
        loop.format(nodes="k2 = Add (k, one) t = Mul (s, k) c2 = Less (k, lim)"),
        loop.format(nodes="k2 = Add (one, k) t = Mul (k, s) c2 = Greater (lim, k)"),
    )


def test_integers_of_another_order_are_no_commutative_operator():
    text = "g (int32[2] x, int32[2] w) => (int32[2] y) { y = %s }"
    assert_open(text % "Mod (x, w)", text % "Mod (w, x)")
