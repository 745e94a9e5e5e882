import onnx
import pytest
from straightline import ir
from straightline.reduction import steps
from straightline.reduction.draft import Draft, UncuttableError

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
IF = HEAD + (
    "g (float[2] x, bool p) => (float[2] y) { y = If (p) <"
    "then_branch = t () => (float[2] c) { c = Sin (x) },"
    "else_branch = e () => (float[2] f) { f = Abs (x) }> }"
)
LOOP = HEAD + (
    "g (float[2] x, int64 n, bool p) => (float[2] y, float[K,2] z) { y, z = Loop (n, p, x)"
    "<body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t, float[2] row)"
    "{ c2 = Identity (c) t = Neg (s) row = Exp (t) }> }"
)
SCAN = HEAD + (
    "g (float[2] x, float[K,2] r) => (float[2] y, float[K,2] z) {"
    " y, z = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) =>"
    " (float[2] t, float[2] row) { t = Add (s, e) row = Exp (t) }> (x, r) }"
)


def after(step, text, *chosen):
    draft = Draft(ir.load(onnx.parser.parse_model(text)))
    assert step.count(draft) > max(chosen, default=-1)
    step.remove(draft, chosen)
    draft.finish()
    model = ir.to_proto(draft.model)
    onnx.checker.check_model(model, full_check=True)
    return " ".join(onnx.printer.to_text(model.graph).split())


def test_outputs():
    text = HEAD + "g (float[2] x) => (float[2] y, float[2] z) { y = Neg (x) z = Exp (x) }"
    assert after(steps.Outputs(), text, 0) == "g (float[2] x) => (float[2] z) { z = Exp (x) }"
    with pytest.raises(UncuttableError):
        after(steps.Outputs(), text, 0, 1)


def test_inputs():
    text = HEAD + "g (float[2] x, float[2] w) => (float[2] y) { y = Neg (x) }"
    assert after(steps.Inputs(), text, 0) == "g (float[2] x) => (float[2] y) { y = Neg (x) }"


def test_nodes():
    text = HEAD + "g (float[2] x) => (float[2] y) { a = Neg (x) y = Exp (a) }"
    expected = "g (float[2] x, float[2] a) => (float[2] y) { y = Exp (a) }"
    assert after(steps.Nodes(0), text, 0) == expected
    assert "t () => (float[2] c_1) { c_1 = Identity (c) }" in after(steps.Nodes(1), IF, 0)


def test_bypasses():
    text = HEAD + "g (float[2] x) => (float[2] y) { a = Neg (x) b = Exp (a) y = Sin (b) }"
    assert after(steps.Bypasses(), text, 0, 1) == "g (float[2] x) => (float[2] y) { y = Sin (x) }"


def test_a_node_of_another_type_is_no_bypass():
    text = HEAD + "g (float[2] x) => (int64[2] y) { a = Cast <to = 7> (x) y = Neg (a) }"
    draft = Draft(ir.load(onnx.parser.parse_model(text)))
    assert steps.Bypasses().count(draft) == 1


@pytest.mark.parametrize(("branch", "op_type"), [(0, "Sin"), (1, "Abs")])
def test_a_branch_for_an_if(branch, op_type):
    expected = f"g (float[2] x, bool p) => (float[2] y) {{ y = {op_type} (x) }}"
    assert after(steps.Constructs(branch), IF, 0) == expected


@pytest.mark.parametrize("text", [LOOP, SCAN])
def test_one_iteration_for_a_loop(text):
    result = after(steps.Constructs(0), text, 0)
    assert "Exp (y)" in result and "Loop" not in result and "Scan" not in result


def test_a_state_keeps_its_initial_value():
    assert "Neg (x)" in after(steps.LoopSlots(), LOOP, 0)


def test_a_scan_output_goes():
    assert after(steps.LoopSlots(), LOOP, 1).startswith(
        "g (float[2] x, int64 n, bool p) => (float[2] y) {"
    )


def test_large_constants_become_inputs():
    values = ", ".join(map(str, range(65)))
    text = HEAD + f"g () => (float[65] y) <float[65] w = {{{values}}}> {{ y = Neg (w) }}"
    assert after(steps.Constants(), text, 0) == "g (float[65] w) => (float[65] y) { y = Neg (w) }"


def test_attributes():
    text = HEAD + "g (float[2] x) => (float[2] y) { y = Elu <alpha = 2.0> (x) }"
    assert after(steps.Attributes(), text, 0) == "g (float[2] x) => (float[2] y) { y = Elu (x) }"
