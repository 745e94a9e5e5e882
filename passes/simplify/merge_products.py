"""Multiply once where several constant matrices multiply one tensor.

    p = MatMul (x, u)   a = Add (p, c)            r = MatMul (x, uvw)   s = Add (r, cde)
    q = MatMul (x, v)   b = Add (q, d)     ->     a, b = Split <axis = 1> (s, sizes)

A proof assumes what those of loops assume, that some columns have the same bits as all. Types other
than float32 are merged over the reals only.

Kept: two products without a bias (the Split costs what is saved), matrices that other nodes read,
external data, products below opset 7.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.notions import Equality
from ...facts.reason import Message
from ...ir import Array, Graph, Model, Node, Tensor, Value
from ...ops.builder import Builder
from ...records import record
from ..base import Pass, PassContext
from ..utils.replace_all_uses import replace_values
from ..utils.zero_signs import tells_signs

_OLDEST = 7
"""From this opset on, Add broadcasts, and Split takes sizes, as in later ones."""

_SAME_COLUMNS = (onnx.TensorProto.FLOAT,)
"""Types of which a column has the same bits in a wider product by a constant matrix: onnxruntime
1.32 on x86, 4 to 1,024 rows, all of 1,044 products; of doubles 149 differ, from 192 rows on."""

_MERGED = Message("products-merged", "products of one tensor that are one now: {products}")


@record(frozen=True)
class MergeProducts(Pass):
    """Multiply once, and split, where several constant matrices multiply one tensor.

    Options:
        exactness: the notion of equality that outputs must keep: "bits" merges nothing, "values"
            products of float32.
    """

    name: ClassVar[str] = "merge-products"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("MatMul", "Gemm")
    exactness: Equality = "reals"

    def run(self, model: Model, context: PassContext) -> bool:
        """Merge the products of every graph."""
        merged = 0
        if self.exactness != "bits":
            for graph in model.graphs():
                if graph.root.opset() >= _OLDEST:
                    merged += _merge(graph, context.inference(model), self.exactness == "reals")
        if merged:
            context.remarks.add_on_model(self, model, "rewritten", _MERGED(products=merged))
        return merged > 0


class _Product(NamedTuple):
    """Product of a tensor and a constant matrix.

    Attributes:
        node: the MatMul or Gemm.
        is_transposed: whether its rows are the columns of the product.
        bias: a vector that is added, if any.
        add: the Add of the bias, which reads only the product; None in a Gemm.
    """

    node: Node
    matrix: Tensor
    is_transposed: bool
    bias: Tensor | None
    add: Node | None

    @property
    def columns(self) -> int:
        """The size of the last axis of the product."""
        return self.matrix.dims[0 if self.is_transposed else 1]

    @property
    def result(self) -> Value:
        """The product, with its bias."""
        return (self.add or self.node).output()

    def kind(self) -> Hashable:
        """The key of products that fit each other: operator, rows, and element type."""
        attributes = {k: m.SerializeToString() for k, m in self.node.op.attributes.items()}
        attributes.pop("transB", None)
        rows = self.matrix.dims[1 if self.is_transposed else 0]
        return self.node.op_type, rows, self.matrix.elem_type, *sorted(attributes.items())


def _merge(graph: Graph, inference: ShapeInference, rounds: bool) -> int:
    """Merge the products of one graph, also where kernels may round; return their number."""
    groups: dict[tuple[Value, int, Hashable], list[_Product]] = {}
    nodes = [node for node in graph.nodes_of("MatMul", "Gemm") if _has_own_weight(graph, node)]
    readers = Counter([node.inputs[0] for node in nodes])
    for node in nodes:
        source = node.inputs[0]
        # Facts are asked for last: inference takes most of the time.
        if source is None or readers[source] < 2 or node.op.references:
            continue
        shape = inference.fact(node.output()).shape
        product = _product(graph, node, len(shape)) if shape else None
        if product is None or not (rounds or product.matrix.elem_type in _SAME_COLUMNS):
            continue
        if shape:
            groups.setdefault((source, len(shape), product.kind()), []).append(product)
    same: dict[Value, Value] = {}
    dead: list[Node] = []
    for (_, rank, _), products in groups.items():
        adds = [product.add for product in products if product.add is not None]
        if len(adds) < 2 or _lose_signs(products):
            products = [p._replace(add=None, bias=None) if p.add else p for p in products]
            adds = []
        # One product, one Split, and at most one Add stay.
        if len(products) + len(adds) > 2 + bool(adds) and not _lose_signs(products):
            results = [product.result for product in products]
            same.update(zip(results, _emit(graph, products, rank - 1), strict=True))
            dead += [*adds, *(product.node for product in products)]
    replace_values(graph, same)
    for node in dead:
        graph.remove(node)
    return len(same)


def _lose_signs(products: Sequence[_Product]) -> bool:
    """Test for a product without a bias, plus 0, whose -0 is told from 0."""
    plain = [product.result for product in products if product.bias is None]
    return len(plain) < len(products) and any(map(tells_signs, plain))


def _has_own_weight(graph: Graph, node: Node) -> bool:
    """Test for a constant matrix without other uses; its elements would be there twice."""
    weight = node.inputs[1]
    is_own = weight is not None and weight.constant is not None and weight.graph is graph
    return is_own and weight is not None and len(graph.uses(weight)) == 1


def _product(graph: Graph, node: Node, rank: int) -> _Product | None:
    """The product of a node, unless its matrix or its bias is not constant."""
    weight = node.inputs[1]
    matrix = None if weight is None else _constant(weight)
    if weight is None or matrix is None or len(matrix.dims) != 2 or node.output().pinned:
        return None
    if node.is_op("MatMul"):
        product = _Product(node, matrix, False, None, None)
        return _with_add(graph, product, rank)
    offset = node.input(2)
    bias = None if offset is None else _constant(offset)
    product = _Product(node, matrix, bool(node.attribute("transB", 0)), bias, None)
    if offset is not None and (bias is None or not _is_row(bias, product.columns, rank)):
        return None
    return product


def _with_add(graph: Graph, product: _Product, rank: int) -> _Product:
    """Append the Add of a constant row, if it is the only reader."""
    value = product.node.output()
    uses = graph.uses(value)
    add = uses[0].user if len(uses) == 1 else None
    if not isinstance(add, Node) or add.graph is not graph or not add.is_op("Add"):
        return product
    other = add.inputs[1 - uses[0].position]
    bias = None if other is None else _constant(other)
    if bias is None or add.output().pinned or not _is_row(bias, product.columns, rank):
        return product
    return product._replace(bias=bias, add=add)


def _constant(value: Value) -> Tensor | None:
    tensor = value.constant
    usable = tensor is not None and not tensor.is_sparse and not tensor.is_external
    return tensor if usable else None


def _is_row(tensor: Tensor, columns: int, rank: int) -> bool:
    """Test for a vector of so many elements, perhaps with axes of size 1 before."""
    dims = tensor.dims
    return 0 < len(dims) <= rank and dims[-1] == tensor.size == columns


def _emit(graph: Graph, products: Sequence[_Product], axis: int) -> list[Value]:
    """Emit one product of all matrices, and split it."""
    emit, first = Builder(graph), products[0]
    matrix = np.concatenate([_columns(product) for product in products], axis=1)
    name = first.node.output().name
    inputs = [first.node.inputs[0], emit.constant(matrix, f"{name}_matrix")]
    bias = None
    if any(product.bias is not None for product in products):
        bias = emit.constant(np.concatenate([_bias(product) for product in products]), "bias")
    attributes = [m for key, m in first.node.op.attributes.items() if key != "transB"]
    op = first.node.op.with_attributes(attributes)
    if bias is not None and op.op_type == "Gemm":
        inputs.append(bias)
    whole = emit.apply(op, inputs, name)
    if bias is not None and op.op_type == "MatMul":
        whole = emit.add("Add", [whole, bias], name)
    sizes = [product.columns for product in products]
    return emit.split(whole, sizes, axis, [product.result.name for product in products])


def _columns(product: _Product) -> Array:
    array = product.matrix.numpy()
    return array.T if product.is_transposed else array


def _bias(product: _Product) -> Array:
    if product.bias is None:
        return np.zeros(product.columns, product.matrix.numpy().dtype)
    return product.bias.numpy().reshape(-1)
