"""Perturbation of a model: each float result moves by one unit in the last place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ...ir import Operator
from ...ir.errors import reason
from ...ir.places import normal_domain
from ...ops import rules_of

_LARGEST = 1 << 26
"""Limit in bytes of a copied model."""
_BROADCASTING = 7
"""Opset from which scalars broadcast."""
_EPSILONS: dict[int, float] = {
    TensorProto.FLOAT16: 2.0**-11,
    TensorProto.FLOAT: 2.0**-23,
    TensorProto.DOUBLE: 2.0**-52,
}


def nudge(model: onnx.ModelProto, seed: int) -> onnx.ModelProto | None:
    """Multiply the results of float operators by random factors next to 1.

    Each run has new factors. Functions of the model are copied as they are. Returns None for a
    model that is too large, too old, or of which the element types cannot be inferred.

    Args:
        model: the model, which stays as it is.
        seed: of the random factors.
    """
    opset = next((o.version for o in model.opset_import if not normal_domain(o.domain)), 0)
    if opset < _BROADCASTING or model.ByteSize() > _LARGEST:
        return None
    try:
        copy = onnx.shape_inference.infer_shapes(model)
    except Exception as error:  # noqa: BLE001 - C++ lets out anything
        _ = reason(error)
        return None
    _nudge_graph(copy.graph, seed, itertools.count(1))
    return copy


def _nudge_graph(graph: onnx.GraphProto, seed: int, numbers: Iterator[int]) -> None:
    """Perturb a graph and the bodies of its nodes."""
    infos = (*graph.value_info, *graph.output)
    types = {info.name: info.type.tensor_type.elem_type for info in infos}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        fields = node.attribute
        bodies = [
            *(a.g for a in fields if a.HasField("g")),
            *(g for a in fields for g in a.graphs),
        ]
        for body in bodies:
            _nudge_graph(body, seed, numbers)
        nodes.append(node)
        rules = rules_of(Operator(node.op_type, domain=node.domain))
        if bodies or rules.fixed_roundings() == 0:
            continue
        for place, name in enumerate(node.output):
            if types.get(name) in _EPSILONS:
                nodes.extend(_moved(node, place, types[name], seed, next(numbers)))
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def _moved(
    node: onnx.NodeProto, place: int, elem_type: int, seed: int, number: int
) -> Iterator[onnx.NodeProto]:
    """Yield nodes that multiply an output by a random factor next to 1."""
    name, label = node.output[place], f"straightline_nudged_{number}"
    node.output[place] = label
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    for part, factor in (("epsilon", _EPSILONS[elem_type]), ("one", 1.0)):
        value = numpy_helper.from_array(np.array(factor, dtype))
        yield helper.make_node("Constant", [], [f"{label}_{part}"], value=value)
    start = float(seed * 1000 + number)
    outputs = [f"{label}_drawn"]
    yield helper.make_node("RandomUniformLike", [label], outputs, low=-1.0, high=1.0, seed=start)
    yield helper.make_node("Mul", [f"{label}_drawn", f"{label}_epsilon"], [f"{label}_by"])
    yield helper.make_node("Add", [f"{label}_by", f"{label}_one"], [f"{label}_factor"])
    yield helper.make_node("Mul", [label, f"{label}_factor"], [name])
