"""The models with control flow among onnx's own backend tests."""

import functools
import importlib
import pkgutil
import warnings

import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node as nodes_of_backend
from straightline.reference.bodies import subgraphs

CONTROL_FLOW = {"If", "Loop", "Scan", "SequenceMap"}


def holds_control_flow(nodes) -> bool:
    return any(
        node.op_type in CONTROL_FLOW or any(holds_control_flow(g.node) for g in subgraphs(node))
        for node in nodes
    )


def cases():
    """Models with control flow, without the modules of pools: these have no bodies, and compute
    their outputs for seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.iter_modules(nodes_of_backend.__path__):
            if not module.name.endswith("pool"):
                importlib.import_module(f"{nodes_of_backend.__name__}.{module.name}")
    found = [case for case in nodes_of_backend._NodeTestCases if case.model is not None]
    return [case for case in found if holds_control_flow(case.model.graph.node)]


def cases_of_nodes():
    """Tests of one operator without bodies, with inputs and outputs."""
    found = [case for case in _collected() if case.data_sets and len(case.model.graph.node) == 1]
    return [case for case in found if not holds_control_flow(case.model.graph.node)]


@functools.cache
def _collected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [case for case in nodes_of_backend.collect_testcases() if case.model is not None]


CASES = cases()


def array(value):
    if isinstance(value, list | tuple):
        return [array(element) for element in value]
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
