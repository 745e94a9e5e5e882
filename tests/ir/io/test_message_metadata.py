"""What messages say of themselves is kept; of a function that says its name alone, no more."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest
from onnx import helper
from straightline.ir.io.message_metadata import function_header, graph_header, model_header
from straightline.ir.io.protobuf.opset_imports import imports_of
from straightline.ir.model import FunctionName


def function(domain: str = "own") -> onnx.FunctionProto:
    imports = [helper.make_opsetid("", 21)]
    nodes = [helper.make_node("Neg", ["x"], ["y"])]
    return helper.make_function(domain, "f", ["x"], ["y"], nodes, imports)


def header_of(proto: onnx.FunctionProto) -> onnx.FunctionProto | FunctionName:
    return function_header(proto, imports_of(proto.opset_import))


def test_a_name_is_all_that_most_functions_say() -> None:
    assert header_of(function()) == FunctionName("own", "f")
    assert FunctionName("own", "f").header() == onnx.FunctionProto(domain="own", name="f")
    assert FunctionName("", "f").header() == onnx.FunctionProto(name="f")


SAYS_MORE: list[Callable[[onnx.FunctionProto], object]] = [
    lambda f: f.attribute.append("alpha"),
    lambda f: f.attribute_proto.append(helper.make_attribute("alpha", 1)),
    lambda f: f.metadata_props.add(key="k", value="v"),
    lambda f: setattr(f, "doc_string", ""),
    lambda f: setattr(f, "overload", "1"),
    lambda f: setattr(f, "domain", ""),
    lambda f: f.opset_import.append(helper.make_opsetid("", 21)),
    lambda f: f.opset_import[0].ClearField("domain"),
    lambda f: f.MergeFromString(b"\x98\x06\x07"),
]


@pytest.mark.parametrize("change", SAYS_MORE)
def test_all_else_that_is_said_is_kept(change: Callable[[onnx.FunctionProto], object]) -> None:
    proto = function()
    change(proto)
    kept = header_of(proto)
    assert isinstance(kept, onnx.FunctionProto)
    for field in ("input", "output", "node"):
        getattr(kept, field).extend(getattr(proto, field))
    assert kept == proto


def test_of_models_and_graphs() -> None:
    graph = onnx.GraphProto(name="g", doc_string="d", node=[helper.make_node("Neg", [], [])])
    graph.metadata_props.add(key="k", value="v")
    header = graph_header(graph)
    del graph.node[:]
    assert header == graph
    model = helper.make_model(graph, functions=[function()], producer_name="p")
    kept = model_header(model)
    model.ClearField("graph")
    del model.functions[:]
    assert kept == model
