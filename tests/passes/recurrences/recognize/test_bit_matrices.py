import numpy as np
import pytest
from harness import run_passes
from recurred import LENGTHS, assert_same, reason
from straightline.passes import RaiseRecurrences
from tables import table

U8, U16, U32 = np.uint8, np.uint16, np.uint32
CRC32 = 'v = BitwiseXor (s, e) l = BitwiseAnd (v, one) h = BitShift <direction = "RIGHT"> (v, one)'
BODIES = {
    "a checksum by a product": (U32, f"{CRC32} p = Mul (l, poly) s2 = BitwiseXor (h, p)"),
    "by a choice": (
        U32,
        f"{CRC32} k = Equal (l, one) p = BitwiseXor (poly, h) s2 = Where (k, p, h)",
    ),
    "by a truth value": (
        U32,
        f"{CRC32} k = Cast <to = 9> (l) m = Not (k) p = BitwiseXor (h, poly) s2 = Where (m, h, p)",
    ),
    "a generator": (
        U32,
        'a = BitShift <direction = "LEFT"> (s, two) b = BitwiseXor (s, a)'
        ' d = BitShift <direction = "RIGHT"> (b, one) f = BitwiseXor (b, d) s2 = BitwiseXor (f, e)',
    ),
    "a register of other bits": (
        U16,
        "w = Cast <to = 12> (s) a = Div (w, four) b = BitwiseXor (w, a) l = Mod (b, two)"
        " f = Mul (l, top) h = Div (w, two) g = Add (h, f) u = Cast <to = 4> (g)"
        ' z = BitShift <direction = "LEFT"> (w, one) t = Cast <to = 4> (z)'
        " q = BitwiseXor (u, t) s2 = BitwiseXor (q, e)",
    ),
    "inverted bits": (
        U8,
        'a = BitShift <direction = "LEFT"> (s, one) m = BitwiseNot (a) s2 = BitwiseXor (m, e)',
    ),
    "a history": (U8, 'a = BitShift <direction = "LEFT"> (s, one) s2 = BitwiseOr (a, e)'),
    "bits that spread": (
        U8,
        'a = BitShift <direction = "RIGHT"> (s, one) b = BitwiseOr (s, a) s2 = BitwiseOr (b, e)',
    ),
}
NAMES = {U8: "uint8", U16: "uint16", U32: "uint32"}


def text_of(body, dtype, shape=""):
    kind, wide = NAMES[dtype], "uint32" if dtype == U16 else NAMES[dtype]
    numbers = {"one": 1, "two": 2, "four": 4, "top": 32768, "poly": 3988292384}
    known = ", ".join(f"{wide} {k} = {{{v}}}" for k, v in numbers.items() if v < 256 or dtype != U8)
    rows = f"[N, {shape}]" if shape else "[N]"
    one, all_ = (f"[{shape}]", f"[T, {shape}]") if shape else ("", "[T]")
    return f"""<ir_version: 9, opset_import: ["" : 18]>
    g ({kind}{rows} x, int64 n, {kind}{one} s0) => ({kind}{one} last, {kind}{all_} every)
            <bool yes = {{1}}, {known}> {{
        last, every = Loop (n, yes, s0) <body = b (int64 i, bool c, {kind}{one} s)
            => (bool c2, {kind}{one} s2, {kind}{one} r) {{
            c2 = Identity (c) e = Gather (x, i) {body} r = Identity (s2) }}> }}"""


def numbers(length, dtype, *shape):
    whole = np.random.default_rng(length).integers(0, 1 << 32, (length, *shape))
    return (whole % (1 << (8 * dtype().nbytes))).astype(dtype)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BODIES)
def test_bits_that_a_matrix_mixes(name):
    dtype, body = BODIES[name]
    for shape in ("", "2") if dtype == U8 else ("",):
        sizes = tuple(map(int, shape))
        text = text_of(body, dtype, shape)
        result = run_passes(text, RaiseRecurrences(straight=False))
        assert "matrices of bits" in result.remarks[0].reason
        start = np.asarray(numbers(7, dtype, *sizes)[3])
        for length in LENGTHS:
            assert_same(text, result.model, numbers(length, dtype, *sizes), exact=True, s0=start)


@table(
    ("s2 = Add (a, e)", "Add 'last/s2' joins bits at the same places"),
    ("b = BitwiseAnd (a, e) s2 = BitwiseXor (b, e)", "BitwiseAnd 'last/b' has no constant operand"),
    ("b = Mul (a, three) s2 = BitwiseXor (b, e)", "Mul 'last/b' mixes sums"),
    ("b = BitwiseXor (a, s) s2 = BitwiseOr (b, e)", "BitwiseOr 'last/s2' joins bits at the same"),
    ("k = Greater (a, one) s2 = Where (k, a, e)", "Greater 'last/k' reads more than one bit"),
)
def test_near_misses(body, cause):
    """A carry, a mask of the iteration, a product, both sums, more than one bit."""
    shifted = f'a = BitShift <direction = "LEFT"> (s, one) {body}'
    text = text_of(shifted.replace("three", "poly"), U32)
    assert f"which no operator computes: {cause}" in reason(text)


def test_more_bits_than_fit_a_step():
    text = text_of(BODIES["a generator"][1], U32, "3")
    assert "the bits of its elements are too many" in reason(text)
