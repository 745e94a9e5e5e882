import numpy as np
import onnx
import pytest
from reference_oracle import assert_as_onnxruntime, one_node, onnxruntime_outputs
from straightline import reference
from straightline.reference import EvaluationError, operator_kernel
from tables import table

INF, NAN = np.inf, np.nan
LAST = 2**63 - 1


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("row", [[-INF, -INF], [INF, 1], [NAN, 1], [-INF, 2], [1000, 1000], []])
def test_logarithms_of_sums_of_exponentials(row, opset):
    array = np.array([row], np.float32)
    for keepdims in (0, 1):
        model, feeds = one_node("ReduceLogSumExp", [array], opset, keepdims=keepdims)
        (found,) = reference.run(model, feeds)
        with np.errstate(all="ignore"):
            expected = np.logaddexp.reduce(array.astype(float), axis=(0, 1))
        np.testing.assert_allclose(found, np.float32(expected).reshape((1, 1)[: 2 * keepdims]))


@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), (3, 2)])
def test_the_mean_of_nothing_is_zero(shape, dtype, opset):
    array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    for keepdims in (0, 1):
        assert_as_onnxruntime(*one_node("ReduceMean", [array], opset, keepdims=keepdims))


@pytest.mark.parametrize("attributes", [{"end": -5}, {"start": -5, "end": -1}, {"start": 5}])
def test_axes_out_of_range_are_the_first_or_the_last(attributes):
    assert_as_onnxruntime(*one_node("Shape", [np.ones((2, 3, 4), np.float32)], 17, **attributes))


@pytest.mark.parametrize("op_type", ["Div", "Mod"])
def test_integers_are_not_divided_by_zero(op_type):
    one, zero = np.array([7, -7]), np.array([2, 0])
    model, feeds = one_node(op_type, [one, zero], 18)
    with pytest.raises(EvaluationError, match=f"{op_type} divides an integer by zero"):
        reference.run(model, feeds)
    for divisor in (np.array([2, -2]), np.array([[]], np.int64).reshape(0, 1)):
        assert_as_onnxruntime(*one_node(op_type, [one, divisor], 18))


def test_floats_are_divided_by_zero():
    model, feeds = one_node("Div", [np.float32([1, 0]), np.float32([0, 0])], 18)
    np.testing.assert_array_equal(reference.run(model, feeds)[0], [INF, NAN])


def test_a_logarithm_of_integers_is_refused():
    model, feeds = one_node("ReduceLogSumExp", [np.array([1, 2])], 18)
    with pytest.raises(EvaluationError, match="integers have no logarithm"):
        reference.run(model, feeds)


def test_without_axes_nothing_is_reduced_where_that_is_said():
    array = np.array([[1, 2]], np.float32)
    model, feeds = one_node("ReduceLogSumExp", [array], 18, noop_with_empty_axes=1)
    assert_as_onnxruntime(model, feeds)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_values_of_one_hot_rows_are_copied(axis):
    values = np.array([-INF, NAN], np.float32)
    model, feeds = one_node("OneHot", [np.array([0, -1, 7]), np.array(3), values], 13, axis=axis)
    assert_as_onnxruntime(model, feeds)


@pytest.mark.parametrize("opset", [11, 13, 21])
@pytest.mark.parametrize("axes", [[1, 0], [0, -1], [-1, 0], [3, 0], [-4, 2], [2, 0, 1], [0]])
def test_axes_of_size_one_are_inserted_and_removed_in_any_order(axes, opset):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    rank = array.ndim + len(axes)
    whole = np.expand_dims(array, tuple(axis % rank for axis in axes))
    for op_type, data in (("Unsqueeze", array), ("Squeeze", whole)):
        assert_as_onnxruntime(*_of_axes(op_type, data, axes, opset))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axes_to_insert_may_be_a_scalar(axis):
    array = np.ones((1, 1), np.float32)
    assert_as_onnxruntime(*_of_axes("Unsqueeze", array, axis, 13))
    with pytest.raises(EvaluationError, match="not a list"):  # so says onnxruntime
        reference.run(*_of_axes("Squeeze", array, axis, 13))


