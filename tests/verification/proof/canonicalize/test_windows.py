from proofs import assert_open, assert_proved
from tables import table

TEXT = "g (float[n, 2, h, w] x, float[3, 2, 3, 3] k) => (float[] y) {{ y = {} }}"


@table(
        ("Conv <pads = [0, 0, 0, 0]> (x, k)", "Conv (x, k)"),
        ("Conv <kernel_shape = [3, 3]> (x, k)", "Conv (x, k)"),
        ("Conv <strides = [1, 1], dilations = [1, 1]> (x, k)", "Conv (x, k)"),
        (
            "MaxPool <kernel_shape = [2, 2], strides = [1, 1], dilations = [1, 1]> (x)",
            "MaxPool <kernel_shape = [2, 2]> (x)",
        ),
        (
            "AveragePool <kernel_shape = [2, 2], pads = [0, 0, 0, 0]> (x)",
            "AveragePool <kernel_shape = [2, 2]> (x)",
        ))  # fmt: skip
def test_defaults_change_nothing(node, plain):
    assert_proved(TEXT.format(node), TEXT.format(plain))
    assert_proved(TEXT.format(plain), TEXT.format(node))


@table(
    "Conv <pads = [0, 0, 1, 1]> (x, k)",
    "Conv <strides = [1, 2]> (x, k)",
    "Conv <dilations = [2, 1]> (x, k)",
    'Conv <auto_pad = "SAME_UPPER"> (x, k)',
)
def test_other_values_do(node):
    assert_open(TEXT.format(node), TEXT.format("Conv (x, k)"))


@table(
    ("AveragePool <kernel_shape = [2, 2], strides = [2, 2]%s> (x)", "8, 6"),
    ("MaxPool <kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 0, 0]%s> (x)", "8, 6"),
    ("MaxPool <kernel_shape = [2, 2], dilations = [3, 1], strides = [2, 1]%s> (x)", "8, 6"),
)
def test_rounding_is_needless_where_whole_windows_fill_the_axes(node, size):
    text = f"g (float[n, 2, {size}] x) => (float[] y) {{ y = {node} }}"
    up, down = text % ", ceil_mode = 1", text % ""
    assert_proved(up, down)
    assert_proved(down, up)
    for other in ("7, 6", "h, 6"):
        assert_open(*(each.replace("8, 6", other) for each in (up, down)))
    if "pads" in node:
        assert_open(*(each.replace("[1, 0, 0, 0]", "[1, 0, 1, 0]") for each in (up, down)))


def test_kernels_that_count_padding_sum_in_another_way_where_they_round_up():
    text = "g (float[n, 2, 7, 7] x) => (float[] y) { y = AveragePool <kernel_shape = [3, 3],"
    text += " strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = %d, ceil_mode = %d> (x) }"
    assert_open(text % (1, 1), text % (1, 0))
    assert_proved(text % (0, 1), text % (0, 0))
