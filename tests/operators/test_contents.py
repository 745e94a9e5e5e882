"""Content of small integer tensors: what the rules say is what onnx computes, for all sizes."""

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper
from straightline import ir
from straightline.facts.dimension import Dimension
from straightline.facts.fact import Fact, as_content
from straightline.operators.outputs import content_of
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


N, M = Dimension.symbol("N"), Dimension.symbol("M")


def content_from(elements):
    """Content of numbers, truth values, dimensions and None (not known), nested as they are."""
    plain = np.array(elements, object)
    made = np.empty(plain.shape, object)
    for place, element in np.ndenumerate(plain):
        is_number = isinstance(element, int) and not isinstance(element, bool)
        made[place] = Dimension.constant(element) if is_number else element
    return made


def said(op_type, operands, elem_type=INT64, **attributes):
    """What a rule says of operands that need not all be known; None where it says nothing."""
    facts = []
    for operand in operands:
        content = None if operand is None else content_from(operand)
        is_bool = content is not None and any(isinstance(e, bool) for e in content.reshape(-1))
        facts.append(Fact(BOOL if is_bool else INT64, None, content))
    content = content_of(node_of(op_type, len(facts), **attributes), facts, elem_type)
    if content is None:
        return None
    plain = np.empty(content.shape, object)
    for place, element in np.ndenumerate(content):
        known = isinstance(element, Dimension) and element.value is not None
        plain[place] = element.value if known else element
    return plain.tolist()


VALUE = onnx.numpy_helper.from_array


@pytest.mark.parametrize(
    ("op_type", "operands", "attributes"),
    [
        ("Add", [[3, -4], [1]], {}),
        ("Sub", [[3, -4], [1]], {}),
        ("Mul", [[3, -4], [2]], {}),
        ("Div", [[7, -7, 7, -7], [2, 2, -2, -2]], {}),
        ("Mod", [[7, -7, 7, -7, 6], [2, 2, -2, -2, 3]], {}),
        ("Mod", [[7, -7, 7, -7, 6], [2, 2, -2, -2, 3]], {"fmod": 1}),
        ("Neg", [[3, -4]], {}),
        ("Min", [[3, -4], [1, 5], [2, 2]], {}),
        ("Max", [[3, -4], [1, 5], [2, 2]], {}),
        ("Identity", [[3, -4]], {}),
        ("Equal", [[3, 4], [3, 3]], {}),
        ("Equal", [[True, True], [True, False]], {}),
        ("Less", [[3, 4, 5], [4, 4, 4]], {}),
        ("Greater", [[3, 4, 5], [4, 4, 4]], {}),
        ("LessOrEqual", [[3, 4, 5], [4, 4, 4]], {}),
        ("GreaterOrEqual", [[3, 4, 5], [4, 4, 4]], {}),
        ("Not", [[True, False]], {}),
        ("And", [[True, True, False, False], [True, False, True, False]], {}),
        ("Or", [[True, True, False, False], [True, False, True, False]], {}),
        ("Where", [[True, False], [1, 2], [3, 4]], {}),
        ("Cast", [[3, 0, -1]], {"to": BOOL}),
        ("Cast", [[True, False]], {"to": BOOL}),
        ("Cast", [[True, False]], {"to": INT64}),
        ("Cast", [[True, False]], {"to": INT32}),
        ("Cast", [[3, -4]], {"to": INT32}),
        ("Cast", [[3, -4]], {"to": INT64}),
        ("Gather", [[[1, 2], [3, 4]], [[1, -1]]], {"axis": 1}),
        ("Gather", [[[1, 2], [3, 4]], 1], {}),
        ("Gather", [[1, 2, 3], [-3, 2]], {}),
        ("Gather", [[[1, 2, 3], [4, 5, 6]], 2], {"axis": -1}),
        ("Concat", [[[1, 2]], [[3, 4]]], {"axis": 0}),
        ("Concat", [[[1, 2]], [[3, 4]]], {"axis": 1}),
        ("Concat", [[[1, 2]], [[3, 4]]], {"axis": -2}),
        ("Unsqueeze", [[1, 2], [0, 2]], {}),
        ("Unsqueeze", [[1, 2], [-1]], {}),
        ("Squeeze", [[[[1], [2]]], [0]], {}),
        ("Squeeze", [[[[1], [2]]], [-1]], {}),
        ("Squeeze", [[[[1], [2]]]], {}),
        ("Reshape", [[1, 2, 3, 4], [2, -1]], {}),
        ("Reshape", [[[1, 2], [3, 4]], [0, 2, 1]], {}),
        ("Slice", [[1, 2, 3, 4], [1], [3]], {}),
        ("Slice", [[1, 2, 3, 4], [-1], [-9], [0], [-2]], {}),
        ("Slice", [[1, 2, 3, 4], [-1], [-3], [0], [-1]], {}),
        ("Slice", [[1, 2, 3, 4], [3], [-4], [0], [-1]], {}),
        ("Slice", [[[1, 2, 3], [4, 5, 6]], [1], [3], [1]], {}),
        ("Slice", [[[1, 2, 3], [4, 5, 6]], [1, 0], [9, 1]], {}),
        ("Slice", [[[1, 2, 3], [4, 5, 6]], [0, 1], [9, 2], [-1, 0], [2, 1]], {}),
        ("ReduceSum", [[1, 2, 4]], {}),
        ("ReduceSum", [[1, 2, 4]], {"keepdims": 0}),
        ("ReduceSum", [[1, 2, 4], [0]], {"noop_with_empty_axes": 1}),
        ("ReduceProd", [[1, 2, 4]], {"keepdims": 0}),
        ("ReduceProd", [[1, 2, 4]], {}),
        ("ConstantOfShape", [[2, 1]], {"value": VALUE(np.array([7]))}),
        ("ConstantOfShape", [[2]], {"value": VALUE(np.array([True]))}),
        ("ConstantOfShape", [[2]], {"value": VALUE(np.array([7], np.int32))}),
    ],
)
def test_numbers_give_all_that_onnx_computes(op_type, operands, attributes):
    content = assert_agrees(op_type, [np.array(operand) for operand in operands], **attributes)
    assert content is not None
    assert all(element is not None for element in content.reshape(-1))


