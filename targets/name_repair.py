"""Names of nodes, bodies and open sizes, for clients that refuse models without them."""

import itertools
import re

import onnx

from ..ir import Model, name_nodes

_NUMBERED = re.compile(r"(.+)_\d+")


def name_colliding_nodes(model: Model) -> int:
    """Name unnamed nodes where a client's names may collide with others.

    Returns:
        the number of nodes that were named.
    """
    nodes = [node for graph in model.graphs() for node in graph.unordered_nodes()]
    names = {node.name for node in nodes if node.name}
    kinds = {node.op_type for node in nodes if not node.name}
    if not any(match[1] in kinds for match in map(_NUMBERED.fullmatch, names) if match):
        return 0
    return name_nodes(model)


def name_bodies(model: Model) -> int:
    """Name each body otherwise than all graphs before it.

    Returns:
        the number of bodies that were named.
    """
    count, names = 0, set[str]()
    for graph in list(model.graphs()):
        name, number = graph.name, 0
        while name in names:
            number += 1
            name = f"{graph.name}_{number}"
        names.add(name)
        if name != graph.name:
            header = onnx.GraphProto()
            header.CopyFrom(graph.header)  # copies of a body share it
            header.name = name
            graph.header = header
            count += 1
    return count


def name_open_sizes(model: Model) -> int:
    """Name each open size of an input that has no name.

    Returns:
        the number of sizes that were named.
    """
    count, symbols = 0, _symbols(model)
    for value in model.graph.inputs:
        open_axes = [axis for axis, dim in enumerate(value.shape or ()) if dim is None]
        if not open_axes:
            continue
        type_ = onnx.TypeProto()
        type_.CopyFrom(value.type)
        for axis in open_axes:
            name = f"{value.name}_{axis}"
            numbered = (f"{name}_{number}" for number in itertools.count(1))
            fresh = next(one for one in itertools.chain([name], numbered) if one not in symbols)
            symbols.add(fresh)
            type_.tensor_type.shape.dim[axis].dim_param = fresh
        value.type = type_
        count += len(open_axes)
    return count


def _symbols(model: Model) -> set[str]:
    """All names of sizes in a model's declarations."""
    graphs = list(model.graphs())
    declared = [value for graph in graphs for value in graph.inputs]
    declared += [v for graph in graphs for node in graph.nodes() for v in node.outputs if v]
    symbols = {dim for value in declared for dim in value.shape or () if isinstance(dim, str)}
    infos = [info for graph in graphs for info in graph.output_infos]
    return symbols | {d.dim_param for i in infos for d in i.type.tensor_type.shape.dim}
