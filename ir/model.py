"""A model: its main graph, its functions, and everything else that a file holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx

from .errors import ModelError
from .graph import Graph
from .value import Value
from .well_formed.places import FunctionKey, normal_domain

MAX_OPSET = onnx.defs.onnx_opset_version()


class Model:
    """A whole model.

    Attributes:
        header: everything of the file but graphs, functions and opset imports.
        opset_imports: the version of each operator domain.
        graph: the main graph.
        functions: the model's own functions by (domain, name, overload), in order.
        training_info: kept as it came; the values that it names are pinned.
        trained: the initializers that it assigns to.
        base_dir: the folder that external data is relative to; None when it is not known.
        file: the file that the model was read from, if it was one.
        data_files: the files of the external data that it had then.
        settled: its functions are as whoever works on it wants them: they are called, and `roots`
            and `graphs` leave them out.
    """

    name = ""

    def __init__(self, header: onnx.ModelProto, base_dir: Path | None = None) -> None:
        self.header = header
        self.base_dir = base_dir
        self.file: Path | None = None
        self.data_files: frozenset[Path] = frozenset()
        self.opset_imports: dict[str, int] = {}
        self.functions: dict[FunctionKey, Function] = {}
        self.training_info: list[onnx.TrainingInfoProto] = []
        self.trained: set[Value] = set()
        self.settled = False
        self.graph = Graph(self, onnx.GraphProto())
        self._loaded: dict[Graph, int] = {}
        self._loaded_version = 0

    def mark_as_loaded(self) -> None:
        """Take the present state of all graphs for that of the file."""
        self._loaded = {graph: graph.changes for graph in self.graphs()}
        self._loaded_version = self.ir_version

    def become(self, other: Model) -> None:
        """Hold what another model does, which is of no use any more; where this one was read from
        stays known.

        Raises:
            ModelError: the other one holds training information, which speaks of its own values.
        """
        if other.training_info:
            raise ModelError("a model with training information cannot be taken over")
        self.header, self.opset_imports = other.header, other.opset_imports
        self.functions, self.graph = other.functions, other.graph
        self.training_info, self.trained = [], set()
        self.graph.owner = self
        self._loaded, self._loaded_version = other._loaded, other._loaded_version

    @property
    def is_as_loaded(self) -> bool:
        """Whether no graph was changed since the model was loaded."""
        return self._loaded == {graph: graph.changes for graph in self.graphs()}

    @property
    def has_loaded_form(self) -> bool:
        """Whether it is as loaded and in the file format it came in."""
        return self._loaded_version == self.ir_version and self.is_as_loaded

    @property
    def ir_version(self) -> int:
        """The version of the ONNX file format."""
        return self.header.ir_version

    @property
    def allows_overrides(self) -> bool:
        """Whether an initializer that is also an input is only a default (IR version 4 on)."""
        return self.ir_version >= 4

    def opset(self, domain: str = "") -> int:
        """The version of a domain, 0 where it is not imported."""
        return _opset(self.opset_imports, domain)

    def roots(self) -> Iterator[Model | Function]:
        """The model itself, then each of its functions that may change."""
        yield self
        if not self.settled:
            yield from self.functions.values()

    def graphs(self) -> Iterator[Graph]:
        """Every graph of the `roots`: the main one, those of functions, and all that nodes hold."""
        for root in self.roots():
            graph = root.graph
            if graph.holders():
                yield from graph.walk()
            else:
                yield graph

    def __repr__(self) -> str:
        return f"model '{self.graph.name}'"


class Function:
    """A model's own function (ONNX IR specification, "Functions").

    Attributes:
        header: the message without inputs, outputs, nodes, value_info and opset imports.
        graph: its body; inputs have no types.
        opset_imports: the versions that the body is written for; its own, not the model's.
        base_dir: the model's folder.
    """

    def __init__(self, header: onnx.FunctionProto, base_dir: Path | None = None) -> None:
        self.header = header
        self.base_dir = base_dir
        self.opset_imports: dict[str, int] = {}
        self.graph = Graph(self, onnx.GraphProto(name=header.name))

    @property
    def key(self) -> FunctionKey:
        """What a node names to call it: domain, name and overload."""
        header = self.header
        return normal_domain(header.domain), header.name, header.overload

    @property
    def name(self) -> str:
        """Its name with its domain, as messages show it."""
        return f"{self.header.domain}::{self.header.name}"

    def opset(self, domain: str = "") -> int:
        """The version of a domain inside the function, 0 where it is not imported."""
        return _opset(self.opset_imports, domain)

    def __repr__(self) -> str:
        return f"function '{self.name}'"


def _opset(imports: dict[str, int], domain: str) -> int:
    if normal_domain(domain):
        return imports.get(domain, 0)
    return imports.get("", 0) or imports.get("ai.onnx", 0)