@pytest.mark.parametrize(
    ("op_type", "operands", "elem_type", "wanted"),
    [
        ("Add", [[N, None], [1, 1]], INT64, [N + 1, None]),
        ("Sub", [[N, 3], [N, M]], INT64, [0, 3 - M]),
        ("Mul", [[N, None], [2, 0]], INT64, [N * 2, None]),
        ("Div", [[N * 6, N + 1, N], [2, 2, 0]], INT64, [N * 3, None, None]),
        ("Mod", [[N * 6, N + 1, N * 2, N], [2, 2, 0, N]], INT64, [0, None, None, None]),
        ("Neg", [[N, None]], INT64, [-N, None]),
        ("Min", [[N, N + 1, N], [N + 1, N, M]], INT64, [N, N, None]),
        ("Max", [[N, N + 1, N], [N + 1, N, M]], INT64, [N + 1, N + 1, None]),
        ("Min", [[N, N], [0, N], [-1, N]], INT64, [-1, N]),
        ("Max", [[N, M], [0, N], [-1, N]], INT64, [N, None]),
        (
            "Equal",
            [[N, N + 1, N, N * 2, None], [N, 0, M, 3, 1]],
            BOOL,
            [True, False, None, False, None],
        ),
        ("Less", [[N, N, N, None], [N + 1, 0, 1, 1]], BOOL, [True, False, None, None]),
        ("Greater", [[N + 1, 0, N], [N, N, 1]], BOOL, [True, False, None]),
        ("LessOrEqual", [[N, N + 1, N], [N, N, 1]], BOOL, [True, False, None]),
        ("GreaterOrEqual", [[N, N, N], [0, N + 1, 1]], BOOL, [True, False, None]),
        ("Not", [[True, None]], BOOL, [False, None]),
        ("And", [[None, None, True], [False, True, None]], BOOL, [False, None, None]),
        ("Or", [[None, None, False], [True, False, None]], BOOL, [True, None, None]),
        ("Where", [[True, False], [N, N], [1, None]], INT64, [N, None]),
        ("Where", [[None, None], [N, N], [N, 1]], INT64, [N, None]),
        ("Concat", [[N], [None, 2]], INT64, None),
        ("Gather", [[N, M, 2], [1, 0]], INT64, [M, N]),
        ("Gather", [[N, M], [None]], INT64, None),
        ("Gather", [[N, M], [2]], INT64, None),
        ("Gather", [[N, M], [-3]], INT64, None),
        ("Reshape", [[N, M], [2, N]], INT64, None),
        ("Slice", [[N, M, 2], [1], [9]], INT64, [M, 2]),
        ("Slice", [[N, M, 2], [None], [9]], INT64, None),
        ("ReduceSum", [[N, M, 2]], INT64, [N + M + 2]),
        ("ReduceProd", [[N, M, 2]], INT64, [N * M * 2]),
        ("ReduceSum", [[N, None]], INT64, None),
        ("ReduceSum", [[[1, 2], [3, 4]]], INT64, None),
        ("ConstantOfShape", [[N]], INT64, None),
        ("Add", [[1], None], INT64, None),
        ("Sin", [[1]], INT64, None),
    ],
)
def test_what_is_said_where_not_everything_is_known(op_type, operands, elem_type, wanted):
    attributes = {"axis": 0} if op_type == "Concat" and wanted else {}
    assert said(op_type, operands, elem_type, **attributes) == wanted


