"""A Scan's inputs taken apart and its outputs put together, against numpy."""

import numpy as np
import onnx
import pytest
from harness import as_model
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops.builder import Builder
from straightline.passes.iteration.loop_view import read_scan
from straightline.passes.scans.shapes import ScanShapes
from straightline.passes.scans.unroll_scans import Rows, element_shape, slices, zeros_of


def scan_of(attributes, signature, version=9, used="e", body="float[3] a, float[2] e", lens=""):
    model = ir.load(
        as_model(f"""<ir_version: 8, opset_import: ["" : {version}]> g ({signature}) => (y, z) {{
            y, z = Scan <num_scan_inputs = 1{attributes}, body = b ({body}) => (float[3] a2, r) {{
                a2 = Identity (a) r = Neg ({used})
            }}> ({lens} s, x) }}""")
    )
    (node,) = model.graph.nodes()
    return model, read_scan(node, version), ScanShapes(node, version, ShapeInference(model))


def rows_of(model, scan, shapes, lengths):
    return Rows(scan, shapes, lengths, 4, ir.Template(scan.body, model.graph))


def run(model, values, **feeds):
    infos = [onnx.helper.make_tensor_value_info(v.name, 1, None) for v in values]
    model.graph.set_outputs(values, infos)
    return reference.run(ir.to_proto(model), feeds)


S, X = np.arange(3, dtype=np.float32), np.arange(8, dtype=np.float32).reshape(4, 2)
S8 = np.arange(6, dtype=np.float32).reshape(2, 3)
X8 = np.arange(16, dtype=np.float32).reshape(2, 4, 2)


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_elements_in_the_order_of_the_iterations(axis, backward):
    attributes = f", scan_input_axes = [{axis}], scan_input_directions = [{backward}]"
    dims = "float[4,2]" if axis == 0 else "float[2,4]"
    model, scan, shapes = scan_of(attributes, f"float[3] s, {dims} x")
    parts, emitter = rows_of(model, scan, shapes, [4]), Builder(model.graph)
    assert parts.states(emitter) == [list(scan.states)]
    (iterations,) = parts.elements(emitter)
    x = X if axis == 0 else X.T
    results = run(model, [value for (value,) in iterations], s=S, x=x)
    np.testing.assert_array_equal(results, X[::-1] if backward else X)


def test_rows_of_a_batch_end_where_their_lengths_say():
    signature = "float[2,3] s, float[2,4,2] x"
    model, scan, shapes = scan_of(", directions = [1]", signature, version=8, lens=",")
    parts, emitter = rows_of(model, scan, shapes, [4, 1]), Builder(model.graph)
    states, rows = parts.states(emitter), parts.elements(emitter)
    assert [len(row) for row in rows] == [4, 1]
    values = [value for (value,) in (*rows[0], *rows[1])]
    results = run(model, [*(s for (s,) in states), *values], s=S8, x=X8)
    np.testing.assert_array_equal(results[:2], S8)
    np.testing.assert_array_equal(results[2:6], X8[0][::-1])
    np.testing.assert_array_equal(results[6], X8[1, 0])


def test_unread_elements_are_not_emitted():
    model, scan, shapes = scan_of("", "float[3] s, float[4,2] x", used="a")
    parts, emitter = rows_of(model, scan, shapes, [4]), Builder(model.graph)
    assert parts.elements(emitter) == [[[None]] * 4]
    assert len(model.graph) == 1


def test_one_slice_is_the_value_itself():
    model, scan, _ = scan_of("", "float[3] s, float[4,2] x")
    emitter, x = Builder(model.graph), scan.scan_inputs[0]
    assert slices(emitter, x, 1, 0) == [x]
    assert len(slices(emitter, x, 1, 0, rest=3)) == 1
    assert len(slices(emitter, x, 2, 0, rest=2)) == 2


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (0, 1), (1, 0), (-1, 1)])
def test_outputs_are_put_together_along_their_axis(axis, backward):
    attributes = f", scan_output_axes = [{axis}], scan_output_directions = [{backward}]"
    model, scan, shapes = scan_of(attributes, "float[3] s, float[4,2] x", version=11)
    parts, emitter = rows_of(model, scan, shapes, [4]), Builder(model.graph)
    (iterations,) = parts.elements(emitter)
    (results,) = run(model, [parts.stack(emitter, 0, [[v for (v,) in iterations]], "r")], s=S, x=X)
    np.testing.assert_array_equal(results, np.stack(X[::-1] if backward else X, axis))


@pytest.mark.parametrize("inner", ["float[2] e", "e"])
def test_short_rows_end_in_zeros(inner):
    """Of a known shape, or of that which another element has at run time."""
    signature = "float[2,3] s, float[2,4,2] x" if inner != "e" else "float[2,3] s, float[2,4,K] x"
    model, scan, shapes = scan_of("", signature, version=8, lens=",", body=f"float[3] a, {inner}")
    assert (element_shape(shapes, 0) == (2,)) == (inner != "e")
    parts, emitter = rows_of(model, scan, shapes, [2, 4]), Builder(model.graph)
    rows = parts.elements(emitter)
    joined = parts.stack(emitter, 0, [[v for (v,) in row] for row in rows], "r")
    (results,) = run(model, [joined], s=S8, x=X8)
    expected = X8.copy()
    expected[0, 2:] = 0
    np.testing.assert_array_equal(results, expected)


def test_zeros_are_of_the_type_of_the_output():
    _, _, shapes = scan_of("", "float[3] s, float[4,2] x")
    zeros = zeros_of(shapes, 0, (1, 2))
    assert (zeros.dtype, zeros.shape, zeros.any()) == (np.float32, (1, 2), False)
