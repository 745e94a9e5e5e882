import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    convert_version,
    model,
)
from straightline import reference
from tables import cases

test_nodes_of_each_step = cases(
    assert_writes,
    ("y = Pad <pads = [0, 1, 0, 1], value = 2.5> (x)", 10, 11, ["Pad (x, [0, 1, 0, 1], 2.5)"],
     "float[2, 3] x"),
    ("y = Pad <pads = [0, 1, 0, 1]> (x)", 10, 11, ["Pad (x, [0, 1, 0, 1])"], "float[2, 3] x"),
    ("p = Constant <value_ints = [1, 1]> () v = Constant <value_float = 2.5> () y = Pad (x, p, v)",
     12, 10, ["Pad <pads = [1, 1], value = 2.5> (x)"], "float[2] x"),
    ("p = Constant <value_ints = [1, 2]> () a = Constant <value_ints = [-1]> ()"
     " y = Pad (x, p, , a)", 18, 17, ["Pad (x, [0, 1, 0, 2])"], "float[2, 3] x"),
    ('y = Pad <mode = "edge"> (x, p)', 19, 18, ["Pad <mode = edge> (x, p)"],
     "float[2, 3] x, int64[4] p"))  # fmt: skip


def test_pads_of_some_axes_are_spread_at_run_time():
    assert_becomes("""18 to 17, float[2, 3] x, int64[2] p:
        a = Constant <value_ints = [-1]> () y = Pad (x, p, , a) =>
        pads = ScatterElements <axis = 0> ([0, 0, 0, 0], [1, 3], p)
        y = Pad (x, pads)""")
    assert_becomes("""11 to 10, int8[2] x: p = Constant <value_ints = [1, 1]> () y = Pad (x, p) =>
        double_x = Cast <to = 11> (x)
        padded = Pad <pads = [1, 1], value = 0.0> (double_x)
        y = Cast <to = 3> (padded)""")


@pytest.mark.parametrize("axes", [[0], [-1], [1, 0], [0, 2], [-3, -1]])
@pytest.mark.parametrize("known", [True, False])
def test_pads_of_some_axes(axes, known):
    pads = np.arange(1, 1 + 2 * len(axes), dtype=np.int64)
    given = f"p = Constant <value_ints = {pads.tolist()}> () " if known else ""
    body = f"{given}a = Constant <value_ints = {axes}> () y = Pad (x, p, , a)"
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    signature = "float[2, 2, 2] x" + ("" if known else f", int64[{len(pads)}] p")
    fed = {"x": x} if known else {"x": x, "p": pads}
    assert_carried(body, 18, (17, 13) if known else (17, 16), fed, signature)
    if known:
        assert_carried(body, 18, (10,), fed, signature)


def test_padding_that_goes_around_is_gathered():
    body = 'p = Constant <value_ints = [1, 0, 0, 4]> () y = Pad <mode = "wrap"> (x, p)'
    assert_becomes(f"""19 to 18: {body} =>
        rows = Gather <axis = 0> (x, [1, 0, 1])
        y = Gather <axis = 1> (rows, [0, 1, 2, 0, 1, 2, 0])""")
    nothing = 'p = Constant <value_ints = [0, 0, 0, 0]> () y = Pad <mode = "wrap"> (x, p)'
    assert_becomes(f"""19 to 18: {nothing} =>
        y = Identity (x)""")


@pytest.mark.sample(4)
@pytest.mark.parametrize("pads", [[1, 0, 0, 4], [5, 2, 3, 1], [0, 0, 0, 1], [-1, 2, 0, 0]])
@pytest.mark.parametrize("signature", ["float[2, 3] x", "float[N, M] x"])
@pytest.mark.parametrize("axes", [False, True])
def test_numbers_around(pads, signature, axes):
    order = [1, 0, 3, 2] if axes else [0, 1, 2, 3]
    body = f"p = Constant <value_ints = {[pads[place] for place in order]}> ()"
    body += " a = Constant <value_ints = [-1, 0]> ()" if axes else ""
    body += f' y = Pad <mode = "wrap"> (x, p{", , a" if axes else ""})'
    x = np.array([[1, np.inf, -0.0], [np.nan, 5, 6]], np.float32)
    if min(pads) < 0:  # onnx's reference does not cut
        after = reference.run(convert_version(model(body, 19, signature), 18), {"x": x})[0]
        np.testing.assert_array_equal(after, x[1:, [1, 2, 0, 1, 2]])
    else:
        assert_carried_everywhere(body, 19, (18, 8), {"x": x}, signature, ["graph"])


def test_wrapping_pads_are_refused():
    reason = "mode = 'wrap' does not exist in opset 18"
    wrap = 'y = Pad <mode = "wrap"> (x, p)'
    assert_refuses(wrap, 19, 18, reason, "float[2, 3] x, int64[4] p")
    reason = "input 'pads' of it is computed at run time"
    assert_refuses(wrap, 19, 18, reason, "float[2, 3] x, int64[4] p")
    shaped = f"v = Reshape (x, s) p = Constant <value_ints = [1, 0]> () {wrap}".replace(
        "x, p", "v, p"
    )
    unknown = "mode = 'wrap' needs the rank of input 0, which is not known"
    assert_refuses(shaped, 19, 18, unknown, "float[2] x, int64[K] s")
    for pads, signature, why in (
        ([1, 0, -1, 0], "float[2, 3] x", "is not defined where an axis is cut and padded"),
        ([1, 0, 0, 0], "float[0, 3] x", "an axis without elements has nothing to repeat"),
        ([1, 0], "float[2, 3] x", "its pads are not two for each of its axes"),
    ):
        assert_refuses(f"p = Constant <value_ints = {pads}> () {wrap}", 19, 18, why, signature)


@pytest.mark.sample(5)
@pytest.mark.parametrize("pads", [[1, 0, 2, 1], [-1, 1, 0, -2], [0, 0, 0, 0], [0, 3, 0, 0]])
@pytest.mark.parametrize("value", ["", ", v"])
def test_run_time_pads_are_blocks_before_and_after(pads, value):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    signature = "float[A, B] x, int64[4] p" + (", float v" if value else "")
    feeds = {"x": x, "p": np.array(pads)} | ({"v": np.array(7, np.float32)} if value else {})
    assert_carried(f"y = Pad (x, p{value})", 11, (10, 9), feeds, signature)


def test_only_what_may_be_padded_gets_blocks():
    assert_becomes("""12 to 10, float[2, 3] x, float[K] u:
        n = Shape (u) z = Constant <value_ints = [0]> () p = Concat <axis = 0> (z, z, z, n) y =
        Pad (x, p) =>
        n = Shape (u)
        z = Constant <value = [0]> ()
        p = Concat <axis = 0> (z, z, z, n)
        shape = Shape (x)
        height = Slice (shape, [0], [1])
        count = Gather <axis = 0> (p, [3])
        sizes = Concat <axis = 0> (height, count)
        block = Expand (0.0, sizes)
        y = Concat <axis = 1> (x, block)""")
