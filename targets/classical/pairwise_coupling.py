"""Probabilities of several classes from those of each pair, as libsvm and onnxruntime couple them.

Rows stop at different iterations, so each iteration keeps the rows that are done. Source: Wu,
Lin, Weng, "Probability estimates for multi-class classification by pairwise coupling", algorithm 2.
"""

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto

from ...ir import Array, Graph, Value
from ...version_converter.loops import counted_loop
from ...version_converter.node_draft import NodeDraft
from .common import row

_MOST = 100
"""Limit of iterations, in onnxruntime and in onnx."""
_MOST_OF_TWO = 2
"""The iterations that two classes need: computed for every float between the limits below."""
_SMALLEST = np.float32(1e-7)
_ERROR = np.float32(0.005)


def couple(draft: NodeDraft, chances: Value, classes: int) -> Value:
    """The probability of each class in each row.

    Args:
        chances: [rows, pairs], the probability of the first class of each pair.
    """
    first = _cut(draft, chances)
    second = draft.emit("Sub", [row(draft, np.float32(1), "one"), first], "rest")
    squares = [draft.emit("Mul", [one, one], "squares") for one in (first, second)]
    product = draft.emit("Neg", [draft.emit("Mul", [second, first], "both")], "products")
    parts = draft.emit("Concat", [*squares, product], "parts", axis=1)
    step = _Step(draft, parts, classes)
    start = _start(draft, chances, classes)
    if classes == 2:
        for _ in range(_MOST_OF_TWO):
            start = step.improve(start)
        return start

    def iterate(_: Graph, __: Value, states: Sequence[Value]) -> list[Value]:
        return [step.improve(states[0])]

    type_ = onnx.helper.make_tensor_type_proto(TensorProto.FLOAT, [None, classes])
    trip_count = row(draft, np.int64(_MOST), "most")
    return counted_loop(draft, trip_count, [start], [type_], iterate)[0]


def _cut(draft: NodeDraft, chances: Value) -> Value:
    """Chances between limits near 0 and 1, or NaN; more clients have Where than Min."""
    for comparison, limit in (("Less", _SMALLEST), ("Greater", np.float32(1) - _SMALLEST)):
        constant = row(draft, limit, "limit")
        beyond = draft.emit(comparison, [chances, constant], "beyond")
        chances = draft.emit("Where", [beyond, constant, chances], "chances")
    return chances


def _start(draft: NodeDraft, chances: Value, classes: int) -> Value:
    """Equal probabilities for all labels, the fixed point of chances that are NaN."""
    # No chance is above 1: this makes zeros, a row of them for each row.
    above = draft.emit("Greater", [chances, row(draft, np.float32(1), "one")], "above")
    zeros = draft.emit("Cast", [above], "zeros", to=TensorProto.FLOAT)
    columns = np.zeros((len(pairs_of(classes)), classes), np.float32)
    equal = np.full(classes, np.float32(1) / np.float32(classes))
    constants = [row(draft, columns, "columns"), row(draft, equal, "equal")]
    return draft.emit("Gemm", [zeros, *constants], "start")


class _Step:
    """One iteration: the matrix Q of each row, and the directions in which it changes.

    Args:
        parts: [rows, 3 * pairs], the squares of both chances of each pair and minus their product.
    """

    def __init__(self, draft: NodeDraft, parts: Value, classes: int) -> None:
        self.draft, self.classes = draft, classes
        places = _places(classes)
        flat = draft.emit("MatMul", [parts, row(draft, places, "places")], "flat")
        shape = draft.ints([0, classes, classes], "shape")
        self.matrix = draft.emit("Reshape", [flat, shape], "matrix")
        columns = [number * (classes + 1) for number in range(classes)]
        on_it = row(draft, places[:, columns], "on_it")
        self.diagonal = draft.emit("MatMul", [parts, on_it], "diagonal")
        self.own = [self._column(self.diagonal, number) for number in range(classes)]
        self.directions = [self._direction(parts, places, number) for number in range(classes)]

    def _direction(self, parts: Value, places: Array, number: int) -> Value:
        """A unit vector and a row of the matrix, end to end."""
        k = self.classes
        own = np.zeros((len(places), 2 * k), np.float32)
        own[:, k:] = places[:, number * k : (number + 1) * k]
        unit = np.zeros(2 * k, np.float32)
        unit[number] = 1
        constants = [row(self.draft, own, "of_row"), row(self.draft, unit, "unit")]
        return self.draft.emit("Gemm", [parts, *constants], "direction")

    def _column(self, value: Value, number: int) -> Value:
        return self.draft.emit(
            "Gather", [value, self.draft.ints([number], "place")], "column", axis=1
        )

    def improve(self, chances: Value) -> Value:
        """The chances after an iteration, as they were in rows of a small error."""
        draft, k = self.draft, self.classes
        apart = draft.unsqueeze(chances, [1])
        terms = draft.emit("Mul", [self.matrix, apart], "terms")
        gradient = draft.along("ReduceSum", terms, [2], "gradient", keepdims=0)
        weighted = draft.emit("Mul", [chances, gradient], "weighted")
        total = draft.along("ReduceSum", weighted, [1], "total", keepdims=1)
        error = draft.emit("Abs", [draft.emit("Sub", [gradient, total], "error")], "error")
        most = draft.along("ReduceMax", error, [1], "most", keepdims=1)
        # At least the limit is more than the float before it; no error of NaN is.
        limit = np.nextafter(_ERROR / np.float32(k), np.float32(0))
        goes_on = draft.emit("Greater", [most, row(draft, limit, "limit")], "goes_on")
        state = draft.emit("Concat", [chances, gradient], "state", axis=1)
        for number in range(k):
            state, total = self._turn(state, total, number)
        places = draft.ints(range(k), "places")
        changed = draft.emit("Gather", [state, places], "changed", axis=1)
        return draft.emit("Where", [goes_on, changed, chances], "chances")

    def _turn(self, state: Value, total: Value, number: int) -> tuple[Value, Value]:
        """The state and the total after the step of one class."""
        draft = self.draft
        mine, own = self._column(state, self.classes + number), self.own[number]
        missing = draft.emit("Sub", [total, mine], "missing")
        by = draft.emit("Div", [missing, own], "by")
        size = draft.emit("Add", [by, row(draft, np.float32(1), "one")], "size")
        moved = draft.emit("Mul", [by, self.directions[number]], "moved")
        state = draft.emit("Div", [draft.emit("Add", [state, moved], "state"), size], "state")
        if number == self.classes - 1:  # the next iteration computes it anew
            return state, total
        twice = draft.emit("Add", [mine, mine], "twice")
        slope = draft.emit("Add", [draft.emit("Mul", [by, own], "slope"), twice], "slope")
        total = draft.emit("Add", [total, draft.emit("Mul", [by, slope], "more")], "total")
        # The total is quadratic in the chances, all of which were divided by `size`.
        for _ in range(2):
            total = draft.emit("Div", [total, size], "total")
        return state, total


def _places(classes: int) -> Array:
    """A matrix of ones that adds the parts of pairs to elements of Q."""
    pairs = pairs_of(classes)
    places = np.zeros((3, len(pairs), classes, classes), np.float32)
    for at, (i, j) in enumerate(pairs):
        places[0, at, j, j] = places[1, at, i, i] = 1
        places[2, at, i, j] = places[2, at, j, i] = 1
    return places.reshape(3 * len(pairs), classes * classes)


def pairs_of(classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, in the order of their classifiers."""
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]
