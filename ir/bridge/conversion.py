"""Conversion between models of onnx_ir and ours, without copies of weights.

Stand-ins replace large tensors in the message between the two: external tensors with a location of
our own. After the conversion the tensors themselves replace their stand-ins.
"""

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
"""The least size of a tensor with a stand-in, in bytes."""
_PLACE = "straightline: tensor"
_STRINGS = onnx.TensorProto.STRING

Theirs = Any
"""A tensor of onnx_ir, of any of its classes."""


class Lent(Tensor):
    """A constant with the elements of a tensor of onnx_ir."""

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
            copy = onnx_ir.Tensor(self.numpy(), dtype=self.lender.dtype, name=self.lender.name)
            self._message = onnx_ir.to_proto(copy)
        return self._message

    def _read(self) -> Array:
        return np.asarray(self.lender.numpy()).view()


class Exchange:
    """The conversion of one model, back and forth; tensors keep their identity."""

    def __init__(self) -> None:
        self._places: dict[str, Tensor] = {}
        self._lent: dict[int, tuple[Theirs, Tensor]] = {}

    def from_onnx_ir(self, model: onnx_ir.Model, base_dir: Path | None = None) -> Model:
        """Convert a model of onnx_ir to ours.

        Raises:
            ModelError: it is not well formed.
        """
        return self.from_message(self.message(model), base_dir)

    def from_message(self, proto: onnx.ModelProto, base_dir: Path | None = None) -> Model:
        """Read a model from a message with stand-ins.

        Raises:
            ModelError: it is not well formed.
        """
        model = deserialize(proto, base_dir)
        for graph in model.graphs():
            for value, tensor in graph.initializers.items():
                own = self._places.get(_place(tensor))
                if own is not None:
                    graph.initializers[value] = own
                    # An initializer that callers may override stays variable.
                    value.constant = None if value.constant is None else own
        return model

    def message(self, model: onnx_ir.Model) -> onnx.ModelProto:
        """Make the message of a model of onnx_ir, with stand-ins for large tensors."""
        with self._standing_in(model):
            return onnx_ir.to_proto(model)

    def to_onnx_ir(self, model: Model) -> onnx_ir.Model:
        """Convert our model to one of onnx_ir."""
        theirs = onnx_ir.from_proto(serialize(model, self._message_of))
        for value in _initializers(theirs):
            own = self._places.get(_location(value.const_value))
            if own is not None:
                value.const_value = self._theirs(own, value.const_value)
        return theirs

    def _message_of(self, tensor: Tensor, _: Graph) -> TensorMessage:
        """The message of one of our tensors, or of its stand-in."""
        if tensor.is_sparse or tensor.elem_type == _STRINGS:
            return tensor.message()
        size = tensor.size * onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize
        if size < _LEAST_BYTES and not tensor.is_external and not isinstance(tensor, Lent):
            return tensor.message()
        return _stand_in(self._place_of(tensor), tensor.elem_type, tensor.dims)

    def _place_of(self, tensor: Tensor) -> str:
        place = f"{_PLACE} {id(tensor)}"
        self._places[place] = tensor  # keeps the tensor alive and the id unique
        return place

    def _theirs(self, tensor: Tensor, stand_in: Theirs) -> Theirs:
        """Convert one of our tensors lazily to one of onnx_ir."""
        if isinstance(tensor, Lent):
            return tensor.lender
        kind = onnx_ir.DataType(tensor.elem_type)

        def read() -> Any:
            return onnx_ir.Tensor(tensor.numpy(), dtype=kind)

        lazy = onnx_ir.LazyTensor(read, kind, onnx_ir.Shape(tensor.dims), name=stand_in.name)
        self._lent[id(lazy)] = lazy, tensor
        return lazy

    @contextmanager
    def _standing_in(self, model: onnx_ir.Model) -> Iterator[None]:
        """Replace the large tensors of a model of onnx_ir by stand-ins for a while."""
        replaced = []
        try:
            for value in _initializers(model):
                lender = value.const_value
                if lender is None or not self._is_lent(lender):
                    continue
                _, own = self._lent.get(id(lender), (None, None))
                if own is None:
                    own = Lent(lender)
                    # The entry keeps the tensor alive, so that its id stays unique.
                    self._lent[id(lender)] = lender, own
                replaced.append((value, lender))
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
            # The model is the caller's, also after an error.
            for value, lender in replaced:
                value.const_value = lender

    def _is_lent(self, tensor: Theirs) -> bool:
        if id(tensor) in self._lent or isinstance(tensor, onnx_ir.ExternalTensor):
            return True
        return bool(tensor.dtype != onnx_ir.DataType.STRING and tensor.nbytes >= _LEAST_BYTES)


def move_content(model: onnx_ir.Model, other: onnx_ir.Model) -> None:
    """Move the content of another model into a model of onnx_ir. Its own name and metadata stay,
    and so does `meta` of values and nodes of the same names."""
    notes = {key: dict(item.meta) for key, item in _items_by_name(model) if item.meta}
    for key, item in _items_by_name(other) if notes else ():
        item.meta.update(notes.get(key, {}))
    other.graph.meta.update(model.graph.meta)
    model.graph = other.graph
    model.ir_version = other.ir_version
    model.functions.clear()
    model.functions.update(other.functions)


def _items_by_name(model: onnx_ir.Model) -> Iterator[tuple[tuple[str, str], Any]]:
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
    """The location of an external tensor."""
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
