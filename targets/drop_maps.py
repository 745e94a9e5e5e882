"""Outputs that are sequences of maps, for targets without ZipMap.

A map of labels to numbers is the numbers in the order of the labels. The output becomes that tensor
before anything else reads the model, so that the comparison is of the tensors, too.
"""

import dataclasses
from collections.abc import Sequence

import onnx

from ..ir import ModelFile, ModelSource, Node, load, to_proto
from ..ir.attributes import value_of
from ..passes import Remark
from ..version_converter.types import Types
from .target import Target

_MAP = "ZipMap"
_NAME = "ai.onnx.ml.ZipMap"
_MOST_LABELS = 5
"""Limit of labels in a remark."""

Result = tuple[ModelSource, tuple[Remark, ...]]


def drop_maps(source: ModelSource, target: Target) -> Result:
    """Turn outputs that ZipMap computes into its inputs, where a target lacks it.

    Args:
        source: the model, which stays unchanged.

    Returns:
        the model with its remarks; the source itself where it has no such outputs.
    """
    proto = source.proto if isinstance(source, ModelFile) else source
    if not isinstance(proto, onnx.ModelProto) or not any(map(_is_map, proto.graph.node)):
        return source, ()
    if target.lists(_NAME, _opset(proto)):
        return source, ()
    changed, remarks = _without_maps(proto)
    if not remarks:
        return source, ()
    if isinstance(source, ModelFile):
        return dataclasses.replace(source, proto=changed, is_changed=True), tuple(remarks)
    return changed, tuple(remarks)


def _without_maps(proto: onnx.ModelProto) -> tuple[onnx.ModelProto, list[Remark]]:
    model, remarks = load(proto), list[Remark]()
    types, nodes = Types(model), model.graph.nodes()
    infos = list(model.graph.output_infos)
    values = list(model.graph.outputs)
    for node in nodes:
        result, data = node.outputs[0], node.input(0)
        if not _is_map(node) or result is None or data is None:
            continue
        # Maps that something else reads have to stay.
        if model.graph.users(result) != [model.graph]:
            continue
        places = [place for place, value in enumerate(values) if value is result]
        for place in places:
            dims = [None] * (types.rank(data) or 2)
            elem_type = types.elem_type(data) or onnx.TensorProto.FLOAT
            name = infos[place].name
            infos[place] = onnx.helper.make_tensor_value_info(name, elem_type, dims)
            values[place] = data
            remarks.append(Remark("fit-target", _MAP, name, "rewritten", _told(node, name)))
    model.graph.set_outputs(values, infos)
    for node in nodes:
        if _is_map(node) and not any(map(model.graph.is_used, filter(None, node.outputs))):
            model.graph.remove(node)
    return to_proto(model), remarks


def _told(node: Node, name: str) -> str:
    """The content of the output in the place of maps."""
    labels = _labels(node)
    listed = ", ".join(map(str, labels[:_MOST_LABELS])) + (", ..." if labels[_MOST_LABELS:] else "")
    return f"dropped: '{name}' holds the numbers of its maps, in the order of the labels {listed}"


def _labels(node: Node) -> Sequence[object]:
    for name in ("classlabels_int64s", "classlabels_strings"):
        message = node.op.attributes.get(name)
        if message is not None:
            values = value_of(message)
            return [v.decode(errors="replace") if isinstance(v, bytes) else v for v in values]
    return ()


def _is_map(node: onnx.NodeProto | Node) -> bool:
    return bool(node.op_type == _MAP and node.domain == "ai.onnx.ml")


def _opset(proto: onnx.ModelProto) -> int:
    return max((each.version for each in proto.opset_import if not each.domain), default=0)
