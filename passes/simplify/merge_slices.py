"""Split a tensor once instead of slicing it part by part.

    a = Slice (x, zero, two, axis)
    b = Slice (x, two, six, axis)        ->      a, b = Split <axis = 1> (x, sizes)
                                                 <int64[2] sizes = {2, 4}>

The slices must cover the axis without a gap. Parts joined again are the tensor or a Slice of it.
Slices along other axes that alone read a part cut along all axes at once, without it.

    t = Slice (x, zero, end, rows, two)         a = Slice (x, [0, 0], ends, axes, twos)
    a = Slice (t, zero, end, columns, two)   -> b = Slice (x, [0, 1], ends, axes, twos)
    b = Slice (t, one, end, columns, two)

Kept: for a Split, slices that overlap, of several axes or an open size, in other steps, and a
single scalar index; slices of a part along the axis of the part, or with bounds of run time.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from ...analysis.shapes.inference import ShapeInference
from ...facts.attribute_or_input import listed_numbers
from ...facts.fact import Fact
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value
from ...ops.builder import Builder
from ..base import Pass, PassContext
from .read_operands import STEPS_ARE_INPUTS, Part, Parts, part_of, replace_nodes

_SPLIT = Message(
    "split",
    "slices that are parts of a Split: {slices}; joined again: {rejoined}; along all axes at once:"
    " {combined}",
)

_OLDEST = 2
"""From this opset on, Split takes sizes as it does in later ones."""
_FAR_END = (1 << 31) - 1
"""The least end that exporters write for the end of an axis."""


class MergeSlices(Pass):
    """Split once where slices cover an axis, and join no parts that were cut before."""

    name: ClassVar[str] = "merge-slices"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("Slice", "Gather", "Split")

    def run(self, model: Model, context: PassContext) -> bool:
        """Merge the slices of every graph."""
        slices = rejoined = combined = 0
        for graph in model.graphs():
            cutting = _Cutting(graph, context.inference(model))
            rejoined += cutting.rejoin()
            combined += cutting.combine()  # before a Split of parts that would be cut further
            if graph.root.opset() >= _OLDEST:
                slices += cutting.merge()
        if slices or rejoined or combined:
            what = _SPLIT(slices=slices, rejoined=rejoined, combined=combined)
            context.remarks.add_on_model(self, model, "rewritten", what)
        return slices + rejoined + combined > 0


class _Cuts(NamedTuple):
    """Constant lists of a Slice, with axes that count from the front."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    axes: tuple[int, ...]
    steps: tuple[int, ...]


