"""Operators of opsets before 7, evaluated as nodes of opset 7.

y = Add <broadcast = 1, axis = 1> (x, b)  ->  y = Add (x, b with axes of length 1 at its end)
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ...records import entry
from ..bodies import Array
from ..errors import EvaluationError

OPSET = 7
"""First opset in which shapes alone decide how operands meet."""

Attributes = dict[str, Any]
Inputs = list[Any]
Lift = Callable[[Attributes, Inputs], Inputs]
"""Changes attributes to those of opset 7, and returns its inputs."""

_LIFTS: dict[str, Lift] = {}
"""By operator; those without an entry differ in `consumed_inputs` and defaults alone."""
_lifts = functools.partial(entry, _LIFTS)


def is_older_form(node: onnx.NodeProto, opset: int) -> bool:
    """Test whether an opset before 7 has another version of the node's operator than 7."""
    if opset >= OPSET or node.domain not in ("", "ai.onnx"):
        return False
    try:
        own, newer = (onnx.defs.get_schema(node.op_type, v, "") for v in (opset, OPSET))
    except onnx.defs.SchemaError:
        return False
    return bool(own.since_version < newer.since_version)


def lifted(
    node: onnx.NodeProto, opset: int, inputs: Sequence[Any]
) -> tuple[onnx.NodeProto, Inputs]:
    """The node of opset 7, and its inputs, for one evaluation.

    Raises:
        EvaluationError: opset 7 has no such node.
    """
    schema = onnx.defs.get_schema(node.op_type, opset, "")
    attributes = {
        name: helper.get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type
    }
    attributes |= {a.name: helper.get_attribute_value(a) for a in node.attribute}
    # It names memory to reuse, which changes no result.
    attributes.pop("consumed_inputs", None)
    operands = list(inputs)
    if node.op_type in _LIFTS:
        operands = _LIFTS[node.op_type](attributes, operands)
    names = ["" if value is None else f"x{index}" for index, value in enumerate(operands)]
    return helper.make_node(
        node.op_type, names, list(node.output), node.name, **attributes
    ), operands


@_lifts("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less")
def _broadcast(attributes: Attributes, inputs: Inputs) -> Inputs:
    """Align a second operand with axes of the first one."""
    axis = attributes.pop("axis", -1)
    first, second = inputs
    if not attributes.pop("broadcast"):
        if first.shape != second.shape:
            raise EvaluationError(f"{first.shape} and {second.shape} differ without 'broadcast'")
        return inputs
    start = first.ndim - second.ndim if axis < 0 else axis
    # One element fits operands of any shape.
    if second.size == 1:
        return [first, second.reshape(())]
    if first.shape[start : start + second.ndim] != second.shape:
        raise EvaluationError(f"{second.shape} is not a part of {first.shape} from axis {start} on")
    return [first, _with_ones(second, first.ndim - start - second.ndim)]


def _with_ones(array: Array, count: int) -> Array:
    return array.reshape(*array.shape, *[1] * count)


@_lifts("PRelu")
def _channels(attributes: Attributes, inputs: Inputs) -> Inputs:
    data, slope = inputs
    if slope.ndim != 1 or slope.size == 1 or data.ndim < 2:
        return inputs
    # A slope for each channel, along axis 1.
    return [data, _with_ones(slope, data.ndim - 2)]


@_lifts("Gemm")
def _plain_bias(attributes: Attributes, inputs: Inputs) -> Inputs:
    del attributes["broadcast"]
    return inputs


@_lifts("BatchNormalization", "Dropout")
def _inference(attributes: Attributes, inputs: Inputs) -> Inputs:
    if not attributes.pop("is_test"):
        raise EvaluationError("training before opset 7 is not implemented")
    return inputs


@_lifts("Cast")
def _numbered_type(attributes: Attributes, inputs: Inputs) -> Inputs:
    if isinstance(attributes["to"], bytes):
        attributes["to"] = onnx.TensorProto.DataType.Value(attributes["to"].decode().upper())
    return inputs


@_lifts("Concat")
def _second_axis(attributes: Attributes, inputs: Inputs) -> Inputs:
    attributes.setdefault("axis", 1)
    return inputs


@_lifts("Pad")
def _pads(attributes: Attributes, inputs: Inputs) -> Inputs:
    attributes["pads"] = attributes.pop("paddings")
    return inputs


@_lifts("Reshape")
def _shape(attributes: Attributes, inputs: Inputs) -> Inputs:
    return [*inputs, np.array(attributes.pop("shape"), np.int64)]


@_lifts("Split")
def _lengths(attributes: Attributes, inputs: Inputs) -> Inputs:
    if "axis" not in attributes:
        raise EvaluationError("opset 1 has no default for 'axis'")
    if len(inputs) > 1 and inputs[1] is not None:
        attributes["split"] = [int(length) for length in inputs[1]]
    return inputs[:1]


@_lifts("Tile")
def _repeats(attributes: Attributes, inputs: Inputs) -> Inputs:
    data, count, axis = inputs
    repeats = np.ones(data.ndim, np.int64)
    repeats[int(axis.item())] = int(count.item())
    return [data, repeats]


@_lifts("Upsample")
def _scales(attributes: Attributes, inputs: Inputs) -> Inputs:
    attributes["scales"] = [1.0, 1.0, attributes.pop("height_scale"), attributes.pop("width_scale")]
    attributes["mode"] = attributes["mode"].replace(b"bilinear", b"linear")
    return inputs


@_lifts("LpPool", "GlobalLpPool")
def _whole_power(attributes: Attributes, inputs: Inputs) -> Inputs:
    if attributes["p"] != round(attributes["p"]):
        raise EvaluationError(f"p = {attributes['p']} is not implemented")
    attributes["p"] = round(attributes["p"])
    return inputs


@_lifts("RNN", "GRU", "LSTM")
def _recurrent(attributes: Attributes, inputs: Inputs) -> Inputs:
    attributes.pop("output_sequence")
    # The schemas of these opsets misspell their own default.
    attributes["direction"] = attributes["direction"].replace(b"foward", b"forward")
    return inputs
