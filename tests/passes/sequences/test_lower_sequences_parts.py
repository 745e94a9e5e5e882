"""SplitToSequence as one Split: sizes, number of parts, what stays undecided."""

import numpy as np
import onnx
import pytest
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.obstacle import Obstacle
from straightline.ops.builder import Builder
from straightline.passes.sequences.lower_sequences import Parts, shape_of
from tables import table

X = np.arange(10, dtype=np.float32).reshape(5, 2)


def parts_of(split="", attributes="axis = 0", x="float[5,2] x", more="", opset=17):
    """The parts of a split, and the model that they are in."""
    comma = ", s" if split else ""
    constant = f"<{split}>" if "=" in split else ""
    signature = x if "=" in split or not split else f"{x}, {split}"
    model = ir.load(
        onnx.parser.parse_model(
            f"""<ir_version: 8, opset_import: ["" : {opset}]> g ({signature}) => (q) {constant} {{
                q = SplitToSequence <{attributes}> (x{comma}) {more} }}"""
        )
    )
    (node,) = model.graph.nodes()
    return model, Parts(node, Builder(model.graph), ShapeInference(model))


@table(
    ("", "axis = 0", [1] * 5),
    ("", "axis = 0, keepdims = 0", [1] * 5),
    ("int64 s = {2}", "axis = 0", [2, 2, 1]),
    ("int64 s = {5}", "axis = 0", [5]),
    ("int64 s = {7}", "axis = 0", [5]),
    ("int64[2] s = {4, 1}", "axis = 0", [4, 1]),
    ("int64[3] s = {4, 0, 1}", "axis = 0, keepdims = 0", [4, 0, 1]),
    ("int32 s = {1}", "axis = -1", [1, 1]),
)
def test_parts_are_what_the_reference_makes(split, attributes, sizes):
    model, parts = parts_of(split, attributes)
    assert (list(parts.sizes), parts.count) == (sizes, len(sizes))
    original = ir.to_proto(model)
    original.graph.output[0].type.sequence_type.elem_type.tensor_type.elem_type = 1
    (wanted,) = reference.run(original, {"x": X})
    before = len(model.graph)
    values = [element() for element in parts.elements()]
    assert len(model.graph) - before <= parts.cost
    # A part that is the whole of an input needs a node to be an output.
    values = [Builder(model.graph).add("Identity", [v], "out") for v in values]
    infos = [onnx.helper.make_tensor_value_info(f"o{i}", 1, None) for i in range(len(values))]
    model.graph.set_outputs(values, infos)
    found = reference.run(ir.to_proto(model), {"x": X})
    assert [a.tolist() for a in found] == [a.tolist() for a in wanted]


def test_sizes_that_run_time_tells():
    model, parts = parts_of("int32[2] s")
    assert parts.sizes is None and (parts.count, parts.cost) == (2, 3)
    (first, second) = (element() for element in parts.elements())
    infos = [onnx.helper.make_tensor_value_info(n, 1, None) for n in "ab"]
    model.graph.set_outputs([first, second], infos)
    found = reference.run(ir.to_proto(model), {"x": X, "s": np.array([2, 3], np.int32)})
    np.testing.assert_array_equal(found[1], X[2:])


def test_sequences_are_made_once_on_request_of_a_part():
    model, parts = parts_of("int64 s = {2}")
    first, second, _ = parts.elements()
    assert not parts.is_emitted and len(model.graph) == 1
    assert first() is first() and first() is not second()
    assert parts.is_emitted and len(model.graph) == 2


def test_one_part_is_the_whole():
    model, parts = parts_of("int64 s = {5}")
    (only,) = parts.elements()
    assert only() is model.graph.inputs[0]


@table(
    ({"attributes": "axis = 2"}, "axis 2 is outside rank 2, so it fails"),
    ({"attributes": "axis = -3"}, "axis -3 is outside rank 2"),
    ({"split": "int64 s = {0}"}, "it splits into parts of 0, so it fails"),
    ({"split": "int64[2] s = {2, 2}"}, "do not make up an axis of 5, so it fails"),
    ({"split": "int64[2] s = {6, -1}"}, "do not make up an axis of 5, so it fails"),
    ({"x": "float[N,2] x"}, "the length of axis 0 of 'x' is not known"),
    ({"split": "int64[K] s"}, "its split depends on input 's'"),
    ({"split": "int64 s"}, "its split depends on input 's'"),
    ({"split": "int64[2] s", "opset": 12}, "Split of opset 12 requires constant sizes"),
    ({"split": "int64[0] s = {}", "x": "float[N,2] x"}, "no parts of an axis whose length"),
)
def test_undecided_splits(arguments, reason):
    with pytest.raises(Obstacle, match=reason):
        parts_of(**arguments)


@table(("float[5,2] x", (5, 2)), ("float[N,2] x", (None, 2)), ("x", None))
def test_sizes_of_split_parts(x, shape):
    model = ir.load(
        onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g ({x}) => () {{ }}')
    )
    assert shape_of(model.graph.inputs[0], ShapeInference(model)) == shape
