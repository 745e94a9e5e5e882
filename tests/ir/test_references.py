"""Tensors that are named by strings."""

from __future__ import annotations

import onnx
from onnx import AttributeProto, helper
from straightline.ir import Operator
from straightline.ir.references import named_tensors, named_tensors_of_training

GRADIENT = {"xs": ["a", "b"], "zs": ["c"], "y": "d"}


def test_gradient_names_its_tensors() -> None:
    for domain in ("ai.onnx.preview.training", "ai.onnx.training"):
        assert named_tensors(Operator.make("Gradient", domain, **GRADIENT)) == ["a", "b", "c", "d"]
    assert named_tensors(Operator.make("Gradient", "own", **GRADIENT)) == []
    message = AttributeProto(name="y", type=AttributeProto.STRING, ref_attr_name="y")
    gradient = Operator("Gradient", {"y": message}, "ai.onnx.training")
    assert named_tensors(gradient) == []


def test_training_information_names_what_it_reads() -> None:
    branch = helper.make_graph([helper.make_node("Neg", ["deep"], ["n"])], "b", [], [])
    nodes = [
        helper.make_node("Add", ["w", "loss"], ["step"]),
        helper.make_node("If", ["step"], ["e"], then_branch=branch, else_branch=branch),
        helper.make_node("Gradient", [], ["g"], "n", None, "ai.onnx.training", **GRADIENT),
    ]
    info = onnx.TrainingInfoProto(algorithm=helper.make_graph(nodes, "train", [], []))
    info.update_binding.add(key="weights", value="step")
    info.initialization_binding.add(key="first", value="second")
    names = set(named_tensors_of_training([info]))
    assert names - {"", "step"} == {
        *("w", "loss", "deep", "weights", "first", "second"),
        *("a", "b", "c", "d"),
    }
