"""Schemas of the operators that onnxruntime has, those outside of ONNX included."""

import functools
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import onnx


class KernelSchema(NamedTuple):
    """Schema of an operator of onnxruntime.

    Attributes:
        inputs: the type parameter of each input, with its element types; the last one may repeat.
        attributes: the kinds of attributes by name: "INT", "FLOATS", "STRING".
    """

    inputs: Sequence[tuple[str, Sequence[int]]]
    attributes: Mapping[str, str]


@functools.cache
def _schemas() -> dict[tuple[str, str], list[Any]]:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    schemas: dict[tuple[str, str], list[Any]] = {}
    for schema in state.get_all_operator_schema():
        schemas.setdefault((schema.domain, schema.name), []).append(schema)
    return schemas


def kernel_schema(domain: str, op_type: str, opset: int) -> KernelSchema | None:
    """The schema of an operator; None where onnxruntime has none, and so no kernel.

    Args:
        domain: its domain, "" for ONNX's own.
        op_type: its name.
        opset: the version of ONNX's own operators.
    """
    schemas = _schemas().get((domain, op_type), [])
    if not domain:
        schemas = [schema for schema in schemas if schema.since_version <= opset]
    if not schemas:
        return None
    schema = max(schemas, key=lambda each: each.since_version)
    types = {t.type_param_str: t.allowed_type_strs for t in schema.type_constraints}
    inputs = [
        (each.typeStr, _elem_types(types.get(each.typeStr, [each.typeStr])))
        for each in schema.inputs
    ]
    kinds = {name: str(each.type).rpartition(".")[2] for name, each in schema.attributes.items()}
    return KernelSchema(inputs, kinds)


def lacks_operator(domain: str, op_type: str, opset: int) -> bool:
    """Test for an onnxruntime that is installed and lacks an operator; arguments as above."""
    is_installed = importlib.util.find_spec("onnxruntime") is not None
    return is_installed and kernel_schema(domain, op_type, opset) is None


def _elem_types(texts: Sequence[str]) -> list[int]:
    """The element types of texts such as "tensor(float)"."""
    names = [text[len("tensor(") : -1].upper() for text in texts if text.startswith("tensor(")]
    numbers = dict(onnx.TensorProto.DataType.items())
    return [numbers[name] for name in names if name in numbers]
