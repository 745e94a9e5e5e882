import itertools

import numpy as np
import onnx
from straightline.definitions import Definition
from straightline.runtimes.kernel_schemas import KernelSchema
from straightline.verification.runs.drawn_nodes import drawn_nodes

BEFORE = """(floats x[*S, n], const int64 k[2], scale[n]) => (y, z) { y, z =
    com.acme.Op <mode = "up", axes = [0, 1], alpha = @alpha ? 1.0, on = @on ? 0, shape = @shape>
    (x, k, scale?) }"""
FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
SCHEMA = KernelSchema(
    [("T", FLOATS), ("K", [onnx.TensorProto.INT64]), ("T", FLOATS)], {"shape": "INTS"}
)


def draw(count):
    definition = Definition(BEFORE, "y = Identity (x)  z = Identity (x)")
    return list(itertools.islice(drawn_nodes(definition, 17, SCHEMA), count))


def test_drawn_nodes_have_the_form_of_the_definition():
    settings, kinds, outputs, present = set(), set(), set(), set()
    for drawn in draw(60):
        (node,) = drawn.model.graph.node
        values = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        assert values["mode"] == b"up" and list(values["axes"]) == [0, 1]
        settings |= {(a, str(values.get(a))) for a in ("alpha", "on", "shape")}
        x = drawn.feeds["x"]
        kinds.add(x.dtype)
        assert [t.name for t in drawn.model.graph.initializer] == ["k"] and "k" not in drawn.feeds
        present.add("scale" in drawn.feeds)
        if "scale" in drawn.feeds:
            assert drawn.feeds["scale"].shape == x.shape[-1:]
            assert drawn.feeds["scale"].dtype == x.dtype
        outputs.add(len(node.output))
    assert {("alpha", "None"), ("on", "1"), ("shape", "[2, 2]")} <= settings
    assert kinds == {np.dtype(np.float32), np.dtype(np.float16)}
    assert outputs == {1, 2} and present == {True, False}


def test_a_node_is_named_with_its_types_and_attributes():
    assert "x float" in str(draw(1)[0]) and "mode = b'up'" in str(draw(1)[0])
