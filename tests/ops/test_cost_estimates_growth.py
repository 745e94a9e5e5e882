"""Bounds on what comes out of operators that can make much of little."""

import math

import numpy as np
import pytest
from onnx import helper
from operator_facts import make_node
from small_arrays import ONE, floats, ints, ones
from straightline.ops import OperatorRules, described, rules_of
from straightline.ops.cost_estimates import broadcast_size, size_of, times
from straightline.ops.rules import NoLarger
from straightline.reference import operator_kernel


def test_sizes():
    assert size_of([2, 3]) == 6 and size_of(np.array([], np.int64)) == 1
    assert size_of([-4]) == 4 and size_of(5) == 5
    assert size_of(np.array([1 << 40, 1 << 40])) == 2.0**80, "it does not overflow"
    assert times(np.ones((2, 3)), [2, 5]) == 60
    assert times(np.ones((2, 0)), [2, 5]) == 0


def test_shapes_that_broadcast():
    assert broadcast_size([np.ones((2, 1)), np.ones(3)]) == 6
    assert broadcast_size([np.ones(2), np.ones(3)]) == 0
    rows = np.empty((1 << 16, 1), np.bool_)
    assert broadcast_size([rows, rows.reshape(1, -1)]) == 1 << 32


POOL, POOLED = {"kernel_shape": [2, 2]}, {"strides": [2, 2]}
BOXES = np.array([[[0, 0, 1, 1], [2, 2, 3, 3]]], np.float32)
TOKENS = {"max_gram_length": 1, "min_gram_length": 1, "max_skip_count": 0, "mode": "TF"}
TOKENS |= {"ngram_counts": [0], "ngram_indexes": [0, 4], "pool_int64s": [1, 2]}


# What is no array is an attribute.
GROWING = [
    ("ConstantOfShape", [ints(2, 3)], {}, 17),
    ("Expand", [ones(2, 1), ints(2, 3)], {}, 17),
    ("Tile", [ones(2, 2), ints(3, 2)], {}, 17),
    ("Gather", [ones(4, 3), ints(0, 1, 2, 0, 1, 2)], {}, 17),
    ("Gather", [ones(4, 3), ints(0, 1, 2, 0, 1, 2)], {"axis": -1}, 17),
    ("OneHot", [ints(1, 0), ints(3)[0], floats(0, 1)], {}, 17),
    ("Range", [ints(3)[0], ints(9)[0], ints(2)[0]], {}, 17),
    ("Range", [ints(9)[0], ints(0)[0], ints(-3)[0]], {}, 17),
    ("Pad", [ones(2, 2), ints(1, 1, 0, 2)], {}, 17),
    ("Pad", [ones(2, 2)], {"pads": [1, 1, 0, 2]}, 10),
    ("Resize", [ONE, floats(1, 1, 2, 2)], {}, 10),
    ("Resize", [ONE, None, floats(1, 1, 2, 2)], {}, 17),
    ("Resize", [ONE, None, None, ints(1, 1, 2, 3)], {}, 17),
    ("Upsample", [ONE, floats(1, 1, 2, 2)], {}, 9),
    ("Upsample", [ONE], {"scales": [1.0, 1.0, 2.0, 2.0]}, 7),
    ("Einsum", [ones(2), ones(3)], {"equation": "i,j->ij"}, 17),
    ("CenterCropPad", [ones(2, 2), ints(3, 4)], {}, 18),
    ("AffineGrid", [ones(2, 2, 3), ints(2, 1, 2, 3)], {}, 20),
    ("AffineGrid", [ones(1, 3, 4), ints(1, 1, 2, 3, 2)], {}, 20),
    ("Col2Im", [ones(1, 5, 5), ints(5, 5), ints(1, 5)], {}, 18),
    ("Where", [ones(2, 1) > 0, ones(3), ones(1)], {}, 17),
    ("HannWindow", [ints(4)[0]], {}, 17),
    ("HammingWindow", [ints(4)[0]], {}, 17),
    ("BlackmanWindow", [ints(4)[0]], {}, 17),
    ("MaxUnpool", [ones(1, 1, 2, 2), ints(0, 5, 9, 15).reshape(1, 1, 2, 2)], POOL | POOLED, 17),
    ("MaxUnpool", [ones(1, 1, 1, 1), ints(0).reshape(1, 1, 1, 1), ints(1, 1, 5, 5)], POOL, 17),
    ("DFT", [ones(1, 4, 2), ints(9)[0]], {}, 17),
    ("DFT", [ones(1, 4, 2)], {}, 17),
    ("RoiAlign", [ones(1, 2, 4, 4), ones(3, 4), ints(0, 0, 0)], {"output_height": 2}, 17),
    ("NonMaxSuppression", [BOXES, ones(1, 2, 2), ints(9), *floats(0.5, 0)[:, None]], {}, 17),
    ("LSTM", [ones(3, 2, 1), ones(1, 8, 1), ones(1, 8, 2)], {"hidden_size": 2}, 17),
    ("GRU", [ones(3, 2, 1), ones(1, 6, 1), ones(1, 6, 2)], {"hidden_size": 2}, 17),
    ("RNN", [ones(3, 2, 1), ones(1, 2, 1), ones(1, 2, 2)], {"hidden_size": 2}, 17),
    ("StringConcat", [np.array([["a"], ["b"]], object), np.array(["c"] * 3, object)], {}, 20),
    ("StringSplit", [np.array(["a b c", "d"], object)], {}, 20),
    ("TfIdfVectorizer", [ints(1, 2, 3)], TOKENS, 17),
    ("MelWeightMatrix", [*ints(4, 8, 16), *floats(0, 4)], {}, 17),
    *((name, [ones(2, 1), ones(3)], {}, 17) for name in ("Max", "Min", "Sum")),
    *((name, [ones(2, 1), ones(3)], {}, 17) for name in ("Add", "Sub", "Mul", "Div")),
    *((name, [ones(2, 1), ones(3)], {}, 17) for name in ("Less", "Greater", "Pow")),
    *((f"{name}OrEqual", [ones(2, 1), ones(3)], {}, 17) for name in ("Less", "Greater")),
    ("Equal", [ones(2, 1), ones(3)], {}, 17),
    *((name, [ones(2, 1) > 0, ones(3) > 0], {}, 17) for name in ("And", "Or", "Xor")),
    *((f"Bitwise{name}", [ints(2)[:, None], ints(3, 4)], {}, 18) for name in ("And", "Or", "Xor")),
    ("BitShift", [ints(2, 5)[:, None].astype(np.uint8)] * 2, {"direction": "LEFT"}, 17),
    ("Mod", [ints(2, 5)[:, None], ints(3, 4)], {}, 17),
    ("MatMul", [ones(2, 1, 3, 4), ones(5, 4, 6)], {}, 17),
    ("MatMul", [ones(4), ones(5, 4, 6)], {}, 17),
    ("MatMul", [ones(3, 4), ones(4)], {}, 17),
    ("Gemm", [ones(3, 4), ones(4, 6)], {}, 17),
    ("Gemm", [ones(4, 3), ones(6, 4)], {"transA": 1, "transB": 1}, 17),
    # The reference does not stretch the first operand of Mean.
    ("Mean", [ones(2, 3), ones(3)], {}, 17),
]


