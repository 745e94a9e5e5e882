"""The reference against onnxruntime, on models written in ONNX text."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import parser
from sessions import outputs
from straightline import reference


def parse(text: str, opset: int = 18, functions: str = "") -> onnx.ModelProto:
    """The model whose graph is ``text``; ``functions`` are in domain ``local``."""
    header = f'<ir_version: 9, opset_import: ["": {opset}, "local": 1]>'
    return parser.parse_model(f"{header} {text} {functions}")


def onnxruntime_outputs(model: onnx.ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    return outputs(model, feeds, optimized=False)


def assert_same(got: Any, expected: Any, **tolerance: float) -> None:
    """Same kind, type, shape and values."""
    if isinstance(expected, list):
        assert isinstance(got, list) and len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_same(one, other, **tolerance)
    elif expected is None:
        assert got is None
    else:
        assert isinstance(got, np.ndarray)
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        if got.dtype.kind == "O":
            assert got.tolist() == expected.tolist()
        else:
            wide = [a if a.dtype.kind in "biufc" else a.astype(np.float64) for a in (got, expected)]
            np.testing.assert_allclose(*wide, **{"rtol": 1e-6, **tolerance})


def assert_as_onnxruntime(
    model: onnx.ModelProto, feeds: Mapping[str, Any], **options: Any
) -> list[Any]:
    outputs = reference.run(model, feeds, **options)
    assert_same(outputs, onnxruntime_outputs(model, feeds))
    return outputs


def one_node(
    op_type: str,
    inputs: list[np.ndarray | None],
    opset: int,
    outputs: int = 1,
    fixed: tuple[int, ...] = (),
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A model of one node and its feeds; the inputs at `fixed` are initializers."""
    names = ["" if array is None else f"i{index}" for index, array in enumerate(inputs)]
    given = {name: array for name, array in zip(names, inputs, strict=True) if name}
    constant = {f"i{index}" for index in fixed}
    results = [f"o{index}" for index in range(outputs)]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op_type, names, results, **attributes)],
        "g",
        [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in given.items()
            if name not in constant
        ],
        [onnx.ValueInfoProto(name=name) for name in results],
        [onnx.numpy_helper.from_array(given[n], n) for n in names if n in constant],
    )
    opsets = [onnx.helper.make_opsetid("", opset)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")  # what runs decides
    return model, {name: array for name, array in given.items() if name not in constant}
