import numpy as np
import pytest
import straightline as sl
from straightline.definitions.registry import forget
from tables import table

SWISH = """
# the activation of an accelerator
before (floats x, floats b) => (y) { y = com.acme.Swish <beta = @beta ? 1.0> (x, b?) }
after (x, b) => (y) { t = Add (x, b)  u = Mul (t, @beta)  s = Sigmoid (u)  y = Mul (t, s) }
before (floats x) => (y) { y = com.acme.Half <mode = "up"> (x) }
since 13
after (x) => (y) { h = Mul (x, 0.5)  y = Ceil (h) }
before (floats x) => (y) { y = com.acme.Half <mode = "down"> (x) }
after (x) => (y) { h = Mul (x, 0.5)  y = Floor (h) }
"""
MODEL = """<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>
    g (float[N, 3] x) => (float[N, 3] y) {
        t = com.acme.Swish <beta = 2.0> (x)  y = com.acme.Half <mode = "down"> (t) }"""

BEFORE = "before (x) => (y) {{ y = {} }}\nafter (x) => (y) {{ y = Neg (x) }}"
AFTER = "before (x) => (y) {{ y = a.B (x) }}\nafter (x) => (y) {{ y = {} }}"


@pytest.fixture
def defined():
    names = sl.define(SWISH)
    yield names
    for name in names:
        forget(name)


def test_an_operator_of_users_is_run_proved_and_lowered(defined):
    assert defined == ["com.acme.Swish", "com.acme.Half"]
    model = sl.ir.parse(MODEL)
    x = np.array([[3, -1, 0.5]], np.float32)
    (y,) = sl.reference.run(model, {"x": x})
    np.testing.assert_array_equal(y, np.floor(x / (1 + np.exp(-2 * x)) / 2))
    outcome = sl.transform(model, target="onnx")
    assert not any(node.op.domain for node in outcome.ir.graph.nodes())
    assert outcome.verdict.proved and "com.acme::Swish computes its definition" in str(
        outcome.verdict
    )


def test_a_node_of_another_form_stays_with_the_reason(defined):
    model = sl.ir.parse(MODEL.replace('"down"', '"both"'))
    outcome = sl.transform(model, target="onnx", verify=False)
    (kept,) = [remark for remark in outcome.remarks if remark.action == "kept"]
    assert "attribute 'mode' is not 'up'" in kept.reason


def test_a_definition_of_another_type_than_declared_leaves_the_node():
    names = sl.define(
        "before (x) => (y) { y = a.B (x) }\nafter (x) => (y) { y = Cast <to = 7> (x) }"
    )
    model = sl.ir.parse("""<ir_version: 8, opset_import: ["" : 17, "a" : 1]>
        g (float[N] x) => (float[N] y) { y = a.B (x) }""")
    outcome = sl.transform(model, target="onnx", verify=False)
    for name in names:
        forget(name)
    (kept,) = [remark for remark in outcome.remarks if remark.action == "kept"]
    assert "computes tensor(int64), and the model declares tensor(float)" in kept.reason


def test_definitions_stand_in_a_file_too(tmp_path):
    file = tmp_path / "acme.txt"
    file.write_text(SWISH)
    assert sl.define(file) == sl.define(str(file)) == ["com.acme.Swish", "com.acme.Half"]
    for name in ("com.acme.Swish", "com.acme.Half"):
        forget(name)


@table(
    ("before (x) => (y) { y = Relu (x) }\nafter (x) => (y) { y = Neg (x) }", "of ONNX"),
    ("before (x) => (y) { y = a.B (x) }\nafter (x) => (y) { y = Foo (x) }", "no operator Foo"),
    ("after (x) => (y) { y = Neg (x) }", "needs a 'before'"),
    ("before (x) => (y) { y = a.B (x) }", "then 'after'"),
    ("before (x) => (y) { y = a.B (x) }\nafter (z) => (y) { y = Neg (z) }", "no operand 'z'"),
    ("before (x) => (y) { y = a.B (x) }\nafter (x) => (y, x) { y = Neg (x) }", "same number"),
    ("before (x) => (y) { y = a.B (x) }\nsince x\nafter (x) => (y) { y = Neg (x) }", "an opset"),
    ("before (x) => (y) { y = }\nafter (x) => (y) { y = Neg (x) }", "cannot be read"),
    (AFTER.format("Relu <alpha = 1.0> (x)"), "Relu of opset 17 has no attribute 'alpha'"),
    (BEFORE.format("a.B (x, x)"), "its operands are the names of the header, each once"),
    (BEFORE.format("a.B (x, 1.0)"), "its operands are the names of the header, each once"),
    (BEFORE.format("a.B ()"), "its operands are the names of the header, each once"),
    (BEFORE.format("a.B <a = @a ? 1, b = @a ? 2> (x)"), "attribute has a variable of its own"),
    (BEFORE.format("a.B <a = 1, a = 2> (x)"), "'a' stands twice"),
    ("before (x[inf]) => (y) { y = a.B (x) }\nafter (x) => (y) { y = Neg (x) }", "at 'inf"),
    (AFTER.format("Gather <axis = 9223372036854775808> (x, 0)"), "at '9223372036854775808"),
    (BEFORE.format("a.B <b = @b ? 1> (x)").replace("Neg", "Elu <alpha = @b>"), "of kind FLOAT"),
    (AFTER.format("RandomNormalLike (x)"), "RandomNormalLike of opset 17 draws random numbers"),
    (AFTER.format("Cast (x)"), "Cast of opset 17 needs an attribute 'to'"),
    (AFTER.format("Elu <alpha = 1> (x)"), "has an attribute 'alpha' of kind FLOAT"),
    (AFTER.format("Mul (x, @b)"), "there is no '@b' in 'before'"),
    (AFTER.format("Add (x)"), "has 2 operands at least"),
    (AFTER.format("ReduceSum <axes = [0]> (x, x)"), "has 2 operands at most"),
    ("no-such-file.txt", "cannot read the definitions 'no-such-file.txt'"),
)
def test_mistakes_are_one_line(text, why):
    with pytest.raises(sl.RuleError, match=why) as error:
        sl.define(text)
    assert "\n" not in str(error.value).replace(text, "")


def test_a_loop_over_rows_becomes_one_node(defined):
    sl.define("""before (floats x, floats w) => (y) { y = com.acme.Swish (x, w) }
        rows * x
        after (x, w) => (y) { t = Mul (x, w)  s = Sigmoid (t)  y = Mul (x, s) }""")
    model = sl.ir.parse("""<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>
        g (float[N, 3] x, float[3] w) => (float[N, 3] y) {
            y = Scan <num_scan_inputs = 1, body = b (float[3] r) => (float[3] t) {
                t = com.acme.Swish (r, w) }> (x) }""")
    outcome = sl.transform(model)
    assert [node.op_type for node in outcome.ir.graph.nodes()] == ["Swish"]
    assert outcome.verdict.proved
    with pytest.raises(sl.RuleError, match="has no operand 'z'"):
        sl.define(SWISH.replace("after (x, b)", "rows * z\nafter (x, b)"))
