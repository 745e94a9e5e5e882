"""The first node with other values than its counterpart in the original."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import onnx

from ..ir import BaseDir, Model
from ..records import record
from ..runtimes.session import Feeds
from ..runtimes.source import Source
from ..runtimes.value_text import text_of
from ..runtimes.workers import RuntimeFailure, RuntimeName, Worker, Workers
from ..verification.intermediate_values import (
    LARGEST,
    LOOPS,
    Inside,
    exposed,
    inside_values,
    loop_name,
)
from ..verification.runs.comparison import Difference, Tolerance, compare
from .model_data import ModelData, NodeData, Place
from .origins import Origin
from .texts import cut

_AT_A_TIME = 200
"""The number of values that a run returns."""
_MOST_VALUES = 4000
"""The most compared values."""
_TIMEOUT = 20.0
"""The limit of a run in seconds."""
_MOST_INPUTS = 8
_MOST_TEXT = 400
_NUMBERS = re.compile(r"(?:_\d+)+")


@record(frozen=True)
class FirstDifference:
    """The first values that differ.

    Attributes:
        before: the node of the original.
        after: the node of the rewrite.
        name: the output of the rewrite's node.
        iteration: the iteration of the original's loops, outer before inner.
        values: both values as text.
        first: the first place of a difference with both elements.
        largest: the largest difference, and the number of elements that differ.
        feeds: the input, a line for each value.
        runtime: the runtime that ran both.
        compared: the number of values that agreed before.
    """

    before: Place
    after: Place
    name: str
    iteration: tuple[int, ...]
    values: tuple[str, str]
    first: str
    largest: str
    feeds: tuple[str, ...]
    runtime: str
    compared: int


@record(frozen=True)
class _Pair:
    """A value of the rewrite and its counterpart in the original."""

    after: Inside
    before: Inside
    places: tuple[Place, Place]
    iteration: tuple[int, ...]


def first_difference(
    models: tuple[Model, Model],
    data: tuple[ModelData, ModelData],
    origins: Mapping[Place, Origin],
    feeds: Feeds,
    runtime: RuntimeName = "onnxruntime",
    base_dir: BaseDir = None,
) -> FirstDifference | str:
    """Run both models on an input, and compare corresponding nodes in order.

    Args:
        models: the original and its rewrite; unchanged.
        data: the same as plain data.
        origins: the origins of the nodes of the rewrite.
        feeds: the input on which the outputs differ.
        base_dir: the folder of external data of models in memory.

    Returns:
        the first values that differ, or the reason why none are known.
    """
    sources = [Source(model, base_dir) for model in models]
    unreadable = sources[0].unreadable or sources[1].unreadable
    if unreadable:
        return unreadable
    # protobuf limits a message to 2 GB, and a variant with more outputs is one message.
    if max(source.proto.ByteSize() for source in sources) > LARGEST:
        return "the models are too large to show values of their nodes"
    pairs = list(islice(_pairs(sources[1].proto, data, origins), _MOST_VALUES))
    if not pairs:
        return "no node of the rewrite has the name of a node of the original"
    runtimes = dict.fromkeys([runtime, "reference"])  # the reference shows values that others hide
    failures = []
    with Workers() as workers:
        for each in runtimes:
            try:
                return _Search(workers.get(each, _TIMEOUT), sources, feeds).run(pairs)
            except RuntimeFailure as error:
                failures.append(str(error))
    return f"the values of nodes are not known: {failures[0]}"


class _Search:
    """A search for the first pair of values that differ."""

    def __init__(self, worker: Worker, sources: Sequence[Source], feeds: Feeds) -> None:
        self._worker = worker
        self._sources = sources
        self._feeds = feeds

    def run(self, pairs: Sequence[_Pair]) -> FirstDifference | str:
        """Compare the values of pairs in order.

        Raises:
            RuntimeFailure: the runtime does not show the values of the main graphs.
        """
        agreed = 0
        # A run that returned all values would hold every activation of both models at once.
        for start in range(0, len(pairs), _AT_A_TIME):
            some = pairs[start : start + _AT_A_TIME]
            try:
                values = self._values(some)
            except RuntimeFailure:
                outside = [pair for pair in some if not (pair.before.loops or pair.after.loops)]
                if len(outside) == len(some):
                    raise
                # A value in a loop has other sizes in each iteration, or is not a tensor.
                values = self._values(outside)
            for pair, one, other in values:
                difference = compare(one, other, Tolerance())
                if difference.kind:
                    return self._result(pair, (one, other), difference, agreed)
                agreed += 1
        return f"all {agreed} values that correspond agree; no single node is at fault"

    def _values(self, pairs: Sequence[_Pair]) -> list[tuple[_Pair, Any, Any]]:
        """The values of pairs in both models, without iterations that did not run.

        Raises:
            RuntimeFailure: the runtime does not show them.
        """
        if not pairs:
            return []
        befores = self._outputs(self._sources[0], [pair.before for pair in pairs])
        afters = self._outputs(self._sources[1], [pair.after for pair in pairs])
        return [
            (pair, one[pair.iteration] if pair.iteration else one, other)
            for pair, one, other in zip(pairs, befores, afters, strict=True)
            if _has(one, pair.iteration)
        ]

    def _outputs(self, source: Source, values: Sequence[Inside]) -> list[Any]:
        """The values inside a model.

        Raises:
            RuntimeFailure: the runtime does not show them.
        """
        unique = list(dict.fromkeys(values))
        proto, names = exposed(source.proto, unique)
        inputs = {info.name for info in proto.graph.input}
        variant = source.replaced(proto)
        feeds = {name: value for name, value in self._feeds.items() if name in inputs}
        results = self._worker.run(variant, feeds)
        # Each run shows other values, by a model that no later run needs.
        self._worker.forget(variant)
        by_name = dict(zip([info.name for info in proto.graph.output], results, strict=True))
        by_value = {value: by_name[name] for value, name in zip(unique, names, strict=True)}
        return [by_value[value] for value in values]

    def _result(
        self, pair: _Pair, values: tuple[Any, Any], difference: Difference, agreed: int
    ) -> FirstDifference:
        first = f"{difference.kind} {difference.first or ''}".strip()
        largest = ""
        if difference.kind == "values":
            largest = f"{difference.differing} of {difference.total} elements differ"
            largest += f", by at most {difference.max_abs:.3g} absolute"
            largest += f" and {difference.max_rel:.3g} relative"
        inputs = [f"{name} = {text_of(value)}" for name, value in self._feeds.items()]
        return FirstDifference(
            *pair.places,
            pair.after.name,
            pair.iteration,
            (cut(text_of(values[0]), _MOST_TEXT), cut(text_of(values[1]), _MOST_TEXT)),
            cut(first, _MOST_TEXT),
            largest,
            tuple([cut(line, _MOST_TEXT) for line in inputs[:_MOST_INPUTS]]),
            self._worker.runtime,
            agreed,
        )


def _has(value: Any, iteration: tuple[int, ...]) -> bool:
    """Test whether the loops around a value ran an iteration."""
    if not iteration:
        return True
    return isinstance(value, np.ndarray) and all(
        index < size for index, size in zip(iteration, value.shape, strict=False)
    )


def _pairs(
    after: onnx.ModelProto, data: tuple[ModelData, ModelData], origins: Mapping[Place, Origin]
) -> Iterator[_Pair]:
    """Yield the values of a rewrite with counterparts in the original, in order."""
    insides = {(place, inside.name): inside for inside, place in _located(data[0])}
    places = dict(_located(data[1]))
    for inside in inside_values(after.graph):
        place = places.get(inside)
        origin = None if place is None else origins.get(place)
        if place is None or origin is None or origin.kind == "for":
            continue
        name = _counterpart(data, place, origin, inside.name)
        if name is None or (origin.place, name) not in insides:
            continue
        before = insides[origin.place, name]
        iteration = _iteration(origin.end)
        # In a loop that is left, the numbers may be those of a loop in it or around it.
        is_clear = not (iteration and inside.loops)
        if is_clear and len(before.loops) - len(inside.loops) == len(iteration):
            yield _Pair(inside, before, (origin.place, place), iteration)


def _iteration(end: str) -> tuple[int, ...]:
    """The iteration in the suffix of a copy, outer loops first; inner loops unroll first."""
    numbers = end.split("_")[1:] if _NUMBERS.fullmatch(end) else []
    return tuple(map(int, numbers[::-1]))


def _counterpart(
    data: tuple[ModelData, ModelData], place: Place, origin: Origin, name: str
) -> str | None:
    """The original's name of an output of a node; None for no counterpart."""
    outputs = _node(data[0], origin.place).outputs
    if origin.kind == "instead":
        start = name.removesuffix(origin.end)
        return start if start in outputs else None
    position = _node(data[1], place).outputs.index(name)
    return outputs[position] if position < len(outputs) and outputs[position] else None


def _located(
    model: ModelData, graph: int = 0, loops: tuple[str, ...] = ()
) -> Iterator[tuple[Inside, Place]]:
    """Yield the values of the main graph and of loops, with their nodes."""
    for number, node in enumerate(model.graphs[graph].nodes):
        if model.operators[node.operator].name in LOOPS:
            for body in node.graphs:
                yield from _located(model, body, (*loops, loop_name(node.outputs)))
        for name in filter(None, node.outputs):
            yield Inside(loops, name), (graph, number)


def _node(model: ModelData, place: Place) -> NodeData:
    return model.graphs[place[0]].nodes[place[1]]
