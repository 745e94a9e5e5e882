"""Changes between two versions of a model, node by node."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal

from ..ir import LoadError, Tensor
from ..records import astuple, record, replace
from ..verification.runs.comparison import EXACT, compare
from .differences import Change
from .matching import Matching
from .model_data import GraphData, ModelData, Place
from .texts import elements_text

ChangeKind = Literal["equal", "changed", "added", "removed"]

MOST_CHANGES = 2000
"""The most rows of a report; the page counts the others."""
_MOST_DETAILS = 20
"""The most details of a changed node."""
_MOST_COMPARED = 1 << 28
"""The limit of bytes of constants that are compared with the other version's."""


@record(frozen=True)
class NodeChange:
    """A node that changed, or a run of equal nodes.

    Attributes:
        kind: "changed", "added", "removed", or "equal" for a run.
        before: the node of the first version; the first one of a run.
        after: the node of the second version.
        count: the length of a run.
        details: the changed operator, attributes, inputs and constants.
    """

    kind: ChangeKind
    before: Place | None
    after: Place | None
    count: int = 1
    details: tuple[Change, ...] = ()

    def to_list(self) -> list[Any]:
        """The change as JSON."""
        details = [astuple(detail) for detail in self.details]
        return [self.kind, self.before, self.after, self.count, details]


@record(frozen=True)
class Changes:
    """The changes of all graphs.

    Attributes:
        graphs: the numbers of two corresponding graphs, with their rows; -1 for a missing graph.
        counts: the number of nodes of each kind.
        more: the number of changes without a row.
        uncompared: the number of constants that were too large to compare.
    """

    graphs: tuple[tuple[int, int, tuple[NodeChange, ...]], ...]
    counts: dict[str, int]
    more: int
    uncompared: int

    def to_dict(self) -> dict[str, Any]:
        """The changes as JSON."""
        graphs = [[one, other, [row.to_list() for row in rows]] for one, other, rows in self.graphs]
        more = {"more": self.more, "uncompared": self.uncompared}
        return {"graphs": graphs, "counts": self.counts, **more}


def changes(before: ModelData, after: ModelData, most: int = MOST_CHANGES) -> Changes:
    """Match the nodes of two versions by name and structure, and list changes.

    Args:
        most: the most rows, runs of equal nodes not counted.
    """
    return _Comparer(before, after, most).changes()


