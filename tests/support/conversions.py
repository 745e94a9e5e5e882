"""What tests of adapters share: convert one node, read it as text, compare the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.helper
import onnx.numpy_helper
import onnx.parser
from straightline import reference
from straightline.versions import convert_version


def model(body: str, opset: int, signature: str = "float[2, 3] x", outputs: str = "y") -> Any:
    """A model with this body; the types of its outputs are not declared."""
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({signature}) => ({outputs}) {{ {body} }}'
    )


def converted(body: str, opset: int, target: int, signature: str = "float[2, 3] x") -> list[str]:
    """The nodes of a converted model as text, with constants in the place of their names."""
    proto = convert_version(model(body, opset, signature), target)
    return written(proto.graph)


def written(graph: onnx.GraphProto) -> list[str]:
    """The nodes of a graph as text, with constants in the place of their names."""
    held = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in graph.initializer}
    lines = []
    for node in graph.node:
        inputs = ", ".join(str(held.get(name, name)) for name in node.input)
        attributes = ", ".join(sorted(f"{a.name} = {_value(a)}" for a in node.attribute))
        said = f" <{attributes}>" if attributes else ""
        lines.append(f"{node.op_type}{said} ({inputs})")
    return lines


def _value(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value).tolist()
    return value.decode() if isinstance(value, bytes) else value


def _declared(name: str, array: np.ndarray[Any, Any]) -> onnx.ValueInfoProto:
    elem_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_value_info(name, elem_type, [None] * array.ndim)


def assert_carried(
    body: str,
    opset: int,
    targets: tuple[int, ...],
    feeds: Mapping[str, Any],
    signature: str = "float[2, 3] x",
    rtol: float = 0,
) -> None:
    """Check that a model gives the same at other versions, and is valid there."""
    before = model(body, opset, signature)
    wanted = reference.run(before, dict(feeds))[0]
    before.graph.output[0].CopyFrom(_declared(before.graph.output[0].name, wanted))
    for target in targets:
        after = convert_version(before, target)
        onnx.checker.check_model(after, full_check=True)
        (found,) = reference.run(after, dict(feeds))
        assert found.dtype == wanted.dtype and found.shape == wanted.shape, target
        np.testing.assert_allclose(found, wanted, rtol=rtol, err_msg=f"opset {target}")
