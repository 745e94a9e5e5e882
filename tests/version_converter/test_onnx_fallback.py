"""Nodes that onnx's own converter carries over, many in one call."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from straightline import convert_version, ir, reference
from straightline.version_converter import onnx_fallback
from straightline.version_converter.onnx_fallback import Batch
from straightline.version_converter.types import Types


def sums(count: int) -> onnx.ModelProto:
    """Some Adds that broadcast as they did before opset 7."""
    nodes = " ".join(
        f"v{i + 1} = Add <axis = {i % 2}, broadcast = 1> (v{i}, {'row' if i % 2 else 'column'})"
        for i in range(count)
    )
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 6]>
        g (float[2, 3] v0) => (float[2, 3] v{count})
        <float[2] column = {{1, 2}}, float[3] row = {{1, 2, 3}}> {{ {nodes} }}
    """)


def test_like_nodes_go_in_once_and_all_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(model: onnx.ModelProto, target: int) -> onnx.ModelProto:
        calls.append(len(model.graph.node))
        return convert(model, target)

    convert = onnx.version_converter.convert_version
    monkeypatch.setattr(onnx_fallback.onnx.version_converter, "convert_version", counted)
    after = convert_version(sums(12), 13)
    assert len(calls) == 1 and calls[0] <= 4  # by axis, and the ends with what is declared there
    onnx.checker.check_model(after, full_check=True)
    x = np.zeros((2, 3), np.float32)
    wanted = 6 * (np.array([[1], [2]]) + np.array([1, 2, 3]))
    np.testing.assert_array_equal(reference.run(after, {"v0": x})[0], wanted)
    ir.verify(ir.load(after))


def test_the_node_that_onnx_refuses_is_found_among_the_others() -> None:
    model = ir.parse("""
        <ir_version: 8, opset_import: ["": 13]>
        g (float[2, 3] x, int64[1] axes) => (float[2] a, float[2, 3] b, float[2] c)
        <int64[1] one = {1}> {
            a = ReduceSum <keepdims = 0> (x, one)
            b = Softmax (x)
            [odd] c = ReduceSum <keepdims = 0> (x, axes)
        }
    """)
    batch = Batch(13, 12, Types(model))
    for node in model.graph.nodes():
        batch.add(node)
    done, refused = batch.run()
    assert len(done) == 2
    assert [node.name for node, _ in refused] == ["odd"]
    assert "onnx.version_converter" in refused[0][1]


def test_models_from_before_opset_7_come_up() -> None:
    before = onnx.parser.parse_model("""
        <ir_version: 3, opset_import: ["": 6]>
        g (float[2, 3] x, float[3] b) => (float[2, 3] y)
        { y = Add <broadcast = 1, axis = 1> (x, b) }
    """)
    after = convert_version(before, 13)
    onnx.checker.check_model(after, full_check=True)
    x, b = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(reference.run(after, {"x": x, "b": b})[0], x + b)
