import numpy as np
import pytest
from conversions import X, assert_carried, assert_refuses, model
from straightline import convert_version


@pytest.mark.parametrize("name", ["scan_input_axes", "scan_output_axes"])
@pytest.mark.parametrize(("axis", "counted"), [(-1, 1), (-2, 0), (0, 0), (1, 1)])
def test_axes_of_a_scan_are_written_from_the_front(name, axis, counted):
    body = f"y = Scan (x) <num_scan_inputs = 1, {name} = [{axis}], body = b (float[2] v) =>"
    proto = convert_version(
        model(f"{body} (float[2] w) {{ w = Neg (v) }}>", 11, "float[2, 2] x"), 10
    )
    (node,) = proto.graph.node
    (axes,) = [list(a.ints) for a in node.attribute if a.name == name]
    assert axes == [counted]


@pytest.mark.parametrize("axes", [(-1, 0), (1, -1), (-2, -2), (0, 1)])
def test_axes_of_a_scan_are_counted_from_the_front(axes):
    body = (
        f"z, y = Scan (s, x) <num_scan_inputs = 1, scan_input_axes = [{axes[0]}],"
        f" scan_output_axes = [{axes[1]}], body = b (float[K] a, float[K] v)"
        " => (float[K] c, float[K] w)"
        " { c = Add (a, v) w = Neg (c) }>"
    )
    length = 2 if axes[0] in (-1, 1) else 3
    fed = {"s": np.zeros(length, np.float32), "x": X}
    signature = f"float[{length}] s, float[2, 3] x"
    assert_carried(body.replace("K", str(length)), 11, (10, 9), fed, signature)


def test_axes_of_a_scan_need_the_rank():
    body = "y = Scan (x) <num_scan_inputs = 1, {} = [-1], body = b (v) => (w) {{ w = Neg (v) }}>"
    for name in ("scan_input_axes", "scan_output_axes"):
        reason = f"a negative axis in '{name}' needs a rank that is not known"
        assert_refuses(body.format(name), 11, 10, reason, "x")
