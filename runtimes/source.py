"""A model as the verification sees it: its message, and how a child process gets at it."""

import itertools
import math
import os
import tempfile
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import onnx
from google.protobuf.message import EncodeError
from onnx.external_data_helper import uses_external_data

from .. import ir
from ..ir.errors import reason
from ..ir.io.external_data import external_tensors, files_of
from ..ir.io.protobuf.message_headers import copy_without
from ..ir.lazy import lazy_property
from ..ir.onnx_errors import one_line
from ..ir.places import FunctionKey, key_of
from ..ir.tensor import byte_size
from ..limits import allowed, limit
from ..reference.signature import all_nodes
from .session import ModelData

_keys = itertools.count()
_MOST_NODES = limit("expanded_nodes")
_LARGE = 1 << 18
"""The checker is given no tensor with so many elements or more: it would make copies of it."""


class Source:
    """A model given in any form.

    Args:
        model: a path, bytes, ModelProto, onnx_ir.Model or straightline.ir.Model.
        base_dir: the folder of the external data of a model in memory.
        message: the message of the model, if the caller has it.

    Attributes:
        proto: its message, external data not loaded.
        key: a number of its own, for caches.

    """

    def __init__(
        self,
        model: ir.ModelSource,
        base_dir: str | os.PathLike[str] | None = None,
        message: onnx.ModelProto | None = None,
    ) -> None:
        self.key = next(_keys)
        model = ir.read(model)
        self.proto = ir.to_proto(model) if message is None else message
        self._from_outside = not isinstance(model, ir.Model)
        self._path = None
        if isinstance(model, ir.ModelFile) and model.base_dir is not None:
            path = model.path.absolute()
            self._path = path if _is_utf8(path) and not model.is_changed else None
        folder = ir.base_dir_of(model) if base_dir is None else base_dir
        self._base_dir = None if folder is None else Path(os.path.abspath(folder))

    def replaced(self, proto: onnx.ModelProto) -> "Source":
        """Another model whose external data lies where this one's does."""
        folder = self._base_dir if self._path is None else self._path.parent
        return Source(proto, folder)

    @lazy_property
    def unreadable(self) -> str:
        """Message about a tensor in an unknown folder; empty where all are readable."""
        if self._path is None and self._base_dir is None:
            return ir.out_of_reach(self.proto)
        return ""

    @lazy_property
    def data(self) -> ModelData:
        """Path of the model, or its bytes and the folder of its external data.

        Raises:
            LoadError: it has external data, and that folder is not known; runtimes would take
                whatever lies in the current one.
            ModelError: its functions are too many nodes once they are expanded.
        """
        require_expandable(self.proto)
        if self._path is not None:
            return ModelData(str(self._path), None, None)
        if self.unreadable:
            raise ir.LoadError(self.unreadable)
        folder = None if self._base_dir is None else str(self._base_dir)
        try:
            return ModelData(None, self.proto.SerializeToString(), folder)
        except (EncodeError, ValueError):  # over 2 GB: only a file with external data holds it
            self._folder = tempfile.TemporaryDirectory(prefix="straightline-")
            path = Path(self._folder.name, "model.onnx")
            ir.save(self.proto, path)
            return ModelData(str(path), None, None)

    @lazy_property
    def size(self) -> int:
        """Bytes of the model with external data.

        Raises:
            LoadError: its file is gone.
        """
        path, content, _ = self.data
        if path is not None:
            files = [self._path] if self._path is not None else Path(path).parent.iterdir()
            size = sum(map(_size_of_file, files))
        else:
            size = len(content or b"")
        return size + sum(byte_size(tensor) for tensor in external_tensors(self.proto))

    def require_well_formed(self) -> None:
        """Check what a model that comes from outside is read by; runtimes crash on some.

        Raises:
            ModelError: it is not well formed.
        """
        if self._from_outside:
            ir.load(self.proto)

    def accept(self) -> None:
        """Note that the ONNX checker accepts the model, as its user knows."""
        # The lazy property finds its value there, and asks no checker.
        self.__dict__["fault"] = ""

    @lazy_property
    def fault(self) -> str:
        """Complaint of the ONNX checker in one line; empty for a valid model.

        Raises:
            ModelError: its functions are too many nodes once they are expanded.
        """
        require_expandable(self.proto)
        checked = self._checked()
        if checked is None:
            return ""
        try:
            ir.ask_onnx("the model", onnx.checker.check_model, checked, full_check=True)
        except ir.OnnxError as error:
            return one_line(error.__cause__ or error)
        return ""

    def _checked(self) -> Path | onnx.ModelProto | None:
        """Argument of the checker: a path, or the model with large weights as inputs instead.

        The checker looks for external data beside a path only, and takes no file that has several
        names or is a link; None where such data stands elsewhere than in weights.
        """
        external = external_tensors(self.proto)
        if self._path is not None:
            folder = self._path.parent
            if not any(map(_has_more_names, files_of(external, folder))):
                return self._path
        large = [t for t in self.proto.graph.initializer if is_large(t)]
        if sum(map(uses_external_data, large)) < len(external):
            return None
        return with_inputs(self.proto, large) if large else self.proto


