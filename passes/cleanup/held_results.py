"""Room for constants that folding computes, and results that wait since they are too large."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...ir import Model, Node, Tensor, Value
from ...limits import limit
from ..base import Meter

_MOST_HELD = 1 << 26
"""The most bytes of tensors that are held, or read without being freed."""
_MOST_DYING = 64
"""Limit of nodes that are followed for what a fold frees."""
_NODE = 64
"""Bytes that a node without constants takes in a file, about."""


class HeldResults:
    """Tensors that depend on constants alone, until something smaller depends on them.

    Args:
        folder: the folder of tensors up to its limit.
        meter: counts the bytes that folding adds in the whole rewrite.
        large: fold larger tensors, too, if the model does not grow.

    Attributes:
        tensors: the tensors, whose nodes still stand.
        size: the bytes of these.
    """

    def __init__(self, folder: Folder, meter: Meter, large: bool) -> None:
        self.folder = folder
        self.meter = meter
        self.large = large
        self.tensors: dict[Value, Tensor] = {}
        self._parts: dict[Value, Tensor] = {}
        self.size = 0
        if meter.folded_room is None:
            meter.folded_room = _room(folder.model)

    def admits(self, node: Node, results: Sequence[Tensor]) -> bool:
        """Test whether the results of a node may be constants at once: the model does not grow.

        With the node go the constants that nothing else reads, and the nodes whose held results it
        is the last to read.
        """
        dying, sizes = self._dying(node), list(map(_bytes, results))
        growth = sum(sizes) - _freed(dying)
        if max(sizes, default=0) <= self.folder.max_bytes:
            growth -= _NODE * len(dying)
        if growth <= 0:
            self.meter.folded_bytes += growth
        return growth <= 0

    def _dying(self, node: Node) -> set[Node]:
        """A node, and those that go with it."""
        dying, pending = {node}, [node]
        while pending and len(dying) <= _MOST_DYING:
            for value in pending.pop().inputs:
                maker = value.producer if value in self.tensors and value is not None else None
                if maker is not None and maker not in dying and _readers(maker) <= dying:
                    dying.add(maker)
                    pending.append(maker)
        return dying

    def settle(self) -> bool:
        """Make constants of all held results that other nodes read, if all have room.

        All or none: of some, a second run would fold others.
        """
        makers = list(dict.fromkeys(v.producer for v in self.tensors if v.producer is not None))
        inner = set(makers)
        finals = {
            value: self._parts.get(value, tensor)
            for value, tensor in self.tensors.items()
            if value.producer is not None and _bytes(tensor) <= self.folder.max_bytes
            if not inner.issuperset(_users(value))
        }
        dying: set[Node] = set()
        # Readers come first: a maker goes with the last of its readers.
        for maker in reversed(makers):
            others = [value for value in maker.outputs if value is not None and value not in finals]
            if dying.issuperset(user for value in others for user in _users(value)):
                dying.add(maker)
        fits = bool(finals) and self._takes_room(finals, dying)
        if fits:
            for value, tensor in finals.items():
                graph = value.graph
                assert graph is not None
                graph.replace_uses(value, graph.add_initializer(value.name, tensor))
        idle = [maker for maker in reversed(makers) if _is_idle(maker)]
        return fits or bool(idle)

    def _takes_room(self, finals: Mapping[Value, Tensor], dying: set[Node]) -> bool:
        """Test whether there is room for results in the place of nodes, and count it."""
        meter = self.meter
        growth = sum(map(_bytes, finals.values())) - _freed(dying) - _NODE * len(dying)
        assert meter.folded_room is not None
        fits = meter.folded_bytes + growth <= meter.folded_room()
        if fits:
            meter.folded_bytes += growth
        return fits

    def hold(self, results: Mapping[Value, Tensor], part: Tensor | None = None) -> None:
        """Keep results for nodes that depend on them, while there is memory.

        Args:
            part: a tensor that the present readers of the only result may read instead.
        """
        size = sum(map(_bytes, results.values()))
        if self.size + size > _MOST_HELD:
            return
        self.size += size
        self.tensors |= results
        if part is not None:
            self._parts |= dict.fromkeys(results, part)

    def fold(self, node: Node) -> list[Tensor] | None:
        """Compute a node on held or large tensors; None where the results would be larger."""
        tensors = [
            None if value is None else value.constant or self.tensors.get(value)
            for value in node.inputs
        ]
        total = 0
        for value, tensor in dict(zip(node.inputs, tensors, strict=True)).items():
            is_large = tensor is not None and self.folder.is_large(tensor)
            if value is None or tensor is None or not (is_large or value in self.tensors):
                continue
            if tensor.is_external or tensor.is_sparse or value.pinned:
                return None
            if is_large and not self.large:
                return None
            total += _bytes(tensor)
        if self.size + total > _MOST_HELD:
            return None
        # A folder counts four bytes for each element that it reads.
        most = max(4 * total, self.folder.max_bytes)
        results = Folder(self.folder.model, most).fold(node, tensors) if total else None
        size = sum(map(_bytes, results or ()))
        return results if size <= max(total, self.folder.max_bytes) else None


def _readers(node: Node) -> set[object]:
    """Readers of all outputs of a node."""
    return {user for value in node.outputs if value for user in _users(value)}


def _users(value: Value) -> Sequence[object]:
    graph = value.graph
    assert graph is not None, "a value of a node that stands in a graph"
    return list(graph.users(value))


def _is_idle(maker: Node) -> bool:
    """Remove a node that nothing reads; test whether it is gone."""
    if _readers(maker):
        return False
    maker.parent.remove(maker)
    return True


def _freed(dying: set[Node]) -> int:
    """Bytes of the constants that only some nodes read."""
    constants = {value for node in dying for value in node.inputs if value is not None}
    return sum(
        _bytes(value.constant)
        for value in constants
        if value.constant is not None and value.constant.is_readable
        if not value.constant.is_external and not value.pinned and value.graph is not None
        if dying.issuperset(_users(value))
    )


def _bytes(tensor: Tensor) -> int:
    """Bytes of a constant as an array, without a look at its elements: they decide nothing."""
    return tensor.size * onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize


def _room(model: Model) -> Callable[[], int]:
    """Make a function that returns the bytes that folding may add to a model.

    The model counts as it is now, with the bytes of its constants and some for each node.
    """
    graphs = list(model.graphs())
    nodes = sum(map(len, graphs))
    tensors = [tensor for graph in graphs for tensor in graph.initializers.values()]

    @functools.cache
    def room() -> int:
        elements = sum(tensor.size for tensor in tensors)
        tensors.clear()
        return max(limit("folded_bytes"), (_NODE * nodes + 4 * elements) // 10)

    return room
