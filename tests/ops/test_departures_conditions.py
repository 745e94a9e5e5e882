"""Conditions of departures on what is known: what certainly agrees is not named."""

import itertools

import numpy as np
import pytest
from onnx import parser
from onnxruntime.capi import onnxruntime_pybind11_state
from reference_oracle import one_node
from sessions import open_session, outputs
from straightline import ir
from straightline.ops import departures
from straightline.ops.departures import _ONE_HOT_KERNELS
from straightline.ops.schema_queries import ElementTypes
from tables import table


def row_of(body: str, inputs: str = "float[n] x, int64[n] i, int32[n] j, bool[n] b") -> str:
    """The name of the row of the last node; empty if it agrees."""
    head = '<ir_version: 8, opset_import: ["" : 17]> g '
    model = ir.load(parser.parse_model(f"{head} ({inputs}) => (float[m] y) {body}"))
    found = departures.of_node(model.graph.nodes()[-1], ElementTypes())
    return "" if found is None else found.name


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceL1", "ReduceProd", "ReduceSumSquare"])
def test_sums_of_integers(op_type):
    for value in ("i", "j"):
        assert row_of(f"{{ y = {op_type} ({value}) }}") == "integer-sums"
    assert row_of(f"{{ y = {op_type} (x) }}") == ""


def test_small_integers_are_summed_exactly():
    for to in (6, 7):
        assert row_of(f"{{ c = Cast <to = {to}> (b) y = ReduceSum (c) }}") == ""
    assert row_of("<int64[3] k = {1, 2, 3}> { y = ReduceSum (k) }") == ""
    assert row_of("{ s = Shape (x) y = ReduceProd (s) }") == ""
    assert row_of("{ s = Shape (x) t = Mul (s, s) y = ReduceProd (t) }") == "integer-sums"
    assert row_of("<int64[1] k = {9007199254740993}> { y = ReduceSum (k) }") == "integer-sums"


@table(
    ("i->", "integer-sums"),
    ("i,i->", ""),
    ("ij,jk->ik", ""),
    ("ij,jk", ""),
    ("ij,jk->i", "integer-sums"),
    ("i,j->j", "integer-sums"),
    ("...i,...i->...", ""),
)
def test_einsums_of_integers(equation, name):
    operands = "i, i" if "," in equation else "i"
    assert row_of(f'{{ y = Einsum <equation = "{equation}"> ({operands}) }}') == name
    assert row_of('{ y = Einsum <equation = "i->"> (x) }') == ""


def test_powers_of_integers():
    assert row_of("<int64 k = {2}> { y = Pow (i, k) }") == "integer-powers"
    assert row_of("<int64 k = {2}> { c = Cast <to = 7> (b) y = Pow (c, k) }") == ""
    assert row_of("<float k = {2}> { y = Pow (i, k) }") == ""


def test_selects():
    assert row_of("{ y = Where (b, x, x) }") == "select-of-negative-zero"
    assert row_of("{ y = Where (b, i, i) }") == ""
    assert row_of("{ e = Exp (x) y = Where (b, e, e) }") == ""
    assert row_of("<float k = {1}> { e = Exp (x) y = Where (b, k, e) }") == ""
    assert row_of("<float k = {-0.0}> { e = Exp (x) y = Where (b, k, e) }") != ""


@pytest.mark.parametrize("rank", range(3))
def test_a_whole_second_value_keeps_its_signs(rank):
    """By trial: the table says nothing that onnxruntime contradicts."""
    shapes = [(), (1,), (2,), (1, 1), (1, 2), (2, 1), (2, 2)]
    node = ir.Node(ir.Operator("Where"), [None] * 3, ["y"])
    for condition in shapes:
        for second in shapes:
            parts = [
                np.zeros(condition, bool),
                np.ones(shapes[(0, 2, 6)[rank]], np.float32),
                np.full(second, -0.0, np.float32),
            ]
            if departures.on_arrays(node, parts) is None:
                model, feeds = one_node("Where", parts, 17)
                assert np.signbit(outputs(model, feeds, optimized=False)[0]).all()


def test_slices():
    tail = "int64[1] a = {0}, int64[1] t = {-1}> { y = Slice (x, s, e, a, t) }"
    assert row_of(f"<int64[1] s = {{-1}}, int64[1] e = {{2147483647}}, {tail}") == "backward-slice"
    assert row_of(f"<int64[1] s = {{-1}}, int64[1] e = {{-9}}, {tail}") == ""
    forward = tail.replace("-1", "1")
    assert row_of(f"<int64[1] s = {{0}}, int64[1] e = {{2147483647}}, {forward}") == ""


def test_shapes_of_one_computed_size():
    for constant, name in (("0", "copied-size"), ("4", "")):
        nodes = "{ s = Shape (x) t = Concat <axis = 0> (s, z) y = Reshape (x, t) }"
        assert row_of(f"<int64[1] z = {{{constant}}}> {nodes}") == name


@pytest.mark.parametrize("opset", [9, 10, 11, 17])
def test_classes(opset):
    text = (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (INDICES i, int64 d, float[2] v)'
        " => (float[n, m] y) { y = OneHot (i, d, v) }"
    )
    for indices, may in (("int64[n]", opset < 11), ("uint8[n]", False), ("int8[n]", False)):
        (node,) = ir.parse(text.replace("INDICES", indices)).graph.nodes()
        assert (departures.of_node(node, ElementTypes()) is not None) == may


def test_onnxruntime_has_the_kernels_of_one_hot():
    """Float16 and strings left aside; of other types the specification alone decides."""
    kinds = {1: "float", 6: "int32", 7: "int64", 3: "int8"}
    for types in itertools.product(kinds, repeat=3):
        index, depth, value = map(kinds.__getitem__, types)
        text = (
            f'<ir_version: 4, opset_import: ["" : 9]> g ({index}[2] i, {depth} d, {value}[2] v)'
            f" => ({value}[a, b] y) {{ y = OneHot (i, d, v) }}"
        )
        try:
            open_session(parser.parse_model(text))
        except onnxruntime_pybind11_state.NotImplemented:
            assert types not in _ONE_HOT_KERNELS
        else:
            assert types in _ONE_HOT_KERNELS


def test_other_domains_have_no_rows():
    assert departures.has_rows("Where") and not departures.has_rows("Add")