class _Comparer:
    """A comparison of two versions, graph by graph."""

    def __init__(self, before: ModelData, after: ModelData, most: int) -> None:
        self.before, self.after = before, after
        self.room = most
        self.counts = dict.fromkeys(("equal", "changed", "added", "removed"), 0)
        self.more = 0
        self.bytes = _MOST_COMPARED
        self.uncompared = 0

    def changes(self) -> Changes:
        """Compare the main graphs, functions of one name, and bodies of matched nodes."""
        # Graph 0 is the main graph on both sides.
        pairs = [(0, 0), *self._functions()]
        graphs = []
        while pairs:
            one, other = pairs.pop(0)
            if one < 0 or other < 0:
                rows = self._whole(one, other)
            else:
                rows = self._rows(one, other, pairs)
            graphs.append((one, other, tuple(rows)))
        return Changes(tuple(graphs), self.counts, self.more, self.uncompared)

    def _functions(self) -> list[tuple[int, int]]:
        sides = [
            {graph.title: n for n, graph in enumerate(model.graphs) if graph.is_function}
            for model in (self.before, self.after)
        ]
        titles = dict.fromkeys([*sides[0], *sides[1]])
        return [(sides[0].get(title, -1), sides[1].get(title, -1)) for title in titles]

    def _whole(self, one: int, other: int) -> list[NodeChange]:
        """The rows of a function or body of one version only."""
        if one < 0:
            nodes = range(len(self.after.graphs[other].nodes))
            rows = [NodeChange("added", None, (other, n)) for n in nodes]
        else:
            nodes = range(len(self.before.graphs[one].nodes))
            rows = [NodeChange("removed", (one, n), None) for n in nodes]
        return list(self._counted(rows))

    def _rows(self, one: int, other: int, pairs: list[tuple[int, int]]) -> list[NodeChange]:
        matching = Matching(self.before, self.after, (one, other))
        rows = []
        for before, after in _aligned(self.before.graphs[one], self.after.graphs[other], matching):
            places = None if before < 0 else (one, before), None if after < 0 else (other, after)
            if places[0] is None or places[1] is None:
                rows.append(NodeChange("added" if before < 0 else "removed", *places))
                continue
            details = tuple(islice(self._details(matching, places[0], places[1]), _MOST_DETAILS))
            rows.append(NodeChange("changed" if details else "equal", *places, details=details))
            # Bodies of matched nodes only: a body of an added node has no counterpart.
            pairs += self._bodies(places[0], places[1])
        return list(self._counted(rows))

    def _counted(self, rows: list[NodeChange]) -> Iterator[NodeChange]:
        """Yield rows up to the limit, with runs of equal nodes as one row."""
        run: NodeChange | None = None
        for row in rows:
            self.counts[row.kind] += 1
            if run is not None and not _continues(run, row):
                yield run
                run = None
            if row.kind == "equal":
                run = row if run is None else replace(run, count=run.count + 1)
                continue
            if self.room > 0:
                self.room -= 1
                yield row
            else:
                self.more += 1
        if run is not None:
            yield run

    def _bodies(self, before: Place, after: Place) -> list[tuple[int, int]]:
        """The bodies of two matched nodes, which correspond by the names of attributes."""
        one, other = (
            {
                (graph.title, position): number
                for position, number in enumerate(model.graphs[at].nodes[n].graphs)
                if not (graph := model.graphs[number]).is_function
            }
            for model, (at, n) in ((self.before, before), (self.after, after))
        )
        keys = dict.fromkeys([*one, *other])
        return [(one.get(key, -1), other.get(key, -1)) for key in keys]

    def _details(self, matching: Matching, before: Place, after: Place) -> Iterator[Change]:
        """Yield the differences of two matched nodes."""
        one = self.before.graphs[before[0]].nodes[before[1]]
        other = self.after.graphs[after[0]].nodes[after[1]]
        op, new = self.before.operators[one.operator], self.after.operators[other.operator]
        if op.name != new.name:
            yield Change("operator", op.name, new.name)
        old, now = dict(op.attributes), dict(new.attributes)
        constants = (
            self._tensor(0, before[0], one.outputs),
            self._tensor(1, after[0], other.outputs),
        )
        for name in dict.fromkeys([*old, *now]):
            if old.get(name) != now.get(name):
                yield Change(name, old.get(name, ""), now.get(name, ""))
            # The text of a large tensor is cut, and equal for different contents.
            elif constants[0] is not None and constants[1] is not None:
                yield from self._constant(name, constants[0], constants[1])
        for slot in range(max(len(one.inputs), len(other.inputs))):
            yield from self._operand(
                matching,
                slot,
                (before[0], one.inputs, op.parameters),
                (after[0], other.inputs, new.parameters),
            )

    def _operand(
        self, matching: Matching, slot: int, one: "_Operands", other: "_Operands"
    ) -> Iterator[Change]:
        """Yield the difference of an input: another source, or another constant."""
        names = ["" if slot >= len(each[1]) else each[1][slot] for each in (one, other)]
        title = (one[2] or other[2])[slot : slot + 1]
        label = f"input {title[0] if title else slot}"
        tensors = self._tensor(0, one[0], names[:1]), self._tensor(1, other[0], names[1:])
        if tensors[0] is not None and tensors[1] is not None:
            yield from self._constant(f"{label} {names[1]}".strip(), tensors[0], tensors[1])
        elif matching.source(0, names[0]) != matching.source(1, names[1]):
            yield Change(label, names[0], names[1])

    def _tensor(self, side: int, graph: int, names: tuple[str, ...] | list[str]) -> Tensor | None:
        model = (self.before, self.after)[side]
        return model.tensors.get((graph, names[0])) if names else None

    def _constant(self, label: str, one: Tensor, other: Tensor) -> Iterator[Change]:
        """Yield the difference of two constants."""
        if one is other:
            return
        shapes = [f"{list(t.dims)} of type {t.elem_type}" for t in (one, other)]
        if shapes[0] != shapes[1]:
            yield Change(
                label, *(elements_text(t) or s for t, s in zip((one, other), shapes, strict=True))
            )
            return
        count = self._differing(one, other)
        if count:
            texts = elements_text(one), elements_text(other)
            other_text = texts[1] or f"{count} of {one.size} elements differ"
            yield Change(label, texts[0] or f"constant of {one.size} elements", other_text)

    def _differing(self, one: Tensor, other: Tensor) -> int:
        """The number of different elements; constants that cannot be compared are counted."""
        size = one.size * 8
        if not (one.is_readable and other.is_readable) or size > self.bytes:
            self.uncompared += 1
            return 0
        try:
            # The same bytes of one file need not be read.
            if one.place is not None and one.place == other.place:
                return 0
            difference = compare(one.numpy(), other.numpy(), EXACT)
        except (LoadError, OSError):  # data beside the model is missing: the page says so
            self.uncompared += 1
            return 0
        self.bytes -= size
        return difference.differing


_Operands = tuple[int, tuple[str, ...], tuple[str, ...]]
"""The graph of a node, its inputs, and their names in the specification."""


def _continues(run: NodeChange, row: NodeChange) -> bool:
    """Test whether an equal node follows a run in both versions."""
    return row.kind == "equal" and all(
        one is not None and other is not None and other[1] == one[1] + run.count
        for one, other in ((run.before, row.before), (run.after, row.after))
    )


def _aligned(one: GraphData, other: GraphData, matching: Matching) -> Iterator[tuple[int, int]]:
    """Yield the nodes of both graphs in order, matched ones as pairs; -1 for a missing one."""
    matched, next_one = set(matching.before_of.values()), 0
    for after in range(len(other.nodes)):
        before = matching.before_of.get(after, -1)
        while next_one <= before:
            if next_one not in matched:
                yield next_one, -1
            next_one += 1
        yield before, after
    for rest in range(next_one, len(one.nodes)):
        if rest not in matched:
            yield rest, -1
