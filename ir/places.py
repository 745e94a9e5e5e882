"""Names of places in messages for errors, equal to those of loaded nodes and graphs."""

from typing import NamedTuple

import onnx

FunctionKey = tuple[str, str, str]


def normal_domain(domain: str) -> str:
    """The domain, with the default one always written as the empty string."""
    return "" if domain == "ai.onnx" else domain


def key_of(domain: str, name: str, overload: str) -> FunctionKey:
    """The key that a function shares with its calls."""
    return normal_domain(domain), name, overload


class Place(NamedTuple):
    """A graph of a message, described on demand for errors.

    Attributes:
        domain: the domain of the function whose body it is.
        holder: the node that holds it, as messages name it; may be empty.
        path: the prefix of node paths, where a node holds the graph.
        depth: the number of graphs around it.
    """

    name: str
    domain: str | None = None
    holder: str = ""
    path: str = ""
    depth: int = 0

    @property
    def graph(self) -> str:
        """The graph, as messages name it."""
        return f"graph '{self.name}'" + (f" of {self.holder}" if self.holder else "")

    @property
    def prefix(self) -> str:
        """The prefix of the paths of its nodes."""
        return self.path if self.domain is None else f"{self.domain}::{self.name}/"

    def inside(self, node: onnx.NodeProto, name: str) -> "Place":
        """A graph inside one of its nodes."""
        label = self.node(node)
        return Place(name, None, label, f"{self._path(node)}/", self.depth + 1)

    def node(self, node: onnx.NodeProto) -> str:
        """A node of the graph, as messages name it."""
        own = node.domain in ("", "ai.onnx")
        qualname = node.op_type if own else f"{node.domain}::{node.op_type}"
        return f"{qualname} '{self._path(node)}'"

    def _path(self, node: onnx.NodeProto) -> str:
        return self.prefix + (node.name or next(filter(None, node.output), ""))


class NodeLabel(NamedTuple):
    """A node of a graph, as messages name it; the text is made on demand."""

    place: Place
    node: onnx.NodeProto

    def __str__(self) -> str:
        return self.place.node(self.node)
