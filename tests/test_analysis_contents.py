"""Content of small integer tensors: what the rules say is what onnx computes, for all sizes."""

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper
from straightline import ir
from straightline.passes.analysis.contents import content_of
from straightline.passes.analysis.dimension import Dimension
from straightline.passes.analysis.facts import Fact, as_content
from straightline.reference import EvaluationError, operator_kernel

INT64, INT32, BOOL = onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.BOOL
OPSET = 21


def node_of(op_type, count, **attributes):
    """A node with inputs a, b, ... and one output."""
    graph = ir.Model(onnx.ModelProto(ir_version=10))
    graph.opset_imports = {"": OPSET}
    inputs = [graph.graph.add_input(f"i{index}") for index in range(count)]
    return graph.graph.add_node(ir.Operator.make(op_type, **attributes), inputs, ["y"])


def fact(array, elem_type=None):
    array = np.asarray(array)
    known = elem_type or helper.np_dtype_to_tensor_dtype(array.dtype)
    return Fact(known, tuple(map(Dimension.constant, array.shape)), as_content(array))


def computed(op_type, arrays, **attributes):
    """What onnx's reference computes; None where the node fails."""
    names = [f"i{index}" for index in range(len(arrays))]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    try:
        return operator_kernel(node, {"": OPSET})(arrays)[0]
    except EvaluationError:
        return None


def assert_agrees(op_type, arrays, **attributes):
    """The rule says what onnx computes, or nothing."""
    expected = computed(op_type, arrays, **attributes)
    elem_type = INT64 if expected is None else helper.np_dtype_to_tensor_dtype(expected.dtype)
    node = node_of(op_type, len(arrays), **attributes)
    content = content_of(node, [fact(a) for a in arrays], elem_type)
    if content is None:
        return None
    assert expected is not None, "the rule gives content to a node that fails"
    assert content.shape == expected.shape
    for known, number in zip(content.reshape(-1), expected.reshape(-1), strict=True):
        value = known.value if isinstance(known, Dimension) else known
        assert value is None or value == number
    return content


small = st.integers(-9, 9)
wide = st.one_of(small, st.integers(-(2**63), 2**63 - 1))
shapes = st.sampled_from([(), (1,), (2,), (3,), (1, 2), (2, 1), (0,)])


@st.composite
def arrays(draw, count, elements=small, dtype=np.int64):
    """Arrays whose shapes may be broadcast."""
    found = []
    for _ in range(count):
        shape = draw(shapes)
        size = int(np.prod(shape))
        data = draw(st.lists(elements, min_size=size, max_size=size))
        found.append(np.array(data, dtype).reshape(shape))
    return found


@given(st.sampled_from(["Add", "Sub", "Mul", "Min", "Max", "Div", "Mod"]), arrays(2, wide))
def test_arithmetic(op_type, operands):
    if op_type in ("Div", "Mod"):
        assume(np.all(operands[1]))
        assume(not (op_type == "Div" and np.any(operands[0] == -(2**63))))
    with np.errstate(over="ignore"):
        assert_agrees(op_type, operands)


@given(arrays(2))
def test_remainder_with_the_sign_of_the_dividend(operands):
    assume(np.all(operands[1]))
    assert_agrees("Mod", operands, fmod=1)


@given(
    st.sampled_from(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]), arrays(2, wide)
)
def test_comparisons(op_type, operands):
    assert_agrees(op_type, operands)


@given(st.sampled_from(["Min", "Max"]), st.integers(1, 4), st.data())
def test_any_number_of_operands(op_type, count, data):
    content = assert_agrees(op_type, data.draw(arrays(count)))
    assert content is None or all(element is not None for element in content.reshape(-1))


@given(st.sampled_from(["And", "Or"]), arrays(2, st.booleans(), np.bool_))
def test_logic(op_type, operands):
    assert_agrees(op_type, operands)


@given(arrays(1, st.booleans(), np.bool_), arrays(2))
def test_where(condition, branches):
    assert_agrees("Where", [*condition, *branches])


@given(arrays(1, wide), st.sampled_from([INT64, INT32, BOOL]))
def test_cast_of_numbers(operands, to):
    assert_agrees("Cast", operands, to=to)


@given(arrays(1, st.booleans(), np.bool_), st.sampled_from([INT64, INT32, BOOL]))
def test_cast_of_truth_values(operands, to):
    assert_agrees("Cast", operands, to=to)


@given(arrays(1), arrays(1), st.integers(-2, 2))
def test_gather(data, indices, axis):
    assert_agrees("Gather", [*data, *indices], axis=axis)


@given(arrays(3), st.integers(-2, 2))
def test_concat(operands, axis):
    assert_agrees("Concat", operands, axis=axis)


@given(
    arrays(1), st.lists(st.integers(-4, 4), max_size=3), st.sampled_from(["Squeeze", "Unsqueeze"])
)
def test_axes_of_one(data, axes, op_type):
    assert_agrees(op_type, [*data, np.array(axes, np.int64)])


@given(arrays(1))
def test_squeeze_of_all(data):
    assert_agrees("Squeeze", data)


@given(arrays(1), st.lists(st.integers(-1, 3), max_size=3), st.sampled_from([0, 1]))
def test_reshape(data, target, allowzero):
    assert_agrees("Reshape", [*data, np.array(target, np.int64)], allowzero=allowzero)


