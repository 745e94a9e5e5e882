from harness import as_model, refusal
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.polynomial import Dimension
from straightline.passes.scans.shapes import ScanShapes, ValueAxis
from tables import table

N = Dimension.symbol("N")


def shapes_of(text, version=9):
    model = ir.load(as_model(f'<ir_version: 8, opset_import: ["" : {version}]>\n' + text))
    (node,) = (n for n in model.graph.nodes() if n.is_op("Scan"))
    return ScanShapes(node, version, ShapeInference(model))


def scan(
    more="",
    signature="float[N,3,4] x, float[5] s",
    states="float[5] a",
    element="e",
    inner="float[P,Q] e",
    captured="",
):
    """A Scan of one state and one scan input that gives out `element`."""
    return f"""g ({signature}, float[N,6] w, float[2] flat) => (y, z) {{
        {captured}
        y, z = Scan <num_scan_inputs = 1{more}, body = b ({states}, {inner}) => (float[5] a2, r) {{
            a2 = Identity (a) r = Neg ({element})
        }}> (s, x) }}"""


def scan_8(signature="float[B,L,3] x, float[B,5] s", element="e", inner="float[3] e"):
    return f"""g ({signature}) => (y, z) {{
        y, z = Scan <num_scan_inputs = 1, body = b (float[5] a, {inner}) => (float[5] a2, r) {{
            a2 = Identity (a) r = Neg ({element})
        }}> (, s, x) }}"""


def named(sizes):
    """Sizes with the names of the values that they are read from."""
    if sizes is None:
        return None
    return [(s.value.name, s.axis) if isinstance(s, ValueAxis) else s for s in sizes]


@table(
    (0, [3, 4], None),
    (1, [("x", 0), 4], 3),
    (-1, [("x", 0), 3], 4),
    (-3, [3, 4], None),
    (2, [("x", 0), 3], 4),
)
def test_sizes_of_elements_are_numbers_or_axes_of_inputs(axis, sizes, length):
    found = shapes_of(scan(f", scan_input_axes = [{axis}]"))
    assert named(found.element_sizes(0)) == sizes
    assert found.length() == length


def test_an_axis_behind_the_scanned_one_moves():
    signature = "float[3,N,M] x, float[5] s"
    assert named(shapes_of(scan(signature=signature)).element_sizes(0)) == [("x", 1), ("x", 2)]
    found = shapes_of(scan(", scan_input_axes = [1]", signature="float[N,3,M] x, float[5] s"))
    assert named(found.element_sizes(0)) == [("x", 0), ("x", 2)]
    found = shapes_of(scan(", scan_input_axes = [-1]", signature="float[N,M,3] x, float[5] s"))
    assert named(found.element_sizes(0)) == [("x", 0), ("x", 1)]


def test_sizes_of_states_and_captured_values():
    signature = "float[2,3] x, float[K] s"
    found = shapes_of(
        scan(signature=signature, states="float[A] a", element="a", inner="float[P] e")
    )
    assert named(found.element_sizes(0)) == [("s", 0)]
    found = shapes_of(scan(signature=signature, element="w", inner="float[P] e"))
    assert named(found.element_sizes(0)) == [("w", 0), 6]
    captured = "v = Transpose (w)"
    found = shapes_of(scan(signature=signature, element="v", inner="float[P] e", captured=captured))
    assert named(found.element_sizes(0)) == [6, ("v", 1)]


def test_a_captured_value_that_went_tells_no_size():
    signature = "float[2,3] x, float[K] s"
    found = shapes_of(
        scan(signature=signature, element="v", inner="float[P] e", captured="v = Transpose (w)")
    )
    found.survey()
    graph = found.node.graph
    (old,) = (v for v in found.node.body("body").captures())
    producer = old.producer
    new = graph.add_node(ir.Operator("Transpose"), producer.inputs, ["u"]).output()
    graph.replace_uses(old, new)
    graph.remove(producer)
    assert found.element_sizes(0) is None


