"""Constants of which onnxruntime computes something else than the specification."""

import numpy as np
import onnx
import pytest
from straightline.ops import departures
from straightline.verification.checker import folding
from straightline.verification.checker.departing import departs
from straightline.verification.checker.terms import Head

EXAMPLES = [(row, example) for row in departures.table() for example in row.examples]


def applications(row, example):
    """The heads and operands of the nodes of an example that read constants."""
    head = f'<ir_version: 8, opset_import: ["" : {example.opset}]> '
    graph = onnx.parser.parse_model(head + example.text).graph
    known = {name: np.array(v, dtype) for name, (dtype, v) in example.feeds.items()}
    known |= {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type in row.operators and all(name in known for name in node.input if name):
            version = onnx.defs.get_schema(node.op_type, example.opset).since_version
            attributes = tuple((a.name, a.SerializeToString()) for a in node.attribute)
            op = Head(node.op_type, version, attributes, len(node.output))
            yield op, [known.get(name) for name in node.input]


@pytest.mark.parametrize(("row", "example"), EXAMPLES, ids=[row.name for row, _ in EXAMPLES])
def test_what_departs_is_not_computed(row, example):
    for head, arrays in applications(row, example):
        assert folding.fold(head, arrays) is None


N, F = np.int64, np.float32


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
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
    ],
)
def test_others_do_not_depart(name, arrays):
    assert not departs(Head(name, 13), arrays)