class _Cutting:
    """The slices of one graph."""

    def __init__(self, graph: Graph, inference: ShapeInference) -> None:
        self._graph = graph
        self._inference = inference
        self._parts = Parts(inference)

    def rejoin(self) -> int:
        """Read a tensor in place of its parts, joined in order, and return their number."""
        nodes = self._graph.nodes_of("Slice", "Gather", "Split")
        parts = {part.result: part for node in nodes for part in self._parts.of(node)}
        sources, outputs = {part.source for part in parts.values()}, {*self._graph.outputs}
        same: dict[Value, Value] = {}
        for node in self._graph.nodes_of("Concat") if parts else ():
            shape = self._inference.fact(node.output()).shape
            if node.output().pinned or node.op.references or not shape:
                continue
            runs = _runs(node.inputs, parts, range(len(shape))[node.attribute("axis", 1)])
            read = [self._run(run, len(runs) == 1) for run in runs]
            operands = [value for values in read for value in values]
            # An output keeps its name, and the next run sees what a replaced value leads to.
            is_kept = operands[0] in sources and node.output() in outputs and len(operands) == 1
            if len(operands) < len(node.inputs) and not is_kept and not same.keys() & {*operands}:
                build, label = Builder(self._graph), node.output().name
                same[node.output()] = build.concat(operands, node.attribute("axis", 1), label)
        return self._replace(same)

    def _run(self, run: list[Part | Value], alone: bool) -> list[Value]:
        """The values in place of adjacent parts of one tensor: itself, or one Slice."""
        first, last = run[0], run[-1]
        if not isinstance(first, Part) or not isinstance(last, Part):
            return [value for value in run if isinstance(value, Value)]
        values = [part.result for part in run if isinstance(part, Part)]
        size = self._inference.fact(first.source).dims[first.axis].value
        if first.start == 0 and last.end == size:
            return [first.source]
        others = {v for value in values if value.producer for v in value.producer.outputs if v}
        readers = [reader for value in others for reader in self._graph.users(value)]
        if not alone or len(run) == 1 or len({*readers}) > 1:
            return values
        place = first.axis, first.start, last.end, first.result.name
        return [part_of(Builder(self._graph), first.source, *place)]

    def combine(self) -> int:
        """Cut along all axes at once where slices alone read parts, and return their number."""
        same: dict[Value, Value] = {}
        build = Builder(self._graph)
        for node in self._graph.nodes_of("Slice", "Split"):
            source = node.inputs[0]
            if source is None or source in same or any(value in same for value in node.outputs):
                continue  # a Slice that another one made superfluous; the next run sees it
            parts = self._cut_parts(node)
            readers = [self._slices_of(value, cuts) for value, cuts in parts]
            if not parts or not all(readers):
                continue
            for (_, first), slices in zip(parts, readers, strict=True):
                for result, second in slices or ():
                    cuts = _Cuts(*(one + other for one, other in zip(first, second, strict=True)))
                    same[result] = _cut(build, source, cuts, result.name)
        return self._replace(same)

    def _cut_parts(self, node: Node) -> list[tuple[Value, _Cuts]]:
        """The used parts of a Slice or Split, each with its cuts; none where one is open."""
        results = [v for v in node.outputs if v is not None and self._graph.is_used(v)]
        if any(value.pinned for value in node.outputs if value is not None):
            return []
        if node.is_op("Slice"):
            cuts = self._cuts(node)
            return [] if cuts is None else [(value, cuts) for value in results]
        parts = {part.result: part for part in self._parts.of(node)}
        if not set(results) <= parts.keys():
            return []
        bounds = [(value, parts[value]) for value in results]
        return [(v, _Cuts((p.start,), (p.end,), (p.axis,), (1,))) for v, p in bounds]

    def _slices_of(self, value: Value, first: _Cuts) -> list[tuple[Value, _Cuts]] | None:
        """The readers of a part if all are slices along other axes."""
        slices = []
        for user in self._graph.users(value):
            if not isinstance(user, Node) or not user.is_op("Slice"):
                return None
            # A Slice may read the value as one of its lists, too.
            cuts = self._cuts(user) if user.inputs.count(value) == 1 else None
            if cuts is None or user.inputs[0] is not value or user.output().pinned:
                return None
            if set(cuts.axes) & set(first.axes):
                return None
            slices.append((user.output(), cuts))
        return slices

    def _cuts(self, node: Node) -> _Cuts | None:
        """The lists of a Slice; None where they are no constants."""
        source = node.inputs[0]
        shape = None if source is None else self._inference.fact(source).shape
        if source is None or shape is None or node.op.references:
            return None
        inputs = [Fact() if v is None else self._inference.fact(v) for v in node.inputs]
        names = enumerate(("starts", "ends", "axes", "steps"), 1)
        starts, ends, axes, steps = (listed_numbers(node, inputs, n, at) for at, n in names)
        if starts is None or ends is None:
            return None
        if axes is None and node.input(3) is None:
            axes = list(range(len(starts)))
        if steps is None and node.input(4) is None:
            steps = [1] * len(starts)
        rank = len(shape)
        if axes is None or steps is None or not all(-rank <= axis < rank for axis in axes):
            return None
        places = tuple(axis % rank for axis in axes)
        cuts = _Cuts(tuple(starts), tuple(ends), places, tuple(steps))
        sizes = [shape[axis].value or _FAR_END for axis in places]
        is_whole = all(
            start == 0 and step == 1 and end >= size
            for start, end, step, size in zip(starts, ends, steps, sizes, strict=True)
        )
        return None if is_whole else cuts  # a rule drops the Slice, which leaves less

    def merge(self) -> int:
        """Replace slices that cover an axis by a Split, and return their number."""
        groups: dict[tuple[Value, int], list[Part]] = {}
        for node in self._graph.nodes_of("Slice", "Gather"):
            source = node.inputs[0]
            if source is None or len(self._graph.users(source)) < 2:
                continue
            if self._inference.fact(source).content is not None:
                continue  # sizes, which facts follow through slices better
            for part in self._parts.of(node):
                if not part.result.pinned and self._graph.is_used(part.result):
                    groups.setdefault((source, part.axis), []).append(part)
        same: dict[Value, Value] = {}
        for (source, axis), parts in groups.items():
            size = self._inference.fact(source).dims[axis].value
            cover = _cover([part for part in parts if part.result not in same], size)
            if len(cover) > 1:
                sizes = [part.end - part.start for part in cover]
                labels = [part.result.name for part in cover]
                new = Builder(self._graph).split(source, sizes, axis, labels)
                same.update(zip([part.result for part in cover], new, strict=True))
        return self._replace(same)

    def _replace(self, same: dict[Value, Value]) -> int:
        replace_nodes(self._graph, same)
        return len(same)


def _cut(build: Builder, source: Value, cuts: _Cuts, label: str) -> Value:
    """A Slice along several axes."""
    if build.opset < STEPS_ARE_INPUTS:
        lists = {name: list(getattr(cuts, name)) for name in ("starts", "ends", "axes")}
        return build.add("Slice", [source], label, **lists)
    return build.add("Slice", [source, *(build.vector(each, "cut") for each in cuts)], label)


def _runs(
    values: Sequence[Value | None], parts: dict[Value, Part], axis: int
) -> list[list[Part | Value]]:
    """Operands of a Concat, with adjacent parts of one tensor together."""
    runs: list[list[Part | Value]] = []
    for value in values:
        part = None if value is None else parts.get(value)
        last = runs[-1][-1] if runs else None
        if part is None or part.axis != axis:
            runs.append([value] if value is not None else [])
        elif isinstance(last, Part) and (last.source, last.end) == (part.source, part.start):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _cover(parts: Sequence[Part], size: int | None) -> list[Part]:
    """Parts that cover an axis without a gap, in order; none where there are no such ones."""
    last: dict[int, Part] = {}
    # From the end on: a part counts only if others cover all that follows it.
    for part in sorted(parts, key=lambda part: part.start, reverse=True):
        if (part.end == size and part.start) or part.end in last:
            last.setdefault(part.start, part)
    cover: list[Part] = []
    position = 0
    while position in last:
        cover.append(last[position])
        position = cover[-1].end
    return cover if position == size else []