def test_content_that_is_joined():
    assert said("Concat", [[N], [None, 2]], axis=0) == [N, None, 2]
    assert said("Concat", [[N], None], axis=0) is None


def test_operands_of_older_versions_are_attributes():
    assert said("Unsqueeze", [[N, 2]], axes=[0]) == [[N, 2]]
    assert said("Squeeze", [[[N], [2]]], axes=[1]) == [N, 2]
    assert said("Slice", [[N, M, 2]], starts=[1], ends=[3]) == [M, 2]
    assert said("Slice", [[[N, M, 2]]], starts=[1], ends=[3], axes=[1]) == [[M, 2]]
    assert said("Squeeze", [[[N], [2]], [None]]) is None
    assert said("Slice", [[N, M, 2]]) is None


def test_a_reduction_over_no_axes_is_not_followed():
    assert said("ReduceSum", [[1, 2]], noop_with_empty_axes=1) is None
    assert said("ReduceSum", [[1, 2], []], noop_with_empty_axes=1) is None
    assert said("ReduceSum", [[1, 2], [0]], noop_with_empty_axes=1) == [3]


def test_types_that_are_not_followed():
    assert said("Add", [[1], [2]], onnx.TensorProto.FLOAT) is None
    assert said("Cast", [[1]], to=onnx.TensorProto.FLOAT) is None
    assert said("Cast", [None], to=INT64) is None
    assert said("ConstantOfShape", [[2]]) is None
    assert said("ConstantOfShape", [[2]], value=VALUE(np.array([1.5], np.float32))) is None


def test_sizes_that_may_overflow_are_not_known():
    most = (1 << 31) - 1
    assert said("Mul", [[N], [most]]) == [N * most]
    assert said("Mul", [[N], [most + 1]]) == [None]
    assert said("Mul", [[N], [-most - 1]]) == [None]
    assert said("Add", [[2**31 - 1], [0]], INT32) == [2**31 - 1]
    assert said("Add", [[2**31 - 1], [1]], INT32) == [None]
    assert said("Sub", [[-(2**31)], [0]], INT32) == [-(2**31)]
    assert said("Sub", [[-(2**31)], [1]], INT32) == [None]


def test_as_many_elements_as_are_followed():
    assert len(said("Neg", [[1] * 1024])) == 1024
    assert said("Neg", [[1] * 1025]) is None
    fill = VALUE(np.array([1]))
    assert len(said("ConstantOfShape", [[1024]], value=fill)) == 1024
    assert said("ConstantOfShape", [[1025]], value=fill) is None
    assert said("ConstantOfShape", [[10**9, 10**9]], value=fill) is None
