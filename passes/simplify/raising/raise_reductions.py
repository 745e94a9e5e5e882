"""Replace sums with a function before and after them by ReduceL2 and ReduceLogSumExp.

p = Mul (x, x)   s = ReduceSum (p, axes)   y = Sqrt (s)     ->     y = ReduceL2 (x, axes)

Kept: reductions along an axis that may be empty, or along run-time axes.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ....ir import Node, Operator, Value
from ....ops.schema_queries import formal_inputs
from .attention_scores import only_reader
from .reading import constant_exponent, is_plain, reduced_axes
from .replacement import Match, Operand, Raising, Site


class RaiseReductions(Raising):
    """Replace sums with functions around them by ReduceL2 and ReduceLogSumExp."""

    name: ClassVar[str] = "raise-reductions"
    seeds: ClassVar[tuple[str, ...]] = ("Sqrt", "Pow", "Log")

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the reduction before a root or logarithm."""
        if seed.is_op("Pow") and constant_exponent(seed) != 0.5:
            return None
        total = seed.input(0)
        node = site.producer(total)
        if total is None or node is None:
            return None
        if only_reader(site, total) is not seed or seed.output().pinned:
            return None
        name, source = ("ReduceLogSumExp" if seed.is_op("Log") else "ReduceL2"), None
        if node.is_op("ReduceSumSquare") and name == "ReduceL2":
            source = node.input(0)
        elif node.is_op("ReduceSum"):
            source = _operand(site, node.input(0), name)
        if source is None or not site.takes(name, site.elem_type(source), doubles=True):
            return None
        match = _reduction(site, name, source, node, seed)
        return None if match is None else site.completed(match)


def _operand(site: Site, value: Value | None, name: str) -> Value | None:
    """Tensor of which a value is the square, or the exponential."""
    node = site.producer(value)
    if value is None or node is None or node.op.references:
        return None
    is_square = node.is_op("Mul") and node.input(0) is node.input(1) and is_plain(node)
    is_square |= node.is_op("Pow") and constant_exponent(node) == 2 and is_plain(node)
    source = node.input(0)
    shift = None if source is None else source.producer
    # Shifted exponents need no second shift: ReduceLogSumExp of 27,000 numbers takes 128 us in
    # onnxruntime 1.32, its three nodes 19 us.
    is_exponent = node.is_op("Exp") and not (shift is not None and shift.is_op("Sub"))
    fits = is_square if name == "ReduceL2" else is_exponent
    same = source is not None and site.shape(source) == site.shape(value)
    return source if fits and same else None


def _reduction(site: Site, name: str, source: Value, total: Node, root: Node) -> Match | None:
    """Reduction along the axes of another one, with one element at least."""
    shape = site.shape(source)
    axes = None if shape is None or total.op.references else reduced_axes(site.inference, total)
    if axes is None or shape is None or any((shape[axis].at_least or 0) < 1 for axis in axes):
        return None
    keepdims = total.attribute("keepdims", 1)
    inputs: Sequence[Operand] = [source]
    if (formal_inputs(name, site.opset) or 0) < 2:
        op = Operator.make(name, axes=list(axes), keepdims=keepdims)
    else:
        op = Operator.make(name, keepdims=keepdims)
        inputs = [source, np.array(axes, np.int64)]
    return Match(op, inputs, root)
