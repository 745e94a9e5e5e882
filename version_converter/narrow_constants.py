"""Constants of types of 8 bits or less, below the opsets that have them.

    y = DequantizeLinear (Transpose (w[int4]), scale, zero[int4])
->  (opset 21 to 20)
    y = DequantizeLinear (Transpose (w[int8]), scale, zero[int8])

The wider type holds the same numbers. Every reader must depend on the numbers alone:
QuantizeLinear, for instance, saturates to the type of its zero point.
"""

from collections.abc import Iterator, Sequence

import onnx

from ..ir import Function, Graph, Model, Node, Tensor, Value, constant_operator

_T = onnx.TensorProto
_TYPES = dict(_T.DataType.items())
_WIDER: dict[int, dict[int, int]] = {
    28: {  # the lowest onnx lacks these types
        _TYPES[name]: _T.FLOAT8E4M3FN for name in ("FLOAT6E2M3", "FLOAT6E3M2") if name in _TYPES
    },
    25: {_T.INT2: _T.INT8, _T.UINT2: _T.UINT8},
    23: {_T.FLOAT4E2M1: _T.FLOAT8E4M3FN},
    21: {_T.INT4: _T.INT8, _T.UINT4: _T.UINT8},
    19: {
        _T.FLOAT8E4M3FN: _T.FLOAT16,
        _T.FLOAT8E4M3FNUZ: _T.FLOAT16,
        _T.FLOAT8E5M2: _T.FLOAT16,
        _T.FLOAT8E5M2FNUZ: _T.FLOAT16,
    },
}
"""By the opset that added types: a type of the opset before that holds their numbers."""

_MOVES = ("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten")
"""Operators of which the first output holds the elements of the first input."""

_HAS_QUANTIZED_FLOATS = 19
"""The opset from which DequantizeLinear takes floats; its own adapter casts them below."""
_QUANTIZED = (0, 2)
"""Inputs of DequantizeLinear that have one type: numbers and zero points."""


def widen_constants(root: Model | Function, source: int) -> bool:
    """Widen constants that the next lower opset lacks, where all readers allow it.

    Returns: true after a change.
    """
    wider = _WIDER.get(source, {})
    homes = {v: g for g in root.graph.walk() for v in _constants(g) if _type_of(v) in wider}
    if not homes:
        return False
    narrow = set(homes)
    quantized = _QUANTIZED if source > _HAS_QUANTIZED_FLOATS else ()
    # Inputs of one DequantizeLinear have one type, so a refused constant may take others along.
    while refused := {value for value in narrow if not _allows(value, narrow, quantized)}:
        narrow -= refused
    for value in narrow:
        _widen(homes[value], value, wider[_type_of(value)])
    return bool(narrow)


def _constants(graph: Graph) -> Iterator[Value]:
    yield from (value for value in graph.initializers if value.constant is not None)
    for node in graph.unordered_nodes():
        if node.is_op("Constant") and node.output().constant is not None:
            yield node.output()


def _type_of(value: Value) -> int:
    tensor = value.constant
    return 0 if tensor is None else tensor.elem_type


def _allows(value: Value, narrow: set[Value], quantized: Sequence[int]) -> bool:
    """Test whether all readers of a value depend on its numbers alone.

    Args:
        narrow: the constants that may be widened.
        quantized: the inputs of DequantizeLinear that may have the wider type.
    """
    if value.pinned or value.graph is None:
        return False
    for user, place in value.graph.uses(value):
        if not isinstance(user, Node):
            return False
        if user.is_op(*_MOVES) and place == 0:
            if not _allows(user.output(), narrow, quantized):
                return False
        elif user.is_op("DequantizeLinear") and place in quantized:
            others = [user.input(each) for each in _QUANTIZED if each != place]
            if not all(other is None or _origin(other) in narrow for other in others):
                return False
        elif not (user.is_op("Cast") and place == 0):
            return False
    return True


def _origin(value: Value) -> Value:
    """The value whose elements a value holds."""
    while value.producer is not None and value.producer.is_op(*_MOVES):
        source = value.producer.operand(0)
        value = source
    return value


def _widen(graph: Graph, value: Value, elem_type: int) -> None:
    tensor = value.constant
    assert tensor is not None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    wide = Tensor(array=tensor.numpy().astype(dtype))
    _forget_types(value)
    producer = value.producer
    if producer is not None:
        graph.set_operator(producer, constant_operator(wide))
        return
    graph.supersede(value, graph.add_initializer(value.name, wide))
    graph.remove_initializer(value)


def _forget_types(value: Value) -> None:
    """Remove the declared types of a value and of those that hold its elements."""
    value.info = None
    assert value.graph is not None
    for user, _ in value.graph.uses(value):
        if isinstance(user, Node) and user.is_op(*_MOVES):
            _forget_types(user.output())
