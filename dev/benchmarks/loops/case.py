"""A model with a loop, what it is fed with, and the best form of it that a person would write."""

import dataclasses
import math
import string
import zlib
from collections.abc import Callable, Mapping

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

Sizes = Mapping[str, int]
Arrays = dict[str, np.ndarray]
Draw = str | Callable[[Sizes, np.random.Generator], np.ndarray]
"""How an array is drawn: the names of its sizes, for normal numbers, or a function."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A model, and what it could be.

    Attributes:
        name: how it is called; its numbers are drawn by it too.
        model: ONNX text below the header, `$T` being the size T.
        best: the same function in the best form, or None where the loop must stay as it is.
        feeds: the inputs.
        weights: the constants that the text names without giving them.
        sizes: those that are measured.
        small: other sizes, for a quick test.
        true_recurrence: whether an iteration needs what the one before it computed.
        packed: the constants of the best form, made of those of the model.
        opset: the version of the operators.
        tolerance: by how much the outputs of two forms may differ, relative to the largest value:
            sums are made in another order.
        random: whether two runs give different outputs.
        family: the file that it stands in.
    """

    name: str
    model: str
    best: str | None
    feeds: Mapping[str, Draw]
    sizes: Sizes
    small: Sizes
    true_recurrence: bool
    weights: Mapping[str, Draw] = dataclasses.field(default_factory=dict)
    packed: Callable[[Arrays], Arrays] = dict
    opset: int = 17
    tolerance: float = 1e-4
    random: bool = False
    family: str = ""

    def original(self, sizes: Sizes) -> onnx.ModelProto:
        """The model with the loop."""
        return self._made(self.model, sizes, self._weights(sizes))

    def by_hand(self, sizes: Sizes) -> onnx.ModelProto:
        """The best form; the model itself where there is none."""
        if self.best is None:
            return self.original(sizes)
        return self._made(self.best, sizes, self.packed(self._weights(sizes)))

    def inputs(self, sizes: Sizes) -> Arrays:
        """What the model is fed with."""
        return self._drawn(self.feeds, sizes, "feeds", 1.0)

    def _weights(self, sizes: Sizes) -> Arrays:
        return self._drawn(self.weights, sizes, "weights", None)

    def _drawn(
        self, draws: Mapping[str, Draw], sizes: Sizes, what: str, scale: float | None
    ) -> Arrays:
        generator = np.random.default_rng(zlib.crc32(f"{self.name} {what}".encode()))
        return {name: drawn(draw, sizes, generator, scale) for name, draw in draws.items()}

    def _made(self, text: str, sizes: Sizes, weights: Arrays) -> onnx.ModelProto:
        header = f'<ir_version: 8, opset_import: ["" : {self.opset}]>\n'
        model = onnx.parser.parse_model(header + string.Template(text).substitute(sizes))
        model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in weights.items())
        return model


def drawn(
    draw: Draw, sizes: Sizes, generator: np.random.Generator, scale: float | None
) -> np.ndarray:
    """An array of normal numbers; without a scale, such that sums of products stay near 1."""
    if not isinstance(draw, str):
        return draw(sizes, generator)
    shape = [int(size) if size.isdigit() else sizes[size] for size in draw.split()]
    if scale is None:
        scale = 1 / math.sqrt(max(shape)) if len(shape) > 1 else 0.1
    return (scale * generator.standard_normal(shape)).astype(np.float32)


def size(name: str) -> Draw:
    """A number of iterations that is an input: one of the sizes, as a scalar."""
    return lambda sizes, _: np.array(sizes[name], np.int64)
