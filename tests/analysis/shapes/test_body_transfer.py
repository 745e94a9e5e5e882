import onnx
from inferred import BOOL, FLOAT, INT64, facts, loop, shapes
from tables import table


def test_scan_outputs_gain_an_axis():
    text = loop("r = Neg (a) s = Relu (a)", results="float[R,S] r, float[T,U] s", outputs="y, z")
    once = text.replace(", int64 n)", ")").replace("(n, , x)", "(n, yes, x)")
    once = once.replace("{", "<int64 n = {1}, bool yes = {1}> {", 1)
    assert shapes(once)["z"] == ["?", "N", "3"]


@table(
    ("s = Relu (w)", "s", ["?", "?", "3"]),
    ("s = Relu (a)", "s", ["?", "?", "?"]),
    ("s = Relu (a)", "float[T,3] s", ["?", "?", "3"]),
    ("z = Shape (w) s = Expand (i, z)", "s", ["?", "?", "?"]),
)
def test_sizes_of_scan_outputs_hold_without_an_iteration(body, declared, sizes):
    """Only numbers that the body declares or shape inference finds hold without an iteration."""
    text = loop(f"r = Neg (a) {body}", results=f"float[R,S] r, {declared}", outputs="y, z0")
    assert shapes(text)["z0"] == sizes


def test_nested_loops():
    inner = """r = Loop (i, , a) <body = d (int64 j, bool e, float[A,B] f) => (bool e2, float[C,D]
        g0) {
        e2 = Identity (e) g0 = Concat <axis = 1> (f, f)
    }>"""
    found = shapes(loop(inner))
    assert (found["a"], found["f"], found["y"]) == (["N", "?"], ["N", "?"], ["N", "?"])


def test_number_and_condition_have_the_declared_rank():
    text = loop("r = Neg (a) s = Identity (i) t = Shape (s)", results="float[R,S] r")
    assert shapes(text)["t"] == ["0"]
    assert shapes(text.replace("int64 i,", "int64[1] i,"))["t"] == ["1"]


@table(
    ("Neg (x)", "Abs (x)", ["N", "3"]),
    ("Concat <axis = 0> (x, x)", "Abs (x)", ["?", "3"]),
    ("Size (x)", "Abs (x)", None),
)
def test_branches(one, other, joined):
    text = f"""g (float[N,3] x, bool q) => (y) {{
        y = If (q) <then_branch = t () => (u) {{ u = {one} }}, else_branch = e () => (v) {{ v =
            {other} }}> }}"""
    assert shapes(text)["y"] == joined


def test_equal_contents_of_branches_are_known():
    text = """g (float[N,3] x, bool q) => (y) <int64[1] one = {1}> {
        s = If (q) <then_branch = t () => (u) { u = Shape (x) }, else_branch = e () => (v) { v =
            Shape (x) }>
        y = Expand (one, s) }"""
    assert shapes(text)["y"] == ["N", "3"]


def test_types_of_what_a_loop_hands_to_its_body():
    found = facts(
        loop(
            "r = Neg (a) s = Cast <to = 7> (a)",
            results="float[R,S] r, int64[R,S] s",
            outputs="y, z",
        )
    )
    assert (found["i"].elem_type, found["c"].elem_type) == (INT64, BOOL)
    assert (found["a"].elem_type, found["y"].elem_type, found["z"].elem_type) == (
        FLOAT,
        FLOAT,
        INT64,
    )


def test_facts_of_both_branches_are_joined():
    text = """g (float[N,3] x, bool q) => (y) {
        y = If (q) <then_branch = t () => (u) { u = Shape (x) },
                    else_branch = e () => (v) { %s }> }"""
    same = facts(text % "v = Shape (x)")["y"]
    assert same.elem_type == INT64
    assert [str(size) for size in same.content] == ["N", "3"]
    for other in ("n = Neg (x) m = Transpose (n) v = Shape (m)", "v = Shape <end = 1> (x)"):
        assert facts(text % other)["y"].content is None
    floats = facts(text % "v = Constant <value_floats = [1.0, 2.0]> ()")["y"]
    assert (floats.elem_type, [str(size) for size in floats.shape]) == (0, ["2"])


def test_the_elements_of_a_sequence_are_mapped():
    text = """g (seq(float[N,3]) s, float[M] x) => (y, z) {
        y, z = SequenceMap (s, x) <body = b (a, e) => (r, t) { r = Transpose (a) t = Shape (e) }>
    }"""
    found = facts(text)
    assert list(map(str, found["e"].shape)) == ["M"]
    assert [d.value for d in found["a"].shape] == [None, 3]
    assert found["y"].other.sequence_type.elem_type.tensor_type.shape.dim[0].dim_value == 3
    assert found["z"].other.sequence_type.elem_type.tensor_type.elem_type == onnx.TensorProto.INT64


def test_the_length_of_a_mapped_sequence():
    text = """g (float[N,3] x) => (y) {
        s = SequenceConstruct (x, x)
        y = SequenceMap (s) <body = b (a) => (r) { r = Relu (a) }> }"""
    assert facts(text)["y"].count == 2


def test_element_types_that_a_body_declares_hold_on_every_iteration():
    text = loop("r = Neg (a)").replace("Loop (n, , x)", "Loop (n, , u)")
    found = facts(text.replace(") => (y) {", ") => (y) { u = other.Strange (x)"))
    assert (found["a"].elem_type, found["a"].shape) == (FLOAT, None)


def test_declared_sizes_of_scan_outputs_are_not_trusted():
    text = loop("r = Neg (a) s = Relu (w)", results="float[R,S] r, s", outputs="y, float[T,N,3] z0")
    text = text.replace("y, float[T,N,3] z0 = Loop", "y, z0 = Loop")
    assert shapes(text)["z0"] == ["?", "?", "3"]
