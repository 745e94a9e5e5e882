import onnx
import pytest
from proofs import assert_open, assert_proved
from tables import table

TEXT = """g ({kind}[3, n] x, {kind}[3, n] z, bool[3, n] c) => ({kind}[p, q] y)
    <int64[4] pads = {{0, 1, 1, 0}}, int64[2] axes = {{0, 1}}, int64 first = {{1}},
     int64[1] rows = {{0}}, int64[1] columns = {{1}}, {kind} none = {{0}}> {{ {nodes} }}"""
WIDE = """a = Cast <to = {wide}> (x) b = Cast <to = {wide}> (z) k = Cast <to = {wide}> (none)
    {nodes} y = Cast <to = {own}> (r)"""
MOVES = {
    "Pad": "r = Pad (a, pads, k)",
    "Concat": "r = Concat <axis = 1> (a, b)",
    "Where": "r = Where (c, a, b)",
    "Transpose": "t = Transpose (a) r = Gather <axis = 0> (t, axes)",
    "ReverseSequence": "r = Slice (a, columns, rows)",
}
CHOICES = {
    "Max": "r = Max (a, b)",
    "Min": "m = Min (a, b) r = Max (m, k)",
    "ReduceMax": "r = ReduceMax (a, rows)",
    "ReduceMin": "t = Concat <axis = 0> (a, b) r = ReduceMin (t, rows)",
}


def number(kind):
    return onnx.TensorProto.DataType.Value(kind.upper())


def pair(kind, wide, nodes):
    """The nodes in the own type, and in a wide one."""
    short = nodes.replace("r =", "y =")
    for letter, name in zip("abk", ("x", "z", "none"), strict=True):
        short = short.replace(f"({letter},", f"({name},").replace(f"({letter})", f"({name})")
        short = short.replace(f" {letter},", f" {name},").replace(f" {letter})", f" {name})")
    long = WIDE.format(wide=number(wide), own=number(kind), nodes=nodes)
    return TEXT.format(kind=kind, nodes=short), TEXT.format(kind=kind, nodes=long)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize(
    ("kind", "wide"), [("int8", "float"), ("float16", "float"), ("bfloat16", "float")]
)
def test_elements_that_are_moved(kind, wide, name):
    before, after = pair(kind, wide, MOVES[name])
    assert_proved(before, after)
    assert_proved(after, before)


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize(("kind", "wide"), [("uint8", "int32"), ("int8", "double")])
def test_integers_that_are_chosen(kind, wide, name):
    nodes = CHOICES[name]
    if name.startswith("Reduce"):
        with_size = [text.replace("[3, n]", "[3, 4]") for text in pair(kind, wide, nodes)]
        assert_proved(*with_size)
        empty = [text.replace("[3, n]", "[0, 4]") for text in with_size]
        assert_open(*[text.replace("[3, 4]", "[n, 4]") for text in (with_size or empty)])
    else:
        assert_proved(*pair(kind, wide, nodes))


@table(
    ("float16", "float", CHOICES["Max"]),  # NaN, zeros of two signs
    ("int8", "float", "r = Add (a, b)"),
    ("int8", "float", "r = Mod <fmod = 1> (a, b)"),
    ("int8", "int32", "t = Add (a, b) r = Max (t, a)"),
    ("int8", "int32", "t = Add (a, b) r = Div (t, k)"),
    ("int32", "float", MOVES["Pad"]),
    ("float16", "bfloat16", MOVES["Concat"]),
)
def test_near_misses(kind, wide, nodes):
    assert_open(*pair(kind, wide, nodes))


@table("r = Mod <fmod = 1> (a, b)", "r = Mod (a, b)", "t = Sub (a, b) r = Mul (t, a)")
def test_arithmetic_of_integers(nodes):
    for wide, check in (("int64", assert_proved), ("double", assert_open)):
        check(*pair("int8", wide, nodes))


def test_the_largest_of_a_window():
    text = "g (int8[1, 1, 4, 4] x) => (int8[1, 1, p, q] y) {{ {} }}"
    node = "y = MaxPool <kernel_shape = [2, 2] {}> ({})"
    for attribute, check in (("", assert_proved), (", pads = [1, 1, 0, 0]", assert_open)):
        before = text.format(node.format(attribute, "x"))
        after = text.format(
            "a = Cast <to = 1> (x) " + node.replace("y =", "r =").format(attribute, "a")
            + " y = Cast <to = 3> (r)"
        )  # fmt: skip
        check(before, after)
