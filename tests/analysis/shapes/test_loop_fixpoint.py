from harness import as_model
from inferred import FLOAT, HEAD, facts, loop, shapes
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from tables import table


@table(
    ("r = Neg (a)", ["N", "3"], ["N", "3"]),
    ("r = Add (a, w)", ["N", "3"], ["N", "3"]),
    ("r = Concat <axis = 0> (a, w)", ["?", "3"], ["?", "3"]),
    ("r = Concat <axis = 0> (w, w)", ["?", "3"], ["?", "3"]),
    ("r = Transpose (a)", ["?", "?"], ["?", "?"]),
    ("r = Unsqueeze (a, i)", None, None),
    ("r = other.Strange (a)", None, None),
)
def test_carried_values(body, inside, after):
    found = shapes(loop(body))
    assert (found["a"], found["y"]) == (inside, after)


def test_a_size_that_varies_differs_after_each_use():
    text = loop("r = Concat <axis = 0> (a, w) p = Concat <axis = 0> (a, r)")
    model = ir.load(as_model(HEAD + text))
    inference = ShapeInference(model)
    node = model.graph.nodes()[0]
    inside = inference.fact(node.body("body").inputs[2]).shape[0]
    assert inside.equals(inference.fact(node.output()).shape[0]) is None


def test_swapped_carried_values():
    text = loop("", "float[P,Q] a, float[R,S] b", "float[R,S] b, float[P,Q] a", "x, w", "y, z")
    found = shapes(text)
    assert found["a"] == found["b"] == found["y"] == found["z"] == ["N", "3"]


def test_a_type_that_changes_from_iteration_to_iteration_is_not_known():
    found = facts(loop("r = Cast <to = 11> (a)"))
    assert (found["a"].elem_type, found["y"].elem_type) == (0, 0)


def test_a_size_without_a_name_is_the_same_after_a_loop_that_keeps_it():
    found = facts(loop("r = Neg (a)").replace("float[N,3] x", "float[?,3] x"))
    assert found["y"].shape == found["a"].shape == found["x"].shape


def test_a_scan_output_differs_from_the_value_in_the_body():
    """The rows of all iterations have one size, but not one that the body can speak of outside."""
    text = loop(
        "r = Concat <axis = 0> (a, w) s = Neg (a)",
        results="float[R,S] r, float[T,U] s",
        outputs="y, z",
    )
    found = facts(text)
    rows, inside = found["z"].shape[1], found["a"].shape[0]
    assert rows.equals(inside) is None


def test_sequences_that_are_carried():
    text = """g (float[N,3] x, int64 n) => (y) {
        e = SequenceConstruct (x)
        y = Loop (n, , e) <body = b (int64 i, bool c, seq(float[P,Q]) a) =>
            (bool d, seq(float[R,S]) r) { d = Identity (c) r = SequenceInsert (a, x) }> }"""
    found = facts(text)
    assert found["a"].other.sequence_type.elem_type.tensor_type.elem_type == FLOAT
    assert found["y"].other == found["a"].other
    mixed = text.replace("r = SequenceInsert (a, x)", "r = SequenceEmpty <dtype = 7> ()")
    assert facts(mixed)["y"].other is None and facts(mixed)["a"].other is None


def test_an_empty_sequence_holds_nothing_of_another_shape():
    text = """g (float[2,3] x, bool q) => (y) {
        y = If (q) <then_branch = t () => (u) { u = SequenceEmpty () },
                    else_branch = e () => (v) { v = SequenceConstruct (x) }> }"""
    found = facts(text)
    assert found["y"].other == found["v"].other
    assert found["y"].count is None


def test_sequences_of_other_shapes_are_of_one_element_type():
    text = """g (float[2,3] x, float[4] z, bool q) => (y) {
        y = If (q) <then_branch = t () => (u) { u = SequenceConstruct (z) },
                    else_branch = e () => (v) { v = SequenceConstruct (x) }> }"""
    tensor = facts(text)["y"].other.sequence_type.elem_type.tensor_type
    assert tensor.elem_type == FLOAT
    assert not tensor.HasField("shape")
