import numpy as np
import onnx
import straightline as sl
from straightline.verification.intermediate_values import Inside, exposed, inside_values

TEXT = """<ir_version: 10, opset_import: ["" : 21]> g (float[3, 2] x, float[2] h) => (float[2] y) {
    y, rows = Scan <num_scan_inputs = 1, scan_output_axes = [0], body = b
            (float[2] s, float[2] r) => (float[2] s1, float[2] o) {
        k = Add (s, r)
        s1 = Neg (k)
        o = Identity (k) }> (h, x)
    z = Abs (y) }"""
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_values_are_listed_with_the_loops_around_them():
    proto = onnx.parser.parse_model(TEXT)
    assert [*inside_values(proto.graph)] == [
        *(Inside(("y",), name) for name in ("k", "s1", "o")),
        *(Inside((), name) for name in ("y", "rows", "z")),
    ]


def test_a_value_in_a_loop_gets_an_axis_of_iterations():
    proto = onnx.parser.parse_model(TEXT)
    content = proto.SerializeToString()
    copy, names = exposed(proto, [Inside(("y",), "k"), Inside((), "z")])
    outputs = dict(
        zip(
            [info.name for info in copy.graph.output],
            sl.reference.run(copy, {"x": X, "h": np.zeros(2, np.float32)}),
            strict=True,
        )
    )
    np.testing.assert_array_equal(outputs[names[0]], [[0, 1], [2, 2], [2, 3]])
    np.testing.assert_array_equal(outputs[names[1]], [2, 3])
    assert proto.SerializeToString() == content
