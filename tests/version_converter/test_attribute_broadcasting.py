import numpy as np
import onnx
import pytest
from conversions import VERIFIED, assert_becomes, assert_refuses, model
from older_forms import FEEDS, OLDER_FORMS, SIGNATURE, OlderForm
from reference_oracle import assert_same, onnxruntime_outputs
from straightline import convert_version, prove, reference
from tables import table


@pytest.mark.sample(15)
@pytest.mark.parametrize("form", OLDER_FORMS, ids=str)
def test_each_form_is_carried_to_opset_7_and_on(form: OlderForm) -> None:
    for target in (7, 8, 21):
        after = convert_version(form.model, target, **VERIFIED)
        onnx.checker.check_model(after, full_check=True)
        wanted = [np.asarray(form.result)]
        assert_same(reference.run(after, FEEDS), wanted, rtol=1e-5, atol=1e-6)
        assert_same(onnxruntime_outputs(after, FEEDS), wanted, rtol=1e-5, atol=1e-6)


@table(
    ("<broadcast = 1, axis = 1> (x, r)", "u = Unsqueeze <axes = [1]> (r) y = Add (x, u)"),
    ("<broadcast = 1, axis = 0> (x, p)", "u = Unsqueeze <axes = [1, 2]> (p) y = Add (x, u)"),
    ("<broadcast = 1> (x, r)", "y = Add (x, r)"),
    ("<broadcast = 1, axis = 1> (x, u)", "y = Add (x, u)"),
    ("<broadcast = 1, axis = 2> (x, r)", "y = Add (x, r)"),
    ("<broadcast = 0, axis = 1> (x, x)", "y = Add (x, x)"),
)
def test_the_second_operand_is_aligned(operands: str, after: str) -> None:
    lines = after.replace(" y =", "\ny =")
    assert_becomes(f"""6 to 7, {SIGNATURE}: y = Add {operands} =>
        {lines}""")


def test_a_function_and_bodies_are_carried_too() -> None:
    before = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 6, "local": 1]>
        g (float[N, 3, 4] x, float[3] r, bool go) => (float[N, 3, 4] y) {
            a = local.Scaled (x, r)
            y = If (go) <then_branch = t () => (q) { q = Add <broadcast = 1, axis = 1> (a, r) },
                         else_branch = e () => (p) { p = Sub <broadcast = 1, axis = 1> (a, r) }> }
        <domain: "local", opset_import: ["": 6]>
        Scaled (v, f) => (w) { w = Mul <broadcast = 1, axis = 1> (v, f) }""")
    after = convert_version(before, 13)
    assert prove(before, after)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    feeds = {"x": x, "r": np.array([1, -2, 3], np.float32), "go": np.array(False)}
    (found,) = onnxruntime_outputs(after, feeds)
    column = feeds["r"][:, None]
    np.testing.assert_array_equal(found, x * column - column)


@table(
    (6, "y = Add <broadcast = 1, axis = 3> (x, r)", SIGNATURE, "no place at axis 3"),
    (6, "y = Add <broadcast = 1, axis = -2> (x, r)", SIGNATURE, "no place at axis -2"),
    (6, "y = Add <broadcast = 1, axis = 1> (x, r)", "x, float[3] r", "'axis' needs the rank"),
    (6, "y = PRelu (x, r)", "float[2, 3] x, r", "slopes of channels needs the rank"),
    (6, "y = PRelu (x, r)", "x, float[3] r", "slopes of channels needs the rank"),
    (5, 'y = Cast <to = "INT31"> (x)', "float[2] x", "there is no type 'INT31'"),
    (5, "y = Clip <max = 1.0> (x)", "double[2] x", "no attribute for the limits of float64"),
    (1, "y, z = Split (x)", "float[2] x", "opset 1 has no default for its 'axis'"),
    (1, "y, z = Split <axis = 0> (x, l)", "float[3] x, float[2] l", "input 'split' of it"),
    (1, "y = GlobalLpPool <p = 1.5> (x)", "float[1, 2, 3] x", "is not a whole number"),
    (5, "y = Tile (x, t, t)", "float[2] x, float t", "input 'tiles' of it"),
    (6, "y = Dropout (x)", "float[2] x", "draws at random, which opset 7"),
    (6, "y = BatchNormalization (x, s, s, s, s)", "float[1, 2, 3] x, float[2] s",
     "by the statistics of the batch, which opset 7"),
    (6, "a, y, v, n, w = BatchNormalization <is_test = 1> (x, s, s, s, s)",
     "float[1, 2, 3] x, float[2] s", "which is_test = 1 leaves undefined"))  # fmt: skip
def test_forms_that_opset_7_lacks_are_refused(
    opset: int, body: str, signature: str, reason: str
) -> None:
    assert_refuses(body, opset, 7, reason, signature)


def test_the_state_of_training_stays() -> None:
    body = "y, m, v, n, w = BatchNormalization <is_test = 0> (x, s, s, s, s)"
    after = convert_version(model(body, 6, "float[1, 2, 3] x, float[2] s"), 7)
    assert len(after.graph.node[0].output) == 5
    assert not [a for a in after.graph.node[0].attribute if a.name == "is_test"]


def test_the_misspelled_direction_of_gru_is_the_forward_one() -> None:
    body = "y, h = GRU <hidden_size = 1> (x, w, r)"
    signature = "float[2, 1, 1] x, float[1, 3, 1] w, float[1, 3, 1] r"
    after = convert_version(model(body, 1, signature, "h"), 7)
    attributes = {a.name: a for a in after.graph.node[0].attribute}
    assert attributes["direction"].s == b"forward" and "output_sequence" not in attributes
