"""How errors name a place in a message: as nodes and graphs name themselves once loaded."""

from __future__ import annotations

from typing import NamedTuple

import onnx

FunctionKey = tuple[str, str, str]


def normal_domain(domain: str) -> str:
    """The domain, with the default one always written as the empty string."""
    return "" if domain == "ai.onnx" else domain


def key_of(domain: str, name: str, overload: str) -> FunctionKey:
    """What a function and the nodes that call it have in common."""
    return normal_domain(domain), name, overload


class Place(NamedTuple):
    """A graph. What is said of it is put together where an error says it.

    Attributes:
        name: its own name.
        domain: that of the function that it is the body of.
        holder: how messages call the node that holds it; empty where none does.
        path: what stands before the label of a node in its path, where a node holds it.
        depth: how many graphs are around it.
    """

    name: str
    domain: str | None = None
    holder: str = ""
    path: str = ""
    depth: int = 0

    @property
    def graph(self) -> str:
        """How messages call it."""
        return f"graph '{self.name}'" + (f" of {self.holder}" if self.holder else "")

    @property
    def prefix(self) -> str:
        """What stands before the label of a node in its path."""
        return self.path if self.domain is None else f"{self.domain}::{self.name}/"

    def inside(self, node: onnx.NodeProto, name: str) -> Place:
        """A graph that a node here holds."""
        label = self.node(node)
        return Place(name, None, label, f"{self._path(node)}/", self.depth + 1)

    def node(self, node: onnx.NodeProto) -> str:
        """A node here."""
        own = node.domain in ("", "ai.onnx")
        qualname = node.op_type if own else f"{node.domain}::{node.op_type}"
        return f"{qualname} '{self._path(node)}'"

    def _path(self, node: onnx.NodeProto) -> str:
        return self.prefix + (node.name or next(filter(None, node.output), ""))