def require_expandable(model: onnx.ModelProto) -> None:
    """Check that runtimes and onnx's inference, which expand functions, come to an end.

    Raises:
        ModelError: they do not.
    """
    nodes = expanded_nodes(model) if model.functions else 0
    if nodes > _MOST_NODES:
        raise ir.ModelError(
            f"the model has {nodes} nodes with its functions expanded, as runtimes run it:"
            f" more than {allowed('expanded_nodes')}"
        )


def expanded_nodes(model: onnx.ModelProto) -> int:
    """Number of nodes with functions expanded. One that calls itself counts as one node there."""
    functions = {key_of(f.domain, f.name, f.overload): f for f in model.functions}
    bodies = {key: _keys_of(function.node) for key, function in functions.items()}
    counts, stack, entered = dict[FunctionKey, int](), [*functions], set[FunctionKey]()
    while stack:
        key = stack[-1]
        waiting = bodies[key].keys() & bodies.keys() - counts.keys() - entered
        if key not in entered and waiting:
            entered.add(key)
            stack += waiting
            continue
        stack.pop()
        counts[key] = sum(counts.get(each, 1) * n for each, n in bodies[key].items())
    return sum(counts.get(each, 1) * n for each, n in _keys_of(model.graph.node).items())


def _keys_of(nodes: Sequence[onnx.NodeProto]) -> Counter[FunctionKey]:
    """Operators of nodes and of those in their bodies, by number."""
    return Counter(key_of(node.domain, node.op_type, node.overload) for node in all_nodes(nodes))


def new_fault(before: Source, after: Source) -> str:
    """Complaint about a rewrite that is no valid model; empty if its original is none either.

    Runtimes run some models that the checker refuses.
    """
    return after.fault if after.fault and not before.fault else ""


def is_large(tensor: onnx.TensorProto) -> bool:
    """Test for a weight that the checker is not given."""
    return math.prod(tensor.dims) >= _LARGE or uses_external_data(tensor)


def with_inputs(
    proto: onnx.ModelProto, weights: Sequence[onnx.TensorProto], fields: Collection[str] = ()
) -> onnx.ModelProto:
    """Copy a model with inputs for weights, without some fields of its graph."""
    result = copy_without(proto, {"graph"})
    result.graph.CopyFrom(copy_without(proto.graph, {"initializer", *fields}))
    names = {tensor.name for tensor in weights}
    result.graph.initializer.extend(t for t in proto.graph.initializer if t.name not in names)
    # Below IR version 4 a weight is an input already.
    inputs = {info.name for info in proto.graph.input}
    result.graph.input.extend(
        onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        for tensor in weights
        if tensor.name not in inputs
    )
    return result


def _size_of_file(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ir.LoadError(f"cannot read '{path}': {reason(error)}") from error


def _has_more_names(path: Path) -> bool:
    return path.is_symlink() or (path.exists() and path.stat().st_nlink > 1)


def _is_utf8(path: Path) -> bool:
    """Test for a UTF-8 file name: runtimes take no other name, but take bytes."""
    return not any("\ud800" <= char <= "\udfff" for char in str(path))
