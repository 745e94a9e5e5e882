"""onnx's own backend tests of nodes, and the models with control flow among them."""

import functools
import importlib
import pkgutil
import warnings

import onnx
from depth import DEEP
from onnx import numpy_helper
from onnx.backend.test.case import node as nodes_of_backend
from straightline.reference.bodies import subgraphs

CONTROL_FLOW = {"If", "Loop", "Scan", "SequenceMap"}


def holds_control_flow(nodes) -> bool:
    return any(
        node.op_type in CONTROL_FLOW or any(holds_control_flow(g.node) for g in subgraphs(node))
        for node in nodes
    )


@functools.cache
def collected(pools=DEEP):
    """All tests with a model. Those of pools compute their outputs for seconds: only the longer run
    and fuzzers have them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.iter_modules(nodes_of_backend.__path__):
            if pools or not module.name.endswith("pool"):
                importlib.import_module(f"{nodes_of_backend.__name__}.{module.name}")
    return [case for case in nodes_of_backend._NodeTestCases if case.model is not None]


def cases_of_nodes(pools=DEEP):
    """Tests of one operator without bodies, with inputs and outputs."""
    cases = [case for case in collected(pools) if case.data_sets]
    graphs = [(case, case.model.graph.node) for case in cases]
    return [case for case, nodes in graphs if len(nodes) == 1 and not holds_control_flow(nodes)]


CASES = [case for case in collected() if holds_control_flow(case.model.graph.node)]


def array(value):
    if isinstance(value, list | tuple):
        return [array(element) for element in value]
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