def test_sizes_that_only_the_body_knows():
    text = scan(signature="float[2,3] x, float[5] s", element="n", inner="float[P] e")
    found = shapes_of(text.replace("a2 = Identity (a)", "a2 = Identity (a) n = NonZero (e)"))
    assert found.element_sizes(0) is None
    assert found.output_rank(0) == 3
    unknown = shapes_of(scan(signature="x, float[5] s", inner="e"))
    assert unknown.element_sizes(0) is None
    assert unknown.output_rank(0) is None and unknown.input_rank(0) is None
    assert refusal(unknown.require_axes) is None and unknown.length() is None


def test_ranks():
    found = shapes_of(scan())
    assert (found.input_rank(0), found.output_rank(0)) == (3, 3)
    inside = shapes_of(scan(signature="x, float[5] s"))
    assert (inside.input_rank(0), inside.output_rank(0)) == (3, 3), "the body declares it"
    batched = shapes_of(scan_8(), 8)
    assert (batched.input_rank(0), batched.output_rank(0)) == (3, 3)
    inside = shapes_of(scan_8("x, float[B,5] s"), 8)
    assert (inside.input_rank(0), inside.output_rank(0)) == (3, 3)
    declared = scan(signature="x, float[5] s", inner="e").replace(
        "=> (y, z)", "=> (y, float[A,B] z)"
    )
    assert shapes_of(declared).output_rank(0) == 2


def test_axes_that_are_not_there():
    assert refusal(shapes_of(scan(", scan_input_axes = [2]")).require_axes) is None
    assert refusal(shapes_of(scan(", scan_input_axes = [-3]")).require_axes) is None
    text = scan(", scan_input_axes = [3]", inner="e")
    said = "its scan input 'x' has rank 3, which has no axis 3, so it fails at run time"
    assert refusal(shapes_of(text).require_axes) == said
    text = scan(", scan_input_axes = [-4]", inner="e")
    assert "rank 3, which has no axis -4" in refusal(shapes_of(text).require_axes)
    flat = scan_8("float[B] x, float[B,5] s", inner="e")
    assert "rank 1, which has no axis 1" in refusal(shapes_of(flat, 8).require_axes)


def test_last_outputs_that_are_left_out():
    text = """g (float[N,4] x) => (y) { y = Scan <num_scan_inputs = 1, scan_output_axes = [-2, 0],
        body = b (float[4] e) => (float[4] r, float[4] s) { r = Exp (e) s = Neg (e) }> (x) }"""
    assert shapes_of(text, 10).with_writable_axes().output_axes == (0, 0)


def test_batch_and_length_of_opset_8():
    for signature, batch, length in (
        ("float[B,L,3] x, float[B,5] s", None, None),
        ("float[2,L,3] x, float[B,5] s", 2, None),
        ("float[B,L,3] x, float[2,5] s", 2, None),
        ("float[B,7,3] x, float[B,5] s", None, 7),
        ("x, float[2,5] s", 2, None),
        ("float[2] x, float[B,5] s", 2, None),
    ):
        found = shapes_of(scan_8(signature), 8)
        assert (found.batch(), found.length()) == (batch, length), signature
    assert named(shapes_of(scan_8(), 8).element_sizes(0)) == [3]
    moved = shapes_of(scan_8("float[B,L,K] x, float[B,5] s", inner="float[P] e"), 8)
    assert named(moved.element_sizes(0)) == [("x", 2)]
    state = shapes_of(scan_8("float[B,L,3] x, float[B,K] s", element="a"), 8)
    assert named(state.element_sizes(0)) == [("s", 1)], "a state keeps its shape"


def test_numbers_that_are_declared_fill_in():
    text = scan(signature="x, float[5] s", inner="float[P,4] e").replace(
        "=> (float[5] a2, r)", "=> (float[5] a2, float[7,Q] r)"
    )
    element = shapes_of(text).element(0)
    assert [dim.value for dim in element.shape] == [7, 4]
    assert element.elem_type == 1
