import numpy as np
import pytest
from proofs import is_proved
from sessions import by_reference
from spelled import model, require_open, require_same, same_bits
from tables import table


def test_squeeze_and_unsqueeze_of_unknown_shape():
    signature = "(float[N,1,M] x) => (float[N,M] y)"
    new = "<int64[1] a = {1}> { y = Squeeze (x, a) }"
    require_same(
        model("y = Squeeze <axes = [1]> (x)", 11, signature), model(new, 13, signature), seeds=0
    )
    signature = "(float[N,M] x) => (float[N,1,M] y)"
    new = "<int64[1] a = {-2}> { y = Unsqueeze (x, a) }"
    require_same(
        model("y = Unsqueeze <axes = [1]> (x)", 11, signature), model(new, 13, signature), seeds=0
    )


@pytest.mark.parametrize("k", ["int64[1] k = {2}"])
def test_how_many_of_the_top(k):
    signature = "(float[2,5] x) => (float[2,2] y, int64[2,2] i)"
    new = f"<{k}> {{ y, i = TopK (x, k) }}"
    old = model("y, i = TopK <k = 2, axis = 1> (x)", 9, signature)
    require_same(old, model(new, 10, signature), seeds=1)
    require_same(old, model(new, 11, signature), seeds=1)
    require_open(old, model(f"<{k}> {{ y, i = TopK <largest = 0> (x, k) }}", 11, signature))


def test_slices_whose_sizes_only_run_time_knows():
    signature = "(float[N,M] x) => (float[A,B] y)"
    old = model("y = Slice <starts = [1, -3], ends = [-1, 9]> (x)", 9, signature)
    new = (
        "<int64[2] s = {1, -3}, int64[2] e = {-1, 9}, int32[2] a = {-2, -1}, int64[2] t = {1, 1}>"
        " { y = Slice (x, s, e, a, t) }"
    )
    require_same(old, model(new.replace("int32", "int64"), 13, signature), seeds=0)
    other = new.replace("{1, 1}", "{1, 2}").replace("int32", "int64")
    require_open(old, model(other, 13, signature))


def test_pads_and_what_is_put_there():
    signature = "(float[2,3] x) => (float[2,6] y)"
    old = model("y = Pad <pads = [0, 1, 0, 2], value = 1.5> (x)", 10, signature)
    new = "<int64[4] p = {0, 1, 0, 2}, float v = {1.5}> { y = Pad (x, p, v) }"
    some = "<int64[2] p = {1, 2}, float v = {1.5}, int64[1] a = {-1}> { y = Pad (x, p, v, a) }"
    require_same(old, model(new, 11, signature))
    require_same(old, model(some, 18, signature))
    require_open(old, model(new.replace("1.5", "2.5"), 11, signature))
    require_open(old, model(some.replace("{1, 2}", "{2, 1}"), 18, signature))


def test_a_pad_of_zeros_need_not_say_so():
    signature = "(float[2,3] x) => (float[2,6] y)"
    old = model("y = Pad <pads = [0, 1, 0, 2]> (x)", 10, signature)
    require_same(old, model("<int64[4] p = {0, 1, 0, 2}> { y = Pad (x, p) }", 13, signature))
    reflected = 'y = Pad <pads = [0, 1, 0, 2], mode = "reflect", value = 2.0> (x)'
    new = '<int64[4] p = {0, 1, 0, 2}> { y = Pad <mode = "reflect"> (x, p) }'
    require_same(model(reflected, 10, signature), model(new, 13, signature))


def test_dropout_passes_its_input_on():
    old = model("y = Dropout <ratio = 0.3> (x)", 7)
    require_same(old, model("y = Identity (x)", 7))
    require_same(old, model("<float r = {0.9}> { y = Dropout (x, r) }", 13))
    require_same(old, model("<float r = {0.9}, bool t = {0}> { y = Dropout (x, r, t) }", 13))
    require_open(old, model("<float r = {0.9}, bool t = {1}> { y = Dropout (x, r, t) }", 13))


def test_lengths_of_the_parts_of_a_split():
    signature = "(float[N,2] x) => (float[A,2] y, float[B,2] z)"
    old = model("y, z = Split <axis = 0, split = [1, 2]> (x)", 11, signature)
    text = "<int64[2] n = {1, 2}> { y, z = Split (x, n) }"
    for opset in (13, 18):
        require_same(old, model(text, opset, signature), seeds=0)
    require_open(old, model("<int64[2] n = {2, 1}> { y, z = Split (x, n) }", 13, signature))


def test_a_number_of_parts_may_stand_for_equal_parts_only():
    signature = "(float[N,2] x) => (float[A,2] y, float[B,2] z)"
    old = model("y, z = Split <axis = 0> (x)", 13, signature)
    new = model("y, z = Split <axis = 0, num_outputs = 2> (x)", 18, signature)
    assert is_proved(old, new)
    require_open(new, old)


COUNTED = "(float[N,2] x) => (float[A,2] y, float[B,2] z, float[C,2] w)"
BY_NUMBER = "y, z, w = Split <axis = 0, num_outputs = 3> (x)"
BY_LENGTHS = """<int64[1] zero = {0}, int64[1] two = {2}, int64[1] three = {3}> {
    shape = Shape (x) n = Gather <axis = 0> (shape, zero)
    more = Add (n, two) part = Div (more, three) all = Mul (part, two) last = Sub (n, all)
    lengths = Concat <axis = 0> (part, part, last)
    y, z, w = Split <axis = 0> (x, lengths) }"""


def test_a_number_of_parts_tells_their_lengths():
    old, new = model(BY_LENGTHS, 13, COUNTED), model(BY_NUMBER, 18, COUNTED)
    require_same(old, new, seeds=0)
    for rows in (2, 3, 5, 7):
        feeds = {"x": np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)}
        assert same_bits(*(by_reference(proto, feeds) for proto in (old, new)))


@table(
    ("(part, part, last)", "(part, last, part)"),
    ("Add (n, two)", "Add (n, three)"),
    ("two = {2}", "two = {1}"),
    ("zero = {0}", "zero = {1}"),
    ("Split <axis = 0>", "Split <axis = 1>"),
)
def test_other_lengths_are_not_those(before, after):
    other = BY_LENGTHS.replace(before, after)
    assert other != BY_LENGTHS
    require_open(model(other, 13, COUNTED), model(BY_NUMBER, 18, COUNTED))


def test_run_time_pads_of_all_axes_in_order():
    signature = "(float[M,N] x, int64[4] p) => (float[A,B] y)"
    plain = model("y = Pad (x, p)", 18, signature)
    for axes, same in (("0, 1", True), ("0, -1", True), ("1, 0", False), ("-2, 1", True)):
        new = model(
            f"<float z = {{0}}, int64[2] a = {{{axes}}}> {{ y = Pad (x, p, z, a) }}", 18, signature
        )
        assert is_proved(plain, new) is same
