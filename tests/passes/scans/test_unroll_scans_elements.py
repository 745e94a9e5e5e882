"""A Scan's inputs taken apart and its outputs put together, against numpy."""

import numpy as np
import onnx
import pytest
from harness import as_model
from straightline import ir, reference
from straightline.ops.builder import Builder
from straightline.passes.iteration.loop_view import read_scan
from straightline.passes.scans.unroll_scans import elements, stack


def scan_of(attributes, signature, version=9, used="e"):
    model = ir.load(
        as_model(f"""<ir_version: 8, opset_import: ["" : {version}]> g ({signature}) => (y, z) {{
            y, z = Scan <num_scan_inputs = 1{attributes}, body = b (float[3] a, float[2] e) =>
                (float[3] a2, r) {{ a2 = Identity (a) r = Neg ({used}) }}> (s, x) }}""")
    )
    (node,) = model.graph.nodes()
    return model, read_scan(node, version), Builder(model.graph)


def run(model, values, **feeds):
    infos = [onnx.helper.make_tensor_value_info(v.name, 1, None) for v in values]
    model.graph.set_outputs(values, infos)
    return reference.run(ir.to_proto(model), feeds)


S, X = np.arange(3, dtype=np.float32), np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_elements_in_the_order_of_the_iterations(axis, backward):
    attributes = f", scan_input_axes = [{axis}], scan_input_directions = [{backward}]"
    dims = "float[4,2]" if axis == 0 else "float[2,4]"
    model, scan, emitter = scan_of(attributes, f"float[3] s, {dims} x")
    rows = elements(emitter, scan, 4)
    found = run(model, [value for (value,) in rows], s=S, x=X if axis == 0 else X.T)
    np.testing.assert_array_equal(found, X[::-1] if backward else X)


def test_unread_elements_are_not_emitted():
    model, scan, emitter = scan_of("", "float[3] s, float[4,2] x", used="a")
    assert elements(emitter, scan, 4) == [[None]] * 4
    assert len(model.graph) == 1


@pytest.mark.parametrize(("axis", "backward"), [(0, 0), (0, 1), (1, 0), (-1, 1)])
def test_outputs_are_put_together_along_their_axis(axis, backward):
    attributes = f", scan_output_axes = [{axis}], scan_output_directions = [{backward}]"
    model, scan, emitter = scan_of(attributes, "float[3] s, float[4,2] x", version=11)
    rows = [value for (value,) in elements(emitter, scan, 4)]
    (found,) = run(model, [stack(emitter, scan, 0, rows, "r")], s=S, x=X)
    np.testing.assert_array_equal(found, np.stack(X[::-1] if backward else X, axis))
