"""What tests of operators share: operands of which something is known, and what is said of them.

A size or an element is an int, a `Dimension`, or None where it is not known.
"""

from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import helper
from straightline import ir
from straightline.facts.bounds import Bounds, Known, known
from straightline.facts.fact import Fact, Symbols, as_content, is_named
from straightline.facts.polynomial import Dimension
from straightline.facts.safety_context import Premises, Unproven
from straightline.ops import rules_of
from straightline.ops.outputs import content_of, known_outputs, shapes_of
from straightline.reference import EvaluationError, operator_kernel

N, M = Dimension.symbol("N"), Dimension.symbol("M")
FLOAT, STRING, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.STRING, onnx.TensorProto.BOOL
INT64, INT32, UINT8 = onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.UINT8
OPSET = 21
VALUE = onnx.numpy_helper.from_array


def dim(size: Any) -> Dimension:
    return size if isinstance(size, Dimension) else Dimension.constant(size)


def make_node(
    op_type: str, given: list[Any], outputs: int = 1, domain: str = "", **attributes: Any
) -> ir.Node:
    """A node with an input for each operand, absent where that is None."""
    model = ir.Model(onnx.ModelProto(ir_version=10))
    model.opset_imports = {"": OPSET}
    values = [
        None if one is None else model.graph.add_input(f"i{k}") for k, one in enumerate(given)
    ]
    op = ir.Operator.make(op_type, domain, **attributes)
    return model.graph.add_node(op, values, [f"o{k}" for k in range(outputs)])


# Shapes -----------------------------------------------------------------------------------------


def shaped(*shape: Any) -> Fact:
    return Fact(FLOAT, tuple(map(dim, shape)))


def holding(*elements: Any) -> Fact:
    """A vector of 64-bit integers."""
    content = np.empty(len(elements), object)
    content[:] = [None if e is None else dim(e) for e in elements]
    return Fact(INT64, (dim(len(elements)),), content)


def number(element: Any) -> Fact:
    content = np.empty((), object)
    content[()] = dim(element)
    return Fact(INT64, (), content)


SHAPELESS = Fact(FLOAT)
INDICES = Fact(INT64, (dim(1),))
"""A vector of one element that is known only at run time."""


def shape_said(op_type: str, *facts: Fact | None, **attributes: Any) -> list[Any] | None:
    """The shape that a rule gives, "?" for a size that is not known; None where it leaves the node
    to onnx."""
    node = make_node(op_type, list(facts), **attributes)
    shapes = shapes_of(node, [Fact() if f is None else f for f in facts], Symbols())
    if shapes is None:
        return None
    (shape,) = shapes
    if shape is None:
        return None
    return [
        "?" if not is_named(size) else size.value if size.value is not None else size
        for size in shape
    ]


# Content ----------------------------------------------------------------------------------------


def fact_of(array: Any) -> Fact:
    array = np.asarray(array)
    known_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    return Fact(known_type, tuple(map(Dimension.constant, array.shape)), as_content(array))


def computed(op_type: str, arrays: list[Any], **attributes: Any) -> Any:
    """What onnx's reference computes; None where the node fails."""
    names = [f"i{index}" for index in range(len(arrays))]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    try:
        return operator_kernel(node, {"": OPSET})(arrays)[0]
    except EvaluationError:
        return None


def assert_agrees(op_type: str, arrays: list[Any], **attributes: Any) -> Any:
    """The rule says what onnx computes, or nothing."""
    expected = computed(op_type, arrays, **attributes)
    elem_type = INT64 if expected is None else helper.np_dtype_to_tensor_dtype(expected.dtype)
    node = make_node(op_type, arrays, **attributes)
    content = content_of(node, [fact_of(a) for a in arrays], elem_type)
    if content is None:
        return None
    assert expected is not None, "the rule gives content to a node that fails"
    assert content.shape == expected.shape
    for element, want in zip(content.reshape(-1), expected.reshape(-1), strict=True):
        value = element.value if isinstance(element, Dimension) else element
        assert value is None or value == want
    return content


def assert_says_all(op_type: str, operands: list[Any], attributes: dict[str, Any]) -> None:
    """The rule says all that onnx computes."""
    content = assert_agrees(op_type, [np.array(operand) for operand in operands], **attributes)
    assert content is not None
    assert all(element is not None for element in content.reshape(-1))


