"""The clients: what each is called, how it is found, and the opset that it is given."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Arrays = Mapping[str, Any]
Run = Callable[[Arrays], Sequence[Any]]
"""A loaded model: inputs by name to outputs in order."""


@dataclasses.dataclass(frozen=True)
class Client:
    """A compiler or runtime that installs from the package registry.

    Attributes:
        name: as in the table, and as `--target` knows it.
        adapter: the module with its `load(model)`, which gives a Run.
        modules: what must be importable for it.
        packages: whose versions are told.
        opset: that of the third step: one which it documents, or takes best.
    """

    name: str
    adapter: str
    modules: tuple[str, ...]
    packages: tuple[str, ...]
    opset: int

    @property
    def lacking(self) -> list[str]:
        """The modules that are not installed."""
        return [name for name in self.modules if not _is_there(name)]

    @property
    def versions(self) -> str:
        """Its packages with their versions."""
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in self.packages)


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def _client(name: str, modules: Sequence[str], packages: Sequence[str], opset: int) -> Client:
    adapter = f"{__package__}.adapters.{name.replace('-', '_')}"
    return Client(name, adapter, tuple(modules), tuple(packages), opset)


CLIENTS = (
    _client("onnxruntime", ["onnxruntime"], ["onnxruntime"], 17),
    _client("openvino", ["openvino"], ["openvino"], 17),
    _client("onnx2torch", ["onnx2torch", "torch"], ["onnx2torch", "torch"], 17),
    _client("tvm", ["tvm"], ["apache-tvm"], 17),
    _client("iree", ["iree.compiler", "iree.runtime"], ["iree-base-compiler"], 17),
    _client("tinygrad", ["tinygrad"], ["tinygrad"], 17),
)
