import numpy as np
from conversions import assert_becomes, assert_carried, assert_refuses, convert_version, model
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import open_session
from straightline import reference
from straightline.version_converter import ConversionError
from straightline.version_converter.windows import Window
from tables import table


def test_places_of_windows():
    window = Window(length=5, size=2, stride=2, step=2, start=1, end=1, more=0, windows=3)
    assert window.places().tolist() == [[-1, 1], [1, 3], [3, 5]]
    assert window.outside().tolist() == [[True, False], [False, False], [False, True]]


def test_windows_that_are_rounded_up_reach_into_more_padding():
    assert_becomes("""10 to 9, float[A, 3, 5] x:
        y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x) =>
        y = MaxPool <kernel_shape = [2], pads = [0, 1], strides = [2]> (x)""")


def test_dilated_windows_stand_side_by_side():
    assert_becomes("""10 to 9, float[A, 3, 4] x:
        y = MaxPool <kernel_shape = [2], dilations = [2]> (x) =>
        taken = Gather <axis = 2> (x, [0, 2, 1, 3])
        y = MaxPool <kernel_shape = [2], strides = [2]> (taken)""")


def test_padding_of_a_dilated_window_is_another_element_of_it():
    body = "y = MaxPool <kernel_shape = [2], dilations = [2], pads = [1, 1]> (x)"
    x = np.array([[[-3, -5, -2, -1]]], np.float32)
    assert_carried(body, 10, (9, 7), {"x": x}, "float[1, 1, 4] x")
    assert_refuses(body, 10, 9, "one of its windows holds nothing but padding", "float[1, 1, 1] x")


def test_padding_of_dilated_means_and_norms_is_zero():
    x = np.arange(12, dtype=np.float32).reshape(1, 2, 6)
    how = "kernel_shape = [3], dilations = [2], pads = [1, 2]"
    body = f"y = AveragePool <{how}, count_include_pad = 1> (x)"
    assert_carried(body, 19, (18, 9), {"x": x}, "float[1, 2, 6] x", rtol=1e-6)
    assert_carried(f"y = LpPool <{how}> (x)", 18, (17, 9), {"x": x}, "float[1, 2, 6] x", rtol=1e-6)
    mean = f"y = AveragePool <{how}> (x)"  # the padding does not count
    assert_carried(mean, 19, (18, 9), {"x": x}, "float[1, 2, 6] x", rtol=1e-6)
    alone = "y = AveragePool <kernel_shape = [2], dilations = [2], pads = [1, 1]> (x)"
    assert_refuses(alone, 19, 18, "nothing but padding", "float[1, 1, 1] x")
    same = 'kernel_shape = [1], dilations = [2], strides = [2], auto_pad = "SAME_LOWER"'
    assert_carried(f"y = MaxPool <{same}> (x)", 10, (9, 7), {"x": x}, "float[1, 2, 6] x")


def test_padding_of_dilated_windows_of_the_same_size_is_written_out():
    """Onnxruntime leaves the dilations out of that padding, against the specification."""
    x = np.array([[[4, 9, -3, 4, 1, 7], [-1, -1, -5, -2, -8, -3]]], np.float32)
    for side in ("SAME_UPPER", "SAME_LOWER"):
        how = f'kernel_shape = [2], dilations = [3], strides = [2], auto_pad = "{side}"'
        for more in ("", ", ceil_mode = 1"):
            body = f"y = MaxPool <{how}{more}> (x)"
            assert_carried(body, 12, (9, 7), {"x": x}, "float[1, 2, 6] x", sampled=False)
            for counted in (0, 1):
                body = f"y = AveragePool <{how}{more}, count_include_pad = {counted}> (x)"
                signature = "float[1, 2, 6] x"
                assert_carried(body, 22, (18,), {"x": x}, signature, rtol=1e-6, sampled=False)


def test_indices_of_dilated_windows_are_places_in_the_data():
    x = np.random.default_rng(0).integers(-2, 3, (2, 2, 4, 5)).astype(np.float32)
    for storage_order in (0, 1):
        how = "kernel_shape = [2, 2], dilations = [2, 1], pads = [1, 0, 1, 1], strides = [1, 2]"
        body = f"y, i = MaxPool <{how}, storage_order = {storage_order}> (x)"
        before = model(body, 12, "float[2, 2, 4, 5] x", "y, i")
        after = convert_version(before, 9, verify=False)
        for run in (reference.run, lambda proto, feeds: open_session(proto).run(None, feeds)):
            for one, other in zip(run(after, {"x": x}), run(before, {"x": x}), strict=True):
                np.testing.assert_array_equal(one, other)


