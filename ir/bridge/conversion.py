"""Models of onnx_ir to ours and back, where their weights stay what and where they are.

Large tensors are not written into the message between the two: a stand-in takes their place, an
external tensor with a location of our own, which is exchanged for the tensor itself on arrival.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir

from ..graph import Graph
from ..io.deserialize import deserialize
from ..io.serialize import serialize
from ..model import Model
from ..tensor import Array, Tensor, TensorMessage

_LEAST_BYTES = 1024
"""Smaller tensors are written into the message."""
_PLACE = "straightline: tensor"
_STRINGS = onnx.TensorProto.STRING

Theirs = Any
"""A tensor of onnx_ir; each kind of it is a class of its own."""


class Lent(Tensor):
    """A constant whose elements a tensor of onnx_ir holds."""

    __slots__ = ("lender",)

    def __init__(self, lender: Theirs) -> None:
        super().__init__()
        self.lender = lender

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, without reading the elements."""
        return tuple(self.lender.shape.numpy())

    @property
    def elem_type(self) -> int:
        """The element type, without reading the elements."""
        return int(self.lender.dtype)

    def message(self) -> TensorMessage:
        """A copy as an ONNX message."""
        if self._message is None:
            held = onnx_ir.Tensor(self.numpy(), dtype=self.lender.dtype, name=self.lender.name)
            self._message = onnx_ir.to_proto(held)
        return self._message

    def _read(self) -> Array:
        return np.asarray(self.lender.numpy()).view()


class Exchange:
    """One model on its way; tensors that went out come back as the same objects."""

    def __init__(self) -> None:
        self._places: dict[str, Tensor] = {}
        self._lent: dict[int, tuple[Theirs, Tensor]] = {}

    def taken(self, model: onnx_ir.Model, base_dir: Path | None = None) -> Model:
        """A model of onnx_ir as ours.

        Raises:
            ModelError: it is not well formed.
        """
        return self.arrived(self.message(model), base_dir)

    def arrived(self, proto: onnx.ModelProto, base_dir: Path | None = None) -> Model:
        """The model of a message with stand-ins.

        Raises:
            ModelError: it is not well formed.
        """
        model = deserialize(proto, base_dir)
        for graph in model.graphs():
            for value, tensor in graph.initializers.items():
                own = self._places.get(_place(tensor))
                if own is not None:
                    graph.initializers[value] = own
                    value.constant = None if value.constant is None else own
        return model

    def message(self, model: onnx_ir.Model) -> onnx.ModelProto:
        """The message of a model of onnx_ir, with stand-ins for large tensors."""
        with self._standing_in(model):
            return onnx_ir.to_proto(model)

    def given(self, model: Model) -> onnx_ir.Model:
        """Our model as one of onnx_ir."""
        made = onnx_ir.from_proto(serialize(model, self._message_of))
        for value in _initializers(made):
            own = self._places.get(_location(value.const_value))
            if own is not None:
                value.const_value = self._theirs(own, value.const_value)
        return made

    def _message_of(self, tensor: Tensor, _: Graph) -> TensorMessage:
        """What is written for one of our tensors."""
        if tensor.is_sparse or tensor.elem_type == _STRINGS:
            return tensor.message()
        size = tensor.size * onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize
        if size < _LEAST_BYTES and not tensor.is_external and not isinstance(tensor, Lent):
            return tensor.message()
        return _stand_in(self._place_of(tensor), tensor.elem_type, tensor.dims)

    def _place_of(self, tensor: Tensor) -> str:
        place = f"{_PLACE} {id(tensor)}"
        self._places[place] = tensor  # held, so that the number stays its own
        return place

    def _theirs(self, tensor: Tensor, stand_in: Theirs) -> Theirs:
        """One of our tensors as onnx_ir takes it, read when it is asked for."""
        if isinstance(tensor, Lent):
            return tensor.lender
        kind = onnx_ir.DataType(tensor.elem_type)

        def read() -> Any:
            return onnx_ir.Tensor(tensor.numpy(), dtype=kind)

        made = onnx_ir.LazyTensor(read, kind, onnx_ir.Shape(tensor.dims), name=stand_in.name)
        self._lent[id(made)] = made, tensor
        return made

    @contextmanager
    def _standing_in(self, model: onnx_ir.Model) -> Iterator[None]:
        """Stand-ins for the large tensors of a model of onnx_ir."""
        held = []
        try:
            for value in _initializers(model):
                lender = value.const_value
                if lender is None or not self._is_lent(lender):
                    continue
                _, own = self._lent.get(id(lender), (None, None))
                if own is None:
                    own = Lent(lender)
                    self._lent[id(lender)] = lender, own
                held.append((value, lender))
                value.const_value = onnx_ir.ExternalTensor(
                    self._place_of(own),
                    None,
                    None,
                    lender.dtype,
                    shape=onnx_ir.Shape(lender.shape.numpy()),
                    name=value.name or "",
                    doc_string=lender.doc_string,
                    metadata_props=dict(lender.metadata_props),
                )
            yield
        finally:
            for value, lender in held:
                value.const_value = lender

    def _is_lent(self, tensor: Theirs) -> bool:
        if id(tensor) in self._lent or isinstance(tensor, onnx_ir.ExternalTensor):
            return True
        return bool(tensor.dtype != onnx_ir.DataType.STRING and tensor.nbytes >= _LEAST_BYTES)


def put_in_place(model: onnx_ir.Model, made: onnx_ir.Model) -> None:
    """Let a model of onnx_ir hold what another one does; what it is called and says of itself
    stays, and so does what passes noted at values and nodes of the same names."""
    notes = {key: dict(item.meta) for key, item in _named(model) if item.meta}
    for key, item in _named(made) if notes else ():
        item.meta.update(notes.get(key, {}))
    made.graph.meta.update(model.graph.meta)
    model.graph = made.graph
    model.ir_version = made.ir_version
    model.functions.clear()
    model.functions.update(made.functions)


def _named(model: onnx_ir.Model) -> Iterator[tuple[tuple[str, str], Any]]:
    """Nodes and values of all graphs by their names."""
    for graph in model.graphs():
        for value in (*graph.inputs, *graph.initializers.values()):
            yield ("value", value.name or ""), value
        for node in graph:
            if node.name:
                yield ("node", node.name), node
            for value in node.outputs:
                yield ("value", value.name or ""), value


def _initializers(model: onnx_ir.Model) -> Iterator[onnx_ir.Value]:
    for graph in model.graphs():
        yield from graph.initializers.values()


def _location(tensor: Theirs) -> str:
    return str(tensor.location) if isinstance(tensor, onnx_ir.ExternalTensor) else ""


def _place(tensor: Tensor) -> str:
    """Where a tensor that came in a message says it lies."""
    if not tensor.is_external:
        return ""
    message = tensor.message()
    assert isinstance(message, onnx.TensorProto)
    return next((entry.value for entry in message.external_data if entry.key == "location"), "")


def _stand_in(place: str, elem_type: int, dims: tuple[int, ...]) -> onnx.TensorProto:
    message = onnx.TensorProto(data_type=elem_type, dims=dims)
    message.data_location = onnx.TensorProto.EXTERNAL
    message.external_data.add(key="location", value=place)
    return message