def elements_of(nested: Any) -> Any:
    """Content of numbers, truth values, dimensions and None (not known), nested as they are."""
    plain = np.array(nested, object)
    made = np.empty(plain.shape, object)
    for place, element in np.ndenumerate(plain):
        is_number = isinstance(element, int) and not isinstance(element, bool)
        made[place] = Dimension.constant(element) if is_number else element
    return made


def said(op_type: str, operands: list[Any], elem_type: int = INT64, **attributes: Any) -> Any:
    """What a rule says of operands that need not all be known; None where it says nothing."""
    facts = []
    for operand in operands:
        content = None if operand is None else elements_of(operand)
        is_bool = content is not None and any(isinstance(e, bool) for e in content.reshape(-1))
        facts.append(Fact(BOOL if is_bool else INT64, None, content))
    content = content_of(make_node(op_type, facts, **attributes), facts, elem_type)
    if content is None:
        return None
    plain = np.empty(content.shape, object)
    for place, element in np.ndenumerate(content):
        decided = isinstance(element, Dimension) and element.value is not None
        plain[place] = element.value if decided else element
    return plain.tolist()


small = st.integers(-9, 9)
wide = st.one_of(small, st.integers(-(2**63), 2**63 - 1))
_SHAPES = st.sampled_from([(), (1,), (2,), (3,), (1, 2), (2, 1), (0,)])


@st.composite
def arrays(draw: Any, count: int, elements: Any = small, dtype: Any = np.int64) -> list[Any]:
    """Arrays whose shapes may be broadcast."""
    found = []
    for _ in range(count):
        shape = draw(_SHAPES)
        size = int(np.prod(shape))
        data = draw(st.lists(elements, min_size=size, max_size=size))
        found.append(np.array(data, dtype).reshape(shape))
    return found


# Bounds -----------------------------------------------------------------------------------------

_WHOLE = (-(2**63), 2**63 - 1)


def lying(low: Any, high: Any, elem_type: int = INT64, shape: Any = None) -> Known:
    """A tensor whose elements lie between two numbers."""
    dims = None if shape is None else tuple(map(dim, shape))
    return Known(Fact(elem_type, dims), Bounds(dim(low), dim(high)))


def bounds_said(
    op_type: str,
    inputs: list[Known | None],
    outputs: int = 1,
    elem_type: int = INT64,
    domain: str = "",
    **attributes: Any,
) -> list[Any]:
    """The bounds of the outputs of a node, as pairs; the whole range of 64 bits is "any"."""
    node = make_node(op_type, inputs, outputs, domain, **attributes)
    read = [Known(Fact()) if one is None else one for one in inputs]
    found = known_outputs(node, read, [Fact(elem_type)] * outputs)
    return [pair(one.bounds) for one in found]


def pair(bounds: Bounds | None) -> Any:
    if bounds is None:
        return None
    low, high = (b if b.value is None else b.value for b in bounds)
    return "any" if (low, high) == _WHOLE else (low, high)


# Proofs that a node cannot fail -----------------------------------------------------------------


def tensor(*shape: Any, elem_type: int = FLOAT) -> Known:
    """A tensor of known shape."""
    return known(Fact(elem_type, tuple(map(dim, shape))))


def numbers(values: Any, elem_type: int = INT64) -> Known:
    """Integers that are all known, sizes among them."""
    plain = np.array(values, object)
    content = as_content(np.zeros(plain.shape, np.int64))
    for place, value in np.ndenumerate(plain):
        content[place] = None if value is None else dim(value)
    return known(Fact(elem_type, tuple(map(dim, plain.shape)), content))


def between(low: Any, high: Any, *shape: Any, elem_type: int = INT64) -> Known:
    """Integers of a known shape between two numbers."""
    return Known(Fact(elem_type, tuple(map(dim, shape))), Bounds(dim(low), dim(high)))


UNKNOWN = known(Fact(FLOAT))
ABSENT = None


def why(
    op_type: str, *inputs: Known | None, opset: int = 17, outputs: int = 1, **attributes: Any
) -> str | None:
    """Why a node may fail; None where it cannot."""
    node = make_node(op_type, list(inputs), outputs, **attributes)
    read = [Known(Fact()) if one is None else one for one in inputs]
    try:
        rules_of(node.op).require_safe(Premises(node, read, opset))
    except Unproven as unproven:
        return str(unproven)
    return None


def cannot_fail(op_type: str, *inputs: Known | None, **how: Any) -> None:
    assert why(op_type, *inputs, **how) is None


def may_fail(reason: str, op_type: str, *inputs: Known | None, **how: Any) -> None:
    found = why(op_type, *inputs, **how)
    assert found is not None and reason in found, found
