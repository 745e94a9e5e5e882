import numpy as np
import onnx
import pytest
from departure_examples import EXAMPLES as EXAMPLES_OF
from onnx import helper
from straightline.ops import departures
from straightline.verification.checker.folding import departs, fold, is_real, rounds
from straightline.verification.checker.rows import plain
from straightline.verification.checker.scans import folded
from straightline.verification.checker.terms import Head, Terms
from tables import table

F, N = np.float32, np.int64


def cast(to):
    return Head("Cast", 13, (("to", helper.make_attribute("to", to).SerializeToString()),))


def test_results_are_those_of_the_specification():
    (total,) = fold(Head("Add", 14), [np.array([1, 2], N), np.array(3, N)])
    assert total.tolist() == [4, 5] and total.dtype == N
    (joined,) = fold(Head("Gather", 13).changed(axis=0), [np.arange(4), np.array([-1, 0])])
    assert joined.tolist() == [3, 0]


@table(
    (Head("Div", 14), [np.array([1], N), np.array([0], N)]),
    (Head("Div", 14), [np.array([-7], N), np.array([-2], N)]),
    (cast(7), [np.array([np.nan], F)]),
    (cast(7), [np.array([1e30], F)]),
    (cast(3), [np.array([300], N)]),
    (cast(8), [np.array([300], N)]),
    (Head("Max", 13), [np.array([np.nan], F), np.array([1], F)]),
    (Head("Exp", 13), [np.array([1e3], F)]),
    (Head("RandomNormalLike", 1), [np.array([1], F)]),
    (Head("NonMaxSuppression", 11), [np.array([1], F)]),
    (Head("Add", 14), [np.zeros(2, N), np.zeros(3, N)]),
    (Head("Abs", 13, key=1), [np.zeros(2, N)]),
    (Head("moved"), [np.zeros(2, N)]),
    (Head("Range", 11), [np.array(0, N), np.array(2**63 - 1, N), np.array(1, N)]),
    (Head("Range", 11), [np.array(0, F), np.array(1e9, F), np.array(0.25, F)]),
)
def test_results_that_are_not_certain(head, arrays):
    assert fold(head, arrays) is None


@table(
    ("ConstantOfShape", [1 << 24], None),
    ("Expand", 1.0, [1 << 24]),
    ("Tile", [1.0], [1 << 24]),
)
def test_a_tensor_of_any_size_is_not_computed(name, one, other):
    """A certificate of a few bytes would else use up the memory of the one who checks it."""
    terms = Terms()
    each = (np.array(one, F if other else N), np.array(other, N) if other else None)
    args = tuple([terms.constant(array) for array in each if array is not None])
    assert folded(terms, plain(name), args) is None


def test_operators_that_round_in_between_are_not_exact():
    assert rounds(Head("Exp", 13), is_whole=False) and rounds(Head("ReduceSum", 13), is_whole=False)
    assert not rounds(Head("ReduceSum", 13), is_whole=True)
    assert not rounds(Head("Mul", 14), is_whole=False)
    assert not rounds(Head("Gather", 13), is_whole=False)


@table(
    ("Mul", [0.5, 3], True),
    ("Mul", [0.1, 0.1], False),
    ("Reciprocal", [8], True),
    ("Reciprocal", [3], False),
    ("Div", [1, np.inf], False),
    ("Add", [1, 1e-9], False),
    ("Sub", [1, 1], True),
    ("Exp", [0], False),
    ("Gather", [1.5, 0], True),
)
def test_results_that_are_rounded_are_not_those_of_real_numbers(name, operands, answer):
    arrays = [np.array([number], F) for number in operands]
    if name == "Gather":
        arrays[1] = arrays[1].astype(N)
    results = [arrays[0]] if name == "Gather" else [_OPERATIONS[name](*arrays)]
    assert is_real(Head(name, 13), arrays, results) is answer


_OPERATIONS = {"Mul": np.multiply, "Reciprocal": np.reciprocal, "Div": np.divide, "Add": np.add}
_OPERATIONS |= {"Sub": np.subtract, "Exp": np.exp}

EXAMPLES = [(row, example) for row in departures.table() for example in EXAMPLES_OF[row.name]]


def applications(row, example):
    """The heads and operands of the nodes of an example that read constants."""
    head = f'<ir_version: 8, opset_import: ["" : {example.opset}]> '
    graph = onnx.parser.parse_model(head + example.text).graph
    arrays = {name: np.array(v, dtype) for name, (dtype, v) in example.feeds.items()}
    arrays |= {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type in row.operators and all(name in arrays for name in node.input if name):
            version = onnx.defs.get_schema(node.op_type, example.opset).since_version
            attributes = tuple((a.name, a.SerializeToString()) for a in node.attribute)
            op = Head(node.op_type, version, attributes, len(node.output))
            yield op, [arrays.get(name) for name in node.input]


@pytest.mark.parametrize(("row", "example"), EXAMPLES, ids=[row.name for row, _ in EXAMPLES])
def test_departing_nodes_are_not_computed(row, example):
    for head, arrays in applications(row, example):
        assert fold(head, arrays) is None


@table(
    ("ReduceSum", [np.array([2**52, 1], N)]),
    ("ReduceProd", [np.array([0, 3, -4], N)]),
    ("ReduceSum", [np.array([1e30, 1], F)]),
    ("Where", [np.array([True]), np.array([0.0], F), np.array([-1.0], F)]),
    ("Where", [np.array([True]), np.array([0], N), np.array([-1], N)]),
    ("Slice", [np.arange(3), np.array([0]), np.array([2**63 - 1])]),
    ("Slice", [np.arange(3), np.array([2]), np.array([-9]), np.array([0]), np.array([-1])]),
    ("NonZero", [np.array([3, 0])]),
    ("Gather", [np.array(["a", "b"], object), np.array([1])]),
    ("Add", [np.array([-0.0], F), np.array([-0.0], F)]),
)
def test_others_do_not_depart(name, arrays):
    assert not departs(Head(name, 13), arrays)
