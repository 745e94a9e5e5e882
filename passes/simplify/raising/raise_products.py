"""Replace products with biases by Gemm on rows, where reshapes around them cost less.

r = Squeeze (x, axes)   t = MatMul (r, w)   s = Add (t, b)   y = Reshape (s, sizes)
->
r = Reshape (x, [-1, 8])   s = Gemm (r, w, b)   y = Reshape (s, sizes)

Several products in a row, with functions of each element between them, become rows once.

Kept: matrices of unknown sizes, stacks of matrices, biases that are not vectors, results of more
than one open size.
"""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ....facts.fact import Shape
from ....facts.polynomial import product
from ....ir import Array, Node, Operator, Value
from ....ops import rules_of
from ....ops.elementwise import Elementwise, OfEach
from .attention_scores import only_reader
from .reading import is_plain
from .replacement import Emitted, Match, Operand, Raising, Site

_VIEWS = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
_MOST_NODES = 64
"""The most nodes of a chain of products."""


class RaiseProducts(Raising):
    """Replace products with biases by Gemm on rows, where reshapes around them cost less."""

    name: ClassVar[str] = "raise-products"
    seeds: ClassVar[tuple[str, ...]] = ("MatMul",)

    def match(self, site: Site, seed: Node) -> Match | None:
        """Return the longest chain of products from a seed that saves nodes."""
        rows = seed.input(0)
        if rows is None or not site.takes("Gemm", site.elem_type(rows)):
            return None
        return next(filter(None, reversed(list(_chains(site, seed, rows)))), None)


def _chains(site: Site, seed: Node, rows: Value) -> Iterator[Match | None]:
    """Yield the results of chains of products from a seed, the shortest first."""
    step: Node | None = seed
    chain: Operand = None
    for _ in range(_MOST_NODES):
        shapes = None if step is None else _product_shapes(site, step)
        if step is None:
            return
        if shapes is None:
            if chain is None or not _is_function(step):
                return
            chain = Emitted(step.op, [chain])
            step = only_reader(site, step.output())
            continue
        total = only_reader(site, step.output())
        bias = None if total is None else _bias(site, step, total, shapes[1])
        if total is None or bias is None:
            return
        matrix = _rows(site, rows, shapes[1]) if chain is None else chain
        chain = gemm = Emitted(Operator("Gemm"), [matrix, step.input(1), bias])
        step = only_reader(site, total.output())
        is_view = step is not None and step.is_op(*_VIEWS) and not step.output().pinned
        root = step if is_view and step and _keeps_count(site, step) else total
        yield _completed(site, gemm, root, shapes[1])


def _product_shapes(site: Site, node: Node) -> tuple[Shape, Shape] | None:
    """Shapes of rows and of a matrix that a node multiplies."""
    rows, weights = node.input(0), node.input(1)
    if not node.is_op("MatMul") or rows is None or weights is None or node.output().pinned:
        return None
    shape, matrix = site.shape(rows), site.shape(weights)
    if not shape or matrix is None or len(shape) < 3 or len(matrix) != 2:
        return None
    fits = all(dim.value for dim in matrix) and shape[-1] == matrix[0]
    return (shape, matrix) if fits else None


def _is_function(node: Node) -> bool:
    """Test for a function of each element."""
    single = len(node.inputs) == len(node.outputs) == 1 and not node.op.references
    return (
        single and isinstance(rules_of(node.op), Elementwise | OfEach) and not node.output().pinned
    )


def _bias(site: Site, multiplied: Node, total: Node, matrix: Shape) -> Value | None:
    """The vector that is added to the rows of a product."""
    if not total.is_op("Add") or not is_plain(total) or total.output().pinned:
        return None
    operands = [value for value in total.inputs if value is not multiplied.output()]
    if len(operands) != 1 or operands[0] is None:
        return None
    return operands[0] if site.shape(operands[0]) == matrix[1:] else None


def _rows(site: Site, value: Value, matrix: Shape) -> Operand:
    """The matrix of the rows of a tensor."""
    node = site.producer(value, *_VIEWS)
    source = node.input(0) if node is not None and _keeps_count(site, node) else value
    shape, own = None if source is None else site.shape(source), site.shape(value)
    if source is None or shape is None or own is None:
        return None
    if len(shape) == 2 and shape[1] == matrix[0]:
        return source if product(own[:-1]) == shape[0] else None
    return Emitted(Operator("Reshape"), [source, np.array([-1, matrix[0].value], np.int64)])


def _completed(site: Site, gemm: Emitted, root: Node, matrix: Shape) -> Match | None:
    """The match whose result is a view of a Gemm, or the Gemm."""
    shape = site.shape(root.output())
    if shape is None or root.op.references or gemm.inputs[0] is None:
        return None
    if len(shape) == 2 and shape[1] == matrix[1]:
        return site.completed(Match(gemm.op, gemm.inputs, root))
    sizes = _sizes(shape)
    if sizes is None:
        return None
    return site.completed(Match(Operator("Reshape"), [gemm, sizes], root))


def _keeps_count(site: Site, view: Node) -> bool:
    """Test that the sizes around a view show as many elements."""
    source = view.input(0)
    before = None if source is None else site.shape(source)
    after = site.shape(view.output())
    return before is not None and after is not None and product(before) == product(after)


def _sizes(shape: Shape) -> Array | None:
    """The operand of a Reshape to a shape of at most one open size."""
    sizes = [-1 if dim.value is None else dim.value for dim in shape]
    # In a Reshape, 0 stands for a size of the operand.
    return None if sizes.count(-1) > 1 or 0 in sizes else np.array(sizes, np.int64)
