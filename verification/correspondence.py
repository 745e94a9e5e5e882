"""Copies of a model that correspond to another one: with its names, or for inputs of some sizes."""

from collections.abc import Mapping, Sequence

import onnx

from ..facts.named_dimensions import with_sizes
from ..ir import BaseDir, Error, Model, ModelSource, load, read, to_proto
from ..reference.signature import Signature


class CorrespondenceError(Error):
    """Two models have different numbers of inputs or outputs."""


def with_names_of(before: ModelSource, after: ModelSource, base_dir: BaseDir = None) -> Model:
    """Copy a model whose inputs and outputs take the names of another one's, by position.

    Args:
        before: the model that gives the names.
        after: the model that is copied.
        base_dir: the folder of the external data of a model given in memory.

    Raises:
        CorrespondenceError: their numbers of inputs or outputs differ.
        LoadError: a model cannot be read.
        ModelError: the model is not well formed.
    """
    one, other = (Signature.of(to_proto(read(model))) for model in (before, after))
    for what, names, others in (
        ("inputs", [*one.inputs], [*other.inputs]),
        ("outputs", one.outputs, other.outputs),
    ):
        if len(names) != len(others):
            counts = f"{len(names)} and {len(others)} {what}"
            raise CorrespondenceError(f"the models have {counts}, which do not correspond")
    copy = load(after, base_dir=base_dir)
    new = dict(zip(other.inputs, one.inputs, strict=True))
    for value in copy.graph.inputs:
        value.name = new.get(value.name, value.name)
    infos = []
    for info, name in zip(copy.graph.output_infos, one.outputs, strict=True):
        infos.append(onnx.ValueInfoProto())
        infos[-1].CopyFrom(info)
        infos[-1].name = name
    copy.graph.set_outputs(copy.graph.outputs, infos)
    return copy


def with_shapes(
    model: ModelSource, shapes: Mapping[str, Sequence[int | None]], base_dir: BaseDir = None
) -> Model:
    """Copy a model that declares sizes of its inputs; None leaves one as it is.

    Raises:
        LoadError: the model cannot be read.
        ModelError: it is not well formed.
    """
    copy = load(model, base_dir=base_dir)
    for value in copy.graph.inputs:
        if value.name in shapes and value.type is not None:
            value.type = with_sizes(value.type, shapes[value.name])
    return copy
