import pytest
from proofs import assert_open, assert_proved
from tables import table

HEAD = "g (int8[n, 4, 6] x, float{0} s, int8{0} z) => (float[n, 4, 6] y) {1} {{ {2} }}"
LISTS = "<int64[2] column = {{-1, 1}}, int64[6] blocks = {{{}}}>"
PARTS = {
    "tensor": ("", "", "", "s", "z"),
    "slice": ("[4]", "axis = 1", "t = Reshape (s, column) p = Reshape (z, column)", "t", "p"),
    "last": ("[6]", "axis = -1", "", "s", "z"),
    "block": (
        *("[n, 4, 3]", "axis = 2, block_size = 2"),
        *("t = Gather <axis = 2> (s, blocks) p = Gather <axis = 2> (z, blocks)", "t", "p"),
    ),
}
WAYS = (
    "a = Cast <to = 1> (x) b = Cast <to = 1> ({p}) d = Sub (a, b) y = Mul (d, {t})",
    "a = Cast <to = 6> (x) b = Cast <to = 6> ({p}) d = Sub (a, b) f = Cast <to = 1> (d)"
    " y = Mul ({t}, f)",
)


@pytest.mark.parametrize("part", PARTS)
def test_a_difference_is_scaled(part):
    shape, attributes, nodes, t, p = PARTS[part]
    lists = LISTS.format("0, 0, 1, 1, 2, 2")
    before = HEAD.format(shape, lists, f"y = DequantizeLinear <{attributes}> (x, s, z)")
    before = before.replace("<>", "")
    for way in WAYS:
        after = HEAD.format(shape, lists, f"{nodes} {way.format(t=t, p=p)}")
        assert assert_proved(before, after, 21).assumptions == ()
        assert_open(before, after.replace("Sub (a, b)", "Add (a, b)"), "", 21)


def test_blocks_of_another_size():
    shape, attributes, nodes, t, p = PARTS["block"]
    node = f"y = DequantizeLinear <{attributes}> (x, s, z)"
    for blocks in ("0, 0, 0, 1, 1, 1", "0, 0, 1, 1, 2, 1"):
        lists = LISTS.format(blocks)
        after = HEAD.format(shape, lists, f"{nodes} {WAYS[0].format(t=t, p=p)}")
        assert_open(HEAD.format(shape, lists, node), after, "", 21)


@table(
    "a = Sub (x, z) d = Cast <to = 1> (a) y = Mul (d, s)",  # wraps in eight bits
    "a = Cast <to = 1> (x) b = Cast <to = 1> (z) d = Sub (b, a) y = Mul (d, s)",
    "a = Cast <to = 10> (x) b = Cast <to = 10> (z) d = Sub (a, b) f = Cast <to = 1> (d)"
    " c = Mul (f, s) y = Add (c, c)",
)
def test_near_misses(wrong):
    assert_open(HEAD.format("", "", "y = DequantizeLinear (x, s, z)"), HEAD.format("", "", wrong))


def test_a_kernel_may_subtract_long_integers_in_another_type():
    text = "g (int32[n] x, float s, int32 z) => (float[n] y) {{ {} }}"
    before = text.format("y = DequantizeLinear (x, s, z)")
    assert_open(before, text.format("d = Sub (x, z) f = Cast <to = 1> (d) y = Mul (f, s)"))