def test_without_axes_all_of_size_one_are_removed():
    for opset in (11, 13):
        assert_as_onnxruntime(*one_node("Squeeze", [np.ones((1, 3, 1), np.float32)], opset))


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("axes", [[0, 0], [0, -3], [3], [-4]])
def test_axes_are_inserted_once_and_in_range(axes, opset):
    node, operands = _node_of_axes("Unsqueeze", np.ones(2, np.float32), axes, opset)
    with pytest.raises(EvaluationError, match="Unsqueeze"):
        operator_kernel(node, {"": opset})(operands)


def _of_axes(op_type, data, axes, opset):
    if opset < 13:
        return one_node(op_type, [data], opset, axes=axes)
    return one_node(op_type, [data, np.array(axes, np.int64)], opset, fixed=(1,))


def _node_of_axes(op_type, data, axes, opset):
    if opset < 13:
        return onnx.helper.make_node(op_type, ["x"], ["y"], axes=axes), [data]
    return onnx.helper.make_node(op_type, ["x", "a"], ["y"]), [data, np.array(axes, np.int64)]


def test_expanding_keeps_the_bits_of_a_nan():
    bits = np.array([[0xFFA00001], [0x80000000]], np.uint32)
    model, feeds = one_node("Expand", [bits.view(np.float32), np.array([3, 1, 2])], 13)
    (found,) = reference.run(model, feeds)
    assert found.shape == (3, 2, 2)
    assert (found.view(np.uint32) == bits).all()


@table(
    ({}, ["a", "", "B"], ["a", "", "B"]),
    ({"case_change_action": "UPPER"}, ["a b", "c"], ["A B", "C"]),
    ({"stopwords": ["A"]}, ["a", "b a"], ["b a"]),
    ({"stopwords": ["A"], "is_case_sensitive": 1}, ["a", "A"], ["a"]),
    ({"stopwords": ["a"], "case_change_action": "LOWER"}, ["a"], [""]),
)
def test_words_are_dropped_and_changed(options, words, expected):
    for shape in ((-1,), (1, -1)):
        array = np.array(words, object).reshape(shape)
        model, feeds = one_node("StringNormalizer", [array], 13, **options)
        (found,) = reference.run(model, feeds)
        assert found.ndim == array.ndim
        assert found.reshape(-1).tolist() == expected


def test_words_stand_in_one_row():
    node = onnx.helper.make_node("StringNormalizer", ["x"], ["y"])
    with pytest.raises(EvaluationError, match="is neither"):
        operator_kernel(node, {"": 13})([np.array([["a"], ["b"]], object)])


HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


@pytest.mark.parametrize(("half", "kind"), [(0.5, "float"), ([0.5], "float[1]")])
def test_a_power_of_a_half_is_no_root(half, kind):
    text = f"(float[2] x, {kind} h) => (float[2] y) {{ y = Pow (x, h) }}"
    feeds = {"x": np.array([-np.inf, -0.0], np.float32), "h": np.array(half, np.float32)}
    (found,) = reference.run(onnx.parser.parse_model(HEAD + text), feeds)
    assert found[0] == np.inf and not np.signbit(found[1])


@pytest.mark.parametrize(("shape", "kind"), [((), "float"), ((2,), "float[2]")])
def test_random_numbers_fill_any_shape(shape, kind):
    text = f"({kind} x) => ({kind} y) {{ y = RandomUniformLike <low = 2.0, high = 3.0> (x) }}"
    model = onnx.parser.parse_model(HEAD + text)
    (found,) = reference.run(model, {"x": np.zeros(shape, np.float32)})
    assert found.shape == shape and (found >= 2).all() and (found <= 3).all()


@pytest.mark.parametrize("kind", ["int64", "uint64", "int32"])
def test_a_product_of_integers_wraps(kind):
    most = np.iinfo(kind).max
    operands = np.array([[most, most]], kind), np.array([[1], [2]], kind), np.array([[3]], kind)
    (found,) = reference.run(*one_node("Gemm", operands, 13))
    assert found[0, 0] == operands[0][0, 0] * np.array([3], kind) + 3


