import numpy as np
from conversions import assert_carried, assert_refuses, assert_writes
from tables import table

SHAPES = "i = Constant <value_ints = [{}]> () b = Constant <value_ints = [{}]> ()"


def test_each_pixel_is_a_sum():
    body = SHAPES.format("3", "2") + " y = Col2Im (x, i, b)"
    nodes = [
        "Reshape (x, [0, 1, 4])",
        "Pad (y_columns, [0, 0, 0, 0, 0, 1])",
        "Gather <axis = 2> (y_padded, [[0, 4, 4], [1, 2, 4], [3, 4, 4]])",
        "ReduceSum <keepdims = 0> (y_taken, [3])",
        "Reshape (y_pixels, [0, 0, 3])",
    ]
    assert_writes(body, 18, 17, nodes, "float[N, 2, 2] x")


@table(
    ("4, 5", "2, 2", "", 12),
    ("5, 5", "2, 3", "pads = [1, 0, 1, 2], strides = [2, 1]", 15),
    ("6, 6", "2, 2", "dilations = [2, 3], strides = [3, 2]", 4),
    ("5", "3", "strides = [2], pads = [1, 1]", 3),
)
def test_the_numbers_stay(image, block, how, blocks):
    columns = 2 * int(np.prod(eval(f"[{block}]")))
    x = np.random.default_rng(0).integers(-9, 9, (2, columns, blocks)).astype(np.float32)
    attributes = f"<{how}> " if how else ""
    body = SHAPES.format(image, block) + f" y = Col2Im {attributes}(x, i, b)"
    assert_carried(body, 18, (17, 9), {"x": x}, f"float[2, {columns}, {blocks}] x")


def test_an_image_of_run_time_size_stays():
    body = "b = Constant <value_ints = [2]> () y = Col2Im (x, i, b)"
    reason = "the shape of the image of it is computed at run time"
    assert_refuses(body, 18, 17, reason, "float[1, 2, 2] x, int64[1] i")
    body = SHAPES.format("2", "3") + " y = Col2Im (x, i, b)"
    reason = "a block of 3 does not fit into a length of 2"
    assert_refuses(body, 18, 17, reason, "float[1, 3, 1] x")