def test_a_mean_counts_the_padding_that_is_there_but_none_of_ceil_mode():
    x = np.arange(7, dtype=np.float32).reshape(1, 1, 7)
    how = "kernel_shape = [3], strides = [3], pads = [1, 1], ceil_mode = 1, count_include_pad = 1"
    assert_carried(f"y = AveragePool <{how}> (x)", 10, (9, 7), {"x": x}, "float[1, 1, 7] x", 1e-6)
    dilated = f"y = AveragePool <{how}, dilations = [2]> (x)"
    assert_carried(dilated, 19, (18, 9), {"x": x}, "float[1, 1, 7] x", 1e-6)


@table(
    ("MaxPool", "kernel_shape = [2], ceil_mode = 1", "1, 1, N",
     "needs the lengths after the channels"),
    ("MaxPool", 'kernel_shape = [2], auto_pad = "ALL", ceil_mode = 1', "1, 1, 4",
     "there is no auto_pad"),
    ("MaxPool", "kernel_shape = [3], dilations = [2]", "1, 1, 4", "a window of 5 does not fit"),
    ("AveragePool", "kernel_shape = [1], strides = [3], ceil_mode = 1", "1, 1, 5",
     "last window starts"))  # fmt: skip
def test_forms_that_are_not_written_out(op_type, how, shape, reason):
    assert_refuses(f"y = {op_type} <{how}> (x)", 10, 9, reason, f"float[{shape}] x")


@table("strides = [2, 2]", "strides = [0]", "pads = [1]", "pads = [-1, 0]", "dilations = [2, 2]")
def test_windows_that_do_not_fit_their_kernel(how):
    reason = "its strides, dilations or pads do not fit its kernel"
    body = f"y = MaxPool <kernel_shape = [2], ceil_mode = 1, {how}> (x)"
    assert_refuses(body, 10, 9, reason, "float[1, 1, 5] x")


def test_indices_of_windows():
    x = np.array([[[1, 5, 2, 2, 7]]], np.float32)
    how = "kernel_shape = [2], strides = [2], ceil_mode = 1"
    assert_carried(f"v, y = MaxPool <{how}> (x)", 10, (9, 8), {"x": x}, "float[1, 1, 5] x")
    body = "v, y = MaxPool <kernel_shape = [2], dilations = [2]> (x)"
    assert_carried(body, 10, (9, 8), {"x": x}, "float[1, 1, 5] x")


@settings(max_examples=examples(12), deadline=None)
@given(
    lengths=st.lists(st.integers(3, 8), min_size=1, max_size=2),
    draws=st.lists(st.integers(0, 2), min_size=8, max_size=8),
    op=st.sampled_from([("MaxPool", 13, 9), ("AveragePool", 19, 9), ("LpPool", 18, 12)]),
)
def test_drawn_windows_give_the_same(lengths, draws, op):
    """Where a form exists, both runtimes give what they give of the original."""
    op_type, source, target = op
    axes = len(lengths)
    kernel, strides = [1 + d for d in draws[:axes]], [1 + d for d in draws[2 : 2 + axes]]
    pads = [min(d, size - 1) for d, size in zip(draws[4:6], kernel, strict=False)] * 2
    dilations = [1 + d % 2 for d in draws[6 : 6 + axes]]
    how = f"kernel_shape = {kernel}, strides = {strides}, pads = {pads}, dilations = {dilations}"
    if any(2 * k + 1 > length for k, length in zip(kernel, lengths, strict=True)):
        return
    shape = [1, 2, *lengths]
    x = np.random.default_rng(draws).normal(size=shape).astype(np.float32)
    more = (
        ", count_include_pad = 1" if op_type == "AveragePool" else f", ceil_mode = {draws[7] % 2}"
    )
    dims = ", ".join(map(str, shape))
    body = f"y = {op_type} <{how}{more}> (x)"
    proto = model(body, source, f"float[{dims}] x", f"float[{', '.join('abcd'[: axes + 2])}] y")
    try:
        after = convert_version(proto, target)
    except ConversionError as refused:  # the shape of the last window, which has a test of its own
        assert "last window starts in the padding" in str(refused)
        return
    (wanted,) = reference.run(proto, {"x": x})
    session = open_session(after)
    for found in (*reference.run(after, {"x": x}), *session.run(None, {"x": x})):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
