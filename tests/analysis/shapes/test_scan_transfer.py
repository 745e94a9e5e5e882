from inferred import FLOAT, facts, scan, shapes
from tables import table


@table(
    ("", ["3"], ["N", "3"]),
    (", scan_input_axes = [1]", ["N"], ["3", "N"]),
    (", scan_input_axes = [-1], scan_output_axes = [-1]", ["N"], ["N", "3"]),
)
def test_scans(axes, element, output):
    text = f"""g (float[N,3] x, float s) => (y, z) {{
        y, z = Scan <num_scan_inputs = 1{axes}, body = b (float a, float[P] e) => (float a2,
            float[Q] r) {{
            a2 = Identity (a) r = Neg (e)
        }}> (s, x) }}"""
    found = shapes(text)
    assert (found["e"], found["z"], found["y"]) == (element, output, [])


@table(
    ((0, 0), ["3", "4"], ["N", "3", "4"]),
    ((1, 0), ["N", "4"], ["3", "N", "4"]),
    ((-1, 1), ["N", "3"], ["N", "4", "3"]),
    ((-3, -1), ["3", "4"], ["3", "4", "N"]),
    ((2, -2), ["N", "3"], ["N", "4", "3"]),
    ((0, -3), ["3", "4"], ["N", "3", "4"]),
)
def test_axes_of_scans(axes, element, output):
    found = shapes(scan(f", scan_input_axes = [{axes[0]}], scan_output_axes = [{axes[1]}]"))
    assert (found["e"], found["z"]) == (element, output)


def test_a_scan_over_what_is_not_known():
    found = facts(
        scan(signature="x").replace("(x, float", "(float x, float").replace("float x", "x")
    )
    assert found["e"].shape is None and found["z"].shape is None


def test_states_of_a_scan_are_those_of_every_iteration():
    text = """g (float[N,3] x, float[K] s) => (y, z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[A] a, float[P] e) => (float[B] a2,
            float[Q] r) { a2 = Concat <axis = 0> (a, e) r = Neg (a) }> (s, x) }"""
    found = shapes(text)
    assert (found["a"], found["y"], found["z"]) == (["?"], ["?"], ["N", "?"])
    kept = shapes(text.replace("a2 = Concat <axis = 0> (a, e)", "a2 = Neg (a)"))
    assert (kept["a"], kept["y"], kept["z"]) == (["K"], ["K"], ["N", "K"])


def test_scans_of_opset_8_have_a_batch_that_the_body_does_not_see():
    text = """g (float[B,N,3] x, float[B,K] s) => (y, z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[A] a, float[P] e) => (float[C] a2,
            float[Q] r) { a2 = Identity (a) r = Neg (e) }> (, s, x) }"""
    found = shapes(text, '<ir_version: 3, opset_import: ["" : 8]>\n')
    assert (found["a"], found["e"]) == (["K"], ["3"])
    assert (found["y"], found["z"]) == (["B", "K"], ["B", "N", "3"])


def test_a_scan_of_opset_8_of_values_of_unknown_rank():
    text = """g (float x0, int64[R] to) => (y, z) {
        x = Reshape (x0, to)
        y, z = Scan <num_scan_inputs = 1, body = b (float[A] a, float[P] e) => (float[C] a2,
            float[Q] r) { a2 = Identity (a) r = Neg (e) }> (, x, x) }"""
    found = facts(text, '<ir_version: 3, opset_import: ["" : 8]>\n')
    for name in ("a", "e", "y", "z"):
        assert (found[name].elem_type, found[name].shape) == (FLOAT, None), name