@given(st.lists(small, max_size=5), small, small, st.sampled_from([1, 2, -1, -2, 0]))
def test_slice(data, start, end, step):
    bounds = [np.array([number], np.int64) for number in (start, end, 0, step)]
    assert_agrees("Slice", [np.array(data, np.int64), *bounds])


@given(
    st.sampled_from(["ReduceSum", "ReduceProd"]),
    st.lists(small, max_size=4),
    st.sampled_from([None, [], [0], [-1]]),
    st.sampled_from([0, 1]),
    st.sampled_from([0, 1]),
)
def test_reduce(op_type, data, axes, keepdims, noop):
    operands = [np.array(data, np.int64)]
    if axes is not None:
        operands.append(np.array(axes, np.int64))
    assert_agrees(op_type, operands, keepdims=keepdims, noop_with_empty_axes=noop)


@given(st.lists(st.integers(-1, 3), max_size=3), st.sampled_from([np.int64, np.int32, np.bool_]))
def test_constant_of_shape(target, dtype):
    value = onnx.numpy_helper.from_array(np.array([1], dtype))
    if min(target, default=0) >= 0:
        assert_agrees("ConstantOfShape", [np.array(target, np.int64)], value=value)


@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.one_of(st.none(), st.integers(-6, 6)),
    st.one_of(st.none(), st.integers(-6, 6)),
)
def test_shape_and_size(dims, start, end):
    # onnx's reference does not clamp what lies before the first axis.
    assume(all(bound is None or bound >= -len(dims) for bound in (start, end)))
    chosen = {k: v for k, v in (("start", start), ("end", end)) if v is not None}
    given_ = [Fact(onnx.TensorProto.FLOAT, tuple(map(Dimension.constant, dims)))]
    array = np.zeros(dims, np.float32)
    for op_type, attributes in (("Shape", chosen), ("Size", {})):
        content = content_of(node_of(op_type, 1, **attributes), given_, INT64)
        expected = computed(op_type, [array], **attributes)
        np.testing.assert_array_equal([e.value for e in content.reshape(-1)], expected.reshape(-1))
        assert content.shape == expected.shape


CHAIN = ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Equal", "Less", "GreaterOrEqual")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_symbols_stand_for_any_size(data):
    """Two operators over sizes N and M: what is decided holds for the sizes drawn."""
    sizes = {name: data.draw(st.integers(0, 4), label=name) for name in "NM"}
    n, m = (Dimension.symbol(name) for name in "NM")
    pool = [(n, sizes["N"]), (m, sizes["M"]), (n + m * 2, sizes["N"] + 2 * sizes["M"])]
    pool += [(Dimension.constant(c), c) for c in (-2, -1, 0, 1, 2, 3)]
    content, number = None, None
    for _ in range(data.draw(st.integers(1, 3))):
        op_type = data.draw(st.sampled_from(CHAIN))
        operands = [data.draw(st.sampled_from(pool)) for _ in range(2)]
        numbers = [np.array(concrete, np.int64) for _, concrete in operands]
        if op_type in ("Div", "Mod") and not numbers[1]:
            return
        facts = [Fact(INT64, (), _scalar(symbolic)) for symbolic, _ in operands]
        is_bool = op_type in CHAIN[7:]
        content = content_of(node_of(op_type, 2), facts, BOOL if is_bool else INT64)
        number = computed(op_type, numbers).item()
        element = content.item()
        if element is None:
            return
        if is_bool:
            assert element == number
            return
        assert value_at(element, sizes) == number
        pool.append((element, number))


def _scalar(element):
    content = np.empty((), object)
    content[()] = element
    return content


def value_at(dim, sizes):
    total = 0
    for monomial, factor in dim.terms.items():
        total += factor * int(np.prod([sizes[name] for name in monomial], dtype=np.int64))
    return total


def test_what_would_overflow_is_not_known():
    largest = np.array([2**63 - 1], np.int64)
    content = content_of(node_of("Add", 2), [fact(largest), fact([1])], INT64)
    assert content.tolist() == [None]
    content = content_of(node_of("Cast", 1, to=INT32), [fact([2**32])], INT32)
    assert content.tolist() == [None]


@pytest.mark.parametrize(
    ("op_type", "operands", "attributes"),
    [
        ("Reshape", [[4], [2]], {}),
        ("Concat", [[4], [[2]]], {"axis": 0}),
        ("Add", [[4, 3], [2, 3, 4]], {}),
        ("Slice", [[4], [0], [1], [0], [0]], {}),
        ("Gather", [[4], [2]], {"axis": 0}),
        ("Squeeze", [[4, 3], [0]], {}),
        ("ConstantOfShape", [[-1]], {"value": onnx.numpy_helper.from_array(np.array([1]))}),
    ],
)
def test_operands_that_do_not_fit_give_nothing(op_type, operands, attributes):
    facts = [fact(np.array(operand, np.int64)) for operand in operands]
    assert content_of(node_of(op_type, len(facts), **attributes), facts, INT64) is None


def test_large_tensors_are_not_followed():
    row, column = np.arange(1000), np.arange(1000).reshape(-1, 1)
    assert content_of(node_of("Add", 2), [fact(row), fact(column)], INT64) is None