def test_negative_classes_are_out_of_range_before_opset_11():
    operands = [np.array([0, -1]), np.array(2), np.array([5, 6], np.float32)]
    for opset, row in ((10, [5, 5]), (11, [5, 6])):
        assert reference.run(*one_node("OneHot", operands, opset))[0][1].tolist() == row
    operands[1] = np.array(-2)
    with pytest.raises(EvaluationError, match="there are no -2 classes"):
        reference.run(*one_node("OneHot", operands, 11))


def test_a_slope_must_broadcast():
    x = np.array([[-1, 2, -0.0], [np.nan, -3, 4]], np.float32)
    assert_as_onnxruntime(*one_node("PRelu", [x, np.array([2, 3, 4], np.float32)], 16))
    with pytest.raises(EvaluationError, match=r"a slope of shape \[2\] does not broadcast"):
        reference.run(*one_node("PRelu", [x, np.array([2, 3], np.float32)], 16))


@pytest.mark.parametrize(("row", "mean"), [([-7, 0], -3), ([2**62 + 1, 2**62], 1 - 2**62)])
def test_the_mean_of_integers_is_a_sum_that_wraps_and_a_quotient_that_is_cut(row, mean):
    (found,) = reference.run(*one_node("ReduceMean", [np.array(row)], 18, keepdims=0))
    assert found == mean


@pytest.mark.parametrize("shapes", [((), (3,)), ((1,), (2, 3)), ((2, 1), (3,), ())])
def test_the_first_operand_of_a_mean_may_be_the_smallest(shapes):
    operands = [np.full(shape, 1.5 * n, np.float32) for n, shape in enumerate(shapes)]
    assert_as_onnxruntime(*one_node("Mean", operands, 13))


def test_nothing_lies_beyond_a_bound_that_is_no_number():
    x, bound = np.array([1, np.nan, -np.inf], np.float32), np.array(np.nan, np.float32)
    assert_as_onnxruntime(*one_node("Clip", [x, bound, bound], 13))


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("row", [[-0.0, -0.0, 1], [1, -0.0, -0.0], [-0.0], []])
def test_a_sum_of_what_comes_before_begins_with_zero(row, reverse, exclusive):
    array = np.array([row, row], np.float32)
    flags = {"exclusive": exclusive, "reverse": reverse}
    model, feeds = one_node("CumSum", [array, np.array(1)], 14, **flags)
    (found,), (ours,) = assert_as_onnxruntime(model, feeds), onnxruntime_outputs(model, feeds)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(ours))


def test_a_vector_of_one_axis():
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert_as_onnxruntime(*one_node("CumSum", [rows, np.array([1])], 14))


@pytest.mark.parametrize("opset", [10, 19, 25])
@pytest.mark.parametrize("zero", [np.array(3, np.uint8), np.array(-128, np.int8)])
def test_numbers_beyond_32_bits_saturate(zero, opset):
    operands = [np.float32([INF, -INF, 3e9, -3e9, 0.5, 1.5, 300]), np.array(1, np.float32)]
    assert_as_onnxruntime(*one_node("QuantizeLinear", operands, opset))
    assert_as_onnxruntime(*one_node("QuantizeLinear", [*operands, zero], opset))


@table(
    (0, LAST, LAST // 2, [0, LAST // 2, LAST - 1]),
    (-LAST - 1, LAST, LAST, [-LAST - 1, -1, LAST - 1]),
    (LAST, -LAST, -LAST, [LAST, 0]),
    (LAST - 3, LAST, 2, [LAST - 3, LAST - 1]),
    (0, -LAST, 1, []),
    (5, 0, -2, [5, 3, 1]),
)
def test_ranges_up_to_the_last_integer(start, limit, delta, expected):
    """numpy counts as doubles."""
    model, feeds = one_node("Range", [np.array(n) for n in (start, limit, delta)], 11)
    assert reference.run(model, feeds)[0].tolist() == expected


def test_a_range_that_no_memory_holds():
    model, feeds = one_node("Range", [np.array(n) for n in (0, LAST, 1)], 11)
    with pytest.raises(EvaluationError, match=f"Range of {LAST} elements"):
        reference.run(model, feeds)
