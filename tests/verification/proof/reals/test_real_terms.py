import onnx
from straightline import prove
from tables import table


def model(signature, nodes, constants):
    text = f'<ir_version: 10, opset_import: ["" : 24]> g {signature} {constants} {{ {nodes} }}'
    return onnx.parser.parse_model(text)


def test_sums_along_axes_of_size_one_or_of_unknown_size():
    """A factor leaves a sum only where it is certain that it does not vary along the axis."""
    signature = "(float[n, m] x, float[n, k] f) => (float[n, 1] y)"
    axis = "<int64[1] axis = {1}>"
    inside = "p = Mul (x, f) y = ReduceSum (p, axis)"
    outside = "t = ReduceSum (x, axis) y = Mul (t, f)"
    for size, status in (("1", "proved"), ("m", "open"), ("k", "open")):
        text = signature.replace("k]", f"{size}]")
        pair = model(text, inside, axis), model(text, outside, axis)
        assert prove(*pair, equality="reals", search=False).status == status, size


def test_operands_of_unknown_rank_are_atoms():
    signature, one = "(float[n] x, int64[k] s) => (float[a, b, c] y)", "<float[1] one = {1}>"
    before = model(signature, "v = Reshape (x, s) y = Add (v, one)", one)
    after = model(signature, "v = Reshape (x, s) y = Add (one, v)", one)
    assert prove(before, after, equality="reals", search=False)


@table(
    ("Relu (b)", "Relu (u)"), ("Sigmoid (b)", "Sigmoid (u)"), ("Max (b, row)", "Max (column, u)")
)
def test_movement_goes_through_elementwise_operators(inside, outside):
    """Transpose, Reshape and Slice apply to what an elementwise operator is applied to."""
    numbers = "<float two = {2}, float six = {6}, float[3] row = {1, 2, 3}, "
    numbers += "float[3, 1] column = {1, 2, 3}>"
    signature = "(float[2, 3] x) => (float[3, 2] y)"
    first = f"a = Mul (x, two) d = Add (a, x) b = Add (d, d) f = {inside} y = Transpose (f)"
    for factor, status in (("six", "proved"), ("two", "open")):
        after = model(signature, f"t = Transpose (x) u = Mul (t, {factor}) y = {outside}", numbers)
        before = model(signature, first, numbers)
        assert prove(before, after, equality="reals", search=False).status == status, factor


def test_bits_that_are_read_stay_apart():
    signature = "(float[3] x) => (int32[3] y)"
    before = model(signature, "a = Add (x, z) y = BitCast <to = 6> (a)", "<float z = {0.0}>")
    before.opset_import[0].version = 26
    after = model(signature, "y = BitCast <to = 6> (x)", "<float z = {0.0}>")
    after.opset_import[0].version = 26
    assert prove(before, after, equality="reals", search=False).status == "open"


def test_digits_that_are_read_stay_apart():
    signature, zero = "(float[3] x) => (string[3] y)", "<float z = {0.0}>"
    before = model(signature, "a = Add (x, z) y = Cast <to = 8> (a)", zero)
    after = model(signature, "y = Cast <to = 8> (x)", zero)
    assert prove(before, after, equality="reals", search=False).status == "open"


LARGE = "float[4] {} = {{10000000000, 20000000000, 30000000000, 50000000000}}"
HELD = f"{LARGE.format('a')}, {LARGE.format('e')}, float[4] b = {{1, 3, 2, 7}}"
SUMMANDS = f"<{HELD}, float[4] c = {{0.1, 0.2, 0.3, 0.7}}>"


@table(
    ("rounded once", "s = Add (x, b) y = Add (s, c)", "y = Add (x, d)", "proved"),
    ("cancels", "s = Add (x, a) t = Add (s, b) y = Sub (t, a)", "y = Identity (x)", "open"),
    ("of the original", "s = Add (x, a) t = Add (s, b) y = Sub (t, e)", "y = Identity (x)", "open"),
)
def test_a_sum_of_constants_is_rounded_where_that_cancels_nothing(name, before, after, status):
    signature, total = "(float[n, 4] x) => (float[n, 4] y)", "<float[4] d = {1.1, 3.2, 2.3, 7.7}>"
    pair = model(signature, before, SUMMANDS), model(signature, after, total)
    assert prove(*pair, equality="reals", search=False).status == status


@table(
    ("Transpose", "Transpose <perm = [1, 0]> (a)", "Transpose <perm = [1, 0]> (%s)", ""),
    ("Reshape", "Reshape (a, shape)", "Reshape (%s, shape)", "<int64[3] shape = {0, 2, 2}>"),
    ("Slice", "Slice (a, one, two, one)", "Slice (%s, one, two, one)",
     "<int64[1] one = {1}, int64[1] two = {2}>"))  # fmt: skip
def test_data_movement_applies_to_each_atom(move, whole, each, constants):
    """Before: the sum is moved. After: what is added is moved. Other elements are not equal."""
    rank = 3 if move == "Reshape" else 2
    text = "(float[n, 4] x, float[n, 4] z) => (float y)"
    signature = text.replace("float y", f"float[{', '.join('abc'[:rank])}] y")
    before = model(signature, f"a = Add (x, z) y = {whole}", constants)
    moved = f"u = {each % 'x'} v = {each % 'z'} "
    after = model(signature, moved + "y = Add (v, u)", constants)
    wrong = model(signature, moved + "y = Add (u, u)", constants)
    assert prove(before, after, equality="reals", search=False)
    assert prove(before, wrong, equality="reals", search=False).status == "open"