@pytest.mark.parametrize(("op_type", "arrays", "attributes", "opset"), GROWING)
def test_no_more_comes_out_than_is_said(op_type, arrays, attributes, opset):
    names = ["" if array is None else f"i{index}" for index, array in enumerate(arrays)]
    message = helper.make_node(op_type, names, ["y"], **attributes)
    result = operator_kernel(message, {"": opset})(arrays)[0]
    node = make_node(op_type, arrays, **attributes)
    bound = rules_of(node.op).growth(node, arrays)
    assert math.prod(result.shape) <= bound < math.inf


def test_every_operator_that_says_how_it_grows_is_tried():
    grows = {name for name, one in described().items() if one.defines(OperatorRules.growth)}
    bounded = {name for name, one in described().items() if one.growth.__func__ is NoLarger.growth}
    assert grows - bounded == {row[0] for row in GROWING}
    assert {row[0] for row in NO_LARGER} <= bounded


NO_LARGER = [
    ("Concat", [ones(2, 3)] * 3, {"axis": 0}, 17),
    ("Slice", [ones(2, 3), ints(0), ints(9)], {}, 17),
    ("Split", [ones(4, 3)], {}, 17),
    ("Compress", [ones(2, 3), np.array([True, False, True])], {"axis": 1}, 17),
    ("GatherElements", [ones(2, 1), ints(0, 1, 0, 1)[:, None]], {}, 17),
    ("ScatterElements", [ones(2, 3), ints(0)[None], ones(1, 1)], {}, 17),
    ("CumSum", [ones(2, 3), ints(0)[0]], {}, 17),
]


@pytest.mark.parametrize(("op_type", "arrays", "attributes", "opset"), NO_LARGER)
def test_no_more_comes_out_than_goes_in(op_type, arrays, attributes, opset):
    message = helper.make_node(op_type, [f"i{k}" for k in range(len(arrays))], ["y"], **attributes)
    result = operator_kernel(message, {"": opset})(arrays)[0]
    assert result.size <= sum(array.size for array in arrays)
