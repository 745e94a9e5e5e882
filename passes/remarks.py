"""Remarks of passes: what became of a construct, and why."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, overload

from ..facts.notions import Equality, weakest
from ..facts.reason import Message, Reason
from ..ir import Model, Node, Operator
from ..records import record

Action = Literal["rewritten", "kept", "noted"]


class Named(Protocol):
    """Anything with the name of a pass."""

    @property
    def name(self) -> str:
        """The name."""


@record(frozen=True)
class Remark:
    """A record of a pass's change to a construct, or of the reason against one.

    Attributes:
        pass_name: the pass.
        op_type: the operator of the construct.
        path: the labels of the nodes around it and its own.
        action: "rewritten", "kept", or "noted" for information without a construct that stays.
        reason: the change, or the obstacle to one and its remedy.

    Examples:
        >>> import straightline as sl
        >>> sl.Remark("unroll-loops", "Loop", "y", "kept", "n is not known").action
        'kept'
    """

    pass_name: str
    op_type: str
    path: str
    action: Action
    reason: str

    def __str__(self) -> str:
        return f"{self.op_type} '{self.path}': {self.action}, {self.reason}"

    @property
    def sentence(self) -> Reason:
        """The reason with its fields."""
        return Reason.of(self.reason)

    @property
    def brief(self) -> "Remark":
        """The remark with its one obstacle."""
        return dataclasses.replace(self, reason=self.sentence.obstacle)

    @property
    def code(self) -> str:
        """The name of the sentence, which stays the same when its words change."""
        return self.sentence.code or f"{self.pass_name}-{self.action}"

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The fields of the sentence, in types that JSON has."""
        return self.sentence.arguments

    def to_dict(self) -> dict[str, Any]:
        """Return the remark in types that JSON has."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**fields, "code": self.code, "arguments": dict(self.arguments)}


BY_DEFINITION = Message("by-definition", "replaced by its definition: {operators}")
"""Replacement of an operator outside of ONNX whose kernel may round in other places."""

OF_ROWS = Message("of-rows", "{operators} of all iterations at once")
"""Operators outside of ONNX on more rows, which is proved by their definitions."""

RAISED = Message("raised-operator", "by the rule {rule}, which {target} runs faster")
"""Operator of a runtime in the place of nodes, which is proved by its definition."""


def notion_of(remarks: Iterable[Remark], claim: Equality) -> Equality:
    """The notion of equality that passes keep, with the replacements that they made.

    Args:
        claim: the notion that they claim for all models.
    """
    codes = BY_DEFINITION.code, OF_ROWS.code, RAISED.code
    is_rounded = any(remark.code in codes for remark in remarks)
    return weakest([claim, "reals"]) if is_rounded else claim


def kept_constructs(remarks: Iterable[Remark]) -> dict[tuple[str, str], Remark]:
    """The constructs that stay, by operator and path, with the reasons of all passes."""
    remarks_of: dict[tuple[str, str], list[Remark]] = {}
    for remark in remarks:
        if remark.action == "kept":
            remarks_of.setdefault((remark.op_type, remark.path), []).append(remark)
    return {
        key: dataclasses.replace(parts[0], reason=Reason.rank(r.reason for r in parts))
        for key, parts in remarks_of.items()
    }


class RemarkLog(Sequence[Remark]):
    """Remarks in the order in which passes made them.

    Attributes:
        entries: each remark with its node; None where it is about no single node.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[Remark, Node | None]] = []
        self._open: set[str] = set()  # passes with remarks on what stays

    @overload
    def __getitem__(self, index: int) -> Remark: ...
    @overload
    def __getitem__(self, index: slice) -> list[Remark]: ...
    def __getitem__(self, index: int | slice) -> Remark | list[Remark]:
        if isinstance(index, slice):
            return [remark for remark, _ in self.entries[index]]
        return self.entries[index][0]

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, remark: Remark, node: Node | None = None) -> None:
        """Add a remark, with the node that it is about."""
        self.entries.append((remark, node))
        if remark.action != "rewritten":
            self._open.add(remark.pass_name)

    def add_once(self, remark: Remark, node: Node) -> None:
        """Add a remark on a node, unless another pass has added it."""
        earlier = ((r.action, r.reason) for r, other in self.entries if other is node)
        if (remark.action, remark.reason) not in earlier:
            self.add(remark, node)

    def restore(self, entries: Iterable[tuple[Remark, Node | None]]) -> None:
        """Replace all remarks."""
        self.entries = []
        for remark, node in entries:
            self.add(remark, node)

    def add_on_model(self, pass_: Named, model: Model, action: Action, reason: str) -> None:
        """Add a remark on a model where no single construct can be named."""
        self.add(Remark(pass_.name, "Model", model.graph.name, action, reason))

    def forget_kept(self, pass_: Named) -> None:
        """Drop the reasons of a pass that is about to look again."""
        if pass_.name not in self._open:
            return
        self._open.discard(pass_.name)
        self.entries = [
            (remark, node)
            for remark, node in self.entries
            if remark.action == "rewritten" or remark.pass_name != pass_.name
        ]

    def forget_gone(self, model: Model) -> None:
        """Drop the reasons for keeping nodes that another pass has removed after all.

        A construct that went into another graph is a copy there, which has its operator and another
        path: its reason goes with it.
        """
        present = set(model.graphs())
        copies: dict[Operator, list[Node]] | None = None
        entries, self.entries = self.entries, []
        for remark, node in entries:
            if remark.action == "rewritten" or node is None or node.graph in present:
                self.entries.append((remark, node))
            elif remark.action == "kept" and node.bodies:
                copies = _by_origin(model) if copies is None else copies
                for copy in copies.get(node.op.origin, ()):
                    self.entries.append((dataclasses.replace(remark, path=copy.path), copy))

    def follow(self, model: Model) -> None:
        """Find nodes of remarks by operator and path, in a model with new graphs."""
        nodes_kept = [node for remark, node in self.entries if remark.action == "kept" and node]
        if not nodes_kept:
            return
        nodes = (node for graph in model.graphs() for node in graph.unordered_nodes())
        ops = {node.op_type for node in nodes_kept}
        now = {(n.op_type, n.path): n for n in nodes if n.op_type in ops}
        self.entries = [
            (remark, now.get((remark.op_type, remark.path), node)) for remark, node in self.entries
        ]


def _by_origin(model: Model) -> dict[Operator, list[Node]]:
    """Return the nodes with bodies, by the operator that they are copies of."""
    copies: dict[Operator, list[Node]] = {}
    for graph in model.graphs():
        for node in graph.holders():
            copies.setdefault(node.op.origin, []).append(node)
    return copies
