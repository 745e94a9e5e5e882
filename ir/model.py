"""Models and their functions."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import onnx

from .errors import ModelError
from .graph import Graph
from .node import Value
from .places import FunctionKey, normal_domain

MAX_OPSET = onnx.defs.onnx_opset_version()


class Model:
    """A model: main graph, functions, and everything else of its file.

    Attributes:
        header: everything of the file but graphs, functions and opset imports.
        opset_imports: the version of each operator domain.
        graph: the main graph.
        functions: the model's own functions by (domain, name, overload), in order.
        training_info: as in the file; values that it names are pinned.
        trained: the initializers that training assigns to.
        base_dir: the base folder of external data; None where unknown.
        file: the path of the model's file, if it has one.
        data_files: the files of its external data at load time.
        was_unsorted: nodes of the file stand before what they read; they are written in order.
        settled: functions are final: `roots` and `graphs` leave them out.
        minima: the minimum sizes of named dimensions that a caller assumes.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> model.opset_imports, len(list(model.graphs())), model.functions
        ({'': 17}, 1, {})
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
        self.was_unsorted = False
        self.settled = False
        self.minima: Mapping[str, int] = {}
        self.graph = Graph(self, onnx.GraphProto())
        self._loaded: dict[Graph, int] = {}
        self._loaded_version = 0

    def mark_as_loaded(self) -> None:
        """Record the present state of all graphs as the state of the file."""
        self._loaded = {graph: graph.changes for graph in self.graphs()}
        self._loaded_version = self.ir_version

    def become(self, other: "Model") -> None:
        """Take over the content of another model, which becomes unusable. The path of this model
        stays.

        Raises:
            ModelError: the other model has training information, which refers to its own values.
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
        """Test whether all graphs are as they were at load time."""
        return self._loaded == {graph: graph.changes for graph in self.graphs()}

    @property
    def has_loaded_form(self) -> bool:
        """Test whether graphs and file format are as they were at load time."""
        return self._loaded_version == self.ir_version and self.is_as_loaded

    @property
    def ir_version(self) -> int:
        """The version of the ONNX file format."""
        return self.header.ir_version

    @property
    def allows_overrides(self) -> bool:
        """Test whether callers may override initializers that are inputs (IR version 4 on)."""
        return self.ir_version >= 4

    def opset(self, domain: str = "") -> int:
        """The version of a domain, 0 where it is not imported."""
        return _opset(self.opset_imports, domain)

    def roots(self) -> "Iterator[Model | Function]":
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

    def release(self) -> None:
        """Free all nodes and values, which refer to each other in cycles; the model is unusable
        afterwards.

        Without it they occupy memory until the next collection, which scans them first.
        """
        for graph in list(self.graphs()):
            graph.release()

    def __repr__(self) -> str:
        return f"model '{self.graph.name}'"


class FunctionName(NamedTuple):
    """The header of most functions: a domain and a name."""

    domain: str
    name: str

    def header(self) -> onnx.FunctionProto:
        """A function message of this name."""
        header = onnx.FunctionProto(name=self.name)
        if self.domain:
            header.domain = self.domain
        return header


class Function:
    """A model's own function (ONNX IR specification, "Functions").

    Args:
        header: the message without inputs, outputs, nodes and value_info, or the name of a function
            without any other field.
        base_dir: the model's folder.

    Attributes:
        graph: its body; inputs have no types.
        opset_imports: the opset versions of the body, independent of the model's.
        base_dir: the model's folder.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> text = '<domain: "a", opset_import: ["" : 17]> Twice (x) => (y) { y = Add (x, x) }'
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) } " + text)
        >>> [[node.op_type for node in f.graph.nodes()] for f in model.functions.values()]
        [['Add']]
    """

    __slots__ = ("_header", "base_dir", "graph", "opset_imports")

    def __init__(
        self, header: onnx.FunctionProto | FunctionName, base_dir: Path | None = None
    ) -> None:
        self._header = header
        self.base_dir = base_dir
        self.opset_imports: dict[str, int] = {}
        self.graph = Graph(self, header.name)

    @property
    def header(self) -> onnx.FunctionProto:
        """The message without inputs, outputs, nodes and value_info. Its opset imports are those of
        the file; `opset_imports` decides."""
        if isinstance(self._header, FunctionName):
            self._header = self._header.header()
        return self._header

    @property
    def stated(self) -> onnx.FunctionProto | FunctionName:
        """The header, or the name alone where nothing needed a message so far."""
        return self._header

    @property
    def defaults(self) -> dict[str, onnx.AttributeProto]:
        """The default values of attributes."""
        if isinstance(self._header, FunctionName):
            return {}
        return {message.name: message for message in self._header.attribute_proto}

    @property
    def metadata(self) -> Sequence[onnx.StringStringEntryProto]:
        """The metadata of the function, for tools other than ONNX."""
        return () if isinstance(self._header, FunctionName) else self._header.metadata_props

    def rename(self, name: str) -> None:
        """Change the name of a function that no model holds yet."""
        header = onnx.FunctionProto()
        header.CopyFrom(self.header)
        header.name = name
        self._header = header

    def drop_attributes(self) -> None:
        """Remove its attributes, to which no node may refer."""
        header = onnx.FunctionProto()
        header.CopyFrom(self.header)
        del header.attribute[:], header.attribute_proto[:]
        self._header = header

    @property
    def key(self) -> FunctionKey:
        """The key by which nodes call it: domain, name and overload."""
        header = self._header
        overload = "" if isinstance(header, FunctionName) else header.overload
        return normal_domain(header.domain), header.name, overload

    @property
    def name(self) -> str:
        """Its name with its domain, as messages show it."""
        return f"{self._header.domain}::{self._header.name}"

    def opset(self, domain: str = "") -> int:
        """The version of a domain inside the function, 0 for a missing import."""
        return _opset(self.opset_imports, domain)

    def __repr__(self) -> str:
        return f"function '{self.name}'"


def _opset(imports: dict[str, int], domain: str) -> int:
    if normal_domain(domain):
        return imports.get(domain, 0)
    # Both names mean ONNX's own domain.
    return imports.get("", 0) or imports.get("ai.onnx", 0)
